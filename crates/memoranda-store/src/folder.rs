//! One folder of a project as a graph of its own: a view of the index that cannot see further.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::graph::{LinkCandidate, Neighbourhood, Route, neighbours};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::Store;
use crate::error::Result;
use crate::index::{self, FolderFact, FolderSum, NodeRow, nodes};

/// A folder, and the questions that can be asked about the notes directly in it.
pub struct Folder<'s> {
    store: &'s Store,
    project: ProjectName,
    folder: String,
}

impl Store {
    /// A folder of a project, as a graph. It need not exist.
    pub fn folder(&self, project: &ProjectName, folder: &str) -> Folder<'_> {
        Folder { store: self, project: project.clone(), folder: folder.to_owned() }
    }

    /// The folders of a project that hold notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderSum>> {
        self.inner.ask(|db| nodes::folders(db, project))
    }
}

impl Folder<'_> {
    /// The notes of exactly this title, the shortest path first.
    pub fn titled(&self, title: &str) -> Result<Vec<LinkCandidate<i64>>> {
        self.store.inner.ask(|db| nodes::titled(db, &self.project, &self.folder, title))
    }

    /// Every note, with what sums need.
    pub fn nodes(&self) -> Result<Vec<NodeRow>> {
        self.store.inner.ask(|db| nodes::nodes(db, &self.project, &self.folder))
    }

    /// How many notes there are, placeholders too.
    pub fn count(&self) -> Result<u64> {
        self.store.inner.ask(|db| nodes::count(db, &self.project, &self.folder))
    }

    /// How many notes have each type, as their frontmatter writes it.
    pub fn types(&self) -> Result<Vec<(Option<String>, u64)>> {
        self.store.inner.ask(|db| nodes::types(db, &self.project, &self.folder))
    }

    /// How many notes were last changed on each day since then, by the day's start.
    pub fn days(&self, since: Timestamp) -> Result<Vec<(Timestamp, u64)>> {
        self.store.inner.ask(|db| nodes::days(db, &self.project, &self.folder, since))
    }

    /// How many relations lead to each of these notes.
    pub fn incoming(&self, of: &[NodeRow]) -> Result<HashMap<i64, u64>> {
        self.store.inner.ask(|db| nodes::incoming(db, of))
    }

    /// Those of these notes that state a relation to something that is not there.
    pub fn unbound(&self, of: &[NodeRow]) -> Result<HashSet<i64>> {
        self.store.inner.ask(|db| nodes::unbound(db, of))
    }

    /// When the oldest note was made, and the newest was last changed.
    pub fn times(&self) -> Result<Option<(Timestamp, Timestamp)>> {
        self.store.inner.ask(|db| nodes::folder_times(db, &self.project, &self.folder))
    }

    /// A shortest way between two notes through this folder alone.
    pub fn path(&self, from: i64, to: i64, depth: usize) -> Result<Option<Route<i64, String>>> {
        let ends = (from, to);
        self.store.inner.ask(|db| nodes::path_within(db, &self.project, &self.folder, ends, depth))
    }

    /// The notes near these in this folder.
    pub fn around(
        &self,
        start: &[i64],
        depth: usize,
        max: usize,
    ) -> Result<Neighbourhood<i64, String>> {
        self.store.inner.ask(|db| {
            let project = index::project_id_of(db, &self.project)?;
            neighbours(start, depth, max, |level| {
                nodes::edges_within(db, project, &self.folder, level)
            })
        })
    }

    /// The current facts, by note and line; with a category, only those.
    pub fn facts(&self, category: Option<&str>) -> Result<Vec<FolderFact>> {
        self.store.inner.ask(|db| nodes::facts_within(db, &self.project, &self.folder, category))
    }

    /// The notes whose title, type or current facts hold a text, whatever its case.
    pub fn holding(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.store.inner.ask(|db| nodes::holding(db, &self.project, &self.folder, text, limit))
    }

    /// The files as they were at a time, by path.
    pub fn as_of(&self, time: Timestamp) -> Result<Vec<(NotePath, ContentHash)>> {
        self.store.inner.ask(|db| nodes::folder_as_of(db, &self.project, &self.folder, time))
    }

    /// Whether the last thing that the history says of a file is that it was made.
    pub fn was_just_made(&self, path: &NotePath) -> Result<bool> {
        self.store.inner.ask(|db| nodes::was_just_made(db, &self.project, path))
    }
}
