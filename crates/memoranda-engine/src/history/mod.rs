//! The history: the log and its diffs, undo and redo, and a project as it was at a time.

pub(crate) mod log;
pub(crate) mod project_at;
pub(crate) mod undo;
