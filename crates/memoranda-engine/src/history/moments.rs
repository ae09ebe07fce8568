//! Two moments compared: which files changed between them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use memoranda_core::change::FileChange;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_store::{HistoryFilter, PointInTime};

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

/// Maximum number of commits between two moments.
const MAX_COMMITS: usize = 20_000;
/// Number of commits that are read at a time.
const PAGE_SIZE: usize = 500;

/// A file that differs between two moments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MomentChange {
    /// Location at the later moment.
    pub place: NoteLocation,
    /// Location at the earlier moment, if it was another.
    pub moved_from: Option<NoteLocation>,
    /// The earlier version.
    pub before: Option<ContentHash>,
    /// The later version.
    pub after: Option<ContentHash>,
}

impl MomentChange {
    /// Returns the change as if one commit had made it.
    pub fn as_file_change(&self) -> FileChange {
        FileChange {
            project: self.place.project.clone(),
            path: self.place.path.clone(),
            moved_from: self.moved_from.as_ref().map(|place| place.path.clone()),
            before: self.before,
            after: self.after,
            fact_edits: Vec::new(),
        }
    }
}

impl Memory {
    /// Returns the time of a moment.
    pub fn moment_time(&self, moment: PointInTime) -> Result<Timestamp> {
        Ok(match moment {
            PointInTime::Time(time) => time,
            PointInTime::Commit(id) => self.commit(id.as_str())?.time,
        })
    }

    /// Returns the files that differ between two moments, by their places. The second moment is
    /// now if it is `None`.
    pub fn compare_moments(
        &self,
        from: PointInTime,
        to: Option<PointInTime>,
        project: Option<&ProjectName>,
    ) -> Result<Vec<MomentChange>> {
        let since = self.moment_time(from)?;
        let until = to.map(|to| self.moment_time(to)).transpose()?;
        let mut filter = HistoryFilter {
            project: project.cloned(),
            since: Some(since),
            until,
            ..HistoryFilter::default()
        };
        let mut commits = Vec::new();
        loop {
            let page = self.log(&filter, PAGE_SIZE, 0)?;
            let is_last_page = page.len() < PAGE_SIZE;
            filter.before = page.last().map(|commit| commit.id);
            commits.extend(page);
            if is_last_page || commits.len() >= MAX_COMMITS {
                break;
            }
        }
        if let Some(PointInTime::Commit(id)) = to {
            let start = commits.iter().position(|commit| commit.id == id);
            commits.drain(..start.unwrap_or(0));
        }
        if let PointInTime::Commit(id) = from
            && let Some(end) = commits.iter().position(|commit| commit.id == id)
        {
            commits.truncate(end);
        } else {
            commits.retain(|commit| commit.time > since);
        }
        let mut files: BTreeMap<NoteLocation, MomentChange> = BTreeMap::new();
        for commit in commits.iter().rev() {
            let of_project = |file: &&FileChange| project.is_none_or(|name| file.project == *name);
            for file in commit.files.iter().filter(of_project) {
                let at = |path| NoteLocation::new(&file.project, path);
                let place = at(file.path.clone());
                let earlier = file.moved_from.clone().map_or_else(|| place.clone(), at);
                let known = files.remove(&earlier);
                let (origin, before) = match known {
                    Some(known) => (known.moved_from.unwrap_or(known.place), known.before),
                    None => (earlier, file.before),
                };
                let moved_from = (origin != place).then_some(origin);
                let change =
                    MomentChange { place: place.clone(), moved_from, before, after: file.after };
                files.insert(place, change);
            }
        }
        let is_change = |change: &MomentChange| {
            change.before != change.after || (change.moved_from.is_some() && change.after.is_some())
        };
        Ok(files.into_values().filter(is_change).collect())
    }
}
