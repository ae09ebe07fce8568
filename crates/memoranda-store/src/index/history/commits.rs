//! Commits of the history: lists, search by id, and their loading.

use jiff::Timestamp;
use memoranda_core::change::{
    Author, AuthorDetails, ChangeChannel, Commit, CommitKind, FactEdit, FileChange, FolderChanges,
};
use memoranda_core::id::{CommitId, ContentHash, ObservationId, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, params};

use crate::commit::unindexed::UnindexedFile;
use crate::error::{Result, StoreError};
use crate::log::parse_folders;
use crate::snapshot::Snapshot;

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
    /// Only commits of this client, in any version (`claude-code` or `claude-code 2.1`), or of this
    /// person: those for which [`Author::is_called`] is true.
    pub client: Option<String>,
    /// Only commits of this conversation.
    pub conversation: Option<String>,
}

impl HistoryFilter {
    /// Returns true if the list may be another one after a pending commit.
    fn is_changed_by(&self, pending: &UnindexedFile) -> bool {
        let is_here = |path: &NotePath| pending.is_at_or_below(path);
        self.path.as_ref().is_none_or(is_here) || self.before == Some(pending.commit)
    }
}

impl Snapshot<'_> {
    /// Returns the newest commits that match, newest first.
    pub fn history(
        &self,
        filter: &HistoryFilter,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<Commit>> {
        let concerns = |pending: &UnindexedFile| filter.is_changed_by(pending);
        self.query_about(concerns, |db| {
            let rows = matching_rows(db, filter, limit, offset)?;
            rows.into_iter().map(|row| commit(db, row)).collect()
        })
    }

    /// Returns the newest commits that match, newest first, without their files: a scan has thousands.
    pub fn history_heads(
        &self,
        filter: &HistoryFilter,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<Commit>> {
        let concerns = |pending: &UnindexedFile| filter.is_changed_by(pending);
        self.query_about(concerns, |db| {
            let rows = matching_rows(db, filter, limit, offset)?;
            rows.into_iter().map(|row| commit_head(db, row)).collect()
        })
    }
}

/// Returns the rows of the newest commits that match, newest first.
fn matching_rows(
    db: &Connection,
    filter: &HistoryFilter,
    limit: usize,
    offset: usize,
) -> Result<Vec<i64>> {
    // With a file or project, SQLite starts from its changes, otherwise from the newest commit.
    let sql = if filter.path.is_some() {
        "SELECT k.row FROM ( \
                   SELECT commit_row FROM changes WHERE path = ?5 \
                     AND project IN (SELECT id FROM projects WHERE ?4 IS NULL OR name = ?4) \
                   UNION SELECT commit_row FROM changes WHERE path > ?5 || '/' AND path < ?5 || '0' \
                     AND project IN (SELECT id FROM projects WHERE ?4 IS NULL OR name = ?4)) c \
                 CROSS JOIN commits k ON k.row = c.commit_row \
                 WHERE (?1 IS NULL OR k.logical_ms >= ?1) AND (?2 IS NULL OR k.logical_ms <= ?2) \
                   AND (?3 IS NULL OR k.client = ?3 OR substr(k.client, 1, length(?3) + 1) = ?3 || ' ' \
                     OR lower(k.client) = lower(replace(?3, '-', ' ')) OR k.account = ?3) \
                   AND (?9 IS NULL OR k.conversation = ?9) \
                   AND (?8 IS NULL OR (k.logical_ms, k.device, k.segment, k.offset) < ( \
                     SELECT logical_ms, device, segment, offset FROM commits WHERE id = ?8)) \
                 ORDER BY k.logical_ms DESC, k.device DESC, k.segment DESC, k.offset DESC LIMIT ?6 OFFSET ?7"
    } else {
        "SELECT k.row FROM commits k \
                 WHERE (?1 IS NULL OR k.logical_ms >= ?1) AND (?2 IS NULL OR k.logical_ms <= ?2) \
                   AND (?3 IS NULL OR k.client = ?3 OR substr(k.client, 1, length(?3) + 1) = ?3 || ' ' \
                     OR lower(k.client) = lower(replace(?3, '-', ' ')) OR k.account = ?3) AND ?5 IS NULL \
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
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
}

impl Snapshot<'_> {
    /// Returns a commit by its id or a prefix of it.
    pub fn find_commit(&self, given: &str) -> Result<Commit> {
        self.query(|db| find(db, given))
    }

    /// Returns the first files of a commit, and the number of all of them.
    pub fn first_files(&self, commit: CommitId, limit: usize) -> Result<(Vec<FileChange>, usize)> {
        self.query(|db| {
            let mut select = db.prepare_cached("SELECT row FROM commits WHERE id = ?")?;
            let row = select.query_row([commit.as_str()], |row| row.get(0))?;
            let mut count = db.prepare_cached(
                "SELECT count(*) FROM changes WHERE commit_row = ? AND moved_to IS NULL",
            )?;
            let count: i64 = count.query_row([row], |row| row.get(0))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            Ok((files_of(db, row, limit)?, usize::try_from(count).unwrap_or(0)))
        })
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

/// Finds a commit by its id or a prefix of it.
pub(super) fn find(db: &Connection, given: &str) -> Result<Commit> {
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

fn folders_of(json: &str) -> Option<Box<FolderChanges>> {
    let (made, emptied): (Vec<_>, Vec<_>) = serde_json::from_str(json).ok()?;
    parse_folders(&made, &emptied)
}

fn commit(db: &Connection, row: i64) -> Result<Commit> {
    let mut commit = commit_head(db, row)?;
    commit.files = files_of(db, row, i64::MAX)?;
    Ok(commit)
}

/// Loads the first files of a commit.
fn files_of(db: &Connection, row: i64, limit: i64) -> Result<Vec<FileChange>> {
    let mut changes = db.prepare_cached(
        "SELECT p.name, c.path, c.moved_from, c.before, c.after, c.facts FROM changes c \
         JOIN projects p ON p.id = c.project WHERE c.commit_row = ? AND c.moved_to IS NULL ORDER BY c.n LIMIT ?",
    )?;
    let rows = changes.query_map([row, limit], |row| {
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
    let mut files = Vec::new();
    for row in rows {
        let (project, path, from, before, after, facts) = row?;
        let (Ok(project), Ok(path)) = (ProjectName::parse(&project), NotePath::parse(&path)) else {
            continue;
        };
        files.push(FileChange {
            project,
            path,
            moved_from: from.and_then(|from| NotePath::parse(&from).ok()),
            before: before.map(ContentHash),
            after: after.map(ContentHash),
            fact_edits: facts.map(|facts| fact_edits(&facts)).unwrap_or_default(),
        });
    }
    Ok(files)
}

/// Loads a commit without its files.
pub(crate) fn commit_head(db: &Connection, row: i64) -> Result<Commit> {
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

pub(super) fn fact_edits(json: &str) -> Vec<FactEdit> {
    let edits: Vec<(String, u32)> = serde_json::from_str(json).unwrap_or_default();
    let edits = edits
        .into_iter()
        .filter_map(|(id, version)| Some(FactEdit { id: ObservationId::parse(&id)?, version }));
    edits.collect()
}
