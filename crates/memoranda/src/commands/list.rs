//! `memoranda list` and `memoranda recent`: what notes there are.

use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::type_key;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{ListFilter, ListOrder, ListPage, ListRequest, Memory};
use serde::Serialize;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, Format, PLACE, STRONG};
use crate::session::Session;
use crate::table::{self, Column};
use crate::time;
use crate::wire::SummaryJson;

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
    #[arg(value_name = "FOLDER")]
    folder: Option<String>,

    /// Only notes of this type.
    #[arg(long = "type", value_name = "TYPE")]
    note_type: Option<String>,

    /// Only notes with this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// How many at the most.
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

    /// How many at the most.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

#[derive(Serialize)]
struct PageJson {
    notes: Vec<SummaryJson>,
    has_more: bool,
}

/// Lists notes by their path.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    let (project, folder) = match &args.folder {
        Some(folder) => folder_meant(session, memory, folder.trim_matches('/'))?,
        None => (session.project_asked(memory)?, None),
    };
    let request = ListRequest {
        filter: ListFilter {
            project,
            folder,
            note_type: args.note_type.as_deref().map(type_key),
            tag: args.tag.clone(),
            since: None,
        },
        order: ListOrder::Path,
        limit: args.limit,
        offset: 0,
    };
    print(session, &memory.list(&request)?)
}

/// Lists notes by their last change.
pub(crate) fn recent(session: &Session, args: &RecentArgs) -> Result<Exit> {
    let since: Timestamp = time::parse(&args.since)?;
    let memory = session.reading()?;
    let request = ListRequest {
        filter: ListFilter {
            project: session.project_asked(memory)?,
            folder: None,
            note_type: args.note_type.as_deref().map(type_key),
            tag: None,
            since: Some(since),
        },
        order: ListOrder::Newest,
        limit: args.limit,
        offset: 0,
    };
    print(session, &memory.list(&request)?)
}

/// A folder of the default project, a project, or a folder of a project that is named first.
fn folder_meant(
    session: &Session,
    memory: &Memory,
    name: &str,
) -> Result<(Option<ProjectName>, Option<NotePath>)> {
    if name.is_empty() {
        return Ok((session.project_asked(memory)?, None));
    }
    for (project, path) in session.places(memory, name)? {
        let path = NotePath::parse(&path).map_err(memoranda_engine::EngineError::from)?;
        if let Some(path) = memory.folder_at(&project, &path)? {
            return Ok((Some(project), Some(path)));
        }
    }
    if session.settings()?.project.is_none()
        && let Ok(project) = memory.store().project(name)
    {
        return Ok((Some(project.name), None));
    }
    let message = format!("there is no folder or project {name:?}");
    Err(CommandError::new(Exit::NotFound, message)
        .hint("`memoranda project list` lists the projects"))
}

fn print(session: &Session, page: &ListPage) -> Result<Exit> {
    let printer = &session.printer;
    if session.is_json() {
        let notes = page.notes.iter().map(SummaryJson::from).collect();
        printer.json(&PageJson { notes, has_more: page.has_more })?;
        return Ok(Exit::Done);
    }
    if page.notes.is_empty() {
        printer.say("No notes.");
        return Ok(Exit::Done);
    }
    let now = time::now();
    let columns = [
        Column::text("TITLE", STRONG),
        Column::text("PLACE", PLACE),
        Column::word("TYPE", FAINT),
        Column::word("CHANGED", FAINT),
    ];
    let row = |note: &memoranda_engine::FileSummary| {
        let changed = match printer.format {
            Format::Plain => note.updated.to_string(),
            Format::Pretty | Format::Json => time::ago(note.updated, &now),
        };
        let place = format!("{}/{}", note.project, note.path);
        vec![note.title.clone(), place, note.note_type.clone(), changed]
    };
    table::print(printer, &columns, &page.notes.iter().map(row).collect::<Vec<_>>())?;
    if page.has_more {
        printer.say("There are more: `-n N` shows more.");
    }
    Ok(Exit::Done)
}
