//! Letting go of what nobody used for long: always restorable, never by itself.

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::{Action, Change, Commit, Expect, Operation};
use memoranda_core::id::ProjectName;
use memoranda_store::{ListFilter, ListOrder, Outcome, clock};

use crate::error::{EngineError, Result};
use crate::resolve::Place;
use crate::{Memory, Who};

/// What expires.
#[derive(Clone, Debug)]
pub struct ExpireRequest {
    /// In which project.
    pub project: ProjectName,
    /// What was neither changed nor looked at for so many days.
    pub days: u32,
}

/// What expired.
#[derive(Clone, Debug)]
pub struct Expired {
    /// The notes, with when each was last used.
    pub notes: Vec<(Place, Timestamp)>,
    /// The commit that removed them; undoing it brings them back.
    pub commit: Option<Commit>,
}

impl Memory {
    /// Says what would expire.
    pub fn plan_expire(&self, request: &ExpireRequest) -> Result<Vec<(Place, Timestamp)>> {
        let age = SignedDuration::from_hours(24 * i64::from(request.days));
        let before = clock::now().saturating_sub(age).unwrap_or(Timestamp::MIN);
        let uses = self.store().last_uses()?;
        let filter = ListFilter { project: Some(request.project.clone()), ..Default::default() };
        let notes = self.store().list(&filter, ListOrder::Newest, usize::MAX, 0)?;
        let mut expiring = Vec::new();
        for note in notes {
            let used = uses.get(&(note.project.clone(), note.path.clone())).copied();
            let last = used.map_or(note.updated, |used| used.max(note.updated));
            if last < before {
                expiring.push((Place { project: note.project, path: note.path }, last));
            }
        }
        expiring.sort_by_key(|(_, last)| *last);
        Ok(expiring)
    }

    /// Removes what was not used for long, in one commit.
    pub fn expire(&self, who: &Who, request: &ExpireRequest) -> Result<Expired> {
        let notes = self.plan_expire(request)?;
        if notes.is_empty() {
            return Ok(Expired { notes, commit: None });
        }
        let outcome = self.store().commit(who, |_| {
            let remove = |(place, _): &(Place, Timestamp)| Operation {
                project: place.project.clone(),
                path: place.path.clone(),
                expect: Expect::Anything,
                action: Action::Remove,
            };
            Ok::<_, EngineError>(Change {
                operations: notes.iter().map(remove).collect(),
                made: Vec::new(),
                emptied: Vec::new(),
                message: Some(format!("expired: unused for {} days", request.days)),
            })
        })?;
        let commit = match outcome {
            Outcome::Committed(commit) => Some(commit),
            Outcome::Unchanged | Outcome::Conflict(_) => None,
        };
        Ok(Expired { notes, commit })
    }
}
