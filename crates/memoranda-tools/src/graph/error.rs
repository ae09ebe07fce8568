//! Errors of the graph tools. A call that fails has changed nothing.

use memoranda_engine::graph::GraphError;
use memoranda_engine::{EngineError, StoreError};
use serde_json::{Value, json};

use crate::registry::{ArgsError, ToolResult};

/// A call that failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum GraphToolError {
    /// The arguments are invalid.
    #[error(transparent)]
    Arguments(#[from] ArgsError),
    /// A verb of the engine failed.
    #[error("{}", graph_error_text(.0))]
    Graph(#[from] GraphError),
    /// One problem that the caller can correct.
    #[error("{0}")]
    Refused(String),
    /// Problems that the caller can correct, as text and as structure.
    #[error("{text}")]
    Invalid { text: String, structured: Value },
}

impl From<EngineError> for GraphToolError {
    fn from(error: EngineError) -> Self {
        Self::Graph(error.into())
    }
}

pub(super) type GraphToolResult<T, E = GraphToolError> = Result<T, E>;

fn graph_error_text(error: &GraphError) -> String {
    match error {
        GraphError::AlreadyStated { old, .. } => format!(
            "{error}. Nothing was changed; delete_observations removes {old} if it no longer holds."
        ),
        other => other.to_string(),
    }
}

impl GraphToolError {
    /// Renders the error as the result of a tool.
    pub(super) fn into_tool_result(self) -> ToolResult {
        match self {
            Self::Invalid { text, structured } => ToolResult { text, structured, is_error: true },
            Self::Graph(GraphError::Engine(EngineError::Store(StoreError::Busy { .. }))) => {
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
