//! `memoranda restore`: bring back a note, or an earlier version of it.

use clap_complete::engine::ArgValueCompleter;
use memoranda_engine::RestoreOutcome;
use serde::Serialize;

use crate::complete;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::json_output::short_id;
use crate::output::{FAINT, PLACE};
use crate::time;

/// Bring back a deleted note, or an earlier version of one.
///
/// Without --at: a deleted note as it was last, an existing one as it was before its last change.
/// The replaced version stays in the history.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda restore plans/q3.md
  memoranda restore plans/q3.md --at yesterday
  memoranda restore plans/q3.md --at 8f2kq0zm

JSON (--json):
  {project, path, changed, version, replaced, commit}")]
pub(crate) struct Args {
    /// The note: its path, permalink or title.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::restorable_notes))]
    note: String,

    /// As it was at this time, or after this commit.
    #[arg(long, value_name = "COMMIT|TIME")]
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

/// Brings it back.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let moment = args.at.as_deref().map(|at| time::parse_point_in_time(memory, at)).transpose()?;
    let (project, name) = context.strip_project_prefix(&args.note)?;
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
