//! Adds log records to the history: the commit, its changes of files, and the location of each content.

use std::collections::BTreeSet;

use jiff::Timestamp;
use memoranda_core::change::{ChangeChannel, Commit, CommitKind, FileChange};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::log_cursor::{LogCursor, add_seen, read_to, set_read_to};
use crate::error::Result;
use crate::index::first_recorded::first_recorded;
use crate::index::write::project_id;
use crate::log::chain::{ChainEnd, milliseconds_of};
use crate::log::{LoggedRecord, wire_folders};

/// Longest time in milliseconds between two commits of one first scan, in logs without kinds.
const MAX_FIRST_SCAN_PAUSE_MS: i64 = 10 * 60 * 1000;

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
    let commit_ms = placed.record.commit.time.as_millisecond();
    for (n, file) in placed.record.commit.files.iter().enumerate() {
        let note = placed.record.notes.get(n);
        let time_ms = commit_ms.min(note.and_then(|note| note.found_time_ms).unwrap_or(commit_ms));
        let facts: Vec<_> = file.fact_edits.iter().map(|e| (e.id.as_str(), e.version)).collect();
        let project = project_id(db, &file.project)?;
        // Logs of several devices are read in any order, and each order must give the same times.
        let from_first_ms = match &file.moved_from {
            Some(from) => {
                let order = (logical_ms, commit_row, 2 * n as i64 + 1);
                first_recorded(db, project, from, order, time_ms)?
            }
            None => time_ms,
        };
        let order = (logical_ms, commit_row, 2 * n as i64);
        let first_ms = first_recorded(db, project, &file.path, order, from_first_ms)?;
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
            note.and_then(|note| note.permalink.as_deref()),
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

/// Serialises the folders that a commit created or emptied; `None` for most commits.
fn folders_json(commit: &Commit) -> Option<String> {
    let folders = commit.folders.as_ref()?;
    let wire = (wire_folders(Some(&folders.created)), wire_folders(Some(&folders.removed)));
    serde_json::to_string(&wire).ok()
}

#[cfg(test)]
mod tests {
    use memoranda_core::change::Author;
    use memoranda_core::id::{CommitId, ContentHash};

    use super::super::commits::find;
    use super::*;
    use crate::log::LogPosition;
    use crate::log::LogRecord;

    /// The time in seconds, the channel, and the files, each with true if it replaces a text.
    type TestCommit<'a> = (i64, ChangeChannel, &'a [(&'a str, bool)]);

    /// Adds commits without a kind, as old versions wrote them, and returns the kinds that the index
    /// gives them.
    fn kinds(commits: &[TestCommit<'_>]) -> Vec<Option<CommitKind>> {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(include_str!("../schema.sql")).unwrap();
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
