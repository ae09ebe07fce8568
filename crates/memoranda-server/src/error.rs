//! Why a server could not start or could not go on.

use std::net::SocketAddr;

use memoranda_tools::SelectionError;

/// Why a server could not start or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The choice of tools names something that does not exist.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Others than this machine could connect, and nothing would tell them from the owner.
    #[error(
        "{bind} can be reached from other machines, so a token is needed; set one, or bind to 127.0.0.1"
    )]
    TokenRequired {
        /// The address that was asked for.
        bind: SocketAddr,
    },
    /// A token without a character, or with one that a header cannot carry.
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
