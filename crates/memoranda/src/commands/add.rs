//! `memoranda add`: remember something.

use memoranda_engine::AddRequest;
use serde::Serialize;

use crate::context::CommandContext;
use crate::env;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::short_id;
use crate::output::{FAINT, PLACE, is_piped_in, read_stdin};

/// Remember something: make a new note.
///
/// The text comes from the words given, or from standard input with `-` or a pipe. Without a
/// title the note is called by the first line of its text.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda add 'The API allows 50 requests a second'
  memoranda add --title 'Q3 plan' --folder plans --tag work < plan.md
  git log -1 | memoranda add --title 'Last commit' -

JSON (--json):
  {project, path, permalink, version, commit}")]
pub(crate) struct Args {
    /// The text; `-` reads it from standard input. After `--` everything is text.
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,

    /// Further words of the text.
    #[arg(hide = true)]
    more: Vec<String>,

    /// Title of the note.
    #[arg(short, long)]
    title: Option<String>,

    /// The folder within the project.
    #[arg(short, long, value_name = "FOLDER", default_value = "", hide_default_value = true)]
    folder: String,

    /// A tag; may be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Type of the note.
    #[arg(long = "type", value_name = "TYPE")]
    note_type: Option<String>,
}

#[derive(Serialize)]
struct AddedJson {
    project: String,
    path: String,
    permalink: String,
    version: String,
    commit: String,
}

/// Makes the note.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let words: Vec<String> = args.text.iter().chain(&args.more).cloned().collect();
    let text = input_text(&words)?;
    if text.trim().is_empty() {
        return Err(CommandError::usage("there is no text to remember")
            .hint("`memoranda add 'some text'`, or pipe it in"));
    }
    if args.folder.split(['/', '\\']).any(|part| part.trim() == "..") {
        return Err(CommandError::usage(format!("{:?} is no folder of a project", args.folder))
            .hint("`--folder` takes a path within the project, without `..`"));
    }
    let is_first = !context.has_vault()?;
    let memory = context.open_or_create()?;
    let request = AddRequest {
        project: context.project_for_new_notes(memory)?,
        title: args.title.clone(),
        folder: args.folder.clone(),
        text,
        tags: args.tags.clone(),
        note_type: args.note_type.clone(),
    };
    let written = memory.add(&context.author(), &request)?;
    let file = memory.snapshot()?.file(&written.place.project, &written.place.path)?;
    let added = AddedJson {
        project: written.place.project.to_string(),
        path: written.place.path.to_string(),
        permalink: file.map(|file| file.permalink).unwrap_or_default(),
        version: written.hash.to_string(),
        commit: written.commit.id.to_string(),
    };
    let commit = short_id(&written.commit);
    let place = &written.place;
    context.printer.done(
        &added,
        format!("Remembered {PLACE}{place}{PLACE:#} {FAINT}(commit {commit}){FAINT:#}"),
    )?;
    if is_first {
        context.hint_after("`memoranda setup` connects your agents to this memory");
    }
    Ok(Exit::Success)
}

fn input_text(words: &[String]) -> Result<String> {
    let from_stdin = match words {
        [] => is_piped_in(),
        [only] => only == "-",
        _ => false,
    };
    // A list item is text; a mistyped flag is not.
    let is_flag = |word: &&String| {
        word.starts_with('-') && word.len() > 1 && !word.contains(char::is_whitespace)
    };
    if let Some(flag) = words.iter().find(is_flag).filter(|_| !env::has_end_of_flags()) {
        return Err(CommandError::usage(format!("there is no flag {flag:?}"))
            .hint("`memoranda add --help` lists the flags; after `--` everything is text"));
    }
    if !from_stdin {
        return Ok(words.join(" "));
    }
    String::from_utf8(read_stdin()?)
        .map_err(|_| CommandError::usage("standard input is not UTF-8 text"))
}
