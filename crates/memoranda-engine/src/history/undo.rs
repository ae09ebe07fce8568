//! Undo and redo: a commit is taken back, or made again, by a new commit.
//!
//! Nothing is ever removed from the history. Which commits are taken back at present follows from
//! the undo and redo commits in it: the newest one about a commit decides.

use std::collections::{BTreeSet, HashSet};

use memoranda_core::change::{
    ChangeChannel, ChangeOperation, ChangeSet, Commit, CommitKind, ExpectedContent, FileAction,
    FileChange,
};
use memoranda_core::id::{CommitId, ProjectName};
use memoranda_store::{CommitOutcome, HistoryFilter, ProjectPlace};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// Number of commits that are read from the history at a time.
const PAGE_SIZE: usize = 100;

/// Result of an undo or a redo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoOutcome {
    /// The commit was taken back, or made again.
    Undone(Box<UndoneCommit>),
    /// These files were changed since the commit. Nothing was done.
    ChangedSince(Vec<NoteLocation>),
    /// The files are already as they would be.
    Unchanged,
}

/// A commit that was taken back, or made again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndoneCommit {
    /// The commit that was taken back, or made again.
    pub undone: Commit,
    /// The new commit that did it.
    pub commit: Commit,
}

/// A commit that a redo makes again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedoStep {
    /// The commit that was taken back.
    pub redone: Commit,
    /// The undo that took it back.
    pub undo: Commit,
}

impl Memory {
    /// Returns the commit that an undo takes back next: the newest write that is not taken back.
    /// External edits are skipped. `None` if no such commit is left.
    pub fn next_undo(&self, project: Option<&ProjectName>) -> Result<Option<Commit>> {
        let mut decided = HashSet::new();
        let mut undone = HashSet::new();
        self.find_newest(project, |commit| {
            Ok(match self.reversal(&commit)? {
                Some(CommitReversal { targets, is_undo }) => {
                    for target in targets {
                        if decided.insert(target) && is_undo {
                            undone.insert(target);
                        }
                    }
                    HistoryWalk::Next
                }
                None if undone.contains(&commit.id) || commit.files.is_empty() => HistoryWalk::Next,
                None => HistoryWalk::Found(commit),
            })
        })
    }

    /// Returns the commit that the next redo repeats: the last undone one. `None` if nothing was
    /// undone, or if a later change was committed.
    pub fn next_redo(&self, project: Option<&ProjectName>) -> Result<Option<RedoStep>> {
        let mut decided = HashSet::new();
        self.find_newest(project, |undo| {
            Ok(match self.reversal(&undo)? {
                Some(CommitReversal { targets, is_undo }) => {
                    let newest = targets.first().copied();
                    let are_new = targets.into_iter().map(|target| decided.insert(target));
                    // All of them are decided by this commit, or by a newer one.
                    let is_new = are_new.fold(false, |any, is_new| any | is_new);
                    match newest.filter(|_| is_new && is_undo) {
                        // A purged project takes its commits along.
                        Some(target) => {
                            self.commit(target.as_str()).map_or(HistoryWalk::Next, |redone| {
                                HistoryWalk::Found(RedoStep { redone, undo })
                            })
                        }
                        None => HistoryWalk::Next,
                    }
                }
                None => HistoryWalk::End,
            })
        })
    }

    /// Takes back a commit if its files are still as the commit left them.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, Memory, OpenOptions, UndoOutcome};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// let commit = memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "A mistake."))?.commit;
    /// assert!(matches!(memory.undo(&who, &commit.id.to_string())?, UndoOutcome::Undone(_)));
    /// assert!(memory.read(None, "A mistake").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn undo(&self, who: &Author, id: &str) -> Result<UndoOutcome> {
        let undone = self.commit(id)?;
        let (kind, message) = match self.reversal(&undone)? {
            None => (CommitKind::Undo(undone.id), format!("undo {}", undone.id)),
            Some(CommitReversal { targets, is_undo }) => {
                let newest = targets.first().copied().unwrap_or(undone.id);
                let message = match targets.len() {
                    0 | 1 => format!("undo {}", undone.id),
                    _ if is_undo => reversal_message("redo", &targets),
                    _ => reversal_message("undo", &targets),
                };
                let kind =
                    if is_undo { CommitKind::Redo(newest) } else { CommitKind::Undo(newest) };
                (kind, message)
            }
        };
        Ok(match self.commit_inverse(who, &undone, kind, message)? {
            CommitOutcome::Committed(commit) => {
                UndoOutcome::Undone(Box::new(UndoneCommit { undone, commit }))
            }
            other => not_undone(other),
        })
    }

    /// Makes a commit again that was taken back, if its files are still as the undo left them.
    pub fn redo(&self, who: &Author, step: RedoStep) -> Result<UndoOutcome> {
        let RedoStep { redone, undo } = step;
        let kind = CommitKind::Redo(redone.id);
        let targets = self.reversal(&undo)?.map_or(vec![redone.id], |undo| undo.targets);
        let message = reversal_message("redo", &targets);
        Ok(match self.commit_inverse(who, &undo, kind, message)? {
            CommitOutcome::Committed(commit) => {
                UndoOutcome::Undone(Box::new(UndoneCommit { undone: redone, commit }))
            }
            other => not_undone(other),
        })
    }

    /// Commits the inverse of a commit.
    fn commit_inverse(
        &self,
        who: &Author,
        commit: &Commit,
        kind: CommitKind,
        message: String,
    ) -> Result<CommitOutcome> {
        self.check_undoable(commit)?;
        let mut operations = Vec::with_capacity(commit.files.len());
        for file in &commit.files {
            let content = file.before.map(|hash| self.store().content(hash)).transpose()?;
            let expect = match file.after {
                Some(hash) => ExpectedContent::Hash(hash),
                None => ExpectedContent::Absent,
            };
            let (path, action) = match (&file.moved_from, content) {
                (Some(from), Some(content)) => {
                    (from.clone(), FileAction::MoveFrom { from: file.path.clone(), content })
                }
                (_, Some(content)) => (file.path.clone(), FileAction::Put(content)),
                (_, None) => (file.path.clone(), FileAction::Remove),
            };
            operations.push(ChangeOperation {
                project: file.project.clone(),
                path,
                expect,
                action,
            });
        }
        // Folders that the commit made are removed if they are empty; those it emptied come back.
        let folders = commit.folders.as_deref().cloned().unwrap_or_default();
        let made = folders.removed.into_iter().rev().collect();
        let emptied = folders.created.into_iter().rev().collect();
        let message = Some(message);
        let change = ChangeSet {
            operations,
            created_folders: made,
            removed_folders: emptied,
            message,
            kind: Some(kind),
        };
        self.store().transact(who, |_| Ok::<_, EngineError>(change.clone()))
    }

    /// Refuses a commit of a project that was removed since, and the first scan of a folder: nobody
    /// wrote these files, so an undo must not delete them.
    pub fn check_undoable(&self, commit: &Commit) -> Result<()> {
        let projects: BTreeSet<_> = commit.files.iter().map(|file| &file.project).collect();
        for project in projects {
            self.store().check_not_removed(project, commit.time)?;
        }
        if commit.kind == Some(CommitKind::Purge) {
            let why =
                "a purge cannot be undone; `memoranda restore` brings back what an agent purged";
            return Err(EngineError::Invalid(format!("{}: {why}", commit.id)));
        }
        match (commit.kind, commit.files.first()) {
            (Some(CommitKind::FirstScan), Some(FileChange { project, .. })) => {
                let found = self.store().project(project.as_str());
                Err(EngineError::FirstScan {
                    commit: commit.id,
                    project: project.clone(),
                    files: commit.files.len(),
                    is_in_vault: found.is_ok_and(|project| project.place == ProjectPlace::Vault),
                })
            }
            _ => Ok(()),
        }
    }

    /// Walks the commits that are not edits in the files, from the newest on.
    fn find_newest<T>(
        &self,
        project: Option<&ProjectName>,
        mut visit: impl FnMut(Commit) -> Result<HistoryWalk<T>>,
    ) -> Result<Option<T>> {
        let filter = HistoryFilter { project: project.cloned(), ..HistoryFilter::default() };
        let mut offset = 0;
        loop {
            let commits = self.log(&filter, PAGE_SIZE, offset)?;
            if commits.is_empty() {
                return Ok(None);
            }
            offset += commits.len();
            for commit in commits {
                let is_purge = commit.kind == Some(CommitKind::Purge);
                if commit.author.channel == ChangeChannel::Disk || is_purge {
                    continue;
                }
                match visit(commit)? {
                    HistoryWalk::Next => {}
                    HistoryWalk::Found(found) => return Ok(Some(found)),
                    HistoryWalk::End => return Ok(None),
                }
            }
        }
    }

    /// Returns the commit that an undo or redo is about; `None` for any other commit.
    pub(crate) fn reversal(&self, commit: &Commit) -> Result<Option<CommitReversal>> {
        let mut commit = commit.clone();
        let mut is_undo = true;
        let mut found = None;
        loop {
            let target = match commit.kind {
                Some(CommitKind::Undo(target)) => {
                    let targets = reversal_targets(target, commit.message.as_deref());
                    return Ok(Some(CommitReversal { targets, is_undo }));
                }
                Some(CommitKind::Redo(target)) => {
                    let targets = reversal_targets(target, commit.message.as_deref());
                    return Ok(Some(CommitReversal { targets, is_undo: !is_undo }));
                }
                _ => named_in_message(&commit),
            };
            // In old logs only the message names the commit, and an undo may be about an undo.
            let Some(target) = target else { return Ok(found) };
            found = Some(CommitReversal { targets: vec![target], is_undo });
            let Ok(next) = self.commit(target.as_str()) else { return Ok(found) };
            (commit, is_undo) = (next, !is_undo);
        }
    }
}

/// The commits that an undo or redo is about.
pub(crate) struct CommitReversal {
    /// The commits, newest first.
    pub(crate) targets: Vec<CommitId>,
    /// False if the commits are made again.
    pub(crate) is_undo: bool,
}

/// Returns the commits that an undo or redo is about, newest first. The message lists them if there
/// are several, as a record has room for one.
pub(crate) fn reversal_targets(newest: CommitId, message: Option<&str>) -> Vec<CommitId> {
    let words = message.unwrap_or_default().split(' ');
    let mut targets: Vec<CommitId> = words.skip(1).filter_map(CommitId::parse).collect();
    if targets.first() != Some(&newest) {
        // The message of an undo of an undo names that undo.
        targets = vec![newest];
    }
    targets
}

/// Returns the message of an undo or redo of several commits.
pub(crate) fn reversal_message(word: &str, targets: &[CommitId]) -> String {
    targets.iter().fold(word.to_owned(), |message, id| format!("{message} {id}"))
}

/// Decision of a history walk after each commit.
enum HistoryWalk<T> {
    Next,
    Found(T),
    End,
}

/// Returns the commit that the message of an undo in an old log names.
fn named_in_message(commit: &Commit) -> Option<CommitId> {
    let is_undo = commit.author.tool == "undo" && commit.author.channel == ChangeChannel::Cli;
    let message = commit.message.as_deref().filter(|_| is_undo)?;
    message.strip_prefix("undo ").and_then(CommitId::parse)
}

fn not_undone(outcome: CommitOutcome) -> UndoOutcome {
    match outcome {
        CommitOutcome::Conflict(conflicts) => UndoOutcome::ChangedSince(
            conflicts
                .into_iter()
                .map(|c| NoteLocation { project: c.project, path: c.path })
                .collect(),
        ),
        CommitOutcome::Committed(_) | CommitOutcome::Unchanged => UndoOutcome::Unchanged,
    }
}
