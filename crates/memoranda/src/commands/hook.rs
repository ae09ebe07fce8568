//! `memoranda hook`: what clients run at certain moments of a conversation.

use crate::error::Result;
use crate::exit::Exit;
use crate::hook::{self, Harness, Moment};
use crate::output;
use crate::session::Session;

/// Do what is to be done at a moment of a conversation; clients run it.
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
    moment: Moment,

    /// The client that runs it.
    #[arg(long, value_name = "CLIENT", value_enum)]
    client: Harness,
}

/// Does it, and never fails.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let told = output::read_stdin().unwrap_or_default();
    let answer = hook::run(session, args.client, args.moment, &told);
    if !answer.is_empty() {
        // A client that went away needs no answer.
        session.printer.line(answer).ok();
    }
    Ok(Exit::Done)
}
