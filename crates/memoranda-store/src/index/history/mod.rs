//! The history in the index: commits in order, the effect on each file, and the location of each
//! content in the log.

mod add_commit;
mod as_of;
mod commits;
mod deleted;
mod file_heads;
mod log_cursor;
mod renames;

pub use as_of::{ChangedFile, PastFile, PointInTime};
pub use commits::HistoryFilter;
pub use deleted::DeletedFile;
pub use renames::CurrentPath;

pub(crate) use add_commit::add;
pub(crate) use commits::{commit_head, end};
pub(crate) use file_heads::{
    HistoryHead, content_at, has_later_scans, head, is_told_by, is_written, last_commit, last_move,
    last_version, living, reworded, version_in, were_together,
};
pub(crate) use log_cursor::{
    LogCursor, last_read, read_devices, read_to, seen_devices, set_read_to,
};
