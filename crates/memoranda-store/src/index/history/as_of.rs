//! A project as of a point in time, computed from the changes since then. The cost depends on the
//! number of changes, not on the size of the project.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::graph::LinkCandidate;
use memoranda_core::id::{CommitId, ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::error::{Result, StoreError};
use crate::index::file_queries::{RelationRow, relations, relations_with_key};
use crate::index::{links, project_id_of};
use crate::snapshot::Snapshot;

/// A point in the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointInTime {
    /// After all commits until this time.
    Time(Timestamp),
    /// Right after this commit.
    Commit(CommitId),
}

/// Returns the position of a point in time: all changes before this time, and at this time up to
/// this commit.
pub(super) fn position(db: &Connection, moment: PointInTime) -> Result<(i64, i64)> {
    match moment {
        PointInTime::Time(time) => Ok((time.as_millisecond(), i64::MAX)),
        PointInTime::Commit(id) => db
            .prepare_cached("SELECT logical_ms, row FROM commits WHERE id = ?")?
            .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
            .ok_or_else(|| StoreError::NoCommit(id.to_string())),
    }
}

/// A file that differs between a point in time and now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    /// The path, now or then.
    pub path: NotePath,
    /// The file's row number in the index; `None` if the file no longer exists.
    pub now: Option<i64>,
    /// The file as of the point in time; `None` if it did not exist.
    pub then: Option<PastFile>,
}

/// A file as recorded in the history at a point in time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastFile {
    /// The path.
    pub path: NotePath,
    /// The version.
    pub hash: ContentHash,
    /// The assigned permalink, if it differs from the default one.
    pub permalink: Option<String>,
    /// Time of the first record of the file, under any of its names.
    pub created: Timestamp,
    /// Time of the last change until that point.
    pub updated: Timestamp,
}

impl PastFile {
    /// Reads a row of `after, permalink, first_ms, logical_ms`; `None` if the file did not exist.
    fn read(path: &NotePath, row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(hash) = row.get::<_, Option<[u8; 32]>>(0)?.map(ContentHash) else {
            return Ok(None);
        };
        let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
        Ok(Some(Self {
            path: path.clone(),
            hash,
            permalink: row.get(1)?,
            created: time(row.get(2)?),
            updated: time(row.get(3)?),
        }))
    }
}

impl Snapshot<'_> {
    /// Returns the version of a file at a point in time. `None` if the history does not contain the
    /// file until then, `Some(None)` if the file did not exist.
    pub fn version_as_of(
        &self,
        project: &ProjectName,
        path: &NotePath,
        as_of: PointInTime,
    ) -> Result<Option<Option<ContentHash>>> {
        self.query(|db| content_as_of(db, project, path, as_of))
    }

    /// Returns every file of a project that differs from a point in time, by path.
    pub fn changed_since(
        &self,
        project: &ProjectName,
        moment: PointInTime,
    ) -> Result<Vec<ChangedFile>> {
        self.query(|db| {
            let (logical, commit_row) = position(db, moment)?;
            let project = project_id_of(db, project)?;
            let mut later = db.prepare_cached(
                "SELECT DISTINCT c.path FROM commits k CROSS JOIN changes c ON c.commit_row = k.row \
                 WHERE k.logical_ms >= ?2 AND (k.logical_ms > ?2 OR k.row > ?3) AND c.project = ?1 \
                 ORDER BY c.path",
            )?;
            let mut then = db.prepare_cached(
                "SELECT after, permalink, first_ms, logical_ms FROM changes \
                 WHERE project = ?1 AND path = ?2 AND logical_ms <= ?3 AND (logical_ms < ?3 OR commit_row <= ?4) \
                 ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
            )?;
            let mut now = db.prepare_cached(
                "SELECT id, hash FROM files WHERE project = ? AND path = ? AND kind <> 0",
            )?;
            let mut changed = Vec::new();
            let paths = later
                .query_map(params![project, logical, commit_row], |row| row.get::<_, String>(0))?;
            for path in paths {
                let Ok(path) = NotePath::parse(&path?) else { continue };
                let then = then
                    .query_row(params![project, path.as_str(), logical, commit_row], |row| {
                        PastFile::read(&path, row)
                    })
                    .optional()?
                    .flatten();
                let now = now
                    .query_row(params![project, path.as_str()], |row| {
                        let hash = row.get::<_, Option<[u8; 32]>>(1)?.map(ContentHash);
                        Ok((row.get::<_, i64>(0)?, hash))
                    })
                    .optional()?;
                let is_same = match (&then, &now) {
                    (None, None) => true,
                    (Some(then), Some((_, now))) => Some(then.hash) == *now,
                    _ => false,
                };
                if !is_same {
                    changed.push(ChangedFile { path, now: now.map(|(id, _)| id), then });
                }
            }
            Ok(changed)
        })
    }

    /// Returns the files below a folder at a point in time, by path.
    pub fn files_as_of(
        &self,
        project: &ProjectName,
        folder: &str,
        moment: PointInTime,
    ) -> Result<Vec<PastFile>> {
        self.query(|db| {
            let (logical, commit_row) = position(db, moment)?;
            let project = project_id_of(db, project)?;
            let mut query = db.prepare_cached(
                "SELECT after, permalink, first_ms, logical_ms, path FROM changes \
                 WHERE project = ?1 AND path > ?2 || '/' AND path < ?2 || '0' AND logical_ms <= ?3 \
                 AND (logical_ms < ?3 OR commit_row <= ?4) ORDER BY path, logical_ms, commit_row, n",
            )?;
            let mut rows = query.query(params![project, folder, logical, commit_row])?;
            let mut found: Vec<(NotePath, Option<PastFile>)> = Vec::new();
            while let Some(row) = rows.next()? {
                let Ok(path) = NotePath::parse(&row.get::<_, String>(4)?) else { continue };
                let file = PastFile::read(&path, row)?;
                match found.last_mut() {
                    // The latest change decides.
                    Some((last, known)) if *last == path => *known = file,
                    _ => found.push((path, file)),
                }
            }
            Ok(found.into_iter().filter_map(|(_, file)| file).collect())
        })
    }

    /// Returns the relations between notes of a project that start or end at any of these.
    pub fn relations_around(
        &self,
        project: &ProjectName,
        files: &[i64],
    ) -> Result<Vec<RelationRow>> {
        self.query(|db| {
            let project = project_id_of(db, project)?;
            let mut found = Vec::new();
            for file in files {
                let from = "WHERE r.file = ? AND r.project = ? AND (r.target_file IS NULL OR EXISTS ( \
                            SELECT 1 FROM files t WHERE t.id = r.target_file AND t.project = r.project)) \
                            ORDER BY r.n";
                found.extend(relations(db, from, [*file, project])?);
            }
            found.extend(relations_into(db, project, files)?);
            Ok(found)
        })
    }

    /// Returns the relations of a project that point to one of these notes or have one of these
    /// keys, which must be sorted.
    pub fn relations_concerning(
        &self,
        project: &ProjectName,
        files: &[i64],
        keys: &[String],
    ) -> Result<Vec<RelationRow>> {
        self.query(|db| {
            let project = project_id_of(db, project)?;
            let mut found = relations_into(db, project, files)?;
            found.retain(|relation| keys.binary_search(&relation.key).is_err());
            for key in keys {
                found.extend(relations_with_key(db, project, key)?);
            }
            // A relation with two possible names matches both queries.
            let mut seen = HashSet::new();
            found.retain(|r| {
                r.whole.is_none()
                    || seen.insert((r.file, r.relation_type.clone(), r.target.clone()))
            });
            Ok(found)
        })
    }
}

fn relations_into(db: &Connection, project: i64, files: &[i64]) -> Result<Vec<RelationRow>> {
    let mut found = Vec::new();
    for file in files {
        let to = "JOIN files f ON f.id = r.file \
                  WHERE r.target_file = ? AND f.project = ? ORDER BY r.file, r.n";
        found.extend(relations(db, to, [*file, project])?);
    }
    Ok(found)
}

impl Snapshot<'_> {
    /// Returns the files that each of these keys can refer to in a project, the shortest path first.
    pub fn named(
        &self,
        project: &ProjectName,
        keys: &[String],
    ) -> Result<HashMap<String, Vec<LinkCandidate<i64>>>> {
        self.query(|db| {
            let project = project_id_of(db, project)?;
            let mut found = HashMap::with_capacity(keys.len());
            for key in keys {
                found.insert(key.clone(), links::candidates(db, project, key)?);
            }
            Ok(found)
        })
    }
}

/// Returns the version of a file at a point in time. `None` if the history does not contain the
/// file until then, `Some(None)` if the file did not exist.
pub(super) fn content_as_of(
    db: &Connection,
    project: &ProjectName,
    path: &NotePath,
    as_of: PointInTime,
) -> Result<Option<Option<ContentHash>>> {
    let (logical, commit_row) = position(db, as_of)?;
    let found = db
        .prepare_cached(
            "SELECT after FROM changes WHERE project = (SELECT id FROM projects WHERE name = ?1) \
             AND path = ?2 AND logical_ms <= ?3 AND (logical_ms < ?3 OR commit_row <= ?4) \
             ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
        )?
        .query_row(params![project.as_str(), path.as_str(), logical, commit_row], |row| {
            Ok(row.get::<_, Option<[u8; 32]>>(0)?.map(ContentHash))
        })
        .optional()?;
    Ok(found)
}
