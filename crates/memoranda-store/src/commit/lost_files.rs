//! Acknowledged versions that are no longer in the files although nobody was seen to change them.
//!
//! Index, log and files can agree after a loss: a scan records a file that a power cut emptied as a
//! person's edit. After a restart of the machine, edits that the first scan finds are therefore
//! marked. A marked edit that leaves nothing, or a part or an older version of what a tool wrote, is
//! listed as lost.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::{ChangeChannel, CommitKind};
use memoranda_core::id::{CommitId, ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::commit::recover::is_torn_version;
use crate::error::{ErrorContext as _, Result};
use crate::files::{FilePrivacy, state_files};
use crate::index::history;
use crate::log::LogRecord;
use crate::vault::vacuum::LAST_CHANGES;
use crate::{StoreInner, clock};

/// The source of an edit that the first scan after a restart found.
const AFTER_RESTART: &str = "found after a restart";
/// Marked edits are listed for so long.
const LISTED_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A version that was acknowledged and is gone from the files, without an edit that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFile {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Present state of the file.
    pub state: LostState,
    /// The commit that wrote the version.
    pub commit: CommitId,
    /// The version.
    pub version: ContentHash,
    /// The version that was found; `None` if there was no file.
    pub found: Option<ContentHash>,
}

/// Damage of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostState {
    /// No file.
    Gone,
    /// A file without text.
    Empty,
    /// A part of the text.
    Cut,
    /// An older version.
    Older,
}

impl LostState {
    /// Returns the state as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Empty => "empty",
            Self::Cut => "cut",
            Self::Older => "older",
        }
    }
}

impl StoreInner {
    fn unscanned_path(&self) -> PathBuf {
        self.vault.state.join("log").join(&self.vault.device).join("unscanned")
    }

    /// Records that the machine was restarted, and that the files were not scanned since.
    pub(crate) fn mark_unscanned(&self) -> Result<()> {
        let path = self.unscanned_path();
        // The device may be as new as the restart.
        let folder = path.parent().unwrap_or(&path);
        state_files::create_dir(folder, FilePrivacy::Private)
            .and_then(|()| state_files::replace(&path, b""))
            .doing(|| "note the restart".into())
    }

    /// Records that all files were scanned since the machine was restarted.
    pub(crate) fn clear_unscanned(&self) -> Result<()> {
        state_files::remove(&self.unscanned_path()).doing(|| "note the scan".into())
    }

    /// Marks a record of external edits if it may be the first look at the files after a restart.
    pub(crate) fn mark_after_restart(&self, record: &mut LogRecord) {
        let author = &mut record.commit.author;
        if author.channel == ChangeChannel::Disk
            && record.commit.kind == Some(CommitKind::Scan)
            && author.details.source.is_none()
            && state_files::kind(&self.unscanned_path()).is_ok_and(|kind| kind.is_some())
        {
            author.details.source = Some(AFTER_RESTART.to_owned());
        }
    }

    /// Lists the files whose last acknowledged version is gone without an edit that was seen.
    pub(crate) fn lost_files(&self) -> Result<Vec<LostFile>> {
        let candidates = self.ask(marked_changes)?;
        let mut lost = Vec::new();
        for change in candidates {
            let Some(before) = self.ask(|db| change_before(db, &change))? else { continue };
            let Some(version) = before.after.filter(|_| before.channel != ChangeChannel::Disk)
            else {
                continue;
            };
            let Some(state) = self.lost_state(&change, version)? else { continue };
            lost.push(LostFile {
                project: change.project,
                path: change.path,
                state,
                commit: before.commit,
                version,
                found: change.after,
            });
        }
        Ok(lost)
    }

    /// Returns what is left of a version; `None` if somebody edited it.
    fn lost_state(&self, change: &MarkedChange, version: ContentHash) -> Result<Option<LostState>> {
        let Some(found) = change.after else { return Ok(Some(LostState::Gone)) };
        let content = |hash| {
            let at = self.ask(|db| history::content_at(db, hash))?;
            Ok::<_, crate::StoreError>(at.and_then(|at| self.log.content(&at, hash).ok()))
        };
        let (Some(found_bytes), Some(bytes)) = (content(found)?, content(version)?) else {
            return Ok(None);
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        if found_bytes.is_empty() {
            return Ok(Some(LostState::Empty));
        }
        if is_torn_version(&found_bytes, &bytes) {
            return Ok(Some(LostState::Cut));
        }
        let is_older = self.ask(|db| was_version(db, change, found))?;
        Ok(is_older.then_some(LostState::Older))
    }
}

/// The last change of a file, found after a restart.
struct MarkedChange {
    project_row: i64,
    project: ProjectName,
    path: NotePath,
    after: Option<ContentHash>,
    moment: (i64, i64, i64),
}

/// The change before it.
struct EarlierChange {
    after: Option<ContentHash>,
    channel: ChangeChannel,
    commit: CommitId,
}

fn marked_changes(db: &Connection) -> Result<Vec<MarkedChange>> {
    let since = clock::now().checked_sub(LISTED_FOR).unwrap_or(Timestamp::MIN);
    let mut query = db.prepare(&format!(
        "{LAST_CHANGES} SELECT l.project, p.name, l.path, l.after, l.logical_ms, l.commit_row, l.n \
         FROM commits k JOIN last_change l ON l.commit_row = k.row \
         JOIN projects p ON p.id = l.project \
         WHERE k.kind = ?1 AND k.source = ?2 AND k.time_ms >= ?3 AND l.moved_to IS NULL \
         ORDER BY p.name, l.path",
    ))?;
    let rows = query.query_map(
        params![CommitKind::Scan.as_str(), AFTER_RESTART, since.as_millisecond()],
        |row| {
            let names = (row.get::<_, String>(1)?, row.get::<_, String>(2)?);
            let after = row.get::<_, Option<[u8; 32]>>(3)?.map(ContentHash);
            let moment = (row.get(4)?, row.get(5)?, row.get(6)?);
            Ok((row.get(0)?, names, after, moment))
        },
    )?;
    let mut changes = Vec::new();
    for row in rows {
        let (project_row, (project, path), after, moment) = row?;
        let (Ok(project), Ok(path)) = (ProjectName::parse(&project), NotePath::parse(&path)) else {
            continue;
        };
        changes.push(MarkedChange { project_row, project, path, after, moment });
    }
    Ok(changes)
}

fn change_before(db: &Connection, change: &MarkedChange) -> Result<Option<EarlierChange>> {
    let (time, row, n) = change.moment;
    let found = db
        .prepare_cached(
            "SELECT c.after, k.channel, k.id FROM changes c JOIN commits k ON k.row = c.commit_row \
             WHERE c.project = ? AND c.path = ? AND (c.logical_ms, c.commit_row, c.n) < (?, ?, ?) \
             ORDER BY c.logical_ms DESC, c.commit_row DESC, c.n DESC LIMIT 1",
        )?
        .query_row(params![change.project_row, change.path.as_str(), time, row, n], |row| {
            let after = row.get::<_, Option<[u8; 32]>>(0)?.map(ContentHash);
            Ok((after, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        })
        .optional()?;
    Ok(found.and_then(|(after, channel, commit)| {
        let channel = ChangeChannel::parse(&channel)?;
        Some(EarlierChange { after, channel, commit: CommitId::parse(&commit)? })
    }))
}

/// Returns true if the file had this content before.
fn was_version(db: &Connection, change: &MarkedChange, content: ContentHash) -> Result<bool> {
    let (time, row, n) = change.moment;
    Ok(db
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM changes WHERE project = ? AND path = ? AND after = ? \
             AND (logical_ms, commit_row, n) < (?, ?, ?))",
        )?
        .query_row(
            params![change.project_row, change.path.as_str(), content.0, time, row, n],
            |row| row.get(0),
        )?)
}
