//! Undoing a commit: everything it did, taken back by a new commit.

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_store::CommitOutcome;

use crate::error::{EngineError, Result};
use crate::resolve::Place;
use crate::{Memory, Who};

/// What became of an undo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoOutcome {
    /// Taken back.
    Undone(Box<Undone>),
    /// These files were changed since; nothing was taken back.
    ChangedSince(Vec<Place>),
    /// Everything is already as it was before the commit.
    Unchanged,
}

/// A commit that was taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undone {
    /// The commit that was taken back.
    pub undone: Commit,
    /// The commit that did it; it can be undone in its turn.
    pub commit: Commit,
}

impl Memory {
    /// Takes back a commit, if its files are still as it left them.
    pub fn undo(&self, who: &Who, id: &str) -> Result<UndoOutcome> {
        let undone = self.commit(id)?;
        let mut operations = Vec::with_capacity(undone.files.len());
        for file in &undone.files {
            self.store().check_not_removed(&file.project, undone.time)?;
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
        let message = Some(format!("undo {}", undone.id));
        // What it made goes again where nothing else is in it, and what it emptied comes back.
        let folders = undone.folders.as_deref().cloned().unwrap_or_default();
        let made = folders.emptied.into_iter().rev().collect();
        let emptied = folders.made.into_iter().rev().collect();
        let change = ChangeSet { operations, made, emptied, message };
        let outcome = self.store().commit(who, |_| Ok::<_, EngineError>(change.clone()))?;
        Ok(match outcome {
            CommitOutcome::Committed(commit) => {
                UndoOutcome::Undone(Box::new(Undone { undone, commit }))
            }
            CommitOutcome::Unchanged => UndoOutcome::Unchanged,
            CommitOutcome::Conflict(conflicts) => UndoOutcome::ChangedSince(
                conflicts.into_iter().map(|c| Place { project: c.project, path: c.path }).collect(),
            ),
        })
    }
}
