//! Read access to files and index while the vault lock is held.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use memoranda_core::graph::LinkCandidate;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::permalink::{permalink_of, strip_project};
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::StoreInner;
use crate::commit::index_update::UnindexedFile;
use crate::error::{Result, StoreError};
use crate::files::{self, FileContent, ProjectRoot};
use crate::index::{
    self, FileSummary, FolderTotals, ListFilter, ListOrder, NodeRow, ObservationRow, RelationRow,
};
use crate::subtree;

/// The state of files and index under the vault lock, on which a change is decided.
pub struct LockedView<'a> {
    inner: &'a StoreInner,
    db: &'a Connection,
    seen: RefCell<Vec<ReadVersion>>,
    /// Opened project folders; `None` for a project that does not exist.
    roots: RefCell<HashMap<ProjectName, Option<Rc<ProjectRoot>>>>,
}

/// A file version that a decision depends on.
pub(crate) type ReadVersion = (ProjectName, NotePath, Option<ContentHash>);

impl<'a> LockedView<'a> {
    pub(crate) fn new(inner: &'a StoreInner, db: &'a Connection) -> Self {
        Self { inner, db, seen: RefCell::default(), roots: RefCell::default() }
    }

    /// Indexes the pending commits if one of them may concern a query.
    fn settle(&self, concerns: impl Fn(&UnindexedFile) -> bool) -> Result<()> {
        self.inner.settle_pending(self.db, concerns)
    }

    pub(crate) fn into_seen(self) -> Vec<ReadVersion> {
        self.seen.into_inner()
    }

    /// Reads a file; `None` if it does not exist.
    pub fn read(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileContent>> {
        files::check_owner(path)?;
        let found = self.root(project)?.map(|root| root.read(path)).transpose()?.flatten();
        let hash = found.as_ref().map(|found| found.hash);
        self.seen.borrow_mut().push((project.clone(), path.clone(), hash));
        Ok(found)
    }

    fn root(&self, project: &ProjectName) -> Result<Option<Rc<ProjectRoot>>> {
        if let Some(root) = self.roots.borrow().get(project) {
            return Ok(root.clone());
        }
        let root = match self.inner.vault.project(project.as_str()) {
            Ok(project) => Some(Rc::new(self.inner.root_held(self.db, &project)?)),
            Err(StoreError::NoProject { .. }) => None,
            Err(e) => return Err(e),
        };
        self.roots.borrow_mut().insert(project.clone(), root.clone());
        Ok(root)
    }

    /// Returns all files at or below a path that are visible or written by a tool, and their
    /// folders.
    pub fn below(&self, project: &ProjectName, folder: &NotePath) -> Result<files::Subtree> {
        self.settle(|_| true)?;
        let found = self.inner.vault.project(project.as_str())?;
        let root = self.inner.root_held(self.db, &found)?;
        subtree::below(self.db, &found.name, &root, folder)
    }

    /// Returns the index row of a file, as of the last commit.
    pub fn file(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileSummary>> {
        self.settle(|pending| pending.path == *path)?;
        index::at(self.db, project, path)
    }

    /// Returns the files that match a filter, as of the last commit.
    pub fn list(
        &self,
        filter: &ListFilter,
        order: ListOrder,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<FileSummary>> {
        self.settle(|_| true)?;
        index::list(self.db, filter, order, limit, offset)
    }

    /// Returns the files of a project with this permalink, as of the last commit.
    pub fn with_permalink(
        &self,
        project: &ProjectName,
        permalink: &str,
    ) -> Result<Vec<FileSummary>> {
        self.settle(|pending| pending.permalink == permalink)?;
        index::with_permalink(self.db, project, permalink)
    }

    /// Returns the files that a name can refer to in a project, as of the last commit.
    pub fn link_candidates(
        &self,
        project: &ProjectName,
        name: &str,
    ) -> Result<Vec<LinkCandidate<i64>>> {
        let key = index::extract::link_key(name);
        self.settle(|pending| pending.has_key(project, &key))?;
        let project = index::project_id_of(self.db, project)?;
        index::link_candidates(self.db, project, &key)
    }

    /// Returns the relations with this target, as of the last commit.
    pub fn relations_named(&self, project: &ProjectName, name: &str) -> Result<Vec<RelationRow>> {
        self.settle(|_| true)?;
        let project = index::project_id_of(self.db, project)?;
        index::relations_named(self.db, project, &index::extract::target_key(name))
    }

    /// Returns a file as links would resolve it at another path, with the keys of its names there.
    /// A note keeps its permalink, and its title if the frontmatter states one.
    pub fn named_at(
        &self,
        file: &FileSummary,
        path: &NotePath,
    ) -> (LinkCandidate<i64>, Vec<String>) {
        let states_title = file.metadata.contains("\"title\":");
        let title = if !path.is_markdown() {
            path.file_name().to_owned()
        } else if states_title {
            file.title.clone()
        } else {
            path.stem().to_owned()
        };
        let permalink = if path.is_markdown() && file.path.is_markdown() {
            file.permalink.clone()
        } else {
            permalink_of(path).0
        };
        let project = file.project.as_str();
        let keys = index::extract::link_keys(project, path, &title, &permalink, &file.metadata);
        let within = strip_project(&permalink, project).map(str::to_owned);
        let is_permalink_kept = index::is_permalink_kept(path, &permalink, &file.metadata);
        let path = path.clone();
        (LinkCandidate { id: file.id, path, permalink, within, title, is_permalink_kept }, keys)
    }

    /// Returns the index row of a file by its number.
    pub fn by_id(&self, id: i64) -> Result<Option<FileSummary>> {
        index::by_id(self.db, id)
    }

    /// Returns the facts of a file, as of the last commit.
    pub fn observations(&self, file: i64) -> Result<Vec<ObservationRow>> {
        index::observations(self.db, file)
    }

    /// Returns the notes with exactly this title in a folder, the shortest path first.
    pub fn titled(
        &self,
        project: &ProjectName,
        folder: &str,
        title: &str,
    ) -> Result<Vec<LinkCandidate<i64>>> {
        let key = index::extract::exact_key(folder, title);
        self.settle(|pending| pending.has_key(project, &key))?;
        index::folder_graph::titled(self.db, project, folder, title)
    }

    /// Returns the files whose names equal this one on a case-insensitive or normalising file
    /// system.
    pub fn twins(&self, project: &ProjectName, path: &NotePath) -> Result<Vec<NotePath>> {
        self.settle(|pending| pending.has_path_key(project, path))?;
        index::by_key(self.db, project, path)
    }

    /// Returns every note of a folder, without subfolders.
    pub fn nodes(&self, project: &ProjectName, folder: &str) -> Result<Vec<NodeRow>> {
        self.settle(|_| true)?;
        index::folder_graph::nodes(self.db, project, folder)
    }

    /// Returns the folders of a project that contain notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderTotals>> {
        self.settle(|_| true)?;
        index::folder_graph::folders(self.db, project)
    }

    /// Returns the files of a project that contain one of these texts outside of relations: in
    /// frontmatter or in a Markdown link; and all drawings. Reads all texts.
    pub fn mentioning(&self, project: &ProjectName, texts: &[String]) -> Result<Vec<NotePath>> {
        self.settle(|_| true)?;
        index::mentioning(self.db, project, texts)
    }

    /// Returns the relations from a file, as of the last commit.
    pub fn relations_from(&self, file: i64) -> Result<Vec<RelationRow>> {
        self.settle(|_| true)?;
        index::relations_from(self.db, file)
    }

    /// Returns the relations to a file, as of the last commit.
    pub fn relations_to(&self, file: i64) -> Result<Vec<RelationRow>> {
        self.settle(|_| true)?;
        index::relations_to(self.db, file)
    }
}
