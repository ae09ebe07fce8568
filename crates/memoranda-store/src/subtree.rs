//! The content of a folder that is deleted or moved: its notes, and hidden or ignored files that a
//! tool wrote. These are in the history, so nothing is lost.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::error::Result;
use crate::files::Subtree;
use crate::index::{self, history};
use crate::snapshot::Snapshot;

impl Snapshot<'_> {
    /// Returns everything at or below a path, and the folders. Files that no tool wrote and that
    /// are hidden or ignored are skipped.
    pub fn below(&self, project: &ProjectName, place: &NotePath) -> Result<Subtree> {
        let project = self.inner.vault.project(project.as_str())?;
        let root = self.root(&project)?;
        let mut below = root.below(place)?;
        for at in std::mem::take(&mut below.passed_over) {
            let inside = NotePath::parse(at.trim_end_matches('/')).ok();
            // An unreadable folder stays where it is.
            let Some(inside) = inside.and_then(|inside| root.below(&inside).ok()) else {
                below.passed_over.push(at);
                continue;
            };
            let mut is_whole = true;
            for file in inside.files {
                let is_written = self.query(|db| {
                    history::is_written(db, index::project_id_of(db, &project.name)?, &file)
                })?;
                if is_written {
                    below.files.push(file);
                } else {
                    is_whole = false;
                }
            }
            if is_whole {
                below.folders.splice(0..0, inside.folders);
            } else {
                below.passed_over.push(at);
            }
        }
        Ok(below)
    }
}
