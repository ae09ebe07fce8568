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

use super::{blocking, failed_beneath, resources};
use crate::offer::{Offer, Offered};

/// How many addresses one client may follow at once.
const MOST: usize = 500;

/// Changes that come within this time of one another are looked at once.
const GATHERED: Duration = Duration::from_millis(50);

/// What was last read at each address; `None` where there was nothing.
type Seen = Arc<Mutex<BTreeMap<String, Option<blake3::Hash>>>>;

/// The watch on the vault, while somebody wants to hear of changes.
#[derive(Default)]
pub(crate) struct Feed(Mutex<Weak<Changes>>);

struct Changes {
    heard: watch::Receiver<()>,
    _following: ChangeSubscription,
}

impl Feed {
    fn join(&self, memory: &Memory) -> Result<Arc<Changes>, ErrorData> {
        let mut current = locked(&self.0);
        if let Some(changes) = current.upgrade() {
            return Ok(changes);
        }
        let (tell, heard) = watch::channel(());
        let following = memory.store().follow(move || tell.send_replace(()));
        let _following = following.map_err(|error| failed_beneath("follow changes", &error))?;
        let changes = Arc::new(Changes { heard, _following });
        *current = Arc::downgrade(&changes);
        Ok(changes)
    }
}

/// What the client of one connection has subscribed to.
#[derive(Default)]
pub(crate) struct Subscriptions {
    /// In the revisions with a handshake.
    seen: Seen,
    telling: Mutex<Option<tokio::task::AbortHandle>>,
    /// Requests to listen that are being acknowledged.
    accepted: Mutex<Vec<Follower>>,
    /// Told when the client will say nothing more.
    closed: Notify,
}

impl Subscriptions {
    /// From now on `peer` hears when what is read at this address changes.
    pub(super) async fn add(
        &self,
        offer: &Arc<Offer>,
        offered: Offered,
        peer: Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        if !resources::is_address(&offered, &uri) {
            let data = serde_json::json!({ "uri": uri });
            let why = "Nothing that can be read has this address.";
            return Err(ErrorData::resource_not_found(why, Some(data)));
        }
        if locked(&self.seen).len() >= MOST {
            let full = format!("{MOST} addresses are followed; unsubscribe from one first.");
            return Err(ErrorData::invalid_params(full, None));
        }
        let follower = Follower::new(offer, offered, Arc::clone(&self.seen))?;
        let follower = blocking(move || Ok(follower.read_first([uri]))).await?;
        let mut telling = locked(&self.telling);
        if telling.as_ref().is_none_or(tokio::task::AbortHandle::is_finished) {
            let task = tokio::spawn(follower.tell(Listener::Connection(peer)));
            *telling = Some(task.abort_handle());
        }
        Ok(())
    }

    /// The client wants to hear no more of this address.
    pub(super) fn remove(&self, uri: &str) {
        let mut seen = locked(&self.seen);
        seen.remove(uri);
        if seen.is_empty() {
            self.end();
        }
    }

    /// What of a request to listen is accepted. It is read here, on the way to the acknowledgement:
    /// whatever changes after that is told.
    pub(super) fn accept(
        &self,
        offer: &Arc<Offer>,
        requested: &SubscriptionFilter,
    ) -> SubscriptionFilter {
        let offered = offer.all();
        let wanted = requested.resource_subscriptions.iter().flatten();
        let known = wanted.filter(|uri| resources::is_address(&offered, uri)).cloned();
        let known: Vec<String> = known.take(MOST).collect();
        if known.is_empty() {
            return SubscriptionFilter::default();
        }
        match Follower::new(offer, offered, Seen::default()) {
            Ok(follower) => {
                locked(&self.accepted).push(follower.read_first(known.clone()));
                SubscriptionFilter::builder().resource_subscriptions(known).build()
            }
            // Why is in the log; nothing that cannot be told is accepted.
            Err(_) => SubscriptionFilter::default(),
        }
    }

    /// Tells of what was accepted of a request to listen, until it is cancelled.
    pub(super) async fn listen(&self, context: SubscriptionContext) {
        let wanted = context.accepted().resource_subscriptions.as_deref().unwrap_or_default();
        let follower = self.take(wanted);
        // What else could be listened to never changes: it is as the person configured it.
        let told = async {
            match follower {
                Some(follower) => follower.tell(Listener::Request(context.sink().clone())).await,
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

    fn take(&self, uris: &[String]) -> Option<Follower> {
        let mut accepted = locked(&self.accepted);
        let follows = |follower: &Follower| {
            let seen = locked(&follower.seen);
            seen.len() <= uris.len() && uris.iter().all(|uri| seen.contains_key(uri))
        };
        let position = accepted.iter().position(follows).filter(|_| !uris.is_empty())?;
        Some(accepted.swap_remove(position))
    }

    fn end(&self) {
        if let Some(telling) = locked(&self.telling).take() {
            telling.abort();
        }
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.end();
    }
}

/// Who hears of changes.
enum Listener {
    Connection(Peer<RoleServer>),
    Request(SubscriptionSink),
}

impl Listener {
    /// Tells of an address; false if nobody listens any more.
    async fn hears(&self, uri: String) -> bool {
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
struct Follower {
    offer: Arc<Offer>,
    offered: Offered,
    seen: Seen,
    changes: Arc<Changes>,
}

impl Follower {
    fn new(offer: &Arc<Offer>, offered: Offered, seen: Seen) -> Result<Self, ErrorData> {
        let changes = offer.feed.join(&offer.memory)?;
        Ok(Self { offer: Arc::clone(offer), offered, seen, changes })
    }

    /// Notes what is read now: every later change is one.
    fn read_first(self, uris: impl IntoIterator<Item = String>) -> Self {
        for uri in uris {
            let now = self.read(&uri).unwrap_or_default();
            locked(&self.seen).entry(uri).or_insert(now);
        }
        self
    }

    /// Tells `listener` of every change, until it hears no more.
    async fn tell(self, listener: Listener) {
        let mut heard = self.changes.heard.clone();
        let this = Arc::new(self);
        while heard.changed().await.is_ok() {
            tokio::time::sleep(GATHERED).await;
            heard.mark_unchanged();
            let looking = Arc::clone(&this);
            let changed = blocking(move || Ok(looking.changed())).await.unwrap_or_default();
            for uri in changed {
                if !listener.hears(uri).await {
                    return;
                }
            }
        }
    }

    fn changed(&self) -> Vec<String> {
        let known = locked(&self.seen).clone();
        let mut changed = Vec::new();
        for (uri, before) in known {
            // What cannot be read now is not gone: the next change brings another look.
            let Some(now) = self.read(&uri).filter(|now| *now != before) else { continue };
            if let Some(seen) = locked(&self.seen).get_mut(&uri) {
                *seen = now;
                changed.push(uri);
            }
        }
        changed
    }

    /// What is at an address, as a hash: `Some(None)` if nothing is, `None` if it cannot be read.
    fn read(&self, uri: &str) -> Option<Option<blake3::Hash>> {
        match resources::read(&self.offer, &self.offered, uri) {
            Ok(found) => serde_json::to_vec(&found).ok().map(|found| Some(blake3::hash(&found))),
            Err(error) if error.code == ErrorCode::RESOURCE_NOT_FOUND => Some(None),
            Err(_) => None,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves the list as it was.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
