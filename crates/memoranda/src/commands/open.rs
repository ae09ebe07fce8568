//! `memoranda open`: the web page of the vault, in a browser.

use std::net::SocketAddr;
use std::time::Duration;

use memoranda_server::{ClientAuthentication, HttpServer, ServerConfig};
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::http_token::HttpToken;
use crate::output::PLACE;
use crate::programs;
use crate::running_server::{PageLink, RunningServer};
use crate::server_args::{ServerArgs, server_error};

/// Time for which a server of this command goes on after the last page was closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// Open the web page: what was remembered, who wrote it, and how to take it back.
///
/// Finds the server of this vault, or starts one that ends some minutes after the last page was
/// closed, or with Ctrl-C. The link works once and for one minute; after that the page has a
/// session of its own, until it is closed. No cookie, no account, nothing from the internet.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda open
  memoranda open --print

JSON (--json):
  {url, address, started}, once the server listens; started is true if this command serves it")]
pub(crate) struct Args {
    /// Print the link instead of opening a browser, such as over SSH.
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Serialize)]
struct OpenedJson {
    url: String,
    address: String,
    started: bool,
}

/// Opens the page.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    // The vault is made if it is missing, so that the page can show how to begin.
    context.open_or_create()?;
    if let Some(running) = RunningServer::find(context)? {
        let link = running.new_link()?;
        show(context, args, &link, false)?;
        return Ok(Exit::Success);
    }
    serve_page(context, args)
}

/// Serves the page in this process.
fn serve_page(context: &CommandContext, args: &Args) -> Result<Exit> {
    let (memory, mut config) = args.server.open_vault(context)?;
    let token = match HttpToken::chosen(&context.printer, None)? {
        Some(token) => token,
        None => HttpToken::of_vault(context)?,
    };
    config.authentication = ClientAuthentication::Token(token.bearer()?);
    config.idle_timeout = Some(IDLE_TIMEOUT);
    config.page_services = super::page_services(context);
    let asked = context.settings()?.bind().filter(|bind| bind.ip().is_loopback());
    config.bind = asked.unwrap_or(config.bind);
    let server = bind(config)?;
    let address = server.address();
    let running = RunningServer::record(context, address, &token)?;
    // The server answers once it runs, so the link is made by another thread.
    let shown = std::thread::scope(|scope| {
        let served = scope.spawn(|| server.run(memory));
        let link = running.await_link();
        link.and_then(|link| show(context, args, &link, true))?;
        match served.join() {
            Ok(ended) => ended.map_err(server_error),
            Err(_) => Err(CommandError::new(Exit::Internal, "the server broke down")),
        }
    });
    running.forget();
    shown.map(|()| Exit::Success)
}

/// Binds the configured address, or a free port if that one is taken.
fn bind(config: ServerConfig) -> Result<HttpServer> {
    match HttpServer::bind(config.clone()) {
        Ok(server) => Ok(server),
        Err(_) => {
            let bind = SocketAddr::new(config.bind.ip(), 0);
            HttpServer::bind(ServerConfig { bind, ..config }).map_err(server_error)
        }
    }
}

/// Prints the link or opens it.
fn show(context: &CommandContext, args: &Args, link: &PageLink, is_started: bool) -> Result<()> {
    let PageLink { url, address } = link;
    let printer = &context.printer;
    if context.is_json() {
        let (url, address) = (url.clone(), address.to_string());
        printer.json(&OpenedJson { url, address, started: is_started })?;
    } else if args.print {
        printer.line(url)?;
        let port = address.port();
        printer.hint(format!(
            "from another machine: `ssh -L {port}:127.0.0.1:{port} THIS-MACHINE`, then open the link there"
        ));
    } else if let Err(error) = programs::open_browser(url) {
        printer.warn(format!("no browser was opened: {}", error.message));
        printer.line(url)?;
    } else {
        printer.say(format!("Opened the page at {PLACE}http://{address}/{PLACE:#}."));
    }
    if is_started {
        printer.say("Serving it until Ctrl-C, or some minutes after the last page is closed.");
    }
    Ok(())
}
