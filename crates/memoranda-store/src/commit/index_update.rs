//! Commits of this process that the index does not contain yet.
//!
//! A commit is acknowledged when log and files contain it. The background indexes the commits of a
//! burst together. Until then a query that a pending commit may concern indexes it first; any other
//! query is answered by the index as it is. If a pending commit is lost with its process, or another
//! process was faster, the log contains the same.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::Relation;
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use super::unindexed::{self, UnindexedFile};
use crate::error::{Result, StoreError};
use crate::faults::{self, Step};
use crate::files::FileStat;
use crate::index::extract::{ExtractedFile, extract, link_key};
use crate::index::{self, IndexBatch, IndexedFile, SimilarNote, history};
use crate::log::{LogPosition, LoggedRecord};
use crate::{Store, StoreInner};

/// Number of pending commits that are indexed at once. One write in this many waits for it.
const MAX_PENDING_COMMITS: usize = 32;

/// One commit.
pub(crate) struct PendingIndexUpdate {
    /// The end of the log before it.
    pub(crate) from: LogPosition,
    /// The records, with their locations in the log.
    pub(crate) placed: Vec<LoggedRecord>,
    /// The files of the last record, in its order.
    pub(crate) files: Vec<FileUpdate>,
    /// The changed files; `None` if the commit may change the result of any query.
    names: Option<Vec<UnindexedFile>>,
}

/// New state of one file.
pub(crate) struct FileUpdate {
    pub(crate) project_row: i64,
    pub(crate) path: NotePath,
    pub(crate) from: Option<NotePath>,
    /// `None` if the file is gone, or ignored by the index.
    pub(crate) now: Option<FileState>,
}

impl FileUpdate {
    /// Returns true if the file exists where it was, or is new.
    fn is_put(&self) -> bool {
        self.from.is_none() && self.now.is_some()
    }
}

/// A file that exists.
pub(crate) struct FileState {
    pub(crate) hash: ContentHash,
    pub(crate) stat: FileStat,
    /// Time before the file got its name, by the clock of the file system: later saves are noticed.
    pub(crate) checked_ns: i64,
    pub(crate) content: Vec<u8>,
    /// The parsed content; `None` if it is parsed when the file is indexed.
    pub(super) extracted: Option<ExtractedFile>,
}

impl FileState {
    pub(crate) fn new(
        hash: ContentHash,
        stat: FileStat,
        checked_ns: i64,
        content: Vec<u8>,
    ) -> Self {
        Self { hash, stat, checked_ns, content, extracted: None }
    }
}

impl PendingIndexUpdate {
    pub(crate) fn new(
        db: &Connection,
        earlier: &PendingUpdates,
        from: LogPosition,
        placed: Vec<LoggedRecord>,
        mut files: Vec<FileUpdate>,
    ) -> Self {
        // Without the names, the commit is indexed before the next query.
        let names = unindexed::read_names(db, earlier, &placed, &mut files).ok().flatten();
        Self { from, placed, files, names }
    }

    /// Returns true if the next state of a file is another content at the same path.
    fn puts(&self, file: &FileUpdate) -> bool {
        self.files.iter().any(|next| {
            next.is_put() && next.project_row == file.project_row && next.path == file.path
        })
    }

    fn end(&self) -> LogPosition {
        self.placed.last().map_or(self.from, |placed| placed.end)
    }

    /// Returns the changes of files, except states that `later` commits replace.
    fn changes<'u>(&'u self, later: &'u [Self]) -> impl Iterator<Item = UnindexedChange<'u>> {
        let notes = self.placed.last().map(|placed| placed.record.notes.as_slice());
        let is_replaced =
            |file: &FileUpdate| file.is_put() && later.iter().any(|update| update.puts(file));
        let files = self.files.iter().enumerate();
        files.filter(move |(_, file)| !is_replaced(file)).map(move |(n, file)| {
            let permalink = notes.and_then(|notes| notes.get(n)?.permalink.as_deref());
            UnindexedChange { file, permalink }
        })
    }
}

/// A change that the index does not contain yet.
struct UnindexedChange<'u> {
    file: &'u FileUpdate,
    /// The assigned permalink, if the requested one was taken.
    permalink: Option<&'u str>,
}

impl UnindexedChange<'_> {
    /// Returns the row number of the file in the index; the largest number for a new file.
    fn row(&self, db: &Connection) -> Result<i64> {
        let path = self.file.from.as_ref().unwrap_or(&self.file.path);
        let row = index::row(db, self.file.project_row, path)?;
        Ok(row.map_or(i64::MAX, |row| row.id))
    }

    /// Returns the paths that the change is about.
    fn paths(&self) -> impl Iterator<Item = (i64, &NotePath)> {
        let paths = [Some(&self.file.path), self.file.from.as_ref()];
        paths.into_iter().flatten().map(|path| (self.file.project_row, path))
    }

    fn add(&self, db: &Connection, batch: &mut IndexBatch<'_>) -> Result<()> {
        let Self { file, permalink } = self;
        let parsed;
        let extracted = match &file.now {
            Some(FileState { extracted: Some(extracted), .. }) => Some(extracted),
            Some(now) => {
                parsed = extract(&file.path, &now.content);
                Some(&parsed)
            }
            None => None,
        };
        if let Some(from) = &file.from {
            if let Some(extracted) = extracted {
                batch.recall(file.project_row, from, extracted)?;
            }
            batch.remove(file.project_row, from)?;
        }
        let (Some(now), Some(extracted)) = (&file.now, extracted) else {
            return batch.remove(file.project_row, &file.path);
        };
        let head = history::head(db, file.project_row, &file.path)?;
        let put = IndexedFile {
            project: file.project_row,
            path: &file.path,
            hash: now.hash,
            stat: now.stat,
            checked_ns: now.checked_ns,
            permalink: *permalink,
            first_seen_ms: head.map(|head| head.first_ms),
        };
        batch.put(&put, extracted)
    }
}

/// Sorts changes by the row numbers of their files, unless two of them are about one path. The
/// full-text index gathers words only as long as row numbers rise.
fn sort_by_row(db: &Connection, changes: &mut Vec<UnindexedChange<'_>>) -> Result<()> {
    let mut paths = HashSet::new();
    if !changes.iter().flat_map(UnindexedChange::paths).all(|path| paths.insert(path)) {
        return Ok(());
    }
    let rows = changes.iter().map(|change| change.row(db)).collect::<Result<Vec<_>>>()?;
    let mut numbered: Vec<_> = rows.into_iter().zip(changes.drain(..)).collect();
    numbered.sort_by_key(|(row, _)| *row);
    changes.extend(numbered.into_iter().map(|(_, change)| change));
    Ok(())
}

/// The pending commits of this process, in log order.
#[derive(Default)]
pub(crate) struct PendingUpdates {
    updates: Vec<PendingIndexUpdate>,
}

impl PendingUpdates {
    pub(crate) fn push(&mut self, update: PendingIndexUpdate) {
        self.updates.push(update);
    }

    pub(crate) fn clear(&mut self) {
        self.updates.clear();
    }

    pub(crate) fn take(&mut self) -> Vec<PendingIndexUpdate> {
        std::mem::take(&mut self.updates)
    }

    /// Returns true if the commits should be indexed now.
    pub(crate) fn is_full(&self) -> bool {
        self.updates.len() >= MAX_PENDING_COMMITS
            || self.updates.iter().any(|update| update.names.is_none())
    }

    /// Returns true if they are all that an index lacks that contains the log up to `read`.
    pub(crate) fn lead(&self, read: LogPosition, end: LogPosition) -> bool {
        self.span().is_some_and(|(from, to)| from == read && to == end)
    }

    /// Returns the positions in the log before and after the commits; `None` if there are none.
    pub(crate) fn span(&self) -> Option<(LogPosition, LogPosition)> {
        let (first, last) = (self.updates.first()?, self.updates.last()?);
        Some((first.from, last.end()))
    }

    /// Returns true if a commit may concern a query.
    pub(crate) fn concern(&self, concerns: impl Fn(&UnindexedFile) -> bool) -> bool {
        is_concerned(&self.updates, concerns)
    }

    /// Returns true if a commit of a span may concern a query. Commits that are not pending any more
    /// may: their names are not known.
    pub(crate) fn may_concern(
        &self,
        (from, end): (LogPosition, LogPosition),
        concerns: impl Fn(&UnindexedFile) -> bool,
    ) -> bool {
        let is_there = self.updates.first().is_some_and(|first| first.from == from);
        let until = self.updates.iter().position(|update| update.end() == end);
        match until.and_then(|last| self.updates.get(..=last)).filter(|_| is_there) {
            Some(updates) => is_concerned(updates, concerns),
            None => true,
        }
    }

    /// Returns the pending state of a file; `None` if no pending commit names its path, or if not all
    /// names are known.
    pub(crate) fn newest(&self, project: &ProjectName, path: &NotePath) -> Option<&UnindexedFile> {
        let mut newest = None;
        for update in &self.updates {
            let mut files = update.names.as_ref()?.iter();
            newest = files.rfind(|f| f.project == *project && f.is_at(path)).or(newest);
        }
        newest
    }

    /// Returns true if the log has this content since a pending commit.
    pub(crate) fn has_content(&self, hash: ContentHash) -> bool {
        self.files().any(|file| file.version == Some(hash))
    }

    /// Returns the newest pending state of each file of a project; none if not all names are known.
    fn newest_files(&self, project: &ProjectName) -> Vec<&UnindexedFile> {
        let mut newest: Vec<&UnindexedFile> = Vec::new();
        for update in &self.updates {
            let Some(names) = &update.names else { return Vec::new() };
            newest.retain(|earlier| !names.iter().any(|file| file.replaces(earlier)));
            newest.extend(names.iter().filter(|file| file.project == *project));
        }
        newest
    }

    /// Returns the changed files, in every state that a commit gave them.
    pub(crate) fn files(&self) -> impl Iterator<Item = &UnindexedFile> {
        self.updates.iter().filter_map(|update| update.names.as_deref()).flatten()
    }
}

fn is_concerned(updates: &[PendingIndexUpdate], concerns: impl Fn(&UnindexedFile) -> bool) -> bool {
    updates.iter().any(|update| match &update.names {
        Some(names) => names.iter().any(&concerns),
        None => true,
    })
}

impl StoreInner {
    pub(crate) fn pending(&self) -> MutexGuard<'_, PendingUpdates> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Indexes the pending commits if one of them may concern a query. Only under the vault lock.
    pub(crate) fn settle_pending(
        &self,
        db: &Connection,
        concerns: impl Fn(&UnindexedFile) -> bool,
    ) -> Result<()> {
        let updates = {
            let mut pending = self.pending();
            if pending.concern(concerns) { pending.take() } else { Vec::new() }
        };
        self.index_updates(db, &updates)
    }

    /// Indexes commits in one transaction. Only under the vault lock.
    pub(crate) fn index_updates(
        &self,
        db: &Connection,
        updates: &[PendingIndexUpdate],
    ) -> Result<()> {
        if updates.is_empty() {
            return Ok(());
        }
        let doing = |source| StoreError::Io { doing: "index".into(), source };
        faults::at(Step::Index).map_err(doing)?;
        let transaction = db.unchecked_transaction()?;
        let mut batch = IndexBatch::new(db);
        let mut changes = Vec::new();
        for (n, update) in updates.iter().enumerate() {
            for placed in &update.placed {
                history::add(db, &self.vault.device, placed)?;
            }
            changes.extend(update.changes(updates.get(n + 1..).unwrap_or_default()));
        }
        sort_by_row(db, &mut changes)?;
        for change in &changes {
            change.add(db, &mut batch)?;
        }
        batch.finish()?;
        transaction.commit()?;
        faults::at(Step::Indexed).map_err(doing)?;
        self.index.note_written(db)
    }
}

/// The state of a file that the index does not contain yet.
#[derive(Clone, Debug)]
pub struct UnindexedText {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Earlier path of a moved file.
    pub from: Option<NotePath>,
    /// The content; `None` if the file is gone, or if the index ignores it.
    pub text: Option<String>,
}

impl Store {
    /// Returns the states of files that this process wrote and has not indexed yet. `None` if a pending
    /// commit may concern any query.
    pub fn unindexed_texts(&self) -> Option<Vec<UnindexedText>> {
        let pending = self.inner.pending();
        let mut texts = Vec::new();
        for update in &pending.updates {
            for (names, file) in update.names.as_ref()?.iter().zip(&update.files) {
                let text = |now: &FileState| String::from_utf8_lossy(&now.content).into_owned();
                texts.push(UnindexedText {
                    project: names.project.clone(),
                    path: file.path.clone(),
                    from: file.from.clone(),
                    text: file.now.as_ref().map(text),
                });
            }
        }
        Some(texts)
    }

    /// Returns title and permalink of a note that this process wrote and has not indexed yet.
    pub fn unindexed_names(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Option<(String, String)> {
        let pending = self.inner.pending();
        let note = pending.newest(project, path).filter(|file| file.stays_at(path))?;
        note.title_and_permalink().map(|(title, permalink)| (title.into(), permalink.into()))
    }

    /// Returns the targets of a note's relations that neither the index nor a pending commit resolves.
    pub fn unresolved_links(
        &self,
        project: &ProjectName,
        path: &NotePath,
        relations: &[Relation],
    ) -> Result<Vec<String>> {
        if relations.is_empty() {
            return Ok(Vec::new());
        }
        let keys: HashSet<String> = {
            let pending = self.inner.pending();
            let files = pending.newest_files(project);
            files.into_iter().flat_map(|file| file.keys().iter().cloned()).collect()
        };
        // Links to pending notes are resolved by their keys. Only names that are gone are settled, and
        // those of a project that a link names.
        let own = link_key(project.as_str());
        let named = |other: &ProjectName| {
            let other = link_key(other.as_str());
            relations.iter().any(|relation| link_key(&relation.target).contains(&other))
        };
        self.inner.ask_beside(
            |pending| {
                if pending.project == *project {
                    pending.loses_names()
                } else {
                    named(&pending.project)
                }
            },
            |db| {
                let row = index::project_id_of(db, project)?;
                let mut unresolved = Vec::new();
                for relation in relations {
                    let link = index::resolve_relation(db, row, path, relation)?;
                    let names = [Some(&link.key), link.whole_key.as_ref()];
                    let is_pending = || {
                        let mut names = names.into_iter().flatten();
                        names.any(|name| {
                            let rest =
                                name.strip_prefix(&own).and_then(|rest| rest.strip_prefix('/'));
                            keys.contains(name.trim_start_matches('/'))
                                || rest.is_some_and(|rest| keys.contains(rest))
                        })
                    };
                    let is_own = link.project == row;
                    if link.target.is_none() && !(is_own && is_pending()) {
                        unresolved.push(relation.target.clone());
                    }
                }
                Ok(unresolved)
            },
        )
    }

    /// Returns notes of a project that are similar to one with this title, best first: from the
    /// index, and those of pending commits.
    pub fn similar_notes(
        &self,
        project: &ProjectName,
        title: &str,
        limit: usize,
    ) -> Result<Vec<SimilarNote>> {
        let pending: Vec<SimilarNote> = {
            let pending = self.inner.pending();
            let note = |file: &UnindexedFile| {
                let (title, permalink) = file.title_and_permalink()?;
                let (path, title, permalink) = (file.path.clone(), title.into(), permalink.into());
                Some(SimilarNote { path, title, permalink })
            };
            let files = pending.newest_files(project).into_iter();
            files.filter(|file| file.path.is_markdown()).filter_map(note).collect()
        };
        let overlap = |note: &SimilarNote| index::title_overlap(title, &note.title);
        let mut notes: Vec<(f64, SimilarNote)> =
            pending.iter().map(|note| (overlap(note), note.clone())).collect();
        notes.retain(|(overlap, _)| *overlap > 0.0);
        let indexed = |db: &Connection| index::similar_notes(db, project, title, limit);
        let concerns =
            |pending: &UnindexedFile| pending.project == *project && pending.loses_names();
        for note in self.inner.ask_beside(concerns, indexed)? {
            if notes.iter().all(|(_, known)| known.path != note.path) {
                let newest = pending.iter().find(|newest| newest.path == note.path);
                let note = newest.cloned().unwrap_or(note);
                notes.push((overlap(&note), note));
            }
        }
        notes.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(notes.into_iter().map(|(_, note)| note).take(limit).collect())
    }
}
