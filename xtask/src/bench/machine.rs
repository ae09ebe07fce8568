//! Describes the machine of a measurement, without its name or paths.

use std::path::Path;
use std::process::Command;

use crate::{Result, workspace};

/// Rows of a table: property and value.
pub(super) fn describe(scratch: &Path) -> Result<Vec<(&'static str, String)>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(vec![
        ("Processor", processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned())),
        ("Cores", cores.to_string()),
        ("Memory", memory().unwrap_or_else(|| "unknown".to_owned())),
        ("System", std::env::consts::OS.to_owned()),
        ("File system", file_system(scratch).unwrap_or_else(|| "unknown".to_owned())),
        ("Compiler", workspace::output(Command::new("rustc").arg("--version"))?.trim().to_owned()),
        ("SQLite", rusqlite::version().to_owned()),
    ])
}

/// Today's date, from SQLite, which saves a dependency on a calendar crate.
pub(super) fn today() -> Result<String> {
    let db = rusqlite::Connection::open_in_memory()?;
    Ok(db.query_row("SELECT date('now')", [], |row| row.get(0))?)
}

fn processor() -> Option<String> {
    let facts = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = facts.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory() -> Option<String> {
    let facts = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{} GB", (kilobytes + (1 << 19)) >> 20))
}

fn file_system(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    file_system_of(&folder, &std::fs::read_to_string("/proc/mounts").ok()?)
}

/// The file system type of the innermost mount that contains a folder.
fn file_system_of(folder: &Path, mounts: &str) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let (_, kind) = mounts
        .filter(|(mount, _)| folder.starts_with(mount))
        .max_by_key(|(mount, _)| mount.len())?;
    Some(kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_counts() {
        let mounts = "a / ext4 rw 0 0\nb /data xfs rw 0 0\nc /database tmpfs rw 0 0\n";
        let check = |folder: &str, expected: &str| {
            assert_eq!(file_system_of(Path::new(folder), mounts).as_deref(), Some(expected));
        };
        check("/data/notes", "xfs");
        check("/datas", "ext4");
        check("/database/x", "tmpfs");
    }
}
