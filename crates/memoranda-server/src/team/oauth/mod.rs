//! The authorization server of a team: OAuth 2.1 for MCP clients.
//!
//! Everything lies below `/oauth`, and the metadata below paths of their own. At the root there is
//! nothing to discover: some clients look there first, and then ignore a configured token.

mod authorize;
mod consent;
mod endpoints;
mod form;
mod metadata;
mod pages;
mod public_url;
mod routes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use memoranda_engine::hash;
use memoranda_remote::directory::{DirectoryError, DirectoryResult};
use memoranda_remote::oauth::{AuthorizationDirectory, OAuthClient};

use super::authorization::unavailable;
use super::rate_limit::RateLimiter;
use crate::http_error::HttpError;

pub(crate) use public_url::PublicUrl;
pub(super) use routes::oauth_routes;

/// Path of the authorization server, which is also that of its cookie.
pub(super) const OAUTH_PATH: &str = "/oauth";
/// Scope of tokens that read.
const SCOPE_READ: &str = "memory:read";
/// Scope of tokens that read and write.
const SCOPE_WRITE: &str = "memory:write";
/// Identifier of this server's own page as a client. Registered clients have a prefix.
pub(super) const PAGE_CLIENT: &str = "memoranda-page";
/// Name of the page in lists of tokens.
const PAGE_CLIENT_NAME: &str = "Web page";
/// Maximum number of passwords that can be tried for one account in a minute, on this server.
const MAX_SIGN_INS_PER_MINUTE: u32 = 10;
/// Maximum number of requests without a person in a minute, on this server: registrations,
/// documents to fetch, and passwords of all accounts together.
const MAX_STRANGERS_PER_MINUTE: u32 = 300;

/// Sign-in and authorization of a team server.
pub struct OAuthConfig {
    /// Clients, sign-ins, grants and tokens.
    pub directory: Arc<dyn AuthorizationDirectory>,
    /// Address by which people and clients call the server, such as `https://team.example`;
    /// `None` for the bound address, if that is a loopback one.
    pub public_url: Option<String>,
}

/// State of the authorization server.
pub(crate) struct OAuthState {
    directory: Arc<dyn AuthorizationDirectory>,
    pub(crate) public: PublicUrl,
    sign_ins: RateLimiter,
    strangers: RateLimiter,
}

impl OAuthState {
    pub(crate) fn new(directory: Arc<dyn AuthorizationDirectory>, public: PublicUrl) -> Self {
        Self {
            directory,
            public,
            sign_ins: RateLimiter::new(MAX_SIGN_INS_PER_MINUTE),
            strangers: RateLimiter::new(MAX_STRANGERS_PER_MINUTE),
        }
    }

    /// Returns the page of this server as a client of its own authorization server. `None` if the
    /// identifier is that of another client.
    fn page_client(&self, client_id: &str) -> Option<OAuthClient> {
        (client_id == PAGE_CLIENT).then(|| OAuthClient {
            client_id: PAGE_CLIENT.to_owned(),
            name: PAGE_CLIENT_NAME.to_owned(),
            redirect_uris: vec![format!("{}/", self.public)],
        })
    }

    /// Asks the directory, on the blocking pool.
    async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&dyn AuthorizationDirectory) -> DirectoryResult<T> + Send + 'static,
    ) -> Result<T, HttpError> {
        let directory = Arc::clone(&self.directory);
        let asked = tokio::task::spawn_blocking(move || question(&*directory)).await;
        match asked {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the directory cannot be asked");
                match error {
                    DirectoryError::Away(_) => Err(unavailable()),
                    DirectoryError::Refused(_) | DirectoryError::Failed(_) => Err(broken()),
                }
            }
            Err(error) => {
                tracing::error!(%error, "a request broke down");
                Err(broken())
            }
        }
    }

    /// Limits how often passwords of an account are tried.
    fn limit_sign_in(&self, account: &str) -> Result<(), HttpError> {
        let [a, b, c, d, e, f, g, h, ..] = hash(account.to_lowercase().as_bytes()).0;
        let key = i64::from_be_bytes([a, b, c, d, e, f, g, h]);
        self.sign_ins.take(key, Instant::now()).map_err(too_many)?;
        self.limit_strangers()
    }

    /// Limits what anybody can make the server do.
    fn limit_strangers(&self) -> Result<(), HttpError> {
        self.strangers.take(0, Instant::now()).map_err(too_many)
    }
}

fn broken() -> HttpError {
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "The request broke down.")
}

fn too_many(wait: Duration) -> HttpError {
    let seconds = wait.as_secs() + 1;
    let message = format!("There were too many tries. Try again in {seconds} s.");
    HttpError::coded(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", message)
        .with("retry_after", seconds)
}
