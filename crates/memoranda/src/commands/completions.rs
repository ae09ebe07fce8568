//! `memoranda completions`: for your shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;

/// Print completions for your shell.
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
    clap_complete::generate(args.shell, &mut Cli::command(), "memoranda", &mut script);
    context.printer.bytes(&script)?;
    Ok(Exit::Success)
}
