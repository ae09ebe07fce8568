//! The initial scan of a process. A new index is incomplete until every file was scanned once, so
//! queries wait or report the progress. An existing index does not contain the edits made while no
//! process was watching.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use memoranda_store::Store;

use crate::error::Result;
use crate::{Memory, SyncScope};

/// How often one who waits looks whether it is done.
const PAUSE: Duration = Duration::from_millis(10);

/// How much of a vault its index knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IndexProgress {
    /// Every file has been looked at since the index was made.
    Whole,
    /// The first look is still under way: so many files of so many are read. The total is 0 until
    /// it is known.
    Part {
        /// Files read so far.
        done: usize,
        /// Files to be read in the project that is being looked at.
        total: usize,
    },
}

/// The first look of this process, if it makes one.
#[derive(Default)]
pub(crate) struct InitialScan {
    is_running: AtomicBool,
    /// Nobody needs to wait for edits that were made before this process began.
    is_over: AtomicBool,
    /// Somebody has looked at the folders that concerned an answer.
    has_glanced: AtomicBool,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl InitialScan {
    fn run(&self, store: &Store) {
        let looked = store.sync(&mut |step| {
            self.done.store(step.done, Ordering::Relaxed);
            self.total.store(step.total, Ordering::Relaxed);
        });
        // Who asks next tries again; `memoranda doctor` says what is wrong.
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
    /// Waits until every file has been looked at since the index was made, and looks itself if
    /// nobody does; not longer than `patience`. `tell` hears how far it has come. Costs nothing
    /// once the index is whole.
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
            std::thread::spawn(move || look.run(&store));
        }
        let until = Instant::now() + patience;
        while Instant::now() < until {
            std::thread::sleep(PAUSE);
            if self.store().is_indexed()? {
                return Ok(IndexProgress::Whole);
            }
            if let IndexProgress::Part { done, total } = self.first_look.known() {
                tell(done, total);
            }
            // It failed: waiting longer brings nothing.
            if !self.first_look.is_running.load(Ordering::SeqCst) {
                break;
            }
        }
        Ok(self.first_look.known())
    }

    /// Waits until what people did while nobody watched has been taken in, as far as it concerns
    /// an answer; not longer than `patience`, and only when this process is young. Starts the look
    /// if nobody has.
    pub fn await_edits(&self, concern: &SyncScope, patience: Duration) -> Result<()> {
        let is_over = &self.first_look.is_over;
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
            self.start_background()?;
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}
