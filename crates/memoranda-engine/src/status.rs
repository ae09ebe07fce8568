//! The state of the vault.

use std::path::{Path, PathBuf};

use memoranda_store::{IndexCounts, Project, WriteObstacle};

use crate::Memory;
use crate::error::Result;
use crate::project::ProjectInfo;
use crate::search::embedding::ModelStatus;

/// State of the vault.
#[derive(Clone, Debug)]
pub struct VaultStatus {
    /// Folder of the vault.
    pub home: PathBuf,
    /// File of the index.
    pub index: PathBuf,
    /// Name of this device in the log.
    pub device: String,
    /// Projects with their numbers of notes.
    pub projects: Vec<ProjectInfo>,
    /// Row counts of the index.
    pub counts: IndexCounts,
    /// Size of the log, in bytes.
    pub log_bytes: u64,
    /// True if some process records edits as they happen.
    pub watched: bool,
    /// True if every file has been scanned since the index was created.
    pub indexed: bool,
    /// Progress of the chosen embedding model; `None` if none was chosen.
    pub model: Option<ModelStatus>,
}

impl Memory {
    /// Returns the folder of the vault.
    pub fn home(&self) -> &Path {
        self.store().home()
    }

    /// Returns the name of this device in the log.
    pub fn device(&self) -> &str {
        self.store().device()
    }

    /// Returns the obstacle to writing into the vault now; `None` if the system names none.
    pub fn write_obstacle(&self) -> Option<WriteObstacle> {
        self.store().write_obstacle()
    }

    /// Rejects a project whose folder cannot be reached now.
    pub fn reach_project(&self, project: &Project) -> Result<()> {
        Ok(self.store().reach_project(project)?)
    }

    /// Returns the state of the vault.
    pub fn status(&self) -> Result<VaultStatus> {
        Ok(VaultStatus {
            home: self.home().to_owned(),
            index: self.store().index_path(),
            device: self.device().to_owned(),
            projects: self.projects()?,
            counts: self.snapshot()?.counts()?,
            log_bytes: self.store().log_size()?,
            watched: self.is_watched(),
            indexed: self.is_indexed()?,
            model: self.model_status()?,
        })
    }
}
