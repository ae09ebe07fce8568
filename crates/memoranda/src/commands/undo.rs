//! `memoranda undo`: reverse a commit.

use clap_complete::engine::ArgValueCandidates;
use jiff::Timestamp;
use memoranda_engine::core::abbreviate::shortened_list;
use memoranda_engine::core::change::{Commit, CommitKind, FileChange};
use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::records::{MemoryRecord, records_project, single_line};
use memoranda_engine::remember::statement_kind;
use memoranda_engine::{CommitDiff, FileDiff, HistoryFilter, Memory, NoteLocation, UndoOutcome};
use serde::Serialize;

use crate::complete;
use crate::context::CommandContext;
use crate::diff_color;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{CommitJson, change_action, short_id};
use crate::output::{FAINT, counted, visible};

/// Number of files that an undo or redo deletes without asking.
const MAX_UNASKED_DELETIONS: usize = 10;
/// Maximum length of the text of a record that stands for a commit, in characters.
const MAX_SHOWN_CHARS: usize = 100;
/// Number of files that an error lists.
const MAX_LISTED: usize = 5;

/// Undo a change with a new commit.
///
/// Without a commit: the last one that is not undone yet; each further undo goes further back, and
/// `memoranda redo` goes forward. Edits made by hand in the files are passed over, and files
/// that were there when a folder became a project are never deleted. Asks before it deletes more
/// than ten files. If a file was changed since, nothing is undone (exit code 4).
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda undo
  memoranda undo --dry-run
  memoranda undo 8f2kq0zm
  memoranda undo --conversation 8f2kq0zm --dry-run

JSON (--json):
  {undone: COMMIT, commit: COMMIT or null, dry_run}; with --conversation undone is a list; a COMMIT being {id, time, client, tool,
  channel, message, kind, files: [{project, path, action, moved_from, before, after}]}")]
pub(crate) struct Args {
    /// The commit, or the beginning of its id.
    #[arg(value_name = "COMMIT", add = ArgValueCandidates::new(complete::commits))]
    commit: Option<String>,

    /// All writes of a conversation, as one commit: its id, or any commit of it.
    #[arg(long, value_name = "ID|COMMIT", conflicts_with = "commit")]
    conversation: Option<String>,

    /// Only show what would change.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct UndoneJson {
    undone: CommitJson,
    commit: Option<CommitJson>,
    dry_run: bool,
}

/// Undoes a commit.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    if let Some(id) = &args.conversation {
        let planned = super::undo_conversation::ConversationUndo::plan(memory, id)?;
        return if args.dry_run { planned.print(context) } else { planned.apply(context) };
    }
    let commit = match &args.commit {
        Some(id) => memory.commit(id)?,
        None => {
            let project = context.requested_project(memory)?;
            let newest = newest_commit(memory, project.as_ref())?;
            let next = memory.next_undo(project.as_ref())?.ok_or_else(|| {
                let hint = newest
                    .as_ref()
                    .and_then(passed_over)
                    .unwrap_or_else(|| "`memoranda log` lists the commits".to_owned());
                CommandError::new(Exit::NotFound, "there is nothing to undo").hint(hint)
            })?;
            if let Some(hint) =
                newest.filter(|newest| newest.id != next.id).as_ref().and_then(passed_over)
            {
                context.hint_after(&hint);
            }
            next
        }
    };
    memory.check_undoable(&commit)?;
    if args.dry_run {
        return print_planned(context, &memory.show_commit(commit.id.as_str())?);
    }
    let added = |file: &&FileChange| file.before.is_none() && file.after.is_some();
    let deletions = commit.files.iter().filter(added).count();
    confirm_deletions(context, "Undo", &commit, deletions)?;
    match memory.undo(&context.author(), commit.id.as_str())? {
        UndoOutcome::Undone(undone) => {
            let json = UndoneJson {
                undone: CommitJson::from(&undone.undone),
                commit: Some(CommitJson::from(&undone.commit)),
                dry_run: false,
            };
            let (was, by) = (short_id(&undone.undone), short_id(&undone.commit));
            let what = describe_with_text(memory, &undone.undone);
            let what = visible(&what);
            let sentence = format!("Undid {was}: {what} {FAINT}(commit {by}){FAINT:#}");
            context.printer.done(&json, sentence)?;
            context
                .hint_after("`memoranda redo` reverses this; `memoranda undo` goes further back");
            Ok(Exit::Success)
        }
        UndoOutcome::Unchanged => {
            let json =
                UndoneJson { undone: CommitJson::from(&commit), commit: None, dry_run: false };
            context.printer.done(&json, "Everything is as it was before that commit already")?;
            Ok(Exit::Success)
        }
        UndoOutcome::ChangedSince(places) => {
            let since = format!("commit {}; nothing was undone", short_id(&commit));
            Err(changed_since(&places, &since))
        }
    }
}

fn newest_commit(memory: &Memory, project: Option<&ProjectName>) -> Result<Option<Commit>> {
    let filter = HistoryFilter { project: project.cloned(), ..HistoryFilter::default() };
    Ok(memory.log(&filter, 1, 0)?.into_iter().next())
}

/// Returns the hint for a newest commit that an undo without an id passes over: edits in the files, and
/// files that were there when a folder became a project.
fn passed_over(newest: &Commit) -> Option<String> {
    match newest.kind? {
        CommitKind::Scan => Some(format!(
            "edits by hand are passed over; `memoranda undo {}` undoes the last: {}",
            short_id(newest),
            describe_commit(newest)
        )),
        CommitKind::FirstScan => {
            let project = newest.files.first().map(|file| file.project.clone())?;
            Some(format!("`memoranda project remove {project}` stops following its folder"))
        }
        CommitKind::Undo(_) | CommitKind::Redo(_) | CommitKind::Purge => None,
    }
}

/// Asks before many files are deleted.
pub(crate) fn confirm_deletions(
    context: &CommandContext,
    verb: &str,
    commit: &Commit,
    deletions: usize,
) -> Result<()> {
    if deletions <= MAX_UNASKED_DELETIONS {
        return Ok(());
    }
    let files = counted(deletions, "file");
    context.confirm(&format!("{verb} {} and delete {files}?", short_id(commit)))
}

/// The error for files that were changed since a commit.
pub(crate) fn changed_since(places: &[NoteLocation], since: &str) -> CommandError {
    let names = shortened_list(places, MAX_LISTED);
    let place = places.first().map(ToString::to_string).unwrap_or_default();
    let place = crate::error::quoted(&place);
    CommandError::new(Exit::Conflict, format!("{names} changed since {since}"))
        .hint(format!("`memoranda log {place}` lists its versions"))
        .hint(format!("`memoranda restore {place} --at COMMIT` brings one back"))
}

fn print_planned(context: &CommandContext, diff: &CommitDiff) -> Result<Exit> {
    if context.is_json() {
        let undone = CommitJson::from(&diff.commit);
        context.printer.json(&UndoneJson { undone, commit: None, dry_run: true })?;
        return Ok(Exit::Success);
    }
    context.printer.say(format!(
        "Would undo {}: {}",
        short_id(&diff.commit),
        describe_commit(&diff.commit)
    ));
    let files: Vec<FileDiff> = diff.files.iter().map(reversed).collect();
    diff_color::print_file_diffs(&context.printer, &files)?;
    Ok(Exit::Success)
}

/// Returns the difference in the opposite direction.
fn reversed(file: &FileDiff) -> FileDiff {
    let place = file.moved_from.clone().unwrap_or_else(|| file.place.clone());
    let moved_from = file.moved_from.as_ref().map(|_| file.place.clone());
    let (before, after) = (file.after.clone(), file.before.clone());
    let (old, new) = (file.place.to_string(), place.to_string());
    let labels = DiffLabels {
        before: if before.is_some() { &old } else { "/dev/null" },
        after: if after.is_some() { &new } else { "/dev/null" },
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let unified = unified_diff(&text(&before), &text(&after), 3, labels);
    FileDiff { place, moved_from, before, after, unified }
}

/// Describes a commit in a few words; a change of records by its text, because their paths are ids.
pub(crate) fn describe_with_text(memory: &Memory, commit: &Commit) -> String {
    describe_records(memory, commit).unwrap_or_else(|| describe_commit(commit))
}

/// Returns `None` if the commit is a first scan, concerns other files, does several things, or changed a
/// text that is no longer in the history.
fn describe_records(memory: &Memory, commit: &Commit) -> Option<String> {
    if commit.kind == Some(CommitKind::FirstScan) {
        return None;
    }
    let (first, rest) = commit.files.split_first()?;
    let is_like_first = |file: &FileChange| {
        file.project == first.project && change_action(file) == change_action(first)
    };
    let text =
        rest.iter().all(is_like_first).then(|| record_text(memory, first, commit.time))??;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!("{} {text}{more}", change_action(first)))
}

/// Returns kind and text of the record in a changed file; `None` for another file, or if the text is no
/// longer in the history.
pub(crate) fn record_text(memory: &Memory, file: &FileChange, time: Timestamp) -> Option<String> {
    let place = NoteLocation { project: file.project.clone(), path: file.path.clone() };
    if place.project != records_project() {
        return None;
    }
    let bytes = memory.version_content(file.after.or(file.before)?).ok()?;
    let record = MemoryRecord::of_version(&place, std::str::from_utf8(&bytes).ok()?, time)?;
    let kind = statement_kind(record.kind, &record.tags).as_str();
    Some(format!("{kind} \"{}\"", single_line(&record.content, MAX_SHOWN_CHARS)))
}

/// Describes a commit in a few words.
pub(crate) fn describe_commit(commit: &Commit) -> String {
    let one = |file: &FileChange| format!("{} {}/{}", change_action(file), file.project, file.path);
    match commit.files.as_slice() {
        [] => commit.message.clone().unwrap_or_default(),
        [first, ..] if commit.kind == Some(CommitKind::FirstScan) => {
            let files = counted(commit.files.len(), "file");
            format!("began to follow {} ({files})", first.project)
        }
        [only] => one(only),
        [first, rest @ ..]
            if rest.iter().all(|file| change_action(file) == change_action(first)) =>
        {
            format!("{} and {} more", one(first), rest.len())
        }
        [first, rest @ ..] => format!("{} and {}", one(first), counted(rest.len(), "other change")),
    }
}
