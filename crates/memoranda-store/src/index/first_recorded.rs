//! The time since which a file is recorded, which follows it through moves.

use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

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

/// Place of a change in the order of the history: time, row of the commit, number in it.
pub(super) type ChangeOrder = (i64, i64, i64);

/// Returns the time since which a file is recorded under a name at a change, given the time of that
/// change. If that is earlier than what later changes say, it becomes theirs.
pub(super) fn first_recorded(
    db: &Connection,
    project: i64,
    path: &NotePath,
    order: ChangeOrder,
    time_ms: i64,
) -> Result<i64> {
    let (logical_ms, commit_row, n) = order;
    let before: Option<i64> = db
        .prepare_cached(
            "SELECT first_ms FROM changes WHERE project = ? AND path = ? \
             AND (logical_ms, commit_row, n) < (?, ?, ?) \
             ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
        )?
        .query_row(params![project, path.as_str(), logical_ms, commit_row, n], |row| row.get(0))
        .optional()?;
    let first_ms = before.map_or(time_ms, |before| before.min(time_ms));
    known_since(db, project, path, order, first_ms)?;
    Ok(first_ms)
}

/// Updates the first-recorded time in later records of a file, including those under its later
/// names. These were read earlier, because another device wrote them. A note that states its own date
/// keeps it. Nothing changes for the files that had the name before.
fn known_since(
    db: &Connection,
    project: i64,
    path: &NotePath,
    order: ChangeOrder,
    first_ms: i64,
) -> Result<()> {
    let mut is_later = db.prepare_cached(
        "SELECT 1 FROM changes WHERE project = ?1 AND path = ?2 AND first_ms > ?3 \
         AND (logical_ms, commit_row, n) > (?4, ?5, ?6) LIMIT 1",
    )?;
    let mut later = db.prepare_cached(
        "UPDATE changes SET first_ms = ?3 WHERE project = ?1 AND path = ?2 AND first_ms > ?3 \
         AND (logical_ms, commit_row, n) > (?4, ?5, ?6)",
    )?;
    let mut moved = db.prepare_cached(
        "SELECT moved_to, logical_ms, commit_row, n FROM changes \
         WHERE project = ? AND path = ? AND moved_to IS NOT NULL \
         AND (logical_ms, commit_row, n) > (?, ?, ?)",
    )?;
    let mut created = db.prepare_cached(&format!(
        "UPDATE files SET created_ms = ?3 WHERE project = ?1 AND path = ?2 AND created_ms > ?3 \
         AND {STATES_NO_DATE}"
    ))?;
    let mut places = vec![(path.to_string(), order)];
    while let Some((path, (logical_ms, commit_row, n))) = places.pop() {
        // Usually nothing is later. An update of no rows would let FTS5 write what it has gathered.
        if is_later.exists(params![project, path, first_ms, logical_ms, commit_row, n])? {
            later.execute(params![project, path, first_ms, logical_ms, commit_row, n])?;
            created.execute(params![project, path, first_ms])?;
            let rows =
                moved.query_map(params![project, path, logical_ms, commit_row, n], |row| {
                    // The record under the new name has the number before.
                    let before = row.get::<_, i64>(3)? - 2;
                    Ok((row.get::<_, String>(0)?, (row.get(1)?, row.get(2)?, before)))
                })?;
            places.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
    }
    Ok(())
}
