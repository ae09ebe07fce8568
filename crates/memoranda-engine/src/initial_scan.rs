//! The initial scan of a process. A new index is incomplete until every file was scanned once, so
//! queries wait or report the progress. An existing index does not contain the edits made while no
//! process was watching.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use memoranda_store::Store;

use crate::error::Result;
use crate::{Memory, SyncScope};

/// Interval at which a waiting call checks whether the scan has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time after the first scan until the files are watched.
const WATCH_DELAY: Duration = Duration::from_millis(100);
/// Interval at which the presence of the watcher process is checked.
const WATCHER_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// While the watcher does not answer, scans take at most one part in this many of the time.
const SCAN_SHARE: u32 = 10;

/// Maximum number of passages whose vectors the first searches of a process read themselves. The
/// vectors of a larger vault are read in the background, and searches go by words until then.
const MAX_DIRECT_PASSAGES: u64 = 100_000;

/// Part of a vault that its index covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexProgress {
    /// Every file has been scanned since the index was created.
    Whole,
    /// The first scan is still running. The total is 0 until it is known.
    Part {
        /// Files read so far.
        done: usize,
        /// Files to be read in the project that is being scanned.
        total: usize,
    },
}

/// The first scan of this process, if it runs one.
#[derive(Default)]
pub(crate) struct InitialScan {
    is_running: AtomicBool,
    /// True if edits from before this process are indexed, so that no call waits for them.
    is_over: AtomicBool,
    /// True if the folders of an answer were scanned by this process.
    has_glanced: AtomicBool,
    /// A scan for edits from before this process was started.
    has_scanned: AtomicBool,
    /// A thread loads the vectors of all passages.
    is_loading_vectors: AtomicBool,
    /// Time after which the watching process is checked again.
    next_watcher_check: Mutex<Option<Instant>>,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl InitialScan {
    fn run(&self, store: &Store) {
        let looked = store.sync(&mut |step| {
            self.done.store(step.done, Ordering::Relaxed);
            self.total.store(step.total, Ordering::Relaxed);
        });
        // The next call tries again; `memoranda doctor` reports the cause.
        looked.ok();
        self.is_running.store(false, Ordering::SeqCst);
    }

    fn known(&self) -> IndexProgress {
        IndexProgress::Part {
            done: self.done.load(Ordering::Relaxed),
            total: self.total.load(Ordering::Relaxed),
        }
    }
}

impl Memory {
    /// Waits until every file was scanned since the index was created, at most `patience`. Starts
    /// the scan if no other process runs one, and calls `tell` with the progress. Returns at once
    /// if the index is complete.
    pub fn await_index(
        &self,
        patience: Duration,
        tell: &dyn Fn(usize, usize),
    ) -> Result<IndexProgress> {
        if self.store().is_indexed()? {
            return Ok(IndexProgress::Whole);
        }
        if !self.first_look.is_running.swap(true, Ordering::SeqCst) {
            let (look, store) = (Arc::clone(&self.first_look), Arc::clone(&self.store));
            let started = std::thread::Builder::new().spawn(move || look.run(&store));
            if started.is_err() {
                self.first_look.is_running.store(false, Ordering::SeqCst);
            }
        }
        let until = Instant::now() + patience;
        while Instant::now() < until {
            std::thread::sleep(POLL_INTERVAL);
            if self.store().is_indexed()? {
                return Ok(IndexProgress::Whole);
            }
            if let IndexProgress::Part { done, total } = self.first_look.known() {
                tell(done, total);
            }
            // The scan failed, so waiting is useless.
            if !self.first_look.is_running.load(Ordering::SeqCst) {
                break;
            }
        }
        Ok(self.first_look.known())
    }

    /// Waits until the edits from before this process are indexed, as far as they concern an
    /// answer, at most `patience`. Starts the scan if it was not started.
    pub fn await_edits(&self, concern: &SyncScope, patience: Duration) -> Result<()> {
        let is_over = &self.first_look.is_over;
        if !is_over.load(Ordering::Relaxed) {
            // Only a process that goes on to serve calls waits here.
            self.defer_vectors_above(MAX_DIRECT_PASSAGES);
        }
        let until = Instant::now() + patience;
        while !is_over.load(Ordering::Relaxed) {
            let is_taken_in = self.store().is_watched() || self.store().has_looked();
            if is_taken_in || Instant::now() >= until {
                is_over.store(true, Ordering::Relaxed);
                break;
            }
            if let SyncScope::Folders(project, folders) = concern {
                // One glance costs less than to watch everything; one with every call does not.
                if self.first_look.has_glanced.swap(true, Ordering::Relaxed) {
                    self.start_background()?;
                }
                if self.store().is_as_known(project, folders)? {
                    break;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if !self.scan_before_watching(left) {
                self.start_background()?;
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        self.scan_for_silent_watcher();
        Ok(())
    }

    /// Scans the files for edits from before this process, once, and waits for the end of the scan
    /// no longer than `patience`. The watcher scans, too, but registers every folder before that,
    /// which takes as long again. Returns true if the scan has ended.
    fn scan_before_watching(&self, patience: Duration) -> bool {
        if self.first_look.has_scanned.swap(true, Ordering::SeqCst) {
            return false;
        }
        let (look, store) = (Arc::clone(&self.first_look), Arc::clone(&self.store));
        let (ended, end) = mpsc::channel();
        let started = std::thread::Builder::new().spawn(move || {
            // After a failure the scan of the watcher counts.
            if store.sync(&mut |_| {}).is_ok() {
                look.is_over.store(true, Ordering::Relaxed);
            }
            // The receiver may have timed out.
            ended.send(()).ok();
            // The answer needs the processors first. A process that ends meanwhile watches nothing.
            let store = Arc::downgrade(&store);
            std::thread::sleep(WATCH_DELAY);
            let begin = |store: Arc<Store>| {
                // The next search reads them itself if this fails.
                store.load_vectors().ok();
                store.start_background()
            };
            if store.upgrade().is_some_and(|store| begin(store).is_err()) {
                // The next call tries again, and reports the failure.
                look.is_over.store(false, Ordering::Relaxed);
            }
        });
        started.is_ok() && end.recv_timeout(patience).is_ok()
    }

    /// Lets the first searches go by words alone where more than so many passages are compared, while
    /// the vectors of all passages are read in the background. A one-shot command does not use it.
    pub fn defer_vectors_above(&self, passages: u64) {
        self.store().defer_vectors_above(NonZeroU64::new(passages));
    }

    /// Reads the vectors of all passages in the background.
    pub(crate) fn load_vectors_in_background(&self) {
        if self.first_look.is_loading_vectors.swap(true, Ordering::SeqCst) {
            return;
        }
        let (look, store) = (Arc::clone(&self.first_look), Arc::clone(&self.store));
        let load = move || {
            if store.load_vectors().is_err() {
                // The next search reads them itself, or reports why it cannot.
                store.defer_vectors_above(None);
            }
            look.is_loading_vectors.store(false, Ordering::SeqCst);
        };
        if std::thread::Builder::new().spawn(load).is_err() {
            self.store().defer_vectors_above(None);
            self.first_look.is_loading_vectors.store(false, Ordering::SeqCst);
        }
    }

    /// Scans the files if another process is the one that watches them and does not answer, perhaps
    /// because it is suspended: this process would never hear of edits.
    fn scan_for_silent_watcher(&self) {
        let check = &self.first_look.next_watcher_check;
        let mut next = check.lock().unwrap_or_else(PoisonError::into_inner);
        if self.store().has_looked() || next.is_some_and(|next| Instant::now() < next) {
            return;
        }
        let begun = Instant::now();
        if self.store().has_silent_watcher() && self.store().catch_up_for_read().is_ok() {
            // The next scan makes up for a failed one.
            self.store().sync(&mut |_| {}).ok();
        }
        let pause = begun.elapsed().saturating_mul(SCAN_SHARE).max(WATCHER_CHECK_INTERVAL);
        *next = Some(Instant::now() + pause);
    }
}
