//! Links: resolves names to notes, now or in the past, and updates links after a move or a deletion.

pub(crate) mod after_move;
pub(crate) mod around;
pub(crate) mod broken;
pub(crate) mod handwritten;
pub(crate) mod name_lookup;
pub(crate) mod neighbourhood;
pub(crate) mod path_change;
pub(crate) mod path_links;
pub(crate) mod resolve;
pub(crate) mod resolve_folder;
pub(crate) mod resolve_past;
pub(crate) mod stale;
pub(crate) mod untyped;
