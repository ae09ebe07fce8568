//! Command line arguments: the global flags and the commands.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser};
use clap_complete::engine::ArgValueCandidates;

use crate::commands::CliCommand;
use crate::complete;
use crate::output::{ColorWhen, OutputFormat, Verbosity};

/// One memory for all of your agents, in a folder of Markdown that you own.
///
/// Notes are plain files in a vault (~/memoranda unless you say otherwise). Every change, by you,
/// by an agent or by hand in the files, is kept in a history and can be undone.
#[derive(Parser)]
#[command(
    name = "memoranda",
    disable_version_flag = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "`memoranda COMMAND --help` has examples.",
    after_long_help = "\
Examples:
  memoranda remember 'I prefer tabs'  for all of your agents
  memoranda recall tabs               find it again
  memoranda setup                     connect your agents
  memoranda log                       see who changed what
  memoranda undo                      take the last change back

Exit codes:
  0 done; 1 not found, or a check failed; 2 usage; 3 configuration; 4 conflict; 5 failure;
  130 interrupted"
)]
pub(crate) struct Cli {
    /// Print the version.
    #[arg(short = 'V', long, exclusive = false)]
    pub(crate) version: bool,

    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

/// Flags of every command.
#[derive(Args, Clone)]
#[command(next_help_heading = "Flags of every command")]
pub(crate) struct GlobalArgs {
    /// Use the vault in this folder.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// Work in this project only.
    #[arg(short, long, global = true, value_name = "NAME", add = ArgValueCandidates::new(complete::projects))]
    pub(crate) project: Option<String>,

    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print tab-separated columns with whole values and no decoration.
    #[arg(long, global = true, conflicts_with = "json")]
    pub(crate) plain: bool,

    /// Print only data and errors.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// Print more details.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Use of colours.
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub(crate) color: Option<ColorWhen>,

    /// Never ask; fail instead of asking a question.
    #[arg(long, global = true)]
    pub(crate) no_input: bool,

    /// Answer every question with yes.
    #[arg(short, long, global = true)]
    pub(crate) yes: bool,

    /// Print long output without a pager.
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,

    /// Do not scan the files for edits first.
    #[arg(long, alias = "no-sync", global = true)]
    pub(crate) no_scan: bool,
}

impl GlobalArgs {
    /// Returns the flags of a run that the shell starts for completions.
    pub(crate) fn for_completions() -> Self {
        Self {
            home: None,
            project: None,
            json: false,
            plain: true,
            quiet: true,
            verbose: false,
            color: None,
            no_input: true,
            yes: false,
            no_pager: true,
            no_scan: true,
        }
    }

    /// Returns the format of the output.
    pub(crate) fn format(&self) -> OutputFormat {
        match (self.json, self.plain) {
            (true, _) => OutputFormat::Json,
            (false, true) => OutputFormat::Plain,
            (false, false) => OutputFormat::Pretty,
        }
    }

    /// Returns the amount of messages.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

/// Parses one of a list of values, each with its name and its help.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [T],
    name: fn(T) -> &'static str,
    help: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|value| PossibleValue::new(name(*value)).help(help(*value)));
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = values.iter().find(|value| name(**value) == given);
        found.copied().ok_or("it is not in the list")
    })
}
