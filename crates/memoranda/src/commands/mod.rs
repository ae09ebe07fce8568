//! The commands: one file each, with what can be typed and what it does.

mod add;
mod graph;
mod search;
mod show;

use clap::Subcommand;

use crate::error::Result;
use crate::exit::Exit;
use crate::session::Session;

/// Every command, in the order of the help.
#[derive(Subcommand)]
pub(crate) enum Command {
    Add(add::Args),
    Search(search::Args),
    Show(show::Args),
}

/// Does what was asked.
pub(crate) fn run(session: &Session, command: Command) -> Result<Exit> {
    match command {
        Command::Add(args) => add::run(session, &args),
        Command::Search(args) => search::run(session, &args),
        Command::Show(args) => show::run(session, &args),
    }
}

/// Says which version this is.
pub(crate) fn version(session: &Session) -> Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    let commit = option_env!("MEMORANDA_COMMIT");
    let value = serde_json::json!({ "name": "memoranda", "version": version, "commit": commit });
    match session.is_json() {
        true => session.printer.json(&value)?,
        false => session.printer.line(format!("memoranda {version}"))?,
    }
    Ok(Exit::Done)
}
