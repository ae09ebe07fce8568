//! `memoranda token`: the token that HTTP clients send.

use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::http_token::HttpToken;
use crate::running_server::RunningServer;

/// Print the token of the HTTP server: clients of `memoranda serve` send it.
///
/// It is made on first use, for this vault and this device, in a file that you alone can read.
/// MEMORANDA_TOKEN and MEMORANDA_TOKEN_FILE come before it, as for `memoranda serve`. To replace
/// it, delete the file and restart the server.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda token
  curl http://127.0.0.1:7337/api/tools/list_directory -H 'Content-Type: application/json' \\
    -H \"Authorization: Bearer $(memoranda token)\" -d '{}'
  claude mcp add --transport http memoranda http://127.0.0.1:7337/mcp \\
    --header \"Authorization: Bearer $(memoranda token)\"

JSON (--json):
  {token, file, server}; file is null if the token came from MEMORANDA_TOKEN; server has the url and the
  token of a server of this vault that runs at present, or is null")]
pub(crate) struct Args {}

#[derive(Serialize)]
struct TokenJson {
    token: String,
    file: Option<String>,
    server: Option<ServerJson>,
}

#[derive(Serialize)]
struct ServerJson {
    url: String,
    token: String,
}

/// Prints it.
pub(crate) fn run(context: &CommandContext, _: &Args) -> Result<Exit> {
    let token = match HttpToken::chosen(&context.printer, None)? {
        Some(token) => token,
        None => {
            context.open_existing()?;
            HttpToken::of_vault(context)?
        }
    };
    token.bearer()?;
    if context.is_json() {
        let file = token.file.map(|file| file.display().to_string());
        // Without a vault there is no server to be found.
        let running = RunningServer::find(context).ok().flatten();
        let server = running
            .map(|running| ServerJson { url: running.url(), token: running.token().to_owned() });
        context.printer.json(&TokenJson { token: token.text, file, server })?;
    } else {
        context.printer.line(token.text)?;
    }
    Ok(Exit::Success)
}
