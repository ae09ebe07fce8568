//! The time since which a file is recorded, which follows it through moves.

use memoranda_core::path::NotePath;
use rusqlite::{Connection, params};

use super::history::head;
use crate::error::Result;

/// Holds for a file that does not state its own date.
const STATES_NO_DATE: &str = "(NOT json_valid(metadata) \
   OR coalesce(metadata ->> '$.created', metadata ->> '$.date') IS NULL)";

/// Sets the time of creation of every file by the history, after that was read again as a whole.
pub(crate) fn set_creation_times(db: &Connection) -> Result<()> {
    db.execute(
        &format!(
            "UPDATE files SET created_ms = min(mtime_ns / 1000000, head.first_ms) FROM ( \
               SELECT project, path, first_ms, row_number() OVER ( \
                 PARTITION BY project, path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
               FROM changes) AS head \
             WHERE head.age = 1 AND head.project = files.project AND head.path = files.path \
               AND files.created_ms <> min(mtime_ns / 1000000, head.first_ms) AND {STATES_NO_DATE}"
        ),
        [],
    )?;
    Ok(())
}

/// Returns the time since which a file is recorded under a name, given the time of another record of
/// it. If that is earlier, it becomes the time of all.
pub(super) fn first_recorded(
    db: &Connection,
    project: i64,
    path: &NotePath,
    time_ms: i64,
) -> Result<i64> {
    match head(db, project, path)?.map(|head| head.first_ms) {
        Some(first_ms) if first_ms > time_ms => {
            known_since(db, project, path, time_ms)?;
            Ok(time_ms)
        }
        Some(first_ms) => Ok(first_ms),
        None => Ok(time_ms),
    }
}

/// Updates the first-recorded time in later records of a file, including those under its later
/// names. These were read earlier, because another device wrote them. A note that states its own date
/// keeps it.
fn known_since(db: &Connection, project: i64, path: &NotePath, first_ms: i64) -> Result<()> {
    let mut later = db.prepare_cached(
        "UPDATE changes SET first_ms = ?3 WHERE project = ?1 AND path = ?2 AND first_ms > ?3",
    )?;
    let mut moved = db.prepare_cached(
        "SELECT DISTINCT moved_to FROM changes \
         WHERE project = ? AND path = ? AND moved_to IS NOT NULL",
    )?;
    let mut created = db.prepare_cached(&format!(
        "UPDATE files SET created_ms = ?3 WHERE project = ?1 AND path = ?2 AND created_ms > ?3 \
         AND {STATES_NO_DATE}"
    ))?;
    let mut paths = vec![path.to_string()];
    while let Some(path) = paths.pop() {
        if later.execute(params![project, path, first_ms])? > 0 {
            created.execute(params![project, path, first_ms])?;
            let rows = moved.query_map(params![project, path], |row| row.get(0))?;
            paths.extend(rows.collect::<rusqlite::Result<Vec<String>>>()?);
        }
    }
    Ok(())
}
