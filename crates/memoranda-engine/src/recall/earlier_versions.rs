//! Versions of files at an earlier time that differ from the present ones, from the log.

use std::collections::HashSet;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_store::PointInTime;

use crate::records::RecordResult;
use crate::{EngineError, Memory, NoteLocation};

/// Maximum number of earlier versions that are read from the log.
const MAX_VERSIONS: usize = 2_000;

/// A file as it was.
pub(super) struct EarlierVersion {
    /// The file.
    pub(super) place: NoteLocation,
    /// Its text.
    pub(super) text: String,
}

/// Versions of files that differ from the present ones.
#[derive(Default)]
pub(super) struct EarlierVersions {
    /// Files that were different or absent, as rows of the index.
    pub(super) changed: HashSet<i64>,
    /// Files that were different or absent, by place.
    pub(super) changed_places: HashSet<(ProjectName, String)>,
    /// The versions at that time.
    pub(super) versions: Vec<EarlierVersion>,
}

impl EarlierVersions {
    /// Loads the versions of a time in some projects.
    pub(super) fn load(
        memory: &Memory,
        projects: &[ProjectName],
        time: Timestamp,
    ) -> RecordResult<Self> {
        let mut earlier = Self::default();
        for project in projects {
            let changed = memory.snapshot()?.changed_since(project, PointInTime::Time(time));
            for file in changed.map_err(EngineError::from)? {
                earlier.changed.extend(file.now);
                earlier.changed_places.insert((project.clone(), file.path.to_string()));
                let room = earlier.versions.len() < MAX_VERSIONS;
                let Some(then) = file.then.filter(|_| room) else { continue };
                let Some(text) = memory.text_as_of(&then) else { continue };
                let place = NoteLocation { project: project.clone(), path: file.path };
                earlier.versions.push(EarlierVersion { place, text });
            }
        }
        Ok(earlier)
    }

    /// Returns true if a file was the same as now.
    pub(super) fn is_unchanged(&self, place: &NoteLocation) -> bool {
        !self.changed_places.contains(&(place.project.clone(), place.path.to_string()))
    }
}
