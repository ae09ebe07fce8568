//! `memoranda diff`: how a note changed, or what a commit did.

use clap_complete::engine::ArgValueCompleter;
use memoranda_engine::{
    CommitDiff, EngineError, FileDiff, HistoryFilter, Memory, NoteLocation, StoreError,
};
use serde::Serialize;

use super::log;
use crate::complete;
use crate::context::{CommandContext, NoteOrFolder};
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{CommitJson, PlaceJson, short_id};
use crate::output::{FAINT, HIT, STRONG, visible};
use crate::{diff_color, time};

/// Show how a note changed, or what a commit did.
///
/// Without a name: the last commit. With a note only: its last change. With FROM: from then until now, or until TO. FROM and TO are
/// times or commits. The output is a unified diff.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda diff
  memoranda diff 'Q3 plan'
  memoranda diff 'Q3 plan' yesterday
  memoranda diff plans/q3.md 8f2kq0zm 2026-01-31
  memoranda diff 8f2kq0zm

JSON (--json):
  {commit: COMMIT or null, files: [{project, path, moved_from, before, after, unified}]}; before and
  after are the texts, null if the file was not there")]
pub(crate) struct Args {
    /// A note, or a commit; the last commit, if not given.
    #[arg(value_name = "NOTE|COMMIT", add = ArgValueCompleter::new(complete::notes))]
    what: Option<String>,

    /// The time or commit to compare with.
    #[arg(value_name = "FROM")]
    from: Option<String>,

    /// The time or commit to compare; now, if not given.
    #[arg(value_name = "TO")]
    to: Option<String>,
}

impl Args {
    /// Returns the arguments that show a commit.
    pub(super) fn of_commit(id: &str) -> Self {
        Self { what: Some(id.to_owned()), from: None, to: None }
    }
}

#[derive(Serialize)]
struct DiffJson {
    commit: Option<CommitJson>,
    files: Vec<DiffFileJson>,
}

#[derive(Serialize)]
struct DiffFileJson {
    #[serde(flatten)]
    place: PlaceJson,
    moved_from: Option<String>,
    before: Option<String>,
    after: Option<String>,
    unified: String,
}

/// Prints the difference.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let Some(what) = &args.what else {
        let last = memory.log(&HistoryFilter::default(), 1, 0)?.into_iter().next();
        let last = last.ok_or_else(|| {
            CommandError::new(Exit::NotFound, "there are no commits yet")
                .hint("`memoranda add 'Something to remember'` makes the first one")
        })?;
        let diff = memory.show_commit(last.id.as_str())?;
        return print(context, &CommitOrNote::Commit(Box::new(diff)));
    };
    if let Some(from) = &args.from {
        let from = time::parse_point_in_time(memory, from)?;
        let to = args.to.as_deref().map(|to| time::parse_point_in_time(memory, to)).transpose()?;
        let (project, name) = context.strip_project_prefix(what)?;
        let file = memory.diff(project, &name, from, to)?;
        return print(context, &CommitOrNote::Note(Box::new(file)));
    }
    print(context, &CommitOrNote::Commit(Box::new(find_diff(context, memory, what)?)))
}

enum CommitOrNote {
    Commit(Box<CommitDiff>),
    Note(Box<FileDiff>),
}

/// The commit of this id, or the last one that changed the note of this name.
fn find_diff(context: &CommandContext, memory: &Memory, what: &str) -> Result<CommitDiff> {
    if time::looks_like_commit(what) {
        match memory.show_commit(what) {
            Err(EngineError::Store(StoreError::NoCommit(_))) => {}
            other => return Ok(other?),
        }
    }
    let place = match log::find_note_or_folder(context, memory, what)? {
        NoteOrFolder::Note(place) => place,
        NoteOrFolder::Folder(place) => {
            let message = format!("{place} is a folder, and only notes and commits have a diff");
            return Err(CommandError::usage(message).hint(format!("`memoranda log {place}/`")));
        }
    };
    let last = memory.revisions(&place, 1)?.into_iter().next();
    let last = last.ok_or_else(|| EngineError::NotThen {
        place: place.clone(),
        when: "at any time that the history knows".into(),
    })?;
    let mut diff = memory.show_commit(last.commit.id.as_str())?;
    let place = NoteLocation { path: last.change.path, ..place };
    diff.files.retain(|file| file.place == place);
    Ok(diff)
}

fn print(context: &CommandContext, diff: &CommitOrNote) -> Result<Exit> {
    context.start_pager();
    let printer = &context.printer;
    let (commit, files) = match diff {
        CommitOrNote::Commit(diff) => (Some(&diff.commit), diff.files.as_slice()),
        CommitOrNote::Note(file) => (None, std::slice::from_ref(&**file)),
    };
    if context.is_json() {
        let json = DiffJson {
            commit: commit.map(CommitJson::from),
            files: files.iter().map(file_json).collect(),
        };
        printer.json(&json)?;
        return Ok(Exit::Success);
    }
    if let Some(commit) = commit {
        printer.say(format!(
            "{HIT}{}{HIT:#}  {FAINT}{}{FAINT:#}  {STRONG}{}{STRONG:#}  {}",
            short_id(commit),
            time::local(commit.time),
            visible(&context.author_name(&commit.author)),
            visible(&commit.author.tool)
        ));
    }
    diff_color::print_file_diffs(printer, files)?;
    if files.iter().all(|file| file.unified.is_empty() && file.moved_from.is_none()) {
        printer.say("No difference.");
    }
    Ok(Exit::Success)
}

fn file_json(file: &FileDiff) -> DiffFileJson {
    DiffFileJson {
        place: PlaceJson::from(&file.place),
        moved_from: file.moved_from.as_ref().map(ToString::to_string),
        before: file.before.clone(),
        after: file.after.clone(),
        unified: file.unified.clone(),
    }
}
