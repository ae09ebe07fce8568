//! Files and index under the vault lock, on which a change is decided.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::StoreInner;
use crate::error::{Result, StoreError};
use crate::files::{self, FileContent, ProjectRoot};
use crate::snapshot::Snapshot;

/// The state of files and index under the vault lock. All queries of [`Snapshot`] are available,
/// as of the last commit.
pub struct Transaction<'s> {
    snapshot: Snapshot<'s>,
    seen: RefCell<Vec<ReadVersion>>,
    /// Opened project folders; `None` for a project that does not exist.
    roots: RefCell<HashMap<ProjectName, Option<Rc<ProjectRoot>>>>,
}

/// A file version that a decision depends on.
pub(crate) type ReadVersion = (ProjectName, NotePath, Option<ContentHash>);

impl<'s> Deref for Transaction<'s> {
    type Target = Snapshot<'s>;

    fn deref(&self) -> &Snapshot<'s> {
        &self.snapshot
    }
}

impl<'s> Transaction<'s> {
    pub(crate) fn new(inner: &'s StoreInner, db: &'s Connection) -> Self {
        let snapshot = Snapshot::of_writer(inner, db);
        Self { snapshot, seen: RefCell::default(), roots: RefCell::default() }
    }

    pub(crate) fn into_seen(self) -> Vec<ReadVersion> {
        self.seen.into_inner()
    }

    /// Reads a file; `None` if it does not exist.
    pub fn read(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileContent>> {
        files::check_owner(path)?;
        let found = self.project_root(project)?.map(|root| root.read(path)).transpose()?.flatten();
        let hash = found.as_ref().map(|found| found.hash);
        self.seen.borrow_mut().push((project.clone(), path.clone(), hash));
        Ok(found)
    }

    fn project_root(&self, name: &ProjectName) -> Result<Option<Rc<ProjectRoot>>> {
        if let Some(root) = self.roots.borrow().get(name) {
            return Ok(root.clone());
        }
        let root = match self.inner.vault.project(name.as_str()) {
            Ok(project) => Some(Rc::new(self.root(&project)?)),
            Err(StoreError::NoProject { .. }) => None,
            Err(e) => return Err(e),
        };
        self.roots.borrow_mut().insert(name.clone(), root.clone());
        Ok(root)
    }
}
