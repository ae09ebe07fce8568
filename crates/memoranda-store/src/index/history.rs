//! The history in the index: commits in order, the effect on each file, and the location of each
//! content in the log.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use memoranda_core::change::{
    Author, AuthorDetails, ChangeChannel, Commit, CommitKind, FactEdit, FileChange, FolderChanges,
};
use memoranda_core::id::{CommitId, ContentHash, ObservationId, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::first_recorded::first_recorded;
use super::write::{project_id, project_id_of};
use crate::error::{Result, StoreError};
use crate::log::chain::{ChainEnd, SeenDevices, milliseconds_of};
use crate::log::{ContentLocation, LogPosition, LoggedRecord, parse_folders, wire_folders};
use crate::snapshot::Snapshot;

/// Longest time in milliseconds between two commits of one first scan, in logs without kinds.
const MAX_FIRST_SCAN_PAUSE_MS: i64 = 10 * 60 * 1000;

/// Position up to which a device's log was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogCursor {
    pub(crate) position: LogPosition,
    pub(crate) logical_ms: i64,
    /// Number of the last record, and its hybrid clock.
    pub(crate) seq: u64,
    pub(crate) clock: u64,
}

/// Returns the position up to which the index has read a device's log.
pub(crate) fn read_to(db: &Connection, device: &str) -> Result<LogCursor> {
    let found = db
        .prepare_cached(
            "SELECT segment, offset, logical_ms, seq, clock FROM positions WHERE device = ?",
        )?
        .query_row([device], |row| {
            let segment = row.get::<_, i64>(0)? as u64;
            let position = LogPosition { segment, offset: row.get::<_, i64>(1)? as u64 };
            let seq = row.get::<_, i64>(3)?.cast_unsigned();
            let clock = row.get::<_, i64>(4)?.cast_unsigned();
            Ok(LogCursor { position, logical_ms: row.get(2)?, seq, clock })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Returns the commit of a device that was read last, and where it lies in the device's log.
pub(crate) fn last_read(db: &Connection, device: &str) -> Result<Option<(CommitId, LogPosition)>> {
    let found = db
        .prepare_cached(
            "SELECT id, segment, offset FROM commits WHERE device = ? ORDER BY rowid DESC LIMIT 1",
        )?
        .query_row([device], |row| {
            let segment = row.get::<_, i64>(1)? as u64;
            let position = LogPosition { segment, offset: row.get::<_, i64>(2)? as u64 };
            Ok((row.get::<_, String>(0)?, position))
        })
        .optional()?;
    Ok(found.and_then(|(id, at)| Some((CommitId::parse(&id)?, at))))
}

/// Stores the position up to which the index has read a device's log.
pub(crate) fn set_read_to(db: &Connection, device: &str, to: LogCursor) -> Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO positions (device, segment, offset, logical_ms, seq, clock) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        device,
        to.position.segment as i64,
        to.position.offset as i64,
        to.logical_ms,
        to.seq.cast_signed(),
        to.clock.cast_signed()
    ])?;
    Ok(())
}

/// Adds a log record to the history and advances the position.
pub(crate) fn add(db: &Connection, device: &str, placed: &LoggedRecord) -> Result<()> {
    let before = read_to(db, device)?;
    let commit = &placed.record.commit;
    let time_ms = commit.time.as_millisecond();
    let end = ChainEnd { seq: before.seq, clock: before.clock, ..ChainEnd::default() };
    let end = end.advanced_by(&placed.record);
    // A machine's clock can be set back, and devices of one machine then go by what they have seen.
    let logical_ms = time_ms.max(before.logical_ms).max(milliseconds_of(end.clock));
    let read = LogCursor { position: placed.end, logical_ms, seq: end.seq, clock: end.clock };
    add_seen(db, device, placed)?;
    if !placed.record.is_commit() {
        return set_read_to(db, device, read);
    }
    let kind = kind_of(db, commit)?;
    let added = db
        .prepare_cached(
            "INSERT OR IGNORE INTO commits (id, logical_ms, time_ms, device, segment, offset, \
             client, tool, channel, account, token, conversation, source, message, kind, target, \
             folders) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            commit.id.as_str(),
            logical_ms,
            time_ms,
            device,
            placed.at.segment as i64,
            placed.at.offset as i64,
            commit.author.client,
            commit.author.tool,
            commit.author.channel.as_str(),
            commit.author.details.account,
            commit.author.details.token,
            commit.author.details.conversation,
            commit.author.details.source,
            commit.message,
            kind.map(CommitKind::as_str),
            kind.and_then(CommitKind::target).map(|id| id.to_string()),
            folders_json(commit)
        ])?;
    if added == 1 {
        add_changes(db, device, placed, db.last_insert_rowid(), logical_ms)?;
    }
    set_read_to(db, device, read)
}

/// Adds what a record had seen of other devices.
fn add_seen(db: &Connection, device: &str, placed: &LoggedRecord) -> Result<()> {
    for (other, seq) in &placed.record.link.seen {
        db.prepare_cached("INSERT OR REPLACE INTO seen (device, other, seq) VALUES (?, ?, ?)")?
            .execute(params![device, other, seq.cast_signed()])?;
    }
    Ok(())
}

/// Returns what a device has seen of other devices' logs since its last record.
pub(crate) fn seen_devices(db: &Connection, device: &str) -> Result<SeenDevices> {
    let mut seen = SeenDevices::default();
    let mut query = db.prepare_cached(
        "SELECT p.device, p.seq, p.clock, s.seq FROM positions p \
         LEFT JOIN seen s ON s.device = ?1 AND s.other = p.device WHERE p.device <> ?1",
    )?;
    let mut rows = query.query([device])?;
    while let Some(row) = rows.next()? {
        let (other, seq): (String, i64) = (row.get(0)?, row.get(1)?);
        seen.clock = seen.clock.max(row.get::<_, i64>(2)?.cast_unsigned());
        if row.get::<_, Option<i64>>(3)?.is_none_or(|known| known < seq) && seq > 0 {
            seen.changed.push((other, seq.cast_unsigned()));
        }
    }
    Ok(seen)
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

/// Returns the kind of a commit. Old logs do not mark the commits of a first scan. These only add
/// files, at the start of a project's history and shortly after each other.
fn kind_of(db: &Connection, commit: &Commit) -> Result<Option<CommitKind>> {
    if commit.kind.is_some() || commit.author.channel != ChangeChannel::Disk {
        return Ok(commit.kind);
    }
    let is_added = |file: &FileChange| file.before.is_none() && file.moved_from.is_none();
    let mut is_first = !commit.files.is_empty() && commit.files.iter().all(is_added);
    let projects: BTreeSet<_> = commit.files.iter().map(|file| &file.project).collect();
    for project in projects {
        is_first = is_first && continues_first_scan(db, project, commit.time)?;
    }
    Ok(Some(if is_first { CommitKind::FirstScan } else { CommitKind::Scan }))
}

/// Returns true if the history of a project is empty, or ends with its first scan shortly before.
fn continues_first_scan(db: &Connection, project: &ProjectName, time: Timestamp) -> Result<bool> {
    let last = db
        .prepare_cached(
            "SELECT k.kind, k.time_ms FROM commits k WHERE EXISTS ( \
               SELECT 1 FROM changes c WHERE c.commit_row = k.row \
               AND c.project = (SELECT id FROM projects WHERE name = ?)) \
             ORDER BY k.row DESC LIMIT 1",
        )?
        .query_row([project.as_str()], |row| {
            Ok((row.get::<_, Option<String>>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()?;
    Ok(last.is_none_or(|(kind, time_ms)| {
        kind.as_deref() == Some(CommitKind::FirstScan.as_str())
            && time.as_millisecond() - time_ms <= MAX_FIRST_SCAN_PAUSE_MS
    }))
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

fn add_changes(
    db: &Connection,
    device: &str,
    placed: &LoggedRecord,
    commit_row: i64,
    logical_ms: i64,
) -> Result<()> {
    let mut change = db.prepare_cached(
        "INSERT INTO changes (commit_row, n, logical_ms, first_ms, project, path, moved_from, \
         moved_to, before, after, permalink, facts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut content = db.prepare_cached(
        "INSERT OR REPLACE INTO contents (hash, device, segment, offset, stored, raw) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    let time_ms = placed.record.commit.time.as_millisecond();
    for (n, file) in placed.record.commit.files.iter().enumerate() {
        let facts: Vec<_> = file.fact_edits.iter().map(|e| (e.id.as_str(), e.version)).collect();
        let project = project_id(db, &file.project)?;
        // Logs of several devices are read in any order, and each order must give the same times.
        let from_first_ms = match &file.moved_from {
            Some(from) => first_recorded(db, project, from, time_ms)?,
            None => time_ms,
        };
        let first_ms = first_recorded(db, project, &file.path, from_first_ms)?;
        change.execute(params![
            commit_row,
            2 * n as i64,
            logical_ms,
            first_ms,
            project,
            file.path.as_str(),
            file.moved_from.as_ref().map(NotePath::as_str),
            None::<&str>,
            file.before.map(|hash| hash.0),
            file.after.map(|hash| hash.0),
            placed.record.notes.get(n).and_then(|note| note.permalink.as_deref()),
            (!facts.is_empty()).then(|| serde_json::to_string(&facts).unwrap_or_default()),
        ])?;
        if let Some(from) = &file.moved_from {
            let (none, nothing) = (None::<&str>, None::<[u8; 32]>);
            let (from, to) = (from.as_str(), file.path.as_str());
            change.execute(params![
                commit_row,
                2 * n as i64 + 1,
                logical_ms,
                from_first_ms,
                project,
                from,
                none,
                to,
                nothing,
                nothing,
                none,
                none
            ])?;
        }
        if let (Some(hash), Some(at)) = (file.after, placed.content_at(device, n)) {
            content.execute(params![
                hash.0,
                at.device,
                at.segment as i64,
                at.offset as i64,
                at.stored as i64,
                at.raw as i64
            ])?;
        }
    }
    Ok(())
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

/// The latest change of a file in the history.
#[derive(Clone, Debug)]
pub(crate) struct HistoryHead {
    pub(crate) after: Option<ContentHash>,
    pub(crate) permalink: Option<String>,
    /// When the file was first recorded, under any of its names.
    pub(crate) first_ms: i64,
    /// When the file was last changed.
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

impl Snapshot<'_> {
    /// Returns deleted files of a project that can be restored, the last deleted first, optionally of
    /// one name.
    pub fn deleted(
        &self,
        project: &ProjectName,
        name: Option<&str>,
    ) -> Result<Vec<(NotePath, Timestamp)>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT path, logical_ms FROM ( \
                   SELECT path, after, moved_to, logical_ms, row_number() OVER ( \
                     PARTITION BY path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
                   FROM changes WHERE project = (SELECT id FROM projects WHERE name = ?1) \
                     AND (?2 IS NULL OR path = ?2 OR substr(path, -length(?2) - 1) = '/' || ?2)) d \
                 WHERE age = 1 AND after IS NULL AND moved_to IS NULL AND EXISTS ( \
                   SELECT 1 FROM changes c JOIN contents s ON s.hash = c.before \
                   WHERE c.project = (SELECT id FROM projects WHERE name = ?1) AND c.path = d.path) \
                 ORDER BY logical_ms DESC, path",
            )?;
            let rows = query.query_map(params![project.as_str(), name], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
            })?;
            let mut deleted = Vec::new();
            for row in rows {
                let (path, ms) = row?;
                let time = Timestamp::from_millisecond(ms).unwrap_or_default();
                deleted.extend(NotePath::parse(&path).ok().map(|path| (path, time)));
            }
            Ok(deleted)
        })
    }
}

/// A deleted file in the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeletedFile {
    /// Its last path.
    pub path: NotePath,
    /// Its last version.
    pub hash: ContentHash,
    /// Its last permalink.
    pub permalink: Option<String>,
}

impl Snapshot<'_> {
    /// Returns the deleted files of a project, the last deleted first. A moved file is not deleted.
    pub fn gone(&self, project: &ProjectName, limit: usize) -> Result<Vec<DeletedFile>> {
        self.query(|db| {
            let project = project_id_of(db, project)?;
            let mut query = db.prepare_cached(
                "SELECT path, before, ( \
                   SELECT permalink FROM changes last WHERE last.project = ?1 AND last.path = newest.path \
                   AND last.after IS NOT NULL ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1) \
                 FROM ( \
                   SELECT path, before, after, moved_to, logical_ms, row_number() OVER ( \
                     PARTITION BY path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
                   FROM changes WHERE project = ?1) newest \
                 WHERE age = 1 AND after IS NULL AND moved_to IS NULL AND before IS NOT NULL \
                 ORDER BY logical_ms DESC LIMIT ?2",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query.query_map(params![project, limit], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, [u8; 32]>(1)?, row.get(2)?))
            })?;
            let mut found = Vec::new();
            for row in rows {
                let (path, hash, permalink) = row?;
                let Ok(path) = NotePath::parse(&path) else { continue };
                found.push(DeletedFile { path, hash: ContentHash(hash), permalink });
            }
            Ok(found)
        })
    }
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

/// Restricts a list of commits.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    /// Only commits that affect this project.
    pub project: Option<ProjectName>,
    /// Only commits that affect this file, or a file below this folder.
    pub path: Option<NotePath>,
    /// Nothing before this time.
    pub since: Option<Timestamp>,
    /// Nothing after this time.
    pub until: Option<Timestamp>,
    /// Only commits before this one.
    pub before: Option<CommitId>,
    /// Only commits of this client, in any version: `claude-code` or `claude-code 2.1`.
    pub client: Option<String>,
    /// Only commits of this conversation.
    pub conversation: Option<String>,
}

impl Snapshot<'_> {
    /// Returns the newest commits that match, newest first.
    pub fn history(
        &self,
        filter: &HistoryFilter,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<Commit>> {
        self.query(|db| {
            // With a file or project, SQLite starts from its changes, otherwise from the newest commit.
            let sql = if filter.path.is_some() {
                "SELECT k.row FROM ( \
                   SELECT commit_row FROM changes WHERE path = ?5 \
                     AND project IN (SELECT id FROM projects WHERE ?4 IS NULL OR name = ?4) \
                   UNION SELECT commit_row FROM changes WHERE path > ?5 || '/' AND path < ?5 || '0' \
                     AND project IN (SELECT id FROM projects WHERE ?4 IS NULL OR name = ?4)) c \
                 CROSS JOIN commits k ON k.row = c.commit_row \
                 WHERE (?1 IS NULL OR k.logical_ms >= ?1) AND (?2 IS NULL OR k.logical_ms <= ?2) \
                   AND (?3 IS NULL OR k.client = ?3 OR substr(k.client, 1, length(?3) + 1) = ?3 || ' ') \
                   AND (?9 IS NULL OR k.conversation = ?9) \
                   AND (?8 IS NULL OR (k.logical_ms, k.device, k.segment, k.offset) < ( \
                     SELECT logical_ms, device, segment, offset FROM commits WHERE id = ?8)) \
                 ORDER BY k.logical_ms DESC, k.device DESC, k.segment DESC, k.offset DESC LIMIT ?6 OFFSET ?7"
            } else {
                "SELECT k.row FROM commits k \
                 WHERE (?1 IS NULL OR k.logical_ms >= ?1) AND (?2 IS NULL OR k.logical_ms <= ?2) \
                   AND (?3 IS NULL OR k.client = ?3 OR substr(k.client, 1, length(?3) + 1) = ?3 || ' ') AND ?5 IS NULL \
                   AND (?9 IS NULL OR k.conversation = ?9) \
                   AND (?4 IS NULL OR EXISTS (SELECT 1 FROM changes c JOIN projects p ON p.id = c.project \
                                              WHERE c.commit_row = k.row AND p.name = ?4)) \
                   AND (?8 IS NULL OR (k.logical_ms, k.device, k.segment, k.offset) < ( \
                     SELECT logical_ms, device, segment, offset FROM commits WHERE id = ?8)) \
                 ORDER BY k.logical_ms DESC, k.device DESC, k.segment DESC, k.offset DESC LIMIT ?6 OFFSET ?7"
            };
            let mut query = db.prepare_cached(sql)?;
            let rows = query.query_map(
                params![
                    filter.since.map(Timestamp::as_millisecond),
                    filter.until.map(Timestamp::as_millisecond),
                    filter.client,
                    filter.project.as_ref().map(ProjectName::as_str),
                    filter.path.as_ref().map(NotePath::as_str),
                    limit as i64,
                    offset as i64,
                    filter.before.as_ref().map(CommitId::as_str),
                    filter.conversation
                ],
                |row| row.get::<_, i64>(0),
            )?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            rows.into_iter().map(|row| commit(db, row)).collect()
        })
    }
}

/// Finds a commit by its id or a prefix of it.
fn find(db: &Connection, given: &str) -> Result<Commit> {
    let wanted = given.trim().to_lowercase();
    if wanted.len() < 4 || !wanted.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(StoreError::NoCommit(given.to_owned()));
    }
    let mut query = db
        .prepare_cached("SELECT row, id FROM commits WHERE id >= ?1 AND id < ?1 || 'zz' LIMIT 5")?;
    let found = query
        .query_map([&wanted], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    match found.as_slice() {
        [] => Err(StoreError::NoCommit(given.to_owned())),
        [(row, _)] => commit(db, *row),
        several => Err(StoreError::AmbiguousCommit {
            given: given.to_owned(),
            candidates: several.iter().filter_map(|(_, id)| CommitId::parse(id)).collect(),
        }),
    }
}

/// Returns the time of the last commit.
pub(crate) fn end(db: &Connection) -> Result<Timestamp> {
    let last: Option<i64> =
        db.query_row("SELECT max(logical_ms) FROM commits", [], |row| row.get(0))?;
    Ok(last.and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default())
}

impl Snapshot<'_> {
    /// Returns a commit by its id or a prefix of it.
    pub fn find_commit(&self, given: &str) -> Result<Commit> {
        self.query(|db| find(db, given))
    }

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

    /// Returns the time of a project's first commit.
    pub fn history_begin(&self, project: &ProjectName) -> Result<Option<Timestamp>> {
        self.query(|db| {
            let first: Option<i64> = db
                .prepare_cached(
                    "SELECT min(logical_ms) FROM changes \
                     WHERE project = (SELECT id FROM projects WHERE name = ?)",
                )?
                .query_row([project.as_str()], |row| row.get(0))?;
            Ok(first.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
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

/// A point in the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointInTime {
    /// After all commits until this time.
    Time(Timestamp),
    /// Right after this commit.
    Commit(CommitId),
}

/// Serialises the folders that a commit created or emptied; `None` for most commits.
fn folders_json(commit: &Commit) -> Option<String> {
    let folders = commit.folders.as_ref()?;
    let wire = (wire_folders(Some(&folders.created)), wire_folders(Some(&folders.removed)));
    serde_json::to_string(&wire).ok()
}

fn folders_of(json: &str) -> Option<Box<FolderChanges>> {
    let (made, emptied): (Vec<_>, Vec<_>) = serde_json::from_str(json).ok()?;
    parse_folders(&made, &emptied)
}

fn commit(db: &Connection, row: i64) -> Result<Commit> {
    let mut commit = commit_head(db, row)?;
    let mut changes = db.prepare_cached(
        "SELECT p.name, c.path, c.moved_from, c.before, c.after, c.facts FROM changes c \
         JOIN projects p ON p.id = c.project WHERE c.commit_row = ? AND c.moved_to IS NULL ORDER BY c.n",
    )?;
    let rows = changes.query_map([row], |row| {
        let facts: Option<String> = row.get(5)?;
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, Option<String>>(2)?,
            row.get::<_, Option<[u8; 32]>>(3)?,
            row.get::<_, Option<[u8; 32]>>(4)?,
            facts,
        ))
    })?;
    for row in rows {
        let (project, path, from, before, after, facts) = row?;
        let (Ok(project), Ok(path)) = (ProjectName::parse(&project), NotePath::parse(&path)) else {
            continue;
        };
        commit.files.push(FileChange {
            project,
            path,
            moved_from: from.and_then(|from| NotePath::parse(&from).ok()),
            before: before.map(ContentHash),
            after: after.map(ContentHash),
            fact_edits: facts.map(|facts| fact_edits(&facts)).unwrap_or_default(),
        });
    }
    Ok(commit)
}

/// Loads a commit without its files.
pub(super) fn commit_head(db: &Connection, row: i64) -> Result<Commit> {
    let mut head = db.prepare_cached(
        "SELECT id, time_ms, client, tool, channel, message, kind, target, folders, account, token, \
         conversation, source FROM commits WHERE row = ?",
    )?;
    Ok(head.query_row([row], |row| {
        let (kind, target): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
        let folders: Option<String> = row.get(8)?;
        Ok(Commit {
            id: CommitId::parse(&row.get::<_, String>(0)?).unwrap_or(CommitId::from_random(0)),
            time: Timestamp::from_millisecond(row.get(1)?).unwrap_or_default(),
            author: Author {
                client: row.get(2)?,
                tool: row.get(3)?,
                channel: ChangeChannel::parse(&row.get::<_, String>(4)?)
                    .unwrap_or(ChangeChannel::Disk),
                details: Box::new(AuthorDetails {
                    account: row.get(9)?,
                    token: row.get(10)?,
                    conversation: row.get(11)?,
                    source: row.get(12)?,
                    unknown: Vec::new(),
                }),
            },
            message: row.get(5)?,
            kind: kind.and_then(|kind| CommitKind::parse(&kind, target.as_deref())),
            files: Vec::new(),
            folders: folders.and_then(|folders| folders_of(&folders)),
        })
    })?)
}

fn fact_edits(json: &str) -> Vec<FactEdit> {
    let edits: Vec<(String, u32)> = serde_json::from_str(json).unwrap_or_default();
    let edits = edits
        .into_iter()
        .filter_map(|(id, version)| Some(FactEdit { id: ObservationId::parse(&id)?, version }));
    edits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::LogRecord;

    /// The time in seconds, the channel, and the files, each with true if it replaces a text.
    type TestCommit<'a> = (i64, ChangeChannel, &'a [(&'a str, bool)]);

    /// Adds commits without a kind, as old versions wrote them, and returns the kinds that the index
    /// gives them.
    fn kinds(commits: &[TestCommit<'_>]) -> Vec<Option<CommitKind>> {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("schema.sql")).unwrap();
        let mut kinds = Vec::new();
        for (n, (seconds, channel, files)) in commits.iter().enumerate() {
            let file = |(path, is_replaced): &(&str, bool)| FileChange {
                project: ProjectName::parse("main").unwrap(),
                path: NotePath::parse(path).unwrap(),
                moved_from: None,
                before: is_replaced.then_some(ContentHash([1; 32])),
                after: Some(ContentHash([2; 32])),
                fact_edits: Vec::new(),
            };
            let commit = Commit {
                id: CommitId::from_random(n as u64 + 1),
                time: Timestamp::from_second(*seconds).unwrap(),
                author: Author::new("x", "x", *channel),
                message: None,
                kind: None,
                files: files.iter().map(file).collect(),
                folders: None,
            };
            let position = |offset| LogPosition { segment: 1, offset };
            let placed = LoggedRecord {
                record: LogRecord::new(commit.clone(), Vec::new()),
                at: position(n as u64),
                end: position(n as u64 + 1),
                body_at: 0,
            };
            add(&db, "device", &placed).unwrap();
            kinds.push(find(&db, commit.id.as_str()).unwrap().kind);
        }
        kinds
    }

    #[test]
    fn the_first_scan_is_known_in_a_log_without_kinds() {
        let (first, scan) = (Some(CommitKind::FirstScan), Some(CommitKind::Scan));
        let disk = ChangeChannel::Disk;
        let found = kinds(&[
            (0, disk, &[("a.md", false), ("b.md", false)]),
            (60, disk, &[("c.md", false)]),
            (3600, disk, &[("much-later.md", false)]),
            (3601, disk, &[("right-after.md", false)]),
        ]);
        assert_eq!(found, [first, first, scan, scan]);
        let found = kinds(&[
            (0, disk, &[("a.md", false)]),
            (1, disk, &[("b.md", false), ("a.md", true)]),
            (2, disk, &[("c.md", false)]),
        ]);
        assert_eq!(found, [first, scan, scan]);
        let found =
            kinds(&[(0, ChangeChannel::Mcp, &[("a.md", false)]), (1, disk, &[("b.md", false)])]);
        assert_eq!(found, [None, scan]);
    }
}
