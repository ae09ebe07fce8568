//! Making a change: decide under the lock, write beside, force the log, exchange; then index.
//!
//! New bytes are on disk under temporary names before the log grows, so a full disk is noticed
//! while nothing has changed. After that, only renames are left to do. A file that turns out to
//! hold something else than was read (an editor saved in between) makes the whole change be taken
//! back and decided again. The index is told when the change is made; see [`crate::news`].

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use memoranda_core::change::{
    Author, ChangeChannel, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
    FileChange, FolderChanges,
};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::apply::{Applied, Apply, Folders, Placing};
use crate::clock;
use crate::error::{Result, StoreError};
use crate::faults::{self, Step};
use crate::files::{self, FileStat, Found, MAX_FILE_BYTES, Root, own};
use crate::index::digest::address_of;
use crate::index::{Batch, history};
use crate::log::{Body, FileNote, Record};
use crate::news::{FileNews, FileNow, News};
use crate::session::Session;
use crate::view::{Seen, View};
use crate::{IgnoreRules, Inner, observe};

/// How often a change is decided anew because an editor saved in between.
const MAX_TRIES: usize = 20;

/// What became of a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was made, and is durable.
    Committed(Commit),
    /// Everything was already so.
    Unchanged,
    /// Something else was found than the change expected; nothing was done.
    Conflict(Vec<Conflict>),
}

/// A file that was not as a change expected it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// What was expected.
    pub expected: ExpectedContent,
    /// What is there: `None` if there is no such file.
    pub found: Option<ContentHash>,
}

impl Inner {
    /// Decides on a change with the files as they are, and makes it.
    pub(crate) fn commit<E: From<StoreError>>(
        &self,
        author: &Author,
        mut decide: impl FnMut(&View<'_>) -> Result<ChangeSet, E>,
    ) -> Result<Outcome, E> {
        let mut damaged = false;
        let mut outcome = self.try_commit(author, &mut decide, &mut damaged);
        if damaged {
            // Nothing has been done yet: a bad index shows while the change is prepared.
            self.index.forget();
            outcome = self.try_commit(author, &mut decide, &mut damaged);
        }
        if let Ok(Outcome::Committed(commit)) = &outcome {
            self.follow_rules(commit);
        }
        outcome
    }

    /// Looks at the files of the projects whose rules a commit changed: others may be notes since,
    /// and whoever hears that it is made finds them. A look that fails is made up for by the next.
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
        decide: &mut impl FnMut(&View<'_>) -> Result<ChangeSet, E>,
        damaged: &mut bool,
    ) -> Result<Outcome, E> {
        self.with_session(|session| {
            for _ in 0..MAX_TRIES {
                let view = View::new(self, session.db);
                let change = decide(&view)?;
                match make(session, author, change, &view.into_seen()) {
                    Ok(Made::Done(outcome)) => return Ok(outcome),
                    Ok(Made::Raced) => {}
                    Err(e) => {
                        *damaged = e.is_index_damage();
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

enum Made {
    Done(Outcome),
    Raced,
}

/// One operation, with what was found and what is to be.
struct Step1<'a> {
    operation: &'a ChangeOperation,
    root: &'a Root,
    project_row: i64,
    /// What is at the path now.
    found: Option<Found>,
    /// What is at the place that a moved file comes from.
    source: Option<Found>,
}

fn make(
    session: &mut Session<'_>,
    author: &Author,
    mut change: ChangeSet,
    seen: &[Seen],
) -> Result<Made> {
    let Opened { roots, spelt, made } = open_roots(session, &mut change)?;
    let is_outdated = |project: &ProjectName, path: &NotePath, found: Option<&Found>| {
        let hash = found.map(|found| found.hash);
        seen.iter().any(|(named, read, was)| {
            read == path && spelt.get(named).unwrap_or(named) == project && *was != hash
        })
    };
    let batch = Batch::new(session.db);
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
            return Ok(Made::Raced);
        }
        conflicts.extend(conflict(operation, found.as_ref(), source.as_ref()));
        let project_row = batch.project(&operation.project)?;
        steps.push(Step1 { operation, root, project_row, found, source });
    }
    if !conflicts.is_empty() {
        // A project that was made for a change that is not has no reason to stay.
        made.iter().for_each(|folder| own::remove_empty_dir(folder));
        return Ok(Made::Done(Outcome::Conflict(conflicts)));
    }
    let observed = observe_unrecorded(session, &batch, &steps)?;
    let plan = plan(session, &batch, &steps, author, change.message.clone())?;
    let Some(plan) = plan else {
        settle_folders(&change, &roots)?;
        return Ok(Made::Done(Outcome::Unchanged));
    };
    perform(session, &change, &roots, observed, plan)
}

type Roots = HashMap<ProjectName, Root>;
type Folder = (ProjectName, NotePath);

/// The projects of a change.
struct Opened {
    roots: Roots,
    /// How they are really spelt, by how they were named.
    spelt: HashMap<ProjectName, ProjectName>,
    /// The folders of those that were not there.
    made: Vec<PathBuf>,
}

/// Opens the projects of a change, which then names them as they are spelt.
fn open_roots(session: &Session<'_>, change: &mut ChangeSet) -> Result<Opened> {
    let mut spelt = HashMap::new();
    let mut roots = HashMap::new();
    let mut made = Vec::new();
    let named = change.operations.iter_mut().map(|operation| &mut operation.project);
    let folders = change.made.iter_mut().chain(&mut change.emptied).map(|(project, _)| project);
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
    Ok(Opened { roots, spelt, made })
}

/// What stands in the way of an operation, if anything does.
fn conflict(
    operation: &ChangeOperation,
    found: Option<&Found>,
    source: Option<&Found>,
) -> Option<Conflict> {
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
    (!fits).then(|| Conflict {
        project: operation.project.clone(),
        path: path.clone(),
        expected: operation.expect,
        found: looked_at.map(|found| found.hash),
    })
}

/// People's edits that nobody has noticed yet go into the history before they are replaced.
fn observe_unrecorded(
    session: &Session<'_>,
    batch: &Batch<'_>,
    steps: &[Step1<'_>],
) -> Result<Option<(Record, Body)>> {
    let mut observation = observe::Observation::default();
    for step in steps {
        let here = step.found.as_ref().map(|found| (&step.operation.path, found));
        let there = match (&step.operation.action, &step.source) {
            (FileAction::MoveFrom { from, .. }, Some(source)) => Some((from, source)),
            _ => None,
        };
        for (path, found) in here.into_iter().chain(there) {
            let known =
                history::head(session.db, step.project_row, path)?.and_then(|head| head.after);
            let kept = history::content_at(session.db, found.hash)?.is_some();
            if known != Some(found.hash) || !kept {
                let project = &step.operation.project;
                observation.put(session, batch, project, step.project_row, path, known, found)?;
            }
        }
    }
    Ok(observation.into_record())
}

/// What a change comes to: the record for the log, and what to do to each file.
struct Plan<'a> {
    record: Record,
    body: Body,
    applies: Vec<Apply<'a>>,
    /// Beside each apply: the project's number in the index.
    project_rows: Vec<i64>,
}

fn plan<'a>(
    session: &Session<'_>,
    batch: &Batch<'_>,
    steps: &'a [Step1<'a>],
    author: &Author,
    message: Option<String>,
) -> Result<Option<Plan<'a>>> {
    let id = clock::new_commit_id();
    let mut body = Body::default();
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let (mut applies, mut project_rows) = (Vec::new(), Vec::new());
    for step in steps {
        let operation = step.operation;
        let (path, found) = (&operation.path, step.found.as_ref());
        let mut note = FileNote::default();
        let (placing, address, moved_from, before, after) = match &operation.action {
            FileAction::Remove => match found {
                None => continue,
                Some(found) => (Placing::Remove, None, None, Some(found.hash), None),
            },
            FileAction::Put(content) => {
                let hash = files::hash(content);
                let before = found.map(|found| found.hash);
                if before == Some(hash) {
                    continue;
                }
                check_new_name(session, step, None)?;
                check_size(path, content)?;
                note.blob = Some(body.add(content));
                let address = address_of(path, content);
                let mode = match found {
                    Some(found) => step.root.kept_mode(found.mode),
                    None => step.root.new_file_mode(),
                };
                (Placing::Put { content, hash, mode }, address, None, before, Some(hash))
            }
            FileAction::MoveFrom { from, content } => {
                let Some(source) = &step.source else { continue };
                check_new_name(session, step, Some(from))?;
                check_size(path, content)?;
                let hash = files::hash(content);
                let in_log = history::content_at(session.db, hash)?.is_some();
                if !in_log {
                    note.blob = Some(body.add(content));
                }
                let address = address_of(path, content);
                let mode = step.root.kept_mode(source.mode);
                let placing = Placing::Move { from, source: source.hash, content, hash, mode };
                (placing, address, Some(from.clone()), Some(source.hash), Some(hash))
            }
        };
        if let Some(address) = &address {
            let held_by = moved_from.as_ref().unwrap_or(path);
            let current = batch.current_permalink(step.project_row, held_by)?;
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
        applies.push(Apply::new(step.root, path, id, applies.len(), found, placing));
        project_rows.push(step.project_row);
    }
    if applies.is_empty() {
        return Ok(None);
    }
    let commit =
        Commit { id, time: clock::now(), author: author.clone(), message, files, folders: None };
    let record = Record { commit, notes };
    Ok(Some(Plan { record, body, applies, project_rows }))
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
fn check_new_name(session: &Session<'_>, step: &Step1<'_>, from: Option<&NotePath>) -> Result<()> {
    if step.found.is_some() {
        return Ok(());
    }
    let path = &step.operation.path;
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

/// Writes beside, forces the log and exchanges; or takes everything back.
fn perform<'a>(
    session: &mut Session<'_>,
    change: &ChangeSet,
    roots: &HashMap<ProjectName, Root>,
    observed: Option<(Record, Body)>,
    plan: Plan<'a>,
) -> Result<Made> {
    let Plan { mut record, body, mut applies, project_rows } = plan;
    let folders = Folders::default();
    let discard = |applies: &[Apply<'a>]| {
        applies.iter().for_each(|apply| apply.discard(&folders));
        folders.unmake();
    };
    for n in 0..applies.len() {
        if let Err(e) = applies[n].write_beside(&folders, record.commit.time) {
            discard(&applies[..=n]);
            return Err(e);
        }
    }
    let made = folders_made(change, roots, &folders);
    record.commit.folders = FolderChanges { made, emptied: change.emptied.clone() }.some();
    let start = session.log.end();
    let mut records: Vec<(Record, Body)> = observed.into_iter().collect();
    records.push((record, body));
    let placed = match session.log.append(&records) {
        Ok(placed) => placed,
        Err(e) => {
            discard(&applies);
            if let StoreError::Halted(reason) = &e {
                *session.halted = Some(reason.clone());
            }
            return Err(e);
        }
    };
    // Whoever saves over a file after this is noticed: its time is not earlier.
    let checked_ns = clock::now_ns();
    for n in 0..applies.len() {
        let applied = applies[n].apply(&folders);
        if matches!(applied, Ok(Applied::Yes)) {
            continue;
        }
        let undone = applies[..=n].iter().rev().try_for_each(|apply| apply.undo(&folders));
        if let Err(e) = undone.and_then(|()| session.log.retract(start)) {
            *session.halted = Some(e.to_string());
            return Err(e);
        }
        discard(&applies);
        return applied.map(|_| Made::Raced);
    }
    faults::at(Step::Displaced).ok();
    applies.iter().for_each(|apply| apply.finish(&folders));
    // Folders carry nothing that could be lost; one that cannot be made now is made by the next
    // file in it.
    settle_folders(change, roots).ok();
    // The change is made and durable. What fails from here on is mended by the next session: the
    // log is applied again, which changes nothing, and a lagging index catches up before a read.
    faults::at(Step::Applied).ok();
    session.note_applied();
    let files = news_of(&applies, &folders, &project_rows, checked_ns);
    let news = News { from: start, placed, files };
    match session.inner.goes_on() {
        true => *session.news = Some(news),
        false => match session.inner.tell(session.db, &news) {
            Err(e) if e.is_index_damage() => session.inner.index.forget(),
            _ => {}
        },
    }
    session.inner.note_written(records.iter().map(|(_, body)| body.as_bytes().len()).sum());
    let commit = records.pop().map(|(record, _)| record.commit);
    Ok(Made::Done(commit.map_or(Outcome::Unchanged, Outcome::Committed)))
}

/// The folders that are there because of a change: made for its files, or about to be made.
fn folders_made(change: &ChangeSet, roots: &Roots, folders: &Folders<'_>) -> Vec<Folder> {
    let mut made = BTreeSet::new();
    for (project, root) in roots {
        made.extend(folders.made_in(root).into_iter().map(|folder| (project.clone(), folder)));
    }
    for (project, folder) in &change.made {
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
fn settle_folders(change: &ChangeSet, roots: &HashMap<ProjectName, Root>) -> Result<()> {
    for (project, folder) in &change.made {
        if let Some(root) = roots.get(project) {
            root.make_folder_at(folder)?;
        }
    }
    for (project, folder) in &change.emptied {
        if let Some(root) = roots.get(project) {
            root.prune(folder);
        }
    }
    Ok(())
}

/// What became of the files of a change.
fn news_of<'a>(
    applies: &[Apply<'a>],
    folders: &Folders<'a>,
    project_rows: &[i64],
    checked_ns: i64,
) -> Vec<FileNews> {
    let file = |(apply, project_row): (&Apply<'a>, &i64)| {
        let now = apply.content().filter(|_| !apply.is_ignored()).map(|(bytes, hash)| FileNow {
            hash,
            stat: apply.stat(folders).ok().flatten().unwrap_or_else(|| unseen(bytes)),
            checked_ns,
            content: bytes.to_vec(),
        });
        let (path, from) = (apply.path().clone(), apply.from().cloned());
        FileNews { project_row: *project_row, path, from, now }
    };
    applies.iter().zip(project_rows).map(file).collect()
}

/// What is noted of a file that somebody took away at once: the next look finds that out.
fn unseen(bytes: &[u8]) -> FileStat {
    FileStat { size: bytes.len() as u64, mtime_ns: clock::now_ns(), ctime_ns: 0, inode: 0 }
}

/// An edit that was found on disk is the person's.
pub(crate) fn person() -> Author {
    Author { client: "person".into(), tool: "editor".into(), channel: ChangeChannel::Disk }
}
