//! Errors that stop an import or an export.

use std::io;

use memoranda_engine::EngineError;

/// Reason why an import or an export stopped. Batches committed before the error stay.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading or writing a file outside the vault failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// Failed operation with its file.
        doing: String,
        /// Cause of the failure.
        source: io::Error,
    },
    /// The database of another system could not be read.
    #[error("cannot read the database {name}: {source}")]
    Database {
        /// Path of the database.
        name: String,
        /// Cause of the failure.
        source: rusqlite::Error,
    },
    /// The input does not have the expected format.
    #[error("{0}")]
    NotThat(String),
    /// The engine returned an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Result type of this crate.
pub type Result<T, E = ImportError> = std::result::Result<T, E>;

impl ImportError {
    /// Returns a conversion of I/O errors for `map_err`.
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
