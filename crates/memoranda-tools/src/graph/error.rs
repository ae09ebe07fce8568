//! Why a call was not done. Nothing was changed.

use memoranda_core::note::edit::EditError;
use memoranda_engine::{EngineError, StoreError};
use serde_json::{Value, json};

use crate::registry::{ArgsError, ToolResult};

/// Why a call was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GraphError {
    /// The arguments are not those of the tool.
    #[error(transparent)]
    Arguments(#[from] ArgsError),
    /// The store beneath.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A note cannot be changed as it stands.
    #[error("the note of '{name}' cannot be changed: {error}; mend the file by hand")]
    Edit { name: String, error: EditError },
    /// Something that the caller can mend.
    #[error("{0}")]
    Refused(String),
    /// Many things that the caller can mend, as text and as structure.
    #[error("{text}")]
    Invalid { text: String, structured: Value },
}

impl From<StoreError> for GraphError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

pub(crate) type Result<T, E = GraphError> = std::result::Result<T, E>;

impl GraphError {
    /// As a result of the tool.
    pub(crate) fn into_tool_result(self) -> ToolResult {
        match self {
            Self::Invalid { text, structured } => ToolResult { text, structured, is_error: true },
            Self::Engine(EngineError::Store(StoreError::Busy { .. })) => {
                ToolResult::error("Nothing was saved: another process is writing. Try again.")
            }
            other => {
                let text = other.to_string();
                let structured = json!({ "success": false, "error": text, "is_error": true });
                ToolResult { text, structured, is_error: true }
            }
        }
    }
}
