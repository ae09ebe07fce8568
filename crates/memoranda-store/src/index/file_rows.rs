//! Rows of files as a scan compares them with the disk.

use std::ops::Range;

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::extract::FileKind;
use super::write::project_id_of;
use crate::error::Result;
use crate::files::FileStat;

/// If the files of a project have at least one of this many consecutive row numbers, the table is
/// read in the order of its pages. The order of paths needs a random page for every file.
const MAX_GAP: i64 = 4;

const COLUMNS: &str = "id, kind, size, mtime_ns, ctime_ns, inode, checked_ns, hash, path";

/// The row of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileRow {
    pub(crate) id: i64,
    pub(crate) kind: FileKind,
    pub(crate) stat: FileStat,
    pub(crate) checked_ns: i64,
    pub(crate) hash: Option<ContentHash>,
}

/// Rows of many files with their paths, in a few large pieces of memory.
#[derive(Default)]
pub(crate) struct FileRows {
    /// Paths, one behind the other.
    paths: String,
    rows: Vec<(Range<usize>, FileRow)>,
}

impl FileRows {
    /// Returns the rows with their paths.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &FileRow)> {
        self.rows.iter().map(|(at, row)| (self.paths.get(at.clone()).unwrap_or_default(), row))
    }

    fn push(&mut self, path: &str, row: FileRow) {
        let start = self.paths.len();
        self.paths.push_str(path);
        self.rows.push((start..self.paths.len(), row));
    }
}

/// Returns the row of a file.
pub(crate) fn row(db: &Connection, project: i64, path: &NotePath) -> Result<Option<FileRow>> {
    let sql = format!("SELECT {COLUMNS} FROM files WHERE project = ? AND path = ?");
    let mut find = db.prepare_cached(&sql)?;
    Ok(find.query_row(params![project, path.as_str()], file_row).optional()?)
}

/// Returns true if the index has any file.
pub(crate) fn has_rows(db: &Connection) -> Result<bool> {
    let mut find = db.prepare_cached("SELECT EXISTS (SELECT 1 FROM files)")?;
    Ok(find.query_row([], |row| row.get(0))?)
}

/// Returns the rows of all files of a project.
pub(crate) fn all_rows(db: &Connection, project: i64) -> Result<FileRows> {
    let mut bounds = db.prepare_cached(
        "SELECT count(*), coalesce(min(id), 0), coalesce(max(id), -1) \
         FROM files INDEXED BY files_of_project WHERE project = ?",
    )?;
    let (files, first, last): (i64, i64, i64) =
        bounds.query_row([project], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let condition = if last - first < files.saturating_mul(MAX_GAP) {
        // The sign keeps SQLite from using an index of the project.
        "WHERE +project = ?1"
    } else {
        "INDEXED BY files_of_project WHERE project = ?1"
    };
    let sql = format!("SELECT {COLUMNS} FROM files {condition} AND id BETWEEN ?2 AND ?3");
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = FileRows::default();
    rows.rows.reserve_exact(usize::try_from(files).unwrap_or_default());
    let mut found = query.query([project, first, last])?;
    while let Some(row) = found.next()? {
        rows.push(row.get_ref(8)?.as_str().unwrap_or_default(), file_row(row)?);
    }
    Ok(rows)
}

/// Returns the rows of a file, or of all files below a folder.
pub(crate) fn rows_at_or_below(
    db: &Connection,
    project: i64,
    place: &NotePath,
) -> Result<Vec<(NotePath, FileRow)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM files WHERE project = ?1 \
         AND (path = ?2 OR (path > ?2 || '/' AND path < ?2 || '0'))"
    );
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map(params![project, place.as_str()], path_and_row)?;
    parse_paths(rows)
}

/// Returns the path and the row of a file of a project by its number.
pub(crate) fn row_by_id(
    db: &Connection,
    project: i64,
    file: i64,
) -> Result<Option<(NotePath, FileRow)>> {
    let sql = format!("SELECT {COLUMNS} FROM files WHERE id = ?2 AND project = ?1");
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_row([project, file], path_and_row).optional()?;
    Ok(found.and_then(|(path, row)| Some((NotePath::parse(&path).ok()?, row))))
}

/// Returns the files of a project that are recorded only in the log.
pub(crate) fn unreached(db: &Connection, name: &ProjectName) -> Result<Vec<NotePath>> {
    let rows = unreached_rows(db, project_id_of(db, name)?)?;
    Ok(rows.into_iter().map(|(path, _)| path).collect())
}

/// Returns the rows of the files of a project that are recorded only in the log.
pub(crate) fn unreached_rows(db: &Connection, project: i64) -> Result<Vec<(NotePath, FileRow)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM files INDEXED BY files_unreached WHERE project = ? AND kind = 0"
    );
    let mut query = db.prepare_cached(&sql)?;
    let rows = query.query_map([project], path_and_row)?;
    parse_paths(rows)
}

/// Leaves out rows whose path is not one of a note.
fn parse_paths(
    rows: impl Iterator<Item = rusqlite::Result<(String, FileRow)>>,
) -> Result<Vec<(NotePath, FileRow)>> {
    let mut found = Vec::new();
    for row in rows {
        let (path, row) = row?;
        found.extend(NotePath::parse(&path).ok().map(|path| (path, row)));
    }
    Ok(found)
}

fn path_and_row(row: &Row<'_>) -> rusqlite::Result<(String, FileRow)> {
    Ok((row.get(8)?, file_row(row)?))
}

fn file_row(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    Ok(FileRow {
        id: row.get(0)?,
        kind: FileKind::from_code(row.get(1)?),
        stat: FileStat {
            size: row.get::<_, i64>(2)? as u64,
            mtime_ns: row.get(3)?,
            ctime_ns: row.get(4)?,
            inode: row.get::<_, i64>(5)? as u64,
        },
        checked_ns: row.get(6)?,
        hash: row.get::<_, Option<[u8; 32]>>(7)?.map(ContentHash),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the index in memory is nobody else's")]
    fn all_files_of_a_project_are_read_in_either_order() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let insert = "INSERT INTO files (id, project, path, path_key, kind, size, mtime_ns, ctime_ns, \
             inode, checked_ns) VALUES (?1, ?2, ?3, ?3, ?4, 1, 2, 3, 4, 5)";
        let add = |id: i64, project: i64, kind: i64| {
            db.execute(insert, params![id, project, format!("{id}.md"), kind]).unwrap();
        };
        for name in ["dense", "sparse", "empty"] {
            db.execute("INSERT INTO projects (name) VALUES (?)", [name]).unwrap();
        }
        (1..=20).for_each(|id| add(id, 1, id % 2));
        add(7_000, 2, 1);
        add(21, 2, 0);
        let check = |project: i64, name: &str, expected: &[i64], known: usize| {
            let rows = all_rows(&db, project).unwrap();
            let mut ids: Vec<i64> = rows.iter().map(|(_, row)| row.id).collect();
            ids.sort_unstable();
            assert_eq!(ids, expected, "{name}");
            assert!(rows.iter().all(|(path, row)| path == format!("{}.md", row.id)), "{name}");
            let name = ProjectName::parse(name).unwrap();
            assert_eq!(unreached(&db, &name).unwrap().len(), known, "{name}");
        };
        check(1, "dense", &(1..=20).collect::<Vec<_>>(), 10);
        check(2, "sparse", &[21, 7_000], 1);
        check(3, "empty", &[], 0);
    }
}
