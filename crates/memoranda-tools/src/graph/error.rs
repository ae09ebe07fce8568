//! Errors of the graph tools. A call that fails has changed nothing.

use memoranda_engine::graph::GraphError;
use memoranda_engine::{EngineError, StoreError};
use serde_json::{Value, json};

use crate::registry::{CallContext, ToolError, ToolResult};

/// Code of a request with problems that the caller can correct, all in the details.
pub(super) const VALIDATION_FAILED: &str = "VALIDATION_FAILED";
/// Code of a name that no entity of the thread has.
pub(super) const UNKNOWN_ENTITY: &str = "UNKNOWN_ENTITY";
/// Code of a write while another process writes.
const BUSY: &str = "BUSY";
/// Code of any other failure.
const GRAPH_FAILED: &str = "GRAPH_FAILED";

pub(super) type GraphToolResult<T> = Result<T, ToolError>;

/// Returns an error about one problem that the caller can correct.
pub(super) fn refused(text: impl Into<String>) -> ToolError {
    ToolError::new(GRAPH_FAILED, text)
}

impl From<GraphError> for ToolError {
    fn from(error: GraphError) -> Self {
        match &error {
            GraphError::Engine(EngineError::Store(StoreError::Busy { .. })) => {
                Self::new(BUSY, "Nothing was saved: another process is writing. Try again.")
            }
            GraphError::AlreadyStated { old, .. } => refused(format!(
                "{error}. Nothing was changed; delete_observations removes {old} if it no longer \
                 holds."
            )),
            other => refused(other.to_string()),
        }
    }
}

/// Renders an error as the result of a graph tool.
pub(super) fn render_error(_: &CallContext<'_>, error: ToolError) -> ToolResult {
    match error.code {
        VALIDATION_FAILED => ToolResult {
            text: error.message,
            structured: Value::Object(error.details),
            is_error: true,
        },
        BUSY => ToolResult::error(error.message),
        _ => {
            let structured = json!({ "success": false, "error": error.message, "is_error": true });
            ToolResult { text: error.message, structured, is_error: true }
        }
    }
}
