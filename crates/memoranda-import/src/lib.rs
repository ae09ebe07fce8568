//! Bringing memories in from other systems, and taking them out again.
//!
//! A reader turns what it finds into items, one after the other, so that an export of any size
//! needs little memory. The [`Importer`] takes items and decides on each: new, changed, the same,
//! edited here, deleted here. What was decided is written in batches, each one commit. A note says
//! in its frontmatter where it came from and what it held then: that is how a second run knows
//! what it has brought already, and whether a person changed it since.

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
};
pub use input::ImportInput;
pub use item::{ImportItem, ItemBody, ItemNaming};
pub use sink::{ImportProblem, ImportProgress, ImportSink};
pub use source::{ImportSource, SOURCES, SourceRow};
pub use sources::{ImportTarget, project_name, read};
