//! `memoranda restore`: bring back a note, or an earlier version of it.

use clap_complete::engine::ArgValueCompleter;
use jiff::Timestamp;
use memoranda_engine::{Memory, NoteLocation, RestoreOutcome};
use serde::Serialize;

use super::undo::record_text;
use crate::complete;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::json_output::short_id;
use crate::output::{FAINT, OutputFormat, PLACE};
use crate::table::{self, TableColumn};
use crate::time;

/// Maximum number of deleted notes in a list.
const MAX_DELETED: usize = 50;

/// Bring back a deleted note, or an earlier version of one.
///
/// Without --at: a deleted note as it was last, an existing one as it was before its last change.
/// The replaced version stays in the history. Without a note: the list of what was deleted.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda restore
  memoranda restore plans/q3.md
  memoranda restore plans/q3.md --at yesterday
  memoranda restore plans/q3.md --at 8f2kq0zm

JSON (--json):
  {project, path, changed, version, replaced, commit}; without a note:
  {deleted: [{project, path, time}], has_more}")]
pub(crate) struct Args {
    /// The note: its path, permalink or title.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::restorable_notes))]
    note: Option<String>,

    /// As it was at this time, or after this commit.
    #[arg(long, value_name = "COMMIT|TIME", requires = "note")]
    at: Option<String>,
}

#[derive(Serialize)]
struct RestoredJson {
    project: String,
    path: String,
    changed: bool,
    version: String,
    replaced: Option<String>,
    commit: Option<String>,
}

#[derive(Serialize)]
struct DeletedNotesJson {
    deleted: Vec<DeletedNoteJson>,
    has_more: bool,
}

#[derive(Serialize)]
struct DeletedNoteJson {
    project: String,
    path: String,
    time: Timestamp,
}

/// Brings it back.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let Some(note) = &args.note else { return list_deleted(context, memory) };
    let moment = args.at.as_deref().map(|at| time::parse_point_in_time(memory, at)).transpose()?;
    let (project, name) = context.strip_project_prefix(note)?;
    match memory.restore(&context.author(), project, &name, moment)? {
        RestoreOutcome::Restored(restored) => {
            let place = &restored.place;
            let json = RestoredJson {
                project: place.project.to_string(),
                path: place.path.to_string(),
                changed: true,
                version: restored.hash.to_string(),
                replaced: restored.replaced.map(|hash| hash.to_string()),
                commit: Some(restored.commit.id.to_string()),
            };
            let commit = short_id(&restored.commit);
            context.printer.done(
                &json,
                format!("Restored {PLACE}{place}{PLACE:#} {FAINT}(commit {commit}){FAINT:#}"),
            )?;
        }
        RestoreOutcome::Unchanged(place, hash) => {
            let json = RestoredJson {
                project: place.project.to_string(),
                path: place.path.to_string(),
                changed: false,
                version: hash.to_string(),
                replaced: None,
                commit: None,
            };
            context.printer.done(&json, format!("{place} is that version already"))?;
        }
    }
    Ok(Exit::Success)
}

/// Prints what was deleted, the last first.
fn list_deleted(context: &CommandContext, memory: &Memory) -> Result<Exit> {
    let printer = &context.printer;
    let only = context.requested_project(memory)?;
    let mut found: Vec<(NoteLocation, Timestamp)> = Vec::new();
    for project in memory.list_projects()? {
        if only.as_ref().is_some_and(|only| *only != project.name) {
            continue;
        }
        for (path, time) in memory.snapshot()?.deleted(&project.name, None)? {
            found.push((NoteLocation { project: project.name.clone(), path }, time));
        }
    }
    found.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.path.cmp(&b.0.path)));
    let has_more = found.len() > MAX_DELETED;
    found.truncate(MAX_DELETED);
    if context.is_json() {
        let json = |(place, time): (NoteLocation, Timestamp)| DeletedNoteJson {
            project: place.project.to_string(),
            path: place.path.to_string(),
            time,
        };
        let deleted = found.into_iter().map(json).collect();
        printer.json(&DeletedNotesJson { deleted, has_more })?;
        return Ok(Exit::Success);
    }
    if found.is_empty() {
        printer.say("Nothing was deleted.");
        return Ok(Exit::Success);
    }
    context.start_pager();
    let now = time::now();
    let columns = [
        TableColumn::word("DELETED", FAINT),
        TableColumn::path("NOTE", PLACE),
        TableColumn::optional("TEXT", anstyle::Style::new()),
    ];
    let row = |(place, time): &(NoteLocation, Timestamp)| -> Result<Vec<String>> {
        // The name of a record is an id.
        let last = memory.revisions(place, 1)?.into_iter().next();
        let text = last.and_then(|last| record_text(memory, &last.change, *time));
        let when = match printer.format {
            OutputFormat::Plain => time.to_string(),
            OutputFormat::Pretty | OutputFormat::Json => time::ago(*time, &now),
        };
        Ok(vec![when, place.to_string(), text.unwrap_or_default()])
    };
    table::print(printer, &columns, &found.iter().map(row).collect::<Result<Vec<_>>>()?)?;
    if has_more {
        printer
            .say(format!("There are more than {MAX_DELETED}; `memoranda log` shows everything."));
    }
    context.hint_after("`memoranda restore NOTE` brings one back");
    Ok(Exit::Success)
}
