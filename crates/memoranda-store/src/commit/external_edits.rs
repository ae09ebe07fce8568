//! People's edits as part of the history: what was found on disk, recorded without touching it.

use std::time::Duration;

use memoranda_core::change::{Commit, CommitKind, FactEdit, FileChange};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note;
use memoranda_core::path::NotePath;

use crate::clock;
use crate::commit::person;
use crate::commit::write_session::WriteSession;
use crate::error::Result;
use crate::files::{FileContent, FileStat};
use crate::index::extract::{ExtractedFile, extract, is_text};
use crate::index::{IndexBatch, history};
use crate::log::{FileRecord, LogRecord, RecordBody};
use crate::machine;
use crate::scan::CLOCK_TICK_NS;

/// A record of what people did, in the making.
#[derive(Default)]
pub(crate) struct ExternalEdits {
    files: Vec<FileChange>,
    notes: Vec<FileRecord>,
    body: RecordBody,
    is_first_scan: bool,
}

impl ExternalEdits {
    /// A record of the files that were in a folder when it became a project.
    pub(crate) fn first_scan() -> Self {
        Self { is_first_scan: true, ..Self::default() }
    }

    /// Notes a file that is there with other bytes than the history knows.
    #[expect(clippy::too_many_arguments, reason = "each is a different thing about one file")]
    pub(crate) fn put(
        &mut self,
        session: &WriteSession<'_>,
        batch: &IndexBatch<'_>,
        project: &ProjectName,
        project_row: i64,
        path: &NotePath,
        known: Option<ContentHash>,
        found: &FileContent,
    ) -> Result<()> {
        let extracted = is_text(path, &found.bytes).then(|| extract(path, &found.bytes));
        let seen = ScannedFile { project, project_row, path, moved_from: None, known };
        self.put_digest(session, batch, &seen, found, extracted.as_ref())
    }

    /// Records a file that was extracted elsewhere, or that came from another place.
    pub(crate) fn put_digest(
        &mut self,
        session: &WriteSession<'_>,
        batch: &IndexBatch<'_>,
        seen: &ScannedFile<'_>,
        found: &FileContent,
        extracted: Option<&ExtractedFile>,
    ) -> Result<()> {
        let held_by = seen.moved_from.unwrap_or(seen.path);
        let mut note = FileRecord::default();
        if let Some(extracted) = extracted.filter(|_| seen.path.is_markdown()) {
            let current = batch.current_permalink(seen.project_row, held_by)?;
            let address = &extracted.address;
            let given = batch.permalink(seen.project_row, held_by, address, current.as_deref())?;
            note.permalink = (given != address.permalink).then_some(given);
        }
        // An edit sets the time of the file to now; the log keeps how old the file was before.
        if seen.known.is_none() {
            note.found_time_ms = Some(found.stat.mtime_ns.div_euclid(1_000_000));
        }
        if history::content_at(session.db, found.hash)?.is_none() {
            note.blob = Some(self.body.add(&found.bytes));
        }
        self.files.push(FileChange {
            project: seen.project.clone(),
            path: seen.path.clone(),
            moved_from: seen.moved_from.cloned(),
            before: seen.known,
            after: Some(found.hash),
            fact_edits: reworded_facts(session, seen, found, extracted)?,
        });
        self.notes.push(note);
        Ok(())
    }

    /// Notes a file that is no longer there.
    pub(crate) fn remove(&mut self, project: &ProjectName, path: &NotePath, known: ContentHash) {
        self.files.push(FileChange {
            project: project.clone(),
            path: path.clone(),
            moved_from: None,
            before: Some(known),
            after: None,
            fact_edits: Vec::new(),
        });
        self.notes.push(FileRecord::default());
    }

    /// The permalink that was given to the n-th file, if it is not its own.
    pub(crate) fn permalink(&self, n: usize) -> Option<&str> {
        self.notes.get(n).and_then(|note| note.permalink.as_deref())
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The record for the log; `None` if there was nothing to note.
    pub(crate) fn into_record(self) -> Option<(LogRecord, RecordBody)> {
        if self.files.is_empty() {
            return None;
        }
        let commit = Commit {
            id: clock::new_commit_id(),
            time: clock::now(),
            author: person(),
            message: None,
            kind: Some(if self.is_first_scan { CommitKind::FirstScan } else { CommitKind::Scan }),
            files: self.files,
            folders: None,
        };
        Some((LogRecord::new(commit, self.notes), self.body))
    }
}

/// Waits until a file that is about to be replaced is older than the commit by every clock.
///
/// A power cut can bring back the replaced file with bytes that no log has. Recovery knows it by its
/// times, which are those of the edit or of an exchange that was taken back a moment ago.
pub(crate) fn wait_until_older(stat: &FileStat) {
    // Commits have whole milliseconds.
    const WAIT_NS: i64 = CLOCK_TICK_NS + 1_000_000;
    let older_from_ns = stat.mtime_ns.max(stat.ctime_ns).saturating_add(WAIT_NS);
    loop {
        let left_ns = older_from_ns.saturating_sub(clock::now_ns());
        // A clock that was set back would have to be waited for much longer.
        match u64::try_from(left_ns) {
            Ok(left @ 1..) if left_ns <= WAIT_NS => machine::pause(Duration::from_nanos(left)),
            _ => break,
        }
    }
}

/// A file that differs from the history.
pub(crate) struct ScannedFile<'a> {
    pub(crate) project: &'a ProjectName,
    pub(crate) project_row: i64,
    pub(crate) path: &'a NotePath,
    pub(crate) moved_from: Option<&'a NotePath>,
    pub(crate) known: Option<ContentHash>,
}

/// Facts whose text was changed under an unchanged comment: each is a new version.
fn reworded_facts(
    session: &WriteSession<'_>,
    seen: &ScannedFile<'_>,
    found: &FileContent,
    extracted: Option<&ExtractedFile>,
) -> Result<Vec<FactEdit>> {
    let has_facts = extracted.is_some_and(|d| d.observations.iter().any(|(_, o)| o.meta.is_some()));
    let (Some(known), true) = (seen.known, has_facts) else { return Ok(Vec::new()) };
    let Some(at) = history::content_at(session.db, known)? else { return Ok(Vec::new()) };
    let Ok(before) = session.inner.log.content(&at, known) else { return Ok(Vec::new()) };
    let before = note::parse(&String::from_utf8_lossy(&before));
    let after = note::parse(&String::from_utf8_lossy(&found.bytes));
    let mut edits = note::fact_edits(&before, &after);
    // The comment does not tell how often a fact was reworded before; the history does.
    let held_by = seen.moved_from.unwrap_or(seen.path);
    let so_far = history::reworded(session.db, seen.project_row, held_by, None)?;
    for edit in &mut edits {
        let last = so_far.get(&edit.id).copied().unwrap_or(0);
        edit.version = edit.version.max(last.saturating_add(1));
    }
    Ok(edits)
}
