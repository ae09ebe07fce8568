//! `memoranda mcp`: serve one client over standard input and output.

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::server_args::{ServerArgs, server_error};

/// Serve one client: MCP over standard input and output.
///
/// Clients start it themselves; any number of them may run on one vault. It ends when its client
/// does. The vault is created on first use.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda mcp
  claude mcp add memoranda -- memoranda mcp
  memoranda mcp --toolsets memory --wording claude")]
pub(crate) struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

/// Serves until standard input closes.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    if context.printer.can_ask() {
        context.printer.say(
            "This serves an MCP client over standard input; `memoranda setup` connects your \
             clients. Ctrl-C ends it.",
        );
    }
    let (memory, config) = args.server.open_vault(context)?;
    memoranda_server::run_stdio(memory, config).map_err(server_error)?;
    Ok(Exit::Success)
}
