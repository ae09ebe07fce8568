//! Looking at the files: what people did to them becomes part of the history and the index.
//!
//! Sync reads and never writes a person's file. What cannot be looked at stays as it is known.

pub(crate) mod change_feed;
mod compare;
mod freshness;
mod index_backfill;
mod missing_folders;
pub(crate) mod reconcile;
pub(crate) mod watch;

use std::collections::BTreeSet;
use std::sync::PoisonError;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::commit::unplaced::linked_names;
use crate::error::{ErrorContext as _, Result, StoreError, plain};
use crate::files::{FileStat, ProjectRoot};
use crate::index::extract::{FileKind, extract};
use crate::index::{self, FileRow, IndexBatch, IndexedFile, history, word_merge};
use crate::scan::reconcile::{ChangedCandidate, ProjectScan};
use crate::vault::Project;
use crate::vault::boot::{MachineRun, Restarted};

/// A file changed this shortly before it was looked at may change again within the same tick of
/// the file system's clock, so its time proves nothing.
pub(crate) const CLOCK_TICK_NS: i64 = 20_000_000;
/// Kernels write changed bytes back within half a minute. A power cut can take those of a file that
/// was looked at sooner after its change, and leave its size and times as they were.
pub(crate) const WRITE_BACK_NS: i64 = 60_000_000_000;

/// Strength of the times of a file as a proof that it has the bytes of its last look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TimeProof {
    /// The machine ran on since then: all bytes are those that were read.
    SameRun,
    /// The machine was restarted, or the drive was away: bytes that were new then can be lost.
    AfterRestart,
}

impl TimeProof {
    /// Every proof. Times that give one also give those before it.
    pub(crate) const ALL: [Self; 2] = [Self::SameRun, Self::AfterRestart];

    /// Returns true if the times of a file that was read at a time prove that its bytes are those that
    /// were read.
    pub(crate) fn covers(self, stat: FileStat, checked_ns: i64) -> bool {
        let newest = stat.mtime_ns.max(stat.ctime_ns);
        newest.saturating_add(self.margin_ns()) < checked_ns
    }

    /// Compares the last complete scan of a project with the present run of the machine.
    fn of(run: MachineRun, scanned_in: Option<MachineRun>) -> Self {
        match scanned_in.map(|then| run.restarted_since(then)) {
            Some(Restarted::No) => Self::SameRun,
            Some(Restarted::Yes | Restarted::Unknown) | None => Self::AfterRestart,
        }
    }

    fn margin_ns(self) -> i64 {
        match self {
            Self::SameRun => CLOCK_TICK_NS,
            Self::AfterRestart => WRITE_BACK_NS,
        }
    }
}

/// Result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// Files that were looked at.
    pub seen: usize,
    /// Files that are new to the history.
    pub added: usize,
    /// Files that people changed.
    pub changed: usize,
    /// Files that people moved.
    pub moved: usize,
    /// Files that people removed.
    pub removed: usize,
    /// Files that were read into the index again, without being new to the history.
    pub indexed: usize,
    /// Projects whose folder could not be reached, and why.
    pub unavailable: Vec<(ProjectName, String)>,
    /// Places that could not be read, and why: what is known of them stays.
    pub unreadable: Vec<(ProjectName, String, String)>,
    /// Names that were left out, and why.
    pub skipped: Vec<(ProjectName, String, &'static str)>,
}

/// Progress of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanProgress {
    /// Files read so far.
    pub done: usize,
    /// Files to be read.
    pub total: usize,
}

impl StoreInner {
    /// Looks at every file of every project; once more if the index turns out to be bad.
    pub(crate) fn sync_all(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        // Its files are not on disk, and not removed either.
        self.refuse_provisional()?;
        let _alone = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let report = match self.try_sync_all(progress) {
            Err(e) if e.is_index_damage() => {
                self.index.forget();
                self.try_sync_all(progress)
            }
            other => other,
        }?;
        // A mark that stays lets `doctor` list more.
        self.clear_unscanned().ok();
        Ok(report)
    }

    /// Scans every file of one project; of all projects if the index turns out to be damaged.
    pub(crate) fn sync_one(
        &self,
        name: &ProjectName,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<ScanReport> {
        self.refuse_provisional()?;
        let look = |progress: &mut dyn FnMut(ScanProgress)| {
            let _alone = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
            self.read_other_devices()?;
            self.sync_projects(&[self.vault.project(name.as_str())?], progress)
        };
        match look(progress) {
            Err(StoreError::NoProject { .. }) => self.sync_all(progress),
            Err(e) if e.is_index_damage() => {
                self.index.forget();
                self.sync_all(progress)
            }
            other => other,
        }
    }

    /// Scans projects whose folders appeared, and records those whose folders are gone.
    pub(crate) fn sync_unseen(&self, projects: &[Project]) -> Result<()> {
        self.refuse_provisional()?;
        let look = || {
            let _alone = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
            self.read_arrived_logs()?;
            let mut report = self.sync_projects(projects, &mut |_| {})?;
            self.settle_missing(&mut report)
        };
        match look() {
            Err(e) if e.is_index_damage() => {
                self.index.forget();
                self.sync_all(&mut |_| {}).map(drop)
            }
            other => other,
        }
    }

    fn sync_projects(
        &self,
        projects: &[Project],
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<ScanReport> {
        let mut report = ScanReport::default();
        for project in projects {
            match self.sync_project(project, &mut report, progress) {
                Err(StoreError::ProjectUnavailable { name, reason }) => {
                    report.unavailable.push((name, reason));
                }
                other => other?,
            }
        }
        Ok(report)
    }

    fn try_sync_all(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        self.read_other_devices()?;
        let mut report = self.sync_projects(&self.vault.projects()?, progress)?;
        self.settle_missing(&mut report)?;
        let mut is_begun = false;
        while self.with_session(|session| self.complete_index(session.db, &mut is_begun))? {
            self.stop_if_closing()?;
            self.yield_to_waiters();
        }
        Ok(report)
    }

    /// Merges the words of a new index, and records that every file was scanned. Returns true if there
    /// is more to do: the vault is free in between.
    fn complete_index(&self, db: &rusqlite::Connection, is_begun: &mut bool) -> Result<bool> {
        if index::is_complete(db)? {
            return Ok(false);
        }
        let has_many = *is_begun || word_merge::has_many(db)?;
        if has_many && !std::mem::replace(is_begun, true) {
            word_merge::begin(db)?;
        }
        let is_unfinished = has_many && word_merge::step(db)? && word_merge::step(db)?;
        if !is_unfinished {
            word_merge::end(db)?;
            index::set_complete(db)?;
            return Ok(false);
        }
        self.index.note_written(db)?;
        Ok(true)
    }

    /// Looks at every file of one project.
    pub(crate) fn sync_project(
        &self,
        project: &Project,
        report: &mut ScanReport,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<()> {
        self.seed_from_history(&project.name)?;
        let root = match self.root(project) {
            Err(e @ StoreError::ProjectUnavailable { .. }) => {
                self.remember_unreached(&project.name)?;
                return Err(e);
            }
            opened => opened?,
        };
        // Before the files are looked at: a drive that is pulled meanwhile has another attachment.
        let run = MachineRun::current(&project.path);
        let (mut walk, mut known) = self.look(&project.name, &root, run)?;
        let linked = linked_names(&walk.files);
        let is_interrupted = !walk.leftovers.is_empty() || !linked.is_empty();
        if is_interrupted
            && self.with_session(|session| {
                session.settle_leftovers(&project.name, &root, &walk.leftovers, &linked)
            })?
        {
            // A file that had such a name next to its own can be read now.
            (walk, known) = self.look(&project.name, &root, run)?;
        }
        report.seen += walk.seen();
        let look = self.compare(&project.name, &walk, known)?;
        for (place, error) in &walk.unreadable {
            report.unreadable.push((project.name.clone(), place.clone(), plain(error)));
        }
        for (place, reason) in &walk.skipped {
            report.skipped.push((project.name.clone(), place.clone(), reason));
        }
        self.reconcile(project, &root, look, report, progress)?;
        self.remember_unreached(&project.name)?;
        let identity = root.identity().doing(|| format!("look at project {}", project.name))?;
        self.with_session(|session| {
            self.note_identity(session.db, project, identity)?;
            let row = index::project_id(session.db, &project.name)?;
            index::set_scanned_in(session.db, row, run)?;
            index::set_scanned(session.db, row, true)
        })
    }

    /// Looks at single files that something is said to have happened to.
    pub(crate) fn sync_paths(
        &self,
        project: &Project,
        paths: &BTreeSet<NotePath>,
    ) -> Result<ScanReport> {
        self.refuse_provisional()?;
        self.read_arrived_logs()?;
        let mut report = ScanReport::default();
        let root = self.root(project)?;
        let run = MachineRun::current(&project.path);
        let (rows, scanned_in) = self.ask(|db| {
            let project = index::project_id_of(db, &project.name)?;
            let rows = paths
                .iter()
                .map(|path| index::rows_at_or_below(db, project, path))
                .collect::<Result<Vec<_>>>()?;
            Ok((rows, index::scanned_in(db, project)?))
        })?;
        let proof = TimeProof::of(run, scanned_in);
        let mut look = ProjectScan { suspects: Vec::new(), gone: Vec::new() };
        for (path, known) in paths.iter().zip(rows) {
            let stat = match root.stat(path) {
                Ok(stat) => stat,
                Err(_) if root.is_folder(path) => {
                    // A folder appeared or moved: everything in it may be new.
                    self.sync_project(project, &mut report, &mut |_| {})?;
                    return Ok(report);
                }
                Err(StoreError::NotAFile { .. }) => None,
                Err(_) => continue,
            };
            // Our own writes are events too, and the index has them already.
            let row = known.iter().find(|(at, _)| at == path).map(|(_, row)| row);
            match stat {
                Some(stat) if row.is_some_and(|row| is_still(&root, path, row, stat, proof)) => {}
                Some(stat) if !root.ignores(path) => {
                    look.suspects.push(ChangedCandidate::new(path.clone(), stat, row));
                }
                _ => look.gone.extend(known),
            }
        }
        // With a folder, something is said to have happened to it and to each of its files.
        look.gone.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        look.gone.dedup_by(|(a, _), (b, _)| a == b);
        report.seen = paths.len();
        if !look.suspects.is_empty() || !look.gone.is_empty() {
            self.reconcile(project, &root, look, &mut report, &mut |_| {})?;
        }
        Ok(report)
    }

    /// Puts what the history knows into an index that is being made.
    pub(crate) fn seed_from_history(&self, name: &ProjectName) -> Result<()> {
        self.with_session(|session| {
            if index::is_complete(session.db)? {
                return Ok(());
            }
            word_merge::suspend(session.db)?;
            let transaction = session.db.unchecked_transaction()?;
            let project = index::project_id(session.db, name)?;
            let after = self.vault.last_removed(name)?;
            for (path, hash, permalink) in history::living(session.db, project, after)? {
                let Ok(path) = NotePath::parse(&path) else { continue };
                index::put_known(session.db, project, &path, hash, permalink.as_deref())?;
            }
            transaction.commit()?;
            self.index.note_written(session.db)
        })
    }

    /// Reads what other devices have written, if their logs came along with the vault. Every scan begins
    /// with it: a synchroniser brings a log and then the files, which are no edits of this device.
    fn read_other_devices(&self) -> Result<()> {
        let devices = self.log.devices()?;
        self.with_session(|session| {
            for device in devices.iter().filter(|device| **device != self.vault.device) {
                let read = history::read_to(session.db, device)?;
                if read.position != self.log.end(device)? {
                    self.read_log_into_index(session.db, device, read.position)?;
                }
            }
            Ok(())
        })
    }

    /// Does the same for a scan of a few files. Usually nothing has come, and the vault stays free.
    fn read_arrived_logs(&self) -> Result<()> {
        let mut devices = self.log.devices()?;
        devices.retain(|device| *device != self.vault.device);
        let has_more = |db: &rusqlite::Connection| -> Result<bool> {
            for device in &devices {
                if history::read_to(db, device)?.position != self.log.end(device)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        if devices.is_empty() || !self.ask(has_more)? {
            return Ok(());
        }
        self.read_other_devices()
    }

    /// Makes the index say of a file what the log and the disk agree on.
    pub(crate) fn refresh(
        &self,
        batch: &mut IndexBatch<'_>,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<()> {
        let row = batch.project(project)?;
        let head = batch.head(row, path)?;
        let Some(hash) = head.as_ref().and_then(|head| head.after) else {
            return batch.remove(row, path);
        };
        let root = match self.vault.project(project.as_str()) {
            Ok(project) => self.root_held(batch.db(), &project).map(Some),
            Err(StoreError::NoProject { .. }) => Ok(None),
            Err(e) => Err(e),
        };
        let read = |root: Option<&ProjectRoot>| root.map_or(Ok(None), |root| root.read(path));
        // An unreadable project is scanned next time.
        let Ok(root) = root else { return Ok(()) };
        let Ok(found) = read(root.as_ref()) else { return Ok(()) };
        match (found, head) {
            (Some(_), _) if root.is_some_and(|root| root.ignores(path)) => batch.remove(row, path),
            (Some(found), Some(head)) if found.hash == hash => {
                let put = IndexedFile {
                    project: row,
                    path,
                    hash,
                    stat: found.stat,
                    checked_ns: found.checked_ns,
                    permalink: head.permalink.as_deref(),
                    first_seen_ms: Some(head.first_ms),
                };
                batch.put(&put, &extract(path, &found.bytes))
            }
            // Somebody took it away since: the next look must find that it was there.
            (None, Some(head)) => {
                index::put_known(batch.db(), row, path, hash, head.permalink.as_deref())
            }
            // Somebody changed it since: the next sync records that.
            _ => Ok(()),
        }
    }
}

/// Returns true if a file equals its index row. If the times are not conclusive, the file is read,
/// because somebody may have changed it within the same clock tick.
pub(crate) fn is_still(
    root: &ProjectRoot,
    path: &NotePath,
    row: &FileRow,
    stat: FileStat,
    proof: TimeProof,
) -> bool {
    let read = || root.read(path).is_ok_and(|found| found.map(|found| found.hash) == row.hash);
    row.kind != FileKind::Known && row.stat == stat && (is_as_seen(row, stat, proof) || read())
}

/// Returns true if a file has the metadata of its last read, at a conclusive time.
pub(crate) fn is_as_seen(row: &FileRow, stat: FileStat, proof: TimeProof) -> bool {
    row.stat == stat && proof.covers(stat, row.checked_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{FilePrivacy, FileRules, HardLinkPolicy, state_files};
    use crate::vault::boot::BootId;

    /// Checks if a file counts as unchanged, given its indexed bytes and the time between its last
    /// change and the scan.
    #[track_caller]
    fn check(indexed: &str, on_disk: &str, looked_after_ns: i64, proof: TimeProof, expected: bool) {
        let folder = tempfile::TempDir::new().unwrap();
        state_files::write_plain(&folder.path().join("a.md"), on_disk.as_bytes()).unwrap();
        let rules = FileRules { privacy: FilePrivacy::Shared, hard_links: HardLinkPolicy::Refuse };
        let root = ProjectRoot::open(folder.path(), rules).unwrap();
        let path = NotePath::parse("a.md").unwrap();
        let stat = root.stat(&path).unwrap().unwrap();
        let row = FileRow {
            id: 1,
            kind: FileKind::Markdown,
            stat,
            checked_ns: stat.mtime_ns.max(stat.ctime_ns) + looked_after_ns,
            hash: Some(crate::files::hash(indexed.as_bytes())),
        };
        assert_eq!(is_still(&root, &path, &row, stat, proof), expected);
    }

    #[test]
    fn an_edit_within_one_tick_of_the_clock_is_not_passed_over() {
        check("ours", "ours", 1, TimeProof::SameRun, true);
        check("ours", "hand", 1, TimeProof::SameRun, false);
        // A later look would have seen a later time.
        check("ours", "hand", 2 * CLOCK_TICK_NS, TimeProof::SameRun, true);
    }

    #[test]
    fn after_a_restart_the_times_of_a_new_file_prove_nothing() {
        check("ours", "lost", 2 * CLOCK_TICK_NS, TimeProof::AfterRestart, false);
        check("ours", "ours", 2 * CLOCK_TICK_NS, TimeProof::AfterRestart, true);
        // By then the kernel has written it to the disk.
        check("ours", "lost", 2 * WRITE_BACK_NS, TimeProof::AfterRestart, true);
    }

    #[test]
    fn only_a_scan_in_the_same_run_and_attachment_counts() {
        let run = |boot, attachment| MachineRun { boot: BootId::Random([boot; 16]), attachment };
        let now = run(1, Some(7));
        for (then, expected) in [
            (Some(now), TimeProof::SameRun),
            (Some(run(2, Some(7))), TimeProof::AfterRestart),
            (Some(run(1, Some(6))), TimeProof::AfterRestart),
            (None, TimeProof::AfterRestart),
        ] {
            assert_eq!(TimeProof::of(now, then), expected, "{then:?}");
        }
    }
}
