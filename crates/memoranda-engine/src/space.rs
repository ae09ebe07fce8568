//! Vaults whose log is kept elsewhere: caches of spaces, and clones.

use std::time::Duration;

use memoranda_store::remote::RemoteHead;
use memoranda_store::{SpaceFreshness, SpaceImportReport};

use crate::error::Result;
use crate::{IndexProgress, Memory};

/// Maximum time to index a space.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(3600);

impl Memory {
    /// Fetches and applies what the remote log has beyond this vault. `head` is the end of the
    /// remote log if the caller knows it already.
    pub fn catch_up_with_space(&self, head: Option<RemoteHead>) -> Result<SpaceFreshness> {
        Ok(self.store.catch_up_with_space(head)?)
    }

    /// Waits until the remote log has another head than this vault, at most for `timeout`.
    pub fn await_space_change(&self, timeout: Duration) -> Result<Option<RemoteHead>> {
        Ok(self.store.await_space_change(timeout)?)
    }

    /// Returns true if this cache had the whole space before.
    pub fn was_whole(&self) -> bool {
        self.store.was_whole()
    }

    /// Fetches the whole space and indexes it, and records that it is here. Ends early, without an
    /// error, if the remote log is away.
    pub fn complete_space(&self) -> Result<bool> {
        if self.store.catch_up_with_space(None)? != SpaceFreshness::Current {
            return Ok(false);
        }
        if self.await_index(COMPLETION_TIMEOUT, &|_, _| ())? != IndexProgress::Whole {
            return Ok(false);
        }
        self.store.note_whole()?;
        Ok(true)
    }

    /// Stores an image of the index with the remote log, if an image is needed.
    pub fn offer_image(&self) -> Result<bool> {
        Ok(self.store.offer_image()?)
    }

    /// Copies the history of a vault into this space, which must be empty.
    pub fn import_vault(
        &self,
        source: &Self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SpaceImportReport> {
        Ok(self.store.import_vault(&source.store, progress)?)
    }

    /// Fetches what the log has beyond this clone, and forces everything to disk.
    pub fn pull(&self) -> Result<()> {
        Ok(self.store.pull()?)
    }

    /// Returns the number of log records that the copy of a remote log has; 0 in other vaults.
    pub fn copied_commits(&self) -> Result<u64> {
        Ok(self.store.copied_commits()?)
    }

    /// Returns the size of the log, in bytes.
    pub fn log_bytes(&self) -> Result<u64> {
        Ok(self.store.log_size()?)
    }
}
