//! Errors of the bank verbs. A verb that fails has changed nothing.

use std::path::PathBuf;

use memoranda_store::StoreError;

use crate::EngineError;

/// A bank verb that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum BankError {
    /// The vault failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The files of a bank could not be listed or loaded.
    #[error("{0}")]
    Load(EngineError),
    /// The id cannot name a folder.
    #[error("{0:?} cannot be the id of a bank")]
    InvalidId(String),
    /// A project bank is found by its name, and none was given.
    #[error("a project bank needs a name")]
    NoProjectName {
        /// Ids of the existing project banks.
        known: Vec<String>,
    },
    /// A code bank is found by its repository, and the folder has no repository.
    #[error("there is no git repository")]
    NoRepository {
        /// Folder that the client works in, if known.
        folder: Option<PathBuf>,
    },
    /// The path is not a file of a bank.
    #[error("{0:?} is not a file of a bank")]
    NotABankFile(String),
    /// A replacement needs the name of its file.
    #[error("a replacement needs the name of its file")]
    ReplaceWithoutFile,
    /// Another process created the bank at the same time.
    #[error("another process made the bank at the same moment; try again")]
    Conflict,
}

impl From<StoreError> for BankError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

/// The result of a bank verb.
pub type BankResult<T, E = BankError> = Result<T, E>;
