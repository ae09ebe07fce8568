//! Resource subscriptions: a client is notified when the content of a resource has changed.
//!
//! Revision 2026-07-28 listens with a request that stays open; earlier revisions subscribe and
//! unsubscribe by URI. After every change of the vault, both compare the hash of each resource with
//! the previous one. The vault is followed once for all subscriptions, and only while there are any.

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

/// Maximum number of subscribed URIs of one client.
const MAX_URIS: usize = 500;

/// Time in which several changes are combined into one comparison.
const CHANGE_DEBOUNCE: Duration = Duration::from_millis(50);

/// Last hash of the content at each URI; `None` if there was no resource.
type SeenHashes = Arc<Mutex<BTreeMap<String, Option<blake3::Hash>>>>;

/// Change feed of the vault, active while there are subscriptions.
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
        let following = memory.subscribe(move || run.send_replace(()));
        let _following = following.map_err(|error| internal_error("follow changes", &error))?;
        let changes = Arc::new(SharedChanges { changed, _following });
        *current = Arc::downgrade(&changes);
        Ok(changes)
    }
}

/// Subscriptions of the client of one connection.
#[derive(Default)]
pub(crate) struct ResourceSubscriptions {
    /// Subscriptions of the revisions with a handshake.
    seen: SeenHashes,
    task: Mutex<Option<tokio::task::AbortHandle>>,
    /// Accepted listen requests that are not running yet.
    accepted: Mutex<Vec<ResourceFollower>>,
    /// Notified when the client has closed its side.
    closed: Notify,
}

impl ResourceSubscriptions {
    /// Subscribes `peer` to a URI.
    pub(super) async fn add(
        &self,
        catalog: &Arc<ToolCatalog>,
        request_tools: RequestTools,
        peer: Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        if !resources::is_readable_uri(&request_tools, &uri) {
            let data = serde_json::json!({ "uri": uri });
            let why = "Nothing that can be read has this address.";
            return Err(ErrorData::resource_not_found(why, Some(data)));
        }
        if lock(&self.seen).len() >= MAX_URIS {
            let full = format!("{MAX_URIS} addresses are followed; unsubscribe from one first.");
            return Err(ErrorData::invalid_params(full, None));
        }
        let follower = ResourceFollower::new(catalog, request_tools, Arc::clone(&self.seen))?;
        let follower = run_blocking(move || Ok(follower.record_current([uri]))).await?;
        let mut task = lock(&self.task);
        if task.as_ref().is_none_or(tokio::task::AbortHandle::is_finished) {
            let spawned = tokio::spawn(follower.run(UpdateListener::Connection(peer)));
            *task = Some(spawned.abort_handle());
        }
        Ok(())
    }

    /// Unsubscribes from a URI.
    pub(super) fn remove(&self, uri: &str) {
        let mut seen = lock(&self.seen);
        seen.remove(uri);
        if seen.is_empty() {
            self.stop_task();
        }
    }

    /// Returns the accepted part of a listen request. The current hashes are recorded before the
    /// acknowledgement, so that every later change is reported.
    pub(super) fn accept(
        &self,
        catalog: &Arc<ToolCatalog>,
        requested: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let request_tools = catalog.configured_tools();
        let wanted = requested.resource_subscriptions.iter().flatten();
        let known = wanted.filter(|uri| resources::is_readable_uri(&request_tools, uri)).cloned();
        let known: Vec<String> = known.take(MAX_URIS).collect();
        if known.is_empty() {
            return SubscriptionFilter::default();
        }
        match ResourceFollower::new(catalog, request_tools, SeenHashes::default()) {
            Ok(follower) => {
                lock(&self.accepted).push(follower.record_current(known.clone()));
                SubscriptionFilter::builder().resource_subscriptions(known).build()
            }
            // The reason is logged; without a feed nothing is accepted.
            Err(_) => SubscriptionFilter::default(),
        }
    }

    /// Runs an accepted listen request until it is cancelled.
    pub(super) async fn listen(&self, context: SubscriptionContext) {
        let wanted = context.accepted().resource_subscriptions.as_deref().unwrap_or_default();
        let follower = self.take_accepted(wanted);
        // Lists never change while the server runs, so there is nothing else to report.
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

    /// Ends all listen requests, because the client has closed its side.
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

/// Receiver of update notifications.
enum UpdateListener {
    Connection(Peer<RoleServer>),
    Request(SubscriptionSink),
}

impl UpdateListener {
    /// Sends a notification for a URI. Returns false if the receiver is gone.
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

/// Compares the content at URIs with the previous content.
struct ResourceFollower {
    catalog: Arc<ToolCatalog>,
    request_tools: RequestTools,
    seen: SeenHashes,
    changes: Arc<SharedChanges>,
}

impl ResourceFollower {
    fn new(
        catalog: &Arc<ToolCatalog>,
        request_tools: RequestTools,
        seen: SeenHashes,
    ) -> Result<Self, ErrorData> {
        let changes = catalog.feed.subscribe(&catalog.memory)?;
        Ok(Self { catalog: Arc::clone(catalog), request_tools, seen, changes })
    }

    /// Records the current hashes, with which later ones are compared.
    fn record_current(self, uris: impl IntoIterator<Item = String>) -> Self {
        for uri in uris {
            let now = self.current_hash(&uri).unwrap_or_default();
            lock(&self.seen).entry(uri).or_insert(now);
        }
        self
    }

    /// Notifies `listener` of every change until it is gone.
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
            // An unreadable resource is compared again after the next change.
            let Some(now) = self.current_hash(&uri).filter(|now| *now != before) else { continue };
            if let Some(seen) = lock(&self.seen).get_mut(&uri) {
                *seen = now;
                changed.push(uri);
            }
        }
        changed
    }

    /// Returns the hash of the content at a URI: `Some(None)` if there is no resource, `None` if it
    /// cannot be read.
    fn current_hash(&self, uri: &str) -> Option<Option<blake3::Hash>> {
        match resources::read_resource(
            &self.catalog,
            &self.catalog.settings,
            &self.request_tools,
            uri,
        ) {
            Ok(found) => serde_json::to_vec(&found).ok().map(|found| Some(blake3::hash(&found))),
            Err(error) if error.code == ErrorCode::RESOURCE_NOT_FOUND => Some(None),
            Err(_) => None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in another thread leaves the list valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
