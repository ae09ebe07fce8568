//! Recovery: completes what the logs say was decided before a process died or power was lost.
//!
//! Applying a record again changes nothing if it was applied. A file that holds no version of the
//! logs was edited by a person and is kept. The one exception is a torn file after a power cut: an
//! empty, shortened or zero-filled version that was written after the last checkpoint. Its bytes
//! enter the history before the acknowledged version replaces them.

mod evidence;
mod exchange;
mod replaced;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use memoranda_core::change::{Author, ChangeChannel, Commit, CommitKind, FileChange};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::commit::recover::evidence::{
    find_displaced, has_name, is_untouched, look_before_cleaning, read_second_name, withdraw_link,
};
use crate::commit::recover::exchange::{place_unless_saved, set_aside, swap_found};
use crate::commit::recover::replaced::ReplacedFile;
use crate::error::{NotAFileKind, Result, StoreError};
use crate::files::{FileContent, ProjectRoot, temp_names};
use crate::index;
use crate::log::chain::clock_of;
use crate::log::{
    ContentLocation, FileRecord, LogPosition, LogRecord, LoggedRecord, ReadCheck, RecordBody,
};
use crate::scan::CLOCK_TICK_NS;
use crate::{StoreInner, clock};

/// The author of what recovery records: as client, and as tool for the acknowledged version that it puts in
/// the place of another. That is a write of ours, which the next power cut may take back.
const RECOVERY: &str = "memoranda";
const RESTORES: &str = "restore after a crash";

/// Number of temporary names that a write may leave: its own, the one of the file that it displaced, and
/// the one of the file that recovery displaced for it.
const NAMES_PER_WRITE: usize = 3;

/// The event that may have left files behind their log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum CrashKind {
    /// A process died: every write that it made is visible.
    Process,
    /// Records came from a remote log, so that no file has them yet.
    Remote,
    /// Perhaps the machine was restarted. A file counts as torn only if nobody touched it since.
    Unknown,
    /// The machine was restarted: what was not forced to disk may be older, missing or torn.
    PowerLoss,
}

/// A record to complete.
pub(crate) struct UnappliedRecord {
    pub(crate) device: String,
    pub(crate) placed: LoggedRecord,
    pub(crate) crash: CrashKind,
    /// Hybrid clock of the record. Times are no order: a machine's clock can be set back.
    pub(crate) clock: u64,
}

/// Returns the hybrid clock of a record. One of format 1 has only a time.
pub(crate) fn clock_of_record(record: &LogRecord) -> u64 {
    match record.link.seq {
        0 => clock_of(record.commit.time.as_millisecond()),
        _ => record.link.clock,
    }
}

impl UnappliedRecord {
    fn time_ms(&self) -> i64 {
        self.placed.record.commit.time.as_millisecond()
    }
}

/// One file in the records, from the first to the last.
struct FileHistory {
    /// Every version that the file had on the way.
    versions: Vec<Option<ContentHash>>,
    /// Times at which this program wrote the file, in milliseconds since 1970.
    written_ms: Vec<i64>,
    last_ms: i64,
    /// Time at which the last version was written: a move keeps that time.
    content_time: ContentTime,
    last_clock: u64,
    crash: CrashKind,
    /// True if the last record is a write of ours rather than an edit that was found on disk.
    is_ours: bool,
    /// True if any record is a write of ours, which may not have reached the disk.
    has_ours: bool,
    /// The place of our last write among the versions.
    ours_at: usize,
    /// The permalink that the last record gave to the note.
    permalink: Option<String>,
    /// The other place of the file, if the last record moved it here or away from here.
    moved: Option<NotePath>,
    /// The other places of the file in all records.
    places: Vec<NotePath>,
    /// Temporary names that a crash may have left in the file's folder.
    temporaries: Vec<(String, TempFileState)>,
}

/// Time at which a version of a file was written.
#[derive(Clone, PartialEq, Eq)]
enum ContentTime {
    /// At this time, in milliseconds since 1970.
    At(i64),
    /// The time of the file at this path, from which it was moved.
    Of(NotePath),
}

impl FileHistory {
    fn new(crash: CrashKind) -> Self {
        Self {
            versions: Vec::new(),
            written_ms: Vec::new(),
            last_ms: i64::MIN,
            content_time: ContentTime::At(0),
            last_clock: 0,
            crash,
            is_ours: false,
            has_ours: false,
            ours_at: 0,
            permalink: None,
            moved: None,
            places: Vec::new(),
            temporaries: Vec::new(),
        }
    }

    /// Returns the version of our last write; `None` if it was a removal.
    fn our_last(&self) -> Option<ContentHash> {
        self.versions.get(self.ours_at).copied().flatten().filter(|_| self.has_ours)
    }

    fn last(&self) -> Option<ContentHash> {
        self.versions.last().copied().flatten()
    }

    /// Returns the temporary names of our last write.
    fn last_temporaries(&self) -> impl Iterator<Item = &String> {
        self.temporaries.iter().rev().take(NAMES_PER_WRITE).map(|(name, _)| name)
    }

    /// Returns true if the logs ask for the last version to be on disk.
    ///
    /// An edit by hand that a power cut took away together with a write of ours comes back, too.
    /// A removal by hand is not repeated.
    fn is_due(&self) -> bool {
        if self.crash == CrashKind::Remote {
            return true;
        }
        let is_lost_edit =
            self.crash != CrashKind::Process && self.has_ours && self.last().is_some();
        self.is_ours || is_lost_edit
    }
}

impl FileHistory {
    /// Returns true if the file has a version from before our last write, which was acknowledged.
    fn is_behind(&self, current: Option<ContentHash>) -> bool {
        let at = self.versions.iter().rposition(|version| *version == current);
        self.has_ours && at.is_some_and(|at| at < self.ours_at)
    }
}

impl FileHistory {
    /// Returns true if a file got its bytes and its name before our last write: a power cut took back
    /// that write, and brought back an edit that another one had replaced before anybody saw it.
    fn is_older(&self, found: &FileContent) -> bool {
        let changed_ns = found.stat.mtime_ns.max(found.stat.ctime_ns);
        let changed_ms = changed_ns.saturating_add(CLOCK_TICK_NS).div_euclid(1_000_000);
        self.written_ms.last().is_some_and(|written_ms| changed_ms < *written_ms)
    }
}

/// The possible contents of a temporary file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TempFileState {
    /// The new version, or the file that had the name before.
    NewOrDisplaced,
    /// The new version of a file that comes from elsewhere. Anything else had the name of the
    /// place that the file comes from.
    New,
}

/// A torn or displaced file in whose place recovery leaves another version.
struct TornFile {
    project: ProjectName,
    path: NotePath,
    found: FileContent,
    acknowledged: Option<ContentHash>,
    permalink: Option<String>,
}

/// A file that recovery writes or removes.
struct Repair {
    project: ProjectName,
    path: NotePath,
    time_ms: i64,
    current: Option<ContentHash>,
    last: Option<ContentHash>,
    mode: Option<u32>,
    /// A temporary name that recovery looks at: if it is interrupted, the next one finds there what it
    /// had displaced.
    aside: String,
}

type FileKey = (ProjectName, NotePath);

/// Decides what recovery does to each file that the records name.
pub(crate) struct Recovery<'a> {
    inner: &'a StoreInner,
    /// The only project that is looked at; `None` for all projects.
    project: Option<&'a ProjectName>,
    /// True if the vault may be a copy, in which files can be older than the log.
    may_be_copy: bool,
    files: BTreeMap<FileKey, FileHistory>,
    /// Files whose place a later write of another log has. What our writes had displaced may still have
    /// temporary names.
    replaced: BTreeMap<FileKey, ReplacedFile>,
    /// The names that the records give to files.
    places: BTreeSet<FileKey>,
    contents: HashMap<ContentHash, ContentLocation>,
    roots: BTreeMap<ProjectName, Option<ProjectRoot>>,
    repairs: Vec<Repair>,
    /// Files that are in place, but perhaps not on a drive that can be pulled: the process died
    /// before it forced them.
    in_place: Vec<FileKey>,
    /// Files that are missing and stay so, because somebody may have removed them.
    left_missing: BTreeSet<FileKey>,
    /// Temporary names that are known as those of new versions: the old place of a moved file has not
    /// been displaced to them.
    claimed: BTreeSet<String>,
    torn: Vec<TornFile>,
    /// Temporary files next to a file, to be removed once the log has their bytes.
    leftovers: Vec<(ProjectName, NotePath, String)>,
}

impl<'a> Recovery<'a> {
    /// Reads records of one or more devices. Records of different devices are ordered by their hybrid
    /// clocks: under the vault's lock, the later one has seen the earlier one.
    /// `replayed` has the place from which the log of each device was read. With a project, nothing
    /// is done to the files of others.
    pub(crate) fn new(
        inner: &'a StoreInner,
        project: Option<&'a ProjectName>,
        mut records: Vec<UnappliedRecord>,
        replayed: &BTreeMap<String, LogPosition>,
    ) -> Result<Self> {
        let mut clocks: HashMap<String, u64> = HashMap::new();
        for record in &mut records {
            // Records of format 1 follow each other as they lie in the log.
            let last = clocks.entry(record.device.clone()).or_default();
            *last = record.clock.max(*last);
            record.clock = *last;
        }
        records.sort_by_key(|record| record.clock);
        let mut recovery = Self {
            inner,
            project,
            may_be_copy: false,
            files: BTreeMap::new(),
            replaced: BTreeMap::new(),
            places: BTreeSet::new(),
            contents: HashMap::new(),
            roots: BTreeMap::new(),
            repairs: Vec::new(),
            in_place: Vec::new(),
            left_missing: BTreeSet::new(),
            claimed: BTreeSet::new(),
            torn: Vec::new(),
            leftovers: Vec::new(),
        };
        for record in &records {
            recovery.add(record);
        }
        if let Some(first) = records.first() {
            recovery.leave_later_writes(replayed, first.clock)?;
        }
        Ok(recovery)
    }

    /// Recovers a vault that may be a copy: a file that is missing was perhaps never copied.
    pub(crate) fn of_copy(self, may_be_copy: bool) -> Self {
        Self { may_be_copy, ..self }
    }

    fn add(&mut self, unapplied: &UnappliedRecord) {
        let UnappliedRecord { device, placed, crash, clock } = unapplied;
        let commit = &placed.record.commit;
        let is_ours = commit.author.channel != ChangeChannel::Disk
            || (commit.author.client == RECOVERY && commit.author.tool == RESTORES);
        for (n, file) in commit.files.iter().enumerate() {
            if let (Some(hash), Some(at)) = (file.after, placed.content_at(device, n)) {
                self.contents.insert(hash, at);
            }
            if self.project.is_some_and(|project| *project != file.project) {
                continue;
            }
            let permalink = placed.record.notes.get(n).and_then(|note| note.permalink.clone());
            let mut extend = |path: &NotePath,
                              before: Option<ContentHash>,
                              after: Option<ContentHash>,
                              temporary,
                              moved: Option<&NotePath>| {
                let key = (file.project.clone(), path.clone());
                let history = self.files.entry(key).or_insert_with(|| FileHistory::new(*crash));
                history.versions.extend([before, after]);
                history.last_ms = unapplied.time_ms();
                // That of the version that a move takes away is asked for by `keep_time`.
                if after.is_some() {
                    history.content_time = ContentTime::At(unapplied.time_ms());
                }
                history.last_clock = *clock;
                history.crash = history.crash.max(*crash);
                history.is_ours = is_ours;
                history.has_ours |= is_ours;
                history.permalink.clone_from(&permalink);
                history.moved = moved.cloned();
                history.places.extend(moved.cloned());
                if is_ours {
                    history.ours_at = history.versions.len() - 1;
                    history.written_ms.push(unapplied.time_ms());
                    let name = temp_names::of_commit(commit.id, n);
                    let displaced = temp_names::of_displaced(&name);
                    history.temporaries.push((name, temporary));
                    // An exchange by steps sets aside what has the name, also one that recovery makes.
                    let of_recovery = temp_names::of_displaced(&displaced);
                    history.temporaries.push((displaced, TempFileState::NewOrDisplaced));
                    history.temporaries.push((of_recovery, TempFileState::NewOrDisplaced));
                }
            };
            match &file.moved_from {
                Some(from) => {
                    let (path, displaced) = (&file.path, TempFileState::NewOrDisplaced);
                    extend(from, file.before, None, displaced, Some(path));
                    extend(path, None, file.after, TempFileState::New, Some(from));
                    if file.before == file.after {
                        self.keep_time(&file.project, from, path, unapplied.time_ms());
                    }
                }
                None => {
                    let displaced = TempFileState::NewOrDisplaced;
                    extend(&file.path, file.before, file.after, displaced, None);
                }
            }
        }
    }

    /// Gives a file that was moved the time of its content.
    fn keep_time(&mut self, project: &ProjectName, from: &NotePath, to: &NotePath, moved_ms: i64) {
        let key = |path: &NotePath| (project.clone(), path.clone());
        let source = self.files.get(&key(from)).map(|source| source.content_time.clone());
        let kept = match source {
            // The records do not say when it was written there.
            None | Some(ContentTime::At(0)) => ContentTime::Of(from.clone()),
            Some(known) => known,
        };
        if let Some(target) = self.files.get_mut(&key(to))
            && target.last_ms == moved_ms
        {
            target.content_time = kept;
        }
    }

    /// Returns when the last version of a file was written, in milliseconds since 1970.
    fn content_ms(&self, project: &ProjectName, history: &FileHistory) -> i64 {
        let from = match &history.content_time {
            ContentTime::At(ms) => return *ms,
            ContentTime::Of(from) => from,
        };
        let on_disk = self.root(project).and_then(|root| root.stat(from).ok().flatten());
        let mtime_ns = Cell::new(on_disk.map(|stat| stat.mtime_ns));
        if mtime_ns.get().is_none() && self.inner.is_provisional() {
            let known = self.inner.peek(|db| {
                let row = index::row(db, index::project_id_of(db, project)?, from)?;
                mtime_ns.set(row.map(|row| row.stat.mtime_ns));
                Ok(())
            });
            known.ok();
        }
        mtime_ns.get().map_or(history.last_ms, |ns| ns.div_euclid(1_000_000))
    }

    /// Leaves out the files for which another log has a later record that is not replayed: one of a
    /// device whose own log decides, or one before a checkpoint, which is on disk.
    fn leave_later_writes(
        &mut self,
        replayed: &BTreeMap<String, LogPosition>,
        since: u64,
    ) -> Result<()> {
        let inner = self.inner;
        for device in inner.log.devices()? {
            let until = replayed.get(&device).copied();
            // Within one log, whatever lies before the replayed part is earlier.
            let is_only_one = until.is_some() && replayed.len() == 1;
            if is_only_one || inner.log.last_clock(&device)? < since {
                continue;
            }
            inner.log.read_from(&device, Default::default(), ReadCheck::Meta, |placed| {
                if until.is_some_and(|until| placed.at >= until) {
                    return Ok(());
                }
                let clock = clock_of_record(&placed.record);
                let commit = placed.record.commit;
                for file in commit.files.into_iter().filter(|_| clock >= since) {
                    let from = file.moved_from.map(|path| (path, None));
                    for (path, last) in [Some((file.path, file.after)), from].into_iter().flatten()
                    {
                        self.leave_replaced((file.project.clone(), path), clock, last);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Looks at every file and decides. Returns the record that keeps the bytes of torn files and
    /// the record that replaces them, for the log; none if no file is torn.
    pub(crate) fn plan(&mut self) -> Result<Vec<(LogRecord, RecordBody)>> {
        // New places first: a moved file is never only in the log, and a temporary file is known
        // as the new version before the old place is looked at.
        self.places = self.files.keys().cloned().collect();
        let files = std::mem::take(&mut self.files).into_iter();
        let (kept, removed): (Vec<_>, Vec<_>) = files.partition(|(_, file)| file.last().is_some());
        for ((project, path), history) in kept.into_iter().chain(removed) {
            if !self.open_root(&project, &history)? {
                continue;
            }
            match self.plan_file(&project, &path, &history) {
                // The log cannot give the content any more; every other file is completed.
                Ok(()) | Err(StoreError::NotAFile { .. } | StoreError::ContentGone(_)) => {}
                Err(e) => return Err(e),
            }
        }
        self.keep_displaced()?;
        Ok(self.torn_records())
    }

    /// Opens a project's folder once; false if it is away. A folder that is away is looked at by
    /// the next scan. A folder that could not be opened for another reason stops the recovery:
    /// its records must not count as applied.
    fn open_root(&mut self, project: &ProjectName, history: &FileHistory) -> Result<bool> {
        if let Some(root) = self.roots.get(project) {
            return Ok(root.is_some());
        }
        let found = match self.inner.vault.project(project.as_str()) {
            // The folder itself may not have reached the disk. A removed file needs no folder.
            Err(StoreError::NoProject { .. })
                if history.last().is_some()
                    && (history.has_ours || history.crash == CrashKind::Remote) =>
            {
                self.inner.vault.project_or_new(project)
            }
            found => found,
        };
        let places = self.places.iter().filter(|(of, _)| of == project).map(|(_, path)| path);
        let root = match found.and_then(|project| self.inner.root_replayed(&project, places)) {
            Ok(root) => Some(root),
            Err(
                StoreError::NoProject { .. }
                | StoreError::ProjectUnavailable { .. }
                | StoreError::ProjectIsLink { .. },
            ) => None,
            Err(e) => return Err(e),
        };
        Ok(self.roots.entry(project.clone()).or_insert(root).is_some())
    }

    fn root(&self, project: &ProjectName) -> Option<&ProjectRoot> {
        self.roots.get(project)?.as_ref()
    }

    fn plan_file(
        &mut self,
        project: &ProjectName,
        path: &NotePath,
        history: &FileHistory,
    ) -> Result<()> {
        let Some(root) = self.root(project) else { return Ok(()) };
        // Files that are forced before the answer cannot be torn. They may have been away with
        // their drive, and a person may have edited them there.
        let is_forced = self.inner.vault.forces_files(root);
        let crash = if is_forced { history.crash.min(CrashKind::Unknown) } else { history.crash };
        let seen = match crash {
            CrashKind::Unknown => look_before_cleaning(root, path, history, is_forced)?,
            _ => None,
        };
        // A drive that was pulled may have torn what was displaced, also if only a process died.
        let doubt = if is_forced { crash.max(CrashKind::Unknown) } else { crash };
        let may_be_deleted = crash == CrashKind::Process && !is_forced && !self.may_be_copy;
        let displaced = find_displaced(root, path, history, doubt, may_be_deleted, &self.claimed)?;
        let mut mode = displaced.mode;
        let mut has_both_names = false;
        let found = match root.read(path) {
            Err(StoreError::NotAFile { kind: NotAFileKind::HardLink, .. }) => {
                match read_second_name(root, path, history)? {
                    // A person gave the file another name.
                    None => return Ok(()),
                    Some(found)
                        if self.is_linked_save(&found, history, crash)?
                            && withdraw_link(root, path, history)? =>
                    {
                        None
                    }
                    Some(found) => {
                        has_both_names = has_name(root, history.moved.as_ref(), &found)?
                            && history.versions.contains(&Some(found.hash));
                        Some(found)
                    }
                }
            }
            read => read?,
        };
        // After the read, so that a save or a removal in between is seen. Our last version still has its
        // temporary name until it is placed, whatever the times say.
        let is_untouched = match &seen {
            Some(seen) => {
                displaced.has_last_version
                    || has_both_names
                    || is_untouched(root, path, history, seen)?
            }
            None => true,
        };
        let current = found.as_ref().map(|found| found.hash);
        let last = history.last();
        // Whatever a process did before it died is visible. A file that has left its temporary name was
        // placed, and somebody has deleted it since.
        let is_deleted = may_be_deleted
            && current.is_none()
            && !displaced.has_last_version
            && !is_in_old_place(root, history)?;
        if let Some(found) = &found {
            mode = Some(found.mode);
        }
        for temporary in displaced.known {
            self.claimed.insert(temporary.clone());
            self.leftovers.push((project.clone(), path.clone(), temporary));
        }
        for (temporary, found) in displaced.overtaken {
            let (project, path) = (project.clone(), path.clone());
            self.leftovers.push((project.clone(), path.clone(), temporary));
            if !self.is_torn(&found.bytes, history)? {
                let permalink = history.permalink.clone();
                let acknowledged = last.filter(|_| !is_deleted);
                self.torn.push(TornFile { project, path, found, acknowledged, permalink });
            }
        }
        if is_forced && current == last {
            self.in_place.push((project.clone(), path.clone()));
        }
        let is_due = history.is_due() || (crash > CrashKind::Remote && history.is_behind(current));
        if current == last || !is_due || !is_untouched || is_deleted {
            if current.is_none() && current != last {
                self.left_missing.insert((project.clone(), path.clone()));
            }
            return Ok(());
        }
        // The new places were looked at first. A file that did not get there stays where it is.
        let target = history.moved.clone().map(|moved| (project.clone(), moved));
        if last.is_none() && target.is_some_and(|target| self.left_missing.contains(&target)) {
            return Ok(());
        }
        let is_version = history.versions.contains(&current);
        let torn = match found {
            Some(found) if !is_version => {
                let is_stale = crash == CrashKind::PowerLoss
                    && (displaced.has_last_version || history.is_older(&found));
                if crash <= CrashKind::Remote
                    || !(is_stale || self.is_torn(&found.bytes, history)?)
                {
                    return Ok(());
                }
                Some(found)
            }
            _ => None,
        };
        if let Some(found) = torn.filter(|found| found.bytes.iter().any(|byte| *byte != 0)) {
            let (project, path) = (project.clone(), path.clone());
            let permalink = history.permalink.clone();
            self.torn.push(TornFile { project, path, found, acknowledged: last, permalink });
        }
        let time_ms = self.content_ms(project, history);
        let (project, path) = (project.clone(), path.clone());
        let known = history.temporaries.iter().nth_back(1).map(|(name, _)| name.clone());
        let aside = known.unwrap_or_else(temp_names::of_recovery);
        self.repairs.push(Repair { project, path, time_ms, current, last, mode, aside });
        Ok(())
    }

    /// Returns true if a file with two names is a save by hand, and not the version that was moved. If it
    /// is in both places of the move, the process died before it took the new name back.
    fn is_linked_save(
        &self,
        found: &FileContent,
        history: &FileHistory,
        crash: CrashKind,
    ) -> Result<bool> {
        let is_save = history.last().is_some() && !history.versions.contains(&Some(found.hash));
        Ok(is_save && (crash <= CrashKind::Remote || !self.is_torn(&found.bytes, history)?))
    }

    /// Returns true if the bytes are what a power cut leaves of any version of the file.
    fn is_torn(&self, bytes: &[u8], history: &FileHistory) -> Result<bool> {
        // Zeros are what a file system shows of bytes that never reached the disk. The version may be one that
        // no log has.
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(true);
        }
        for hash in history.versions.iter().flatten() {
            match self.content(*hash) {
                Ok(version) if is_torn_version(bytes, &version) => return Ok(true),
                Ok(_) | Err(StoreError::ContentGone(_)) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(false)
    }

    fn content(&self, hash: ContentHash) -> Result<Vec<u8>> {
        match self.contents.get(&hash) {
            Some(at) => self.inner.log.content(at, hash),
            // The copy of the log begins in the middle.
            None if self.inner.is_provisional() => self.inner.content_of_space(hash),
            // A moved file whose content is in an older record. The index is not needed for it.
            None => find_content(self.inner, hash),
        }
    }

    /// Two records for the torn files: their bytes as they were found, and the acknowledged version
    /// in their place.
    fn torn_records(&mut self) -> Vec<(LogRecord, RecordBody)> {
        if self.torn.is_empty() {
            return Vec::new();
        }
        let mut found = (Vec::new(), Vec::new(), RecordBody::default());
        let mut repaired = (Vec::new(), Vec::new(), RecordBody::default());
        for torn in std::mem::take(&mut self.torn) {
            let change = |before, after| FileChange {
                project: torn.project.clone(),
                path: torn.path.clone(),
                moved_from: None,
                before,
                after,
                fact_edits: Vec::new(),
            };
            let note = FileRecord { permalink: torn.permalink.clone(), ..FileRecord::default() };
            let blob = Some(found.2.add(&torn.found.bytes));
            found.0.push(change(torn.acknowledged, Some(torn.found.hash)));
            found.1.push(FileRecord { blob, ..note.clone() });
            repaired.0.push(change(Some(torn.found.hash), torn.acknowledged));
            repaired.1.push(note);
        }
        let record = |(files, notes, body), tool: &str, message: &str| {
            let author = Author::new(RECOVERY, tool, ChangeChannel::Disk);
            let commit = Commit {
                id: clock::new_commit_id(),
                time: clock::now(),
                author,
                message: Some(message.to_owned()),
                kind: Some(CommitKind::Scan),
                files,
                folders: None,
            };
            (LogRecord::new(commit, notes), body)
        };
        vec![
            record(found, "recover", "found torn or displaced after a crash"),
            record(repaired, RESTORES, "restored the acknowledged version"),
        ]
    }

    /// Writes and removes files as planned.
    pub(crate) fn perform(&self) -> Result<()> {
        for (project, path) in &self.in_place {
            self.root(project).map_or(Ok(()), |root| root.force(path))?;
        }
        for repair in &self.repairs {
            match self.repair(repair) {
                Ok(()) | Err(StoreError::NotAFile { .. } | StoreError::ContentGone(_)) => {}
                Err(e) => return Err(e),
            }
        }
        for (project, path, temporary) in &self.leftovers {
            let folder = self.root(project).map(|root| root.folder(path)).transpose()?.flatten();
            folder.iter().for_each(|folder| folder.remove_quietly(temporary));
        }
        Ok(())
    }

    fn repair(&self, repair: &Repair) -> Result<()> {
        let Some(root) = self.root(&repair.project) else { return Ok(()) };
        let path = &repair.path;
        let Some(hash) = repair.last else {
            if let Some(folder) = root.folder(path)? {
                let doing = |source| StoreError::Io { doing: format!("remove {path}"), source };
                set_aside(&folder, path.file_name(), repair).map_err(doing)?;
            }
            let is_forced = self.inner.vault.forces_files(root);
            return if is_forced { root.force_names(path) } else { Ok(()) };
        };
        let content = self.content(hash)?;
        let folder = root.make_folder(path)?;
        let temporary = temp_names::of_recovery();
        folder.remove_quietly(&temporary);
        let doing = |source| StoreError::Io { doing: format!("restore {path}"), source };
        let mode = repair.mode.unwrap_or(root.new_file_mode());
        let modified = Duration::from_millis(u64::try_from(repair.time_ms).unwrap_or(0));
        let is_forced = self.inner.vault.forces_files(root);
        folder
            .write_temporary_of(&temporary, &content, mode, modified)
            .and_then(|()| if is_forced { folder.sync_file(&temporary) } else { Ok(()) })
            // Now it is whole: half a version under this name would count as an edit.
            .and_then(|()| folder.replace(&temporary, &repair.aside))
            .and_then(|()| match repair.current {
                Some(_) => swap_found(&folder, path.file_name(), repair),
                None => place_unless_saved(&folder, &repair.aside, path.file_name()),
            })
            .map_err(doing)?;
        if is_forced {
            root.force_names(path)?;
        }
        folder.remove_quietly(&repair.aside);
        Ok(())
    }
}

/// Returns true if a file that the last record moved is still where it was.
fn is_in_old_place(root: &ProjectRoot, history: &FileHistory) -> Result<bool> {
    let Some(moved) = &history.moved else { return Ok(false) };
    let found = match root.read(moved) {
        Err(StoreError::NotAFile { .. }) => return Ok(false),
        read => read?,
    };
    Ok(found.is_some_and(|found| history.versions.contains(&Some(found.hash))))
}

/// Returns true if the bytes are a shortened or partly zero-filled version.
pub(crate) fn is_torn_version(bytes: &[u8], version: &[u8]) -> bool {
    bytes.len() <= version.len()
        && bytes.iter().zip(version).all(|(byte, original)| *byte == 0 || byte == original)
        && (bytes.len() < version.len() || bytes != version)
}

fn find_content(inner: &StoreInner, hash: ContentHash) -> Result<Vec<u8>> {
    let mut found = None;
    for device in inner.log.devices()? {
        inner.log.read_from(&device, Default::default(), ReadCheck::Meta, |placed| {
            for (n, file) in placed.record.commit.files.iter().enumerate() {
                if file.after == Some(hash) {
                    found = placed.content_at(&device, n).or(found.take());
                }
            }
            Ok(())
        })?;
    }
    inner.log.content(&found.ok_or(StoreError::ContentGone(hash))?, hash)
}

#[cfg(test)]
mod tests {
    use super::is_torn_version;

    #[test]
    fn torn_versions_are_told_from_edits() {
        for (bytes, expected) in [
            (&b"one tw"[..], true),
            (b"one\0two", true),
            (b"\0\0\0\0\0\0\0\0\0\0\0\0\0", true),
            (b"one two three", false),
            (b"one two three four", false),
            (b"my own \0 text", false),
            (b"two", false),
        ] {
            assert_eq!(is_torn_version(bytes, b"one two three"), expected, "{bytes:?}");
        }
    }
}
