//! Background work after a write: the index is updated, and files are forced to disk. The
//! checkpoint records how far.
//!
//! The log is forced before a write is acknowledged; the files themselves may wait. After a restart
//! of the machine the log is replayed from the last checkpoint.
//!
//! Invariant of a checkpoint: every file version that the device's log names before this position
//! is on disk. It is set under the vault lock, and only to a position whose files were forced.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use memoranda_core::change::CommitKind;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::error::{ErrorContext as _, NotAFileKind, Result, StoreError};
use crate::faults::{self, Step};
use crate::files::state_files;
use crate::index::OldReaders;
use crate::log::{LogPosition, ReadCheck};

/// A write larger than this is forced to disk at once.
const LARGE_WRITE_BYTES: usize = 1 << 20;
/// Time without a write after which the background updates the index. A query does not wait for it.
const QUIET_BEFORE_INDEX: Duration = Duration::from_millis(50);

impl StoreInner {
    fn checkpoint_path(&self, device: &str) -> std::path::PathBuf {
        self.vault.state.join("log").join(device).join("checkpoint")
    }

    /// Returns a device's checkpoint. One that cannot be read, or that names a place beyond the end
    /// of the log, counts as none: then more is replayed.
    pub(crate) fn checkpoint(&self, device: &str) -> Result<LogPosition> {
        let path = self.checkpoint_path(device);
        let bytes = state_files::read(&path).doing(|| "read the checkpoint".into())?;
        let text = String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
        let (Some(Some(segment)), Some(Some(offset))) = (numbers.next(), numbers.next()) else {
            return Ok(LogPosition::default());
        };
        if let (0, Some(Some(seq))) = (segment, numbers.next()) {
            return self.log.end_of(device, seq);
        }
        let noted = LogPosition { segment, offset };
        if noted > self.log.end(device)? { Ok(LogPosition::default()) } else { Ok(noted) }
    }

    /// Forces to disk the files of everything that was written since the last checkpoint.
    pub(crate) fn make_checkpoint(&self) -> Result<()> {
        if self.space.is_some() {
            // The remote log has everything, so that files need not be forced.
            return self.write_back();
        }
        let device = &self.vault.device;
        let target = self.with_session(|session| {
            let end = session.log.end();
            Ok::<_, StoreError>((end, self.log.segment_handle(device, end)?))
        })?;
        let (end, segment) = target;
        let from = self.checkpoint(device)?;
        if from >= end {
            return Ok(());
        }
        self.force_files(device, from, end)?;
        let noted = self.with_session(|session| {
            // A `vacuum` that ran meanwhile has moved every position, and set the checkpoint itself.
            if segment.is_current() {
                self.set_checkpoint(device, end)?;
            }
            self.index.write_back(session.db, OldReaders::PassBy)
        });
        self.forget_if_damaged(noted)
    }

    /// Forces to disk the files that a device's log names between two places.
    pub(crate) fn force_files(
        &self,
        device: &str,
        from: LogPosition,
        to: LogPosition,
    ) -> Result<()> {
        let mut touched: BTreeMap<ProjectName, Vec<NotePath>> = BTreeMap::new();
        self.log.read_from(device, from, ReadCheck::Meta, |placed| {
            // An edit by hand that was recorded is forced, too: if a power cut took it back, an older
            // version would be found that the records after the checkpoint do not name. The files of
            // a first scan were there before.
            let is_first_scan = placed.record.commit.kind == Some(CommitKind::FirstScan);
            if placed.end <= to && !is_first_scan {
                for file in placed.record.commit.files {
                    let paths = touched.entry(file.project).or_default();
                    paths.push(file.path);
                    paths.extend(file.moved_from);
                }
            }
            Ok(())
        })?;
        for (project, mut paths) in touched {
            let found = self.vault.project(project.as_str());
            let root = match found.and_then(|project| self.root_replayed(&project, paths.iter())) {
                Ok(root) => root,
                // The project is gone, or its drive is not mounted: there is nothing to force.
                Err(
                    StoreError::NoProject { .. }
                    | StoreError::ProjectUnavailable { .. }
                    | StoreError::ProjectIsLink { .. },
                ) => continue,
                Err(e) => return Err(e),
            };
            paths.sort_unstable();
            paths.dedup();
            let mut folders = BTreeSet::new();
            for path in &paths {
                let folder = match root.folder(path) {
                    Ok(Some(folder)) => folder,
                    Ok(None) | Err(StoreError::NotAFile { .. }) => continue,
                    Err(e) => return Err(e),
                };
                folder
                    .sync_file(path.file_name())
                    .or_else(ignore_links)
                    .doing(|| format!("force {path} to disk"))?;
                // A folder may be as new as the file, and so may those above it.
                let mut above = Some(path.clone());
                while let Some(place) = above.filter(|place| folders.insert(folder_of(place))) {
                    match root.folder(&place) {
                        Ok(Some(folder)) => {
                            folder.sync_names().doing(|| format!("force {path} to disk"))?;
                        }
                        Ok(None) => {}
                        // Something else has the name of a folder above it by now.
                        Err(StoreError::NotAFile { kind, .. }) if kind != NotAFileKind::Folder => {}
                        Err(e) => return Err(e),
                    }
                    above = place.parent().and_then(|parent| NotePath::parse(parent).ok());
                }
            }
            state_files::sync_dir(&self.vault.home).doing(|| format!("force {project} to disk"))?;
        }
        Ok(())
    }

    /// Writes the pages of the index to its main file.
    pub(crate) fn write_back(&self) -> Result<()> {
        let written =
            self.with_session(|session| self.index.write_back(session.db, OldReaders::PassBy));
        self.forget_if_damaged(written)
    }

    fn forget_if_damaged(&self, result: Result<()>) -> Result<()> {
        match result {
            Err(e) if e.is_index_damage() => {
                self.index.forget();
                Ok(())
            }
            other => other,
        }
    }

    /// Records a device's checkpoint. The caller holds the vault's lock.
    pub(crate) fn set_checkpoint(&self, device: &str, at: LogPosition) -> Result<()> {
        let text = format!("{} {}\n", at.segment, at.offset);
        state_files::replace(&self.checkpoint_path(device), text.as_bytes())
            .doing(|| "write the checkpoint".into())
    }

    /// Lets a device's checkpoint name the number of the last record, because the positions of its log
    /// are about to change. Without a number, as in a log of format 1, there is no checkpoint then.
    pub(crate) fn set_checkpoint_by_number(&self, device: &str, end: LogPosition) -> Result<()> {
        let path = self.checkpoint_path(device);
        let doing = || "write the checkpoint".into();
        match self.log.chain_end(device, end)?.seq {
            0 => state_files::remove_durably(&path).doing(doing),
            // Programs of earlier versions read no position in this line.
            seq => state_files::replace(&path, format!("0 0 {seq}\n").as_bytes()).doing(doing),
        }
    }

    /// Forces the names in a device's log, if a `vacuum` has run since its last checkpoint. One that died
    /// has perhaps not forced the name of the log that it rewrote, and records are about to follow there.
    pub(crate) fn force_rewritten_log(&self, device: &str) -> Result<()> {
        let bytes = state_files::read(&self.checkpoint_path(device))
            .doing(|| "read the checkpoint".into())?;
        if !bytes.unwrap_or_default().starts_with(b"0 ") {
            return Ok(());
        }
        let folder = self.vault.state.join("log").join(device);
        state_files::sync_dir(&folder).doing(|| "force the log to disk".into())
    }

    /// Returns true if this process continues after a change, and has a background thread.
    pub(crate) fn is_long_lived(&self) -> bool {
        self.background().is_some()
    }

    /// Notes that something was written: the background tells the index, and forces it to disk in
    /// its time.
    pub(crate) fn note_written(&self, bytes: usize) {
        self.unforced.store(true, std::sync::atomic::Ordering::Relaxed);
        if let Some(background) = &*self.background() {
            let large = bytes > LARGE_WRITE_BYTES;
            background.sender.send(if large { WriteSize::Large } else { WriteSize::InTime }).ok();
        }
    }

    pub(crate) fn background(&self) -> std::sync::MutexGuard<'_, Option<BackgroundSync>> {
        self.background.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn folder_of(path: &NotePath) -> Option<String> {
    path.parent().map(str::to_owned)
}

fn ignore_links(error: std::io::Error) -> std::io::Result<()> {
    // A person may have put something else in the file's place since; that is theirs.
    if folder_has_other(&error) { Ok(()) } else { Err(error) }
}

fn folder_has_other(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    let is_link = false;
    is_link || error.kind() == std::io::ErrorKind::PermissionDenied
}

/// Size of a write, sent to the background thread.
enum WriteSize {
    /// The files are forced to disk in the background.
    InTime,
    /// The files are forced to disk at once.
    Large,
}

/// The thread that tells the index of each write and forces files to disk. It sleeps until
/// something is written.
pub(crate) struct BackgroundSync {
    sender: Sender<WriteSize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl BackgroundSync {
    pub(crate) fn start(inner: &Arc<StoreInner>) -> Result<Self> {
        let (sender, receiver) = channel();
        let weak = Arc::downgrade(inner);
        let interval = inner.options.file_sync;
        let run = move || run(&weak, &receiver, interval);
        let thread = faults::at(Step::StartThread)
            .and_then(|()| std::thread::Builder::new().name("memoranda-sync".into()).spawn(run));
        let thread = thread.doing(|| "start the background thread".into())?;
        Ok(Self { sender, thread: Some(thread) })
    }

    /// The background of a simulated process, which has no thread of its own.
    #[cfg(feature = "faults")]
    fn without_thread() -> Self {
        Self { sender: channel().0, thread: None }
    }

    /// Ends the thread; what it had not yet done, the closing store does.
    pub(crate) fn stop(mut self) {
        drop(self.sender);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

#[cfg(feature = "faults")]
impl crate::Store {
    /// Lets the index wait, as a process does that goes on; a test does the work of its background.
    pub fn start_background_without_thread(&self) {
        *self.inner.background() = Some(BackgroundSync::without_thread());
    }
}

fn run(weak: &Weak<StoreInner>, receiver: &Receiver<WriteSize>, interval: Duration) {
    // When files are to be forced, if any were written since.
    let mut due: Option<Instant> = None;
    loop {
        let heard = match due.map(|due| due.saturating_duration_since(Instant::now())) {
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(Duration::ZERO) => Err(RecvTimeoutError::Timeout),
            Some(left) => receiver.recv_timeout(left),
        };
        let Some(inner) = weak.upgrade() else { return };
        // A failure is retried after the next write, and on closing.
        match heard {
            Ok(mut written) => {
                // The writes of a burst are indexed together.
                while !inner.pending().is_full() {
                    match receiver.recv_timeout(QUIET_BEFORE_INDEX) {
                        Ok(WriteSize::Large) => written = WriteSize::Large,
                        Ok(WriteSize::InTime) => {}
                        Err(_) => break,
                    }
                }
                inner.with_session(|_| Ok::<_, StoreError>(())).ok();
                due = match written {
                    WriteSize::InTime => due.or_else(|| Some(Instant::now() + interval)),
                    WriteSize::Large => Some(Instant::now()),
                };
            }
            Err(RecvTimeoutError::Timeout) => {
                inner.make_checkpoint().ok();
                due = None;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
