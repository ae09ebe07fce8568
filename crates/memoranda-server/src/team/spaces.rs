//! The spaces that this server has open: a vault each, with the services on it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use memoranda_engine::{
    EngineError, Memory, SpaceFreshness, StoreError, clock, remove_stale_caches,
};
use memoranda_remote::directory::{SpaceDirectory, SpaceGrant};
use memoranda_tools::SelectionError;

use super::cold_spaces::{CacheState, complete_if_cold};
use crate::api::ApiState;
use crate::config::ServerConfig;
use crate::mcp;
use crate::page::{PageSessions, PageState};
use crate::tool_catalog::ToolCatalog;

/// Time after which a follower that waits for a change checks whether it is still needed.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(20);
/// Pause of a follower after an error.
const FOLLOW_RETRY_PAUSE: Duration = Duration::from_secs(2);

/// Prepares a vault that was opened: time zone, default project, embedding model.
pub(crate) type PrepareMemory = Arc<dyn Fn(Memory) -> Memory + Send + Sync>;

/// A space that is open.
pub(crate) struct OpenSpace {
    pub(crate) memory: Arc<Memory>,
    pub(crate) app: Arc<ApiState>,
    device: String,
    epoch: u32,
    used: AtomicU64,
    is_followed: AtomicBool,
    pub(super) cache: CacheState,
}

/// The spaces that are open, and what is needed to open others.
pub(crate) struct OpenSpaces {
    pub(super) directory: Arc<dyn SpaceDirectory>,
    pub(super) root: PathBuf,
    pub(super) lock_patience: Duration,
    max_open: usize,
    pub(super) prepare: PrepareMemory,
    slots: Mutex<HashMap<i64, Arc<SpaceSlot>>>,
    clock: AtomicU64,
}

/// The place of one space, so that a slow opening delays no other space.
#[derive(Default)]
struct SpaceSlot(Mutex<Option<Arc<OpenSpace>>>);

impl SpaceSlot {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<OpenSpace>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why a space cannot be used now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpaceError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

impl SpaceError {
    /// Returns true if the log of the space cannot be reached.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Store(StoreError::Remote(e))) if e.is_away())
    }

    fn is_rewritten(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Store(StoreError::SpaceRewritten)))
    }
}

impl OpenSpaces {
    pub(crate) fn new(
        directory: Arc<dyn SpaceDirectory>,
        root: PathBuf,
        lock_patience: Duration,
        max_open: usize,
        prepare: PrepareMemory,
    ) -> Self {
        let (slots, clock) = (Mutex::default(), AtomicU64::new(0));
        Self { directory, root, lock_patience, max_open: max_open.max(1), prepare, slots, clock }
    }

    /// Returns how many spaces are open.
    pub(crate) fn open_count(&self) -> usize {
        self.slots().values().filter(|slot| slot.lock().is_some()).count()
    }

    /// Opens a space if it is not open, and brings it to the end of its log as the grant knows it.
    pub(crate) fn current(
        &self,
        config: &ServerConfig,
        grant: &SpaceGrant,
    ) -> Result<(Arc<OpenSpace>, SpaceFreshness), SpaceError> {
        let open = self.open(config, grant)?;
        complete_if_cold(&open);
        match self.catch_up(&open, grant) {
            Err(error) if error.is_rewritten() => {
                self.close(grant.id);
                let open = self.open(config, grant)?;
                let freshness = open.memory.catch_up_with_space(None)?;
                Ok((open, freshness))
            }
            freshness => Ok((open, freshness?)),
        }
    }

    fn catch_up(&self, open: &OpenSpace, grant: &SpaceGrant) -> Result<SpaceFreshness, SpaceError> {
        Ok(open.memory.catch_up_with_space(Some(grant.head))?)
    }

    pub(super) fn open(
        &self,
        config: &ServerConfig,
        grant: &SpaceGrant,
    ) -> Result<Arc<OpenSpace>, SpaceError> {
        let slot = Arc::clone(self.slots().entry(grant.id).or_default());
        let mut place = slot.lock();
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        if let Some(open) = place.as_ref().filter(|open| open.epoch == grant.head.epoch) {
            open.used.store(now, Ordering::Relaxed);
            return Ok(Arc::clone(open));
        }
        *place = None;
        let memory = Memory::open_space(&self.options(), self.directory.space_log(grant))?;
        let memory = Arc::new((self.prepare)(memory));
        let is_whole = memory.was_whole();
        let catalog = Arc::new(ToolCatalog::new(Arc::clone(&memory), config)?);
        let sessions = Arc::new(PageSessions::new(None));
        let page = Arc::new(PageState::new(Arc::clone(&catalog), sessions, config));
        let app = ApiState { mcp: mcp::service(Arc::clone(&catalog), config), catalog, page };
        let open = Arc::new(OpenSpace {
            memory,
            app: Arc::new(app),
            device: grant.device.clone(),
            epoch: grant.head.epoch,
            used: AtomicU64::new(now),
            is_followed: AtomicBool::new(false),
            cache: CacheState::new(is_whole),
        });
        *place = Some(Arc::clone(&open));
        drop(place);
        self.close_unused();
        Ok(open)
    }

    /// Returns the spaces that are open and not being opened just now.
    pub(super) fn open_spaces(&self) -> Vec<Arc<OpenSpace>> {
        let slots: Vec<Arc<SpaceSlot>> = self.slots().values().map(Arc::clone).collect();
        let open = |slot: &Arc<SpaceSlot>| slot.0.try_lock().ok()?.as_ref().map(Arc::clone);
        slots.iter().filter_map(open).collect()
    }

    /// Closes spaces that were purged or deleted, and removes their caches, also those that nobody
    /// asks for any more.
    pub(crate) fn remove_stale(&self) {
        if let Err(error) = self.directory.remove_stale_images() {
            tracing::debug!(%error, "index images cannot be looked through");
        }
        let current = || match self.directory.space_epochs() {
            Ok(spaces) => {
                let is_current = |open: &OpenSpace| {
                    let mut named = spaces.iter().filter(|(device, _)| *device == open.device);
                    named.any(|(_, epoch)| *epoch <= open.epoch)
                };
                self.slots().retain(|_, slot| match slot.0.try_lock() {
                    Ok(open) => open.as_ref().is_none_or(|open| is_current(open)),
                    // It is being opened just now.
                    Err(_) => true,
                });
                Some(spaces)
            }
            Err(_) => None,
        };
        match remove_stale_caches(&self.root, current) {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "removed caches of purged or deleted spaces"),
            Err(error) => tracing::warn!(%error, "caches of spaces cannot be looked through"),
        }
    }

    /// Closes a space. Calls that still use its vault end as they began.
    fn close(&self, space: i64) {
        self.slots().remove(&space);
    }

    /// Closes the spaces whose last use is the longest ago, beyond the maximum number.
    fn close_unused(&self) {
        let mut slots = self.slots();
        while slots.len() > self.max_open {
            // A slot that is locked is being opened just now.
            let used = |slot: &SpaceSlot| match slot.0.try_lock() {
                Ok(open) => open.as_ref().map_or(0, |open| open.used.load(Ordering::Relaxed)),
                Err(_) => u64::MAX,
            };
            let oldest = slots.iter().min_by_key(|(_, slot)| used(slot)).map(|(id, _)| *id);
            let Some(oldest) = oldest else { return };
            slots.remove(&oldest);
        }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<i64, Arc<SpaceSlot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSpace {
    /// Applies what other servers write as they write it, for subscriptions. Ends when the space is
    /// closed.
    pub(crate) fn follow(&self) {
        if self.is_followed.swap(true, Ordering::SeqCst) {
            return;
        }
        let memory = Arc::downgrade(&self.memory);
        if std::thread::Builder::new().spawn(move || follow(&memory)).is_err() {
            self.is_followed.store(false, Ordering::SeqCst);
        }
    }
}

fn follow(memory: &Weak<Memory>) {
    while let Some(memory) = memory.upgrade() {
        let started = clock::now();
        let changed = memory.await_space_change(FOLLOW_TIMEOUT);
        let followed = changed.and_then(|head| memory.catch_up_with_space(head));
        drop(memory);
        match followed {
            Ok(SpaceFreshness::Current) => {}
            Err(EngineError::Store(StoreError::SpaceRewritten)) => return,
            Ok(SpaceFreshness::AsOf(_)) | Err(_) => {
                tracing::debug!(%started, "a space cannot be followed at the moment");
                std::thread::sleep(FOLLOW_RETRY_PAUSE);
            }
        }
    }
}
