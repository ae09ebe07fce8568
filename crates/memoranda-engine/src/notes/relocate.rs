//! Moving a note or a folder within its project.

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::path::NotePath;
use memoranda_store::CommitOutcome;

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// Request to move a file or folder.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// A note, or a folder with all in it that is not hidden or ignored, or that a tool wrote.
    pub from: NoteLocation,
    /// Its new path in the same project. Nothing may be there.
    pub to: NotePath,
}

/// Outcome of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveOutcome {
    /// Everything is at its new place.
    Moved(Moved),
    /// Something is at the new place already; nothing was moved.
    Exists(Vec<NoteLocation>),
}

/// The moved files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// Every file, with where it was and where it is.
    pub files: Vec<(NoteLocation, NoteLocation)>,
    /// Hidden and ignored files that no tool wrote, which stay where they are. Folders end in a
    /// slash.
    pub left: Vec<String>,
    /// The commit that did it; none if there were only empty folders.
    pub commit: Option<Commit>,
}

impl Memory {
    /// Moves a note, or a folder with all in it that is not hidden or ignored, or that a tool wrote.
    pub fn relocate(&self, who: &Author, request: &MoveRequest) -> Result<MoveOutcome> {
        let NoteLocation { project, path: from } = &request.from;
        if *from == request.to {
            return Err(EngineError::Invalid(format!("{from} is already there")));
        }
        if request.to.is_within(from.as_str()) {
            let message = format!("{from} cannot be moved into itself ({})", request.to);
            return Err(EngineError::Invalid(message));
        }
        // Two folders do not become one unasked. Another spelling of its name is no other folder.
        if from.key() != request.to.key()
            && !self.snapshot()?.below(project, &request.to)?.files.is_empty()
        {
            let to = NoteLocation { project: project.clone(), path: request.to.clone() };
            return Ok(MoveOutcome::Exists(vec![to]));
        }
        let (mut pairs, mut left) = (Vec::new(), Vec::new());
        let outcome = self.store().transact(who, |view| {
            let below = view.below(project, from)?;
            if below.files.is_empty() && below.folders.is_empty() {
                return Err(EngineError::NotFound {
                    identifier: from.to_string(),
                    scope: format!("project {project}"),
                    suggestions: Vec::new(),
                });
            }
            pairs.clear();
            left = below.passed_over;
            let mut operations = Vec::with_capacity(below.files.len());
            for old in below.files {
                let new = moved(&old, from, &request.to)?;
                let Some(found) = view.read(project, &old)? else { continue };
                operations.push(ChangeOperation {
                    project: project.clone(),
                    path: new.clone(),
                    expect: ExpectedContent::Hash(found.hash),
                    action: FileAction::MoveFrom { from: old.clone(), content: found.bytes },
                });
                pairs.push((old, new));
            }
            let mut made = Vec::with_capacity(below.folders.len());
            for folder in &below.folders {
                made.push((project.clone(), moved(folder, from, &request.to)?));
            }
            let emptied = below.folders.into_iter().map(|folder| (project.clone(), folder));
            Ok(ChangeSet {
                operations,
                created_folders: made,
                removed_folders: emptied.collect(),
                ..ChangeSet::default()
            })
        })?;
        let at = |path| NoteLocation { project: project.clone(), path };
        match outcome {
            CommitOutcome::Committed(commit) => {
                // A move counts as a use under the new name.
                pairs.iter().for_each(|(_, new)| self.store().note_use(project, new));
                let files = pairs.into_iter().map(|(old, new)| (at(old), at(new))).collect();
                Ok(MoveOutcome::Moved(Moved { files, left, commit: Some(commit) }))
            }
            CommitOutcome::Conflict(conflicts) => {
                Ok(MoveOutcome::Exists(conflicts.into_iter().map(|c| at(c.path)).collect()))
            }
            CommitOutcome::Unchanged => {
                Ok(MoveOutcome::Moved(Moved { files: Vec::new(), left, commit: None }))
            }
        }
    }
}

/// Where something at or below `from` is when `from` is at `to`.
fn moved(path: &NotePath, from: &NotePath, to: &NotePath) -> Result<NotePath> {
    let rest = path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
    Ok(NotePath::parse(&format!("{to}{rest}"))?)
}
