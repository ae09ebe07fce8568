//! `memoranda serve --database`: a server for a team.

#[cfg(feature = "postgres")]
use std::path::Path;
use std::path::PathBuf;

use memoranda_server::ServerConfig;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// Arguments of a team server.
#[cfg_attr(
    not(feature = "postgres"),
    allow(dead_code, reason = "the arguments are parsed, so that help and errors are the same")
)]
pub(crate) struct TeamOptions {
    /// Address of the database.
    pub(crate) database: String,
    /// File with the certificates that sign the database's.
    pub(crate) authority: Option<PathBuf>,
    /// Address by which people and clients call the server.
    pub(crate) public_url: Option<String>,
    /// File with the issuers by which people sign in.
    pub(crate) sign_in: Option<PathBuf>,
    /// Hosts whose documents of OAuth clients may be at private addresses.
    pub(crate) trusted_client_hosts: Vec<String>,
    /// Requests that a token may make in a minute.
    pub(crate) max_requests_per_minute: u32,
}

/// Says that this build has no team server.
#[cfg(not(feature = "postgres"))]
pub(crate) fn run(_: &CommandContext, _: ServerConfig, _: &TeamOptions) -> Result<Exit> {
    Err(without_postgres())
}

/// Returns the error of a build without the team server.
#[cfg(not(feature = "postgres"))]
pub(crate) fn without_postgres() -> CommandError {
    CommandError::configuration("this build of memoranda has no team server")
        .hint("releases have it; from source: `cargo install --path crates/memoranda --features postgres`")
}

/// Serves a team until it is interrupted.
#[cfg(feature = "postgres")]
pub(crate) fn run(
    context: &CommandContext,
    mut config: ServerConfig,
    options: &TeamOptions,
) -> Result<Exit> {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Duration;

    use memoranda_engine::Memory;
    use memoranda_remote::oauth::ClientDocuments;
    use memoranda_remote::postgres::TeamSignIn;
    use memoranda_server::{OAuthConfig, TeamConfig};

    /// Maximum number of spaces that are open at the same time.
    const MAX_OPEN_SPACES: usize = 256;

    let settings = context.settings()?;
    let database = open_database(&options.database, options.authority.as_deref())?;
    // A server that cannot serve says so at once, where the operator sees it.
    match database.check_schema() {
        Err(error) if !error.is_away() => return Err(database_error(error)),
        Err(error) => context.printer.warn(format!("{error}; the server starts all the same")),
        Ok(()) => {}
    }
    let issuers = match &options.sign_in {
        Some(file) => crate::sign_in_file::read(file)?,
        None => Vec::new(),
    };
    let documents = ClientDocuments::new(options.trusted_client_hosts.clone());
    let sign_in = TeamSignIn::new(database.clone(), issuers, documents);
    let is_local = config.bind.ip().to_canonical().is_loopback();
    if options.public_url.is_none() && !is_local {
        context.printer.warn(
            "without --public-url nobody can sign in; clients need tokens of `memoranda admin \
             token add`",
        );
    }
    // The page of a team exports spaces; what is about this machine it leaves alone.
    config.page_services = super::page_services(context);
    let default_project = settings.default_project().to_owned();
    let team = TeamConfig {
        people: Arc::new(database.clone()),
        directory: Arc::new(database),
        cache: settings.directories.cache.join("spaces"),
        lock_patience: Duration::from_secs(settings.lock_wait_seconds()),
        max_open_spaces: MAX_OPEN_SPACES,
        max_requests_per_minute: options.max_requests_per_minute,
        oauth: OAuthConfig { directory: Arc::new(sign_in), public_url: options.public_url.clone() },
        prepare: Arc::new(move |memory: Memory| {
            memory.with_zone(crate::time::zone).with_default_project(&default_project)
        }),
    };
    let listening = |address: SocketAddr| {
        let mcp = format!("http://{address}/t/mcp");
        let public = options.public_url.clone().or(is_local.then(|| format!("http://{address}")));
        let sign_in = public.as_ref().map(|public| format!("{}/mcp", public.trim_end_matches('/')));
        context.printer.say(format!("Serving a team at {mcp} for clients with a token."));
        if let Some(sign_in) = &sign_in {
            context.printer.say(format!("Clients that sign in use {sign_in}."));
        }
        if let Some(public) = &public {
            let page = public.trim_end_matches('/');
            context.printer.say(format!("People sign in to the page at {page}/."));
        }
        context.printer.say("Ctrl-C ends it.");
        if context.is_json() {
            let address = address.to_string();
            let value = serde_json::json!({ "address": address, "mcp": mcp, "sign_in": sign_in });
            context.printer.json(&value).ok();
        }
    };
    memoranda_server::run_team(config, team, listening)
        .map_err(crate::server_args::server_error)?;
    Ok(Exit::Success)
}

/// Prepares connections to the database.
#[cfg(feature = "postgres")]
pub(crate) fn open_database(
    address: &str,
    authority: Option<&Path>,
) -> Result<memoranda_remote::postgres::Database> {
    let authority = authority.map(crate::files::read).transpose()?;
    let opened = memoranda_remote::postgres::Database::new(address, authority.as_deref());
    opened.map_err(database_error)
}

/// Converts an error of the database.
#[cfg(feature = "postgres")]
#[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
pub(crate) fn database_error(error: memoranda_remote::postgres::DatabaseError) -> CommandError {
    use memoranda_remote::postgres::DatabaseError;
    let message = error.to_string();
    match error {
        DatabaseError::BadAddress | DatabaseError::BadAuthority { .. } => {
            CommandError::configuration(message)
        }
        DatabaseError::NewerSchema { .. } => CommandError::configuration(message),
        DatabaseError::OlderSchema { .. } => CommandError::configuration(message)
            .hint("`memoranda admin migrate` makes the tables; servers that run go on"),
        DatabaseError::Refused(_) => CommandError::new(Exit::Usage, message),
        DatabaseError::Away { .. } => CommandError::new(Exit::Internal, message)
            .hint("check the address, and whether the database runs"),
        DatabaseError::Failed(_) => CommandError::new(Exit::Internal, message),
    }
}
