//! Records the result of a scan: first new versions in the log, then all in the index.
//!
//! Files are read and extracted on a separate thread while the lock is free; the lock is held only
//! to record a batch. Closing the store waits for no batch: what the log contains by then is kept,
//! pure index updates are rolled back, and the next scan continues.

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc::sync_channel;

use memoranda_core::id::ContentHash;
use memoranda_core::path::NotePath;

use crate::commit::external_edits::{ExternalEdits, ScannedFile};
use crate::commit::write_session::WriteSession;
use crate::error::{Result, StoreError};
use crate::files::{FileContent, FileStat, ProjectRoot};
use crate::index::extract::{ExtractedFile, FileKind, extract, is_text};
use crate::index::{FileRow, IndexBatch, IndexedFile};
use crate::machine;
use crate::scan::{ScanProgress, ScanReport};
use crate::vault::Project;
use crate::{StoreInner, threads};

/// Maximum number of files, or bytes, that are recorded at a time.
const BATCH_FILES: usize = 1024;
const BATCH_BYTES: u64 = 8 << 20;
/// Of those that turn out to be as they are known: nothing is gained by holding the vault for long.
const BATCH_KNOWN: usize = 64;

/// The files of a project that have to be looked at.
pub(crate) struct ProjectScan {
    pub(crate) suspects: Vec<ChangedCandidate>,
    pub(crate) gone: Vec<(NotePath, FileRow)>,
}

/// A file that may be other than the index says.
pub(crate) struct ChangedCandidate {
    pub(crate) path: NotePath,
    pub(crate) stat: FileStat,
    /// The indexed hash, if the file still has its indexed time.
    pub(crate) known: Option<ContentHash>,
}

impl ChangedCandidate {
    pub(crate) fn new(path: NotePath, stat: FileStat, row: Option<&FileRow>) -> Self {
        let is_of_its_time =
            |row: &&FileRow| row.kind != FileKind::Known && row.stat.mtime_ns == stat.mtime_ns;
        Self { path, stat, known: row.filter(is_of_its_time).and_then(|row| row.hash) }
    }
}

/// A file that was read, away from the lock.
struct MoveCandidate {
    path: NotePath,
    is_as_known: bool,
    read: Result<Option<(FileContent, Option<ExtractedFile>)>>,
}

impl StoreInner {
    /// Reads the files away from the lock, and records them batch by batch.
    pub(crate) fn reconcile(
        &self,
        project: &Project,
        root: &ProjectRoot,
        look: ProjectScan,
        report: &mut ScanReport,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<()> {
        let total = look.suspects.len();
        let mut vanished: HashMap<ContentHash, NotePath> =
            look.gone.iter().filter_map(|(path, row)| Some((row.hash?, path.clone()))).collect();
        let mut moved = BTreeSet::new();
        let mut done = 0;
        let read_batch = |batch: &[ChangedCandidate]| -> Result<Vec<MoveCandidate>> {
            let read = |file: &ChangedCandidate| {
                self.stop_if_closing()?;
                Ok(read(root, &file.path, file.known))
            };
            batch.iter().map(read).collect()
        };
        let mut record_batch = |batch: Vec<MoveCandidate>| -> Result<()> {
            done += batch.len();
            let (mut known, other): (Vec<_>, Vec<_>) =
                batch.into_iter().partition(|candidate| candidate.is_as_known);
            while !known.is_empty() {
                let some = known.split_off(known.len().saturating_sub(BATCH_KNOWN));
                self.yield_to_waiters();
                self.with_session(|session| {
                    record(session, project, root, some, &mut vanished, &mut moved, report)
                })?;
            }
            if !other.is_empty() {
                self.yield_to_waiters();
                self.with_session(|session| {
                    record(session, project, root, other, &mut vanished, &mut moved, report)
                })?;
            }
            progress(ScanProgress { done, total });
            Ok(())
        };
        let suspects = look.suspects;
        if machine::is_simulated() {
            // There the order of calls must not depend on chance.
            for batch in batches(&suspects) {
                record_batch(read_batch(batch)?)?;
            }
        } else {
            std::thread::scope(|scope| -> Result<()> {
                let (sender, receiver) = sync_channel::<Vec<MoveCandidate>>(2);
                threads::start(scope, move || {
                    for batch in batches(&suspects) {
                        let Ok(read) = read_batch(batch) else { return };
                        if sender.send(read).is_err() {
                            return;
                        }
                    }
                })?;
                receiver.into_iter().try_for_each(record_batch)
            })?;
        }
        // An unread file is not deleted.
        self.stop_if_closing()?;
        let gone: Vec<_> =
            look.gone.into_iter().filter(|(path, _)| !moved.contains(path)).collect();
        for batch in gone.chunks(BATCH_FILES) {
            self.stop_if_closing()?;
            self.with_session(|session| record_gone(session, project, root, batch, report))?;
        }
        Ok(())
    }
}

fn batches(files: &[ChangedCandidate]) -> Vec<&[ChangedCandidate]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (n, file) in files.iter().enumerate() {
        bytes += file.stat.size;
        if n + 1 - start >= BATCH_FILES || bytes >= BATCH_BYTES {
            batches.push(&files[start..=n]);
            (start, bytes) = (n + 1, 0);
        }
    }
    if start < files.len() {
        batches.push(&files[start..]);
    }
    batches
}

fn read(root: &ProjectRoot, path: &NotePath, known: Option<ContentHash>) -> MoveCandidate {
    let mut is_as_known = false;
    let read = root.read(path).map(|found| {
        found.map(|found| {
            is_as_known = known == Some(found.hash);
            let extracted = if is_as_known { None } else { digest_of(path, &found.bytes) };
            // Of a file that is known, much may stay; what is new in it is worked out when it is put.
            if known.is_none() {
                extracted.iter().for_each(ExtractedFile::embed);
            }
            (found, extracted)
        })
    });
    MoveCandidate { path: path.clone(), is_as_known, read }
}

/// Extracts the index data of a text; `None` for any other file.
fn digest_of(path: &NotePath, bytes: &[u8]) -> Option<ExtractedFile> {
    is_text(path, bytes).then(|| extract(path, bytes))
}

/// Records a batch of files that were read: first in the log what is new, then in the index.
fn record(
    session: &mut WriteSession<'_>,
    project: &Project,
    root: &ProjectRoot,
    candidates: Vec<MoveCandidate>,
    vanished: &mut HashMap<ContentHash, NotePath>,
    moved: &mut BTreeSet<NotePath>,
    report: &mut ScanReport,
) -> Result<()> {
    if has_other_folder(session, project)? {
        return Ok(());
    }
    let db = session.db;
    let transaction = db.unchecked_transaction()?;
    let mut batch = IndexBatch::new(db);
    let project_row = batch.project(&project.name)?;
    let is_first_scan = session.is_first_scan(&project.name, project_row)?;
    let mut first_scan = ExternalEdits::first_scan();
    let mut observation = ExternalEdits::default();
    // Index updates, applied once the log has the records.
    let mut puts: Vec<PendingPut> = Vec::new();
    for mut candidate in candidates {
        session.inner.stop_if_closing()?;
        let path = candidate.path.clone();
        if let Ok(Some((found, _))) = &candidate.read {
            // It was read before the lock was held. If it cannot be looked at again, its drive may be away,
            // and the text may be the one from before a write.
            match root.stat(&path) {
                Ok(now) if now == Some(found.stat) => {}
                Ok(_) => candidate = read(root, &path, None),
                Err(e) => candidate.read = Err(e),
            }
        }
        let (found, extracted) = match candidate.read {
            Ok(Some(read)) => read,
            Ok(None) => continue,
            Err(e) => {
                report.unreadable.push((project.name.clone(), path.to_string(), e.to_string()));
                continue;
            }
        };
        let checked_ns = found.checked_ns;
        let row = batch.row(project_row, &path)?;
        if let Some(row) = &row
            && row.hash == Some(found.hash)
            && row.kind != FileKind::Known
            && row.stat.mtime_ns == found.stat.mtime_ns
            // A power cut can take the bytes of a save back, but leave its time.
            && row.stat.size == found.stat.size
        {
            batch.touch((project_row, row.id), &path, found.stat, checked_ns)?;
            continue;
        }
        let extracted = extracted.or_else(|| digest_of(&path, &found.bytes));
        let head = batch.head(project_row, &path)?;
        let known = head.as_ref().and_then(|head| head.after);
        let number = row.map(|row| row.id);
        let pending = |permalink| PendingFile { path: path.clone(), number, permalink, checked_ns };
        if known == Some(found.hash) || (known.is_none() && extracted.is_none()) {
            report.indexed += 1;
            puts.push(pending(head.and_then(|head| head.permalink)).with(found, extracted));
            continue;
        }
        let from = match known {
            None => vanished.remove(&found.hash).filter(|from| matches!(root.stat(from), Ok(None))),
            Some(_) => None,
        };
        match (&from, known) {
            (Some(_), _) => report.moved += 1,
            (None, Some(_)) => report.changed += 1,
            (None, None) => report.added += 1,
        }
        let before = if from.is_some() { Some(found.hash) } else { known };
        let seen = ScannedFile {
            project: &project.name,
            project_row,
            path: &path,
            moved_from: from.as_ref(),
            known: before,
        };
        let edits =
            if is_first_scan && before.is_none() { &mut first_scan } else { &mut observation };
        edits.put_digest(session, &batch, &seen, &found, extracted.as_ref())?;
        let permalink = edits.permalink(edits.len() - 1).map(str::to_owned);
        if let Some(from) = from {
            batch.remove(project_row, &from)?;
            moved.insert(from);
        }
        puts.push(pending(permalink).with(found, extracted));
    }
    session.record(first_scan)?;
    session.record(observation)?;
    // In the order of their numbers: the full-text index gathers words only as long as these rise.
    puts.sort_by_key(|put| put.pending.number.unwrap_or(i64::MAX));
    for pending in &puts {
        // The log has them: the next look needs no more than that.
        session.inner.stop_if_closing()?;
        let put = IndexedFile {
            project: project_row,
            path: &pending.pending.path,
            hash: pending.found.hash,
            stat: pending.found.stat,
            checked_ns: pending.pending.checked_ns,
            permalink: pending.pending.permalink.as_deref(),
            first_seen_ms: batch
                .head(project_row, &pending.pending.path)?
                .map(|head| head.first_ms),
        };
        match &pending.extracted {
            Some(extracted) => batch.put(&put, extracted)?,
            None => batch.put(&put, &extract(&pending.pending.path, &pending.found.bytes))?,
        }
    }
    batch.finish()?;
    transaction.commit()?;
    session.inner.index.note_written(db)
}

/// Returns true if a project has another folder since the scan began: what is in the old one is no edit,
/// and what is not in it is not gone.
fn has_other_folder(session: &WriteSession<'_>, project: &Project) -> Result<bool> {
    match session.inner.vault.project(project.name.as_str()) {
        Ok(found) => Ok(found != *project),
        Err(StoreError::NoProject { .. } | StoreError::ProjectUnavailable { .. }) => Ok(true),
        // The list of projects could not be read, which says nothing about the folder.
        Err(e) => Err(e),
    }
}

struct PendingFile {
    path: NotePath,
    /// Row number in the index, if the file has one.
    number: Option<i64>,
    /// The permalink that the history gives the note, if it is not its own.
    permalink: Option<String>,
    checked_ns: i64,
}

struct PendingPut {
    pending: PendingFile,
    found: FileContent,
    extracted: Option<ExtractedFile>,
}

impl PendingFile {
    fn with(self, found: FileContent, extracted: Option<ExtractedFile>) -> PendingPut {
        PendingPut { pending: self, found, extracted }
    }
}

/// Records files that are no longer there, after looking once more.
fn record_gone(
    session: &mut WriteSession<'_>,
    project: &Project,
    root: &ProjectRoot,
    gone: &[(NotePath, FileRow)],
    report: &mut ScanReport,
) -> Result<()> {
    if has_other_folder(session, project)? {
        return Ok(());
    }
    let db = session.db;
    let transaction = db.unchecked_transaction()?;
    let mut batch = IndexBatch::new(db);
    let project_row = batch.project(&project.name)?;
    let mut observation = ExternalEdits::default();
    for (path, _) in gone {
        match root.stat(path) {
            Ok(None) => {
                if let Some(known) = batch.head(project_row, path)?.and_then(|head| head.after) {
                    observation.remove(&project.name, path, known);
                    report.removed += 1;
                }
                batch.remove(project_row, path)?;
            }
            // Still there, but now left out by the rules: no longer searched, not deleted.
            Ok(Some(_)) if root.ignores(path) => batch.remove(project_row, path)?,
            // A link or a folder has its name: nothing that is read.
            Err(StoreError::NotAFile { .. }) => batch.remove(project_row, path)?,
            Ok(Some(_)) | Err(_) => {}
        }
    }
    session.record(observation)?;
    batch.finish()?;
    transaction.commit()?;
    session.inner.index.note_written(db)
}
