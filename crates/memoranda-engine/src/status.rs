//! How the vault is.

use std::path::PathBuf;

use memoranda_store::IndexCounts;

use crate::Memory;
use crate::error::Result;
use crate::project::ProjectInfo;
use crate::search::embedding::ModelStatus;

/// How the vault is.
#[derive(Clone, Debug)]
pub struct VaultStatus {
    /// Where it lies.
    pub home: PathBuf,
    /// Where the index lies.
    pub index: PathBuf,
    /// The name of this device in the log.
    pub device: String,
    /// Its projects.
    pub projects: Vec<ProjectInfo>,
    /// How much the index holds.
    pub counts: IndexCounts,
    /// How large the log is, in bytes.
    pub log_bytes: u64,
    /// Whether some process notices people's edits as they happen.
    pub watched: bool,
    /// Whether every file has been looked at since the index was made.
    pub indexed: bool,
    /// How far the model is that was chosen, if one was.
    pub model: Option<ModelStatus>,
}

impl Memory {
    /// How the vault is.
    pub fn status(&self) -> Result<VaultStatus> {
        Ok(VaultStatus {
            home: self.store().home().to_owned(),
            index: self.store().index_path(),
            device: self.store().device().to_owned(),
            projects: self.projects()?,
            counts: self.snapshot()?.counts()?,
            log_bytes: self.store().log_size()?,
            watched: self.store().is_watched(),
            indexed: self.store().is_indexed()?,
            model: self.model_status()?,
        })
    }
}
