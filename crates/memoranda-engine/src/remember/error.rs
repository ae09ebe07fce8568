//! Errors of remembering. Nothing was written.

use crate::EngineError;
use crate::records::{RecordError, RecordScope};

/// A statement that could not be remembered.
#[derive(Debug, thiserror::Error)]
pub enum RememberError {
    /// A record could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The statement is empty.
    #[error("the content is empty")]
    Empty,
    /// The statement is too long.
    #[error("the content has {chars} characters")]
    TooLong {
        /// Length of the statement, in characters.
        chars: usize,
    },
    /// The statement is of a repository, and none is known.
    #[error("this is of a repository, and none is known")]
    NoRepository,
    /// The statement names another repository than the one of the call.
    #[error("this names {named}, and the call comes from {workspace}")]
    OtherRepository {
        /// Name of the repository in the statement.
        named: String,
        /// Name of the repository of the call.
        workspace: String,
    },
    /// Scope and repository of the request exclude each other.
    #[error("scope person and a repository exclude each other")]
    ScopeConflict,
    /// The record to replace is kept for another scope.
    #[error("{id} is kept for {scope}", scope = .scope.name())]
    OtherScope {
        /// Id of the record.
        id: String,
        /// Scope of the record.
        scope: Box<RecordScope>,
    },
    /// The record to replace is not the version that the caller knows.
    #[error("{id} is now version {current}, not {expected}")]
    VersionConflict {
        /// Id of the record.
        id: String,
        /// Version that the caller knows.
        expected: String,
        /// Version that is stored.
        current: String,
        /// Text that is stored.
        content: String,
    },
}

impl From<EngineError> for RememberError {
    fn from(error: EngineError) -> Self {
        Self::Record(error.into())
    }
}

/// Result of remembering.
pub type RememberResult<T> = Result<T, RememberError>;
