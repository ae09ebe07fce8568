//! `memoranda hook`: what clients run at certain moments of a conversation.

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::hook::{self, HookClient, HookEvent};
use crate::output;

/// Handle an event of a conversation; clients run this command.
///
/// Reads the client's JSON from standard input and answers in its format. At the start the model
/// gets a brief: what is known of the person, where the last conversation stood, what changed
/// last. Before a conversation is compacted and when it ends, a checkpoint is kept under
/// /memories/sessions. It takes a fraction of a second, calls no model, and always ends with exit
/// code 0: whatever goes wrong, the conversation goes on. `memoranda setup --hooks` installs it.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  echo '{\"session_id\":\"x\",\"cwd\":\".\"}' | memoranda hook session-start --client claude-code
  memoranda setup claude-code --hooks")]
pub(crate) struct Args {
    /// The event of the conversation.
    #[arg(value_enum)]
    event: HookEvent,

    /// The client that runs it.
    #[arg(long, value_name = "CLIENT", value_enum)]
    client: HookClient,
}

/// Does it, and never fails.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let told = output::read_stdin().unwrap_or_default();
    let answer = hook::run(context, args.client, args.event, &told);
    if !answer.is_empty() {
        // A client that went away needs no answer.
        context.printer.line(answer).ok();
    }
    Ok(Exit::Success)
}
