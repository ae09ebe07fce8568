//! Opening a vault: its folder, log, index and lock.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

use crate::commit::write_session::VaultWriter;
use crate::error::Result;
use crate::files::owner;
use crate::index::{IndexFile, VaultIndex};
use crate::provisional::Provisional;
use crate::space::RemoteSpace;
use crate::vault::lock::VaultLock;
use crate::vault::{OpenOptions, Vault, access_times, root_identity};
use crate::{Store, StoreInner, log};

impl Store {
    /// Opens a vault with a log of its own, or the cache of a space.
    pub(crate) fn open_with(options: OpenOptions, space: Option<RemoteSpace>) -> Result<Self> {
        Self::open_as(options, space, None)
    }

    /// Opens a store that answers for a space until the whole of it is here.
    pub(crate) fn open_provisional(
        options: OpenOptions,
        space: RemoteSpace,
        provisional: Provisional,
    ) -> Result<Self> {
        Self::open_as(options, Some(space), Some(provisional))
    }

    fn open_as(
        options: OpenOptions,
        space: Option<RemoteSpace>,
        provisional: Option<Provisional>,
    ) -> Result<Self> {
        let mut vault =
            Vault::open(&options).map_err(|error| owner::explain_refusal(error, &options.home))?;
        if let Some(space) = &space {
            vault.device = space.log().device().to_owned();
        }
        let log = log::folder(&vault.state);
        let mut index = IndexFile::new(&options.cache, &vault.home)?;
        if space.as_ref().is_some_and(RemoteSpace::is_cache) {
            index = index.unforced();
        }
        let index = Arc::new(VaultIndex::new(index));
        let lock = VaultLock::open(&vault.state.join("lock"))?;
        let inner = StoreInner {
            options,
            vault,
            log,
            index,
            writer: Mutex::new(VaultWriter::new(lock)),
            pending: Mutex::default(),
            waiting: AtomicUsize::new(0),
            blocked_at: Mutex::default(),
            background: Mutex::new(None),
            watching: Mutex::new(None),
            watcher_answered_at: Mutex::default(),
            unforced: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            uses: access_times::AccessTimes::default(),
            reached: root_identity::RootIdentityCache::default(),
            listener: Mutex::new(None),
            looking: Mutex::new(()),
            space,
            provisional,
        };
        Ok(Self { inner: Arc::new(inner) })
    }
}
