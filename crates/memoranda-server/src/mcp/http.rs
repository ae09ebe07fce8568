//! Streamable HTTP: the service of `rmcp`, stateless for both eras.
//!
//! There are no sessions: every POST is independent. A response is plain JSON, or an event stream
//! if notifications precede it, such as progress. An embedder can enable sessions for clients of
//! the older revisions, which can then be asked during a call.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::{McpHandler, SessionMode};
use crate::config::ServerConfig;
use crate::tool_catalog::ToolCatalog;

/// The service behind `/mcp`.
pub(crate) enum McpService {
    Stateless(StreamableHttpService<McpHandler, NeverSessionManager>),
    SessionMode(StreamableHttpService<McpHandler, LocalSessionManager>),
}

impl McpService {
    /// Handles a request.
    pub(crate) async fn handle(&self, request: Request) -> Response {
        match self {
            Self::Stateless(service) => service.handle(request).await.map(Body::new),
            Self::SessionMode(service) => service.handle(request).await.map(Body::new),
        }
    }
}

/// Creates the service behind `/mcp`. The guard has checked Host and Origin of every request: it
/// compares an origin with the Host of its request, which a fixed list cannot express.
pub(crate) fn service(catalog: Arc<ToolCatalog>, config: &ServerConfig) -> McpService {
    let settings = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(config.sessions == SessionMode::Kept)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(config.body_limit);
    let handler = McpHandler::new(catalog);
    let handler = move || Ok(handler.for_connection());
    match config.sessions {
        SessionMode::None => {
            McpService::Stateless(StreamableHttpService::new(handler, Arc::default(), settings))
        }
        SessionMode::Kept => {
            McpService::SessionMode(StreamableHttpService::new(handler, Arc::default(), settings))
        }
    }
}
