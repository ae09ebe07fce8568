//! `memoranda rules`: the rule files of a repository, from the rules that are remembered, and back.

mod generate;
mod import;
mod known_rules;
mod list;

use std::path::PathBuf;

use clap::Subcommand;
use memoranda_engine::GitRepository;
use memoranda_engine::records::{RecordError, RecordScope};

use crate::context::CommandContext;
use crate::env;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use generate::{GenerateMode, GenerateRequest, UnknownText, WithoutRules};

/// Show the rules, write them into the files that agents read, or read such files as rules.
///
/// Without a command: the list.
/// The rules are those of the repository that you are in (type `rule`, in the project `records`).
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda rules                  list the rules that hold here
  memoranda rules import           make rules of AGENTS.md, CLAUDE.md, .cursor/rules …
  memoranda rules generate all     write the rules for every agent
  memoranda rules generate --check whether the files are as the rules are")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<RulesAction>,
}

#[derive(Subcommand)]
enum RulesAction {
    /// List the rules of this repository, and those for every repository.
    #[command(after_long_help = "\
Examples:
  memoranda rules list

JSON (--json):
  {rules: [{id, text, scope, paths, category}]}; scope is the repository, or `every repository`")]
    List,

    /// Write the rules of this repository into the files that agents read.
    ///
    /// Where a program reads several files, one of our own is written; elsewhere a block between
    /// marks. What people wrote is never touched: a file without our mark is left alone, and so is
    /// one with rules between the marks that this vault never knew. Trouble with one target stops no
    /// other. Without a target, those that are in use here are written, or AGENTS.md. Targets:
    /// agents (Codex, OpenCode, Zed, VS Code), claude, claude-md, cursor, copilot, windsurf, cline,
    /// roo, gemini, goose, all.
    #[command(after_long_help = "\
Examples:
  memoranda rules generate
  memoranda rules generate claude cursor --dry-run
  memoranda rules generate all --check

JSON (--json):
  {root, scope, rules, dry_run, files: [{target, path, change}], troubles: [{target, message}]};
  change is created, updated, removed or unchanged. Exit code 1 if --check finds a difference.")]
    Generate {
        /// The clients to write rules for.
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
        /// Write nothing; exit with 1 if a file is not as the rules are.
        #[arg(long)]
        check: bool,
        /// Only show what would change.
        #[arg(short = 'n', long, conflicts_with = "check")]
        dry_run: bool,
        /// Write your global rules too.
        #[arg(long)]
        global: bool,
        /// Remove generated files where no rule is left.
        #[arg(long)]
        remove: bool,
        /// Overwrite what people wrote between our marks.
        #[arg(long)]
        force: bool,
    },

    /// Read rule files as rules: every item of a list is one.
    ///
    /// Without files, all that agents usually read are looked for; AGENTS.md, CLAUDE.md and
    /// GEMINI.md in folders below become rules for the files there. What was generated is read
    /// like the rest. A rule that is known already is passed over, and in what was generated one
    /// that was known before.
    #[command(after_long_help = "\
Examples:
  memoranda rules import --dry-run
  memoranda rules import AGENTS.md
  memoranda rules import ~/.claude/CLAUDE.md --global

JSON (--json):
  {scope, dry_run, known, prose, commit, rules: [{text, paths, category, file, line, id}]}")]
    Import {
        /// The files.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Only show what would come.
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Make them global rules, for every repository.
        #[arg(long)]
        global: bool,
    },
}

/// Does what was asked.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let action = args.action.as_ref().unwrap_or(&RulesAction::List);
    let memory = match action {
        RulesAction::Import { .. } => {
            context.open_or_create()?;
            context.open_synced()?
        }
        RulesAction::Generate { .. } | RulesAction::List => context.open_synced()?,
    };
    let workspace = env::workspace().unwrap_or_default();
    let repository = GitRepository::of(&workspace);
    let root = repository.map_or_else(|| workspace.clone(), |repository| repository.root);
    let project = RecordScope::of_workspace(&root);
    match action {
        RulesAction::List => list::run(context, memory, project),
        RulesAction::Generate { targets, check, dry_run, global, remove, force } => {
            let mode = match (check, dry_run) {
                (true, _) => GenerateMode::Check,
                (false, true) => GenerateMode::DryRun,
                (false, false) => GenerateMode::Write,
            };
            let asked = GenerateRequest {
                scopes: scopes(project, *global)?,
                targets: generate::choose_targets(&root, targets)?,
                root,
                mode,
                without_rules: if *remove { WithoutRules::Remove } else { WithoutRules::Keep },
                unknown: if *force { UnknownText::Replace } else { UnknownText::Refuse },
            };
            generate::run(context, memory, &asked)
        }
        RulesAction::Import { files, dry_run, global } => {
            let scope = match (global, project) {
                (true, _) => RecordScope::Global,
                (false, Some(project)) => project,
                (false, None) => return Err(no_project()),
            };
            let files = import::rule_files(&root, &workspace, files)?;
            import::run(context, memory, &files, &scope, *dry_run)
        }
    }
}

fn no_project() -> CommandError {
    CommandError::new(Exit::NotFound, "no repository with a remote was found here")
        .hint("`--global` means the rules for every repository")
}

fn scopes(project: Option<RecordScope>, with_global: bool) -> Result<Vec<RecordScope>> {
    match (project, with_global) {
        (Some(project), false) => Ok(vec![project]),
        (Some(project), true) => Ok(vec![project, RecordScope::Global]),
        (None, true) => Ok(vec![RecordScope::Global]),
        (None, false) => Err(no_project()),
    }
}

fn record_error(error: RecordError) -> CommandError {
    match error {
        RecordError::Engine(error) => error.into(),
        other => CommandError::usage(other.to_string()),
    }
}
