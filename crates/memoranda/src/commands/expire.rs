//! `memoranda expire`: let go of what nobody used for long.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{ExpireRequest, Place};
use memoranda_tools::ToolSettings;
use serde::Serialize;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, PLACE, counted, visible};
use crate::session::Session;
use crate::time;
use crate::wire::{CommitJson, PlaceJson, short};

/// Remove memories that were neither changed nor viewed for so many days.
///
/// Only in the project `memories` unless --project says otherwise, and only when you call it:
/// nothing expires by itself. It is one commit, which `memoranda undo COMMIT` takes back. Asks
/// first.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda expire --days 90 --dry-run
  memoranda expire --days 90 -y

JSON (--json):
  {notes: [{project, path, last_used}], commit: COMMIT or null, dry_run}; a COMMIT as in
  `memoranda log`")]
pub(crate) struct Args {
    /// How many days without use are enough.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    days: u32,

    /// Only say what would be removed.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct ExpiredJson {
    notes: Vec<NoteJson>,
    commit: Option<CommitJson>,
    dry_run: bool,
}

#[derive(Serialize)]
struct NoteJson {
    #[serde(flatten)]
    place: PlaceJson,
    last_used: jiff::Timestamp,
}

type Unused = (Place, jiff::Timestamp);

/// Removes them.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    let project = match session.project_asked(memory)? {
        Some(project) => project,
        None => ToolSettings::standard().memories,
    };
    if !exists(memory, &project)? {
        let json = wire(&[], None, args.dry_run);
        session.printer.done(&json, format!("Nothing to remove: no project {project} yet"))?;
        return Ok(Exit::Done);
    }
    let request = ExpireRequest { project, days: args.days };
    let planned = memory.plan_expire(&request)?;
    if !session.is_json() {
        for (place, last) in &planned {
            let last = time::local(*last);
            let place = visible(&place.to_string()).into_owned();
            session
                .printer
                .say(format!("{PLACE}{place}{PLACE:#} {FAINT}last used {last}{FAINT:#}"));
        }
    }
    let unused = format!("{} unused for {} days", counted(planned.len(), "note"), args.days);
    if args.dry_run || planned.is_empty() {
        let sentence = if planned.is_empty() {
            format!("Nothing in {} is unused for {} days", request.project, args.days)
        } else {
            format!("Would remove {unused}")
        };
        session.printer.done(&wire(&planned, None, args.dry_run), sentence)?;
        return Ok(Exit::Done);
    }
    session.confirm(&format!("Remove {unused}? They can be restored."))?;
    let expired = memory.expire(&session.who(), &request)?;
    let Some(commit) = &expired.commit else {
        return Err(CommandError::new(
            Exit::Conflict,
            "something was changed meanwhile; nothing was removed",
        )
        .hint("try again"));
    };
    let by = short(commit);
    let unused = format!("{} unused for {} days", counted(expired.notes.len(), "note"), args.days);
    let sentence = format!("Removed {unused} {FAINT}(commit {by}){FAINT:#}");
    session.printer.done(&wire(&expired.notes, Some(CommitJson::from(commit)), false), sentence)?;
    session.hint_undo(&by);
    Ok(Exit::Done)
}

fn exists(memory: &memoranda_engine::Memory, project: &ProjectName) -> Result<bool> {
    Ok(memory.projects()?.iter().any(|info| info.project.name == *project))
}

fn wire(notes: &[Unused], commit: Option<CommitJson>, dry_run: bool) -> ExpiredJson {
    let note =
        |(place, last): &Unused| NoteJson { place: PlaceJson::from(place), last_used: *last };
    ExpiredJson { notes: notes.iter().map(note).collect(), commit, dry_run }
}
