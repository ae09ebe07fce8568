//! Obstacles to writing into a folder, as its file system states them before anything is tried.

use std::path::Path;

/// Reason why nothing can be written into a folder now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteObstacle {
    /// The folder does not exist, perhaps because its drive is not mounted.
    Absent,
    /// The file system is read-only, or this user may not write.
    ReadOnly,
    /// The file system has no room for a note and its log record.
    DiskFull,
}

/// Free bytes below which a file system counts as full.
#[cfg(unix)]
const MIN_FREE_BYTES: u64 = 64 << 10;

/// Returns the obstacle to writing into a folder; `None` if the system names none.
pub(crate) fn write_obstacle(folder: &Path) -> Option<WriteObstacle> {
    if !folder.is_dir() {
        return Some(WriteObstacle::Absent);
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
        let state = statvfs(folder).ok()?;
        let is_read_only = state.f_flag.contains(StatVfsMountFlags::RDONLY);
        if is_read_only || access(folder, Access::WRITE_OK).is_err() {
            return Some(WriteObstacle::ReadOnly);
        }
        // A file system without a size states no free blocks either.
        let free = state.f_bavail.saturating_mul(state.f_frsize);
        (state.f_blocks > 0 && free < MIN_FREE_BYTES).then_some(WriteObstacle::DiskFull)
    }
    #[cfg(not(unix))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_away_is_an_obstacle_and_a_writable_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write_obstacle(folder.path()), None);
        assert_eq!(write_obstacle(&folder.path().join("away")), Some(WriteObstacle::Absent));
    }
}
