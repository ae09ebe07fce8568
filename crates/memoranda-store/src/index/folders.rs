//! Folders as the index knows them: how much lies in each, and the files below one by the page.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::project_id_of;
use crate::error::Result;

/// A folder and what lies directly in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderFiles {
    /// The folder; empty at the top of the project.
    pub folder: String,
    /// How many files lie in it.
    pub files: u64,
    /// When one of them was last changed.
    pub updated: Timestamp,
}

/// Which files below a folder are listed.
#[derive(Clone, Debug)]
pub struct FilesBelow {
    /// The project.
    pub project: ProjectName,
    /// The folder; `None` at the top.
    pub folder: Option<NotePath>,
    /// How many folders deep, those directly in the folder being 1.
    pub depth: usize,
    /// In which order.
    pub order: FileOrder,
    /// How many at the most.
    pub limit: usize,
    /// How many to pass over first.
    pub offset: usize,
}

/// In which order files are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileOrder {
    /// By path.
    Path,
    /// By title, whatever its case.
    Title,
    /// By title from the end.
    TitleFromEnd,
    /// The last changed last.
    Oldest,
    /// The last changed first.
    Newest,
}

/// Every folder at or below one that holds files, by name. Only the index is read, not the files.
pub(crate) fn folder_files(
    db: &Connection,
    project: &ProjectName,
    folder: Option<&NotePath>,
) -> Result<Vec<FolderFiles>> {
    let (first, last) = range(folder);
    let mut query = db.prepare_cached(
        "SELECT folder, count(*), max(updated_ms) FROM files INDEXED BY files_of_folder \
         WHERE project = ? AND folder >= ? AND folder < ? AND kind <> 0 GROUP BY folder",
    )?;
    let rows = query.query_map(params![project_id_of(db, project)?, first, last], |row| {
        Ok(FolderFiles {
            folder: row.get::<_, String>(0)?.trim_end_matches('/').to_owned(),
            files: row.get::<_, i64>(1)? as u64,
            updated: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The files below a folder, what is no text included: their numbers and paths.
pub(crate) fn files_below(db: &Connection, below: &FilesBelow) -> Result<Vec<(i64, String)>> {
    let mut sql =
        String::from("SELECT f.id, f.path FROM files f WHERE f.project = ? AND f.kind <> 0");
    let mut values = vec![Value::Integer(project_id_of(db, &below.project)?)];
    let (first, last) = range(below.folder.as_ref());
    if below.depth == 1 {
        sql.push_str(" AND f.folder = ?");
        values.push(Value::Text(first));
    } else {
        sql.push_str(
            " AND f.path >= ? AND f.path < ? \
             AND length(f.folder) - length(replace(f.folder, '/', '')) < ?",
        );
        let above = first.matches('/').count();
        let deepest = i64::try_from(above.saturating_add(below.depth)).unwrap_or(i64::MAX);
        values.extend([Value::Text(first), Value::Text(last), Value::Integer(deepest)]);
    }
    sql.push_str(match below.order {
        FileOrder::Path => " ORDER BY f.path",
        FileOrder::Title => " ORDER BY lower(f.title), f.path",
        FileOrder::TitleFromEnd => " ORDER BY lower(f.title) DESC, f.path",
        FileOrder::Oldest => " ORDER BY f.updated_ms, f.path",
        FileOrder::Newest => " ORDER BY f.updated_ms DESC, f.path",
    });
    sql.push_str(" LIMIT ? OFFSET ?");
    values.push(Value::Integer(i64::try_from(below.limit).unwrap_or(i64::MAX)));
    values.push(Value::Integer(i64::try_from(below.offset).unwrap_or(i64::MAX)));
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The first name of what lies at or below a folder, and the first behind it.
fn range(folder: Option<&NotePath>) -> (String, String) {
    match folder {
        Some(folder) => (format!("{folder}/"), format!("{folder}0")),
        None => (String::new(), "\u{10ffff}".to_owned()),
    }
}
