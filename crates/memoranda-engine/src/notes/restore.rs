//! Restores a deleted note, or an earlier version of an existing one.

use jiff::Timestamp;
use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::ContentHash;
use memoranda_store::{CommitOutcome, PointInTime};

use crate::error::{EngineError, Result};
use crate::links::resolve::{NoteLocation, ResolveIntent};
use crate::{Author, Memory};

/// Outcome of a restore.
#[expect(clippy::large_enum_variant, reason = "made once a call and never stored")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RestoreOutcome {
    /// The version is restored.
    Restored(RestoredNote),
    /// The note already has this version.
    Unchanged(NoteLocation, ContentHash),
}

/// A restored version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RestoredNote {
    /// The note.
    pub place: NoteLocation,
    /// The version.
    pub hash: ContentHash,
    /// Replaced version; `None` if the note was deleted.
    pub replaced: Option<ContentHash>,
    /// The commit that did it.
    pub commit: Commit,
}

impl Memory {
    /// Restores a note as it was at a moment; without a moment, the last version of a deleted note.
    /// A note that was moved since is restored at its current place.
    pub fn restore(
        &self,
        who: &Author,
        project: Option<&str>,
        identifier: &str,
        moment: Option<PointInTime>,
    ) -> Result<RestoreOutcome> {
        let named = self.place_in_history(project, identifier, ResolveIntent::Change)?;
        let place = self.current_location(&named)?;
        let hash = match moment {
            Some(moment) => match self.version_then(&named, moment)? {
                Some((_, hash)) => hash,
                None => {
                    let when = self.when(&place.project, moment)?;
                    return Err(EngineError::NotThen { place, when });
                }
            },
            None => self.last_version(&place)?,
        };
        self.check_of_this_folder(&place, hash)?;
        let content = self.store().content(hash)?;
        let mut replaced = None;
        let outcome = self.store().transact(who, |view| {
            let found = view.read(&place.project, &place.path)?;
            replaced = found.map(|found| found.hash);
            Ok::<_, EngineError>(ChangeSet {
                operations: vec![ChangeOperation {
                    project: place.project.clone(),
                    path: place.path.clone(),
                    expect: ExpectedContent::Anything,
                    action: FileAction::Put(content.clone()),
                }],
                message: Some(format!("restore version {}", hash.short())),
                ..ChangeSet::default()
            })
        })?;
        Ok(match outcome {
            CommitOutcome::Committed(commit) => {
                RestoreOutcome::Restored(RestoredNote { place, hash, replaced, commit })
            }
            CommitOutcome::Unchanged | CommitOutcome::Conflict(_) => {
                RestoreOutcome::Unchanged(place, hash)
            }
        })
    }

    /// Rejects a version from another folder that had the project's name before.
    fn check_of_this_folder(&self, place: &NoteLocation, hash: ContentHash) -> Result<()> {
        let check = |time| self.store().check_not_removed(&place.project, time);
        let Err(removed) = check(Timestamp::MIN) else { return Ok(()) };
        let is_of_it = self
            .revisions(place, 1000)?
            .iter()
            .any(|r| r.change.after == Some(hash) && check(r.commit.time).is_ok());
        if is_of_it { Ok(()) } else { Err(removed.into()) }
    }

    /// Returns the last version of a deleted note, or the one before the current one.
    fn last_version(&self, place: &NoteLocation) -> Result<ContentHash> {
        let now = self.store().read(&place.project, &place.path)?.map(|found| found.hash);
        let revisions = self.revisions(place, 1000)?;
        let versions = revisions.iter().flat_map(|r| [r.change.after, r.change.before]).flatten();
        let mut earlier = versions.filter(|hash| Some(*hash) != now);
        earlier.next().or(now).ok_or_else(|| EngineError::NotThen {
            place: place.clone(),
            when: "at any time that the history knows".into(),
        })
    }
}
