//! One memory for all of a person's agents: the command line.
//!
//! [`cli`] says what can be typed, [`commands`] what each command does. Every effect has one
//! door: `env`, `output`, `files`, `editor`, `exit`.

mod cli;
mod commands;
mod config;
mod editor;
mod env;
mod error;
mod exit;
mod files;
mod hook;
mod http_token;
mod offer;
mod output;
mod paint;
mod progress;
mod rules;
mod session;
mod setup;
mod table;
mod time;
mod trace;
mod wire;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::Cli;
use crate::config::Settings;
use crate::error::{CommandError, Kind};
use crate::exit::Exit;
use crate::output::{ColorWhen, Printer};
use crate::session::Session;

fn main() -> ExitCode {
    match parse(Cli::command()).or_else(|_| parse(whole())) {
        Ok((cli, matches)) => run(cli, matches.subcommand_name().unwrap_or_default()).into(),
        Err(error) => {
            // If nobody reads the help any more, that is fine.
            error.print().ok();
            if error.use_stderr() { Exit::Usage } else { Exit::Done }.into()
        }
    }
}

fn parse(mut command: clap::Command) -> Result<(Cli, clap::ArgMatches), clap::Error> {
    let matches = command.try_get_matches_from_mut(env::arguments())?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// Every command with all that can be said of it. What is typed right needs its own command only,
/// and most of the time from start to answer went into describing the others.
fn whole() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn run(cli: Cli, name: &str) -> Exit {
    let settings = Settings::load(&cli.global);
    let color = match &settings {
        Ok(settings) => settings.color(),
        Err(_) => cli.global.color.unwrap_or(ColorWhen::Auto),
    };
    let printer = Printer::new(cli.global.format(), cli.global.talk(), color);
    let session = Session::new(printer, cli.global, settings, name);
    let result = arm_fault().and_then(|()| match cli.command {
        Some(command) => commands::run(&session, command),
        None if cli.version => commands::version(&session),
        None => Err(CommandError::usage("no command was given")),
    });
    match result {
        Ok(exit) => exit,
        Err(CommandError { kind: Kind::BrokenPipe, .. }) => Exit::Done,
        Err(error @ CommandError { kind: Kind::Exit(exit), .. }) => {
            session
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
