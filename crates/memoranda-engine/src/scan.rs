//! Finding the edits that people made outside this program.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{ChangeSubscription, ScanProgress, ScanReport};

use crate::Memory;
use crate::error::Result;

/// The files that an answer can depend on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SyncScope {
    /// Any file.
    Everything,
    /// Those at or below some folders of one project.
    Folders(ProjectName, Vec<NotePath>),
}

impl Memory {
    /// Scans every file of every project, and records the edits.
    pub fn sync(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        Ok(self.store().sync(progress)?)
    }

    /// Scans every file of one project, and records the edits.
    pub fn sync_project(
        &self,
        project: &ProjectName,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<ScanReport> {
        Ok(self.store().sync_project(project, progress)?)
    }

    /// Returns true if some process records edits of this vault as they happen.
    pub fn is_watched(&self) -> bool {
        self.store().is_watched()
    }

    /// Returns true if this process is the watcher, and has scanned all earlier edits.
    pub fn has_looked(&self) -> bool {
        self.store().has_looked()
    }

    /// Returns true if every file has been scanned since the index was created.
    pub fn is_indexed(&self) -> Result<bool> {
        Ok(self.store().is_indexed()?)
    }

    /// Calls `changed` soon after every change of the vault by any process, until the subscription
    /// is dropped. An edit counts as soon as a process that watches the vault has recorded it.
    pub fn subscribe(&self, changed: impl Fn() + Send + 'static) -> Result<ChangeSubscription> {
        Ok(self.store().follow(changed)?)
    }

    /// Scans the files that an answer can depend on, unless a process watches the vault. If one of
    /// them has changed, the whole project is scanned: a new file may have come from another folder.
    pub fn catch_up(
        &self,
        concern: &SyncScope,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Option<ScanReport>> {
        if !self.is_indexed()? {
            return self.sync(progress).map(Some);
        }
        if self.is_watched() {
            return Ok(None);
        }
        // A scan writes: it would wait for a process that was stopped while it holds the lock.
        self.store().catch_up_for_read()?;
        match concern {
            SyncScope::Everything => self.sync(progress).map(Some),
            SyncScope::Folders(project, folders) => {
                if self.store().is_as_known(project, folders)? {
                    Ok(None)
                } else {
                    self.sync_project(project, progress).map(Some)
                }
            }
        }
    }

    /// Deletes the index and rebuilds it from the files and the log.
    pub fn reindex(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        Ok(self.store().reindex(progress)?)
    }
}
