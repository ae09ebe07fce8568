//! Commits that were interrupted on a drive that was away when the log was applied. What is left of them
//! on the drive shows it to the next scan.

use std::collections::{BTreeMap, HashMap};
use std::io;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use super::recover::{CrashKind, Recovery};
use super::write_session::{UnappliedTail, WriteSession};
use crate::error::{Result, StoreError};
use crate::files::{HardLinkPolicy, ProjectRoot, WalkedFile, temp_names, walk};
use crate::index::history;
use crate::log::LogPosition;

/// A file whose second name is younger than this was left by the move of that time. Any other second name
/// was made by a person.
const MAX_LINK_AGE_MS: i64 = 60_000;

/// One file with two names: path and time of the last change of its metadata.
pub(crate) struct LinkedNames {
    names: [NotePath; 2],
    changed_ms: i64,
}

/// Returns the files of a walk that have more than one name in it.
pub(crate) fn linked_names(files: &[WalkedFile]) -> Vec<LinkedNames> {
    let mut by_inode: HashMap<u64, &NotePath> = HashMap::with_capacity(files.len());
    let linked = files.iter().filter(|file| file.stat.inode != 0).filter_map(|file| {
        let other = by_inode.insert(file.stat.inode, &file.path)?;
        let names = [other.clone(), file.path.clone()];
        Some(LinkedNames { names, changed_ms: file.stat.ctime_ns.div_euclid(1_000_000) })
    });
    linked.collect()
}

impl WriteSession<'_> {
    /// Settles all that interrupted commits left in a project.
    pub(crate) fn settle_project(
        &mut self,
        project: &ProjectName,
        root: &ProjectRoot,
    ) -> Result<()> {
        let found = walk(root);
        // A folder that nobody may read stays as it is. Any other error can hide a commit.
        let may_be_read =
            |(_, e): &(String, io::Error)| e.kind() != io::ErrorKind::PermissionDenied;
        if let Some((place, source)) = found.unreadable.into_iter().find(may_be_read) {
            return Err(StoreError::Io { doing: format!("look at {project}/{place}"), source });
        }
        let linked = linked_names(&found.files);
        self.settle_leftovers(project, root, &found.leftovers, &linked).map(drop)
    }

    /// Removes temporary files, after the commits that they belong to are completed. Under the lock no
    /// write is under way: what is left belongs to a dead process. Returns true if there was anything to do.
    pub(crate) fn settle_leftovers(
        &mut self,
        project: &ProjectName,
        root: &ProjectRoot,
        leftovers: &[NotePath],
        linked: &[LinkedNames],
    ) -> Result<bool> {
        let is_completed = self.complete_unplaced(project, root, leftovers, linked)?;
        for path in leftovers {
            if let Some(folder) = root.folder(path)? {
                folder.remove_quietly(path.file_name());
            }
        }
        Ok(is_completed || !leftovers.is_empty())
    }

    /// Completes commits that were interrupted in a project: their new files still have temporary names, or
    /// a moved file has both of its names. Returns true if there was such a commit.
    fn complete_unplaced(
        &mut self,
        project: &ProjectName,
        root: &ProjectRoot,
        leftovers: &[NotePath],
        linked: &[LinkedNames],
    ) -> Result<bool> {
        let mut from: BTreeMap<String, LogPosition> = BTreeMap::new();
        let mut begin_at = |device: String, at: LogPosition| {
            let first = from.entry(device).or_insert(at);
            *first = at.min(*first);
        };
        for place in leftovers {
            let Some((commit, n)) = temp_names::commit_of(place.file_name()) else { continue };
            let Some(version) = history::version_in(self.db, commit, n)? else { continue };
            let Some(folder) = root.folder(place)? else { continue };
            let read = folder.read(place.file_name(), HardLinkPolicy::Refuse);
            // Anything else under this name is the file that was replaced.
            if read.is_ok_and(|found| found.is_some_and(|found| found.hash == version.hash)) {
                begin_at(version.device, version.at);
            }
        }
        for LinkedNames { names: [one, other], changed_ms } in linked {
            for (to, from) in [(one, other), (other, one)] {
                let Some(moved) = history::last_move(self.db, project, to)? else { continue };
                if moved.from == *from && *changed_ms < moved.time_ms + MAX_LINK_AGE_MS {
                    begin_at(moved.device, moved.at);
                }
            }
        }
        if from.is_empty() {
            return Ok(false);
        }
        let mut records = Vec::new();
        for (device, from) in &from {
            // Somebody may have edited the files where the drive was.
            let (device, crash) = (device.clone(), CrashKind::Unknown);
            self.inner.read_tail(&UnappliedTail { device, from: *from, crash }, &mut records)?;
        }
        let mut recovery = Recovery::new(self.inner, Some(project), records, &from)?;
        let torn = recovery.plan()?;
        if !torn.is_empty() {
            let placed = self.append(torn)?;
            self.note_applied();
            for placed in &placed {
                history::add(self.db, &self.inner.vault.device, placed)?;
            }
        }
        recovery.perform()?;
        Ok(true)
    }
}
