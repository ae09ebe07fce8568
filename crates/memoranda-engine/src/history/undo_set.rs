//! Undo of several commits, or of a whole conversation, as one commit; and a preview of it.

use std::collections::{BTreeMap, HashSet};

use memoranda_core::change::{
    ChangeChannel, ChangeOperation, ChangeSet, Commit, CommitKind, ExpectedContent, FileAction,
    FileChange,
};
use memoranda_core::id::{CommitId, ContentHash};
use memoranda_store::CommitOutcome;

use crate::error::{EngineError, Result};
use crate::history::log::FileDiff;
use crate::history::undo::{UndoOutcome, UndoneCommit, reversal_message};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// Maximum number of commits that are undone at once.
const MAX_COMMITS: usize = 500;

/// The commits to undo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoSelection {
    /// Commits, by their ids or the beginnings of them.
    Commits(Vec<String>),
    /// All writes of the conversation that this commit belongs to.
    Conversation(String),
}

/// Effect of an undo of several commits, before it happens.
#[derive(Clone, Debug)]
pub struct UndoPlan {
    /// Commits that are taken back, newest first.
    pub commits: Vec<Commit>,
    /// Commits of the selection that stay as they are, each with the reason.
    pub skipped: Vec<SkippedCommit>,
    /// Files that would change.
    pub files: Vec<PlannedFile>,
    /// Files that were changed since. If there are any, the undo is refused.
    pub changed_since: Vec<NoteLocation>,
}

/// A commit of a selection that an undo passes over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedCommit {
    /// The commit.
    pub commit: Commit,
    /// The reason.
    pub why: String,
}

/// A file that an undo would change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedFile {
    /// Current location of the file.
    pub from: NoteLocation,
    /// Location after the undo.
    pub to: NoteLocation,
    /// The version that is expected now; `None` if there must be no file.
    pub expected: Option<ContentHash>,
    /// The version that would be restored; `None` if the file would be removed.
    pub restored: Option<ContentHash>,
}

/// Result of an undo of several commits.
#[derive(Clone, Debug)]
pub enum UndoSetOutcome {
    /// The commits were taken back by this one.
    Undone {
        /// Commits that were taken back, newest first.
        undone: Vec<Commit>,
        /// The commit that did it.
        commit: Box<Commit>,
    },
    /// These files were changed since. Nothing was done.
    ChangedSince(Vec<NoteLocation>),
    /// The files are already as they would be.
    Unchanged,
}

impl Memory {
    /// Returns what an undo of these commits would do, without doing it.
    pub fn plan_undo(&self, selection: &UndoSelection) -> Result<UndoPlan> {
        let mut plan = self.undo_plan(selection)?;
        for file in &plan.files {
            let found = self.store().read(&file.from.project, &file.from.path)?;
            let now = found.map(|found| found.hash);
            if now != file.expected {
                plan.changed_since.push(file.from.clone());
            } else if file.to != file.from
                && self.store().read(&file.to.project, &file.to.path)?.is_some()
            {
                plan.changed_since.push(file.to.clone());
            }
        }
        plan.changed_since.sort();
        plan.changed_since.dedup();
        Ok(plan)
    }

    /// Returns the differences that an undo would make.
    pub fn plan_diffs(&self, plan: &UndoPlan, limit: usize) -> Result<Vec<FileDiff>> {
        let diff = |file: &PlannedFile| {
            let change = FileChange {
                project: file.to.project.clone(),
                path: file.to.path.clone(),
                moved_from: (file.to != file.from).then(|| file.from.path.clone()),
                before: file.expected,
                after: file.restored,
                fact_edits: Vec::new(),
            };
            self.file_diff(&change)
        };
        plan.files.iter().take(limit).map(diff).collect()
    }

    /// Takes back several commits by one new commit, if their files are as the commits left them.
    pub fn undo_set(&self, who: &Author, selection: &UndoSelection) -> Result<UndoSetOutcome> {
        if let UndoSelection::Commits(ids) = selection
            && let [only] = ids.as_slice()
        {
            return Ok(match self.undo(who, only)? {
                UndoOutcome::Undone(done) => {
                    let UndoneCommit { undone, commit } = *done;
                    UndoSetOutcome::Undone { undone: vec![undone], commit: Box::new(commit) }
                }
                UndoOutcome::ChangedSince(places) => UndoSetOutcome::ChangedSince(places),
                UndoOutcome::Unchanged => UndoSetOutcome::Unchanged,
            });
        }
        let plan = self.undo_plan(selection)?;
        if !plan.changed_since.is_empty() {
            return Ok(UndoSetOutcome::ChangedSince(plan.changed_since));
        }
        let Some(newest) = plan.commits.first().map(|commit| commit.id) else {
            return Ok(UndoSetOutcome::Unchanged);
        };
        let mut operations = Vec::with_capacity(plan.files.len());
        for file in &plan.files {
            let content = file.restored.map(|hash| self.store().content(hash)).transpose()?;
            let expect = file.expected.map_or(ExpectedContent::Absent, ExpectedContent::Hash);
            let (path, action) = match content {
                None => (file.from.path.clone(), FileAction::Remove),
                Some(content) if file.to == file.from => {
                    (file.to.path.clone(), FileAction::Put(content))
                }
                Some(content) => {
                    let from = file.from.path.clone();
                    (file.to.path.clone(), FileAction::MoveFrom { from, content })
                }
            };
            let project = file.to.project.clone();
            operations.push(ChangeOperation { project, path, expect, action });
        }
        let folders = || plan.commits.iter().filter_map(|commit| commit.folders.as_deref());
        let removed = folders().flat_map(|folders| folders.removed.iter().rev().cloned());
        let created = folders().flat_map(|folders| folders.created.iter().rev().cloned());
        let targets: Vec<CommitId> = plan.commits.iter().map(|commit| commit.id).collect();
        let change = ChangeSet {
            operations,
            created_folders: removed.collect(),
            removed_folders: created.collect(),
            message: Some(reversal_message("undo", &targets)),
            kind: Some(CommitKind::Undo(newest)),
        };
        let outcome = self.store().transact(who, |_| Ok::<_, EngineError>(change.clone()))?;
        Ok(match outcome {
            CommitOutcome::Committed(commit) => {
                UndoSetOutcome::Undone { undone: plan.commits, commit: Box::new(commit) }
            }
            CommitOutcome::Unchanged => UndoSetOutcome::Unchanged,
            CommitOutcome::Conflict(conflicts) => {
                let place = |c: memoranda_store::VersionConflict| NoteLocation {
                    project: c.project,
                    path: c.path,
                };
                UndoSetOutcome::ChangedSince(conflicts.into_iter().map(place).collect())
            }
        })
    }

    /// Selects the commits, and joins their changes of each file.
    fn undo_plan(&self, selection: &UndoSelection) -> Result<UndoPlan> {
        let (commits, skipped) = self.selected_commits(selection)?;
        let mut files = JoinedChanges::default();
        for commit in commits.iter().rev() {
            self.check_undoable(commit)?;
            commit.files.iter().for_each(|file| files.add(file));
        }
        let (files, changed_since) = files.finish();
        Ok(UndoPlan { commits, skipped, files, changed_since })
    }

    fn selected_commits(
        &self,
        selection: &UndoSelection,
    ) -> Result<(Vec<Commit>, Vec<SkippedCommit>)> {
        let found = match selection {
            UndoSelection::Commits(ids) => {
                let mut found = Vec::new();
                for id in ids {
                    let commit = self.commit(id)?;
                    if !found.iter().any(|known: &Commit| known.id == commit.id) {
                        found.push(commit);
                    }
                }
                self.newest_first(found)?
            }
            UndoSelection::Conversation(id) => self.conversation(id)?.commits,
        };
        if found.len() > MAX_COMMITS {
            return Err(EngineError::Invalid(format!(
                "{} commits are more than can be undone at once ({MAX_COMMITS}); nothing was done",
                found.len()
            )));
        }
        if found.len() == 1 && matches!(selection, UndoSelection::Commits(_)) {
            return Ok((found, Vec::new()));
        }
        let undone = self.undone_commits()?;
        let ids: HashSet<CommitId> = found.iter().map(|commit| commit.id).collect();
        let (mut commits, mut skipped) = (Vec::new(), Vec::new());
        for commit in found {
            let why = if undone.contains_key(&commit.id) {
                Some("it is undone already")
            } else if commit.files.is_empty() {
                Some("it changed no file")
            } else if self
                .reversal(&commit)?
                .is_some_and(|reversal| reversal.targets.iter().any(|target| ids.contains(target)))
            {
                Some("it undoes or redoes another of these commits")
            } else if commit.author.channel == ChangeChannel::Disk
                && matches!(selection, UndoSelection::Conversation(_))
                && commit.kind == Some(CommitKind::FirstScan)
            {
                Some("it is the first scan of a folder")
            } else {
                None
            };
            match why {
                Some(why) => skipped.push(SkippedCommit { commit, why: why.to_owned() }),
                None => commits.push(commit),
            }
        }
        Ok((commits, skipped))
    }

    /// Orders commits as the history does, newest first.
    fn newest_first(&self, mut commits: Vec<Commit>) -> Result<Vec<Commit>> {
        let mut position = BTreeMap::new();
        if commits.len() > 1 {
            let oldest = commits.iter().map(|commit| commit.time).min();
            let filter = memoranda_store::HistoryFilter { since: oldest, ..Default::default() };
            let ids: HashSet<CommitId> = commits.iter().map(|commit| commit.id).collect();
            let mut offset = 0;
            while position.len() < ids.len() {
                let page = self.log(&filter, 500, offset)?;
                if page.is_empty() {
                    break;
                }
                for (n, commit) in page.iter().enumerate() {
                    if ids.contains(&commit.id) {
                        position.insert(commit.id.to_string(), offset + n);
                    }
                }
                offset += page.len();
            }
        }
        commits
            .sort_by_key(|commit| position.get(commit.id.as_str()).copied().unwrap_or(usize::MAX));
        Ok(commits)
    }
}

/// Changes of each file, joined over commits from the oldest to the newest.
#[derive(Default)]
struct JoinedChanges {
    /// Files by their location after the changes so far.
    files: BTreeMap<NoteLocation, PlannedFile>,
    /// Files that other commits changed in between.
    broken: Vec<NoteLocation>,
}

impl JoinedChanges {
    fn add(&mut self, change: &FileChange) {
        let at = |path| NoteLocation::new(&change.project, path);
        let after = at(change.path.clone());
        let before = change.moved_from.clone().map_or_else(|| after.clone(), at);
        let earlier = self.files.remove(&before);
        if earlier.as_ref().is_some_and(|earlier| earlier.expected != change.before) {
            self.broken.push(after.clone());
        }
        let (to, restored) = match earlier {
            Some(earlier) => (earlier.to, earlier.restored),
            None => (before, change.before),
        };
        let file = PlannedFile { from: after.clone(), to, expected: change.after, restored };
        self.files.insert(after, file);
    }

    fn finish(self) -> (Vec<PlannedFile>, Vec<NoteLocation>) {
        let is_change = |file: &PlannedFile| {
            file.expected != file.restored || (file.to != file.from && file.expected.is_some())
        };
        (self.files.into_values().filter(is_change).collect(), self.broken)
    }
}
