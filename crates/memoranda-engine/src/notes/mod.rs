//! Verbs on notes: read, write, edit, move, delete, restore, list, and the context around a note.

pub(crate) mod context;
pub(crate) mod delete;
pub(crate) mod edit;
pub(crate) mod expire;
mod files;
pub(crate) mod folder_cache;
pub(crate) mod list;
pub(crate) mod merge_save;
pub(crate) mod move_notes;
pub(crate) mod read;
pub(crate) mod restore;
pub(crate) mod write;
