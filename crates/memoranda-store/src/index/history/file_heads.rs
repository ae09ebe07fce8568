//! The latest change of each file, and the location of contents in the log.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_core::change::{ChangeChannel, CommitKind};
use memoranda_core::id::{CommitId, ContentHash, ObservationId, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::commits::fact_edits;
use crate::error::Result;
use crate::log::{ContentLocation, LogPosition};

/// The latest change of a file in the history.
#[derive(Clone, Debug)]
pub(crate) struct HistoryHead {
    pub(crate) after: Option<ContentHash>,
    pub(crate) permalink: Option<String>,
    /// Time of the first record of the file, under any of its names, or the file's own time then if
    /// that is earlier.
    pub(crate) first_ms: i64,
    /// Time of the last change.
    pub(crate) last_ms: i64,
}

/// Returns the latest change of a file; `None` if the history does not contain the file.
pub(crate) fn head(db: &Connection, project: i64, path: &NotePath) -> Result<Option<HistoryHead>> {
    let found = db
        .prepare_cached(
            "SELECT after, permalink, first_ms, logical_ms FROM changes \
             WHERE project = ? AND path = ? ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
        )?
        .query_row(params![project, path.as_str()], |row| {
            Ok(HistoryHead {
                after: row.get::<_, Option<[u8; 32]>>(0)?.map(ContentHash),
                permalink: row.get(1)?,
                first_ms: row.get(2)?,
                last_ms: row.get(3)?,
            })
        })
        .optional()?;
    Ok(found)
}

/// Returns the last version of a path and the channel that it came by; `None` if the history does not
/// contain the path.
pub(crate) fn last_version(
    db: &Connection,
    project: i64,
    path: &NotePath,
) -> Result<Option<(Option<ContentHash>, ChangeChannel)>> {
    let found = db
        .prepare_cached(
            "SELECT c.after, k.channel FROM changes c JOIN commits k ON k.row = c.commit_row \
             WHERE c.project = ? AND c.path = ? \
             ORDER BY c.logical_ms DESC, c.commit_row DESC, c.n DESC LIMIT 1",
        )?
        .query_row(params![project, path.as_str()], |row| {
            Ok((row.get::<_, Option<[u8; 32]>>(0)?.map(ContentHash), row.get::<_, String>(1)?))
        })
        .optional()?;
    Ok(found.and_then(|(after, channel)| Some((after, ChangeChannel::parse(&channel)?))))
}

/// A version that a commit wrote, and the place of the commit in the log of its device.
pub(crate) struct CommittedVersion {
    pub(crate) hash: ContentHash,
    pub(crate) device: String,
    pub(crate) at: LogPosition,
}

/// Returns the version that a commit wrote to its n-th file; `None` if the log has no such commit, or
/// the file was removed.
pub(crate) fn version_in(
    db: &Connection,
    commit: CommitId,
    n: usize,
) -> Result<Option<CommittedVersion>> {
    let found = db
        .prepare_cached(
            "SELECT c.after, k.device, k.segment, k.offset FROM commits k \
             JOIN changes c ON c.commit_row = k.row \
             WHERE k.id = ? AND c.n = ? AND c.after IS NOT NULL",
        )?
        .query_row(params![commit.to_string(), 2 * n as i64], |row| {
            let at = LogPosition {
                segment: row.get::<_, i64>(2)? as u64,
                offset: row.get::<_, i64>(3)? as u64,
            };
            Ok(CommittedVersion { hash: ContentHash(row.get(0)?), device: row.get(1)?, at })
        })
        .optional()?;
    Ok(found)
}

/// A move by a commit of ours, and the place of the commit in the log of its device.
pub(crate) struct CommittedMove {
    pub(crate) from: NotePath,
    pub(crate) time_ms: i64,
    pub(crate) device: String,
    pub(crate) at: LogPosition,
}

/// Returns the move that brought a file to a path; `None` if its last change is another one, or was found
/// on disk.
pub(crate) fn last_move(
    db: &Connection,
    project: &ProjectName,
    path: &NotePath,
) -> Result<Option<CommittedMove>> {
    let found = db
        .prepare_cached(
            "SELECT c.moved_from, k.time_ms, k.device, k.segment, k.offset, k.channel \
             FROM changes c JOIN commits k ON k.row = c.commit_row \
             WHERE c.project = (SELECT id FROM projects WHERE name = ?) AND c.path = ? \
             ORDER BY c.logical_ms DESC, c.commit_row DESC, c.n DESC LIMIT 1",
        )?
        .query_row(params![project.as_str(), path.as_str()], |row| {
            let at = LogPosition {
                segment: row.get::<_, i64>(3)? as u64,
                offset: row.get::<_, i64>(4)? as u64,
            };
            let place = (row.get(1)?, row.get(2)?, at);
            Ok((row.get::<_, Option<String>>(0)?, place, row.get::<_, String>(5)?))
        })
        .optional()?;
    let Some((Some(from), (time_ms, device, at), channel)) = found else { return Ok(None) };
    let is_ours = ChangeChannel::parse(&channel).is_some_and(|by| by != ChangeChannel::Disk);
    let from = NotePath::parse(&from).ok().filter(|_| is_ours);
    Ok(from.map(|from| CommittedMove { from, time_ms, device, at }))
}

/// Returns the commit that changed a path last; `None` if the history does not contain the path.
pub(crate) fn last_commit(
    db: &Connection,
    project: &ProjectName,
    path: &NotePath,
) -> Result<Option<CommitId>> {
    let found: Option<String> = db
        .prepare_cached(
            "SELECT k.id FROM changes c JOIN commits k ON k.row = c.commit_row \
             WHERE c.project = (SELECT id FROM projects WHERE name = ?) AND c.path = ? \
             ORDER BY c.logical_ms DESC, c.commit_row DESC, c.n DESC LIMIT 1",
        )?
        .query_row(params![project.as_str(), path.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.and_then(|id| CommitId::parse(&id)))
}

/// Returns true if a scan has found edits in a project since a time.
pub(crate) fn has_later_scans(
    db: &Connection,
    project: i64,
    since: Option<Timestamp>,
) -> Result<bool> {
    let since_ms = since.map_or(i64::MIN, Timestamp::as_millisecond);
    Ok(db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM changes c JOIN commits k ON k.row = c.commit_row \
             WHERE c.project = ? AND c.logical_ms > ? AND k.kind = ?)",
        )?
        .query_row(params![project, since_ms, CommitKind::Scan.as_str()], |row| row.get(0))?)
}

/// Returns true if a deleted file and another file both existed until the deletion.
pub(crate) fn were_together(
    db: &Connection,
    project: i64,
    gone: &NotePath,
    other: &NotePath,
) -> Result<bool> {
    let together: Option<bool> = db
        .prepare_cached(
            "SELECT other.after IS NOT NULL FROM ( \
               SELECT after, logical_ms, commit_row FROM changes WHERE project = ?1 AND path = ?2 \
               ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1) went \
             JOIN changes other ON other.project = ?1 AND other.path = ?3 \
               AND (other.logical_ms, other.commit_row) < (went.logical_ms, went.commit_row) \
             WHERE went.after IS NULL \
             ORDER BY other.logical_ms DESC, other.commit_row DESC, other.n DESC LIMIT 1",
        )?
        .query_row(params![project, gone.as_str(), other.as_str()], |row| row.get(0))
        .optional()?;
    Ok(together.unwrap_or(false))
}

/// Returns true if the latest change of a file was written by a tool, not found on disk.
pub(crate) fn is_written(db: &Connection, project: i64, path: &NotePath) -> Result<bool> {
    let found: Option<bool> = db
        .prepare_cached(
            "SELECT h.after IS NOT NULL AND c.channel <> ?3 FROM changes h \
             JOIN commits c ON c.row = h.commit_row WHERE h.project = ?1 AND h.path = ?2 \
             ORDER BY h.logical_ms DESC, h.commit_row DESC, h.n DESC LIMIT 1",
        )?
        .query_row(params![project, path.as_str(), ChangeChannel::Disk.as_str()], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(false))
}

/// Returns every file that exists according to the history, for the rebuild of an index. With a
/// time, changes before it are ignored, because the project was another folder.
pub(crate) fn living(
    db: &Connection,
    project: i64,
    after: Option<Timestamp>,
) -> Result<Vec<(String, ContentHash, Option<String>)>> {
    let mut query = db.prepare(
        "SELECT path, after, permalink FROM ( \
           SELECT path, after, permalink, row_number() OVER ( \
             PARTITION BY path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
           FROM changes WHERE project = ?1 AND logical_ms > ?2) \
         WHERE age = 1 AND after IS NOT NULL ORDER BY path",
    )?;
    let after_ms = after.map_or(i64::MIN, Timestamp::as_millisecond);
    let rows = query.query_map([project, after_ms], |row| {
        Ok((row.get(0)?, ContentHash(row.get::<_, [u8; 32]>(1)?), row.get(2)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns true if a device has recorded a change of a project.
pub(crate) fn is_told_by(db: &Connection, name: &ProjectName, device: &str) -> Result<bool> {
    Ok(db.query_row(
        "SELECT EXISTS (SELECT 1 FROM changes c JOIN commits k ON k.row = c.commit_row \
         WHERE c.project = (SELECT id FROM projects WHERE name = ?) AND k.device = ?)",
        [name.as_str(), device],
        |row| row.get(0),
    )?)
}

/// Returns the versions that facts of a file reached by external rewording, under any of its names,
/// optionally until a time.
pub(crate) fn reworded(
    db: &Connection,
    project: i64,
    path: &NotePath,
    until: Option<Timestamp>,
) -> Result<HashMap<ObservationId, u32>> {
    let until_ms = until.map_or(i64::MAX, Timestamp::as_millisecond);
    // One query per name: the cost of a recursive query grows with the history.
    let mut query = db.prepare_cached(
        "SELECT moved_from, facts FROM changes INDEXED BY changes_by_path \
         WHERE project = ? AND path = ? AND logical_ms <= ? \
         AND (moved_from IS NOT NULL OR facts IS NOT NULL)",
    )?;
    let mut versions = HashMap::new();
    let mut names = vec![path.to_string()];
    let mut next = 0;
    while let Some(name) = names.get(next).cloned() {
        next += 1;
        let mut rows = query.query(params![project, name, until_ms])?;
        while let Some(row) = rows.next()? {
            let (from, facts): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
            names.extend(from.filter(|from| !names.contains(from)));
            for edit in fact_edits(facts.as_deref().unwrap_or("[]")) {
                let version = versions.entry(edit.id).or_insert(0);
                *version = edit.version.max(*version);
            }
        }
    }
    Ok(versions)
}

/// Returns the location of a content in the log.
pub(crate) fn content_at(db: &Connection, hash: ContentHash) -> Result<Option<ContentLocation>> {
    let found = db
        .prepare_cached("SELECT device, segment, offset, stored, raw FROM contents WHERE hash = ?")?
        .query_row([hash.0], |row| {
            Ok(ContentLocation {
                device: row.get(0)?,
                segment: row.get::<_, i64>(1)? as u64,
                offset: row.get::<_, i64>(2)? as u64,
                stored: row.get::<_, i64>(3)? as u64,
                raw: row.get::<_, i64>(4)? as u64,
            })
        })
        .optional()?;
    Ok(found)
}
