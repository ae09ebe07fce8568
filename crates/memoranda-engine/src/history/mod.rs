//! The history: the log and its diffs, undo and redo, the authors of lines, and a project as it was
//! at a time.

pub(crate) mod activity;
pub(crate) mod agent;
pub(crate) mod blame;
pub(crate) mod conversation;
pub(crate) mod facts_as_of;
pub(crate) mod ledger;
pub(crate) mod log;
pub(crate) mod moments;
pub(crate) mod project_at;
pub(crate) mod undo;
pub(crate) mod undo_set;
pub(crate) mod versions_at;
