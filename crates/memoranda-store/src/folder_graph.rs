//! One folder of a project as a graph of its own: a view of the index that cannot see further.

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

/// A folder, and the questions that can be asked about the notes directly in it.
pub struct FolderGraph<'s> {
    store: &'s Store,
    project: ProjectName,
    folder: String,
}

impl Store {
    /// A folder of a project, as a graph. It need not exist.
    pub fn folder(&self, project: &ProjectName, folder: &str) -> FolderGraph<'_> {
        FolderGraph { store: self, project: project.clone(), folder: folder.to_owned() }
    }

    /// The folders of a project that hold notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderTotals>> {
        self.inner.ask(|db| folder_graph::folders(db, project))
    }
}

impl FolderGraph<'_> {
    /// The notes of exactly this title, the shortest path first.
    pub fn titled(&self, title: &str) -> Result<Vec<LinkCandidate<i64>>> {
        self.store.inner.ask(|db| folder_graph::titled(db, &self.project, &self.folder, title))
    }

    /// Every note, with what sums need.
    pub fn nodes(&self) -> Result<Vec<NodeRow>> {
        self.store.inner.ask(|db| folder_graph::nodes(db, &self.project, &self.folder))
    }

    /// How many notes there are, placeholders too.
    pub fn count(&self) -> Result<u64> {
        self.store.inner.ask(|db| folder_graph::count(db, &self.project, &self.folder))
    }

    /// Whether there are more notes than so many, placeholders too.
    pub fn has_more_than(&self, count: u64) -> Result<bool> {
        self.store
            .inner
            .ask(|db| folder_graph::has_more_than(db, &self.project, &self.folder, count))
    }

    /// The notes whose type is a text, or whose titles hold words that begin like all of its
    /// words: the newest, at most `limit` of either.
    pub fn called(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.store
            .inner
            .ask(|db| folder_graph::called(db, &self.project, &self.folder, text, limit))
    }

    /// How many notes have each type, as their frontmatter writes it.
    pub fn types(&self) -> Result<Vec<(Option<String>, u64)>> {
        self.store.inner.ask(|db| folder_graph::types(db, &self.project, &self.folder))
    }

    /// How many notes were last changed on each day since then, by the day's start.
    pub fn days(&self, since: Timestamp) -> Result<Vec<(Timestamp, u64)>> {
        self.store.inner.ask(|db| folder_graph::days(db, &self.project, &self.folder, since))
    }

    /// How these notes, which are all of the folder, hang together.
    pub fn connectivity(&self, of: &[NodeRow]) -> Result<Connectivity> {
        self.store.inner.ask(|db| connectivity::connectivity(db, of))
    }

    /// The names that a note is tied to in the folder, either way, each once.
    pub fn neighbour_names(&self, file: i64, limit: usize) -> Result<Vec<String>> {
        self.store
            .inner
            .ask(|db| connectivity::neighbour_names(db, &self.project, &self.folder, file, limit))
    }

    /// The notes directly in the folder, by path.
    pub fn page(&self, limit: usize, offset: usize) -> Result<Vec<FileSummary>> {
        self.store
            .inner
            .ask(|db| folder_graph::page(db, &self.project, &self.folder, limit, offset))
    }

    /// The notes by path that somebody wants to keep: at most `limit`, from the one numbered
    /// `offset` on, and the number of the first that was not looked at.
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

    /// The notes that were last changed between two times.
    pub fn changed_between(
        &self,
        start: Option<Timestamp>,
        end: Option<Timestamp>,
    ) -> Result<HashSet<i64>> {
        let ask =
            |db: &_| folder_graph::changed_between(db, &self.project, &self.folder, start, end);
        self.store.inner.ask(ask)
    }

    /// When the oldest note was made, and the newest was last changed.
    pub fn times(&self) -> Result<Option<(Timestamp, Timestamp)>> {
        self.store.inner.ask(|db| folder_graph::folder_times(db, &self.project, &self.folder))
    }

    /// A shortest way between two notes through this folder alone.
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

    /// The notes near these in this folder.
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

    /// The current facts, by note and line; with a category, only those.
    pub fn facts(&self, category: Option<&str>) -> Result<Vec<FolderFact>> {
        self.store
            .inner
            .ask(|db| folder_graph::facts_within(db, &self.project, &self.folder, category))
    }

    /// The notes whose title, type or current facts hold a text, whatever its case.
    pub fn holding(&self, text: &str, limit: usize) -> Result<Vec<i64>> {
        self.store
            .inner
            .ask(|db| folder_graph::holding(db, &self.project, &self.folder, text, limit))
    }

    /// The files as they were at a time, by path; those of the folders below too.
    pub fn as_of(&self, time: Timestamp) -> Result<Vec<FileAsOf>> {
        self.store.inner.ask(|db| folder_graph::folder_as_of(db, &self.project, &self.folder, time))
    }

    /// When a file was first known, and last changed before a time.
    pub fn times_as_of(
        &self,
        path: &NotePath,
        time: Timestamp,
    ) -> Result<Option<(Timestamp, Timestamp)>> {
        self.store.inner.ask(|db| folder_graph::times_as_of(db, &self.project, path, time))
    }

    /// The versions that facts of a file had got by a person's rewording until a time.
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

    /// Whether the last thing that the history says of a file is that it was made.
    pub fn was_just_created(&self, path: &NotePath) -> Result<bool> {
        self.store.inner.ask(|db| folder_graph::was_just_created(db, &self.project, path))
    }
}
