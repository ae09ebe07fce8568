//! `memoranda init`: make the vault.

use serde::Serialize;

use crate::error::Result;
use crate::exit::Exit;
use crate::output::PLACE;
use crate::session::Session;

/// Make the vault, and say where it is and what to do next.
///
/// Doing it again is harmless. An existing folder of Markdown can become the vault's project with
/// `memoranda project add`, where it is and as it is.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda init
  memoranda init --home ~/notes

JSON (--json):
  {home, project, created}")]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Made {
    home: String,
    project: String,
    created: bool,
}

/// Makes the vault and its first project.
pub(crate) fn run(session: &Session, _: &Args) -> Result<Exit> {
    let existed = session.settings()?.home().join(".memoranda").is_dir();
    let memory = session.made()?;
    let project = memory.create_project(session.settings()?.default_project())?;
    let home = memory.store().home().display().to_string();
    let made = Made { home: home.clone(), project: project.name.to_string(), created: !existed };
    let verb = if existed { "The vault is at" } else { "Made the vault" };
    session.printer.done(&made, format!("{verb} {PLACE}{home}{PLACE:#}"))?;
    session.printer.say("Next:");
    session.printer.say("  memoranda add 'Something to remember'");
    session
        .printer
        .say("  memoranda project add work ~/Documents/Notes   (a folder you have already)");
    session.printer.say("  memoranda search something");
    Ok(Exit::Done)
}
