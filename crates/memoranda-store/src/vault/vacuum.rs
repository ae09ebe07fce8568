//! Really removing: contents that nobody needs any more leave the log.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::change::{Author, ChangeChannel, Commit, CommitKind};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::faults::{self, Step};
use crate::index::history::{self, LogCursor};
use crate::index::{self, OldReaders};
use crate::log::chain::{Digest, SeenDevices};
use crate::log::{
    LogPosition, LogRecord, PurgeOrder, PurgeReport, PurgeRules, ReadCheck, RecordBody,
};
use crate::snapshot::Snapshot;
use crate::vault::boot::Restarted;
use crate::{StoreInner, clock};

/// Request to purge contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VacuumRequest {
    /// Only in this project.
    pub project: Option<ProjectName>,
    /// Only what was deleted or replaced before this time.
    pub before: Timestamp,
    /// Part of the past that is purged.
    pub what: VacuumExtent,
}

impl VacuumRequest {
    /// Returns true if contents of a project may be purged.
    fn concerns(&self, project: &ProjectName) -> bool {
        self.project.as_ref().is_none_or(|only| only == project)
    }
}

/// Part of the past that is purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VacuumExtent {
    /// Deleted notes, with all their versions.
    Deleted,
    /// Deleted notes, and the earlier versions of those that exist.
    DeletedAndVersions,
    /// Everything of the project, which must be named and removed before: the contents, and the
    /// records of its files.
    RemovedProject,
}

/// Result of a vacuum, or of its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VacuumReport {
    /// Deleted notes that could be restored until then, and no longer.
    pub notes: Vec<(ProjectName, String)>,
    /// Contents that left the log.
    pub contents: u64,
    /// By how many bytes the log shrank; 0 in a dry run.
    pub bytes: u64,
    /// Projects whose history has texts of the removed project, too, with the number of these texts:
    /// they stay.
    pub kept_by: Vec<(ProjectName, u64)>,
    /// Devices of other machines: a vacuum there removes the texts from their own logs.
    pub still_on: Vec<String>,
    /// Projects whose folder cannot be reached: their files may still have what was replaced, so that
    /// their history stays.
    pub unavailable: Vec<ProjectName>,
}

impl StoreInner {
    /// Says what a vacuum would purge.
    pub(crate) fn plan_vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        let mut unavailable = Vec::new();
        for project in self.vault.projects()? {
            match self.root(&project) {
                Err(StoreError::ProjectUnavailable { name, .. }) => unavailable.push(name),
                opened => drop(opened?),
            }
        }
        unavailable.retain(|name| vacuum.concerns(name));
        self.ask(|db| {
            let purge = purged_hashes(db, vacuum, &unavailable)?;
            let contents = purge.hashes.len() as u64;
            let PurgePlan { notes, kept_by, .. } = purge;
            let unavailable = unavailable.clone();
            Ok(VacuumReport { notes, contents, kept_by, unavailable, ..VacuumReport::default() })
        })
    }

    /// Purges, and indexes the rewritten log.
    pub(crate) fn vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        self.refuse_in_space("be purged by its servers; `memoranda admin space vacuum` purges it")?;
        self.purge_log(vacuum)
    }

    /// Purges the log of this vault, and indexes it again.
    pub(crate) fn purge_log(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        // Most files are forced before the vault is held.
        self.make_checkpoint()?;
        let devices = self.log.devices()?;
        let report = self.with_session(|session| {
            let removed = self.removed_project(vacuum)?;
            let mut unavailable = Vec::new();
            for project in self.vault.projects()? {
                if !vacuum.concerns(&project.name) {
                    continue;
                }
                match self.root_held(session.db, &project) {
                    Ok(root) => session.settle_project(&project.name, &root)?,
                    Err(StoreError::ProjectUnavailable { name, .. }) => unavailable.push(name),
                    Err(e) => return Err(e),
                }
            }
            let purge = purged_hashes(session.db, vacuum, &unavailable)?;
            let names = purged_names(session.db, vacuum, &unavailable)?;
            let mut still_on = Vec::new();
            for device in devices.iter().filter(|device| **device != self.vault.device) {
                if self.log.is_of_other_machine(device, session.held.run())? {
                    still_on.push(device.clone());
                }
            }
            // A name that stays in another log must stay here, too: it would be a file without end.
            let own_names = if still_on.is_empty() { names.clone() } else { HashMap::new() };
            let contents = stand_ins(&purge.hashes);
            let rules = PurgeRules { removed, contents: &contents, names: &own_names };
            // A power cut must not bring back a version that is about to be purged: nobody could tell it
            // from an edit by hand. What was written since the checkpoints is forced, too.
            let mut ends = Vec::new();
            for device in devices.iter().filter(|device| !still_on.contains(device)) {
                let end = self.log.end(device)?;
                self.force_files(device, self.checkpoint(device)?, end)?;
                ends.push((device, end));
            }
            // No position is right while logs are rewritten. If this process dies then, what is on disk must
            // not be replayed: one log may no longer name what another has as an older write.
            for (device, end) in &ends {
                self.set_checkpoint_by_number(device, *end)?;
            }
            let mut total = PurgeReport::default();
            if !purge.hashes.is_empty() || !names.is_empty() || removed.is_some() {
                let order = if still_on.is_empty() {
                    purge_order(&HashSet::new(), &HashMap::new())
                } else {
                    purge_order(&purge.hashes, &names)
                };
                // Before the first rewrite: an index that meets this record is built again, because
                // the positions and names that it has read may be others by now.
                session.log.append(vec![order], &SeenDevices::default())?;
                session.note_applied();
            }
            // Every log position in the index is about to change. If this process dies, the next
            // one indexes the history again.
            forget_history(session.db)?;
            for (device, mut checkpoint) in ends {
                let purged = self.log.purge(device, &rules, &mut checkpoint)?;
                faults::at(Step::Rewritten).doing(|| "note that the log was rewritten".into())?;
                if checkpoint > LogPosition::default() {
                    self.set_checkpoint(device, checkpoint)?;
                }
                if session.held.applied(device).is_some_and(|a| a.restarted == Restarted::No) {
                    session.held.set_applied(device, self.log.end(device)?)?;
                }
                total.contents += purged.contents;
                total.bytes += purged.bytes;
            }
            session.log.move_to(self.log.end(&self.vault.device)?)?;
            self.reread_history(session.db, &devices)?;
            // Old pages of the index may still hold what was deleted.
            session.db.execute_batch("INSERT INTO words(words) VALUES ('optimize')")?;
            self.index.write_back(session.db, OldReaders::Wait)?;
            session.db.execute_batch("VACUUM")?;
            self.index.write_back(session.db, OldReaders::Wait)?;
            self.forget_uses(|note| own_names.contains_key(note))?;
            Ok::<_, StoreError>(VacuumReport {
                notes: purge.notes,
                contents: total.contents,
                bytes: total.bytes,
                kept_by: purge.kept_by,
                still_on,
                unavailable,
            })
        })?;
        self.purge_meanings()?;
        if let Some(name) = self.removed_project(vacuum)? {
            self.forget_uses(|(project, _)| project == name)?;
        }
        Ok(report)
    }

    /// The project that is purged as a whole, which must be removed before.
    fn removed_project<'a>(&self, vacuum: &'a VacuumRequest) -> Result<Option<&'a ProjectName>> {
        let VacuumExtent::RemovedProject = vacuum.what else { return Ok(None) };
        let Some(name) = &vacuum.project else { return Ok(None) };
        if self.vault.projects()?.iter().any(|project| project.name == *name) {
            let reason = "it is still a project; remove it first".to_owned();
            return Err(StoreError::ProjectRefused { doing: "purge", name: name.clone(), reason });
        }
        Ok(Some(name))
    }

    fn reread_history(&self, db: &Connection, devices: &[String]) -> Result<()> {
        let transaction = db.unchecked_transaction()?;
        for device in devices {
            let read =
                self.log.read_from(device, Default::default(), ReadCheck::Meta, |placed| {
                    history::add(db, device, &placed)
                })?;
            let last = history::read_to(db, device)?;
            history::set_read_to(db, device, LogCursor { position: read.end, ..last })?;
        }
        index::set_creation_times(db)?;
        transaction.commit()?;
        Ok(())
    }
}

impl Snapshot<'_> {
    /// Returns the time of the last purge that an agent asked for.
    pub fn last_agent_purge(&self) -> Result<Option<Timestamp>> {
        self.query(|db| {
            let agents = [ChangeChannel::Mcp, ChangeChannel::Http].map(ChangeChannel::as_str);
            let mut query = db.prepare_cached(
                "SELECT max(logical_ms) FROM commits WHERE kind = ? AND channel IN (?, ?)",
            )?;
            let values = params![CommitKind::Purge.as_str(), agents[0], agents[1]];
            let time = query.query_row(values, |row| row.get::<_, Option<i64>>(0))?;
            Ok(time.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
        })
    }
}

fn forget_history(db: &Connection) -> Result<()> {
    let transaction = db.unchecked_transaction()?;
    db.execute_batch(
        "DELETE FROM changes; DELETE FROM commits; DELETE FROM contents; DELETE FROM positions; \
         DELETE FROM seen",
    )?;
    transaction.commit()?;
    Ok(())
}

/// For every path what the history said last; a path that was moved away is not deleted.
pub(crate) const LAST_CHANGES: &str = "WITH last_change AS MATERIALIZED ( \
   SELECT project, path, after, moved_to, logical_ms, commit_row, n FROM ( \
     SELECT project, path, after, moved_to, logical_ms, commit_row, n, row_number() OVER ( \
       PARTITION BY project, path ORDER BY logical_ms DESC, commit_row DESC, n DESC) AS age \
     FROM changes) WHERE age = 1)";

struct PurgePlan {
    notes: Vec<(ProjectName, String)>,
    hashes: HashSet<ContentHash>,
    kept_by: Vec<(ProjectName, u64)>,
}

/// The contents that go: those of deleted notes (and replaced versions), unless something that
/// stays holds the same bytes.
fn purged_hashes(
    db: &Connection,
    vacuum: &VacuumRequest,
    unavailable: &[ProjectName],
) -> Result<PurgePlan> {
    let is_kept = |project: &str| unavailable.iter().any(|name| name.as_str() == project);
    let project = vacuum.project.as_ref().map(ProjectName::as_str);
    let before = vacuum.before.as_millisecond();
    let is_deleted = match vacuum.what {
        VacuumExtent::Deleted | VacuumExtent::DeletedAndVersions => {
            "l.after IS NULL AND l.moved_to IS NULL AND l.logical_ms < ?1"
        }
        VacuumExtent::RemovedProject => "l.moved_to IS NULL",
    };
    let mut deleted = db.prepare(&format!(
        "{LAST_CHANGES} SELECT p.name, l.path FROM last_change l JOIN projects p ON p.id = l.project \
         WHERE ({is_deleted}) AND (?2 IS NULL OR p.name = ?2) \
           AND EXISTS (SELECT 1 FROM changes c JOIN contents s ON s.hash = c.after \
             WHERE c.project = l.project AND c.path = l.path) ORDER BY p.name, l.path",
    ))?;
    let rows = deleted.query_map(params![before, project], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut notes = Vec::new();
    for row in rows {
        let (project, path) = row?;
        if !is_kept(&project) {
            notes.extend(ProjectName::parse(&project).ok().map(|project| (project, path)));
        }
    }
    // A version goes if its note is deleted, or if it was replaced and versions go too.
    let goes = match vacuum.what {
        VacuumExtent::Deleted => "l.after IS NULL AND l.moved_to IS NULL AND l.logical_ms < ?1",
        VacuumExtent::DeletedAndVersions => {
            "(l.after IS NOT c.after) AND l.logical_ms < ?1 AND c.logical_ms < ?1"
        }
        VacuumExtent::RemovedProject => "p.name = ?2",
    };
    let sql = format!(
        "{LAST_CHANGES} SELECT c.after, ({goes}) AND (?2 IS NULL OR p.name = ?2), \
           l.moved_to IS NOT NULL AND (?2 IS NULL OR p.name = ?2), \
           c.project, c.path, c.logical_ms, c.commit_row, c.n, p.name FROM changes c \
         JOIN projects p ON p.id = c.project \
         JOIN last_change l ON l.project = c.project AND l.path = c.path \
         WHERE c.after IS NOT NULL AND EXISTS (SELECT 1 FROM contents s WHERE s.hash = c.after)"
    );
    let mut query = db.prepare(&sql)?;
    let rows = query.query_map(params![before, project], |row| {
        let at = FileVersionAt {
            project: row.get(3)?,
            path: row.get(4)?,
            moment: (row.get(5)?, row.get(6)?, row.get(7)?),
        };
        let hash = ContentHash(row.get::<_, [u8; 32]>(0)?);
        Ok((hash, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?, at, row.get::<_, String>(8)?))
    })?;
    let (mut going, mut staying) = (HashSet::new(), HashSet::new());
    let mut holders: BTreeMap<String, HashSet<ContentHash>> = BTreeMap::new();
    for row in rows {
        let (hash, goes, moved, at, holder) = row?;
        if !is_kept(&holder) && (goes || (moved && is_deleted_elsewhere(db, at, before)?)) {
            going.insert(hash);
        } else {
            staying.insert(hash);
            if vacuum.what == VacuumExtent::RemovedProject {
                holders.entry(holder).or_default().insert(hash);
            }
        };
    }
    let kept = holders.iter().filter_map(|(name, held)| {
        let count = held.intersection(&going).count() as u64;
        Some((ProjectName::parse(name).ok()?, count)).filter(|(_, count)| *count > 0)
    });
    let kept_by = kept.collect();
    Ok(PurgePlan { notes, hashes: going.difference(&staying).copied().collect(), kept_by })
}

/// Returns the record of a purge, which asks the devices of other machines to purge the same.
fn purge_order(
    hashes: &HashSet<ContentHash>,
    names: &HashMap<(ProjectName, NotePath), NotePath>,
) -> (LogRecord, RecordBody) {
    let salt = clock::random_bits().to_le_bytes();
    let mut contents: Vec<ContentHash> = hashes.iter().copied().collect();
    contents.sort_unstable_by_key(|hash| hash.0);
    let mut digests: Vec<Digest> =
        names.keys().map(|(project, path)| PurgeOrder::name_digest(&salt, project, path)).collect();
    digests.sort_unstable();
    let commit = Commit {
        id: clock::new_commit_id(),
        time: clock::now(),
        author: Author::new("memoranda", "vacuum", ChangeChannel::Cli),
        message: None,
        kind: None,
        files: Vec::new(),
        folders: None,
    };
    let mut record = LogRecord::new(commit, Vec::new());
    record.purge = Some(PurgeOrder { contents, salt, names: digests });
    (record, RecordBody::default())
}

/// Returns a random hash in the place of each hash that goes.
fn stand_ins(hashes: &HashSet<ContentHash>) -> HashMap<ContentHash, ContentHash> {
    hashes.iter().map(|hash| (*hash, ContentHash(clock::secret()))).collect()
}

/// The names of notes that go, each with the name that stands for it in the history from now on. A
/// note that was moved before it was deleted had several. Random names, because a hash of a short
/// text can be guessed.
fn purged_names(
    db: &Connection,
    vacuum: &VacuumRequest,
    unavailable: &[ProjectName],
) -> Result<HashMap<(ProjectName, NotePath), NotePath>> {
    const PURGED: &str = "purged-";
    let project = vacuum.project.as_ref().map(ProjectName::as_str);
    let before = vacuum.before.as_millisecond();
    let mut gone = db.prepare(&format!(
        "{LAST_CHANGES} SELECT p.name, l.path, l.moved_to, l.project, l.logical_ms, l.commit_row, l.n \
         FROM last_change l JOIN projects p ON p.id = l.project \
         WHERE l.after IS NULL AND l.logical_ms < ?1 AND (?2 IS NULL OR p.name = ?2)",
    ))?;
    let rows = gone.query_map(params![before, project], |row| {
        let names = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
        let at = match row.get::<_, Option<String>>(2)? {
            None => None,
            Some(path) => {
                let moment = (row.get(4)?, row.get(5)?, row.get(6)?);
                Some(FileVersionAt { project: row.get(3)?, path, moment })
            }
        };
        Ok((names, at))
    })?;
    let mut names = HashMap::new();
    for row in rows {
        let ((project, path), moved_to) = row?;
        let (Ok(project), Ok(path)) = (ProjectName::parse(&project), NotePath::parse(&path)) else {
            continue;
        };
        let is_deleted = match moved_to {
            None => true,
            Some(at) => is_deleted_elsewhere(db, at, before)?,
        };
        let name = format!("{PURGED}{:016x}", clock::random_bits());
        if is_deleted
            && !unavailable.contains(&project)
            && !path.as_str().starts_with(PURGED)
            && let Ok(name) = NotePath::parse(&name)
        {
            names.insert((project, path), name);
        }
    }
    Ok(names)
}

/// A version of a file: where, and its place in the history.
struct FileVersionAt {
    project: i64,
    path: String,
    moment: (i64, i64, i64),
}

/// Returns true if the file of this version was moved, and deleted under a later name. A name can
/// be reused for another file, so the history is followed move by move.
fn is_deleted_elsewhere(db: &Connection, mut at: FileVersionAt, before: i64) -> Result<bool> {
    let mut end = db.prepare_cached(
        "SELECT moved_to, logical_ms, commit_row, n FROM changes \
         WHERE project = ? AND path = ? AND after IS NULL \
           AND (logical_ms, commit_row, n) > (?, ?, ?) \
         ORDER BY logical_ms, commit_row, n LIMIT 1",
    )?;
    loop {
        let (time, row, n) = at.moment;
        let found = end
            .query_row(params![at.project, at.path, time, row, n], |row| {
                Ok((row.get::<_, Option<String>>(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)))
            })
            .optional()?;
        match found {
            None => return Ok(false),
            Some((None, (time, ..))) => return Ok(time < before),
            // Each step is later than the one before, so this ends.
            Some((Some(path), moment)) => at = FileVersionAt { path, moment, ..at },
        }
    }
}
