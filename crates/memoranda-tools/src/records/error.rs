//! Why a call was not done, in words for the one who called.

use memoranda_engine::{EngineError, StoreError};

use crate::registry::{ArgsError, ToolError};

/// Nothing was done. The text says what was wrong and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Something about the request.
    #[error("{0}")]
    Refused(String),
    /// The vault could not do it.
    #[error("{}", engine_error_text(.0))]
    Engine(#[from] EngineError),
}

impl RecordError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

impl From<ArgsError> for RecordError {
    fn from(bad: ArgsError) -> Self {
        Self::Refused(bad.to_string())
    }
}

impl From<StoreError> for RecordError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<RecordError> for ToolError {
    fn from(error: RecordError) -> Self {
        Self::new("RECORD_FAILED", error.to_string())
    }
}

pub(super) type Result<T, E = RecordError> = std::result::Result<T, E>;

/// What a failure beneath means, without a word of where on the machine the vault is.
fn engine_error_text(error: &EngineError) -> String {
    let EngineError::Store(store) = error else { return error.to_string() };
    let reason = match store {
        StoreError::NoCommit(id) => {
            return format!(
                "There is no commit {id:?}. The answer of a bulk forget names its commit; \
                 restore_memory without arguments lists what can be restored."
            );
        }
        StoreError::AmbiguousCommit { given, .. } => {
            return format!("Several commits begin with {given:?}. Give more of it.");
        }
        StoreError::Busy { .. } => "another process is writing; try again",
        error if error.is_disk_full() => "the disk is full",
        StoreError::Io { source, .. } => match source.kind() {
            std::io::ErrorKind::PermissionDenied => "permission denied",
            std::io::ErrorKind::ReadOnlyFilesystem => "the folder is read-only",
            _ => "the system refused",
        },
        StoreError::ProjectUnavailable { .. } => "the folder of the records cannot be reached now",
        StoreError::ContentGone(_) => {
            "its content was purged by a vacuum and can no longer be restored"
        }
        _ => "the store failed; `memoranda doctor` tells more",
    };
    format!("Nothing was done: {reason}.")
}
