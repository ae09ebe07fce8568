//! Banks: context that a conversation starts from and keeps current.
//!
//! A bank is a folder of notes in the project of the banks, for everything (global), for a project
//! or for a repository (code). New content is placed by the caller, by a language model or by rules.

mod bank;
mod cache;
mod categorize;
mod category_rules;
mod deduplicate;
mod diagnostics;
mod dump;
mod error;
mod insert;
mod outline;
mod overview;
mod placement;
mod resolve;
mod template;
mod update;

pub use bank::{BankType, DUMP_FILE, MemoryBank, bank_id};
pub use cache::{BankCache, CacheHit, LoadedBank};
pub use diagnostics::{
    BankDiagnostic, DiagnosticSeverity, all_diagnostics, recent_diagnostics, record_diagnostic,
};
pub use dump::write_dump;
pub use error::{BankError, BankResult};
pub use insert::TextOperation;
pub use outline::{OutlineHeading, headings};
pub use overview::{BankFile, BankOverview, bank_overview, bank_overviews};
pub use placement::{DecisionSource, Placement, PlacementDecision};
pub use resolve::{
    BankSelector, ListedBank, ResolvedBank, bank_ids, create_bank, find_bank, list_banks,
    resolve_bank,
};
pub use update::{ContentUpdate, UpdateReport, deduplicate_bank, ordered_files, update_bank};
