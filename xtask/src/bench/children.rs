//! Tasks that this program runs as its own child process: the raw limits of a process.

use std::io::{BufRead as _, Write as _};
use std::path::Path;

use rusqlite::Connection;
use xtask::vault::{SampleNote, query_mix};

use super::product::BenchVault;
use super::size::{RawSamples, RawWrite};
use crate::Result;

/// Runs the task that the parent names.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["open", database] => open(Path::new(database)),
        ["echo"] => echo(),
        ["write", folder] => write(Path::new(folder)),
        ["memory", home, cache, notes] => memory(Path::new(home), Path::new(cache), notes.parse()?),
        _ => Err("is for the bench to start".into()),
    }
}

/// Opens SQLite and prints one line: the limit of a cold start.
fn open(database: &Path) -> Result<()> {
    let tables: u32 =
        Connection::open(database)?
            .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    println!("{tables}");
    Ok(())
}

/// Echoes every line until the input ends: the limit of a request over stdio.
fn echo() -> Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        writeln!(output, "{}", line?)?;
        output.flush()?;
    }
    Ok(())
}

/// Writes every line by the raw steps and acknowledges it: the limit of a durable write.
fn write(folder: &Path) -> Result<()> {
    let mut steps = RawWrite::create(folder)?;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let (title, path, rare_word) = ("Asked".to_owned(), String::new(), String::new());
        steps.write(&SampleNote { path, title, text, rare_word }, &mut RawSamples::default())?;
        writeln!(output, "written")?;
        output.flush()?;
    }
    Ok(())
}

/// Opens a vault, searches it, and prints the resident bytes.
fn memory(home: &Path, cache: &Path, notes: usize) -> Result<()> {
    let product = BenchVault::open(home, cache)?;
    for query in query_mix(notes) {
        product.search(&query.typed_text())?;
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    println!(
        "{}",
        parse_resident_bytes(&status).ok_or("the system does not say what is resident")?
    );
    Ok(())
}

fn parse_resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_bytes_are_read() {
        assert_eq!(parse_resident_bytes("Name:\txtask\nVmRSS:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!(parse_resident_bytes("Name:\txtask\n"), None);
    }
}
