//! Looking at the disk: people's edits become part of memory.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{ScanProgress, ScanReport};

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
    /// Looks at every file.
    pub fn sync(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        Ok(self.store().sync(progress)?)
    }

    /// Looks at what an answer can depend on, unless another process notices edits as they happen,
    /// so that a question asked now is answered from the files as they are. Once something has
    /// changed there, the whole project is looked at: what appears in a folder may have left another.
    pub fn catch_up(
        &self,
        concern: &SyncScope,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Option<ScanReport>> {
        if !self.store().is_indexed()? {
            return self.sync(progress).map(Some);
        }
        if self.store().is_watched() {
            return Ok(None);
        }
        match concern {
            SyncScope::Everything => self.sync(progress).map(Some),
            SyncScope::Folders(project, folders) => {
                if self.store().is_as_known(project, folders)? {
                    Ok(None)
                } else {
                    Ok(Some(self.store().sync_project(project, progress)?))
                }
            }
        }
    }

    /// Throws the index away and makes it anew.
    pub fn reindex(&self, progress: &mut dyn FnMut(ScanProgress)) -> Result<ScanReport> {
        Ok(self.store().reindex(progress)?)
    }
}
