//! `memoranda expire`: let go of what nobody used for long.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{ExpireRequest, NoteLocation};
use memoranda_tools::ToolSettings;
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{CommitJson, PlaceJson, short_id};
use crate::output::{FAINT, PLACE, counted, visible};
use crate::time;

/// Remove old memories: those neither changed nor viewed for so many days.
///
/// Only in the project `memories` unless --project says otherwise. It is one commit, which
/// `memoranda undo COMMIT` takes back. Asks first. Servers do the same once a day if
/// `memory.expire_days` is set; without it nothing expires by itself.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda expire --dry-run
  memoranda expire --days 30 -y
  memoranda config set memory.expire_days 90     from now on, by itself

JSON (--json):
  {notes: [{project, path, last_used}], commit: COMMIT or null, dry_run}; a COMMIT as in
  `memoranda log`")]
pub(crate) struct Args {
    /// Number of days without use; by default `memory.expire_days`, or 90.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    days: Option<u32>,

    /// Only say what would be removed.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct ExpiredJson {
    notes: Vec<ExpiredNoteJson>,
    commit: Option<CommitJson>,
    dry_run: bool,
}

#[derive(Serialize)]
struct ExpiredNoteJson {
    #[serde(flatten)]
    place: PlaceJson,
    last_used: jiff::Timestamp,
}

/// Number of days if neither the caller nor the settings name one.
const DEFAULT_DAYS: u32 = 90;

type UnusedNote = (NoteLocation, jiff::Timestamp);

/// Removes them.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let project = match context.requested_project(memory)? {
        Some(project) => project,
        None => ToolSettings::standard().memories,
    };
    if !exists(memory, &project)? {
        let json = expired_json(&[], None, args.dry_run);
        context.printer.done(&json, format!("Nothing to remove: no project {project} yet"))?;
        return Ok(Exit::Success);
    }
    let configured = Some(context.settings()?.expire_days()).filter(|days| *days > 0);
    let days = args.days.or(configured).unwrap_or(DEFAULT_DAYS);
    let request = ExpireRequest { project, days };
    let planned = memory.plan_expire(&request)?;
    if !context.is_json() {
        for (place, last) in &planned {
            let last = time::local(*last);
            let place = visible(&place.to_string()).into_owned();
            context
                .printer
                .say(format!("{PLACE}{place}{PLACE:#} {FAINT}last used {last}{FAINT:#}"));
        }
    }
    let unused = format!("{} unused for {} days", counted(planned.len(), "note"), days);
    if args.dry_run || planned.is_empty() {
        let sentence = if planned.is_empty() {
            format!("Nothing in {} is unused for {days} days", request.project)
        } else {
            format!("Would remove {unused}")
        };
        context.printer.done(&expired_json(&planned, None, args.dry_run), sentence)?;
        return Ok(Exit::Success);
    }
    context.confirm(&format!("Remove {unused}? They can be restored."))?;
    let expired = memory.expire(&context.author(), &request)?;
    let Some(commit) = &expired.commit else {
        return Err(CommandError::new(
            Exit::Conflict,
            "something was changed meanwhile; nothing was removed",
        )
        .hint("try again"));
    };
    let by = short_id(commit);
    let unused = format!("{} unused for {} days", counted(expired.notes.len(), "note"), days);
    let sentence = format!("Removed {unused} {FAINT}(commit {by}){FAINT:#}");
    context
        .printer
        .done(&expired_json(&expired.notes, Some(CommitJson::from(commit)), false), sentence)?;
    context.hint_undo(&by);
    Ok(Exit::Success)
}

fn exists(memory: &memoranda_engine::Memory, project: &ProjectName) -> Result<bool> {
    Ok(memory.projects()?.iter().any(|info| info.project.name == *project))
}

fn expired_json(notes: &[UnusedNote], commit: Option<CommitJson>, dry_run: bool) -> ExpiredJson {
    let note = |(place, last): &UnusedNote| ExpiredNoteJson {
        place: PlaceJson::from(place),
        last_used: *last,
    };
    ExpiredJson { notes: notes.iter().map(note).collect(), commit, dry_run }
}
