//! `memoranda edit`: change a note, in an editor or at once.

use clap_complete::engine::ArgValueCompleter;
use std::path::Path;

use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use memoranda_engine::core::note::MetaValue;
use memoranda_engine::core::note::edit::NoteEdit;
use memoranda_engine::{
    EditOutcome, EditReport, EditRequest, Memory, NoteLocation, ReadNote, ResolveIntent, WriteMode,
    WriteOutcome, WriteRequest,
};
use serde::Serialize;

use crate::complete;
use crate::context::CommandContext;
use crate::error::{CommandError, Result, quoted};
use crate::exit::Exit;
use crate::json_output::short_id;
use crate::output::{FAINT, PLACE, read_stdin};
use crate::{diff_color, editor, files};

/// Change a note: in your editor, or at once with --append, --replace and --set.
///
/// The editor gets a copy. If someone changed the note meanwhile, nothing is overwritten: the
/// copy is kept, the difference shown, and the command ends with exit code 4. Flags that change
/// at once may be combined; they are made together or not at all.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda edit 'Q3 plan'
  memoranda edit 'Q3 plan' --append '- [decision] Ship in May #release'
  memoranda edit main/plans/q3.md --replace 'in May' 'in June' --set status=late
  memoranda edit 'Q3 plan' --set status=            (removes the key)
  echo 'more' | memoranda edit 'Q3 plan' --append -

JSON (--json):
  {project, path, changed, before, after, commit}; commit is null if nothing changed")]
pub(crate) struct Args {
    /// Path, title or permalink.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::notes))]
    note: String,

    /// Add text at the end; `-` reads it from standard input.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    append: Vec<String>,

    /// Replace a text that occurs exactly once.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], allow_hyphen_values = true)]
    replace: Vec<String>,

    /// Give a frontmatter key a value; `key=` removes it, `tags=a,b` is a list.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Serialize)]
struct EditedJson {
    project: String,
    path: String,
    changed: bool,
    before: String,
    after: String,
    commit: Option<String>,
}

/// Changes the note.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let edits = requested_edits(args)?;
    let memory = context.open_synced()?;
    let place = context.resolve_note(memory, &args.note, ResolveIntent::Change)?.place;
    if edits.is_empty() {
        return edit_in_editor(context, memory, &place);
    }
    let request = EditRequest { place, edits, expected: None, message: None };
    match memory.edit(&context.author(), &request)? {
        EditOutcome::Edited(edited) => print_edited(context, &edited),
        EditOutcome::Unchanged(place, hash) => print_unchanged(context, &place, &hash.to_string()),
        EditOutcome::Conflict(place, _) => {
            Err(CommandError::new(Exit::Conflict, format!("{place} changed at the same moment"))
                .hint("do it again"))
        }
    }
}

/// Returns the edits of the flags: replacements, additions, keys.
fn requested_edits(args: &Args) -> Result<Vec<NoteEdit>> {
    let mut edits = Vec::new();
    for pair in args.replace.chunks_exact(2) {
        let (find, replace) = (pair[0].clone(), pair[1].clone());
        edits.push(NoteEdit::FindReplace { find, replace, expected: 1 });
    }
    for text in &args.append {
        let text = match text.as_str() {
            "-" => String::from_utf8(read_stdin()?)
                .map_err(|_| CommandError::usage("standard input is not UTF-8 text"))?,
            _ => text.clone(),
        };
        edits.push(NoteEdit::Append { text });
    }
    for pair in &args.set {
        let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.trim().is_empty())
        else {
            return Err(CommandError::usage(format!("--set {pair:?} is not KEY=VALUE"))
                .hint("such as `--set status=done`"));
        };
        let (key, value) = (key.trim().to_owned(), value.trim());
        edits.push(match value {
            "" => NoteEdit::RemoveKey { key },
            value => NoteEdit::SetKey { value: frontmatter_value(&key, value), key },
        });
    }
    Ok(edits)
}

fn frontmatter_value(key: &str, value: &str) -> MetaValue {
    match key {
        "tags" | "aliases" => {
            let words = value.split(',').map(|word| word.trim().trim_start_matches('#'));
            let words = words.filter(|word| !word.is_empty());
            MetaValue::List(words.map(|word| MetaValue::Text(word.to_owned())).collect())
        }
        _ => MetaValue::Text(value.to_owned()),
    }
}

fn edit_in_editor(context: &CommandContext, memory: &Memory, place: &NoteLocation) -> Result<Exit> {
    if context.args.no_input {
        return Err(CommandError::usage("an editor needs a person, and --no-input was given")
            .hint("`--append`, `--replace` and `--set` change a note at once"));
    }
    let note = memory.read_at(place)?;
    let folder = files::private_folder("memoranda-");
    let folder = folder.map_err(|e| CommandError::io("make a copy for the editor", &e))?;
    let copy = folder.path().join(place.path.file_name());
    files::replace(&copy, &note.bytes)?;
    editor::open(context.settings()?.editor(), &copy)?;
    let edited = files::read(&copy)?;
    let request = WriteRequest {
        project: place.project.clone(),
        path: place.path.clone(),
        content: edited.clone(),
        mode: WriteMode::OverwriteVersion(note.hash),
        message: None,
    };
    if edited == note.bytes {
        return print_unchanged(context, place, &note.hash.to_string());
    }
    match memory.write(&context.author(), &request) {
        Ok(WriteOutcome::Written(written)) => print_edited(
            context,
            &EditReport {
                place: written.place,
                before: note.hash,
                after: written.hash,
                commit: written.commit,
            },
        ),
        Ok(WriteOutcome::Unchanged(place, hash)) => {
            print_unchanged(context, &place, &hash.to_string())
        }
        Ok(WriteOutcome::Exists(..) | WriteOutcome::Conflict(..)) => {
            let kept = folder.keep().join(place.path.file_name());
            Err(conflict_error(context, memory, &note, &kept)?)
        }
        Err(error) => {
            let kept = folder.keep().join(place.path.file_name());
            let error = CommandError::from(error);
            Err(error.hint(format!("your text is kept in {}", kept.display())))
        }
    }
}

/// Shows what someone else did meanwhile, and says what to do.
fn conflict_error(
    context: &CommandContext,
    memory: &Memory,
    base: &ReadNote,
    kept: &Path,
) -> Result<CommandError> {
    let place = &base.place;
    let now = memory.read_at(place).map(|note| note.lossy_text().into_owned()).unwrap_or_default();
    let labels = DiffLabels { before: "when you began", after: "now" };
    let theirs = unified_diff(&base.lossy_text(), &now, 3, labels);
    context.printer.say(format!("What changed in {place} while you edited:"));
    if !context.is_json() {
        diff_color::print_diff(&context.printer, &theirs)?;
    }
    let name = quoted(&place.to_string());
    let message = format!("{place} was changed while you edited it; nothing was overwritten");
    Ok(CommandError::new(Exit::Conflict, message)
        .hint(format!("your text is kept in {}", kept.display()))
        .hint(format!("`memoranda edit {name}` again, and take over what you wrote")))
}

fn print_edited(context: &CommandContext, edited: &EditReport) -> Result<Exit> {
    let place = &edited.place;
    let json = EditedJson {
        project: place.project.to_string(),
        path: place.path.to_string(),
        changed: true,
        before: edited.before.to_string(),
        after: edited.after.to_string(),
        commit: Some(edited.commit.id.to_string()),
    };
    let commit = short_id(&edited.commit);
    let sentence = format!("Changed {PLACE}{place}{PLACE:#} {FAINT}(commit {commit}){FAINT:#}");
    context.printer.done(&json, sentence)?;
    Ok(Exit::Success)
}

fn print_unchanged(context: &CommandContext, place: &NoteLocation, version: &str) -> Result<Exit> {
    let json = EditedJson {
        project: place.project.to_string(),
        path: place.path.to_string(),
        changed: false,
        before: version.to_owned(),
        after: version.to_owned(),
        commit: None,
    };
    context.printer.done(&json, format!("{place} is as it was; nothing to change"))?;
    Ok(Exit::Success)
}
