//! Folders in the index: the number of files in each, and the files below one in pages.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

use super::project_id_of;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// A folder and the files directly in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FolderFiles {
    /// The folder; empty for the project root.
    pub folder: String,
    /// Number of files.
    pub files: u64,
    /// Last change of any of them.
    pub updated: Timestamp,
}

/// Files below a folder to list, with order and page.
#[derive(Clone, Debug)]
pub struct FilesBelow {
    /// The project.
    pub project: ProjectName,
    /// The folder; `None` for the project root.
    pub folder: Option<NotePath>,
    /// Maximum depth; 1 lists only files directly in the folder.
    pub depth: usize,
    /// The order.
    pub order: FileOrder,
    /// Maximum number of files.
    pub limit: usize,
    /// Number of files to skip first.
    pub offset: usize,
}

/// Order of files below a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileOrder {
    /// By path.
    Path,
    /// By title, case-insensitively.
    Title,
    /// By title, descending.
    TitleFromEnd,
    /// By last change, the oldest first.
    Oldest,
    /// By last change, the newest first.
    Newest,
}

impl Snapshot<'_> {
    /// Returns every folder with files, at or below one, by name. Reads only the index.
    pub fn folder_files(
        &self,
        project: &ProjectName,
        folder: Option<&NotePath>,
    ) -> Result<Vec<FolderFiles>> {
        self.query(|db| {
            let (first, last) = range(folder);
            let mut query = db.prepare_cached(
                "SELECT folder, count(*), max(updated_ms) FROM files INDEXED BY files_of_folder \
                 WHERE project = ? AND folder >= ? AND folder < ? AND kind <> 0 GROUP BY folder",
            )?;
            let rows =
                query.query_map(params![project_id_of(db, project)?, first, last], |row| {
                    Ok(FolderFiles {
                        folder: row.get::<_, String>(0)?.trim_end_matches('/').to_owned(),
                        files: row.get::<_, i64>(1)? as u64,
                        updated: Timestamp::from_millisecond(row.get(2)?).unwrap_or_default(),
                    })
                })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns row numbers and paths of the files below a folder, files that are not text included.
    pub fn files_below(&self, below: &FilesBelow) -> Result<Vec<(i64, String)>> {
        self.query(|db| {
            let mut sql = String::from(
                "SELECT f.id, f.path FROM files f WHERE f.project = ? AND f.kind <> 0",
            );
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
            let rows =
                query.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }
}

/// Returns the range of path names at or below a folder: the first, and the first after it.
fn range(folder: Option<&NotePath>) -> (String, String) {
    match folder {
        Some(folder) => (format!("{folder}/"), format!("{folder}0")),
        None => (String::new(), "\u{10ffff}".to_owned()),
    }
}
