//! Commits a change: decide under the lock, write temporary files, force the log, exchange; then
//! update the index.
//!
//! New bytes are on disk under temporary names before the log grows, so a full disk is noticed
//! while nothing has changed. After that, only renames are left to do. If a file turns out to
//! differ from the version that was read (an editor saved in between), the whole change is rolled
//! back and decided again. The index is updated afterwards; see [`index_update`].

pub(crate) mod checkpoint;
pub(crate) mod external_edits;
pub(crate) mod file_op;
pub(crate) mod index_update;
pub(crate) mod lost_files;
mod plan;
pub(crate) mod recover;
pub(crate) mod unindexed;
pub(crate) mod unplaced;
mod untracked;
pub(crate) mod write_session;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use memoranda_core::change::{
    Author, ChangeChannel, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
    FolderChanges,
};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::clock;
use crate::commit::file_op::{FileOp, FileOpOutcome, FolderHandles};
use crate::commit::index_update::{FileState, FileUpdate, PendingIndexUpdate};
use crate::commit::plan::{CommitPlan, plan};
use crate::commit::write_session::WriteSession;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::faults::{self, Step};
use crate::files::{self, FileContent, FileStat, ProjectRoot, state_files};
use crate::index::{IndexBatch, history};
use crate::log::{LogPosition, LogRecord, RecordBody};
use crate::transaction::{ReadVersion, Transaction};
use crate::{IgnoreRules, Store, StoreInner};

/// Maximum number of decisions of one change, if an editor saves in between.
const MAX_TRIES: usize = 20;
/// Maximum number of decisions of one change, if another server writes to the space or the index is
/// damaged.
const MAX_SPACE_TRIES: usize = 200;

/// Outcome of a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommitOutcome {
    /// The change was made, and is durable.
    Committed(Commit),
    /// Everything was already so.
    Unchanged,
    /// Something else was found than the change expected; nothing was done.
    Conflict(Vec<VersionConflict>),
}

/// A file that was not as a change expected it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VersionConflict {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Expected content.
    pub expected: ExpectedContent,
    /// Current content; `None` if the file does not exist.
    pub found: Option<ContentHash>,
}

impl Store {
    /// Decides on a change with the files as they are under the lock, and makes it: durable and
    /// whole, or not at all. The decision is asked for again if an editor saved in between.
    pub fn transact<E: From<StoreError>>(
        &self,
        author: &Author,
        mut decide: impl FnMut(&Transaction<'_>) -> Result<ChangeSet, E>,
    ) -> Result<CommitOutcome, E> {
        let inner = &self.inner;
        inner.refuse_provisional()?;
        let mut retry = None;
        let mut outcome = inner.try_commit(author, &mut decide, &mut retry);
        for _ in 0..MAX_SPACE_TRIES {
            match retry.take() {
                None => break,
                // Nothing has been done yet: a bad index shows while the change is prepared.
                Some(CommitRetry::IndexDamaged) => inner.index.forget(),
                Some(CommitRetry::SpaceMoved) => inner.catch_up_after_miss()?,
            }
            outcome = inner.try_commit(author, &mut decide, &mut retry);
        }
        if let Ok(CommitOutcome::Committed(commit)) = &outcome {
            inner.follow_rules(commit);
        }
        outcome
    }
}

impl StoreInner {
    /// Scans the projects whose ignore rules a commit changed, so that newly visible files are
    /// searchable after the acknowledgement. A failed scan is repeated by the next one.
    fn follow_rules(&self, commit: &Commit) {
        let is_rules = |path: &NotePath| IgnoreRules::FILES.contains(&path.file_name());
        let concerned = commit
            .files
            .iter()
            .filter(|file| is_rules(&file.path) || file.moved_from.as_ref().is_some_and(is_rules));
        let projects: BTreeSet<_> = concerned.map(|file| &file.project).collect();
        for project in projects {
            self.sync_one(project, &mut |_| {}).ok();
        }
    }

    fn try_commit<E: From<StoreError>>(
        &self,
        author: &Author,
        decide: &mut impl FnMut(&Transaction<'_>) -> Result<ChangeSet, E>,
        retry: &mut Option<CommitRetry>,
    ) -> Result<CommitOutcome, E> {
        self.with_pending_session(|session| {
            for _ in 0..MAX_TRIES {
                let view = Transaction::new(self, session.db);
                let change = decide(&view)?;
                match try_once(session, author, change, &view.into_seen()) {
                    Ok(CommitAttempt::Finished(outcome)) => return Ok(outcome),
                    Ok(CommitAttempt::Raced) => {}
                    Err(e) => {
                        *retry = CommitRetry::after(&e);
                        return Err(e.into());
                    }
                }
            }
            let busy = "an editor kept saving the same file; nothing was changed";
            Err(StoreError::Io {
                doing: "make the change".into(),
                source: std::io::Error::other(busy),
            }
            .into())
        })
    }
}

/// Reason to decide on a change again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommitRetry {
    IndexDamaged,
    /// Another server wrote to the space since this one caught up.
    SpaceMoved,
}

impl CommitRetry {
    fn after(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::SpaceMoved => Some(Self::SpaceMoved),
            error => error.is_index_damage().then_some(Self::IndexDamaged),
        }
    }
}

enum CommitAttempt {
    Finished(CommitOutcome),
    Raced,
}

/// One operation, with the found and the new state of its file.
struct CheckedOperation<'a> {
    operation: &'a ChangeOperation,
    root: &'a ProjectRoot,
    project_row: i64,
    /// Current content at the path.
    found: Option<FileContent>,
    /// Current content at the source path of a move.
    source: Option<FileContent>,
}

fn try_once(
    session: &mut WriteSession<'_>,
    author: &Author,
    mut change: ChangeSet,
    seen: &[ReadVersion],
) -> Result<CommitAttempt> {
    let OpenedProject { roots, spelt, made } = open_roots(session, &mut change)?;
    let is_outdated = |project: &ProjectName, path: &NotePath, found: Option<&FileContent>| {
        let hash = found.map(|found| found.hash);
        seen.iter().any(|(named, read, was)| {
            read == path && spelt.get(named).unwrap_or(named) == project && *was != hash
        })
    };
    let batch = IndexBatch::new(session.db);
    let mut steps = Vec::with_capacity(change.operations.len());
    let mut conflicts = Vec::new();
    for operation in &change.operations {
        let Some(root) = roots.get(&operation.project) else { continue };
        let from = match &operation.action {
            FileAction::MoveFrom { from, .. } => Some(from),
            FileAction::Put(_) | FileAction::Remove => None,
        };
        files::check_owner(&operation.path)?;
        from.map_or(Ok(()), files::check_owner)?;
        let found = root.read(&operation.path)?;
        let source = from.map(|from| root.read(from)).transpose()?.flatten();
        if is_outdated(&operation.project, &operation.path, found.as_ref())
            || from.is_some_and(|from| is_outdated(&operation.project, from, source.as_ref()))
        {
            return Ok(CommitAttempt::Raced);
        }
        conflicts.extend(conflict(operation, found.as_ref(), source.as_ref()));
        let project_row = batch.project(&operation.project)?;
        steps.push(CheckedOperation { operation, root, project_row, found, source });
    }
    if !conflicts.is_empty() {
        // A project that was made for a change that is not has no reason to stay.
        made.iter().for_each(|folder| state_files::remove_empty_dir(folder));
        return Ok(CommitAttempt::Finished(CommitOutcome::Conflict(conflicts)));
    }
    let observed = observe_unrecorded(session, &batch, &steps)?;
    let plan = plan(session, &batch, &steps, author, &change)?;
    let Some(plan) = plan else {
        settle_folders(&change, &roots)?;
        keep_unchanged(session, &steps, observed)?;
        return Ok(CommitAttempt::Finished(CommitOutcome::Unchanged));
    };
    write_and_publish(session, &change, &roots, observed, plan)
}

type ProjectRoots = HashMap<ProjectName, ProjectRoot>;
type Folder = (ProjectName, NotePath);

/// The projects of a change.
struct OpenedProject {
    roots: ProjectRoots,
    /// Exact project names, by the names in the change.
    spelt: HashMap<ProjectName, ProjectName>,
    /// The folders of those that were not there.
    made: Vec<PathBuf>,
}

/// Opens the projects of a change, which then names them as they are spelt.
fn open_roots(session: &WriteSession<'_>, change: &mut ChangeSet) -> Result<OpenedProject> {
    let mut spelt = HashMap::new();
    let mut roots = HashMap::new();
    let mut made = Vec::new();
    let named = change.operations.iter_mut().map(|operation| &mut operation.project);
    let folders = change
        .created_folders
        .iter_mut()
        .chain(&mut change.removed_folders)
        .map(|(project, _)| project);
    for name in named.chain(folders) {
        if !spelt.contains_key(name) {
            let project = match session.inner.vault.project(name.as_str()) {
                Err(StoreError::NoProject { .. }) => {
                    let project = session.inner.vault.in_vault(name.clone());
                    made.push(project.path.clone());
                    project
                }
                found => found?,
            };
            let root = session.inner.root_made(session.db, &project)?;
            roots.insert(project.name.clone(), root);
            spelt.insert(name.clone(), project.name);
        }
        if let Some(proper) = spelt.get(name) {
            *name = proper.clone();
        }
    }
    Ok(OpenedProject { roots, spelt, made })
}

/// Returns the conflict of an operation, if there is one.
fn conflict(
    operation: &ChangeOperation,
    found: Option<&FileContent>,
    source: Option<&FileContent>,
) -> Option<VersionConflict> {
    let (path, looked_at) = match &operation.action {
        FileAction::MoveFrom { .. } if found.is_some() => (&operation.path, found),
        FileAction::MoveFrom { from, .. } => (from, source),
        FileAction::Put(_) | FileAction::Remove => (&operation.path, found),
    };
    let fits = match (&operation.action, operation.expect) {
        (FileAction::MoveFrom { .. }, _) if found.is_some() || source.is_none() => false,
        (_, ExpectedContent::Absent) => looked_at.is_none(),
        (_, ExpectedContent::Hash(hash)) => looked_at.is_some_and(|found| found.hash == hash),
        (_, ExpectedContent::Anything) => true,
    };
    (!fits).then(|| VersionConflict {
        project: operation.project.clone(),
        path: path.clone(),
        expected: operation.expect,
        found: looked_at.map(|found| found.hash),
    })
}

/// People's edits that nobody has noticed yet go into the history before they are replaced.
fn observe_unrecorded(
    session: &WriteSession<'_>,
    batch: &IndexBatch<'_>,
    steps: &[CheckedOperation<'_>],
) -> Result<Vec<(LogRecord, RecordBody)>> {
    let mut observation = external_edits::ExternalEdits::default();
    let mut first_scan = external_edits::ExternalEdits::first_scan();
    for step in steps {
        let here = step.found.as_ref().map(|found| (&step.operation.path, found));
        let there = match (&step.operation.action, &step.source) {
            (FileAction::MoveFrom { from, .. }, Some(source)) => Some((from, source)),
            _ => None,
        };
        for (path, found) in here.into_iter().chain(there) {
            if session.has_pending_version(&step.operation.project, path, found.hash) {
                continue;
            }
            session.inner.settle_pending(session.db, |pending| {
                pending.is_at(path) || pending.version == Some(found.hash)
            })?;
            let known =
                history::head(session.db, step.project_row, path)?.and_then(|head| head.after);
            let kept = history::content_at(session.db, found.hash)?.is_some();
            if known != Some(found.hash) || !kept {
                // The edit gets a permalink that no pending note has.
                session.inner.settle_pending(session.db, |_| true)?;
                let project = &step.operation.project;
                let row = step.project_row;
                let is_first = known.is_none() && session.is_first_scan(project, row)?;
                let edits = if is_first { &mut first_scan } else { &mut observation };
                edits.put(session, batch, project, row, path, known, found)?;
                external_edits::wait_until_older(&found.stat);
            }
        }
    }
    Ok(first_scan.into_record().into_iter().chain(observation.into_record()).collect())
}

/// Makes durable what a change found to be so already. Perhaps an edit by hand has made it so, which is
/// neither recorded nor forced: a power cut would bring back what was before.
fn keep_unchanged(
    session: &mut WriteSession<'_>,
    steps: &[CheckedOperation<'_>],
    mut observed: Vec<(LogRecord, RecordBody)>,
) -> Result<()> {
    if session.inner.space.is_some() {
        return Ok(());
    }
    let mut removed = external_edits::ExternalEdits::default();
    let mut edited = Vec::new();
    for CheckedOperation { operation, root, project_row, found, .. } in steps {
        let ChangeOperation { project, path, .. } = operation;
        let found = found.as_ref().map(|found| found.hash);
        session.inner.settle_pending(session.db, |pending| pending.is_at(path))?;
        let last = history::last_version(session.db, *project_row, path)?;
        if last.is_some_and(|(after, channel)| after == found && channel != ChangeChannel::Disk) {
            continue;
        }
        if let (None, Some((Some(known), _))) = (found, last) {
            removed.remove(project, path, known);
        }
        root.force(path)?;
        edited.push((project, path));
    }
    observed.extend(removed.into_record());
    if observed.is_empty() {
        return Ok(());
    }
    // The history in the index goes on behind the commits that it lacks.
    session.inner.settle_pending(session.db, |_| true)?;
    let placed = session.append(observed)?;
    session.note_applied();
    for placed in &placed {
        history::add(session.db, &session.inner.vault.device, placed)?;
    }
    let mut batch = IndexBatch::new(session.db);
    for (project, path) in edited {
        session.inner.refresh(&mut batch, project, path)?;
    }
    batch.finish()
}

/// Writes temporary files, forces the log and exchanges the files; or rolls everything back.
fn write_and_publish<'a>(
    session: &mut WriteSession<'_>,
    change: &ChangeSet,
    roots: &HashMap<ProjectName, ProjectRoot>,
    observed: Vec<(LogRecord, RecordBody)>,
    plan: CommitPlan<'a>,
) -> Result<CommitAttempt> {
    let CommitPlan { mut record, body, mut file_ops, project_rows } = plan;
    let folders = FolderHandles::default();
    let discard = |file_ops: &[FileOp<'a>]| {
        file_ops.iter().for_each(|apply| apply.discard(&folders));
        folders.unmake();
    };
    for n in 0..file_ops.len() {
        if let Err(e) = file_ops[n].write_temp(&folders, record.commit.time) {
            discard(&file_ops[..=n]);
            return Err(e);
        }
    }
    // A drive that is pulled loses what was not forced, and the machine runs on: nobody would know.
    let vault = &session.inner.vault;
    let is_forced = |file_op: &FileOp<'a>| vault.forces_files(file_op.root());
    let mut forced = file_ops.iter().filter(|file_op| is_forced(file_op)).peekable();
    // The folder of a project may be as new as its first file.
    let home = match forced.peek() {
        Some(_) => state_files::sync_dir(&vault.home).doing(|| "force the vault to disk".into()),
        None => Ok(()),
    };
    let has_edits = !observed.is_empty();
    let mut unforced = file_ops.iter().filter(|file_op| !is_forced(file_op));
    let done = home
        .and_then(|()| forced.try_for_each(|it| it.force_temporary(&folders)))
        .and_then(|()| unforced.try_for_each(|it| it.force_edit(&folders, has_edits)));
    if let Err(e) = done {
        discard(&file_ops);
        return Err(e);
    }
    let made = folders_made(change, roots, &folders);
    record.commit.folders =
        FolderChanges { created: made, removed: change.removed_folders.clone() }.into_option();
    let start = session.log.end();
    // A commit that a remote log has is made, whatever becomes of the files here.
    let kept = session.inner.space.as_ref().map(|_| record.commit.clone());
    let mut records = observed;
    records.push((record, body));
    let written_bytes: usize = records.iter().map(|(_, body)| body.as_bytes().len()).sum();
    let placed = match session.append(records) {
        Ok(placed) => placed,
        Err(e) => {
            discard(&file_ops);
            if let (StoreError::SpaceCopyBehind, Some(commit)) = (&e, kept) {
                return Ok(CommitAttempt::Finished(CommitOutcome::Committed(commit)));
            }
            if let StoreError::Halted(reason) = &e {
                *session.halted = Some(reason.clone());
            }
            return Err(e);
        }
    };
    // A later save is noticed: its time is not earlier.
    let checked_ns = clock::now_ns();
    for n in 0..file_ops.len() {
        let applied = file_ops[n].apply(&folders);
        if matches!(applied, Ok(FileOpOutcome::Yes)) {
            continue;
        }
        let undone = undo(session, &file_ops[..=n], &folders);
        if let Err(e) = undone.and_then(|()| session.take_back(start)) {
            *session.halted = Some(e.to_string());
            return Err(e);
        }
        discard(&file_ops);
        return taken_back(kept, applied.map(|_| CommitAttempt::Raced));
    }
    let mut forced = file_ops.iter().filter(|file_op| is_forced(file_op));
    if let Err(e) = forced.try_for_each(FileOp::force_names) {
        let undone = undo(session, &file_ops, &folders);
        if let Err(e) = undone.and_then(|()| session.take_back(start)) {
            *session.halted = Some(e.to_string());
            return Err(e);
        }
        discard(&file_ops);
        return taken_back(kept, Err(e));
    }
    faults::at(Step::Displaced).ok();
    file_ops.iter().for_each(|apply| apply.finish(&folders));
    // Folders carry nothing that could be lost; one that cannot be made now is made by the next
    // file in it.
    settle_folders(change, roots).ok();
    // The change is made and durable. What fails from here on is mended by the next session: the
    // log is applied again, which changes nothing, and a lagging index catches up before a read.
    faults::at(Step::Applied).ok();
    session.note_applied();
    let commit = placed.last().map(|placed| placed.record.commit.clone());
    let files = news_of(&file_ops, &folders, &project_rows, checked_ns);
    let update = {
        let pending = session.inner.pending();
        PendingIndexUpdate::new(session.db, &pending, start, placed, files)
    };
    if session.inner.is_long_lived() {
        session.inner.pending().push(update);
    } else {
        match session.inner.index_updates(session.db, &[update]) {
            Err(e) if e.is_index_damage() => session.inner.index.forget(),
            _ => {}
        }
    }
    session.inner.note_written(written_bytes);
    Ok(CommitAttempt::Finished(commit.map_or(CommitOutcome::Unchanged, CommitOutcome::Committed)))
}

/// Puts the files of a change back, on disk, too. Once the log has no record of the change, nothing tells
/// what is under its temporary names.
fn undo<'a>(
    session: &WriteSession<'_>,
    file_ops: &[FileOp<'a>],
    folders: &FolderHandles<'a>,
) -> Result<()> {
    file_ops.iter().rev().try_for_each(|file_op| file_op.undo(folders))?;
    for file_op in file_ops {
        let forced = file_op.force_undone();
        // What the machine loses with its power is replayed from the log.
        if session.inner.vault.forces_files(file_op.root()) {
            forced?;
        }
    }
    Ok(())
}

impl WriteSession<'_> {
    /// Returns true if the last pending commit that names a path left this content there.
    fn has_pending_version(
        &self,
        project: &ProjectName,
        path: &NotePath,
        hash: ContentHash,
    ) -> bool {
        let pending = self.inner.pending();
        let newest = pending.newest(project, path);
        newest.is_some_and(|file| file.path == *path && file.version == Some(hash))
    }

    /// Takes back what the log has after `start`. What a remote log has acknowledged stays: the next
    /// holder of the lock applies it to the files again.
    fn take_back(&mut self, start: LogPosition) -> Result<()> {
        match self.inner.space {
            Some(_) => Ok(()),
            None => self.log.retract(start),
        }
    }
}

/// Returns what became of a change whose files could not be put in place; `kept` is the commit that
/// a remote log has.
fn taken_back(kept: Option<Commit>, otherwise: Result<CommitAttempt>) -> Result<CommitAttempt> {
    kept.map_or(otherwise, |commit| Ok(CommitAttempt::Finished(CommitOutcome::Committed(commit))))
}

/// The folders that are there because of a change: made for its files, or about to be made.
fn folders_made(
    change: &ChangeSet,
    roots: &ProjectRoots,
    folders: &FolderHandles<'_>,
) -> Vec<Folder> {
    let mut made = BTreeSet::new();
    for (project, root) in roots {
        made.extend(folders.made_in(root).into_iter().map(|folder| (project.clone(), folder)));
    }
    for (project, folder) in &change.created_folders {
        let Some(root) = roots.get(project) else { continue };
        let mut missing = Some(folder.clone()).filter(|folder| !root.is_folder(folder));
        while let Some(folder) = missing {
            let above = folder.parent().and_then(|above| NotePath::parse(above).ok());
            missing = above.filter(|above| !root.is_folder(above));
            made.insert((project.clone(), folder));
        }
    }
    made.into_iter().collect()
}

/// Makes and removes the folders of a change.
fn settle_folders(change: &ChangeSet, roots: &HashMap<ProjectName, ProjectRoot>) -> Result<()> {
    for (project, folder) in &change.created_folders {
        if let Some(root) = roots.get(project) {
            root.make_folder_at(folder)?;
        }
    }
    for (project, folder) in &change.removed_folders {
        if let Some(root) = roots.get(project) {
            root.prune(folder);
        }
    }
    Ok(())
}

/// Returns the index updates of a change.
fn news_of<'a>(
    file_ops: &[FileOp<'a>],
    folders: &FolderHandles<'a>,
    project_rows: &[i64],
    checked_ns: i64,
) -> Vec<FileUpdate> {
    let file = |(apply, project_row): (&FileOp<'a>, &i64)| {
        let now = apply.content().filter(|_| !apply.is_ignored()).map(|(bytes, hash)| {
            let stat = apply.stat(folders).ok().flatten().unwrap_or_else(|| unseen(bytes));
            FileState::new(hash, stat, checked_ns, bytes.to_vec())
        });
        let (path, from) = (apply.path().clone(), apply.from().cloned());
        FileUpdate { project_row: *project_row, path, from, now }
    };
    file_ops.iter().zip(project_rows).map(file).collect()
}

/// Returns the metadata of a file that was removed at once. The next scan notices the removal.
fn unseen(bytes: &[u8]) -> FileStat {
    FileStat { size: bytes.len() as u64, mtime_ns: clock::now_ns(), ctime_ns: 0, inode: 0 }
}

/// An edit that was found on disk is the person's.
pub(crate) fn person() -> Author {
    Author::new("person", "editor", ChangeChannel::Disk)
}
