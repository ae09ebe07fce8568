//! Other processes, as far as the system describes them.

use std::path::Path;

use crate::files::state_files;

/// Returns true if another process with this number runs, where the system reveals it.
pub(crate) fn is_running(process: u32) -> bool {
    process != std::process::id()
        && state_files::is_dir(&Path::new("/proc").join(process.to_string()))
}

/// Returns true if a process is suspended, as by Ctrl-Z, where the system reveals it.
pub(crate) fn is_suspended(process: u32) -> bool {
    let bytes = state_files::read(Path::new(&format!("/proc/{process}/stat")));
    let status = String::from_utf8_lossy(&bytes.ok().flatten().unwrap_or_default()).into_owned();
    // The state follows the program's name, which is in brackets and may contain any sign.
    let state = status.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

/// Returns the process that holds the lock on a file, where the system reveals it.
pub(crate) fn lock_holder(identity: (u64, u64)) -> Option<u32> {
    let bytes = state_files::read(Path::new("/proc/locks")).ok()??;
    find_holder(&String::from_utf8_lossy(&bytes), identity)
}

#[cfg(target_os = "linux")]
fn find_holder(locks: &str, (device, inode): (u64, u64)) -> Option<u32> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    // A line with an arrow describes a process that waits.
    let mut holders = locks.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_lock = words.next() == Some("FLOCK");
        let process = words.nth(2)?.parse::<u32>().ok()?;
        (is_lock && words.next() == Some(&*file)).then_some(process)
    });
    holders.find(|process| *process > 0)
}

#[cfg(not(target_os = "linux"))]
fn find_holder(_: &str, _: (u64, u64)) -> Option<u32> {
    None
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_found() {
        let locks = "1: POSIX  ADVISORY  WRITE 77 fe:00:1234 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 812 fe:00:1234 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 900 fe:00:1234 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 5 08:11:1234 0 EOF\n";
        let device = |major, minor| rustix::fs::makedev(major, minor);
        assert_eq!(find_holder(locks, (device(0xfe, 0), 1234)), Some(812));
        assert_eq!(find_holder(locks, (device(8, 0x11), 1234)), Some(5));
        assert_eq!(find_holder(locks, (device(8, 0x11), 99)), None);
        assert_eq!(find_holder("garbage\n\n2:", (device(8, 0x11), 99)), None);
    }
}
