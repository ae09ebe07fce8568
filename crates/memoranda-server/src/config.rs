//! Configuration of a server. The binary reads it from flags, files and the environment.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memoranda_tools::{
    ClientContext, PromptDef, ResourceDef, ToolDef, ToolSelection, ToolSettings,
};
use subtle::ConstantTimeEq as _;

use crate::error::ServerError;
use crate::guard::parse_origin;
use crate::mcp::{LogDestination, SessionMode};
use crate::page_services::PageServices;

/// Configuration of a server.
#[derive(Clone)]
pub struct ServerConfig {
    /// Selection of tools. A request can only narrow it.
    pub selection: ToolSelection,
    /// Settings of the tools.
    pub settings: ToolSettings,
    /// Version of the server, sent to clients.
    pub server_version: String,
    /// Definitions in addition to the built-in ones.
    pub extra: ExtraDefinitions,
    /// Sessions over HTTP, for clients of the older revisions.
    pub sessions: SessionMode,
    /// Destination of log events from a running tool.
    pub logging: LogDestination,
    /// Address of the HTTP server.
    pub bind: SocketAddr,
    /// Authentication of HTTP clients.
    pub authentication: ClientAuthentication,
    /// Token from which the page's sessions are derived; `None` for the token of `authentication`.
    pub page_token: Option<BearerToken>,
    /// Services of the binary for the page; `None` for a page without them.
    pub page_services: Option<Arc<dyn PageServices>>,
    /// Host names by which the server may be called in addition to loopback names, with or
    /// without a port.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may call in addition to the server's own origin, such as
    /// `https://notes.example`.
    pub allowed_origins: Vec<String>,
    /// Maximum time from the opening of a connection, or the end of the previous request, to the
    /// end of a request head. The connection is closed after it.
    pub head_timeout: Duration,
    /// Maximum number of open connections without an authenticated request. One more closes the
    /// oldest of them.
    pub max_unauthenticated_connections: usize,
    /// Maximum size of a request body, in bytes.
    pub body_limit: usize,
    /// Maximum time from the end of a request head to the start of the response.
    pub request_timeout: Duration,
    /// Time without an open page after which the server ends; `None` if it never ends by itself.
    pub idle_timeout: Option<Duration>,
}

impl ServerConfig {
    /// Returns the default configuration: the default tools, loopback only.
    pub fn standard(server_version: impl Into<String>) -> Self {
        Self {
            selection: ToolSelection::default(),
            settings: ToolSettings::standard(),
            server_version: server_version.into(),
            extra: ExtraDefinitions::default(),
            sessions: SessionMode::None,
            logging: LogDestination::Process,
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT),
            authentication: ClientAuthentication::Undecided,
            page_token: None,
            page_services: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            head_timeout: Duration::from_secs(15),
            max_unauthenticated_connections: 64,
            body_limit: 32 << 20,
            request_timeout: Duration::from_secs(120),
            idle_timeout: None,
        }
    }

    /// Rejects an allowed origin that is not an origin, and a server without a token that other
    /// machines can reach.
    pub fn check(&self) -> Result<(), ServerError> {
        for origin in &self.allowed_origins {
            if parse_origin(origin).is_none() {
                return Err(ServerError::BadOrigin { origin: origin.clone() });
            }
        }
        let is_open = matches!(self.authentication, ClientAuthentication::Disabled);
        if is_open && !self.binds_to_loopback() {
            return Err(ServerError::TokenRequired { bind: self.bind });
        }
        Ok(())
    }

    /// Returns the token from which the page's sessions are derived.
    pub(crate) fn session_token(&self) -> Option<BearerToken> {
        self.page_token.clone().or(match &self.authentication {
            ClientAuthentication::Token(token) => Some(token.clone()),
            ClientAuthentication::Disabled
            | ClientAuthentication::Directory
            | ClientAuthentication::Undecided => None,
        })
    }

    /// Returns true if only this machine can connect.
    pub(crate) fn binds_to_loopback(&self) -> bool {
        self.bind.ip().to_canonical().is_loopback()
    }
}

/// Authentication of HTTP clients.
#[derive(Clone, Default)]
pub enum ClientAuthentication {
    /// No decision was made: the HTTP server refuses to start.
    #[default]
    Undecided,
    /// Clients send this token as `Authorization: Bearer TOKEN`.
    Token(BearerToken),
    /// Clients send tokens that a directory knows: a team server.
    Directory,
    /// Clients send no token. Accepted on loopback only.
    Disabled,
}

/// Tools, prompts and resources in addition to the built-in ones, independent of the selection.
/// For tests and embedders.
#[derive(Clone, Copy, Default)]
pub struct ExtraDefinitions {
    /// Tools.
    pub tools: &'static [ToolDef],
    /// Prompts.
    pub prompts: &'static [PromptDef],
    /// Handlers of prompts that return more than text or ask the client.
    pub prompt_handlers: &'static [PromptHandler],
    /// Resources.
    pub resources: &'static [ResourceDef],
}

/// Handler of a prompt that returns more than text or asks the client.
pub struct PromptHandler {
    /// The prompt's name.
    pub prompt: &'static str,
    /// Returns the text for the arguments, in their order. Attached content precedes the text.
    pub respond: fn(&ClientContext, &[Option<String>]) -> String,
}

/// Default port of HTTP.
const DEFAULT_PORT: u16 = 7337;

/// A secret that HTTP clients send. It is never printed.
#[derive(Clone)]
pub struct BearerToken {
    secret: String,
    file: Option<PathBuf>,
}

impl BearerToken {
    /// Minimum number of characters of a token; fewer can be guessed.
    const MIN_CHARS: usize = 16;

    /// Parses the text of a file or a variable, without the white space around it.
    pub fn parse(text: &str) -> Result<Self, ServerError> {
        let text = text.trim();
        if text.len() < Self::MIN_CHARS || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ServerError::BadToken);
        }
        Ok(Self { secret: text.to_owned(), file: None })
    }

    /// Adds the file that contains the token. The response to a refused client of this machine names it.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Returns the file that contains the token; `None` if it came from a variable.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Returns the secret, for the derivation of further keys.
    pub(crate) fn secret_bytes(&self) -> &[u8] {
        self.secret.as_bytes()
    }

    /// Returns true if `sent` is the token. The comparison takes constant time.
    pub(crate) fn matches(&self, sent: &[u8]) -> bool {
        self.secret.as_bytes().ct_eq(sent).into()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed_and_has_a_minimum_length() {
        let token = BearerToken::parse(" correct-horse-battery\n").unwrap().in_file("/x");
        assert_eq!(format!("{token:?}"), "BearerToken(…)");
        assert!(token.matches(b"correct-horse-battery"));
        assert!(!token.matches(b"correct-horse-batterx") && !token.matches(b""));
        for bad in ["", "short", "sixteen or more with spaces", "sechzehn-zeichen-ä"] {
            assert!(matches!(BearerToken::parse(bad), Err(ServerError::BadToken)), "{bad}");
        }
    }

    #[test]
    fn only_loopback_may_disable_the_token() {
        let mut config = ServerConfig::standard("1");
        config.authentication = ClientAuthentication::Disabled;
        for bind in ["127.0.0.1:1", "[::1]:1", "127.8.8.8:1", "[::ffff:127.0.0.1]:1"] {
            config.bind = bind.parse().unwrap();
            assert!(config.check().is_ok(), "{bind}");
        }
        for bind in ["0.0.0.0:1", "[::]:1", "192.168.1.5:1"] {
            config.bind = bind.parse().unwrap();
            assert!(matches!(config.check(), Err(ServerError::TokenRequired { .. })), "{bind}");
        }
        let token = BearerToken::parse("correct-horse-battery").unwrap();
        config.authentication = ClientAuthentication::Token(token);
        assert!(config.check().is_ok());
    }

    #[test]
    fn an_allowed_origin_must_be_an_origin() {
        let mut config = ServerConfig::standard("1");
        for origin in ["*", "null", "notes.example", "https://", "https://a.example/page", ""] {
            config.allowed_origins = vec!["https://notes.example".into(), origin.into()];
            assert!(matches!(config.check(), Err(ServerError::BadOrigin { .. })), "{origin}");
        }
    }
}
