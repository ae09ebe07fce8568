//! Queries about files: listing, names, facts, relations and totals.

use jiff::Timestamp;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_core::problem::ParseProblem;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::connection::IndexVersion;
use super::extract::{FileKind, TEMPLATE_TYPE, target_key};
use super::project_id_of;
use super::search::has_tag;
use crate::commit::unindexed::UnindexedFile;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// The index row of a file, without its text.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSummary {
    /// The file's number in the index.
    pub id: i64,
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// The kind of file.
    pub kind: FileKind,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
    /// Note type.
    pub note_type: String,
    /// Time of the first record.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Bytes.
    pub size: u64,
    /// The version; `None` if it is unknown.
    pub hash: Option<ContentHash>,
    /// Frontmatter as JSON.
    pub metadata: String,
}

/// Restricts a list of files.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// Only this project.
    pub project: Option<ProjectName>,
    /// Only files at or below this folder.
    pub folder: Option<NotePath>,
    /// Only notes of this type.
    pub note_type: Option<String>,
    /// Only notes that carry this tag.
    pub tag: Option<String>,
    /// Only files changed since then.
    pub since: Option<Timestamp>,
    /// Leaves out templates of Obsidian.
    pub without_templates: bool,
}

/// Order of a list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    /// By project and path.
    Path,
    /// The last changed first.
    Newest,
}

pub(super) const COLUMNS: &str = "f.id, p.name, f.path, f.kind, f.title, f.permalink, f.note_type, \
     f.created_ms, f.updated_ms, f.size, f.hash, f.metadata";

/// Maximum number of subfolders for which the newest files are read folder by folder.
const MAX_FOLDERS_ONE_BY_ONE: usize = 64;

impl Snapshot<'_> {
    /// Returns the files that match a filter.
    pub fn list(
        &self,
        filter: &ListFilter,
        order: ListOrder,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<FileSummary>> {
        self.query(|db| {
            let (what, values) = conditions(db, filter)?;
            if let (Some(project), Some(folder), ListOrder::Newest) =
                (&filter.project, &filter.folder, order)
            {
                let folders = folders_at_or_below(db, project_id_of(db, project)?, folder)?;
                if let Some(folders) = folders {
                    return newest_in(db, &folders, (&what, &values), limit, offset);
                }
            }
            let mut sql = format!(
                "SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project WHERE {what}"
            );
            let mut values = values;
            if let Some(folder) = &filter.folder {
                // The range uses the path index; the rest excludes `folder.md` and similar names.
                sql.push_str(" AND f.path >= ? AND f.path < ? AND (f.path = ? OR f.path > ?)");
                values.push(Value::Text(folder.to_string()));
                values.push(Value::Text(format!("{folder}0")));
                values.push(Value::Text(folder.to_string()));
                values.push(Value::Text(format!("{folder}/")));
            }
            sql.push_str(match (order, &filter.project) {
                (ListOrder::Path, Some(_)) => " ORDER BY f.path",
                (ListOrder::Path, None) => " ORDER BY p.name, f.path",
                (ListOrder::Newest, _) => " ORDER BY f.updated_ms DESC, f.path",
            });
            sql.push_str(" LIMIT ? OFFSET ?");
            values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
            values.push(Value::Integer(i64::try_from(offset).unwrap_or(i64::MAX)));
            let mut query = db.prepare_cached(&sql)?;
            let rows = query.query_map(params_from_iter(values), summary)?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }
}

/// Translates a filter, without its folder, to a condition on `files f`.
fn conditions(db: &Connection, filter: &ListFilter) -> Result<(String, Vec<Value>)> {
    let mut sql = String::from("f.kind IN (1, 2)");
    let mut values = Vec::new();
    if let Some(project) = &filter.project {
        sql.push_str(" AND f.project = ?");
        values.push(Value::Integer(project_id_of(db, project)?));
    }
    if let Some(note_type) = &filter.note_type {
        sql.push_str(" AND f.note_type = ?");
        values.push(Value::Text(note_type.clone()));
    }
    if let Some(tag) = &filter.tag {
        has_tag(tag, &mut sql, &mut values);
    }
    if filter.without_templates {
        sql.push_str(" AND f.note_type <> ?");
        values.push(Value::Text(TEMPLATE_TYPE.to_owned()));
    }
    if let Some(since) = filter.since {
        sql.push_str(" AND f.updated_ms >= ?");
        values.push(Value::Integer(since.as_millisecond()));
    }
    Ok((sql, values))
}

/// Returns a folder and its subfolders with files, each with a trailing slash; `None` if there are
/// too many.
fn folders_at_or_below(
    db: &Connection,
    project: i64,
    folder: &NotePath,
) -> Result<Option<Vec<String>>> {
    let mut next = db.prepare_cached(
        "SELECT folder FROM files WHERE project = ? AND folder > ? ORDER BY folder LIMIT 1",
    )?;
    let top = format!("{folder}/");
    let mut folders = vec![top.clone()];
    while let Some(last) = folders.last() {
        let found = next.query_row(params![project, last], |row| row.get(0)).optional()?;
        match found.filter(|found: &String| found.starts_with(&top)) {
            Some(_) if folders.len() == MAX_FOLDERS_ONE_BY_ONE => return Ok(None),
            Some(found) => folders.push(found),
            None => break,
        }
    }
    Ok(Some(folders))
}

/// Returns the newest files of some folders, reading only the newest of each.
fn newest_in(
    db: &Connection,
    folders: &[String],
    (what, values): (&str, &[Value]),
    limit: usize,
    offset: usize,
) -> Result<Vec<FileSummary>> {
    let sql = format!(
        "SELECT f.updated_ms, f.path, f.id FROM files f WHERE {what} AND f.folder = ? \
         ORDER BY f.updated_ms DESC, f.path LIMIT ?"
    );
    let mut query = db.prepare_cached(&sql)?;
    let most = i64::try_from(limit.saturating_add(offset)).unwrap_or(i64::MAX);
    let mut found: Vec<(std::cmp::Reverse<i64>, String, i64)> = Vec::new();
    for folder in folders {
        let own = [Value::Text(folder.clone()), Value::Integer(most)];
        let rows = query.query_map(params_from_iter(values.iter().chain(&own)), |row| {
            Ok((std::cmp::Reverse(row.get(0)?), row.get(1)?, row.get(2)?))
        })?;
        for row in rows {
            found.push(row?);
        }
    }
    found.sort_unstable();
    let ids: Vec<i64> = found.iter().skip(offset).take(limit).map(|(.., id)| *id).collect();
    by_ids(db, &ids)
}

/// Name by which notes are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameField {
    /// Address within the project: the permalink of a note, the path of any other text.
    Address,
    /// Title.
    Title,
}

impl Snapshot<'_> {
    /// Returns the names that contain a text, and their number: names that start with it first, then by
    /// the last change.
    pub fn names(
        &self,
        project: Option<&ProjectName>,
        of: NameField,
        holding: &str,
        limit: usize,
    ) -> Result<(Vec<String>, u64)> {
        self.query(|db| {
            let name = match of {
                NameField::Address => "CASE f.kind WHEN 1 THEN f.permalink ELSE f.path END",
                NameField::Title => "f.title",
            };
            let sql = format!(
                "SELECT name, count(*) OVER () FROM ( \
                   SELECT {name} AS name, max(f.updated_ms) AS updated \
                   FROM files f JOIN projects p ON p.id = f.project \
                   WHERE f.kind IN (1, 2) AND (?1 IS NULL OR p.name = ?1) GROUP BY 1) \
                 WHERE name LIKE '%' || ?2 || '%' ESCAPE '\\' \
                 ORDER BY name LIKE ?2 || '%' ESCAPE '\\' DESC, updated DESC, name LIMIT ?3"
            );
            let mut pattern = String::with_capacity(holding.len());
            for c in holding.chars() {
                if matches!(c, '%' | '_' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(c);
            }
            let mut query = db.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query
                .query_map(params![project.map(ProjectName::as_str), pattern, limit], |row| {
                    Ok((row.get(0)?, row.get::<_, i64>(1)?))
                })?;
            let rows: Vec<(String, i64)> = rows.collect::<rusqlite::Result<_>>()?;
            let total = rows.first().map_or(0, |(_, total)| u64::try_from(*total).unwrap_or(0));
            Ok((rows.into_iter().map(|(name, _)| name).collect(), total))
        })
    }

    /// Returns the index row of a file by its number.
    pub fn file_by_id(&self, id: i64) -> Result<Option<FileSummary>> {
        self.query_about(|pending| pending.is_row(id), |db| by_id(db, id))
    }

    /// Returns the index rows of files by their numbers; missing ones are omitted.
    pub fn files_by_id(&self, ids: &[i64]) -> Result<Vec<FileSummary>> {
        let concerns = |pending: &UnindexedFile| ids.iter().any(|id| pending.is_row(*id));
        self.query_about(concerns, |db| by_ids(db, ids))
    }

    /// Returns a file by its path.
    pub fn file(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileSummary>> {
        self.query_about(
            |pending| pending.is_at(path),
            |db| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project \
                 WHERE p.name = ? AND f.path = ?"
                );
                let mut query = db.prepare_cached(&sql)?;
                let found = query
                    .query_row(params![project.as_str(), path.as_str()], summary)
                    .optional()?;
                Ok(found.flatten())
            },
        )
    }
}

/// Returns a file by its row number.
pub(super) fn by_id(db: &Connection, id: i64) -> Result<Option<FileSummary>> {
    let sql =
        format!("SELECT {COLUMNS} FROM files f JOIN projects p ON p.id = f.project WHERE f.id = ?");
    let mut query = db.prepare_cached(&sql)?;
    Ok(query.query_row([id], summary).optional()?.flatten())
}

/// Returns files by their row numbers; missing ones are omitted.
fn by_ids(db: &Connection, ids: &[i64]) -> Result<Vec<FileSummary>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(by_id(db, *id)?);
    }
    Ok(found)
}

impl Snapshot<'_> {
    /// Returns the files whose names are equal to this one on a case-insensitive or normalising file
    /// system.
    pub fn twins(&self, project: &ProjectName, path: &NotePath) -> Result<Vec<NotePath>> {
        self.query_about(
            |pending| pending.has_path_key(project, path),
            |db| {
                let mut query = db.prepare_cached(
                    "SELECT f.path FROM files f JOIN projects p ON p.id = f.project \
                 WHERE p.name = ? AND f.path_key = ?",
                )?;
                let rows = query
                    .query_map(params![project.as_str(), path.key()], |row| {
                        row.get::<_, String>(0)
                    })?
                    .collect::<rusqlite::Result<Vec<_>>>()?;
                let mut paths: Vec<_> =
                    rows.iter().filter_map(|path| NotePath::parse(path).ok()).collect();
                // Sorted here, because `ORDER BY` would make SQLite scan the whole project.
                paths.sort_unstable();
                Ok(paths)
            },
        )
    }
}

pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<Option<FileSummary>> {
    let project = ProjectName::parse(&row.get::<_, String>(1)?);
    let path = NotePath::parse(&row.get::<_, String>(2)?);
    let (Ok(project), Ok(path)) = (project, path) else { return Ok(None) };
    let time = |ms: i64| Timestamp::from_millisecond(ms).unwrap_or_default();
    Ok(Some(FileSummary {
        id: row.get(0)?,
        project,
        path,
        kind: FileKind::from_code(row.get(3)?),
        title: row.get(4)?,
        permalink: row.get(5)?,
        note_type: row.get(6)?,
        created: time(row.get(7)?),
        updated: time(row.get(8)?),
        size: row.get::<_, i64>(9)?.max(0) as u64,
        hash: row.get::<_, Option<[u8; 32]>>(10)?.map(ContentHash),
        metadata: row.get(11)?,
    }))
}

/// A fact in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationRow {
    /// The file that contains it.
    pub file: i64,
    /// The observation id.
    pub id: String,
    /// The word in brackets.
    pub category: Option<String>,
    /// The text.
    pub text: String,
    /// The text in parentheses.
    pub context: Option<String>,
    /// The line.
    pub line: usize,
    /// The version, including external rewordings.
    pub version: u32,
    /// True if it is neither struck out nor superseded.
    pub is_current: bool,
}

impl Snapshot<'_> {
    /// Returns the facts of a file.
    pub fn observations(&self, file: i64) -> Result<Vec<ObservationRow>> {
        self.query_about(|pending| pending.is_row(file), |db| {
            let mut query = db.prepare_cached(
                "SELECT file, observation_id, category, text, context, line, version, \
                 struck = 0 AND superseded_by IS NULL FROM observations WHERE file = ? ORDER BY line",
            )?;
            let rows = query.query_map([file], |row| {
                Ok(ObservationRow {
                    file: row.get(0)?,
                    id: row.get(1)?,
                    category: row.get(2)?,
                    text: row.get(3)?,
                    context: row.get(4)?,
                    line: row.get::<_, i64>(5)? as usize,
                    version: row.get(6)?,
                    is_current: row.get(7)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns the fact with an id and its file; `None` if no file or several have it.
    pub fn observation(&self, id: &str) -> Result<Option<(FileSummary, ObservationRow)>> {
        let files = self.query(|db| {
            let mut query = db
                .prepare_cached("SELECT file FROM observations WHERE observation_id = ? LIMIT 2")?;
            let files = query.query_map([id], |row| row.get::<_, i64>(0))?;
            Ok(files.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        let [file] = files.as_slice() else { return Ok(None) };
        let fact = self.observations(*file)?.into_iter().find(|fact| fact.id == id);
        Ok(self.file_by_id(*file)?.zip(fact))
    }
}

/// A relation in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationRow {
    /// The file that holds it.
    pub file: i64,
    /// The relation type.
    pub relation_type: String,
    /// The target as written.
    pub target: String,
    /// The link key of the target.
    pub key: String,
    /// The whole link text, if it can be either a name or a name with a heading.
    pub whole: Option<WholeLink>,
    /// Set if it resolves only to the note with exactly this title in its own folder.
    pub exact_name: Option<String>,
    /// The file that the target resolves to; `None` if it is unresolved.
    pub target_file: Option<i64>,
    /// The text in parentheses.
    pub context: Option<String>,
    /// The line.
    pub line: usize,
    /// True if a line of its own states it; false if a link only mentions the note.
    pub is_stated: bool,
}

const RELATION: &str = "SELECT r.file, r.relation_type, r.target, r.target_file, r.context, \
     r.line, r.target_key, r.exact_name, r.form > 0, r.whole, r.whole_key FROM relations r";

/// A link text that is either a name, or a name with a heading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WholeLink {
    /// The text.
    pub text: String,
    /// The link key of the text as a name.
    pub key: String,
}

impl Snapshot<'_> {
    /// Returns the relations from a file.
    pub fn relations_from(&self, file: i64) -> Result<Vec<RelationRow>> {
        self.relations(
            |pending| pending.is_row(file),
            |db| relations(db, "WHERE r.file = ? ORDER BY r.n", [file]),
        )
    }

    /// Returns the relations of a project with this target.
    pub fn relations_named(&self, project: &ProjectName, name: &str) -> Result<Vec<RelationRow>> {
        let key = target_key(name);
        self.relations(
            |pending| pending.changes_relations_by(&key),
            |db| relations_with_key(db, project_id_of(db, project)?, &key),
        )
    }

    /// Reads relations that only some pending commits concern. A name by which one of them refers to
    /// its target may belong to another file after a further pending commit.
    fn relations(
        &self,
        concerns: impl Fn(&UnindexedFile) -> bool,
        read: impl Fn(&Connection) -> Result<Vec<RelationRow>>,
    ) -> Result<Vec<RelationRow>> {
        let rows = self.query_about(concerns, &read)?;
        let is_renamed = |pending: &UnindexedFile| {
            let whole =
                |row: &RelationRow| row.whole.as_ref().is_some_and(|w| pending.renames_key(&w.key));
            rows.iter().any(|row| pending.renames_key(&row.key) || whole(row))
        };
        if self.lacks(is_renamed) { self.query(&read) } else { Ok(rows) }
    }

    /// Returns the relations to a file.
    pub fn relations_to(&self, file: i64) -> Result<Vec<RelationRow>> {
        self.query_about(
            |pending| pending.changes_relations_to(file),
            |db| relations(db, "WHERE r.target_file = ? ORDER BY r.file, r.n", [file]),
        )
    }
}

/// Returns the relations of a project whose target has this key.
pub(super) fn relations_with_key(
    db: &Connection,
    project: i64,
    key: &str,
) -> Result<Vec<RelationRow>> {
    relations(
        db,
        "WHERE r.target_key = ?1 AND r.project = ?2 OR r.whole_key = ?1 AND r.project = ?2 \
         ORDER BY r.file, r.n",
        params![key, project],
    )
}

fn relation(row: &Row<'_>) -> rusqlite::Result<RelationRow> {
    Ok(RelationRow {
        file: row.get(0)?,
        relation_type: row.get(1)?,
        target: row.get(2)?,
        target_file: row.get(3)?,
        context: row.get(4)?,
        line: row.get::<_, i64>(5)? as usize,
        key: row.get(6)?,
        exact_name: row.get(7)?,
        is_stated: row.get(8)?,
        whole: match (row.get(9)?, row.get(10)?) {
            (Some(text), Some(key)) => Some(WholeLink { text, key }),
            _ => None,
        },
    })
}

/// Returns the relations that match a condition on `relations r`.
pub(super) fn relations(
    db: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<RelationRow>> {
    let mut query = db.prepare_cached(&format!("{RELATION} {condition}"))?;
    let rows = query.query_map(values, relation)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The problems of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblems {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// The problems.
    pub problems: Vec<ParseProblem>,
}

impl Snapshot<'_> {
    /// Returns every file with problems.
    pub fn problems(&self) -> Result<Vec<FileProblems>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT p.name, f.path, f.problems FROM files f JOIN projects p ON p.id = f.project \
                 WHERE f.problems <> '[]' ORDER BY p.name, f.path",
            )?;
            let rows = query
                .query_map([], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let found = rows.into_iter().filter_map(|(project, path, problems)| {
                let problems: Vec<(usize, String)> = serde_json::from_str(&problems).ok()?;
                Some(FileProblems {
                    project: ProjectName::parse(&project).ok()?,
                    path: NotePath::parse(&path).ok()?,
                    problems: problems
                        .into_iter()
                        .map(|(line, message)| ParseProblem { line, message })
                        .collect(),
                })
            });
            Ok(found.collect())
        })
    }
}

/// Totals of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// Notes.
    pub notes: u64,
    /// Passages.
    pub passages: u64,
    /// Facts that are current.
    pub observations: u64,
    /// Relations.
    pub relations: u64,
    /// Relations whose target does not exist.
    pub unresolved: u64,
    /// Commits in the history.
    pub commits: u64,
}

impl Snapshot<'_> {
    /// Returns the totals of the index. All but the commits are counted once for each state of the
    /// index.
    pub fn counts(&self) -> Result<IndexCounts> {
        self.query(|db| {
            let commits = count(db, "SELECT count(*) FROM commits")?;
            let now = IndexVersion::of(db)?;
            if let Some(counts) = self.inner.index.counted(now) {
                return Ok(IndexCounts { commits, ..counts });
            }
            let counts = IndexCounts {
                notes: count_notes(db)?,
                passages: super::vectors::count(db)?,
                // A paragraph with a tag is searched like a fact, but nobody wrote it as one.
                observations: count(
                    db,
                    "SELECT count(*) FROM observations WHERE struck = 0 \
                     AND (category IS NOT NULL OR time_ms IS NOT NULL OR thread IS NOT NULL)",
                )?,
                relations: count(db, "SELECT count(*) FROM relations")?,
                unresolved: count(db, "SELECT count(*) FROM relations WHERE target_file IS NULL")?,
                commits,
            };
            self.inner.index.set_counted(now, counts);
            Ok(counts)
        })
    }

    /// Returns the number of notes in all projects, without the other counts. It is counted once for
    /// each state of the index.
    pub fn note_count(&self) -> Result<u64> {
        self.query(|db| {
            let now = IndexVersion::of(db)?;
            if let Some(counts) = self.inner.index.counted(now) {
                return Ok(counts.notes);
            }
            if let Some((_, notes)) = self.inner.index.counted_notes().filter(|(at, _)| *at == now)
            {
                return Ok(notes);
            }
            let notes = count_notes(db)?;
            self.inner.index.set_counted_notes(now, notes);
            Ok(notes)
        })
    }

    /// Returns the number of notes in a project.
    pub fn notes_in(&self, project: &ProjectName) -> Result<u64> {
        self.query(|db| {
            let sql =
                "SELECT count(*) FROM files INDEXED BY files_of_type WHERE project = ? AND kind = 1";
            let project = project_id_of(db, project)?;
            let count: i64 = db.prepare_cached(sql)?.query_row([project], |row| row.get(0))?;
            Ok(count as u64)
        })
    }

    /// Returns the number of notes of each type in a project, by type.
    pub fn note_types(&self, project: &ProjectName) -> Result<Vec<(String, u64)>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT note_type, count(*) FROM files WHERE project = ? AND kind <> 0 GROUP BY note_type",
            )?;
            let rows = query.query_map([project_id_of(db, project)?], |row| {
                Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

fn count(db: &Connection, sql: &str) -> Result<u64> {
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get::<_, i64>(0))? as u64)
}

/// Counts notes with an index that contains their kind, so that no row of the table is read.
fn count_notes(db: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM files INDEXED BY files_of_type WHERE kind = 1";
    let count: i64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(count as u64)
}
