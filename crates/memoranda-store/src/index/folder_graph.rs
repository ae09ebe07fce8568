//! A folder of notes as a graph: notes by title, totals, and paths between notes. Queries never
//! return notes of another folder.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::graph::{
    GraphEdge, GraphNeighbourhood, GraphRoute, LinkCandidate, find_neighbours, shortest_path,
};
use memoranda_core::id::{ObservationId, ProjectName};
use memoranda_core::note::type_key;
use memoranda_core::path::NotePath;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::extract::exact_key;
use super::file_queries::{COLUMNS, FileSummary, summary};
use super::filtered_list::title_expression;
use super::history;
use super::write::PASSAGES_PER_FILE;
use super::{links, project_id_of};
use crate::commit::unindexed::UnindexedFile;
use crate::error::{Result, StoreError};
use crate::snapshot::Snapshot;

/// Maximum number of notes in one SQL statement.
const MAX_IDS_PER_QUERY: usize = 500;
/// Maximum number of passages examined for the words of a title.
const MAX_TITLE_PASSAGES: usize = 2000;

/// The values of a note that totals need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeRow {
    /// The file's row number in the index.
    pub file: i64,
    /// Importance of the note; `None` if it states none.
    pub importance: Option<f64>,
    /// Confidence of the note; `None` if it states none.
    pub confidence: Option<f64>,
    /// Number of current facts.
    pub facts: u64,
    /// Number of relations that it states.
    pub relations: u64,
    /// True if it is a placeholder for an entity without a description.
    pub is_placeholder: bool,
}

/// Totals of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderTotals {
    /// The folder.
    pub folder: String,
    /// Number of notes, placeholders excluded.
    pub notes: u64,
    /// Number of relations that they state.
    pub relations: u64,
}

/// A fact of a folder's note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderFact {
    /// The note's number in the index.
    pub file: i64,
    /// The word in brackets.
    pub category: Option<String>,
    /// The text.
    pub text: String,
}

/// The notes directly in one folder as a graph of its own. No query reads notes of another folder.
pub struct FolderGraph<'s> {
    snapshot: Snapshot<'s>,
    project: ProjectName,
    folder: String,
}

impl<'s> Snapshot<'s> {
    /// Returns a folder of a project as a graph. The folder need not exist.
    pub fn folder(&self, project: &ProjectName, folder: &str) -> FolderGraph<'s> {
        FolderGraph { snapshot: self.clone(), project: project.clone(), folder: folder.to_owned() }
    }
}

impl FolderGraph<'_> {
    /// Runs a query with the row number of the project and the folder.
    pub(super) fn query<R>(&self, run: impl Fn(&Connection, i64, &str) -> Result<R>) -> Result<R> {
        self.snapshot.query(|db| run(db, project_id_of(db, &self.project)?, &self.folder))
    }

    /// Returns the notes with exactly this title, the shortest path first.
    pub fn titled(&self, title: &str) -> Result<Vec<LinkCandidate<i64>>> {
        let key = exact_key(&self.folder, title);
        let concerns = |pending: &UnindexedFile| pending.changes_key(&self.project, &key);
        let mut found = self.snapshot.query_about(concerns, |db| {
            links::candidates(db, project_id_of(db, &self.project)?, &key)
        })?;
        found.retain(|c| c.title == title && c.path.parent().unwrap_or_default() == self.folder);
        Ok(found)
    }

    /// Returns the notes of this type, and those whose title matches every word as a
    /// prefix: the newest, at most `limit` of either.
    pub fn called(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.query(|db, project, folder| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut by_type = db.prepare_cached(
                "SELECT id FROM files INDEXED BY files_of_type WHERE project = ?1 AND note_type = ?2 \
                 AND folder = ?3 || '/' AND kind = 1 ORDER BY updated_ms DESC LIMIT ?4",
            )?;
            let kind = type_key(text);
            let rows = by_type.query_map(params![project, kind, folder, limit], |row| row.get(0))?;
            let mut found = rows.collect::<rusqlite::Result<Vec<i64>>>()?;
            let Some(expression) = title_expression(&[text.to_owned()]) else { return Ok(found) };
            // A word can occur in every title, so the number of passages is limited.
            let mut by_title = db.prepare_cached(&format!(
                "SELECT DISTINCT f.id FROM (SELECT rowid / {PASSAGES_PER_FILE} AS file FROM words \
                 WHERE words MATCH ?1 ORDER BY rowid DESC LIMIT {MAX_TITLE_PASSAGES}) w \
                 CROSS JOIN files f ON f.id = w.file \
                 WHERE f.project = ?2 AND f.folder = ?3 || '/' AND f.kind = 1 LIMIT ?4"
            ))?;
            let values = params![expression, project, folder, limit];
            for row in by_title.query_map(values, |row| row.get(0))? {
                let file = row?;
                if !found.contains(&file) {
                    found.push(file);
                }
            }
            Ok(found)
        })
    }

    /// Returns every note by its number, with the values that totals need.
    pub fn nodes(&self) -> Result<Vec<NodeRow>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT file, importance, confidence, facts, relations, placeholder FROM nodes \
                 WHERE project = ? AND folder = ? ORDER BY file",
            )?;
            let rows = query.query_map(params![project, folder], |row| {
                Ok(NodeRow {
                    file: row.get(0)?,
                    importance: row.get(1)?,
                    confidence: row.get(2)?,
                    facts: row.get::<_, i64>(3)? as u64,
                    relations: row.get::<_, i64>(4)? as u64,
                    is_placeholder: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the number of notes, placeholders included.
    pub fn count(&self) -> Result<u64> {
        self.query(|db, project, folder| {
            let count: i64 = db
                .prepare_cached("SELECT count(*) FROM nodes WHERE project = ? AND folder = ?")?
                .query_row(params![project, folder], |row| row.get(0))?;
            Ok(count as u64)
        })
    }

    /// Returns true if there are more than `count` notes, placeholders included.
    pub fn has_more_than(&self, count: u64) -> Result<bool> {
        self.query(|db, project, folder| {
            let skipped = i64::try_from(count).unwrap_or(i64::MAX);
            let mut query = db.prepare_cached(
                "SELECT 1 FROM nodes WHERE project = ? AND folder = ? LIMIT 1 OFFSET ?",
            )?;
            Ok(query.exists(params![project, folder, skipped])?)
        })
    }

    /// Returns true if there are notes, or were before the pending commits of this process.
    pub fn had_notes(&self) -> Result<bool> {
        let find = |db: &Connection| {
            let mut query =
                db.prepare_cached("SELECT 1 FROM nodes WHERE project = ? AND folder = ? LIMIT 1")?;
            Ok(query.exists(params![project_id_of(db, &self.project)?, self.folder])?)
        };
        Ok(self.snapshot.query_about(|_| false, find)? || self.snapshot.query(find)?)
    }

    /// Returns the number of notes of each type, as written in their frontmatter.
    pub fn types(&self) -> Result<Vec<(Option<String>, u64)>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT json_extract(f.metadata, '$.type'), count(*) FROM nodes n \
                 JOIN files f ON f.id = n.file WHERE n.project = ? AND n.folder = ? AND n.placeholder = 0 \
                 GROUP BY 1 ORDER BY 1",
            )?;
            let rows = query.query_map(params![project, folder], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the number of notes last changed on each day, by the start of the day.
    pub fn days(&self, since: Timestamp) -> Result<Vec<(Timestamp, u64)>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT f.updated_ms / 86400000, count(*) FROM nodes n JOIN files f ON f.id = n.file \
                 WHERE n.project = ? AND n.folder = ? AND n.placeholder = 0 AND f.updated_ms >= ? \
                 GROUP BY 1 ORDER BY 1",
            )?;
            let values = params![project, folder, since.as_millisecond()];
            let rows = query.query_map(values, |row| {
                let start = Timestamp::from_second(row.get::<_, i64>(0)? * 86_400).unwrap_or_default();
                Ok((start, row.get::<_, i64>(1)? as u64))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the notes directly in the folder, by path.
    pub fn page(&self, limit: usize, offset: usize) -> Result<Vec<FileSummary>> {
        self.query(|db, project, folder| {
            let sql = format!(
                "SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project \
                 WHERE f.project = ? AND {IN_FOLDER} ORDER BY f.path LIMIT ? OFFSET ?"
            );
            let mut query = db.prepare_cached(&sql)?;
            let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
            let values = params![project, folder, folder, folder, number(limit), number(offset)];
            let rows = query.query_map(values, summary)?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }
}

/// Condition on `files f` that SQLite evaluates in path order. The folder is bound three times.
const IN_FOLDER: &str =
    "f.path > ? || '/' AND f.path < ? || '0' AND +f.folder = ? || '/' AND f.kind = 1";

/// A note of a folder with its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedNote {
    /// Title.
    pub title: String,
    /// Frontmatter as JSON.
    pub metadata: String,
}

impl FolderGraph<'_> {
    /// Returns the notes that `keep` accepts, by path: at most a limit, from an offset on,
    /// and the offset of the first note that was not examined.
    pub fn entries(
        &self,
        limit: usize,
        offset: usize,
        keep: impl Fn(&NamedNote) -> bool,
    ) -> Result<(Vec<NamedNote>, Option<usize>)> {
        self.query(|db, project, folder| {
            let sql = format!(
                "SELECT f.title, f.metadata FROM files f WHERE f.project = ? AND {IN_FOLDER} \
                 ORDER BY f.path LIMIT -1 OFFSET ?"
            );
            let mut query = db.prepare_cached(&sql)?;
            let from = i64::try_from(offset).unwrap_or(i64::MAX);
            let mut rows = query.query(params![project, folder, folder, folder, from])?;
            let mut found = Vec::new();
            let mut at = offset;
            while let Some(row) = rows.next()? {
                if found.len() == limit {
                    return Ok((found, Some(at)));
                }
                let entry = NamedNote { title: row.get(0)?, metadata: row.get(1)? };
                if keep(&entry) {
                    found.push(entry);
                }
                at += 1;
            }
            Ok((found, None))
        })
    }

    /// Returns the notes that were last changed between two times.
    pub fn changed_between(
        &self,
        start: Option<Timestamp>,
        end: Option<Timestamp>,
    ) -> Result<HashSet<i64>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT id FROM files INDEXED BY files_of_folder WHERE project = ? AND folder = ? || '/' \
                 AND updated_ms BETWEEN ? AND ? AND kind = 1",
            )?;
            // The index stores milliseconds, so the start is rounded up.
            let first = start.map_or(i64::MIN, |time| {
                let is_within = time.subsec_nanosecond().rem_euclid(1_000_000) != 0;
                time.as_millisecond().saturating_add(i64::from(is_within))
            });
            let last = end.map_or(i64::MAX, Timestamp::as_millisecond);
            let values = params![project, folder, first, last];
            let rows = query.query_map(values, |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

impl Snapshot<'_> {
    /// Returns the folders of a project that contain notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderTotals>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT folder, sum(placeholder = 0), sum(relations) FROM nodes WHERE project = ? \
                 GROUP BY folder ORDER BY folder",
            )?;
            let rows = query.query_map([project_id_of(db, project)?], |row| {
                Ok(FolderTotals {
                    folder: row.get(0)?,
                    notes: row.get::<_, i64>(1)? as u64,
                    relations: row.get::<_, i64>(2)? as u64,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

impl FolderGraph<'_> {
    /// Returns the creation time of the oldest note and the change time of the newest.
    pub fn times(&self) -> Result<Option<(Timestamp, Timestamp)>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT min(created_ms), max(updated_ms) FROM files \
                 WHERE project = ?1 AND path > ?2 || '/' AND path < ?2 || '0'",
            )?;
            let found = query.query_row(params![project, folder], |row| {
                Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
            })?;
            let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
            Ok(match found {
                (Some(first), Some(last)) => Some((time(first), time(last))),
                _ => None,
            })
        })
    }

    /// Returns the neighbourhood of some notes within this folder.
    pub fn around(
        &self,
        start: &[i64],
        depth: usize,
        max: usize,
    ) -> Result<GraphNeighbourhood<i64, String>> {
        self.query(|db, project, folder| {
            find_neighbours(start, depth, max, |level| edges_within(db, project, folder, level))
        })
    }

    /// Returns a shortest path between two notes through this folder only.
    pub fn path(
        &self,
        from: i64,
        to: i64,
        max_depth: usize,
    ) -> Result<Option<GraphRoute<i64, String>>> {
        self.query(|db, project, folder| {
            shortest_path(from, to, max_depth, |level| edges_within(db, project, folder, level))
        })
    }
}

/// Returns the relations from and to any of these notes within their folder.
fn edges_within(
    db: &Connection,
    project: i64,
    folder: &str,
    level: &[i64],
) -> Result<Vec<GraphEdge<i64, String>>, StoreError> {
    let mut edges = Vec::new();
    for part in level.chunks(MAX_IDS_PER_QUERY) {
        let marks = vec!["?"; part.len()].join(",");
        for (column, other) in [("file", "target_file"), ("target_file", "file")] {
            // A relation with metadata stays in its folder. For others, the other end is checked.
            let sql = format!(
                "SELECT r.file, r.target_file, r.relation_type FROM relations r \
                 WHERE r.{column} IN ({marks}) AND r.target_file IS NOT NULL AND r.form > 0 \
                 AND (r.exact_name IS NOT NULL OR EXISTS (SELECT 1 FROM nodes o \
                 WHERE o.project = ? AND o.folder = ? AND o.file = r.{other})) \
                 ORDER BY r.file, r.n"
            );
            let mut query = db.prepare_cached(&sql)?;
            let ids = part.iter().map(|id| Value::Integer(*id));
            let place = [Value::Integer(project), Value::Text(folder.to_owned())];
            let rows = query.query_map(params_from_iter(ids.chain(place)), |row| {
                Ok(GraphEdge { from: row.get(0)?, to: row.get(1)?, label: row.get(2)? })
            })?;
            for row in rows {
                edges.push(row?);
            }
        }
    }
    Ok(edges)
}

impl FolderGraph<'_> {
    /// Returns the current facts by note and line, optionally of one category.
    pub fn facts(&self, category: Option<&str>) -> Result<Vec<FolderFact>> {
        self.query(|db, project, folder| {
            let mut query = db.prepare_cached(
                "SELECT o.file, o.category, o.text FROM nodes n JOIN observations o ON o.file = n.file \
                 WHERE n.project = ?1 AND n.folder = ?2 AND o.struck = 0 AND o.superseded_by IS NULL \
                 AND (?3 IS NULL OR o.category = ?3) ORDER BY o.file, o.line",
            )?;
            let rows = query.query_map(params![project, folder, category], |row| {
                Ok(FolderFact { file: row.get(0)?, category: row.get(1)?, text: row.get(2)? })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the notes whose title, type or facts contain a text, case-insensitively.
    pub fn holding(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.query(|db, project, folder| {
            let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            let mut query = db.prepare_cached(
                "SELECT n.file FROM nodes n JOIN files f ON f.id = n.file \
                 WHERE n.project = ?1 AND n.folder = ?2 AND n.placeholder = 0 \
                 AND (f.title LIKE ?3 ESCAPE '\\' OR json_extract(f.metadata, '$.type') LIKE ?3 ESCAPE '\\' \
                 OR EXISTS (SELECT 1 FROM observations o WHERE o.file = n.file AND o.struck = 0 \
                 AND o.superseded_by IS NULL AND (o.text || ifnull(o.context, '')) LIKE ?3 ESCAPE '\\')) \
                 ORDER BY f.path LIMIT ?4",
            )?;
            let values = params![
                project,
                folder,
                format!("%{escaped}%"),
                i64::try_from(limit).unwrap_or(-1)
            ];
            let rows = query.query_map(values, |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

impl FolderGraph<'_> {
    /// Returns the versions that facts of a file reached by external rewording until a time.
    pub fn reworded(
        &self,
        path: &NotePath,
        until: Timestamp,
    ) -> Result<HashMap<ObservationId, u32>> {
        self.query(|db, project, _| history::reworded(db, project, path, Some(until)))
    }

    /// Returns true if the latest change of a file is its creation.
    pub fn was_just_created(&self, path: &NotePath) -> Result<bool> {
        self.query(|db, project, _| {
            let before: Option<Option<[u8; 32]>> = db
                .prepare_cached(
                    "SELECT before FROM changes WHERE project = ? AND path = ? \
                     ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
                )?
                .query_row(params![project, path.as_str()], |row| row.get(0))
                .optional()?;
            Ok(before.flatten().is_none())
        })
    }
}
