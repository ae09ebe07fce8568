//! The files of projects that were different at a moment. Every other file is as the index has it.

use std::collections::HashSet;

use memoranda_core::id::ProjectName;
use memoranda_store::{PastFile, PointInTime};

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

/// A file that was different at a moment.
#[derive(Clone, Debug)]
pub struct VersionAt {
    /// The file.
    pub place: NoteLocation,
    /// Number of the present file in the index; `None` if it does not exist.
    pub(crate) now: Option<i64>,
    /// The file at that moment; `None` if it did not exist.
    pub(crate) then: Option<PastFile>,
}

impl VersionAt {
    /// Returns the text at that moment; `None` if the file did not exist, or was purged from the log.
    pub fn text(&self, memory: &Memory) -> Option<String> {
        let bytes = memory.store().content(self.then.as_ref()?.hash).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The files that were different at a moment.
#[derive(Default)]
pub struct VersionsAt {
    /// The files, by project and path.
    pub files: Vec<VersionAt>,
    /// Current index ids of these notes.
    pub(crate) hidden: HashSet<i64>,
    places: HashSet<NoteLocation>,
}

impl VersionsAt {
    /// Returns true if a file was the same as now.
    pub fn is_unchanged(&self, place: &NoteLocation) -> bool {
        !self.places.contains(place)
    }
}

impl Memory {
    /// Returns the files of projects that were different at a moment.
    pub fn versions_at(
        &self,
        projects: impl IntoIterator<Item = ProjectName>,
        moment: PointInTime,
    ) -> Result<VersionsAt> {
        let mut versions = VersionsAt::default();
        for project in projects {
            for changed in self.snapshot()?.changed_since(&project, moment)? {
                let place = NoteLocation::new(&project, changed.path);
                versions.hidden.extend(changed.now);
                versions.places.insert(place.clone());
                versions.files.push(VersionAt { place, now: changed.now, then: changed.then });
            }
        }
        Ok(versions)
    }
}
