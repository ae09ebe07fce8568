//! Lists of notes and facts that a person may want to look after.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::params;

use crate::error::Result;
use crate::snapshot::Snapshot;

/// A note on a list, with a line and a text about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkItem {
    /// Number in the index.
    pub file: i64,
    /// Project.
    pub project: ProjectName,
    /// Path.
    pub path: NotePath,
    /// Title.
    pub title: String,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Line, if the item is about one.
    pub line: Option<usize>,
    /// Name of a missing target, or key of equal texts.
    pub detail: String,
}

/// A list of notes or facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkList {
    /// Links whose target does not exist.
    DeadLinks,
    /// Notes without a link from or to another note.
    Orphans,
    /// Notes with the same content as another.
    Duplicates,
    /// Notes that were not changed since a time.
    NotChangedSince(Timestamp),
}

/// Restricts a list of facts.
#[derive(Clone, Debug, Default)]
pub struct FactFilter {
    /// Only facts of this project.
    pub project: Option<ProjectName>,
    /// Only facts of this category.
    pub category: Option<String>,
    /// Only facts that contain this text.
    pub text: Option<String>,
}

const COLUMNS: &str = "f.id, p.name, f.path, f.title, f.updated_ms";

impl Snapshot<'_> {
    /// Returns a part of a list, and the number of all its items.
    pub fn work_list(
        &self,
        list: WorkList,
        project: Option<&ProjectName>,
        (limit, offset): (usize, usize),
    ) -> Result<(Vec<WorkItem>, u64)> {
        self.query(|db| {
            let (line, detail, from, order) = match list {
                WorkList::DeadLinks => (
                    "r.line",
                    "r.target",
                    "relations r JOIN files f ON f.id = r.file JOIN projects p ON p.id = f.project \
                     WHERE r.target_file IS NULL",
                    "f.updated_ms DESC, f.id, r.n",
                ),
                WorkList::Orphans => (
                    "NULL",
                    "''",
                    "files f JOIN projects p ON p.id = f.project WHERE f.kind = 1 \
                     AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.file = f.id) \
                     AND NOT EXISTS (SELECT 1 FROM relations r WHERE r.target_file = f.id)",
                    "f.updated_ms DESC, f.id",
                ),
                WorkList::Duplicates => (
                    "NULL",
                    "lower(hex(f.hash))",
                    "files f JOIN projects p ON p.id = f.project WHERE f.kind IN (1, 2) AND f.size > 0 \
                     AND f.hash IN (SELECT hash FROM files WHERE kind IN (1, 2) AND hash IS NOT NULL \
                                    GROUP BY hash HAVING count(*) > 1)",
                    "f.hash, f.created_ms, f.id",
                ),
                WorkList::NotChangedSince(_) => (
                    "NULL",
                    "''",
                    "files f JOIN projects p ON p.id = f.project WHERE f.kind = 1",
                    "f.updated_ms, f.id",
                ),
            };
            let before = match list {
                WorkList::NotChangedSince(time) => Some(time.as_millisecond()),
                WorkList::DeadLinks | WorkList::Orphans | WorkList::Duplicates => None,
            };
            let project = project.map(ProjectName::as_str);
            let condition = "AND (?1 IS NULL OR p.name = ?1) AND (?2 IS NULL OR f.updated_ms < ?2)";
            let count: i64 = db
                .prepare_cached(&format!("SELECT count(*) FROM {from} {condition}"))?
                .query_row(params![project, before], |row| row.get(0))?;
            let mut query = db.prepare_cached(&format!(
                "SELECT {COLUMNS}, {line}, {detail} FROM {from} {condition} ORDER BY {order} \
                 LIMIT ?3 OFFSET ?4"
            ))?;
            let mut rows = query.query(params![project, before, limit as i64, offset as i64])?;
            let mut items = Vec::new();
            while let Some(row) = rows.next()? {
                let (name, path): (String, String) = (row.get(1)?, row.get(2)?);
                let (Ok(project), Ok(path)) = (ProjectName::parse(&name), NotePath::parse(&path)) else {
                    continue;
                };
                let line: Option<i64> = row.get(5)?;
                items.push(WorkItem {
                    file: row.get(0)?,
                    project,
                    path,
                    title: row.get(3)?,
                    updated: Timestamp::from_millisecond(row.get(4)?).unwrap_or_default(),
                    line: line.and_then(|line| usize::try_from(line).ok()),
                    detail: row.get(6)?,
                });
            }
            Ok((items, count.unsigned_abs()))
        })
    }

    /// Returns facts in force, the last written first: each as a note, its line, and the fact's text.
    pub fn fact_list(
        &self,
        filter: &FactFilter,
        (limit, offset): (usize, usize),
    ) -> Result<Vec<WorkItem>> {
        self.query(|db| {
            let mut query = db.prepare_cached(&format!(
                "SELECT {COLUMNS}, o.line, o.text FROM observations o JOIN files f ON f.id = o.file \
                 JOIN projects p ON p.id = f.project WHERE o.struck = 0 AND o.superseded_by IS NULL \
                 AND (?1 IS NULL OR p.name = ?1) AND (?2 IS NULL OR o.category = ?2) \
                 AND (?3 IS NULL OR instr(lower(o.text), lower(?3)) > 0 \
                      OR instr(lower(f.title), lower(?3)) > 0) \
                 ORDER BY coalesce(o.time_ms, f.updated_ms) DESC, f.id, o.n LIMIT ?4 OFFSET ?5"
            ))?;
            let project = filter.project.as_ref().map(ProjectName::as_str);
            let values = params![project, filter.category, filter.text, limit as i64, offset as i64];
            let mut rows = query.query(values)?;
            let mut items = Vec::new();
            while let Some(row) = rows.next()? {
                let (name, path): (String, String) = (row.get(1)?, row.get(2)?);
                let (Ok(project), Ok(path)) = (ProjectName::parse(&name), NotePath::parse(&path)) else {
                    continue;
                };
                items.push(WorkItem {
                    file: row.get(0)?,
                    project,
                    path,
                    title: row.get(3)?,
                    updated: Timestamp::from_millisecond(row.get(4)?).unwrap_or_default(),
                    line: usize::try_from(row.get::<_, i64>(5)?).ok(),
                    detail: row.get(6)?,
                });
            }
            Ok(items)
        })
    }
}
