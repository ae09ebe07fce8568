//! Deleted files of the history.

use jiff::Timestamp;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::params;

use crate::error::Result;
use crate::index::write::project_id_of;
use crate::snapshot::Snapshot;

impl Snapshot<'_> {
    /// Returns deleted files of a project that can be restored, the last deleted first, optionally of
    /// one name.
    pub fn deleted(
        &self,
        project: &ProjectName,
        name: Option<&str>,
    ) -> Result<Vec<(NotePath, Timestamp)>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT path, logical_ms FROM ( \
                   SELECT path, after, moved_to, logical_ms, row_number() OVER ( \
                     PARTITION BY path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
                   FROM changes WHERE project = (SELECT id FROM projects WHERE name = ?1) \
                     AND (?2 IS NULL OR path = ?2 OR substr(path, -length(?2) - 1) = '/' || ?2)) d \
                 WHERE age = 1 AND after IS NULL AND moved_to IS NULL AND EXISTS ( \
                   SELECT 1 FROM changes c JOIN contents s ON s.hash = c.before \
                   WHERE c.project = (SELECT id FROM projects WHERE name = ?1) AND c.path = d.path) \
                 ORDER BY logical_ms DESC, path",
            )?;
            let rows = query.query_map(params![project.as_str(), name], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            })?;
            let mut deleted = Vec::new();
            for row in rows {
                let (path, ms) = row?;
                let time = Timestamp::from_millisecond(ms).unwrap_or_default();
                deleted.extend(NotePath::parse(&path).ok().map(|path| (path, time)));
            }
            Ok(deleted)
        })
    }
}

/// A deleted file in the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeletedFile {
    /// Last path.
    pub path: NotePath,
    /// Hash of the last version.
    pub hash: ContentHash,
    /// Last permalink.
    pub permalink: Option<String>,
}

impl Snapshot<'_> {
    /// Returns the deleted files of a project, the last deleted first. A moved file is not deleted.
    pub fn gone(&self, project: &ProjectName, limit: usize) -> Result<Vec<DeletedFile>> {
        self.query(|db| {
            let project = project_id_of(db, project)?;
            let mut query = db.prepare_cached(
                "SELECT path, before, ( \
                   SELECT permalink FROM changes last WHERE last.project = ?1 AND last.path = newest.path \
                   AND last.after IS NOT NULL ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1) \
                 FROM ( \
                   SELECT path, before, after, moved_to, logical_ms, row_number() OVER ( \
                     PARTITION BY path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
                   FROM changes WHERE project = ?1) newest \
                 WHERE age = 1 AND after IS NULL AND moved_to IS NULL AND before IS NOT NULL \
                 ORDER BY logical_ms DESC LIMIT ?2",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query.query_map(params![project, limit], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, [u8; 32]>(1)?, row.get(2)?))
            })?;
            let mut found = Vec::new();
            for row in rows {
                let (path, hash, permalink) = row?;
                let Ok(path) = NotePath::parse(&path) else { continue };
                found.push(DeletedFile { path, hash: ContentHash(hash), permalink });
            }
            Ok(found)
        })
    }
}
