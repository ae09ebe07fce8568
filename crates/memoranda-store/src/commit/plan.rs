//! The plan of a commit: the log record and the operation on each file, after the checks of new names
//! and sizes.

use memoranda_core::change::{
    Author, ChangeChannel, ChangeSet, Commit, CommitKind, FileAction, FileChange,
};
use memoranda_core::note::permalink::is_reserved_name;
use memoranda_core::path::NotePath;

use super::CheckedOperation;
use super::file_op::{FileOp, FileOpKind};
use super::unindexed::UnindexedFile;
use super::write_session::WriteSession;
use crate::clock;
use crate::error::{NotAFileKind, Result, StoreError};
use crate::files::{self, MAX_FILE_BYTES};
use crate::index::extract::requested_permalink;
use crate::index::{IndexBatch, history};
use crate::log::{FileRecord, LogRecord, RecordBody};

/// Plan of a commit: the log record, and the operation on each file.
pub(super) struct CommitPlan<'a> {
    pub(super) record: LogRecord,
    pub(super) body: RecordBody,
    pub(super) file_ops: Vec<FileOp<'a>>,
    /// Row of the project in the index, for each operation.
    pub(super) project_rows: Vec<i64>,
}

/// Plans the operations of a change; `None` if every file is as it would be.
pub(super) fn plan<'a>(
    session: &WriteSession<'_>,
    batch: &IndexBatch<'_>,
    steps: &'a [CheckedOperation<'a>],
    author: &Author,
    change: &ChangeSet,
) -> Result<Option<CommitPlan<'a>>> {
    let id = clock::new_commit_id();
    let mut body = RecordBody::default();
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let (mut file_ops, mut project_rows) = (Vec::new(), Vec::new());
    for step in steps {
        let operation = step.operation;
        let (path, found) = (&operation.path, step.found.as_ref());
        let mut note = FileRecord::default();
        let (placing, address, moved_from, before, after) = match &operation.action {
            FileAction::Remove => match found {
                None => continue,
                Some(found) => (FileOpKind::Remove, None, None, Some(found.hash), None),
            },
            FileAction::Put(content) => {
                let hash = files::hash(content);
                let before = found.map(|found| found.hash);
                if before == Some(hash) {
                    continue;
                }
                check_new_name(session, step, None)?;
                check_reserved(session, step, author)?;
                check_size(path, content)?;
                note.blob = Some(body.add(content));
                let address = requested_permalink(path, content);
                let mode = match found {
                    Some(found) => step.root.kept_mode(found.mode),
                    None => step.root.new_file_mode(),
                };
                (FileOpKind::Put { content, hash, mode }, address, None, before, Some(hash))
            }
            FileAction::MoveFrom { from, content } => {
                let Some(source) = &step.source else { continue };
                check_new_name(session, step, Some(from))?;
                check_reserved(session, step, author)?;
                check_size(path, content)?;
                let hash = files::hash(content);
                let in_log = session.inner.pending().has_content(hash)
                    || history::content_at(session.db, hash)?.is_some();
                if !in_log {
                    note.blob = Some(body.add(content));
                }
                let address = requested_permalink(path, content);
                let mode = step.root.kept_mode(source.mode);
                let changed_ns = source.stat.mtime_ns.max(source.stat.ctime_ns);
                let source = source.hash;
                let placing = FileOpKind::Move { from, source, changed_ns, content, hash, mode };
                (placing, address, Some(from.clone()), Some(source), Some(hash))
            }
        };
        if let Some(address) = &address {
            let held_by = moved_from.as_ref().unwrap_or(path);
            let current = current_permalink(session, batch, step, held_by)?;
            if current.as_ref() != Some(&address.permalink) {
                session.inner.settle_pending(session.db, |pending| {
                    !pending.is_at(held_by)
                        && pending.has_permalink_like(&operation.project, &address.permalink)
                })?;
            }
            let given = batch.permalink(step.project_row, held_by, address, current.as_deref())?;
            note.permalink = (given != address.permalink).then_some(given);
        }
        let project = operation.project.clone();
        files.push(FileChange {
            project,
            path: path.clone(),
            moved_from,
            before,
            after,
            fact_edits: Vec::new(),
        });
        notes.push(note);
        file_ops.push(FileOp::new(step.root, path, id, file_ops.len(), found, placing));
        project_rows.push(step.project_row);
    }
    // Only a purge leaves a line in the history without changing a file.
    if file_ops.is_empty() && change.kind != Some(CommitKind::Purge) {
        return Ok(None);
    }
    let commit = Commit {
        id,
        time: clock::now(),
        author: author.clone(),
        message: change.message.clone(),
        kind: change.kind,
        files,
        folders: None,
    };
    let record = LogRecord::new(commit, notes);
    Ok(Some(CommitPlan { record, body, file_ops, project_rows }))
}

/// Returns the permalink that a note has now, by a pending commit or by the index.
fn current_permalink(
    session: &WriteSession<'_>,
    batch: &IndexBatch<'_>,
    step: &CheckedOperation<'_>,
    path: &NotePath,
) -> Result<Option<String>> {
    let is_gone = |pending: &UnindexedFile| pending.is_at(path) && !pending.stays_at(path);
    session.inner.settle_pending(session.db, is_gone)?;
    let pending = session.inner.pending().newest(&step.operation.project, path).and_then(|file| {
        let (_, permalink) = file.title_and_permalink()?;
        Some(permalink.to_owned())
    });
    match pending {
        Some(permalink) => Ok(path.is_markdown().then_some(permalink)),
        None => batch.current_permalink(step.project_row, path),
    }
}

fn check_size(path: &NotePath, content: &[u8]) -> Result<()> {
    let (size, limit) = (content.len() as u64, MAX_FILE_BYTES);
    if size > limit {
        return Err(StoreError::TooLarge { path: path.to_string(), size, limit });
    }
    Ok(())
}

/// Refuses a new name that some system would take for one that is there. Where both have been
/// before, the system can tell them apart, and the one that went may come back.
fn check_new_name(
    session: &WriteSession<'_>,
    step: &CheckedOperation<'_>,
    from: Option<&NotePath>,
) -> Result<()> {
    if step.found.is_some() {
        return Ok(());
    }
    let path = &step.operation.path;
    session.inner.settle_pending(session.db, |pending| {
        pending.has_path_key(&step.operation.project, path)
    })?;
    let mut twins = session.db.prepare_cached(
        "SELECT path FROM files WHERE project = ? AND path_key = ? AND path <> ?",
    )?;
    let rows = twins
        .query_map(rusqlite::params![step.project_row, path.key(), path.as_str()], |row| {
            row.get::<_, String>(0)
        })?;
    for existing in rows {
        let existing = existing?;
        let Ok(twin) = NotePath::parse(&existing) else { continue };
        if Some(&twin) != from
            && step.root.stat(&twin)?.is_some()
            && !history::were_together(session.db, step.project_row, path, &twin)?
        {
            return Err(StoreError::Twin { path: path.to_string(), existing });
        }
    }
    Ok(())
}

/// Refuses a new name that Windows reserves for a device: the vault could not be copied there. Names
/// that are there, or were there before, and names of an import are accepted.
fn check_reserved(
    session: &WriteSession<'_>,
    step: &CheckedOperation<'_>,
    author: &Author,
) -> Result<()> {
    let path = &step.operation.path;
    if author.channel == ChangeChannel::Import || step.found.is_some() {
        return Ok(());
    }
    let mut end = 0;
    for name in path.as_str().split('/') {
        end += name.len() + usize::from(end > 0);
        if !is_reserved_name(name) {
            continue;
        }
        let above = path.as_str().get(..end).filter(|above| *above != path.as_str());
        let is_known = match above.map(NotePath::parse) {
            Some(above) => above.is_ok_and(|above| step.root.is_folder(&above)),
            None => history::head(session.db, step.project_row, path)?.is_some(),
        };
        if !is_known {
            let kind = NotAFileKind::ReservedName;
            return Err(StoreError::NotAFile { path: path.to_string(), kind });
        }
    }
    Ok(())
}
