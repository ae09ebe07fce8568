//! Deleting a note or a folder: gone from the files, kept in the history.

use memoranda_core::change::{Action, Change, Commit, Expect, Operation};
use memoranda_core::id::ContentHash;
use memoranda_store::Outcome;

use crate::error::{EngineError, Result};
use crate::resolve::Place;
use crate::{Memory, Who};

/// What is to be deleted.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// A note, or a folder with all in it that is not hidden or ignored, or that a tool wrote.
    pub place: Place,
    /// The version of the note that the caller knows, if it wants to be sure.
    pub expected: Option<ContentHash>,
}

/// What became of a deletion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeleteOutcome {
    /// Gone; the commit can be undone.
    Deleted(Deleted),
    /// The note is not the version that the caller knows.
    Conflict(Place, Option<ContentHash>),
}

/// What was deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deleted {
    /// The files that are gone.
    pub files: Vec<Place>,
    /// Files and folders (with a slash at the end) that were left where they are, because they are
    /// hidden or ignored: they are nobody's notes, and not for the history.
    pub left: Vec<String>,
    /// The commit that did it.
    pub commit: Option<Commit>,
}

impl Memory {
    /// Says what a deletion would delete.
    pub fn plan_delete(&self, place: &Place) -> Result<Vec<Place>> {
        let below = self.store().below(&place.project, &place.path)?;
        let at = |path| Place { project: place.project.clone(), path };
        Ok(below.files.into_iter().map(at).collect())
    }

    /// Deletes a note, or a folder with all in it that is not hidden or ignored, or that a tool wrote.
    pub fn delete(&self, who: &Who, request: &DeleteRequest) -> Result<DeleteOutcome> {
        let Place { project, path } = &request.place;
        let (mut files, mut left) = (Vec::new(), Vec::new());
        let outcome = self.store().commit(who, |view| {
            let below = view.below(project, path)?;
            if below.files.is_empty() && below.folders.is_empty() {
                return Err(EngineError::NotFound {
                    identifier: path.to_string(),
                    scope: format!("project {project}"),
                    suggestions: Vec::new(),
                });
            }
            files = below.files.clone();
            left = below.passed_over;
            let expect = match request.expected {
                Some(hash) => Expect::Hash(hash),
                None => Expect::Anything,
            };
            let remove =
                |path| Operation { project: project.clone(), path, expect, action: Action::Remove };
            let emptied = below.folders.into_iter().map(|folder| (project.clone(), folder));
            Ok(Change {
                operations: below.files.into_iter().map(remove).collect(),
                made: Vec::new(),
                emptied: emptied.collect(),
                message: None,
            })
        })?;
        let at = |path| Place { project: project.clone(), path };
        Ok(match outcome {
            Outcome::Conflict(conflicts) => {
                let found = conflicts.first().and_then(|conflict| conflict.found);
                DeleteOutcome::Conflict(request.place.clone(), found)
            }
            Outcome::Committed(commit) => DeleteOutcome::Deleted(Deleted {
                files: files.into_iter().map(at).collect(),
                left,
                commit: Some(commit),
            }),
            Outcome::Unchanged => {
                DeleteOutcome::Deleted(Deleted { files: Vec::new(), left, commit: None })
            }
        })
    }
}
