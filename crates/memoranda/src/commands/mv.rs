//! `memoranda mv`: move a note or a folder.

use clap_complete::engine::ArgValueCompleter;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    EngineError, MoveOutcome, MoveRequest, NoteLocation, ResolveIntent, name_in_project,
};
use serde::Serialize;

use crate::complete;
use crate::context::{CommandContext, NoteOrFolder};
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{PlaceJson, short_id};
use crate::output::{FAINT, PLACE, counted};

/// Move or rename a note, or a folder with all notes and files in it, within its project.
///
/// Hidden and ignored files of a folder stay where they are, unless a tool wrote them. A new path
/// that ends in a slash is a folder to move into. Nothing is overwritten.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda mv 'Q3 plan' plans/2026/q3.md
  memoranda mv q3.md archive/
  memoranda mv plans/ archive/plans

JSON (--json):
  {files: [{from: {project, path}, to: {project, path}}], left: [path], commit}")]
pub(crate) struct Args {
    /// A note's path, title or permalink, or a folder.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::notes))]
    note: String,

    /// The new path within the same project.
    #[arg(value_name = "NEWPATH")]
    to: String,
}

#[derive(Serialize)]
struct MovedJson {
    files: Vec<MovedFileJson>,
    left: Vec<String>,
    commit: Option<String>,
}

#[derive(Serialize)]
struct MovedFileJson {
    from: PlaceJson,
    to: PlaceJson,
}

/// Moves it.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let target = context.resolve_note_or_folder(memory, &args.note, ResolveIntent::Change)?;
    let (from, is_note) = match target {
        NoteOrFolder::Note(place) => (place, true),
        NoteOrFolder::Folder(place) => (place, false),
    };
    // The place may be typed as output shows it, with the project first.
    let typed = name_in_project(from.project.as_str(), &args.to).unwrap_or(&args.to);
    let mut to = match typed.strip_suffix('/') {
        // The project's own folder, as shells name it.
        None | Some(_) if matches!(typed, "" | "." | "./" | "/") => {
            from.path.file_name().to_owned()
        }
        Some(folder) => format!("{folder}/{}", from.path.file_name()),
        None => typed.to_owned(),
    };
    // With an extension behind it, `..` would be a name.
    NotePath::parse(to.trim_start_matches('/')).map_err(EngineError::from)?;
    let extension = from.path.extension();
    if is_note && !extension.is_empty() && !to.ends_with(&format!(".{extension}")) {
        to = format!("{to}.{extension}");
    }
    let to = NotePath::parse(to.trim_start_matches('/')).map_err(EngineError::from)?;
    memory.check_findable(&NoteLocation { project: from.project.clone(), path: to.clone() })?;
    match memory.move_notes(&context.author(), &MoveRequest::new(from, to))? {
        MoveOutcome::Moved(moved) => {
            let pair =
                |(from, to)| MovedFileJson { from: PlaceJson::from(from), to: PlaceJson::from(to) };
            let files = moved.files.iter().map(|(from, to)| pair((from, to))).collect();
            let json = MovedJson {
                files,
                left: moved.left.clone(),
                commit: moved.commit.as_ref().map(|commit| commit.id.to_string()),
            };
            let what = match moved.files.as_slice() {
                [(from, to)] => format!("{from} to {PLACE}{to}{PLACE:#}"),
                files => counted(files.len(), "file"),
            };
            let commit = moved.commit.as_ref().map(short_id).unwrap_or_default();
            let sentence = format!("Moved {what} {FAINT}(commit {commit}){FAINT:#}");
            context.printer.done(&json, sentence)?;
            if !moved.left.is_empty() {
                context.printer.warn(super::rm::left_behind(&moved.left));
            }
            Ok(Exit::Success)
        }
        MoveOutcome::Conflict(place, _) => Err(CommandError::new(
            Exit::Conflict,
            format!("{place} was changed; nothing was moved"),
        )),
        MoveOutcome::Exists(places) => {
            let place = places.first().map(ToString::to_string).unwrap_or_default();
            Err(CommandError::new(Exit::Conflict, format!("{place} exists; nothing was moved"))
                .hint("choose another path, or `memoranda rm` what is there"))
        }
    }
}
