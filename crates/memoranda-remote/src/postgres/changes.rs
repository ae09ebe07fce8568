//! Notices of changes between servers: `NOTIFY` after a commit, never in it.
//!
//! A notification inside of a transaction takes a lock of the whole database. Here the spaces of
//! the last moments are announced together, on a connection of their own. A notice only saves time:
//! every read compares the heads itself.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator as _;

use super::Database;
use super::connection::{DatabaseInner, StatementRepeat};

const CHANNEL: &str = "memoranda";
/// Time in which changes are collected for one announcement.
const COLLECT_TIME: Duration = Duration::from_millis(50);
/// Pause before the listening connection is opened again.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// Maximum time for which the listener waits before it looks whether it is still needed.
const LISTEN_INTERVAL: Duration = Duration::from_secs(2);

/// Changes to announce, and changes that were announced.
#[derive(Default)]
pub(super) struct ChangeNotices {
    unsent: Mutex<BTreeSet<i64>>,
    is_sending: AtomicBool,
    is_listening: AtomicBool,
    /// Number of notices of each space.
    counts: Mutex<HashMap<i64, u64>>,
    arrived: Condvar,
}

impl ChangeNotices {
    fn unsent(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<i64, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_arrival(&self, spaces: &[i64]) {
        let mut counts = self.counts();
        for space in spaces {
            *counts.entry(*space).or_default() += 1;
        }
        drop(counts);
        self.arrived.notify_all();
    }
}

impl Database {
    /// Announces a change of a space soon, together with others.
    pub(super) fn notify_change(&self, space: i64) {
        let changes = &self.inner.changes;
        // Followers in this process need no round trip.
        changes.note_arrival(&[space]);
        changes.unsent().insert(space);
        if !changes.is_sending.swap(true, Ordering::SeqCst) {
            let inner = Arc::downgrade(&self.inner);
            // The commit is made, whether the system has a thread left or not.
            if std::thread::Builder::new().spawn(move || send(&inner)).is_err() {
                changes.is_sending.store(false, Ordering::SeqCst);
            }
        }
    }

    /// Returns how many notices a space had.
    pub(super) fn changes_noticed(&self, space: i64) -> u64 {
        let changes = &self.inner.changes;
        if !changes.is_listening.swap(true, Ordering::SeqCst) {
            let inner = Arc::downgrade(&self.inner);
            if std::thread::Builder::new().spawn(move || listen(&inner)).is_err() {
                changes.is_listening.store(false, Ordering::SeqCst);
            }
        }
        changes.counts().get(&space).copied().unwrap_or_default()
    }

    /// Waits until a space has more notices, or for a time.
    pub(super) fn await_change(&self, space: i64, noticed: u64, timeout: Duration) {
        let changes = &self.inner.changes;
        let is_same = |counts: &mut HashMap<i64, u64>| {
            counts.get(&space).copied().unwrap_or_default() == noticed
        };
        drop(changes.arrived.wait_timeout_while(changes.counts(), timeout, is_same));
    }
}

fn send(inner: &Weak<DatabaseInner>) {
    std::thread::sleep(COLLECT_TIME);
    let Some(inner) = inner.upgrade() else { return };
    // From here on a further change starts a thread of its own.
    inner.changes.is_sending.store(false, Ordering::SeqCst);
    let spaces = std::mem::take(&mut *inner.changes.unsent());
    let list: Vec<String> = spaces.iter().map(ToString::to_string).collect();
    for chunk in list.chunks(500) {
        let payload = chunk.join(",");
        let sent = inner.run(StatementRepeat::Harmless, &mut |client| {
            client.execute("select pg_notify($1, $2)", &[&CHANNEL, &payload])
        });
        if let Err(error) = sent {
            tracing::debug!(%error, "a change was not announced to other servers");
        }
    }
}

fn listen(inner: &Weak<DatabaseInner>) {
    while let Some(strong) = inner.upgrade() {
        let connected = strong.connect();
        drop(strong);
        if let Ok(mut client) = connected
            && client.batch_execute(&format!("listen {CHANNEL}")).is_ok()
        {
            while let Some(strong) = inner.upgrade() {
                let mut notices = client.notifications();
                let mut arrived = notices.timeout_iter(LISTEN_INTERVAL);
                let first = arrived.next();
                match first {
                    Ok(Some(notice)) => {
                        let spaces: Vec<i64> =
                            notice.payload().split(',').filter_map(|n| n.parse().ok()).collect();
                        strong.changes.note_arrival(&spaces);
                    }
                    Ok(None) => {}
                    Err(_) => break,
                }
                drop(arrived);
                drop(notices);
                if client.is_closed() {
                    break;
                }
            }
        }
        std::thread::sleep(RECONNECT_PAUSE);
    }
}
