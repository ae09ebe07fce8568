//! What can go wrong before a single note is decided on.

use std::io;

use memoranda_engine::EngineError;

/// Why an import or an export stopped. What was committed before stays, and is found again.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading or writing outside the vault failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was being done, with the file.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Someone else's database could not be read.
    #[error("cannot read the database {name}: {source}")]
    Database {
        /// The file.
        name: String,
        /// Why it failed.
        source: rusqlite::Error,
    },
    /// What was given is not what it should be.
    #[error("{0}")]
    NotThat(String),
    /// The vault refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The result of everything here.
pub type Result<T, E = ImportError> = std::result::Result<T, E>;

impl ImportError {
    /// Reading or writing a file failed.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        |source| Self::Io { doing, source }
    }
}

impl From<memoranda_engine::StoreError> for ImportError {
    fn from(error: memoranda_engine::StoreError) -> Self {
        Self::Engine(error.into())
    }
}
