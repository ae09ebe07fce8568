//! Totals over the commits: activity by day, and the commits that undo and redo.

use jiff::Timestamp;
use memoranda_core::change::{ChangeChannel, Commit, CommitKind};
use memoranda_core::id::{CommitId, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{OptionalExtension as _, params};

use super::history;
use crate::error::Result;
use crate::snapshot::Snapshot;

/// Number of commits of one client in one day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ActivityRow {
    /// Days since 1970-01-01, in UTC.
    pub day: i64,
    /// Client program, as its commits name it.
    pub client: String,
    /// Interface.
    pub channel: ChangeChannel,
    /// Number of commits.
    pub commits: u64,
    /// Time of the last one.
    pub last: Timestamp,
}

/// An undo or a redo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReversalRow {
    /// The commit that undoes or redoes.
    pub commit: CommitId,
    /// Kind, with its target.
    pub kind: CommitKind,
    /// Message, which lists the targets if there are several.
    pub message: Option<String>,
}

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

impl Snapshot<'_> {
    /// Returns the newest commit that changed a file, without its files: the first scan of a folder
    /// has thousands. `None` if the history does not know the file.
    pub fn last_commit_of(&self, project: &ProjectName, path: &NotePath) -> Result<Option<Commit>> {
        self.query(|db| {
            let mut select = db.prepare_cached(
                "SELECT commit_row FROM changes \
                 WHERE project = (SELECT id FROM projects WHERE name = ?1) AND path = ?2 \
                   AND moved_to IS NULL \
                 ORDER BY logical_ms DESC, commit_row DESC, n DESC LIMIT 1",
            )?;
            let row = select.query_row(params![project.as_str(), path.as_str()], |row| row.get(0));
            let row: Option<i64> = row.optional()?;
            row.map(|row| history::commit_head(db, row)).transpose()
        })
    }

    /// Returns the number of commits for each day, client and channel, oldest day first.
    pub fn activity(
        &self,
        since: Timestamp,
        project: Option<&ProjectName>,
    ) -> Result<Vec<ActivityRow>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT k.logical_ms / ?1 AS day, k.client, k.channel, count(*), max(k.logical_ms) \
                 FROM commits k WHERE k.logical_ms >= ?2 \
                 AND (?3 IS NULL OR EXISTS (SELECT 1 FROM changes c JOIN projects p ON p.id = c.project \
                                            WHERE c.commit_row = k.row AND p.name = ?3)) \
                 GROUP BY day, k.client, k.channel ORDER BY day, k.client",
            )?;
            let project = project.map(ProjectName::as_str);
            let rows = query.query_map(params![DAY_MS, since.as_millisecond(), project], |row| {
                let channel: String = row.get(2)?;
                Ok(ActivityRow {
                    day: row.get(0)?,
                    client: row.get(1)?,
                    channel: ChangeChannel::parse(&channel).unwrap_or(ChangeChannel::Disk),
                    commits: row.get::<_, i64>(3)?.unsigned_abs(),
                    last: Timestamp::from_millisecond(row.get(4)?).unwrap_or_default(),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns every undo and redo, newest first.
    pub fn reversals(&self) -> Result<Vec<ReversalRow>> {
        self.query(|db| {
            let mut query = db.prepare_cached(
                "SELECT id, kind, target, message FROM commits WHERE target IS NOT NULL \
                 ORDER BY logical_ms DESC, device DESC, segment DESC, offset DESC",
            )?;
            let mut rows = query.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let (id, kind, target): (String, String, String) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let kind = CommitKind::parse(&kind, Some(&target));
                if let (Some(commit), Some(kind)) = (CommitId::parse(&id), kind) {
                    found.push(ReversalRow { commit, kind, message: row.get(3)? });
                }
            }
            Ok(found)
        })
    }
}
