//! Completions that know the vault: projects, notes, clients and settings.
//!
//! The shell runs the program for each completion. It never scans files and never creates a vault;
//! if the vault cannot be opened, there are no suggestions.

use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate;
use memoranda_clients::setup::{CLIENTS, ClientSpec};
use memoranda_engine::{ListFilter, ListOrder, ListRequest};

use crate::cli::GlobalArgs;
use crate::config::{AppSettings, KEYS};
use crate::context::CommandContext;
use crate::output::{ColorWhen, OutputFormat, Printer, Verbosity};

/// Maximum number of notes that are suggested.
const MAX_NOTES: usize = 200;

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
            filter: ListFilter {
                project: None,
                folder: None,
                note_type: None,
                tag: None,
                since: None,
            },
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
