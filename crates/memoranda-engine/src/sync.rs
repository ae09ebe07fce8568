//! Looking at the disk: people's edits become part of memory.

use memoranda_store::{SyncProgress, SyncReport};

use crate::Memory;
use crate::error::Result;

impl Memory {
    /// Looks at every file.
    pub fn sync(&self, progress: &mut dyn FnMut(SyncProgress)) -> Result<SyncReport> {
        Ok(self.store().sync(progress)?)
    }

    /// Looks at every file unless another process notices edits as they happen, so that a
    /// question asked now is answered from the files as they are.
    pub fn catch_up(&self, progress: &mut dyn FnMut(SyncProgress)) -> Result<Option<SyncReport>> {
        if self.store().is_watched() && self.store().is_indexed()? {
            return Ok(None);
        }
        self.sync(progress).map(Some)
    }

    /// Throws the index away and makes it anew.
    pub fn reindex(&self, progress: &mut dyn FnMut(SyncProgress)) -> Result<SyncReport> {
        Ok(self.store().reindex(progress)?)
    }
}
