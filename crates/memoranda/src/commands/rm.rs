//! `memoranda rm`: delete notes and folders; the history keeps them.

use clap_complete::engine::ArgValueCompleter;
use memoranda_engine::{DeleteOutcome, DeleteRequest, NoteLocation, ResolveIntent};
use serde::Serialize;

use crate::complete;
use crate::context::{CommandContext, NoteOrFolder};
use crate::error::{CommandError, Result, quoted};
use crate::exit::Exit;
use crate::json_output::{PlaceJson, short_id};
use crate::output::{FAINT, OutputFormat, PLACE, counted, visible};

/// Delete notes, or folders with all notes and files in them.
///
/// Hidden and ignored files of a folder stay where they are, unless a tool wrote them. Deleted
/// notes stay in the history until `memoranda vacuum`: `memoranda restore` and `memoranda undo`
/// bring them back. Asks before it deletes a folder or several notes.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda rm 'Q3 plan'
  memoranda rm -n drafts/
  memoranda rm -y drafts/ old.md

JSON (--json):
  {deleted: [{project, path}], left: [path], commits: [id], dry_run}")]
pub(crate) struct Args {
    /// Paths, titles or permalinks of notes, or folders.
    #[arg(value_name = "NOTE|FOLDER", required = true, add = ArgValueCompleter::new(complete::notes))]
    notes: Vec<String>,

    /// Only say what would be deleted.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize, Default)]
struct DeletedJson {
    deleted: Vec<PlaceJson>,
    left: Vec<String>,
    commits: Vec<String>,
    dry_run: bool,
}

/// Deletes them.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let mut folders = 0;
    let mut places: Vec<NoteLocation> = Vec::new();
    for name in &args.notes {
        let place = match context.resolve_note_or_folder(memory, name, ResolveIntent::Change)? {
            NoteOrFolder::Note(place) => place,
            NoteOrFolder::Folder(place) => {
                folders += 1;
                place
            }
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut files = Vec::new();
    for place in &places {
        files.extend(memory.plan_delete(place)?);
    }
    files.sort();
    if args.dry_run {
        return print_planned(context, &files);
    }
    if folders > 0 || files.len() > 1 {
        context.confirm(&format!("Delete {}?", counted(files.len(), "file")))?;
    }
    let mut json = DeletedJson { dry_run: false, ..DeletedJson::default() };
    for place in places {
        let request = DeleteRequest { place, expected: None };
        match memory.delete(&context.author(), &request)? {
            DeleteOutcome::Deleted(deleted) => {
                json.deleted.extend(deleted.files.iter().map(PlaceJson::from));
                let commit = deleted.commit.as_ref().map(short_id).unwrap_or_default();
                json.commits.extend(deleted.commit.map(|commit| commit.id.to_string()));
                print_deleted(context, &request.place, &deleted.files, &commit)?;
                if !deleted.left.is_empty() {
                    context.printer.warn(left_behind(&deleted.left));
                }
                json.left.extend(deleted.left);
            }
            DeleteOutcome::Conflict(place, _) => {
                let message = format!("{place} was changed at the same moment; it was not deleted");
                return Err(CommandError::new(Exit::Conflict, message).hint("do it again"));
            }
        }
    }
    if context.is_json() {
        context.printer.json(&json)?;
    }
    Ok(Exit::Success)
}

/// Says what stayed of a folder.
pub(super) fn left_behind(left: &[String]) -> String {
    let named: Vec<&str> = left.iter().map(String::as_str).take(5).collect();
    let more = if left.len() > named.len() { ", …" } else { "" };
    let count = counted(left.len(), "hidden or ignored file");
    format!("{count} left where it was: {}{more}", visible(&named.join(", ")))
}

fn print_planned(context: &CommandContext, files: &[NoteLocation]) -> Result<Exit> {
    let printer = &context.printer;
    if context.is_json() {
        let deleted = files.iter().map(PlaceJson::from).collect();
        printer.json(&DeletedJson { deleted, dry_run: true, ..DeletedJson::default() })?;
        return Ok(Exit::Success);
    }
    for file in files {
        match printer.format {
            OutputFormat::Plain => printer.line(file.to_string())?,
            OutputFormat::Pretty | OutputFormat::Json => {
                printer.hanging(format!("Would delete {file}"), 2)?
            }
        }
    }
    Ok(Exit::Success)
}

fn print_deleted(
    context: &CommandContext,
    place: &NoteLocation,
    files: &[NoteLocation],
    commit: &str,
) -> Result<()> {
    if context.is_json() {
        return Ok(());
    }
    let what = match files {
        [only] if only == place => format!("{PLACE}{place}{PLACE:#}"),
        files => format!("{PLACE}{place}/{PLACE:#} with {}", counted(files.len(), "file")),
    };
    let sentence = format!("Deleted {what} {FAINT}(commit {commit}){FAINT:#}");
    context.printer.done(&(), sentence)?;
    match files {
        [only] if only == place => context
            .printer
            .hint(format!("`memoranda restore {}` brings it back", quoted(&place.to_string()))),
        _ => context.printer.hint(format!("`memoranda undo {commit}` brings it back")),
    }
    Ok(())
}
