//! Follows a file through its renames: the history records paths, and queries refer to notes.

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::as_of::{PointInTime, content_as_of, position};
use crate::error::Result;
use crate::index::project_id_of;
use crate::snapshot::Snapshot;

/// Path of a file after a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CurrentPath {
    /// The file exists at this path.
    There(NotePath),
    /// The file was deleted at this path. A file there now is a different one.
    Deleted(NotePath),
}

impl Snapshot<'_> {
    /// Returns the path to which the file last at a path was moved, or where it was deleted. `None` if
    /// it was not moved.
    pub fn current_path(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<Option<CurrentPath>> {
        let read = |db: &Connection| {
            let project = project_id_of(db, project)?;
            let mut last = db.prepare_cached(
                "SELECT moved_to, logical_ms, commit_row FROM changes WHERE project = ? AND path = ? \
                 ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
            )?;
            // Another file may have had this name later.
            let mut next = db.prepare_cached(
                "SELECT moved_to, logical_ms, commit_row FROM changes WHERE project = ?1 AND path = ?2 \
                 AND logical_ms >= ?3 AND (logical_ms > ?3 OR commit_row > ?4) AND after IS NULL \
                 ORDER BY logical_ms, commit_row, n LIMIT 1",
            )?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok((row.get::<_, Option<String>>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            };
            let mut ended = last.query_row(params![project, path.as_str()], row).optional()?;
            let mut name = None;
            while let Some((Some(to), logical_ms, commit_row)) = ended {
                ended =
                    next.query_row(params![project, to, logical_ms, commit_row], row).optional()?;
                name = Some(to);
            }
            let found = name.and_then(|name| NotePath::parse(&name).ok());
            Ok(found.map(|path| match ended {
                Some(_) => CurrentPath::Deleted(path),
                None => CurrentPath::There(path),
            }))
        };
        let found = self.query_about(|pending| pending.is_at(path), read)?;
        // The file may have gone on from there.
        let is_changed = |found: &CurrentPath| {
            let (CurrentPath::There(path) | CurrentPath::Deleted(path)) = found;
            self.lacks(|pending| pending.is_at(path))
        };
        if found.as_ref().is_some_and(is_changed) { self.query(read) } else { Ok(found) }
    }

    /// Returns version and path of a note at a point in time, following later moves. If the note cannot
    /// be followed that far back, the file at this path then is returned.
    pub fn note_version_as_of(
        &self,
        project: &ProjectName,
        path: &NotePath,
        moment: PointInTime,
    ) -> Result<Option<(NotePath, ContentHash)>> {
        self.query(|db| {
            let (logical_ms, commit_row) = position(db, moment)?;
            let row = project_id_of(db, project)?;
            // The last move to or from a name after the point in time, and before the move found last.
            let mut move_of = db.prepare_cached(
                "SELECT moved_from, logical_ms, commit_row FROM changes WHERE project = ?1 AND path = ?2 \
                 AND logical_ms >= ?3 AND (logical_ms > ?3 OR commit_row > ?4) \
                 AND (logical_ms, commit_row) < (?5, ?6) \
                 AND (moved_from IS NOT NULL OR moved_to IS NOT NULL) \
                 ORDER BY logical_ms DESC, commit_row DESC, moved_from IS NULL LIMIT 1",
            )?;
            let mut name = path.clone();
            let mut until = (i64::MAX, i64::MAX);
            loop {
                let given = params![row, name.as_str(), logical_ms, commit_row, until.0, until.1];
                let found = move_of
                    .query_row(given, |row| {
                        Ok((row.get::<_, Option<String>>(0)?, (row.get(1)?, row.get(2)?)))
                    })
                    .optional()?;
                let Some((Some(from), at)) = found else { break };
                let Ok(from) = NotePath::parse(&from) else { break };
                (name, until) = (from, at);
            }
            for name in [&name, path] {
                if let Some(hash) = content_as_of(db, project, name, moment)?.flatten() {
                    return Ok(Some((name.clone(), hash)));
                }
            }
            Ok(None)
        })
    }
}
