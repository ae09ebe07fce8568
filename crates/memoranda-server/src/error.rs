//! Why a server could not start or could not go on.

use std::net::SocketAddr;

use memoranda_tools::SelectionError;

/// Why a server could not start or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The choice of tools names something that does not exist.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Other machines could connect without a token.
    #[error("{bind} can be reached from other machines, so a token is needed")]
    TokenRequired {
        /// The address that was asked for.
        bind: SocketAddr,
    },
    /// The configuration names neither a token nor its absence.
    #[error("HTTP needs a token, or the explicit decision to go without one")]
    AuthenticationUndecided,
    /// An allowed origin is not a scheme, a host and an optional port.
    #[error("{origin:?} is not an origin; one looks like https://notes.example:8443")]
    BadOrigin {
        /// The text that was given.
        origin: String,
    },
    /// A token that is too short or has a character that a header cannot carry.
    #[error("the token must be 16 or more visible ASCII characters")]
    BadToken,
    /// The address cannot be listened on.
    #[error("cannot listen on {bind}: {source}")]
    Bind {
        /// The address that was asked for.
        bind: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The runtime or the connection failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The client did not speak the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}
