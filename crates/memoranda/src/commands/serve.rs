//! `memoranda serve`: MCP and the API over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use memoranda_server::{ServerConfig, Token};
use serde::Serialize;

use crate::config;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::offer::{OfferArgs, failed};
use crate::output::{PLACE, Printer};
use crate::session::Session;
use crate::{env, files};

/// Serve MCP clients and the API over HTTP.
///
/// Only this machine can connect unless --bind says otherwise; then a token is needed, which
/// clients show as `Authorization: Bearer TOKEN`. It comes from a file or from MEMORANDA_TOKEN,
/// never from a flag, which others could see. The vault is made if there is none.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda serve
  claude mcp add --transport http memoranda http://127.0.0.1:7337/mcp
  memoranda serve --bind 0.0.0.0:7337 --token-file ~/.memoranda-token --allow-host notes.example

JSON (--json):
  {address, mcp, token}, once it listens; token says whether one must be shown")]
pub(crate) struct Args {
    /// The address and port to listen on; port 0 is any free one.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    bind: Option<SocketAddr>,

    /// A file that holds the token.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// A host name by which the server may be called, beside this machine's own.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    allow_host: Vec<String>,

    /// An origin from which pages may call, such as `https://notes.example`.
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    allow_origin: Vec<String>,

    #[command(flatten)]
    offer: OfferArgs,
}

#[derive(Serialize)]
struct ListeningJson {
    address: String,
    mcp: String,
    token: bool,
}

/// Serves until it is interrupted.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let token = token(&session.printer, args.token_file.as_deref())?;
    let bind = args.bind.or(session.settings()?.bind());
    // Before the vault is opened, or made.
    let mut door = ServerConfig::standard("");
    door.bind = bind.unwrap_or(door.bind);
    door.token = token;
    door.check().map_err(failed)?;
    let (memory, mut config) = args.offer.open(session)?;
    config.bind = door.bind;
    config.token = door.token;
    config.allowed_hosts.clone_from(&args.allow_host);
    config.allowed_origins.clone_from(&args.allow_origin);
    let needs_token = config.token.is_some();
    let listening = |address: SocketAddr| {
        let mcp = format!("http://{address}/mcp");
        session.printer.say(format!("Serving {PLACE}{mcp}{PLACE:#}; Ctrl-C ends it."));
        if session.is_json() {
            let json = ListeningJson { address: address.to_string(), mcp, token: needs_token };
            // Whoever does not read it is served all the same.
            session.printer.json(&json).ok();
        }
    };
    memoranda_server::run_http(memory, config, listening).map_err(failed)?;
    Ok(Exit::Done)
}

fn address(text: &str) -> Result<SocketAddr, String> {
    config::address(text).ok_or_else(|| "it takes an address and a port: 127.0.0.1:7337".to_owned())
}

/// The token from the file that was named, from the variable, or from the file that a variable
/// names.
fn token(printer: &Printer, file: Option<&Path>) -> Result<Option<Token>> {
    let named = || env::MEMORANDA_TOKEN_FILE.get().map(PathBuf::from);
    let text = match (file, env::MEMORANDA_TOKEN.text()) {
        (Some(file), _) => Some(read(printer, file)?),
        (None, Some(text)) => Some(text),
        (None, None) => named().map(|file| read(printer, &file)).transpose()?,
    };
    text.map(|text| Token::new(&text).map_err(failed)).transpose()
}

fn read(printer: &Printer, file: &Path) -> Result<String> {
    let text = files::read_text(file)?.ok_or_else(|| {
        CommandError::configuration(format!("there is no token file {}", file.display()))
            .hint("`openssl rand -hex 32` prints a good token")
    })?;
    if files::is_readable_by_others(file) {
        printer.warn(format!("others can read the token in {}", file.display()));
    }
    Ok(text)
}
