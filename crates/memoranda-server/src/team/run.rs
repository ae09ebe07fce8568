//! Starts and stops a team server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use memoranda_engine::Memory;
use memoranda_remote::directory::SpaceDirectory;
use memoranda_remote::self_service::SelfService;

use super::oauth::{OAuthConfig, OAuthState, PublicUrl};
use super::rate_limit::RateLimiter;
use super::routes::router;
use super::spaces::OpenSpaces;
use super::{TEAM_TOOLS, TeamState};
use crate::config::{ClientAuthentication, ServerConfig};
use crate::connections::{ConnectionLimits, serve_connections};
use crate::error::ServerError;
use crate::guard::RequestGuard;
use crate::page::PageSessions;
use crate::run::{HttpServer, runtime, wait_for_interrupt};

/// Maximum number of concurrent calls of a team server.
const MAX_TEAM_CALLS: usize = 64;
/// Time between two looks for caches of spaces that were purged or deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum time for running requests to end after the server was stopped.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Configuration of a team server, in addition to that of every server.
pub struct TeamConfig {
    /// Accounts, spaces and tokens.
    pub directory: Arc<dyn SpaceDirectory>,
    /// The part of a team that people look after by themselves.
    pub people: Arc<dyn SelfService>,
    /// Folder of the vaults of spaces. It belongs to this machine alone, and can be deleted while no
    /// server runs.
    pub cache: PathBuf,
    /// Maximum time to wait for another process's write.
    pub lock_patience: Duration,
    /// Maximum number of spaces that are open at the same time.
    pub max_open_spaces: usize,
    /// Number of requests that a token may make in a minute on this server.
    pub max_requests_per_minute: u32,
    /// Sign-in and authorization of people and clients.
    pub oauth: OAuthConfig,
    /// Prepares a vault that was opened: time zone, default project, embedding model.
    pub prepare: Arc<dyn Fn(Memory) -> Memory + Send + Sync>,
}

/// Serves a team until the process is interrupted. Passes its address to `listening`.
pub fn run_team(
    mut config: ServerConfig,
    team: TeamConfig,
    listening: impl FnOnce(SocketAddr),
) -> Result<(), ServerError> {
    config.authentication = ClientAuthentication::Directory;
    config.extra.tools = &TEAM_TOOLS;
    let public = match &team.oauth.public_url {
        Some(address) => {
            let bad = || ServerError::BadPublicUrl { address: address.clone() };
            let public = PublicUrl::parse(address).ok_or_else(bad)?;
            config.allowed_hosts.push(public.host().to_owned());
            config.allowed_origins.push(public.to_string());
            Some(public)
        }
        None => None,
    };
    let server = HttpServer::bind(config)?;
    let bound = server.address();
    let is_local = bound.ip().to_canonical().is_loopback();
    let public =
        public.or_else(|| PublicUrl::parse(&format!("http://{bound}")).filter(|_| is_local));
    listening(bound);
    let runtime = runtime(MAX_TEAM_CALLS)?;
    // The directory may have a runtime of its own, which cannot be dropped inside of this one.
    let directories =
        (Arc::clone(&team.directory), Arc::clone(&team.people), Arc::clone(&team.oauth.directory));
    let served = runtime.block_on(serve(server, team, public));
    // Calls that are still running are writes whose log is elsewhere: none of them is half done.
    runtime.shutdown_timeout(Duration::from_millis(500));
    drop(directories);
    served
}

async fn serve(
    server: HttpServer,
    team: TeamConfig,
    public: Option<PublicUrl>,
) -> Result<(), ServerError> {
    let (listener, config) = server.into_parts()?;
    let TeamConfig {
        directory, people, cache, lock_patience, max_open_spaces, prepare, oauth, ..
    } = team;
    let oauth = public.map(|public| Arc::new(OAuthState::new(oauth.directory, public)));
    let sessions = Arc::new(PageSessions::new(None));
    let guards = RequestGuard::new(&config, sessions);
    let limits = ConnectionLimits {
        head_timeout: config.head_timeout,
        max_unauthenticated: config.max_unauthenticated_connections,
        drain_timeout: DRAIN_TIMEOUT,
    };
    let spaces =
        OpenSpaces::new(Arc::clone(&directory), cache, lock_patience, max_open_spaces, prepare);
    let team = Arc::new(TeamState {
        directory,
        people,
        spaces,
        config,
        oauth,
        metrics: Default::default(),
        limiter: RateLimiter::new(team.max_requests_per_minute),
        known_tokens: Default::default(),
        is_ending: Default::default(),
    });
    let sweeping = tokio::spawn(sweep(Arc::clone(&team)));
    let router = router(Arc::clone(&team), guards);
    let stop = async {
        wait_for_interrupt().await;
        team.is_ending.store(true, Ordering::SeqCst);
        tracing::info!("stopping: running requests end first");
    };
    serve_connections(&listener, router, limits, stop).await;
    sweeping.abort();
    Ok(())
}

/// Removes caches of spaces that were purged or deleted, and leaves images of indexes for other
/// servers, again and again.
async fn sweep(team: Arc<TeamState>) {
    let mut interval = tokio::time::interval(SWEEP_INTERVAL);
    loop {
        interval.tick().await;
        let team = Arc::clone(&team);
        let look = move || {
            team.spaces.remove_stale();
            team.spaces.offer_images();
        };
        tokio::task::spawn_blocking(look).await.ok();
    }
}
