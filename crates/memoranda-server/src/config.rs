//! What a server is told before it starts. The binary reads flags, files and the environment;
//! here everything is a value.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use memoranda_tools::{
    ClientContext, PromptDef, ResourceDef, ToolDef, ToolSelection, ToolSettings,
};
use subtle::ConstantTimeEq as _;

use crate::error::ServerError;
use crate::mcp::{Logging, Sessions};

/// Everything that a server may do and how.
#[derive(Clone)]
pub struct ServerConfig {
    /// Which tools are offered. A request can narrow this, never widen it.
    pub selection: ToolSelection,
    /// How the tools behave.
    pub settings: ToolSettings,
    /// The version that clients are told.
    pub server_version: String,
    /// What is offered beside the dialects.
    pub extra: Extra,
    /// Whether HTTP keeps sessions for clients of the revisions that know them.
    pub sessions: Sessions,
    /// Where what is noted while a tool runs goes.
    pub logging: Logging,
    /// Where HTTP listens.
    pub bind: SocketAddr,
    /// What an HTTP client must show. Needed when others than this machine can connect.
    pub token: Option<Token>,
    /// Host names beside loopback by which the server may be called, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Origins beside loopback from which pages may call, such as `https://notes.example`.
    pub allowed_origins: Vec<String>,
    /// The largest request body, in bytes.
    pub body_limit: usize,
    /// How long an HTTP request may take until its answer begins.
    pub request_timeout: Duration,
}

impl ServerConfig {
    /// What holds without any configuration: the default tools, loopback only.
    pub fn standard(server_version: impl Into<String>) -> Self {
        Self {
            selection: ToolSelection::default(),
            settings: ToolSettings::standard(),
            server_version: server_version.into(),
            extra: Extra::default(),
            sessions: Sessions::None,
            logging: Logging::Process,
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DEFAULT_PORT),
            token: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_limit: 32 << 20,
            request_timeout: Duration::from_secs(120),
        }
    }

    /// Refuses what would let others in unrecognised.
    pub fn check(&self) -> Result<(), ServerError> {
        if !self.bind.ip().to_canonical().is_loopback() && self.token.is_none() {
            return Err(ServerError::TokenRequired { bind: self.bind });
        }
        Ok(())
    }
}

/// What is offered beside the dialects, whatever the selection: for tests and embedders.
#[derive(Clone, Copy, Default)]
pub struct Extra {
    /// Tools.
    pub tools: &'static [ToolDef],
    /// Prompts.
    pub prompts: &'static [PromptDef],
    /// Those of the prompts that say more than text, or ask.
    pub speakers: &'static [Speaker],
    /// Resources.
    pub resources: &'static [ResourceDef],
}

/// A prompt that says more than text, or asks.
pub struct Speaker {
    /// The prompt's name.
    pub prompt: &'static str,
    /// What it says, given its arguments in order. What it attaches comes before the text.
    pub say: fn(&ClientContext, &[Option<String>]) -> String,
}

/// The port that HTTP listens on when none is said.
const DEFAULT_PORT: u16 = 7337;

/// A secret that an HTTP client must show. It never prints.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The fewest characters of a token: fewer can be guessed.
    const LEAST: usize = 16;

    /// Takes a token as it was read from a file or a variable; white space around it is no part
    /// of it.
    pub fn new(text: &str) -> Result<Self, ServerError> {
        let text = text.trim();
        if text.len() < Self::LEAST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ServerError::BadToken);
        }
        Ok(Self(text.to_owned()))
    }

    /// Whether this is what was shown. Takes as long for a near miss as for any other.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(shown).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_never_prints_and_is_no_trifle() {
        let token = Token::new(" correct-horse-battery\n").unwrap();
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert!(token.is(b"correct-horse-battery"));
        assert!(!token.is(b"correct-horse-batterx") && !token.is(b""));
        for bad in ["", "short", "sixteen or more with spaces", "sechzehn-zeichen-ä"] {
            assert!(matches!(Token::new(bad), Err(ServerError::BadToken)), "{bad}");
        }
    }

    #[test]
    fn only_loopback_goes_without_a_token() {
        let mut config = ServerConfig::standard("1");
        for bind in ["127.0.0.1:1", "[::1]:1", "127.8.8.8:1", "[::ffff:127.0.0.1]:1"] {
            config.bind = bind.parse().unwrap();
            assert!(config.check().is_ok(), "{bind}");
        }
        for bind in ["0.0.0.0:1", "[::]:1", "192.168.1.5:1"] {
            config.bind = bind.parse().unwrap();
            assert!(matches!(config.check(), Err(ServerError::TokenRequired { .. })), "{bind}");
        }
        config.token = Some(Token::new("correct-horse-battery").unwrap());
        assert!(config.check().is_ok());
    }
}
