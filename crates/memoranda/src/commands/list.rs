//! `memoranda list` and `memoranda recent`: what notes there are.

use clap_complete::engine::ArgValueCandidates;
use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::type_key;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{FileSummary, ListFilter, ListOrder, ListPage, ListRequest, Memory};
use serde::Serialize;

use crate::complete;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::NoteSummaryJson;
use crate::output::{FAINT, OutputFormat, PLACE, STRONG};
use crate::table::{self, TableColumn};
use crate::time;

/// List the notes of a folder, a project or all projects.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda list
  memoranda list plans --tag work
  memoranda list -p work --type decision --plain | cut -f2

JSON (--json):
  {notes: [{project, path, title, permalink, type, created, updated, size, version}], has_more}")]
pub(crate) struct Args {
    /// Only notes in this folder, or in the project of this name.
    #[arg(value_name = "FOLDER", add = ArgValueCandidates::new(complete::projects))]
    folder: Option<String>,

    /// Only notes of this type.
    #[arg(long = "type", value_name = "TYPE")]
    note_type: Option<String>,

    /// Only notes with this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// Maximum number of entries.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000)]
    limit: usize,
}

/// List the notes that changed last.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda recent
  memoranda recent --since yesterday -p work

JSON (--json):
  as of `memoranda list`")]
pub(crate) struct RecentArgs {
    /// Since when: 7d, yesterday, 2026-01-31.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: String,

    /// Only notes of this type.
    #[arg(long = "type", value_name = "TYPE")]
    note_type: Option<String>,

    /// Maximum number of entries.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

#[derive(Serialize)]
struct NoteListJson {
    notes: Vec<NoteSummaryJson>,
    has_more: bool,
}

/// Lists notes by their path.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let (project, folder) = match &args.folder {
        Some(folder) => resolve_folder(context, memory, folder.trim_matches('/'))?,
        None => (context.requested_project(memory)?, None),
    };
    let request = ListRequest {
        filter: ListFilter {
            project,
            folder,
            note_type: args.note_type.as_deref().map(type_key),
            tag: args.tag.clone(),
            ..ListFilter::default()
        },
        order: ListOrder::Path,
        limit: args.limit,
        offset: 0,
    };
    print(context, &memory.list(&request)?)
}

/// Lists notes by their last change.
pub(crate) fn recent(context: &CommandContext, args: &RecentArgs) -> Result<Exit> {
    let since: Timestamp = time::parse(&args.since)?;
    let memory = context.open_synced()?;
    let request = ListRequest {
        filter: ListFilter {
            project: context.requested_project(memory)?,
            note_type: args.note_type.as_deref().map(type_key),
            since: Some(since),
            without_templates: args.note_type.is_none(),
            ..ListFilter::default()
        },
        order: ListOrder::Newest,
        limit: args.limit,
        offset: 0,
    };
    print(context, &memory.list(&request)?)
}

/// A folder of the default project, a project, or a folder of a project that is named first.
fn resolve_folder(
    context: &CommandContext,
    memory: &Memory,
    name: &str,
) -> Result<(Option<ProjectName>, Option<NotePath>)> {
    if name.is_empty() {
        return Ok((context.requested_project(memory)?, None));
    }
    for (project, path) in context.candidate_locations(memory, name)? {
        let path = NotePath::parse(&path).map_err(memoranda_engine::EngineError::from)?;
        if let Some(path) = memory.folder_at(&project, &path)? {
            return Ok((Some(project), Some(path)));
        }
    }
    if context.settings()?.project.is_none()
        && let Ok(project) = memory.project(name)
    {
        return Ok((Some(project.name), None));
    }
    let message = format!("there is no folder or project {name:?}");
    Err(CommandError::new(Exit::NotFound, message)
        .hint("`memoranda project list` lists the projects"))
}

/// Returns the folder of a note whose file has the name of its title, else the whole path.
fn folder_or_path(note: &FileSummary) -> String {
    let normalized = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let whole = format!("{}/{}", note.project, note.path);
    match whole.rsplit_once('/') {
        Some((folder, _)) if normalized(note.path.stem()) == normalized(&note.title) => {
            format!("{folder}/")
        }
        _ => whole,
    }
}

fn print(context: &CommandContext, page: &ListPage) -> Result<Exit> {
    context.start_pager();
    let printer = &context.printer;
    if context.is_json() {
        let notes = page.notes.iter().map(NoteSummaryJson::from).collect();
        printer.json(&NoteListJson { notes, has_more: page.has_more })?;
        return Ok(Exit::Success);
    }
    if page.notes.is_empty() {
        printer.say("No notes.");
        return Ok(Exit::Success);
    }
    let now = time::now();
    let columns = [
        TableColumn::text("TITLE", STRONG),
        TableColumn::path("PLACE", PLACE),
        TableColumn::optional("TYPE", FAINT),
        TableColumn::word("CHANGED", FAINT),
    ];
    let row = |note: &FileSummary| {
        let changed = match printer.format {
            OutputFormat::Plain => note.updated.to_string(),
            OutputFormat::Pretty | OutputFormat::Json => time::ago(note.updated, &now),
        };
        let place = match printer.format {
            OutputFormat::Plain => format!("{}/{}", note.project, note.path),
            OutputFormat::Pretty | OutputFormat::Json => folder_or_path(note),
        };
        vec![note.title.clone(), place, note.note_type.clone(), changed]
    };
    table::print(printer, &columns, &page.notes.iter().map(row).collect::<Vec<_>>())?;
    if page.has_more {
        printer.say("There are more: `-n N` shows more.");
    }
    Ok(Exit::Success)
}
