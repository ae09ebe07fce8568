//! What a change is decided on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use memoranda_core::graph::LinkCandidate;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::permalink::{permalink_of, strip_project};
use memoranda_core::path::NotePath;
use rusqlite::Connection;

use crate::StoreInner;
use crate::error::{Result, StoreError};
use crate::files::{self, FileContent, ProjectRoot};
use crate::index::{
    self, FileSummary, FolderTotals, ListFilter, ListOrder, NodeRow, ObservationRow, RelationRow,
};
use crate::subtree;

/// The files as they are while the lock is held, for a change to be decided on.
pub struct LockedView<'a> {
    inner: &'a StoreInner,
    db: &'a Connection,
    seen: RefCell<Vec<ReadVersion>>,
    /// The folders of the projects that were read from; none for a project that does not exist.
    roots: RefCell<HashMap<ProjectName, Option<Rc<ProjectRoot>>>>,
}

/// What was read: a decision holds only as long as that is there.
pub(crate) type ReadVersion = (ProjectName, NotePath, Option<ContentHash>);

impl<'a> LockedView<'a> {
    pub(crate) fn new(inner: &'a StoreInner, db: &'a Connection) -> Self {
        Self { inner, db, seen: RefCell::default(), roots: RefCell::default() }
    }

    pub(crate) fn into_seen(self) -> Vec<ReadVersion> {
        self.seen.into_inner()
    }

    /// Reads a file; `None` if there is none.
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

    /// All files at or below a place that are not hidden or ignored, or that a tool wrote, and the
    /// folders they lie in.
    pub fn below(&self, project: &ProjectName, folder: &NotePath) -> Result<files::Subtree> {
        let found = self.inner.vault.project(project.as_str())?;
        let root = self.inner.root_held(self.db, &found)?;
        subtree::below(self.db, &found.name, &root, folder)
    }

    /// What the index knows of a file, as of the last commit.
    pub fn file(&self, project: &ProjectName, path: &NotePath) -> Result<Option<FileSummary>> {
        index::at(self.db, project, path)
    }

    /// Files that fit a filter, as of the last commit.
    pub fn list(
        &self,
        filter: &ListFilter,
        order: ListOrder,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<FileSummary>> {
        index::list(self.db, filter, order, limit, offset)
    }

    /// The files of a project that have this permalink, as of the last commit.
    pub fn with_permalink(
        &self,
        project: &ProjectName,
        permalink: &str,
    ) -> Result<Vec<FileSummary>> {
        index::with_permalink(self.db, project, permalink)
    }

    /// The files that a name can mean in a project, as of the last commit.
    pub fn link_candidates(
        &self,
        project: &ProjectName,
        name: &str,
    ) -> Result<Vec<LinkCandidate<i64>>> {
        let project = index::project_id_of(self.db, project)?;
        index::link_candidates(self.db, project, &index::extract::link_key(name))
    }

    /// The relations by a name, as of the last commit.
    pub fn relations_named(&self, project: &ProjectName, name: &str) -> Result<Vec<RelationRow>> {
        let project = index::project_id_of(self.db, project)?;
        index::relations_named(self.db, project, &index::extract::target_key(name))
    }

    /// A file as links would find it at another path, and the keys of its names there. A note keeps
    /// its permalink, and its title if it states one.
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

    /// What the index knows of a file, by its number.
    pub fn by_id(&self, id: i64) -> Result<Option<FileSummary>> {
        index::by_id(self.db, id)
    }

    /// The facts of a file, as of the last commit.
    pub fn observations(&self, file: i64) -> Result<Vec<ObservationRow>> {
        index::observations(self.db, file)
    }

    /// The notes of exactly this title in a folder, the shortest path first.
    pub fn titled(
        &self,
        project: &ProjectName,
        folder: &str,
        title: &str,
    ) -> Result<Vec<LinkCandidate<i64>>> {
        index::folder_graph::titled(self.db, project, folder, title)
    }

    /// Files whose names some systems could not tell from this one.
    pub fn twins(&self, project: &ProjectName, path: &NotePath) -> Result<Vec<NotePath>> {
        index::by_key(self.db, project, path)
    }

    /// Every note of a folder, not of those below it.
    pub fn nodes(&self, project: &ProjectName, folder: &str) -> Result<Vec<NodeRow>> {
        index::folder_graph::nodes(self.db, project, folder)
    }

    /// The folders of a project that hold notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderTotals>> {
        index::folder_graph::folders(self.db, project)
    }

    /// The files of a project that hold one of these texts where no relation is read: in the
    /// frontmatter, or beside a Markdown link; and all drawings. All texts are gone through.
    pub fn mentioning(&self, project: &ProjectName, texts: &[String]) -> Result<Vec<NotePath>> {
        index::mentioning(self.db, project, texts)
    }

    /// The relations from a file, as of the last commit.
    pub fn relations_from(&self, file: i64) -> Result<Vec<RelationRow>> {
        index::relations_from(self.db, file)
    }

    /// The relations to a file, as of the last commit.
    pub fn relations_to(&self, file: i64) -> Result<Vec<RelationRow>> {
        index::relations_to(self.db, file)
    }
}
