//! A team server: many spaces, each an ordinary vault that is a cache of a log kept elsewhere.
//!
//! A request carries a token. The directory tells which spaces the token opens and how far each
//! has come, in one round trip. Everything else is what a server of one vault does, on the vault
//! of the chosen space. No server remembers anything that another would have to know.

mod authorization;
mod cold_spaces;
mod combined;
mod log_routes;
mod metrics;
mod oauth;
mod page_routes;
mod page_team;
mod proposals;
mod rate_limit;
mod request;
mod revocable_body;
mod routes;
mod run;
mod spaces;
mod team_tools;

pub use oauth::OAuthConfig;
pub use run::{TeamConfig, run_team};
pub use team_tools::TEAM_TOOLS;

pub(crate) use request::{CallChannels, TeamRequest};

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use memoranda_remote::directory::SpaceDirectory;
use memoranda_remote::self_service::SelfService;

use crate::config::ServerConfig;
use authorization::KnownToken;
use metrics::TeamMetrics;
use oauth::OAuthState;
use rate_limit::RateLimiter;
use spaces::OpenSpaces;

/// State of a team server, shared by all requests.
pub(crate) struct TeamState {
    pub(crate) directory: Arc<dyn SpaceDirectory>,
    /// The part of the team that people look after by themselves.
    pub(crate) people: Arc<dyn SelfService>,
    pub(crate) spaces: OpenSpaces,
    pub(crate) config: ServerConfig,
    pub(crate) metrics: TeamMetrics,
    /// Sign-in and authorization; `None` if the server has no public address.
    oauth: Option<Arc<OAuthState>>,
    limiter: RateLimiter,
    /// Access of tokens when they were last used, by their digests. It is used only while the
    /// directory cannot be reached.
    known_tokens: Mutex<HashMap<[u8; 32], KnownToken>>,
    /// True once the server is being stopped.
    is_ending: AtomicBool,
}
