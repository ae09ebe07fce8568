//! The index: everything that is derived from files and log, in a form that can be queried.

mod connection;
pub(crate) mod connectivity;
mod doc_lengths;
pub(crate) mod embeddings;
pub(crate) mod extract;
mod file_content;
mod file_prints;
mod file_queries;
mod file_rows;
mod filtered_list;
mod fingerprint;
mod first_recorded;
pub(crate) mod folder_graph;
mod folders;
mod fts5_query;
mod graph;
pub(crate) mod history;
pub(crate) mod image;
pub(crate) mod ledger;
pub(crate) mod links;
pub(crate) mod map_rows;
mod mentions;
mod metadata;
mod outlines;
mod passage_reuse;
mod passage_tokens;
mod passages;
mod projects;
mod search;
mod vectors;
pub(crate) mod word_merge;
pub(crate) mod work_lists;
mod write;

use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::StoreInner;
use crate::commit::unindexed::UnindexedFile;
use crate::error::{Result, StoreError};
use crate::log::LogPosition;

use connection::IndexVersion;
pub(crate) use connection::{IndexFile, IndexState, OldReaders};
pub use connectivity::Connectivity;
pub use embeddings::{EmbeddingCoverage, PendingText, TextKey, VectorForm};
pub use extract::FileKind;
pub(crate) use file_prints::{FilePrints, stored_print};
pub use file_queries::{
    FileProblems, FileSummary, IndexCounts, ListFilter, ListOrder, NameField, ObservationRow,
    RelationRow, WholeLink,
};
pub(crate) use file_rows::{
    FileRow, FileRows, all_rows, has_rows, row, row_by_id, rows_at_or_below, unreached,
    unreached_rows,
};
pub use filtered_list::FilteredList;
pub(crate) use fingerprint::fingerprint;
pub(crate) use first_recorded::set_creation_times;
pub use folder_graph::{FolderFact, FolderGraph, FolderTotals, NamedNote, NodeRow};
pub use folders::{FileOrder, FilesBelow, FolderFiles};
pub use graph::GraphNode;
pub use history::{ChangedFile, CurrentPath, DeletedFile, HistoryFilter, PastFile, PointInTime};
pub(crate) use links::resolve_relation;
pub(crate) use mentions::may_mention;
pub use outlines::{FieldRow, OutlineRow, TypedNote};
pub(crate) use projects::{
    KnownFolder, KnownTimes, folders, has_files, is_scanned, leaving, note_within, scanned_in,
    set_leaving, set_scanned, set_scanned_in, take_times, times,
};
pub use search::{
    CandidateBatches, CandidateQuery, CandidateSet, NestedFolder, NoteDisplay, PassageDisplay,
    SearchFilter, SearchHit, SearchHits, SearchReader, SimilarNote, Superseded, TermCorrection,
};
pub(crate) use search::{SearchCaches, similar_notes, title_overlap};
pub(crate) use write::{
    FileNames, IndexBatch, IndexedFile, file_names, forget_project, project_id, project_id_of,
    put_known,
};

/// Maximum number of attempts of a query if the index is damaged or was removed.
const MAX_TRIES: usize = 3;

/// Size in bytes of the write-ahead log at which a checkpoint runs at once.
const CHECKPOINT_BYTES: u64 = 64 << 20;
/// Maximum size in bytes of the write-ahead log left to the next process, which reads all of it
/// before its first query.
const MAX_LEFT_BYTES: u64 = 256 << 10;

/// The index of a vault: one file with any number of readers.
pub(crate) struct VaultIndex {
    file: IndexFile,
    readers: Mutex<Vec<PooledReader>>,
    vectors: vectors::VectorCache,
    notes: search::NoteCache,
    scopes: search::ScopeCache,
    pub(crate) meanings: embeddings::EmbeddingStore,
    /// Number of notes in one state of the index.
    note_count: Mutex<Option<(IndexVersion, u64)>>,
    /// Totals of one state of the index, without its commits.
    counts: Mutex<Option<(IndexVersion, IndexCounts)>>,
    /// Identity of the file that this process found sound.
    trusted: Mutex<Option<(u64, u64)>>,
    /// Identity of the file that this process found complete.
    complete: Mutex<Option<(u64, u64)>>,
    /// Size in bytes of the write-ahead log at which the next checkpoint runs.
    write_back_at: AtomicU64,
    /// True if this process has written pages since its last checkpoint.
    has_written: AtomicBool,
}

struct PooledReader {
    db: Connection,
    identity: Option<(u64, u64)>,
}

/// A read transaction: all its queries see one state. Its connection returns to the pool, unless a
/// query failed.
pub(crate) struct ReadTransaction {
    index: Arc<VaultIndex>,
    /// `None` only while it is dropped.
    reader: Option<PooledReader>,
    has_failed: Cell<bool>,
    /// Positions in the log before and after the pending commits that the state lacks.
    lacking: Option<(LogPosition, LogPosition)>,
}

impl ReadTransaction {
    /// Returns the positions in the log before and after the commits that the state lacks.
    pub(crate) fn lacking(&self) -> Option<(LogPosition, LogPosition)> {
        self.lacking
    }

    /// Lets every query see this state, without the commits that it lacks.
    pub(crate) fn fix(&mut self) {
        self.lacking = None;
    }

    /// Returns true if it reads this index.
    pub(crate) fn is_of(&self, index: &Arc<VaultIndex>) -> bool {
        Arc::ptr_eq(&self.index, index)
    }

    /// Returns the connection.
    pub(crate) fn connection(&self) -> Result<&Connection> {
        self.reader.as_ref().map(|reader| &reader.db).ok_or(StoreError::Closing)
    }

    /// Keeps the connection out of the pool, because a query failed.
    pub(crate) fn note_failure(&self) {
        self.has_failed.set(true);
    }

    /// Runs a query.
    pub(crate) fn run<R>(&self, query: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        let result = query(self.connection()?);
        if result.is_err() {
            self.note_failure();
        }
        result
    }
}

impl Drop for ReadTransaction {
    fn drop(&mut self) {
        let Some(reader) = self.reader.take().filter(|_| !self.has_failed.get()) else { return };
        let ended = reader.db.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
        if ended.is_ok() {
            self.index.pool().push(reader);
        }
    }
}

impl VaultIndex {
    pub(crate) fn new(file: IndexFile) -> Self {
        Self {
            file,
            readers: Mutex::new(Vec::new()),
            vectors: vectors::VectorCache::default(),
            notes: search::NoteCache::default(),
            scopes: search::ScopeCache::default(),
            meanings: embeddings::EmbeddingStore::default(),
            note_count: Mutex::new(None),
            counts: Mutex::new(None),
            trusted: Mutex::new(None),
            complete: Mutex::new(None),
            write_back_at: AtomicU64::new(CHECKPOINT_BYTES),
            has_written: AtomicBool::new(false),
        }
    }

    /// Returns the in-memory caches for a search, with those of a model if one is given.
    pub(crate) fn caches(&self, db: &Connection, model: Option<&str>) -> Result<SearchCaches<'_>> {
        let now = IndexVersion::of(db)?;
        let chosen = model.map(|model| self.meanings.of(self.path(), model));
        let notes = self.notes.as_of(db, now)?;
        Ok(SearchCaches { table: &self.vectors, notes, scopes: &self.scopes, chosen, now })
    }

    /// Returns the last number of notes that was counted, with the state of the index.
    fn counted_notes(&self) -> Option<(IndexVersion, u64)> {
        *self.note_count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_counted_notes(&self, now: IndexVersion, notes: u64) {
        *self.note_count.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, notes));
    }

    /// Returns the totals that were counted for a state of the index.
    fn counted(&self, now: IndexVersion) -> Option<IndexCounts> {
        let counts = *self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.filter(|(then, _)| *then == now).map(|(_, counts)| counts)
    }

    fn set_counted(&self, now: IndexVersion, counts: IndexCounts) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, counts));
    }

    /// Reads the vectors of all passages into memory if this process has searched by them.
    pub(crate) fn load_vectors(&self, db: &Connection) -> Result<()> {
        self.vectors.load(db, IndexVersion::of(db)?)
    }

    /// Lets searches of scopes with more passages than this do without vectors until they are loaded.
    pub(crate) fn defer_vectors_above(&self, passages: Option<NonZeroU64>) {
        self.vectors.defer_above(passages);
    }

    /// Records that pages were written, and runs a checkpoint if many are waiting. It does not wait
    /// for readers of an older state, because the vault lock is held. The next attempt is after as
    /// many bytes again.
    pub(crate) fn note_written(&self, db: &Connection) -> Result<()> {
        self.has_written.store(true, Ordering::Relaxed);
        if self.file.waiting_bytes() >= self.write_back_at.load(Ordering::Relaxed) {
            self.write_back(db, OldReaders::PassBy)?;
        }
        Ok(())
    }

    /// Writes all pages to the main file. Only under the lock.
    pub(crate) fn write_back(&self, db: &Connection, readers: OldReaders) -> Result<()> {
        self.file.write_back(db, readers)?;
        let next = self.file.waiting_bytes() + CHECKPOINT_BYTES;
        self.write_back_at.store(next, Ordering::Relaxed);
        self.has_written.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Leaves the write-ahead log to the next process, however large it is.
    #[cfg(feature = "faults")]
    pub(crate) fn leave_as_written(&self) {
        self.has_written.store(false, Ordering::Relaxed);
    }

    /// Returns true if this process would leave a large write-ahead log to the next one.
    pub(crate) fn leaves_much(&self) -> bool {
        self.has_written.load(Ordering::Relaxed) && self.file.waiting_bytes() > MAX_LEFT_BYTES
    }

    /// Returns true if this file was found sound before.
    fn is_trusted(&self, identity: Option<(u64, u64)>) -> bool {
        *self.trusted() == identity
    }

    /// Returns true if the file is sound, and remembers it.
    fn inspect(self: &Arc<Self>, identity: Option<(u64, u64)>) -> Result<bool> {
        let sound = self.file.state()? == IndexState::Sound
            && self.with_reader(|db| Ok(IndexFile::is_current(db))).unwrap_or(false);
        if sound {
            self.trust(identity);
        }
        Ok(sound)
    }

    /// Marks this file as sound.
    pub(crate) fn trust(&self, identity: Option<(u64, u64)>) {
        *self.trusted() = identity;
    }

    /// Creates an empty index. Only under the vault lock.
    pub(crate) fn create(&self) -> Result<Connection> {
        // The new file can reuse the inode number.
        *self.complete() = None;
        self.file.create()
    }

    fn complete(&self) -> std::sync::MutexGuard<'_, Option<(u64, u64)>> {
        self.complete.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn trusted(&self) -> std::sync::MutexGuard<'_, Option<(u64, u64)>> {
        self.trusted.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Removes a damaged index file. The next access rebuilds it.
    pub(crate) fn forget(&self) {
        self.pool().clear();
        *self.complete() = None;
        crate::files::state_files::remove(self.file.path()).ok();
    }

    /// Begins a read transaction on a pooled connection.
    fn begin_read(self: &Arc<Self>) -> Result<ReadTransaction> {
        let identity = self.file.identity();
        let pooled = self.pool().pop().filter(|reader| reader.identity == identity);
        let reader = match pooled {
            Some(reader) => reader,
            None => PooledReader { db: self.file.open_reader()?, identity },
        };
        reader.db.prepare_cached("BEGIN")?.execute([])?;
        Ok(ReadTransaction {
            index: Arc::clone(self),
            reader: Some(reader),
            has_failed: Cell::new(false),
            lacking: None,
        })
    }

    /// Runs a query in a read transaction of its own.
    fn with_reader<R>(self: &Arc<Self>, read: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        self.begin_read()?.run(read)
    }

    fn pool(&self) -> std::sync::MutexGuard<'_, Vec<PooledReader>> {
        self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl std::ops::Deref for VaultIndex {
    type Target = IndexFile;

    fn deref(&self) -> &IndexFile {
        &self.file
    }
}

impl StoreInner {
    /// Begins a read transaction on an index that has caught up with all acknowledged commits.
    pub(crate) fn begin_read(&self) -> Result<ReadTransaction> {
        // Usually the index is up to date, and one read transaction is enough.
        let mut wanted = RequiredPosition::EndOfLog;
        for _ in 0..MAX_TRIES {
            let is_sound = self.is_index_sound()?;
            if is_sound {
                match self.begin_read_at(wanted) {
                    Ok(Some(read)) => return Ok(read),
                    Ok(None) => {}
                    Err(e) if e.is_index_damage() => self.index.forget(),
                    Err(e) => return Err(e),
                }
            } else {
                self.index.pool().clear();
            }
            match self.catch_up_for_read() {
                // The lock may be held for long, or the disk is full or read-only: an older answer is
                // better than an error.
                Err(StoreError::Busy { .. }) if is_sound => break,
                Err(e) if is_sound && e.is_unwritable() => break,
                other => other?,
            }
            // All commits acknowledged before the query are indexed now; later ones may be missing.
            wanted = RequiredPosition::Anything;
        }
        self.index.begin_read()
    }

    /// Begins a read transaction; `None` if the index is behind the required position.
    fn begin_read_at(&self, wanted: RequiredPosition) -> Result<Option<ReadTransaction>> {
        let read = self.index.begin_read()?;
        let is_ready = read.run(|db| {
            let is_there = match wanted {
                RequiredPosition::EndOfLog => self.is_caught_up(db)?,
                // A `vacuum` started meanwhile; catching up waits until it ends.
                RequiredPosition::Anything => !self.is_forgotten(db)?,
            };
            Ok(is_there && !self.has_unfinished_removal(db)?)
        })?;
        Ok(is_ready.then_some(read))
    }

    /// Runs one query on an index that has caught up with all acknowledged commits.
    pub(crate) fn ask<R>(&self, question: impl Fn(&Connection) -> Result<R>) -> Result<R> {
        self.fresh_snapshot()?.query(question)
    }

    /// Queries the index like [`Self::ask`]. It may lack pending commits of this process, if none of
    /// them concerns the query.
    pub(crate) fn ask_beside<R>(
        &self,
        concerns: impl Fn(&UnindexedFile) -> bool,
        question: impl Fn(&Connection) -> Result<R>,
    ) -> Result<R> {
        self.lookup_snapshot()?.query_about(concerns, question)
    }

    /// Begins a read transaction on an index that may lack the pending commits of this process.
    pub(crate) fn begin_lookup(&self) -> Result<ReadTransaction> {
        let span = self.pending().span();
        if let Some((from, end)) = span
            && self.is_index_sound()?
        {
            let device = &self.vault.device;
            let mut read = self.index.begin_read()?;
            let is_there = read.run(|db| {
                Ok(history::read_to(db, device)?.position == from
                    && self.log.is_end(device, end)
                    && !self.has_unfinished_removal(db)?)
            });
            if matches!(is_there, Ok(true)) {
                read.lacking = Some((from, end));
                return Ok(read);
            }
        }
        self.begin_read()
    }

    /// Queries the index in its current state. Does nothing if it is missing or damaged.
    pub(crate) fn peek(&self, question: impl Fn(&Connection) -> Result<()>) -> Result<()> {
        if self.is_index_sound()? { self.index.with_reader(question) } else { Ok(()) }
    }

    /// Returns true if every file has been scanned since the index was created. A complete index
    /// stays complete.
    pub(crate) fn is_indexed(&self) -> Result<bool> {
        let identity = self.index.identity();
        if identity.is_some() && *self.index.complete() == identity {
            return Ok(true);
        }
        let is_complete = self.ask(is_complete)?;
        if is_complete && identity == self.index.identity() {
            *self.index.complete() = identity;
        }
        Ok(is_complete)
    }

    /// Returns true if the index has read nothing of a log that is not empty.
    fn is_forgotten(&self, db: &Connection) -> Result<bool> {
        let read = history::read_to(db, &self.vault.device)?;
        let nowhere = LogPosition::default();
        Ok(read.position == nowhere && !self.log.is_end(&self.vault.device, nowhere))
    }

    /// Returns true if the index exists and is sound.
    fn is_index_sound(&self) -> Result<bool> {
        let identity = self.index.identity();
        Ok(identity.is_some()
            && (self.index.is_trusted(identity) || self.index.inspect(identity)?))
    }

    fn is_caught_up(&self, db: &Connection) -> Result<bool> {
        let read = history::read_to(db, &self.vault.device)?;
        Ok(self.log.is_end(&self.vault.device, read.position))
    }
}

/// Position in the log that the index must have reached before a query.
#[derive(Clone, Copy)]
enum RequiredPosition {
    EndOfLog,
    Anything,
}

/// Returns true if every file has been scanned since the index was created.
pub(crate) fn is_complete(db: &Connection) -> Result<bool> {
    let found: i64 = db
        .prepare_cached("SELECT count(*) FROM meta WHERE key = 'complete'")?
        .query_row([], |row| row.get(0))?;
    Ok(found > 0)
}

/// Records that every file has been scanned.
pub(crate) fn set_complete(db: &Connection) -> Result<()> {
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('complete', '1')", [])?;
    Ok(())
}
