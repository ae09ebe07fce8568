//! `memoranda completions`: for your shell.

use clap_complete::Generator as _;
use clap_complete::env::Shells;
use clap_complete_nushell::Nushell;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::full_command;

/// Print completions for your shell.
///
/// They know the commands, and your projects, notes, clients and settings; in Nushell the commands
/// and flags alone.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda completions bash > ~/.local/share/bash-completion/completions/memoranda
  memoranda completions zsh > ~/.zfunc/_memoranda
  memoranda completions fish > ~/.config/fish/completions/memoranda.fish
  memoranda completions nushell > ~/.config/nushell/autoload/memoranda.nu")]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: CompletionShell,
}

/// A shell with completions.
#[derive(Clone, Copy, clap::ValueEnum)]
enum CompletionShell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
}

impl CompletionShell {
    /// Name of the shell for completions that run the program; `None` if the shell cannot do that.
    fn dynamic_name(self) -> Option<&'static str> {
        match self {
            Self::Bash => Some("bash"),
            Self::Elvish => Some("elvish"),
            Self::Fish => Some("fish"),
            Self::PowerShell => Some("powershell"),
            Self::Zsh => Some("zsh"),
            Self::Nushell => None,
        }
    }
}

/// Prints them.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let mut script = Vec::new();
    if let Some(name) = args.shell.dynamic_name() {
        let shells = Shells::builtins();
        let shell = shells
            .completer(name)
            .ok_or_else(|| CommandError::usage(format!("there are no completions for {name}")))?;
        shell.write_registration("COMPLETE", "memoranda", "memoranda", "memoranda", &mut script)?;
    } else {
        let mut command = full_command();
        command.set_bin_name("memoranda");
        command.build();
        Nushell.try_generate(&command, &mut script)?;
    }
    context.printer.bytes(&script)?;
    Ok(Exit::Success)
}
