//! Streamable HTTP: the protocol's own service, stateless for both eras.
//!
//! There are no sessions to keep or to steal: every POST stands for itself. An answer is plain
//! JSON, or a stream of events if something is said before it, such as progress. An embedder can
//! have sessions for clients of the older revisions, which can then be asked during a call.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::{Handler, Sessions};
use crate::config::ServerConfig;
use crate::offer::Offer;

/// The service behind `/mcp`.
pub(crate) enum McpService {
    Stateless(StreamableHttpService<Handler, NeverSessionManager>),
    Sessions(StreamableHttpService<Handler, LocalSessionManager>),
}

impl McpService {
    /// Answers a request.
    pub(crate) async fn handle(&self, request: Request) -> Response {
        match self {
            Self::Stateless(service) => service.handle(request).await.map(Body::new),
            Self::Sessions(service) => service.handle(request).await.map(Body::new),
        }
    }
}

/// Makes the service behind `/mcp`. The guard has checked a request before it comes here; what
/// `rmcp` can check as well, it does.
pub(crate) fn service(offer: Arc<Offer>, config: &ServerConfig) -> McpService {
    let loopback = ["localhost", "127.0.0.1", "[::1]"];
    let origins = loopback
        .iter()
        .flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")));
    let origins = origins.chain(config.allowed_origins.iter().map(|origin| with_port(origin)));
    let settings = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(config.sessions == Sessions::Kept)
        .with_json_response(true)
        // The guard knows more loopback names than a list can hold, and has looked already.
        .disable_allowed_hosts()
        .with_allowed_origins(origins)
        .with_max_request_body_bytes(config.body_limit);
    let handler = Handler::new(offer);
    let handler = move || Ok(handler.for_another());
    match config.sessions {
        Sessions::None => {
            McpService::Stateless(StreamableHttpService::new(handler, Arc::default(), settings))
        }
        Sessions::Kept => {
            McpService::Sessions(StreamableHttpService::new(handler, Arc::default(), settings))
        }
    }
}

/// An origin with its port said: `rmcp` takes one without a port for any port.
fn with_port(origin: &str) -> String {
    let (scheme, rest) = origin.split_once("://").unwrap_or(("https", origin));
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
    match (has_port, scheme) {
        (true, _) => origin.to_owned(),
        (false, "http") => format!("{origin}:80"),
        (false, _) => format!("{origin}:443"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_get_the_port_of_their_scheme() {
        assert_eq!(with_port("https://notes.example"), "https://notes.example:443");
        assert_eq!(with_port("http://[::2]"), "http://[::2]:80");
        assert_eq!(with_port("http://[::2]:8"), "http://[::2]:8");
    }
}
