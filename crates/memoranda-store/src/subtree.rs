//! The content of a folder that is deleted or moved: its notes, and hidden or ignored files that a
//! tool wrote. These are in the history, so nothing is lost.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::error::Result;
use crate::files::{ProjectRoot, Subtree};
use crate::index::{self, history};

/// Returns everything at or below a path. Files that no tool wrote and that are hidden or ignored
/// are skipped.
pub(crate) fn below(
    db: &Connection,
    project: &ProjectName,
    root: &ProjectRoot,
    place: &NotePath,
) -> Result<Subtree> {
    let mut below = root.below(place)?;
    if below.passed_over.is_empty() {
        return Ok(below);
    }
    let project = index::project_id_of(db, project)?;
    for at in std::mem::take(&mut below.passed_over) {
        let inside = NotePath::parse(at.trim_end_matches('/')).ok();
        // An unreadable folder stays where it is.
        let Some(inside) = inside.and_then(|inside| root.below(&inside).ok()) else {
            below.passed_over.push(at);
            continue;
        };
        let mut is_whole = true;
        for file in inside.files {
            if history::is_written(db, project, &file)? {
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
