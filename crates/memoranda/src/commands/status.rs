//! `memoranda status`: how the vault is.

use memoranda_engine::{EmbeddingCoverage, Memory, ModelStatus};
use serde::Serialize;

use super::project::{self, ProjectJson};
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, OutputFormat, counted};

/// Show where the vault is, and how much it holds.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda status
  memoranda status --json | jq .notes

JSON (--json):
  {home, index, config, device, notes, passages, observations, relations, unresolved, commits,
  log_bytes, watched, model: {name, covered, passages, error}, projects: [{name, path, in_vault,
  notes}]}; model is null if none was chosen")]
pub(crate) struct Args {}

#[derive(Serialize)]
struct StatusJson {
    home: String,
    index: String,
    config: String,
    device: String,
    notes: u64,
    passages: u64,
    observations: u64,
    relations: u64,
    unresolved: u64,
    commits: u64,
    log_bytes: u64,
    watched: bool,
    model: Option<ModelJson>,
    projects: Vec<ProjectJson>,
}

/// Prints it.
pub(crate) fn run(context: &CommandContext, _: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let status = memory.status()?;
    let model = probe_model(memory, status.model);
    let printer = &context.printer;
    let config = context.settings()?.directories.config.display().to_string();
    let counts = status.counts;
    if context.is_json() {
        printer.json(&StatusJson {
            home: status.home.display().to_string(),
            index: status.index.display().to_string(),
            config,
            device: status.device,
            notes: counts.notes,
            passages: counts.passages,
            observations: counts.observations,
            relations: counts.relations,
            unresolved: counts.unresolved,
            commits: counts.commits,
            log_bytes: status.log_bytes,
            watched: status.watched,
            model: model.as_ref().map(ModelJson::from),
            projects: status.projects.iter().map(ProjectJson::from).collect(),
        })?;
        return Ok(Exit::Success);
    }
    let watched =
        if status.watched { "watched by a running process" } else { "found by the next command" };
    let rows = [
        ("vault", context.shown_path(&status.home)),
        ("config", context.shown_path(&context.settings()?.directories.config)),
        ("index", context.shown_path(&status.index)),
        ("notes", counts.notes.to_string()),
        ("facts", counts.observations.to_string()),
        ("links", format!("{} ({} to notes not written yet)", counts.relations, counts.unresolved)),
        (
            "history",
            format!(
                "{}, {}",
                counted(usize::try_from(counts.commits).unwrap_or(usize::MAX), "commit"),
                format_size(status.log_bytes)
            ),
        ),
        ("file edits", watched.to_owned()),
        ("search model", describe_model(model.as_ref())),
    ];
    for (name, value) in rows {
        match printer.format {
            OutputFormat::Plain => printer.line(format!("{name}\t{value}"))?,
            OutputFormat::Pretty | OutputFormat::Json => {
                printer.hanging(format!("{FAINT}{name:<14}{FAINT:#} {value}"), 15)?;
            }
        }
    }
    if printer.format == OutputFormat::Pretty {
        printer.line("")?;
        project::print(context, &status.projects)?;
    }
    Ok(Exit::Success)
}

/// The model that was chosen, as programs read it.
#[derive(Serialize)]
pub(super) struct ModelJson {
    name: String,
    covered: u64,
    passages: u64,
    error: Option<String>,
}

impl From<&ModelStatus> for ModelJson {
    fn from(status: &ModelStatus) -> Self {
        let coverage = status.coverage.as_ref().copied().unwrap_or_default();
        Self {
            name: status.model.clone(),
            covered: coverage.covered,
            passages: coverage.passages,
            error: status.coverage.clone().err(),
        }
    }
}

/// Returns the state of the chosen model, after a test question that shows whether it can answer.
pub(super) fn probe_model(memory: &Memory, status: Option<ModelStatus>) -> Option<ModelStatus> {
    let mut status = status?;
    if let Some(Err(error)) = memory.try_model() {
        status.coverage = Err(error.to_string());
    }
    Some(status)
}

/// Describes the model that searches use.
pub(super) fn describe_model(status: Option<&ModelStatus>) -> String {
    let Some(ModelStatus { model, coverage }) = status else {
        return "the built-in model".to_owned();
    };
    match coverage {
        Ok(EmbeddingCoverage { passages, covered, .. }) => {
            format!("{model}, with vectors for {covered} of {passages} passages")
        }
        Err(reason) => format!("the built-in model; {model}: {reason}"),
    }
}

/// A size in bytes as people say it.
fn format_size(bytes: u64) -> String {
    match bytes {
        ..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
