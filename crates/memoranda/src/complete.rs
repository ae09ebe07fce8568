//! Completions that know the vault: projects, notes, commits, clients, tools and settings.
//!
//! The shell runs the program for each completion. It never scans files and never creates a vault;
//! if the vault cannot be opened, there are no suggestions.

use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate;
use memoranda_clients::setup::{CLIENTS, ClientSpec};
use memoranda_engine::core::change::Commit;
use memoranda_engine::{HistoryFilter, ListFilter, ListOrder, ListRequest};
use memoranda_tools::ToolDef;

use crate::cli::GlobalArgs;
use crate::commands::undo::describe_commit;
use crate::config::{AppSettings, KEYS};
use crate::context::CommandContext;
use crate::json_output::short_id;
use crate::output::{ColorWhen, OutputFormat, Printer, Verbosity};

/// Maximum number of notes that are suggested.
const MAX_NOTES: usize = 200;
/// Maximum number of commits that are suggested, and that are searched for deleted notes.
const MAX_COMMITS: usize = 200;

/// Returns the names of the projects.
pub(crate) fn projects() -> Vec<CompletionCandidate> {
    with_vault(|context| {
        let projects = context.open_existing().ok()?.projects().ok()?;
        let names = projects.into_iter().map(|info| info.project.name.to_string());
        Some(names.map(CompletionCandidate::new).collect())
    })
}

/// Returns the places and the titles of the notes that begin with a text, the last changed first.
pub(crate) fn notes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    with_vault(|context| {
        let request = ListRequest {
            filter: ListFilter::default(),
            order: ListOrder::Newest,
            limit: usize::MAX,
            offset: 0,
        };
        let notes = context.open_existing().ok()?.list(&request).ok()?.notes.into_iter();
        let names = notes.flat_map(|note| {
            let place = format!("{}/{}", note.project, note.path);
            // Without a beginning, the titles would repeat what the places say.
            let title = (!typed.is_empty()).then(|| (note.title.clone(), place.clone()));
            [Some((place, note.title)), title].into_iter().flatten()
        });
        let fitting = names.filter(|(name, _)| name.starts_with(typed)).take(MAX_NOTES);
        let candidate =
            |(name, help): (String, String)| CompletionCandidate::new(name).help(Some(help.into()));
        Some(fitting.map(candidate).collect())
    })
}

/// Returns the newest commits.
pub(crate) fn commits() -> Vec<CompletionCandidate> {
    with_vault(|context| {
        let found = newest_commits(context)?.into_iter();
        let candidate = |commit: Commit| {
            CompletionCandidate::new(short_id(&commit)).help(Some(describe_commit(&commit).into()))
        };
        Some(found.map(candidate).collect())
    })
}

/// Returns the places of the notes that were deleted last, and of the notes that begin with a text.
pub(crate) fn restorable_notes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut candidates = with_vault(|context| {
        let typed = typed.to_str()?;
        let found = newest_commits(context)?.into_iter();
        let files = found.flat_map(|commit| commit.files).filter(|file| file.after.is_none());
        let places = files.map(|file| format!("{}/{}", file.project, file.path));
        let fitting = places.filter(|place| place.starts_with(typed));
        let help = || Some("deleted".into());
        Some(fitting.map(|place| CompletionCandidate::new(place).help(help())).collect())
    });
    candidates.extend(notes(typed));
    candidates
}

fn newest_commits(context: &CommandContext) -> Option<Vec<Commit>> {
    context.open_existing().ok()?.log(&HistoryFilter::default(), MAX_COMMITS, 0).ok()
}

/// Returns the names of the tools.
pub(crate) fn tools() -> Vec<CompletionCandidate> {
    let one = |tool: &ToolDef| CompletionCandidate::new(tool.name).help(Some(tool.title.into()));
    memoranda_tools::tools().map(one).collect()
}

/// Returns the names of the clients that `setup` connects.
pub(crate) fn clients() -> Vec<CompletionCandidate> {
    let one =
        |client: &ClientSpec| CompletionCandidate::new(client.name).help(Some(client.title.into()));
    CLIENTS.iter().map(one).collect()
}

/// Returns the names of the settings.
pub(crate) fn settings() -> Vec<CompletionCandidate> {
    KEYS.iter().map(|key| CompletionCandidate::new(key.name).help(Some(key.doc.into()))).collect()
}

fn with_vault(
    list: impl FnOnce(&CommandContext) -> Option<Vec<CompletionCandidate>>,
) -> Vec<CompletionCandidate> {
    let args = GlobalArgs::for_completions();
    let settings = AppSettings::load(&args);
    let printer = Printer::new(OutputFormat::Plain, Verbosity::Quiet, ColorWhen::Never);
    let context = CommandContext::new(printer, args, settings, "completions");
    list(&context).unwrap_or_default()
}
