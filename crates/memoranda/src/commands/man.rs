//! `memoranda man`: manual pages.

use std::path::PathBuf;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;

/// Print the manual page, or write the pages of all commands to a folder.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda man | man -l -
  memoranda man --dir ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write a page for every command to this folder.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes them.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let mut root = Cli::command().version(env!("CARGO_PKG_VERSION"));
    root.build();
    let Some(dir) = &args.dir else {
        context.printer.bytes(&page(&root, "memoranda")?)?;
        return Ok(Exit::Success);
    };
    let mut pages = Vec::new();
    collect(&root, "memoranda", &mut pages);
    for (name, command) in &pages {
        files::replace(&dir.join(format!("{name}.1")), &page(command, name)?)?;
    }
    context.printer.say(format!("Wrote {} pages to {}", pages.len(), dir.display()));
    Ok(Exit::Success)
}

fn collect<'a>(
    command: &'a clap::Command,
    name: &str,
    pages: &mut Vec<(String, &'a clap::Command)>,
) {
    pages.push((name.to_owned(), command));
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        if child.get_name() != "help" {
            collect(child, &format!("{name}-{}", child.get_name()), pages);
        }
    }
}

fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>> {
    let command = command.clone().display_name(name.to_owned());
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|e| CommandError::io("make a manual page", &e))?;
    Ok(page)
}
