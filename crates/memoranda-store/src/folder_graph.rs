//! One folder of a project as a graph of its own. No query reads notes of another folder.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::graph::{GraphNeighbourhood, GraphRoute, LinkCandidate, find_neighbours};
use memoranda_core::id::{ObservationId, ProjectName};
use memoranda_core::path::NotePath;

use crate::Store;
use crate::error::Result;
use crate::index::connectivity::{self, Connectivity};
use crate::index::folder_graph::{self, FileAsOf, NamedNote};
use crate::index::{self, FileSummary, FolderFact, FolderTotals, NodeRow};

/// Queries about the notes directly in one folder.
pub struct FolderGraph<'s> {
    store: &'s Store,
    project: ProjectName,
    folder: String,
}

impl Store {
    /// Returns a folder of a project as a graph. The folder need not exist.
    pub fn folder(&self, project: &ProjectName, folder: &str) -> FolderGraph<'_> {
        FolderGraph { store: self, project: project.clone(), folder: folder.to_owned() }
    }

    /// Returns the folders of a project that contain notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderTotals>> {
        self.inner.ask(|db| folder_graph::folders(db, project))
    }
}

impl FolderGraph<'_> {
    /// Returns the notes with exactly this title, the shortest path first.
    pub fn titled(&self, title: &str) -> Result<Vec<LinkCandidate<i64>>> {
        self.store.inner.ask(|db| folder_graph::titled(db, &self.project, &self.folder, title))
    }

    /// Returns every note, with the values that totals need.
    pub fn nodes(&self) -> Result<Vec<NodeRow>> {
        self.store.inner.ask(|db| folder_graph::nodes(db, &self.project, &self.folder))
    }

    /// Returns the number of notes, placeholders included.
    pub fn count(&self) -> Result<u64> {
        self.store.inner.ask(|db| folder_graph::count(db, &self.project, &self.folder))
    }

    /// Returns true if there are more than `count` notes, placeholders included.
    pub fn has_more_than(&self, count: u64) -> Result<bool> {
        self.store
            .inner
            .ask(|db| folder_graph::has_more_than(db, &self.project, &self.folder, count))
    }

    /// Returns the notes of this type, and the notes whose title matches every word as a prefix:
    /// the newest, at most `limit` of either.
    pub fn called(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.store
            .inner
            .ask(|db| folder_graph::called(db, &self.project, &self.folder, text, limit))
    }

    /// Returns the number of notes of each type, as written in their frontmatter.
    pub fn types(&self) -> Result<Vec<(Option<String>, u64)>> {
        self.store.inner.ask(|db| folder_graph::types(db, &self.project, &self.folder))
    }

    /// Returns the number of notes last changed on each day since a time, by the start of the day.
    pub fn days(&self, since: Timestamp) -> Result<Vec<(Timestamp, u64)>> {
        self.store.inner.ask(|db| folder_graph::days(db, &self.project, &self.folder, since))
    }

    /// Returns the connectivity of these notes, which must be all notes of the folder.
    pub fn connectivity(&self, of: &[NodeRow]) -> Result<Connectivity> {
        self.store.inner.ask(|db| connectivity::connectivity(db, of))
    }

    /// Returns the names related to a note within the folder, in either direction, each once.
    pub fn neighbour_names(&self, file: i64, limit: usize) -> Result<Vec<String>> {
        self.store
            .inner
            .ask(|db| connectivity::neighbour_names(db, &self.project, &self.folder, file, limit))
    }

    /// Returns the notes directly in the folder, by path.
    pub fn page(&self, limit: usize, offset: usize) -> Result<Vec<FileSummary>> {
        self.store
            .inner
            .ask(|db| folder_graph::page(db, &self.project, &self.folder, limit, offset))
    }

    /// Returns the notes that `keep` accepts, by path: at most `limit`, starting at number
    /// `offset`, and the number of the first note that was not examined.
    pub fn entries(
        &self,
        limit: usize,
        offset: usize,
        keep: impl Fn(&NamedNote) -> bool,
    ) -> Result<(Vec<NamedNote>, Option<usize>)> {
        let page = (limit, offset);
        self.store
            .inner
            .ask(|db| folder_graph::entries(db, &self.project, &self.folder, page, &keep))
    }

    /// Returns the notes that were last changed between two times.
    pub fn changed_between(
        &self,
        start: Option<Timestamp>,
        end: Option<Timestamp>,
    ) -> Result<HashSet<i64>> {
        let ask =
            |db: &_| folder_graph::changed_between(db, &self.project, &self.folder, start, end);
        self.store.inner.ask(ask)
    }

    /// Returns the creation time of the oldest note and the change time of the newest.
    pub fn times(&self) -> Result<Option<(Timestamp, Timestamp)>> {
        self.store.inner.ask(|db| folder_graph::folder_times(db, &self.project, &self.folder))
    }

    /// Returns a shortest path between two notes through this folder only.
    pub fn path(
        &self,
        from: i64,
        to: i64,
        depth: usize,
    ) -> Result<Option<GraphRoute<i64, String>>> {
        let ends = (from, to);
        self.store
            .inner
            .ask(|db| folder_graph::path_within(db, &self.project, &self.folder, ends, depth))
    }

    /// Returns the neighbourhood of some notes within this folder.
    pub fn around(
        &self,
        start: &[i64],
        depth: usize,
        max: usize,
    ) -> Result<GraphNeighbourhood<i64, String>> {
        self.store.inner.ask(|db| {
            let project = index::project_id_of(db, &self.project)?;
            find_neighbours(start, depth, max, |level| {
                folder_graph::edges_within(db, project, &self.folder, level)
            })
        })
    }

    /// Returns the current facts by note and line, optionally of one category.
    pub fn facts(&self, category: Option<&str>) -> Result<Vec<FolderFact>> {
        self.store
            .inner
            .ask(|db| folder_graph::facts_within(db, &self.project, &self.folder, category))
    }

    /// Returns the notes whose title, type or current facts contain a text, case-insensitively.
    pub fn holding(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.store
            .inner
            .ask(|db| folder_graph::holding(db, &self.project, &self.folder, text, limit))
    }

    /// Returns the files as of a time, by path, including those in subfolders.
    pub fn as_of(&self, time: Timestamp) -> Result<Vec<FileAsOf>> {
        self.store.inner.ask(|db| folder_graph::folder_as_of(db, &self.project, &self.folder, time))
    }

    /// Returns when a file was first recorded, and when it was last changed before a time.
    pub fn times_as_of(
        &self,
        path: &NotePath,
        time: Timestamp,
    ) -> Result<Option<(Timestamp, Timestamp)>> {
        self.store.inner.ask(|db| folder_graph::times_as_of(db, &self.project, path, time))
    }

    /// Returns the versions that facts of a file reached by external rewording until a time.
    pub fn reworded(
        &self,
        path: &NotePath,
        until: Timestamp,
    ) -> Result<HashMap<ObservationId, u32>> {
        self.store.inner.ask(|db| {
            let project = index::project_id_of(db, &self.project)?;
            index::history::reworded(db, project, path, Some(until))
        })
    }

    /// Returns true if the latest change of a file is its creation.
    pub fn was_just_created(&self, path: &NotePath) -> Result<bool> {
        self.store.inner.ask(|db| folder_graph::was_just_created(db, &self.project, path))
    }
}
