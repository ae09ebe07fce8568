//! What goes along with a folder that is deleted or moved: the notes in it, and what a tool wrote there
//! that is hidden or ignored. The history holds it, so nothing of it is lost.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::error::Result;
use crate::files::{ProjectRoot, Subtree};
use crate::index::{self, history};

/// Everything at or below a place; what is passed over is what no tool wrote.
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
        // What cannot be gone through stays where it is.
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
