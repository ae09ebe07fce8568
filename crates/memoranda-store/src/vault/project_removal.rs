//! Removing a project: all or nothing, also across a crash.
//!
//! The registry of projects decides. Before the registry changes, the index marks the project as
//! leaving; after that, the index forgets its files. If a process dies in between, the next one that
//! uses the index finds the mark. It forgets the files if the registry no longer has the project, and
//! clears the mark otherwise.

use memoranda_core::id::ProjectName;
use rusqlite::Connection;

use crate::error::{ErrorContext as _, Result};
use crate::faults::{self, Step};
use crate::index::{self, history};
use crate::scan::ScanProgress;
use crate::vault::Project;
use crate::{Store, StoreInner, clock};

impl Store {
    /// Forgets a project that was added from elsewhere, whose files stay; or removes one of the
    /// vault that holds nothing. The history stays.
    pub fn remove_project(&self, name: &str) -> Result<Project> {
        self.inner.remove_project(name, &mut |_| {})
    }

    /// Removes a project like [`Store::remove_project`], and reports the progress.
    pub fn remove_project_with(
        &self,
        name: &str,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Project> {
        self.inner.remove_project(name, progress)
    }
}

impl StoreInner {
    /// Removes a project. `progress` is called with the number of files forgotten so far.
    fn remove_project(
        &self,
        name: &str,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Project> {
        let project = self.project_meant(name)?;
        // No write to the project may be left to complete once it is removed.
        self.make_checkpoint()?;
        self.with_session(|session| {
            let now = clock::now().max(history::end(session.db)?);
            index::set_leaving(session.db, &project.name, true)?;
            let removed = faults::at(Step::Leaving)
                .doing(|| format!("remove project {}", project.name))
                .and_then(|()| self.vault.remove_project(&project, now));
            if let Err(e) = removed {
                index::set_leaving(session.db, &project.name, false)?;
                return Err(e);
            }
            faults::at(Step::Unregistered).ok();
            self.forget_files(session.db, &project.name, progress)?;
            Ok(project)
        })
    }

    /// Completes the removals that a dead process left unfinished.
    pub(crate) fn complete_removals(&self, db: &Connection) -> Result<()> {
        for name in index::leaving(db)? {
            if self.is_registered(&name)? {
                index::set_leaving(db, &name, false)?;
            } else {
                self.forget_files(db, &name, &mut |_| {})?;
            }
        }
        Ok(())
    }

    /// Returns true if the index still has files of a project that is no longer registered.
    pub(crate) fn has_unfinished_removal(&self, db: &Connection) -> Result<bool> {
        for name in index::leaving(db)? {
            if !self.is_registered(&name)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the index forget all files of a project; the history stays.
    pub(crate) fn forget_files(
        &self,
        db: &Connection,
        name: &ProjectName,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<()> {
        index::forget_project(db, name, progress)?;
        index::set_leaving(db, name, false)?;
        self.index.note_written(db)
    }

    fn is_registered(&self, name: &ProjectName) -> Result<bool> {
        Ok(self.vault.projects()?.iter().any(|project| project.name == *name))
    }
}
