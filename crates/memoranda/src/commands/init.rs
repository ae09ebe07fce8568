//! `memoranda init`: make the vault.

use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, PLACE};

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
struct VaultJson {
    home: String,
    project: String,
    created: bool,
}

/// Makes the vault and its first project.
pub(crate) fn run(context: &CommandContext, _: &Args) -> Result<Exit> {
    let existed = context.settings()?.home().join(".memoranda").is_dir();
    let memory = context.open_or_create()?;
    let project = memory.create_project(context.settings()?.default_project())?;
    let home = memory.home().display().to_string();
    let made = VaultJson { home, project: project.name.to_string(), created: !existed };
    let verb = if existed { "The vault is at" } else { "Made the vault" };
    let shown = context.shown_path(memory.home());
    context.printer.done(&made, format!("{verb} {PLACE}{shown}{PLACE:#}"))?;
    context.printer.say("Next:");
    for (command, purpose) in [
        ("memoranda setup", "connects your agents"),
        ("memoranda remember 'I prefer tabs'", "for all of them"),
        ("memoranda recall", "what is known"),
        ("memoranda project add work DIR", "a folder you have already"),
    ] {
        context.printer.say(format!("  {command:<35} {FAINT}{purpose}{FAINT:#}"));
    }
    Ok(Exit::Success)
}
