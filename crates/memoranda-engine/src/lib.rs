//! Memory: the one API. Each verb has a file of its own; this page lists them.
//!
//! A verb reads through the store, lets the core decide, and commits. What a caller can act on
//! (a conflict, a name that is taken) is a value; what it cannot is an error.

mod archive;
pub mod banks;
mod batch;
mod doctor;
mod error;
mod git_config;
pub mod graph;
mod history;
mod initial_scan;
mod links;
mod model;
mod notes;
mod project;
pub mod records;
mod repository;
mod scan;
mod search;
mod status;
mod vacuum;

pub use archive::{ExportReport, ImportReport};
pub use batch::{Desk, ReviseOutcome, Step};
pub use doctor::DoctorReport;
pub use error::{EngineError, Result};
pub use history::log::{CommitDiff, FileDiff, Revision};
pub use history::undo::{RedoStep, UndoOutcome, Undone};
pub use initial_scan::Known;
pub use links::neighbourhood::{GraphPath, GraphRequest, Link, NeighbourNode, Neighbourhood};
pub use links::resolve::{Intent, Place, Resolved, project_said};
pub use links::resolve_folder::NamedFolder;
pub use model::{Embedder, LanguageModel, ModelError, Question};
pub use notes::context::{
    ContextNote, ContextPage, ContextRequest, ContextTarget, FurtherLink, Related,
};
pub use notes::delete::{DeleteOutcome, DeleteRequest, Deleted};
pub use notes::edit::{EditOutcome, EditRequest, Edited};
pub use notes::expire::{ExpireRequest, Expired};
pub use notes::folder_cache::{FolderTexts, KeptText};
pub use notes::list::{ListPage, ListRequest};
pub use notes::read::{ReadNote, TextNote};
pub use notes::relocate::{MoveOutcome, MoveRequest, Moved};
pub use notes::rename::{
    Holders, LinkText, Links, OutdatedLink, RenameOutcome, RenameRequest, Renamed, Whose,
};
pub use notes::restore::{RestoreOutcome, Restored};
pub use notes::write::{AddRequest, WriteMode, WriteOutcome, WriteRequest, Written};
pub use project::ProjectInfo;
pub use repository::{Repository, named_from_root, normal_remote};
pub use scan::Concern;
pub use search::embedding::{
    AskOptions, ChosenModel, Made, MakeError, MakeOutcome, MeaningBy, ModelStatus,
};
pub use search::fragments::{Part, Understood};
pub use search::{
    FurtherPassage, MIN_RELEVANCE, SearchPage, SearchRequest, SearchResult, SearchUnit,
};
pub use status::Status;

pub use memoranda_core as core;
pub use memoranda_store::{
    ChangeSubscription, ChangedFile, CheckReport, Connectivity, DirEntry, DirEntryKind, DirListing,
    EmbeddingCoverage, FileAsOf, FileKind, FileOrder, FileProblems, FileSummary, FilesBelow,
    FilteredList, FolderFact, FolderFiles, FolderGraph, FolderTotals, GraphNode, HardLinkPolicy,
    HistoryFilter, IgnoreRules, IndexCounts, ListFilter, ListOrder, MAX_FILE_BYTES, NameField,
    NamedNote, NodeRow, ObservationRow, OpenOptions, PointInTime, Project, ProjectPlace,
    RelationRow, ScanProgress, ScanReport, SearchFilter, StoreError, Superseded, TermCorrection,
    VacuumExtent, VacuumReport, VacuumRequest, VersionConflict, clock, exact_key, faults, hash,
    link_key,
};

use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;
use memoranda_core::change::Author;
pub use memoranda_store::Store;

use search::embedding::Maker;

/// The project that is meant when none is named, unless the person chose another.
pub const DEFAULT_PROJECT: &str = "main";

/// A vault, open, and the one who uses it.
pub struct Memory {
    store: Arc<Store>,
    chosen: Option<Arc<ChosenModel>>,
    maker: Mutex<Option<Maker>>,
    first_look: Arc<initial_scan::FirstLook>,
    zone: fn() -> TimeZone,
    default_project: String,
}

impl Memory {
    /// Opens a vault, or makes it.
    pub fn open(options: OpenOptions) -> Result<Self> {
        let store = Arc::new(Store::open(options)?);
        Ok(Self {
            store,
            chosen: None,
            maker: Mutex::new(None),
            first_look: Arc::default(),
            zone: || TimeZone::UTC,
            default_project: DEFAULT_PROJECT.to_owned(),
        })
    }

    /// Lets "yesterday" be the person's, by the time zone that they live in.
    pub fn with_zone(self, zone: fn() -> TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Lets a name that says no project mean a note of this one before any other's.
    pub fn with_default_project(self, project: &str) -> Self {
        Self { default_project: project.to_owned(), ..self }
    }

    /// Lets searches go by a model that the person chose, as far as it has come.
    pub fn with_model(self, chosen: ChosenModel) -> Self {
        Self { chosen: Some(Arc::new(chosen)), ..self }
    }

    /// Starts what a long-lived process needs: noticing people's edits as they happen, forcing
    /// files to disk in the background, and making vectors if a model was chosen.
    pub fn start_background(&self) -> Result<()> {
        if let Some(chosen) = &self.chosen {
            let mut maker = self.maker.lock().unwrap_or_else(PoisonError::into_inner);
            maker.get_or_insert_with(|| Maker::start(&self.store, chosen));
        }
        Ok(self.store.start_background()?)
    }

    /// The store beneath, for what has no verb of its own.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

/// Who acts, on every verb that writes.
pub type Who = Author;
