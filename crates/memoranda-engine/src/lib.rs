//! Memory: the one API. Each verb has a file of its own; this page lists them.
//!
//! A verb reads through the store, lets the core decide, and commits. What a caller can act on
//! (a conflict, a name that is taken) is a value; what it cannot is an error.

mod archive;
pub mod banks;
mod batch;
pub mod contradictions;
mod doctor;
mod error;
pub mod forget;
mod git_config;
pub mod graph;
mod history;
mod initial_scan;
mod links;
mod map;
mod model;
mod notes;
mod project;
pub mod recall;
pub mod records;
pub mod remember;
mod repository;
mod scan;
mod search;
mod space;
mod status;
pub mod task_context;
mod uses;
mod vacuum;
mod visits;
mod wildcard;

pub use archive::{ExportReport, ImportReport};
pub use batch::{FileOperation, NoteTransaction, TransactOutcome};
pub use doctor::DoctorReport;
pub use error::{EngineError, Result};
pub use history::activity::{AgentActivity, VaultActivity};
pub use history::agent::AgentIdentity;
pub use history::blame::{BlameRun, NoteBlame};
pub use history::conversation::CommitConversation;
pub use history::facts_as_of::FactAsOf;
pub use history::ledger::{LedgerEntry, LedgerFile, LedgerFilter, LedgerPage};
pub use history::log::{CommitDiff, FileDiff, NoteRevision};
pub use history::moments::MomentChange;
pub use history::undo::{RedoStep, UndoOutcome, UndoneCommit};
pub use history::undo_set::{PlannedFile, SkippedCommit, UndoPlan, UndoSelection, UndoSetOutcome};
pub use history::versions_at::{VersionAt, VersionsAt};
pub use initial_scan::IndexProgress;
pub use links::around::{LinkSentence, NoteSurroundings};
pub use links::neighbourhood::{
    GraphPath, GraphRequest, NeighbourLink, NeighbourNode, NoteNeighbourhood,
};
pub use links::resolve::{
    NoteLocation, ResolveIntent, ResolvedNote, explicit_project, name_in_project,
};
pub use links::resolve_folder::NamedFolder;
pub use map::{MapPoint, VaultMap};
pub use model::{LanguageModel, ModelError, ModelQuestion, TextEmbedder};
pub use notes::context::{
    ContextNote, ContextPage, ContextRequest, ContextTarget, FurtherLink, RelatedNote,
};
pub use notes::delete::{DeleteOutcome, DeleteRequest, DeletedNotes};
pub use notes::edit::{EditOutcome, EditReport, EditRequest};
pub use notes::expire::{ExpireRequest, ExpiredNotes};
pub use notes::folder_cache::{CachedText, FolderTexts};
pub use notes::list::{ListPage, ListRequest};
pub use notes::merge_save::{MergeConflict, MergeSaveRequest, SaveMerging, SaveOutcome};
pub use notes::move_notes::{
    LinkDirection, LinkPolicy, LinkScope, LinkText, MoveOutcome, MoveRequest, MovedNotes,
    OutdatedLink,
};
pub use notes::read::{ReadNote, TextNote};
pub use notes::restore::{RestoreOutcome, RestoredNote};
pub use notes::write::{AddRequest, WriteMode, WriteOutcome, WriteRequest, WrittenNote};
pub use project::ProjectInfo;
pub use repository::{GitRepository, named_from_root, normal_remote};
pub use scan::SyncScope;
pub use search::embedding::{
    EmbedError, EmbedOutcome, EmbedReport, EmbeddingModel, EmbeddingOptions, EmbeddingSource,
    ModelStatus, TABLE_LOADING_REASON,
};
pub use search::fragments::{NoteFragment, ResolvedQuery};
pub use search::pack::{PackRequest, PackedNote, PackedPage, PackedPassage};
pub use search::{
    FurtherPassage, LOW_RELEVANCE, MIN_RELEVANCE, RELATIVE_CUT, SearchPage, SearchRequest,
    SearchResult, SearchUnit, TypedWords,
};
pub use status::VaultStatus;
pub use visits::{ChangesSinceVisit, VisitRegister, VisitingClient};
pub use wildcard::matches_wildcard;

pub use memoranda_core as core;
pub use memoranda_store::{
    ChangeSubscription, ChangedFile, CheckReport, CloneOrigin, Connectivity, DirEntry,
    DirEntryKind, DirListing, EmbeddingCoverage, FactFilter, FileContent, FileKind, FileOrder,
    FileProblems, FileSummary, FilesBelow, FilteredList, FolderFact, FolderFiles, FolderGraph,
    FolderTotals, GraphNode, HardLinkPolicy, HistoryFilter, IgnoreRules, IndexCounts, ListFilter,
    ListOrder, MAX_FILE_BYTES, NameField, NamedNote, NestedFolder, NodeRow, NotAFileKind,
    ObservationRow, OpenOptions, PastFile, PointInTime, Project, ProjectPlace, RelationRow,
    ScanProgress, ScanReport, SearchFilter, SimilarNote, Snapshot, SpaceFreshness,
    SpaceImportReport, SpaceOptions, StoreError, Superseded, TermCorrection, VacuumExtent,
    VacuumReport, VacuumRequest, VersionConflict, WorkItem, WorkList, WriteObstacle, clock,
    exact_key, faults, hash, link_key, meta_json, remote, remove_stale_caches,
};

use std::sync::{Arc, Mutex, PoisonError};

use jiff::tz::TimeZone;
pub use memoranda_core::change::Author;
use memoranda_store::Store;

use search::embedding::EmbeddingWorker;

/// The project of names and notes without a project, unless the person configured another.
pub const DEFAULT_PROJECT: &str = "main";

/// A vault, open, and the one who uses it.
pub struct Memory {
    store: Arc<Store>,
    chosen: Option<Arc<EmbeddingModel>>,
    maker: Mutex<Option<EmbeddingWorker>>,
    first_look: Arc<initial_scan::InitialScan>,
    zone: fn() -> TimeZone,
    default_project: String,
    person: Option<String>,
    /// Vaults whose passages count when results are ranked.
    corpus: Vec<Arc<Self>>,
}

impl Memory {
    /// Opens a vault, or makes it.
    pub fn open(options: OpenOptions) -> Result<Self> {
        Ok(Self::over(Store::open(options)?))
    }

    /// Opens the cache of a space, whose log is kept elsewhere.
    pub fn open_space(options: &SpaceOptions, log: Arc<dyn remote::RemoteLog>) -> Result<Self> {
        Ok(Self::over(Store::open_space(options, log)?))
    }

    /// Opens an index image, which answers for a space until the whole space is loaded. `None` if
    /// no usable image exists.
    pub fn open_image(
        options: &SpaceOptions,
        log: Arc<dyn remote::RemoteLog>,
        head: remote::RemoteHead,
    ) -> Result<Option<Self>> {
        Ok(Store::open_image(options, log, head)?.map(Self::over))
    }

    /// Opens the notes of one name alone, before their space is here. `None` if no note has exactly
    /// this name, or if that cannot be seen quickly.
    pub fn open_named(
        options: &SpaceOptions,
        log: Arc<dyn remote::RemoteLog>,
        head: remote::RemoteHead,
        name: &str,
    ) -> Result<Option<Self>> {
        Ok(Store::open_named(options, log, head, name)?.map(Self::over))
    }

    /// Opens or makes a clone of a space, with the log that it copies.
    pub fn open_clone(
        options: OpenOptions,
        origin: &CloneOrigin,
        log: Arc<dyn remote::RemoteLog>,
    ) -> Result<Self> {
        Ok(Self::over(Store::open_clone(options, origin, log)?))
    }

    fn over(store: Store) -> Self {
        Self {
            store: Arc::new(store),
            chosen: None,
            maker: Mutex::new(None),
            first_look: Arc::default(),
            zone: || TimeZone::UTC,
            default_project: DEFAULT_PROJECT.to_owned(),
            person: None,
            corpus: Vec::new(),
        }
    }

    /// Lets "yesterday" be the person's, by the time zone that they live in.
    pub fn with_zone(self, zone: fn() -> TimeZone) -> Self {
        Self { zone, ..self }
    }

    /// Resolves names without a project in this project before all others.
    pub fn with_default_project(self, project: &str) -> Self {
        Self { default_project: project.to_owned(), ..self }
    }

    /// Lets searches use an embedding model that the person chose, for the passages that it has
    /// embedded.
    pub fn with_model(self, chosen: EmbeddingModel) -> Self {
        Self { chosen: Some(Arc::new(chosen)), ..self }
    }

    /// Starts what a long-lived process needs: noticing people's edits as they happen, forcing
    /// files to disk in the background, and making vectors if a model was chosen.
    pub fn start_background(&self) -> Result<()> {
        if let Some(chosen) = &self.chosen {
            let mut maker = self.maker.lock().unwrap_or_else(PoisonError::into_inner);
            maker.get_or_insert_with(|| EmbeddingWorker::start(&self.store, chosen));
        }
        Ok(self.store.start_background()?)
    }

    /// Returns the current time in the person's time zone.
    pub(crate) fn local_now(&self) -> jiff::Zoned {
        clock::now().to_zoned((self.zone)())
    }

    /// Begins a consistent read of the index. While a thread holds a snapshot, all verbs that it
    /// calls read the same state, until it writes.
    pub fn snapshot(&self) -> Result<Snapshot<'_>> {
        Ok(self.store.snapshot()?)
    }

    /// Returns the store, for the verbs.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }
}
