//! Command line of Memoranda.
//!
//! [`cli`] defines the arguments, [`commands`] the commands. Each effect has one module: `env`,
//! `output`, `files`, `editor`, `exit`.

mod cli;
mod commands;
mod complete;
mod config;
mod context;
mod diff_color;
mod editor;
mod env;
mod error;
mod exit;
mod files;
mod help;
mod http_token;
mod json_output;
mod logging;
mod output;
mod pager;
mod picker;
mod programs;
mod progress;
mod running_server;
mod server_args;
#[cfg(feature = "postgres")]
mod sign_in_file;
mod suggest;
mod table;
mod time;
mod wrap;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::Cli;
use crate::config::AppSettings;
use crate::context::CommandContext;
use crate::error::{CommandError, FailureKind};
use crate::exit::Exit;
use crate::output::{ColorWhen, OutputFormat, Printer, Verbosity};

fn main() -> ExitCode {
    // A shell that asks for completions sets the variable COMPLETE; then this ends the process.
    clap_complete::CompleteEnv::with_factory(full_command).complete();
    match parse(Cli::command()).or_else(|_| parse(command_with_help())) {
        Ok((cli, matches)) => run(cli, matches.subcommand_name().unwrap_or_default()).into(),
        Err(error) => {
            // The settings are not read for a command line that is not valid.
            let is_plain = env::NO_COLOR.text().is_some_and(|value| !value.is_empty());
            let color = if is_plain { ColorWhen::Never } else { ColorWhen::Auto };
            let printer = Printer::new(OutputFormat::Pretty, Verbosity::Normal, color);
            if let Some(error) = suggest::unknown_command(&error) {
                printer.error(&error);
                return Exit::Usage.into();
            }
            if error.use_stderr() {
                printer.usage_error(&error);
                return Exit::Usage.into();
            }
            // Help that was asked for. A closed pipe is ignored.
            error.print().ok();
            Exit::Success.into()
        }
    }
}

fn parse(mut command: clap::Command) -> Result<(Cli, clap::ArgMatches), clap::Error> {
    let matches = command.try_get_matches_from_mut(env::arguments())?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// Returns the complete command tree. A valid command line needs only its own command, and building
/// the others would dominate the start time.
fn full_command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Returns the command tree with the help that people read.
fn command_with_help() -> clap::Command {
    help::shorten_global_flags(help::group_commands(full_command()))
}

fn run(cli: Cli, name: &str) -> Exit {
    let settings = AppSettings::load(&cli.global);
    let color = match &settings {
        Ok(settings) => settings.color(),
        Err(_) => cli.global.color.unwrap_or(ColorWhen::Auto),
    };
    let printer = Printer::new(cli.global.format(), cli.global.verbosity(), color);
    let context = CommandContext::new(printer, cli.global, settings, name);
    let result = arm_fault().and_then(|()| match cli.command {
        Some(command) => commands::run(&context, command),
        None if cli.version => commands::version(&context),
        None => Err(CommandError::usage("no command was given")),
    });
    match result {
        Ok(exit) => exit,
        Err(CommandError { kind: FailureKind::BrokenPipe, .. }) => Exit::Success,
        Err(error @ CommandError { kind: FailureKind::Exit(exit), .. }) => {
            context
                .printer
                .error(&error.or_hint(|| format!("`memoranda help {name}` has examples")));
            exit
        }
    }
}

#[cfg(feature = "faults")]
fn arm_fault() -> error::Result<()> {
    let specification = env::MEMORANDA_FAULT.text().unwrap_or_default();
    memoranda_engine::faults::arm(&specification).map_err(CommandError::configuration)
}

#[cfg(not(feature = "faults"))]
fn arm_fault() -> error::Result<()> {
    Ok(())
}
