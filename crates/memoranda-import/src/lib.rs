//! Bringing memories in from other systems, and taking them out again.
//!
//! A reader turns what it finds into pieces, one after the other, so that an export of any size
//! needs little memory. The [`Importer`] takes pieces and decides on each: new, changed, the same,
//! edited here, deleted here. What was decided is written in batches, each one commit. A note says
//! in its frontmatter where it came from and what it held then: that is how a second run knows
//! what it has brought already, and whether a person changed it since.

mod bring;
mod conversation;
mod error;
pub mod export;
mod facts;
mod find;
mod intake;
mod json;
mod origin;
mod piece;
mod source;
mod sources;
mod sqlite;
mod stamp;
mod time;

pub use bring::{Deleted, Importer, Mode, NoteReport, Options, Report, Verdict};
pub use error::{ImportError, Result};
pub use find::{Usual, basic_memory_default, default_places, general_rules, recognise};
pub use intake::{Intake, Problem, Progress};
pub use origin::Origin;
pub use piece::{Body, Naming, Piece};
pub use source::{SOURCES, Source, SourceRow};
pub use sources::{Target, project_name, read};
