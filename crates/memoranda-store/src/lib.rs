//! The store of a vault: files that a person owns, a log that forgets nothing, and an index that
//! can be thrown away.
//!
//! [`Store`] is the whole seam to the engine, in plain values: read a file, commit a change, ask
//! the index, look at the disk. Any number of processes may hold a `Store` on the same vault.

pub mod clock;
pub mod faults;
pub mod remote;

mod check;
mod commit;
mod error;
mod files;
mod index;
mod log;
mod machine;
mod map_data;
mod provisional;
mod scan;
mod snapshot;
mod space;
mod space_import;
mod subtree;
mod threads;
mod transaction;
mod vault;
mod vault_clone;

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use memoranda_core::embed::QuantizedVector;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

pub use check::{BrokenLink, CheckReport};
pub use commit::index_update::UnindexedText;
pub use commit::lost_files::{LostFile, LostState};
pub use commit::{CommitOutcome, VersionConflict};
pub use error::{NotAFileKind, Result, StoreError};
pub use files::ignore_rules::IgnoreRules;
pub use files::record_file::FileLockGuard;
pub use files::write_obstacle::WriteObstacle;
pub use files::{
    DirEntry, DirEntryKind, DirListing, FileContent, FilePrivacy, FileRules, FileStat,
    HardLinkPolicy, MAX_FILE_BYTES, Subtree, hash,
};
pub use index::extract::{exact_key, keys_of, link_key, meta_json, target_key};
pub use index::ledger::{ActivityRow, ReversalRow};
pub use index::links::named_at;
pub use index::map_rows::MapRow;
pub use index::work_lists::{FactFilter, WorkItem, WorkList};
pub use index::{
    CandidateBatches, CandidateQuery, CandidateSet, ChangedFile, Connectivity, CurrentPath,
    DeletedFile, EmbeddingCoverage, FieldRow, FileKind, FileOrder, FileProblems, FileSummary,
    FilesBelow, FilteredList, FolderFact, FolderFiles, FolderGraph, FolderTotals, GraphNode,
    HistoryFilter, IndexCounts, ListFilter, ListOrder, NameField, NamedNote, NestedFolder, NodeRow,
    NoteDisplay, ObservationRow, OutlineRow, PassageDisplay, PastFile, PendingText, PointInTime,
    RelationRow, SearchFilter, SearchHit, SearchHits, SearchReader, SimilarNote, Superseded,
    TermCorrection, TextKey, TypedNote, VectorForm, WholeLink,
};
pub use log::{LogDamage, PurgeReport};
pub use scan::change_feed::ChangeSubscription;
pub use scan::{ScanProgress, ScanReport};
pub use snapshot::Snapshot;
pub use space::{SpaceFreshness, SpaceOptions, remove_stale_caches};
pub use space_import::SpaceImportReport;
pub use transaction::Transaction;
pub use vault::archive::{ExportReport, ImportReport};
pub use vault::vacuum::{VacuumExtent, VacuumReport, VacuumRequest};
pub use vault::{FORMAT, OpenOptions, Project, ProjectPlace};
pub use vault_clone::CloneOrigin;

use commit::checkpoint::BackgroundSync;
use commit::write_session::VaultWriter;
use files::name_lookup::LookupSource;
use index::{VaultIndex, history};
use log::LogFolder;
use scan::watch::VaultWatcher;
use vault::Vault;

/// An open vault. Cheap to share, and safe to use while other processes use the vault.
pub struct Store {
    inner: Arc<StoreInner>,
}

pub(crate) struct StoreInner {
    pub(crate) options: OpenOptions,
    pub(crate) vault: Vault,
    pub(crate) log: LogFolder,
    pub(crate) index: Arc<VaultIndex>,
    pub(crate) writer: Mutex<VaultWriter>,
    /// Commits of this process that the index does not contain yet.
    pub(crate) pending: Mutex<commit::index_update::PendingUpdates>,
    /// Number of threads that wait for the writer.
    pub(crate) waiting: AtomicUsize,
    /// The moment at which a read last found the lock busy for too long.
    pub(crate) blocked_at: Mutex<Option<std::time::Duration>>,
    pub(crate) background: Mutex<Option<BackgroundSync>>,
    pub(crate) watching: Mutex<Option<VaultWatcher>>,
    /// The moment at which the watching process last answered this one.
    pub(crate) watcher_answered_at: Mutex<Option<std::time::Instant>>,
    /// Something was written that has not been forced to disk in the files.
    pub(crate) unforced: AtomicBool,
    /// The store is being closed: nobody waits for a look at the files any more.
    closing: AtomicBool,
    pub(crate) uses: vault::access_times::AccessTimes,
    pub(crate) reached: vault::root_identity::RootIdentityCache,
    /// Notified if files or index may have changed.
    pub(crate) listener: Mutex<Option<Sender<()>>>,
    /// Locked while all files are scanned: a second scan at the same time would only repeat the
    /// work.
    pub(crate) looking: Mutex<()>,
    /// The remote log, if the vault is the cache of a space.
    pub(crate) space: Option<space::RemoteSpace>,
    /// Present if the store answers only until the whole space is here. Dropped last: its folder is
    /// removed then.
    pub(crate) provisional: Option<provisional::Provisional>,
}

impl Store {
    /// Opens or makes a vault. Costs the same however large the vault is.
    pub fn open(options: OpenOptions) -> Result<Self> {
        let clone = Self::clone_space(&options.home)
            .map_err(|error| files::owner::explain_refusal(error, &options.home))?;
        Self::open_with(options, clone)
    }

    /// Starts what a long-lived process needs: watching for people's edits, and forcing files to
    /// disk in the background. A process that does one thing and ends needs neither.
    pub fn start_background(&self) -> Result<()> {
        if self.inner.is_provisional() {
            return Ok(());
        }
        let mut background = self.inner.background();
        if background.is_none() {
            *background = Some(BackgroundSync::start(&self.inner)?);
        }
        drop(background);
        let mut watching = self.inner.watching();
        // Nobody edits the files of a cache.
        if watching.is_none() && self.inner.space.is_none() {
            *watching = Some(VaultWatcher::start(&self.inner)?);
        }
        Ok(())
    }

    /// Tells a listener after each look at the files, if this process is the one that watches
    /// them. Once for many changes is enough.
    pub fn tell_changes(&self, listener: Sender<()>) {
        *self.inner.listener() = Some(listener);
    }

    /// Calls `changed` soon after every change of the vault by any process, until the subscription
    /// is dropped. An edit counts as soon as a process that watches has noticed it.
    pub fn follow(&self, changed: impl Fn() + Send + 'static) -> Result<ChangeSubscription> {
        self.inner.follow(changed)
    }

    /// Reads the vectors of all passages into memory if this process has searched by them, so that
    /// its second search need not. Does nothing if there is no index.
    pub fn load_vectors(&self) -> Result<()> {
        self.inner.peek(|db| self.inner.index.load_vectors(db))
    }

    /// Lets searches of scopes with more passages than this go by words alone until
    /// [`Self::load_vectors`] has ended. With `None`, each search reads the vectors that it needs.
    pub fn defer_vectors_above(&self, passages: Option<NonZeroU64>) {
        self.inner.index.defer_vectors_above(passages);
    }

    /// Returns true if some process records edits on this vault as they happen.
    pub fn is_watched(&self) -> bool {
        self.inner.space.is_some() || scan::watch::is_watched(&self.inner)
    }

    /// Brings the index in step with the log. Fails soon with [`StoreError::Busy`] if another process
    /// holds the lock, at once if that process is suspended: a reader then does without a scan.
    pub fn catch_up_for_read(&self) -> Result<()> {
        self.inner.catch_up_for_read()
    }

    /// Returns true if every file has been scanned since the index was created.
    pub fn is_indexed(&self) -> Result<bool> {
        self.inner.is_indexed()
    }

    /// Returns the folder of the vault.
    pub fn home(&self) -> &Path {
        &self.inner.vault.home
    }

    /// Returns the obstacle to writing into the vault now; `None` if the system names none.
    pub fn write_obstacle(&self) -> Option<WriteObstacle> {
        files::write_obstacle::write_obstacle(self.home())
    }

    /// Rejects a project whose folder cannot be reached now.
    pub fn reach_project(&self, project: &Project) -> Result<()> {
        self.inner.root(project).map(drop)
    }

    /// Returns the path of the index.
    pub fn index_path(&self) -> PathBuf {
        self.inner.index.path().to_owned()
    }

    /// The name of this device in the log.
    pub fn device(&self) -> &str {
        &self.inner.vault.device
    }

    /// Returns the size of the log, in bytes.
    pub fn log_size(&self) -> Result<u64> {
        self.inner.log.devices()?.iter().map(|device| self.inner.log.size(device)).sum()
    }

    /// All projects, sorted by name.
    pub fn projects(&self) -> Result<Vec<Project>> {
        self.inner.vault.projects()
    }

    /// Finds a project by its name, or by a name that differs only in case and separators:
    /// `Research Lab` finds `research-lab`, if no other project fits.
    pub fn project(&self, name: &str) -> Result<Project> {
        self.inner.project_meant(name)
    }

    /// Finds a project, or makes a folder for it in the vault.
    pub fn ensure_project(&self, name: &ProjectName) -> Result<Project> {
        self.inner.ensure_project(name)
    }

    /// Registers a folder as a project. Its files are looked at by the next sync. Refused if the
    /// project holds files in the vault that the folder does not.
    pub fn add_project(
        &self,
        name: &ProjectName,
        path: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        self.inner.add_project(name, path, hard_links)
    }

    /// Registers a folder as a project, and moves the project's files from the vault into it.
    pub fn move_project(
        &self,
        name: &ProjectName,
        path: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        self.inner.move_project(name, path, hard_links)
    }

    /// Refuses what the history says of a project at a time, if it is about a folder that was
    /// removed since.
    pub fn check_not_removed(&self, name: &ProjectName, time: Timestamp) -> Result<()> {
        match self.inner.vault.removed_since(name, time)? {
            Some(was_at) => Err(StoreError::ProjectRemoved { name: name.clone(), was_at }),
            None => Ok(()),
        }
    }

    /// Reads a file as it is on disk; `None` if it does not exist.
    pub fn read(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileContent>> {
        self.inner.read(project, path)
    }

    /// Returns the metadata of a file on disk; `None` if it does not exist.
    pub fn stat(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileStat>> {
        files::check_owner(path)?;
        match self.inner.vault.project(project.as_str()) {
            Ok(project) => self.inner.root(&project)?.stat(path),
            Err(StoreError::NoProject { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Gives files that were just written the time at which they were changed where they came from.
    /// One that is no longer as it was written keeps its own.
    pub fn set_modified(
        &self,
        files: &[(ProjectName, NotePath, ContentHash, Timestamp)],
    ) -> Result<()> {
        self.inner.set_modified(files)
    }

    /// Returns true if the folder of a path exists with exactly this spelling.
    pub fn has_folder_of(&self, project: &ProjectName, path: &NotePath) -> Result<bool> {
        let root = self.inner.root(&self.inner.vault.project(project.as_str())?)?;
        let folder = path.parent().map(NotePath::parse);
        Ok(folder.is_none_or(|folder| folder.is_ok_and(|folder| root.is_folder(&folder))))
    }

    /// The rule of the project that would keep a file out of the search, if there is one. The file
    /// need not exist.
    pub fn ignored_by(&self, project: &ProjectName, path: &NotePath) -> Result<Option<String>> {
        match self.inner.vault.project(project.as_str()) {
            Ok(project) => Ok(self.inner.root(&project)?.ignored_by(path)),
            Err(StoreError::NoProject { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Writes a file that is no note, without history. Only a name that the rules of the project
    /// leave out is written: one that is hidden, or that `.gitignore` names.
    pub fn put_aside(&self, project: &ProjectName, path: &NotePath, bytes: &[u8]) -> Result<()> {
        self.inner.put_aside(project, path, bytes)
    }

    /// Leaves a line for other processes in a register that keeps the newest ones, at least so
    /// many as are to be kept.
    pub fn leave_notice(&self, register: &str, line: &str, keep: usize) -> Result<()> {
        self.inner.leave_notice(register, line, keep)
    }

    /// The lines that processes left in a register, the oldest first.
    pub fn notices(&self, register: &str) -> Result<Vec<String>> {
        self.inner.read_notices(register)
    }

    /// Notes that a note was looked at, for those who let unused notes expire.
    pub fn note_use(&self, project: &ProjectName, path: &NotePath) {
        self.inner.note_use(project, path);
    }

    /// Returns the time of the last access of each note.
    pub fn last_uses(&self) -> Result<HashMap<(ProjectName, NotePath), Timestamp>> {
        self.inner.last_uses()
    }

    /// Counts a call of a client that only reads.
    pub fn count_read(&self, client: &str) {
        self.inner.count_read(client);
    }

    /// Returns the number of reads of each client in the last days, today included.
    pub fn read_counts(&self, days: u32) -> Result<BTreeMap<String, u64>> {
        self.inner.read_counts(days)
    }

    /// Lists a folder of a project on disk; `None` if it does not exist.
    pub fn entries(
        &self,
        project: &ProjectName,
        folder: Option<&NotePath>,
    ) -> Result<Option<DirListing>> {
        self.inner.root(&self.inner.vault.project(project.as_str())?)?.entries(folder)
    }

    /// Looks at every file of every project, and records what people did.
    pub fn sync(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        self.inner.sync_all(progress)
    }

    /// Looks at every file of one project, and records what people did.
    pub fn sync_project(
        &self,
        project: &ProjectName,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<ScanReport> {
        self.inner.sync_one(project, progress)
    }

    /// Returns true if the index is up to date for everything at or below some folders. Checks only
    /// those files.
    pub fn is_as_known(&self, project: &ProjectName, folders: &[NotePath]) -> Result<bool> {
        self.inner.is_as_known(project, folders)
    }

    /// Deletes the index and rebuilds it from the files and the log.
    pub fn reindex(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        self.inner.index.forget();
        self.inner.sync_all(progress)
    }

    /// Returns the number of passages that have a vector of a model.
    pub fn coverage(&self, model: &str) -> Result<EmbeddingCoverage> {
        self.inner.coverage(model)
    }

    /// Some texts that a model has made no vector of, those of the newest files first.
    pub fn pending_texts(
        &self,
        model: &str,
        count: usize,
        except: &[TextKey],
    ) -> Result<Vec<PendingText>> {
        self.inner.pending_texts(model, count, except)
    }

    /// The right to make vectors of a model, if no other process has it.
    pub fn claim_meanings(&self, model: &str) -> Result<Option<FileLockGuard>> {
        self.inner.claim_meanings(model)
    }

    /// Keeps vectors of texts; `None` stands for a text that means nothing to the model.
    pub fn keep_meanings(
        &self,
        model: &str,
        form: VectorForm,
        vectors: &[(TextKey, Option<QuantizedVector>)],
    ) -> Result<()> {
        self.inner.keep_meanings(model, form, vectors)
    }

    /// Throws the vectors of a model away.
    pub fn forget_meanings(&self, model: &str) -> Result<()> {
        self.inner.forget_meanings(model)
    }

    /// Lets go of vectors that are no longer needed.
    pub fn tidy_meanings(&self, model: &str) -> Result<()> {
        self.inner.tidy_meanings(model)
    }

    /// Returns a path as it is spelled on disk: names that differ only in Unicode form or case are
    /// the same file or folder. Folders that the index does not contain are not read; see
    /// [`Store::spelled_on_disk`].
    pub fn spelled(&self, project: &ProjectName, path: &NotePath) -> Result<NotePath> {
        self.inner.spelled(project, path, LookupSource::Index)
    }

    /// Returns a path as it is spelled on disk, also in folders that the index does not contain:
    /// hidden, ignored and new ones.
    pub fn spelled_on_disk(&self, project: &ProjectName, path: &NotePath) -> Result<NotePath> {
        self.inner.spelled(project, path, LookupSource::Disk)
    }

    /// The content of a version, from the log.
    pub fn content(&self, hash: ContentHash) -> Result<Vec<u8>> {
        let find = || self.inner.ask(|db| history::content_at(db, hash));
        let at = find()?.ok_or(StoreError::ContentGone(hash))?;
        match self.inner.log.content(&at, hash) {
            // Another process may have rewritten the log just now.
            Err(StoreError::ContentGone(_)) => match find()? {
                Some(moved) if moved != at => self.inner.log.content(&moved, hash),
                _ => self.inner.content_of_space(hash),
            },
            other => other,
        }
    }

    /// Lists the files whose last acknowledged version is gone without an edit that was seen.
    pub fn lost_files(&self) -> Result<Vec<LostFile>> {
        self.inner.lost_files()
    }

    /// Writes every project and the history as a tar archive.
    pub fn export(&self, to: &mut dyn std::io::Write) -> Result<ExportReport> {
        self.inner.export(to)
    }

    /// Reads an archive into this vault, which must be empty.
    pub fn import(&self, from: &mut dyn std::io::Read) -> Result<ImportReport> {
        let report = self.inner.import(from)?;
        self.inner.index.forget();
        self.inner.sync_all(&mut |_| {})?;
        Ok(report)
    }

    /// Says what a vacuum would purge.
    pub fn plan_vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        self.inner.plan_vacuum(vacuum)
    }

    /// Really removes contents that are no longer needed, from the log too.
    pub fn vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        self.inner.vacuum(vacuum)
    }

    /// Purges the copy of a space's log alone, to replace the remote log by it. Until then the copy
    /// is behind no head, and must not be written to.
    pub fn purge_copy(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        self.inner.purge_log(vacuum)
    }

    /// Returns a hash of each table of the index: equal for equal files and log.
    pub fn fingerprint(&self) -> Result<Vec<(&'static str, [u8; 32])>> {
        // Counting words needs a temporary table, which readers may not make.
        self.inner.with_session(|session| index::fingerprint(session.db))
    }

    /// Forces everything written to disk in the files too. Done on closing anyway.
    pub fn flush(&self) -> Result<()> {
        self.inner.unforced.store(false, Ordering::Relaxed);
        self.inner.make_checkpoint()
    }
}

#[cfg(feature = "faults")]
impl Store {
    /// Closes all files like a process that dies: nothing more is written.
    pub fn abandon(self) {
        self.inner.unforced.store(false, Ordering::Relaxed);
        self.inner.index.leave_as_written();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.inner.closing.store(true, Ordering::Relaxed);
        if let Some(watching) = self.inner.watching().take() {
            watching.stop();
        }
        if let Some(background) = self.inner.background().take() {
            background.stop();
        }
        if self.inner.is_provisional() {
            // Nothing of it is kept.
        } else if self.inner.unforced.load(Ordering::Relaxed) {
            // The log has it all; a checkpoint only shortens the next recovery.
            self.flush().ok();
        } else if self.inner.index.leaves_much() {
            self.inner.write_back().ok();
        }
    }
}

impl StoreInner {
    fn read(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileContent>> {
        files::check_owner(path)?;
        match self.vault.project(project.as_str()) {
            Ok(found) => match self.root(&found)?.read(path)? {
                None if self.is_provisional() => self.read_provisional(project, path),
                read => Ok(read),
            },
            Err(StoreError::NoProject { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn listener(&self) -> std::sync::MutexGuard<'_, Option<Sender<()>>> {
        self.listener.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Stops work that the next process can repeat, once the store is being closed.
    pub(crate) fn stop_if_closing(&self) -> Result<()> {
        if self.closing.load(Ordering::Relaxed) { Err(StoreError::Closing) } else { Ok(()) }
    }

    /// Says that something may have changed.
    pub(crate) fn tell_change(&self) {
        if let Some(listener) = &*self.listener() {
            listener.send(()).ok();
        }
    }

    fn watching(&self) -> std::sync::MutexGuard<'_, Option<VaultWatcher>> {
        self.watching.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn watcher_answered_at(&self) -> std::sync::MutexGuard<'_, Option<std::time::Instant>> {
        self.watcher_answered_at.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
