//! `memoranda serve`: MCP, the API and the web page over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

use memoranda_server::{ClientAuthentication, ServerConfig};
use serde::Serialize;

use crate::config;
use crate::context::CommandContext;
use crate::env;
use crate::error::{Result, quoted};
use crate::exit::Exit;
use crate::http_token::HttpToken;
use crate::output::PLACE;
use crate::running_server::RunningServer;
use crate::server_args::{ServerArgs, comma_list, server_error};

/// Serve MCP clients, the API and the web page over HTTP.
///
/// Only this machine can connect unless --bind names another address. Clients send a token as
/// `Authorization: Bearer TOKEN`, on this machine too: otherwise every program and every user of it
/// could read the vault. The token is made on first start, in a file that you alone can read;
/// `memoranda token` prints it. Another one comes from --token-file or MEMORANDA_TOKEN, never from
/// a flag, which others could see. The vault is created on first use. `memoranda open` opens the
/// page of a server that runs.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda serve
  claude mcp add --transport http memoranda http://127.0.0.1:7337/mcp \\
    --header \"Authorization: Bearer $(memoranda token)\"
  memoranda serve --bind 0.0.0.0:7337 --allow-host notes.example
  memoranda serve --database postgres://memoranda@db.example/memoranda \
    --public-url https://team.example

JSON (--json):
  {address, mcp, page, token, token_file}, once it listens; token is true if clients must send one,
  token_file is null if it came from MEMORANDA_TOKEN")]
pub(crate) struct Args {
    /// The address and port to listen on; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    bind: Option<SocketAddr>,

    /// A file that contains the token.
    #[arg(long, value_name = "FILE", conflicts_with = "no_token")]
    token_file: Option<PathBuf>,

    /// Let every program and every user of this machine in without a token.
    #[arg(long)]
    no_token: bool,

    /// A further host name by which clients may call the server.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    allow_host: Vec<String>,

    /// A further origin whose pages may call the server, such as `https://notes.example`.
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    allow_origin: Vec<String>,

    /// Serve a team: the memory is in this PostgreSQL database, and clients send tokens of
    /// `memoranda admin token add`.
    #[arg(long, value_name = "URL", conflicts_with_all = ["token_file", "no_token"])]
    database: Option<String>,

    /// A file with the certificates that sign the database's; else public authorities are trusted.
    #[arg(long, value_name = "FILE")]
    database_ca: Option<PathBuf>,

    /// The address by which people and clients call a team server, such as `https://team.example`.
    /// Clients that sign in need it, unless only this machine can connect.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,

    /// A file with the issuers by which people sign in to a team server.
    #[arg(long, value_name = "FILE")]
    sign_in: Option<PathBuf>,

    /// A host with its port whose documents of OAuth clients may be at private addresses.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    trust_client_host: Vec<String>,

    /// Requests that a token of a team may make in a minute on this server.
    #[arg(long, value_name = "N", default_value_t = 3_000)]
    max_requests: u32,

    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Serialize)]
struct ListeningJson {
    address: String,
    mcp: String,
    page: String,
    token: bool,
    token_file: Option<String>,
}

/// Serves until it is interrupted.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let settings = context.settings()?;
    if let Some(database) = args.database.clone().or_else(|| env::MEMORANDA_DATABASE.text()) {
        let mut config = args.server.config(context)?;
        config.bind = args.bind.or(settings.bind()).unwrap_or(config.bind);
        config.allowed_hosts = or_setting(&args.allow_host, settings.allowed_hosts());
        config.allowed_origins = or_setting(&args.allow_origin, settings.allowed_origins());
        let team = super::serve_team::TeamOptions {
            database,
            authority: args.database_ca.clone(),
            public_url: args.public_url.clone().or_else(|| env::MEMORANDA_PUBLIC_URL.text()),
            sign_in: args.sign_in.clone(),
            trusted_client_hosts: args.trust_client_host.clone(),
            max_requests_per_minute: args.max_requests,
        };
        return super::serve_team::run(context, config, &team);
    }
    let chosen = if args.no_token {
        None
    } else {
        HttpToken::chosen(&context.printer, args.token_file.as_deref())?
    };
    // Checked before the vault is opened, or made.
    let mut door = ServerConfig::standard("");
    door.bind = args.bind.or(settings.bind()).unwrap_or(door.bind);
    door.allowed_hosts = or_setting(&args.allow_host, settings.allowed_hosts());
    door.allowed_origins = or_setting(&args.allow_origin, settings.allowed_origins());
    door.authentication = match &chosen {
        Some(token) => ClientAuthentication::Token(token.bearer()?),
        None if args.no_token => ClientAuthentication::Disabled,
        None => ClientAuthentication::Undecided,
    };
    door.check().map_err(server_error)?;
    let (memory, mut config) = args.server.open_vault(context)?;
    config.bind = door.bind;
    config.allowed_hosts = door.allowed_hosts;
    config.allowed_origins = door.allowed_origins;
    config.authentication = match door.authentication {
        ClientAuthentication::Undecided => {
            ClientAuthentication::Token(HttpToken::of_vault(context)?.bearer()?)
        }
        decided => decided,
    };
    let token_file = match &config.authentication {
        ClientAuthentication::Token(token) => token.file().map(|file| file.display().to_string()),
        ClientAuthentication::Undecided
        | ClientAuthentication::Directory
        | ClientAuthentication::Disabled => None,
    };
    let is_own_file = chosen.is_none() && !args.no_token;
    // The page's sessions need a secret also where clients send no token.
    let page_token = match chosen {
        Some(token) => token,
        None => HttpToken::of_vault(context)?,
    };
    config.page_token = Some(page_token.bearer()?);
    config.page_services = super::page_services(context);
    let recorded = std::cell::OnceCell::new();
    let listening = |address: SocketAddr| {
        let mcp = format!("http://{address}/mcp");
        let page = format!("http://{address}/");
        match RunningServer::record(context, address, &page_token) {
            Ok(running) => drop(recorded.set(running)),
            Err(error) => context
                .printer
                .warn(format!("`memoranda open` will not find this server: {}", error.message)),
        }
        context.printer.say(format!("Serving {PLACE}{mcp}{PLACE:#}; Ctrl-C ends it."));
        if let Some(file) = &token_file {
            context.printer.say(format!(
                "Clients send `Authorization: Bearer TOKEN`; the token is in {PLACE}{file}{PLACE:#}."
            ));
        }
        if args.no_token {
            context.printer.warn("every program and every user of this machine can connect");
        }
        if is_own_file {
            let home = context.args.home.as_ref().map(|home| home.display().to_string());
            let home = home.map_or(String::new(), |home| format!(" --home {}", quoted(&home)));
            context.printer.hint(format!(
                "claude mcp add --transport http memoranda {mcp} \
                 --header \"Authorization: Bearer $(memoranda token{home})\""
            ));
        }
        if context.is_json() {
            let (address, token) = (address.to_string(), !args.no_token);
            // A client that does not read it is served all the same.
            context.printer.json(&ListeningJson { address, mcp, page, token, token_file }).ok();
        }
    };
    let served = memoranda_server::run_http(memory, config, listening).map_err(server_error);
    if let Some(running) = recorded.get() {
        running.forget();
    }
    served.map(|()| Exit::Success)
}

/// Returns what the flags name, or else what the setting names.
fn or_setting(flags: &[String], setting: &str) -> Vec<String> {
    if flags.is_empty() { comma_list(setting) } else { flags.to_vec() }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    config::address(text).ok_or_else(|| "it takes an address and a port: 127.0.0.1:7337".to_owned())
}
