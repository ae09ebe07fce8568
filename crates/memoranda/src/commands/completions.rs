//! `memoranda completions`: for your shell.

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// Print completions for your shell.
///
/// They know the commands, and your projects, notes, clients and settings.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda completions bash > ~/.local/share/bash-completion/completions/memoranda
  memoranda completions zsh > ~/.zfunc/_memoranda
  memoranda completions fish > ~/.config/fish/completions/memoranda.fish")]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints them.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let mut script = Vec::new();
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| CommandError::usage(format!("there are no completions for {name}")))?;
    shell.write_registration("COMPLETE", "memoranda", "memoranda", "memoranda", &mut script)?;
    context.printer.bytes(&script)?;
    Ok(Exit::Success)
}
