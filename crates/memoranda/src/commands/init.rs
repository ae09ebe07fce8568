//! `memoranda init`: make the vault.

use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::PLACE;

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
    let made =
        VaultJson { home: home.clone(), project: project.name.to_string(), created: !existed };
    let verb = if existed { "The vault is at" } else { "Made the vault" };
    context.printer.done(&made, format!("{verb} {PLACE}{home}{PLACE:#}"))?;
    context.printer.say("Next:");
    context.printer.say("  memoranda add 'Something to remember'");
    context
        .printer
        .say("  memoranda project add work ~/Documents/Notes   (a folder you have already)");
    context.printer.say("  memoranda search something");
    context.printer.say("  memoranda setup                                (connects your agents)");
    Ok(Exit::Success)
}
