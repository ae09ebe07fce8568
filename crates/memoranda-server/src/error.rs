//! Errors of the servers.

use std::net::SocketAddr;

use memoranda_tools::SelectionError;

/// Reason why a server could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The selection of tools contains an unknown name.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Other machines could connect without a token.
    #[error("{bind} can be reached from other machines, so a token is needed")]
    TokenRequired {
        /// The configured address.
        bind: SocketAddr,
    },
    /// The configuration names neither a token nor its absence.
    #[error("HTTP needs a token, or the explicit decision to go without one")]
    AuthenticationUndecided,
    /// An allowed origin is not a scheme, a host and an optional port.
    #[error("{origin:?} is not an origin; one looks like https://notes.example:8443")]
    BadOrigin {
        /// The configured text.
        origin: String,
    },
    /// The public address is not a scheme, a host and an optional port.
    #[error("{address:?} is not the address of a server; one looks like https://team.example")]
    BadPublicUrl {
        /// The configured text.
        address: String,
    },
    /// A token that is too short or has a character that a header cannot carry.
    #[error("the token must be 16 or more visible ASCII characters")]
    BadToken,
    /// The address cannot be bound.
    #[error("cannot listen on {bind}: {source}")]
    Bind {
        /// The configured address.
        bind: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The runtime or the connection failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// The failed operation.
        doing: &'static str,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The client did not speak the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}
