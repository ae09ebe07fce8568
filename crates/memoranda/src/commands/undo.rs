//! `memoranda undo`: take a commit back.

use memoranda_engine::core::change::{ChangeChannel, Commit};
use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use memoranda_engine::{CommitDiff, FileDiff, HistoryFilter, Memory, UndoOutcome};
use serde::Serialize;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::FAINT;
use crate::paint;
use crate::session::Session;
use crate::wire::{CommitJson, action, short};

/// Take a commit back: everything it did, by a new commit.
///
/// Without a commit: the last one that was not made by hand in the files. An undo can be undone
/// in its turn. If a file was changed since, nothing is taken back (exit code 4).
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda undo
  memoranda undo --dry-run
  memoranda undo 8f2kq0zm

JSON (--json):
  {undone: COMMIT, commit: COMMIT or null, dry_run}, a COMMIT being {id, time, client, tool,
  channel, message, files: [{project, path, action, moved_from, before, after}]}")]
pub(crate) struct Args {
    /// The commit, or the beginning of its id.
    #[arg(value_name = "COMMIT")]
    commit: Option<String>,

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

/// Takes it back.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    let commit = match &args.commit {
        Some(id) => memory.commit(id)?,
        None => last(session, memory)?,
    };
    if args.dry_run {
        return planned(session, &memory.show_commit(commit.id.as_str())?);
    }
    match memory.undo(&session.who(), commit.id.as_str())? {
        UndoOutcome::Undone(undone) => {
            let json = UndoneJson {
                undone: CommitJson::from(&undone.undone),
                commit: Some(CommitJson::from(&undone.commit)),
                dry_run: false,
            };
            let (was, by) = (short(&undone.undone), short(&undone.commit));
            let what = described(&undone.undone);
            let sentence = format!("Took back {was}: {what} {FAINT}(commit {by}){FAINT:#}");
            session.printer.done(&json, sentence)?;
            session.hint_undo(&by);
            Ok(Exit::Done)
        }
        UndoOutcome::Unchanged => {
            let json =
                UndoneJson { undone: CommitJson::from(&commit), commit: None, dry_run: false };
            session.printer.done(&json, "Everything is as it was before that commit already")?;
            Ok(Exit::Done)
        }
        UndoOutcome::ChangedSince(places) => {
            let id = short(&commit);
            let places: Vec<String> = places.iter().map(ToString::to_string).collect();
            let message =
                format!("{} changed since commit {id}; nothing was taken back", places.join(", "));
            let place = crate::error::quoted(places.first().map_or("", String::as_str));
            Err(CommandError::new(Exit::Conflict, message)
                .hint(format!("`memoranda log {place}` lists its versions"))
                .hint(format!("`memoranda restore {place} --at COMMIT` brings one back")))
        }
    }
}

/// The last commit that was not found on disk.
fn last(session: &Session, memory: &Memory) -> Result<Commit> {
    let filter =
        HistoryFilter { project: session.project_asked(memory)?, ..HistoryFilter::default() };
    let mut offset = 0;
    loop {
        let commits = memory.log(&filter, 100, offset)?;
        if commits.is_empty() {
            return Err(CommandError::new(Exit::NotFound, "there is nothing to undo")
                .hint("`memoranda log` lists the commits"));
        }
        offset += commits.len();
        let made = commits.into_iter().find(|commit| commit.author.channel != ChangeChannel::Disk);
        if let Some(commit) = made {
            return Ok(commit);
        }
    }
}

fn planned(session: &Session, diff: &CommitDiff) -> Result<Exit> {
    if session.is_json() {
        let undone = CommitJson::from(&diff.commit);
        session.printer.json(&UndoneJson { undone, commit: None, dry_run: true })?;
        return Ok(Exit::Done);
    }
    session.printer.say(format!(
        "Would take back {}: {}",
        short(&diff.commit),
        described(&diff.commit)
    ));
    let files: Vec<FileDiff> = diff.files.iter().map(reversed).collect();
    paint::diffs(&session.printer, &files)?;
    Ok(Exit::Done)
}

/// The same difference, seen from the other side.
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

/// What a commit did, in a few words.
pub(crate) fn described(commit: &Commit) -> String {
    let one = |file: &memoranda_engine::core::change::FileChange| {
        format!("{} {}/{}", action(file), file.project, file.path)
    };
    match commit.files.as_slice() {
        [] => commit.message.clone().unwrap_or_default(),
        [only] => one(only),
        [first, rest @ ..] => format!("{} and {} more", one(first), rest.len()),
    }
}
