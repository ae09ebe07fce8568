//! Computes vectors in the background of a long-lived process. Of all processes on a vault, the one
//! that watches the files does this, because it sees every change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use memoranda_store::Store;

use super::make::{EmbedOutcome, make};
use super::{EmbeddingModel, lock};

/// Interval at which this process checks whether another one still computes vectors.
const RECHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Pause after a failure; it doubles up to the second value.
const MIN_FAILURE_PAUSE: Duration = Duration::from_secs(5);
const MAX_FAILURE_PAUSE: Duration = Duration::from_secs(600);

/// The thread that computes vectors. It sleeps until something changes.
#[derive(Debug)]
pub(crate) struct EmbeddingWorker {
    stopped: Arc<AtomicBool>,
    wake: Sender<()>,
}

impl EmbeddingWorker {
    /// Starts the thread. It keeps neither the vault open nor the process alive.
    pub(crate) fn start(store: &Arc<Store>, chosen: &Arc<EmbeddingModel>) -> Self {
        let (wake, receiver) = channel();
        store.tell_changes(wake.clone());
        let stopped = Arc::new(AtomicBool::new(false));
        let (weak, chosen, flag) =
            (Arc::downgrade(store), Arc::clone(chosen), Arc::clone(&stopped));
        let run = move || run(&weak, &chosen, &flag, &receiver);
        // Without the thread, searches use the built-in table and report this.
        std::thread::Builder::new().name("memoranda-embed".into()).spawn(run).ok();
        Self { stopped, wake }
    }
}

impl Drop for EmbeddingWorker {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.wake.send(()).ok();
    }
}

/// Event that the thread waits for.
#[derive(Clone, Copy)]
enum WakeCondition {
    /// A change.
    Change,
    /// A change, or the end of this time.
    ChangeOr(Duration),
    /// Waits this long after a failure, even if notes change, before the model is asked again.
    Pause(Duration),
}

fn run(weak: &Weak<Store>, chosen: &EmbeddingModel, stopped: &AtomicBool, changes: &Receiver<()>) {
    let store = || weak.upgrade().filter(|_| !stopped.load(Ordering::SeqCst));
    let mut pause = MIN_FAILURE_PAUSE;
    let mut until = WakeCondition::Change;
    while sleep(changes, until, stopped).is_ok() {
        until = match make(&store, chosen, &mut |_, _| {}) {
            Ok(EmbedOutcome::Closed) => return,
            Ok(EmbedOutcome::Elsewhere) => WakeCondition::ChangeOr(RECHECK_INTERVAL),
            Ok(EmbedOutcome::Done(made)) => {
                if made.made > 0 {
                    // The model works again.
                    *lock(&chosen.resting) = None;
                }
                pause = MIN_FAILURE_PAUSE;
                WakeCondition::Change
            }
            Err(_) => {
                let wait = pause;
                pause = (pause * 2).min(MAX_FAILURE_PAUSE);
                WakeCondition::Pause(wait)
            }
        };
    }
}

/// Sleeps; an error ends the thread.
fn sleep(changes: &Receiver<()>, until: WakeCondition, stopped: &AtomicBool) -> Result<(), ()> {
    let begun = Instant::now();
    loop {
        let heard = match until {
            WakeCondition::Change => changes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            WakeCondition::ChangeOr(wait) | WakeCondition::Pause(wait) => {
                changes.recv_timeout(wait.saturating_sub(begun.elapsed()))
            }
        };
        if stopped.load(Ordering::SeqCst) || heard == Err(RecvTimeoutError::Disconnected) {
            return Err(());
        }
        if heard.is_err() || !matches!(until, WakeCondition::Pause(_)) {
            while changes.try_recv().is_ok() {}
            return Ok(());
        }
    }
}
