//! Holding the vault: the lock, the end of the log and the index, all three in step.
//!
//! The holder of the lock first completes what a dead process left half done, and reads into
//! the index what others wrote. After that the three agree, and stay so until the lock is let go.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};
use std::time::Duration;

use memoranda_core::change::CommitKind;
use memoranda_core::id::{CommitId, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::StoreInner;
use crate::commit::external_edits::ExternalEdits;
use crate::commit::recover::{CrashKind, Recovery, UnappliedRecord, clock_of_record};
use crate::error::{Result, StoreError};
use crate::index::{self, IndexBatch, IndexFile, IndexState, history};
use crate::log::chain::SeenDevices;
use crate::log::{
    FileVersionId, LogDamage, LogPosition, LogReadEnd, LogRecord, LogWriter, LoggedRecord,
    ReadCheck, RecordBody,
};
use crate::machine;
use crate::vault::boot::{BootId, MachineRun, Restarted};
use crate::vault::lock::{AppliedEntry, LockWait, VaultLock, VaultLockGuard};

/// A read waits this long for the lock to bring the index in step; then it answers from the index
/// as it is.
const READ_PATIENCE: Duration = Duration::from_secs(2);

/// After a read has found the lock busy for too long, further reads do not wait for this time.
const BLOCKED_FOR: Duration = Duration::from_secs(5);

/// State that this process needs to write, kept between writes.
pub(crate) struct VaultWriter {
    pub(crate) lock: VaultLock,
    log: Option<LogWriter>,
    db: Option<(Connection, Option<(u64, u64)>)>,
    /// Reason why nothing may be written any more, if a write could neither be finished nor undone.
    halted: Option<String>,
}

impl VaultWriter {
    pub(crate) fn new(lock: VaultLock) -> Self {
        Self { lock, log: None, db: None, halted: None }
    }
}

/// The vault, held.
pub(crate) struct WriteSession<'a> {
    pub(crate) inner: &'a StoreInner,
    pub(crate) held: VaultLockGuard<'a>,
    pub(crate) log: &'a mut LogWriter,
    pub(crate) db: &'a Connection,
    /// Set when a write could neither be finished nor undone: only a new start can complete it.
    pub(crate) halted: &'a mut Option<String>,
}

impl WriteSession<'_> {
    /// Appends what was seen on disk to the log, and tells the history in the index.
    pub(crate) fn record(&mut self, seen: ExternalEdits) -> Result<()> {
        let Some(record) = seen.into_record() else { return Ok(()) };
        let placed = self.append(vec![record])?;
        self.note_applied();
        for placed in &placed {
            history::add(self.db, &self.inner.vault.device, placed)?;
        }
        Ok(())
    }

    /// Appends records to the log, with the versions that they replace and what this device has seen
    /// of others.
    pub(crate) fn append(
        &mut self,
        mut records: Vec<(LogRecord, RecordBody)>,
    ) -> Result<Vec<LoggedRecord>> {
        self.add_parents(&mut records)?;
        records.iter_mut().for_each(|(record, _)| self.inner.mark_after_restart(record));
        let device = &self.inner.vault.device;
        let mut seen = history::seen_devices(self.db, device)?;
        if !index::is_complete(self.db)? {
            // A new index has not read every log, and a record must be later than all others.
            seen.clock = seen.clock.max(self.inner.log.latest_clock_of_others(device)?);
        }
        match &self.inner.space {
            Some(space) => self.append_to_space(space, records, &seen),
            None => self.log.append(records, &seen),
        }
    }

    /// Fills in the versions that the files of records replace.
    fn add_parents(&self, records: &mut [(LogRecord, RecordBody)]) -> Result<()> {
        let mut newest: HashMap<(ProjectName, NotePath), CommitId> = HashMap::new();
        for (record, _) in records {
            let LogRecord { commit, notes, .. } = record;
            for (file, note) in commit.files.iter().zip(notes) {
                let mut parents = Vec::new();
                let source = file.moved_from.as_ref().unwrap_or(&file.path);
                for path in file.moved_from.iter().chain([&file.path]) {
                    let key = (file.project.clone(), path.clone());
                    let last = match newest.get(&key) {
                        Some(commit) => Some(*commit),
                        // The files of a first scan have no history.
                        None if commit.kind == Some(CommitKind::FirstScan) => None,
                        None => self.last_commit(&file.project, path)?,
                    };
                    let path = (path != source).then(|| path.clone());
                    parents.extend(last.map(|commit| FileVersionId { commit, path }));
                    newest.insert(key, commit.id);
                }
                note.parents = Some(parents);
            }
        }
        Ok(())
    }

    /// Returns the commit that changed a path last, by a pending commit or by the index.
    fn last_commit(&self, project: &ProjectName, path: &NotePath) -> Result<Option<CommitId>> {
        // Only commits with unknown names are indexed for this.
        self.inner.settle_pending(self.db, |_| false)?;
        let pending = self.inner.pending().newest(project, path).map(|file| file.commit);
        match pending {
            Some(commit) => Ok(Some(commit)),
            None => history::last_commit(self.db, project, path),
        }
    }

    /// Records that everything in this device's log is applied to the files. If that fails, the
    /// next holder of the lock applies the last record again, which changes nothing.
    pub(crate) fn note_applied(&self) {
        self.held.set_applied(&self.inner.vault.device, self.log.end()).ok();
    }

    /// Returns true if the folder of a project was never wholly scanned before: files that are new
    /// to the history were there when it became a project, and are not edits.
    pub(crate) fn is_first_scan(&self, name: &ProjectName, project_row: i64) -> Result<bool> {
        Ok(match index::is_scanned(self.db, project_row)? {
            Some(is_scanned) => !is_scanned,
            // The index may be newer than the project.
            None => {
                let since = self.inner.vault.last_removed(name)?;
                !history::has_later_scans(self.db, project_row, since)?
            }
        })
    }
}

/// The end of one device's log that may not have been applied to the files.
pub(super) struct UnappliedTail {
    pub(super) device: String,
    pub(super) from: LogPosition,
    pub(super) crash: CrashKind,
}

/// Returns the place of a torn record in the last batch of a log, if whole records of this batch follow
/// it: a power cut took some pages of one write. `seq` is the number of the record before those found.
fn torn_batch(seq: u64, found: &[LoggedRecord], damage: &[LogDamage]) -> Option<LogPosition> {
    let last = damage.last()?;
    let offset = last.offset + last.bytes;
    let behind = found.iter().position(|placed| placed.at.offset == offset)?;
    let (before, behind) = found.split_at(behind);
    let first = behind.first()?;
    let is_of_batch = behind.iter().zip(first.record.link.batch_index..).all(|(placed, n)| {
        placed.record.link.batch_index == n && placed.at.segment == first.at.segment
    });
    // Only records of this batch are missing.
    let whole = before.last().map_or(seq, |placed| placed.record.link.seq);
    let begins_at = first.record.link.seq.checked_sub(first.record.link.batch_index)?;
    let is_torn = first.record.link.batch_index > 0 && is_of_batch && whole + 1 >= begins_at;
    is_torn.then_some(LogPosition { segment: first.at.segment, offset: last.offset })
}

/// State of the end of the log, compared with the last write of this process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LogState {
    /// Unchanged since the last write of this process.
    AsLeft,
    /// Perhaps something else.
    Unknown,
}

/// Extent to which the index follows the log before work under the lock.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexFollow {
    Whole,
    /// The index may lack the pending commits of this process: the work indexes those that concern
    /// it.
    ExceptPending,
}

impl StoreInner {
    /// Takes the vault's lock, brings log, files and index in step, and does some work.
    pub(crate) fn with_session<R, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut WriteSession<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.with_session_at(IndexFollow::Whole, work)
    }

    /// Takes the vault's lock for work that settles the pending commits which concern it.
    pub(crate) fn with_pending_session<R, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&mut WriteSession<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.with_session_at(IndexFollow::ExceptPending, work)
    }

    fn with_session_at<R, E: From<StoreError>>(
        &self,
        follow: IndexFollow,
        work: impl FnOnce(&mut WriteSession<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.end_shared_read();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.writer();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.hold_vault(guard, LockWait::Write(self.options.lock_patience), follow, work)
    }

    /// Brings the index in step with the log for a read. Fails with [`StoreError::Busy`] after a
    /// short wait, at once if the holder of the lock is suspended, and at once for some seconds
    /// after that: a process that was stopped must not stop readers.
    pub(crate) fn catch_up_for_read(&self) -> Result<()> {
        let is_blocked =
            self.blocked_at().is_some_and(|at| machine::moment().saturating_sub(at) < BLOCKED_FOR);
        let patience = if is_blocked { Duration::ZERO } else { READ_PATIENCE };
        let result = self.catch_up_within(patience.min(self.options.lock_patience));
        *self.blocked_at() = match &result {
            Err(StoreError::Busy { .. }) => Some(machine::moment()),
            _ => None,
        };
        result
    }

    fn catch_up_within(&self, patience: Duration) -> Result<()> {
        let started = machine::moment();
        let guard = loop {
            match self.writer.try_lock() {
                Ok(guard) => break guard,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if machine::moment() - started < patience => {
                    machine::pause(Duration::from_micros(100));
                }
                Err(TryLockError::WouldBlock) => {
                    let (holder, seconds) = (machine::process_id(), patience.as_secs());
                    return Err(StoreError::Busy { holder, is_suspended: false, seconds });
                }
            }
        };
        let patience = patience.saturating_sub(machine::moment() - started);
        self.hold_vault(guard, LockWait::Read(patience), IndexFollow::Whole, |_| Ok(()))
    }

    /// The moment at which a read last found the lock busy for too long.
    fn blocked_at(&self) -> MutexGuard<'_, Option<Duration>> {
        self.blocked_at.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn hold_vault<R, E: From<StoreError>>(
        &self,
        mut guard: MutexGuard<'_, VaultWriter>,
        wait: LockWait,
        follow: IndexFollow,
        work: impl FnOnce(&mut WriteSession<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let writer = &mut *guard;
        self.vault.check_reachable()?;
        if let Some(lock) = writer.lock.reopened()? {
            // The drive was away, or the vault was replaced: what this process had open is gone.
            *writer = VaultWriter::new(lock);
            self.pending().clear();
        }
        if let Some(reason) = &writer.halted {
            return Err(StoreError::Halted(reason.clone()).into());
        }
        let held = writer.lock.acquire(wait)?;
        // An open lock file can be locked without its drive. The log would then count as empty, and
        // the index as one of a history that is gone.
        self.vault.check_reachable()?;
        if !writer.lock.has_its_name() {
            // It was replaced during the wait, so that it excludes nobody.
            return Err(StoreError::Busy { holder: 0, is_suspended: false, seconds: 0 }.into());
        }
        self.upgrade_format(&held)?;
        let state = self.follow_log(&held, &mut writer.log)?;
        if state == LogState::Unknown {
            self.pending().clear();
        }
        let Some(log) = &mut writer.log else {
            return Err(StoreError::Halted("the log cannot be opened".into()).into());
        };
        if let Err(e) = self.follow_index(&held, &mut writer.db, log.end(), follow, state) {
            if !e.is_index_damage() {
                return Err(e.into());
            }
            writer.db = None;
            self.index.create()?;
            self.follow_index(&held, &mut writer.db, log.end(), IndexFollow::Whole, state)?;
        }
        let Some((db, _)) = &writer.db else {
            return Err(StoreError::Halted("the index cannot be opened".into()).into());
        };
        self.complete_removals(db)?;
        let VaultWriter { halted, .. } = writer;
        let result = work(&mut WriteSession { inner: self, held, log, db, halted });
        if writer.halted.is_some() {
            writer.log = None;
        }
        result
    }

    /// Waits while others of this process wait for the vault, but not for long: for work that takes
    /// the vault again and again, and would get it each time before them.
    pub(crate) fn yield_to_waiters(&self) {
        const PAUSE: Duration = Duration::from_micros(200);
        for _ in 0..100 {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                break;
            }
            machine::pause(PAUSE);
        }
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, VaultWriter> {
        // A panic elsewhere leaves the writer as it was: every step can be repeated.
        self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Reads the log to its end, and completes unfinished commits of this device and of other
    /// devices on this machine, such as a container.
    fn follow_log(
        &self,
        held: &VaultLockGuard<'_>,
        log: &mut Option<LogWriter>,
    ) -> Result<LogState> {
        let device = &self.vault.device;
        let own = held.applied(device);
        let mut tails = self.unapplied_in_this_run(held)?;
        let trusted = own.as_ref().filter(|own| own.restarted == Restarted::No);
        if let (Some(writer), Some(own)) = (log.as_mut(), trusted)
            && tails.is_empty()
            && writer.end() == own.position
            && writer.is_at_end()
        {
            return Ok(LogState::AsLeft);
        }
        self.force_rewritten_log(device)?;
        let end = self.log.end(device)?;
        match trusted {
            // A position beyond the end: `vacuum` rewrote the log after it had applied everything.
            Some(own) if own.position >= end => held.set_applied(device, end)?,
            Some(own) => {
                let crash = match self.space {
                    Some(_) => CrashKind::Remote,
                    None => CrashKind::Process,
                };
                tails.push(UnappliedTail { device: device.clone(), from: own.position, crash });
            }
            None => self.add_unapplied_of_last_run(held, &mut tails)?,
        }
        let mut may_be_copy = false;
        for tail in &tails {
            may_be_copy |= !self.log.was_written_here(&tail.device)?;
        }
        let mut writer = match log.take() {
            Some(mut writer) => {
                writer.move_to(end)?;
                writer
            }
            None => {
                // The vault may be a copy that was put here in this run, with the record of its old
                // place. After a power cut, other devices replay only logs that were written here.
                if trusted.is_some() && self.log.run(device)?.is_some() {
                    self.log.set_run(device, held.run())?;
                }
                self.log.writer(device, end)?
            }
        };
        if !tails.is_empty() {
            self.complete(held, &mut writer, &tails, may_be_copy)?;
        }
        *log = Some(writer);
        Ok(LogState::Unknown)
    }

    /// Returns the ends of other devices' logs whose process died in this run of the machine.
    fn unapplied_in_this_run(&self, held: &VaultLockGuard<'_>) -> Result<Vec<UnappliedTail>> {
        let mut tails = Vec::new();
        for entry in held.applied_of_others(&self.vault.device) {
            let AppliedEntry { device, position, restarted, .. } = entry;
            if restarted == Restarted::No
                && !self.log.is_end(&device, position)
                && position < self.log.end(&device)?
            {
                tails.push(UnappliedTail { device, from: position, crash: CrashKind::Process });
            }
        }
        Ok(tails)
    }

    /// Adds the ends of the logs that nobody has applied since the machine was restarted, this
    /// device's own among them.
    ///
    /// Invariant: in each run of the machine, the first holder of the lock applies the logs of *all*
    /// devices that wrote to these files before, whichever device it is, and only then may any file be
    /// recorded as an edit. A power cut took what was not forced from all of them alike.
    fn add_unapplied_of_last_run(
        &self,
        held: &VaultLockGuard<'_>,
        tails: &mut Vec<UnappliedTail>,
    ) -> Result<()> {
        let own = &self.vault.device;
        // The table in the lock file is not forced, so a power cut can take it, too.
        let run_of = |device: &str| match self.log.run(device) {
            Ok(None) => Ok(held.applied(device).map(|entry| entry.run)),
            recorded => recorded,
        };
        let last_run = run_of(own)?;
        let crash_since = |run: Option<MachineRun>| match run {
            Some(run) if held.run().restarted_since(run) == Restarted::Yes => CrashKind::PowerLoss,
            // The table is lost without a power cut: how far the log was applied is not known, and
            // a person may have touched a file since.
            _ => CrashKind::Unknown,
        };
        for device in self.log.devices()? {
            let is_applied =
                || held.applied(&device).is_some_and(|entry| entry.restarted == Restarted::No);
            if device == *own || tails.iter().any(|tail| tail.device == device) || is_applied() {
                continue;
            }
            let run = run_of(&device)?;
            let crash = crash_since(run);
            let is_of_last_run =
                run == last_run && last_run.is_some_and(|run| run.boot != BootId::Unknown);
            // A device that wrote in this very place: a container, a device that lost its name, or one
            // of a machine that the drive was attached to.
            let is_left_here =
                crash == CrashKind::PowerLoss && self.log.was_written_here(&device)?;
            if is_of_last_run || is_left_here {
                let from = self.checkpoint(&device)?;
                tails.push(UnappliedTail { device, from, crash });
            }
        }
        let crash = crash_since(last_run);
        tails.push(UnappliedTail { device: own.clone(), from: self.checkpoint(own)?, crash });
        if tails.iter().any(|tail| tail.crash == CrashKind::PowerLoss) {
            // Without the mark only `doctor` knows less.
            self.mark_unscanned().ok();
        }
        Ok(())
    }

    /// Completes what the ends of logs say, and records that they are applied.
    fn complete(
        &self,
        held: &VaultLockGuard<'_>,
        writer: &mut LogWriter,
        tails: &[UnappliedTail],
        may_be_copy: bool,
    ) -> Result<()> {
        let own = &self.vault.device;
        let mut records = Vec::new();
        let (mut ends, mut replayed) = (Vec::new(), BTreeMap::new());
        for tail in tails {
            let first = records.len();
            let (from, read) = self.read_tail(tail, &mut records)?;
            replayed.insert(tail.device.clone(), from);
            if tail.device == *own {
                writer.cut_tail(read.end)?;
            } else if let Ok(mut theirs) = self.log.writer(&tail.device, read.end) {
                // If this fails, the device cuts its own torn record when it comes back.
                theirs.cut_tail(read.end).ok();
            }
            // The process may have died before it forced its last record. What that record replaces is
            // perhaps in no other place.
            if matches!(tail.crash, CrashKind::Process | CrashKind::Unknown)
                && records.len() > first
            {
                self.log.force(&tail.device, read.end)?;
            }
            ends.push((&tail.device, read.end));
        }
        let recovery = Recovery::new(self, None, records, &replayed)?;
        let mut recovery = recovery.of_copy(may_be_copy);
        let torn = recovery.plan()?;
        if !torn.is_empty() {
            // The index is not in step yet, so the logs themselves say how late it is elsewhere.
            let clock = self.log.latest_clock_of_others(own)?;
            let seen = SeenDevices { clock, ..SeenDevices::default() };
            writer.append(torn, &seen)?;
        }
        recovery.perform()?;
        for (device, end) in ends {
            let end = if device == own { writer.end() } else { end };
            // Before the first record of this run, so that a power cut is known for one.
            if let Err(e) = self.log.set_run(device, held.run())
                && device == own
            {
                return Err(e);
            }
            held.set_applied(device, end)?;
        }
        Ok(())
    }

    /// Reads the records of a log's end, and returns where it began and ended. If a position means
    /// nothing in this log, everything is read.
    pub(super) fn read_tail(
        &self,
        tail: &UnappliedTail,
        records: &mut Vec<UnappliedRecord>,
    ) -> Result<(LogPosition, LogReadEnd)> {
        let UnappliedTail { device, from, crash } = tail;
        let mut start = *from;
        let mut found = Vec::new();
        let mut read = self.log.read_from(device, *from, ReadCheck::Whole, |placed| {
            found.push(placed);
            Ok(())
        })?;
        if read.damage.first().is_some_and(|damage| damage.offset == from.offset) {
            // The last record is torn, or the log was rewritten since the position was noted.
            let mut all = Vec::new();
            let whole =
                self.log.read_from(device, LogPosition::default(), ReadCheck::Whole, |placed| {
                    all.push(placed);
                    Ok(())
                })?;
            if whole.end != read.end {
                (start, found, read) = (LogPosition::default(), all, whole);
            }
        }
        let may_be_torn = matches!(crash, CrashKind::Unknown | CrashKind::PowerLoss);
        if may_be_torn && !read.damage.is_empty() {
            let seq = self.log.chain_end(device, start)?.seq;
            if let Some(torn) = torn_batch(seq, &found, &read.damage) {
                // What follows was written together with the torn record, and not acknowledged.
                read.end = torn;
                found.retain(|placed| placed.end <= torn);
            }
        }
        records.extend(found.into_iter().map(|placed| UnappliedRecord {
            device: device.clone(),
            clock: clock_of_record(&placed.record),
            placed,
            crash: *crash,
        }));
        Ok((start, read))
    }

    /// Reads into the index what other devices of this machine have written.
    fn follow_other_logs(
        &self,
        held: &VaultLockGuard<'_>,
        db: &Connection,
        state: LogState,
    ) -> Result<()> {
        for entry in held.applied_of_others(&self.vault.device) {
            let read = history::read_to(db, &entry.device)?.position;
            let is_behind = match entry.restarted {
                Restarted::No => read < entry.position,
                // Where the system has no identity for its runs, the log itself has to say.
                Restarted::Yes | Restarted::Unknown => !self.log.is_end(&entry.device, read),
            };
            if is_behind {
                self.read_log_into_index(db, &entry.device, read)?;
            } else if state == LogState::Unknown {
                self.check_read_log(db, &entry.device)?;
            }
        }
        if state == LogState::Unknown {
            // The vault may have been set back to a time before another device wrote to it: then nothing
            // names that device any more.
            for device in history::read_devices(db)? {
                if device != self.vault.device && held.applied(&device).is_none() {
                    self.check_read_log(db, &device)?;
                }
            }
        }
        Ok(())
    }

    /// Opens the index if need be and tells it what the log has beyond it.
    fn follow_index(
        &self,
        held: &VaultLockGuard<'_>,
        db: &mut Option<(Connection, Option<(u64, u64)>)>,
        end: LogPosition,
        follow: IndexFollow,
        mut state: LogState,
    ) -> Result<()> {
        let identity = self.index.identity();
        if db.as_ref().is_some_and(|(_, opened)| *opened != identity) {
            *db = None;
        }
        if db.is_none() {
            *db = Some(self.open_index()?);
            state = LogState::Unknown;
        }
        let Some((db, _)) = db else { return Ok(()) };
        let read = history::read_to(db, &self.vault.device)?;
        if read.position > end {
            self.warn_set_back();
            return Err(StoreError::index_damage());
        }
        if state == LogState::Unknown && read.position == end {
            self.check_read_log(db, &self.vault.device)?;
        }
        let pending = {
            let mut pending = self.pending();
            if pending.lead(read.position, end) {
                let may_wait = follow == IndexFollow::ExceptPending && !pending.is_full();
                if may_wait { None } else { Some(pending.take()) }
            } else {
                pending.clear();
                Some(Vec::new())
            }
        };
        match pending {
            Some(updates) if !updates.is_empty() => self.index_updates(db, &updates)?,
            Some(_) if read.position < end => {
                self.read_log_into_index(db, &self.vault.device, read.position)?;
            }
            Some(_) | None => {}
        }
        self.follow_other_logs(held, db, state)
    }

    fn open_index(&self) -> Result<(Connection, Option<(u64, u64)>)> {
        let mut opened = match self.index.state()? {
            IndexState::Sound => Some(self.index.open_writer()?),
            IndexState::Unusable => None,
        };
        opened = opened.filter(IndexFile::is_current);
        let db = match opened {
            Some(db) => db,
            None => self.index.create()?,
        };
        let identity = self.index.identity();
        self.index.trust(identity);
        Ok((db, identity))
    }

    /// Checks that the last commit that the index has read lies where it says in the log, and that
    /// reading can go on behind it. A vault that was set back to a backup and has grown since has other
    /// commits there, and so has a log that `vacuum` rewrote, even if its length is the same again.
    fn check_read_log(&self, db: &Connection, device: &str) -> Result<()> {
        let Some((commit, at)) = history::last_read(db, device)? else { return Ok(()) };
        let read = history::read_to(db, device)?.position;
        if self.log.has_records(device, commit, at, read)? {
            return Ok(());
        }
        self.warn_set_back();
        Err(StoreError::index_damage())
    }

    /// Says that the log no longer has commits that it had: what the index knows is not so.
    fn warn_set_back(&self) {
        tracing::warn!(
            "the history of {} ends earlier than before, or differently: the vault was set back, \
             perhaps from a backup or by a program that copies files. The history that is there \
             now counts; if it should be the newer one, put back a copy of {}",
            self.vault.home.display(),
            self.vault.state.join("log").display()
        );
    }

    /// Takes new records into the history, and looks at the files that they name.
    pub(crate) fn read_log_into_index(
        &self,
        db: &Connection,
        device: &str,
        from: LogPosition,
    ) -> Result<()> {
        self.check_read_log(db, device)?;
        let transaction = db.unchecked_transaction()?;
        let mut files = std::collections::BTreeSet::new();
        self.log.read_from(device, from, ReadCheck::Meta, |placed: LoggedRecord| {
            if placed.record.purge.is_some() && from > LogPosition::default() {
                // A `vacuum` has rewritten what this index has read of any log.
                return Err(StoreError::index_damage());
            }
            history::add(db, device, &placed)?;
            for file in &placed.record.commit.files {
                files.insert((file.project.clone(), file.path.clone()));
                files.extend(file.moved_from.clone().map(|from| (file.project.clone(), from)));
            }
            Ok(())
        })?;
        // A new index is filled by a whole walk, so that only the files that it has already need a look.
        let is_complete = index::is_complete(db)?;
        if is_complete || index::has_rows(db)? {
            let mut batch = IndexBatch::new(db);
            for (project, path) in &files {
                if is_complete
                    || index::row(db, index::project_id_of(db, project)?, path)?.is_some()
                {
                    self.refresh(&mut batch, project, path)?;
                }
            }
            batch.finish()?;
        }
        transaction.commit()?;
        self.index.note_written(db)
    }
}
