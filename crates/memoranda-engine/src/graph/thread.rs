//! Threads: each is a graph of its own, in a folder of its own.

use memoranda_core::fact::thread_folder;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::FolderGraph;

use crate::error::Result;
use crate::{Memory, NoteLocation};

/// Maximum length of the name of a thread's folder, in bytes. File systems limit names.
const MAX_FOLDER_BYTES: usize = 200;

/// The weights that a write stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WeightPolicy {
    /// Only weights that the caller gave, as in the reference knowledge graph server.
    Given,
    /// Default weights where the caller gave none.
    Complete,
}

/// One graph.
#[derive(Clone, Debug)]
pub struct GraphThread {
    /// The id that callers use.
    pub id: String,
    /// The folder within the project.
    pub folder: String,
    /// The project that contains the threads.
    pub project: ProjectName,
    /// The weights that a write stores.
    pub weights: WeightPolicy,
}

impl GraphThread {
    /// Returns the thread of an id; `None` if the id is empty or too long for a folder name.
    pub fn new(id: &str, project: &ProjectName, weights: WeightPolicy) -> Option<Self> {
        let id = id.trim();
        let folder = thread_folder(id);
        let fits = !id.is_empty() && folder.len() <= MAX_FOLDER_BYTES;
        fits.then(|| Self { id: id.to_owned(), folder, project: project.clone(), weights })
    }

    /// Returns the folder of the thread in the index.
    pub(super) fn folder_graph<'m>(&self, memory: &'m Memory) -> Result<FolderGraph<'m>> {
        Ok(memory.snapshot()?.folder(&self.project, &self.folder))
    }

    /// Returns the location of a note of the thread.
    pub fn place(&self, path: NotePath) -> NoteLocation {
        NoteLocation::new(&self.project, path)
    }

    /// Returns the folder of the thread with its project, for people.
    pub fn address(&self) -> String {
        format!("{}/{}", self.project, self.folder)
    }

    /// Returns true if a file is a note directly in the folder of the thread.
    pub(super) fn owns(&self, path: &NotePath) -> bool {
        path.is_markdown() && path.parent() == Some(self.folder.as_str())
    }

    /// Returns the filter for all files of the thread.
    pub(super) fn filter(&self) -> memoranda_store::ListFilter {
        memoranda_store::ListFilter {
            project: Some(self.project.clone()),
            folder: NotePath::parse(&self.folder).ok(),
            ..memoranda_store::ListFilter::default()
        }
    }
}
