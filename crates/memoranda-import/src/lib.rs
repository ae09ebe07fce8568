//! Imports memories from other systems and exports notes.
//!
//! A reader streams the items of its source, so that an export of any size needs little memory. The
//! [`Importer`] decides on each item: created, updated, unchanged, edited or deleted in the vault.
//! Decisions are written in batches of one commit each. The frontmatter of a note records its
//! source and a hash of its content. A second run uses them to find known notes and edits by the
//! user.

mod conversation;
mod detect;
mod error;
pub mod export;
mod fact_merge;
mod importer;
mod input;
mod item;
mod json;
mod provenance;
mod sink;
mod source;
mod sources;
mod sqlite;
mod time;

pub use detect::{
    UsualPaths, basic_memory_default_project, default_locations, detect_source, global_ignore_file,
};
pub use error::{ImportError, Result};
pub use importer::{
    DeletedPolicy, ImportMode, ImportOptions, ImportOutcome, ImportSummary, Importer, ItemReport,
    import_source,
};
pub use input::ImportInput;
pub use item::{ImportItem, ItemBody, ItemNaming};
pub use sink::{ImportProblem, ImportProgress, ImportSink};
pub use source::{ImportSource, SOURCES, SourceRow};
pub use sources::{ImportTarget, project_name, read};
