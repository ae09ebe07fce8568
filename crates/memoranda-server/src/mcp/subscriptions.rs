//! Subscriptions: a client hears when what it would read at an address has changed, whoever
//! changed it.
//!
//! Revision 2026-07-28 listens with a request that stays open; the revisions before subscribe
//! and unsubscribe by address. Both compare what is read with what was read last, whenever the
//! vault has changed. The vault is watched only while somebody wants to hear of it, and once for
//! all who do.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use memoranda_engine::{ChangeSubscription, Memory};
use rmcp::model::{ErrorCode, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use tokio::sync::{Notify, watch};

use super::{internal_error, resources, run_blocking};
use crate::tool_catalog::{RequestTools, ToolCatalog};

/// How many addresses one client may follow at once.
const MAX_URIS: usize = 500;

/// Changes that come within this time of one another are looked at once.
const CHANGE_DEBOUNCE: Duration = Duration::from_millis(50);

/// What was last read at each address; `None` where there was nothing.
type SeenHashes = Arc<Mutex<BTreeMap<String, Option<blake3::Hash>>>>;

/// The watch on the vault, while somebody wants to hear of changes.
#[derive(Default)]
pub(crate) struct ChangeFeed(Mutex<Weak<SharedChanges>>);

struct SharedChanges {
    changed: watch::Receiver<()>,
    _following: ChangeSubscription,
}

impl ChangeFeed {
    fn subscribe(&self, memory: &Memory) -> Result<Arc<SharedChanges>, ErrorData> {
        let mut current = lock(&self.0);
        if let Some(changes) = current.upgrade() {
            return Ok(changes);
        }
        let (run, changed) = watch::channel(());
        let following = memory.store().follow(move || run.send_replace(()));
        let _following = following.map_err(|error| internal_error("follow changes", &error))?;
        let changes = Arc::new(SharedChanges { changed, _following });
        *current = Arc::downgrade(&changes);
        Ok(changes)
    }
}

/// What the client of one connection has subscribed to.
#[derive(Default)]
pub(crate) struct ResourceSubscriptions {
    /// In the revisions with a handshake.
    seen: SeenHashes,
    task: Mutex<Option<tokio::task::AbortHandle>>,
    /// Requests to listen that are being acknowledged.
    accepted: Mutex<Vec<ResourceFollower>>,
    /// Told when the client will say nothing more.
    closed: Notify,
}

impl ResourceSubscriptions {
    /// From now on `peer` hears when what is read at this address changes.
    pub(super) async fn add(
        &self,
        catalog: &Arc<ToolCatalog>,
        offered: RequestTools,
        peer: Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        if !resources::is_readable_uri(&offered, &uri) {
            let data = serde_json::json!({ "uri": uri });
            let why = "Nothing that can be read has this address.";
            return Err(ErrorData::resource_not_found(why, Some(data)));
        }
        if lock(&self.seen).len() >= MAX_URIS {
            let full = format!("{MAX_URIS} addresses are followed; unsubscribe from one first.");
            return Err(ErrorData::invalid_params(full, None));
        }
        let follower = ResourceFollower::new(catalog, offered, Arc::clone(&self.seen))?;
        let follower = run_blocking(move || Ok(follower.record_current([uri]))).await?;
        let mut task = lock(&self.task);
        if task.as_ref().is_none_or(tokio::task::AbortHandle::is_finished) {
            let spawned = tokio::spawn(follower.run(UpdateListener::Connection(peer)));
            *task = Some(spawned.abort_handle());
        }
        Ok(())
    }

    /// The client wants to hear no more of this address.
    pub(super) fn remove(&self, uri: &str) {
        let mut seen = lock(&self.seen);
        seen.remove(uri);
        if seen.is_empty() {
            self.stop_task();
        }
    }

    /// What of a request to listen is accepted. It is read here, on the way to the acknowledgement:
    /// whatever changes after that is told.
    pub(super) fn accept(
        &self,
        catalog: &Arc<ToolCatalog>,
        requested: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let offered = catalog.all();
        let wanted = requested.resource_subscriptions.iter().flatten();
        let known = wanted.filter(|uri| resources::is_readable_uri(&offered, uri)).cloned();
        let known: Vec<String> = known.take(MAX_URIS).collect();
        if known.is_empty() {
            return SubscriptionFilter::default();
        }
        match ResourceFollower::new(catalog, offered, SeenHashes::default()) {
            Ok(follower) => {
                lock(&self.accepted).push(follower.record_current(known.clone()));
                SubscriptionFilter::builder().resource_subscriptions(known).build()
            }
            // Why is in the log; nothing that cannot be told is accepted.
            Err(_) => SubscriptionFilter::default(),
        }
    }

    /// Tells of what was accepted of a request to listen, until it is cancelled.
    pub(super) async fn listen(&self, context: SubscriptionContext) {
        let wanted = context.accepted().resource_subscriptions.as_deref().unwrap_or_default();
        let follower = self.take_accepted(wanted);
        // What else could be listened to never changes: it is as the person configured it.
        let told = async {
            match follower {
                Some(follower) => {
                    follower.run(UpdateListener::Request(context.sink().clone())).await
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = context.cancelled() => {}
            () = self.closed.notified() => {}
            () = told => {}
        }
    }

    /// Nobody listens any more: the client's side of the connection is closed.
    pub(super) fn close(&self) {
        self.closed.notify_waiters();
    }

    fn take_accepted(&self, uris: &[String]) -> Option<ResourceFollower> {
        let mut accepted = lock(&self.accepted);
        let follows = |follower: &ResourceFollower| {
            let seen = lock(&follower.seen);
            seen.len() <= uris.len() && uris.iter().all(|uri| seen.contains_key(uri))
        };
        let position = accepted.iter().position(follows).filter(|_| !uris.is_empty())?;
        Some(accepted.swap_remove(position))
    }

    fn stop_task(&self) {
        if let Some(task) = lock(&self.task).take() {
            task.abort();
        }
    }
}

impl Drop for ResourceSubscriptions {
    fn drop(&mut self) {
        self.stop_task();
    }
}

/// Who hears of changes.
enum UpdateListener {
    Connection(Peer<RoleServer>),
    Request(SubscriptionSink),
}

impl UpdateListener {
    /// Tells of an address; false if nobody listens any more.
    async fn notify(&self, uri: String) -> bool {
        match self {
            Self::Connection(peer) => {
                let note = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(note).await.is_ok()
            }
            Self::Request(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// Compares what is read at addresses with what was read there last.
struct ResourceFollower {
    catalog: Arc<ToolCatalog>,
    offered: RequestTools,
    seen: SeenHashes,
    changes: Arc<SharedChanges>,
}

impl ResourceFollower {
    fn new(
        catalog: &Arc<ToolCatalog>,
        offered: RequestTools,
        seen: SeenHashes,
    ) -> Result<Self, ErrorData> {
        let changes = catalog.feed.subscribe(&catalog.memory)?;
        Ok(Self { catalog: Arc::clone(catalog), offered, seen, changes })
    }

    /// Notes what is read now: every later change is one.
    fn record_current(self, uris: impl IntoIterator<Item = String>) -> Self {
        for uri in uris {
            let now = self.current_hash(&uri).unwrap_or_default();
            lock(&self.seen).entry(uri).or_insert(now);
        }
        self
    }

    /// Tells `listener` of every change, until it hears no more.
    async fn run(self, listener: UpdateListener) {
        let mut changed = self.changes.changed.clone();
        let this = Arc::new(self);
        while changed.changed().await.is_ok() {
            tokio::time::sleep(CHANGE_DEBOUNCE).await;
            changed.mark_unchanged();
            let looking = Arc::clone(&this);
            let changed = run_blocking(move || Ok(looking.changed())).await.unwrap_or_default();
            for uri in changed {
                if !listener.notify(uri).await {
                    return;
                }
            }
        }
    }

    fn changed(&self) -> Vec<String> {
        let known = lock(&self.seen).clone();
        let mut changed = Vec::new();
        for (uri, before) in known {
            // What cannot be read now is not gone: the next change brings another look.
            let Some(now) = self.current_hash(&uri).filter(|now| *now != before) else { continue };
            if let Some(seen) = lock(&self.seen).get_mut(&uri) {
                *seen = now;
                changed.push(uri);
            }
        }
        changed
    }

    /// What is at an address, as a hash: `Some(None)` if nothing is, `None` if it cannot be read.
    fn current_hash(&self, uri: &str) -> Option<Option<blake3::Hash>> {
        match resources::read_resource(&self.catalog, &self.offered, uri) {
            Ok(found) => serde_json::to_vec(&found).ok().map(|found| Some(blake3::hash(&found))),
            Err(error) if error.code == ErrorCode::RESOURCE_NOT_FOUND => Some(None),
            Err(_) => None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves the list as it was.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
