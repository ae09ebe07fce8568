//! Removes notes that were not used for a number of days. Every removal can be undone.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, ListFilter, ListOrder, clock};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// Request to expire unused notes.
#[derive(Clone, Debug)]
pub struct ExpireRequest {
    /// Project whose notes expire.
    pub project: ProjectName,
    /// Number of days without a change or a use.
    pub days: u32,
}

/// The expired notes.
#[derive(Clone, Debug)]
pub struct ExpiredNotes {
    /// The notes with their times of last use.
    pub notes: Vec<(NoteLocation, Timestamp)>,
    /// The commit that removed the notes; `None` if nothing was removed. An undo brings them back.
    pub commit: Option<Commit>,
}

/// Maximum number of attempts if notes change between reading and removing.
const MAX_ATTEMPTS: usize = 3;

type UnusedNote = (NoteLocation, ExpectedContent, Timestamp);

impl Memory {
    /// Returns the notes that would expire.
    pub fn plan_expire(&self, request: &ExpireRequest) -> Result<Vec<(NoteLocation, Timestamp)>> {
        Ok(self.unused(request)?.into_iter().map(|(place, _, last)| (place, last)).collect())
    }

    /// Removes the notes that were not used for the period, in one commit. A note that changes in
    /// between stays. Without a commit, nothing was removed.
    pub fn expire(&self, who: &Author, request: &ExpireRequest) -> Result<ExpiredNotes> {
        for _ in 0..MAX_ATTEMPTS {
            let unused = self.unused(request)?;
            if unused.is_empty() {
                break;
            }
            let outcome = self.store().transact(who, |_| {
                let remove = |(place, expect, _): &UnusedNote| ChangeOperation {
                    project: place.project.clone(),
                    path: place.path.clone(),
                    expect: *expect,
                    action: FileAction::Remove,
                };
                Ok::<_, EngineError>(ChangeSet {
                    operations: unused.iter().map(remove).collect(),
                    removed_folders: folders_of(&unused),
                    message: Some(format!("expired: unused for {} days", request.days)),
                    ..ChangeSet::default()
                })
            })?;
            if let CommitOutcome::Committed(commit) = outcome {
                let notes = unused.into_iter().map(|(place, _, last)| (place, last)).collect();
                return Ok(ExpiredNotes { notes, commit: Some(commit) });
            }
        }
        Ok(ExpiredNotes { notes: Vec::new(), commit: None })
    }

    /// Returns the notes that were not used for the period, each with its version, the oldest
    /// first.
    fn unused(&self, request: &ExpireRequest) -> Result<Vec<UnusedNote>> {
        let age = SignedDuration::from_hours(24 * i64::from(request.days));
        let before = clock::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
        let uses = self.store().last_uses()?;
        let filter = ListFilter { project: Some(request.project.clone()), ..Default::default() };
        let notes = self.snapshot()?.list(&filter, ListOrder::Newest, usize::MAX, 0)?;
        let mut unused = Vec::new();
        for note in notes {
            let used = uses.get(&(note.project.clone(), note.path.clone())).copied();
            let last = used.map_or(note.updated, |used| used.max(note.updated));
            if last < before {
                let expect = note.hash.map_or(ExpectedContent::Anything, ExpectedContent::Hash);
                unused.push((
                    NoteLocation { project: note.project, path: note.path },
                    expect,
                    last,
                ));
            }
        }
        unused.sort_by_key(|(_, _, last)| *last);
        Ok(unused)
    }
}

/// Returns the folders that these notes may leave empty, the deepest first.
fn folders_of(unused: &[UnusedNote]) -> Vec<(ProjectName, NotePath)> {
    let mut folders = BTreeSet::new();
    for (place, ..) in unused {
        let mut above = place.path.parent().and_then(|folder| NotePath::parse(folder).ok());
        while let Some(folder) = above {
            above = folder.parent().and_then(|folder| NotePath::parse(folder).ok());
            folders.insert((place.project.clone(), folder));
        }
    }
    folders.into_iter().rev().collect()
}
