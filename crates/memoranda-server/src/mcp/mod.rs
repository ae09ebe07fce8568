//! The Model Context Protocol: one handler for both eras, over stdio and HTTP.
//!
//! Revision 2026-07-28 has no handshake: every request contains the client and the version.
//! Earlier revisions start with `initialize`. `rmcp` distinguishes them. The only state between
//! two requests are the subscriptions of clients of earlier revisions.

mod completion;
mod elicitation;
mod handler;
mod http;
mod line_filter;
mod logging;
mod prompts;
mod resources;
mod stdio;
mod subscriptions;
mod tools;

pub use elicitation::SessionMode;
pub(crate) use elicitation::StateSigner;
pub(crate) use handler::McpHandler;
pub(crate) use http::{McpService, service};
pub(crate) use logging::ClientLogSubscriber;
pub use logging::{LogDestination, format_event};
pub use stdio::serve_stream;
pub(crate) use subscriptions::ChangeFeed;
pub(crate) use tools::tool_definition;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, ProtocolVersion};

/// Returns all supported revisions of the protocol, the oldest first.
pub fn protocol_revisions() -> Vec<&'static str> {
    ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect()
}

/// Logs an internal error and returns a response without its details.
fn internal_error(doing: &'static str, error: &dyn std::fmt::Display) -> ErrorData {
    tracing::warn!(%error, "could not {doing}");
    ErrorData::internal_error(format!("Could not {doing}; the server's log tells more."), None)
}

/// Formats an error as a sentence.
fn to_sentence(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// Returns a text that identifies a request; a signed state is valid for one subject only.
fn request_subject(method: &str, name: &str, arguments: Option<&JsonObject>) -> String {
    let arguments = arguments.map(serde_json::to_string).and_then(Result::ok);
    format!("{method} {name} {}", arguments.unwrap_or_default())
}

/// Runs blocking work, such as reading files.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorData> + Send + 'static,
) -> Result<T, ErrorData> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(internal_error("answer", &error)))
}
