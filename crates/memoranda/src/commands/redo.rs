//! `memoranda redo`: make an undone change again.

use memoranda_engine::core::change::FileChange;
use memoranda_engine::{CommitDiff, UndoOutcome};
use serde::Serialize;

use super::undo::{changed_since, confirm_deletions, described};
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::FAINT;
use crate::paint;
use crate::session::Session;
use crate::wire::{CommitJson, short};

/// Redo the change that was undone last.
///
/// Each further redo goes further forward. As in an editor, a write after an undo ends this: then
/// `memoranda undo COMMIT` with the id of an undo reverses that undo. Asks before it deletes more than ten files. If a file was changed since, nothing
/// is done (exit code 4).
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda redo
  memoranda redo --dry-run

JSON (--json):
  {redone: COMMIT, commit: COMMIT or null, dry_run}, a COMMIT being {id, time, client, tool,
  channel, message, kind, files: [{project, path, action, moved_from, before, after}]}")]
pub(crate) struct Args {
    /// Only show what would change.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct RedoneJson {
    redone: CommitJson,
    commit: Option<CommitJson>,
    dry_run: bool,
}

/// Redoes a commit.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    let step = memory.next_redo(session.project_asked(memory)?.as_ref())?.ok_or_else(|| {
        let message = "there is nothing to redo: no undo since the last write";
        CommandError::new(Exit::NotFound, message).hint(
            "`memoranda log` lists the commits; `memoranda undo COMMIT` reverses any of them, \
             also an undo",
        )
    })?;
    let redone = step.redone.clone();
    if args.dry_run {
        return planned(session, &memory.show_commit(redone.id.as_str())?);
    }
    let deleted = |file: &&FileChange| file.before.is_some() && file.after.is_none();
    let deletions = redone.files.iter().filter(deleted).count();
    confirm_deletions(session, "Redo", &redone, deletions)?;
    match memory.redo(&session.who(), step)? {
        UndoOutcome::Undone(done) => {
            let json = RedoneJson {
                redone: CommitJson::from(&redone),
                commit: Some(CommitJson::from(&done.commit)),
                dry_run: false,
            };
            let (was, by, what) = (short(&redone), short(&done.commit), described(&redone));
            let sentence = format!("Redid {was}: {what} {FAINT}(commit {by}){FAINT:#}");
            session.printer.done(&json, sentence)?;
            session.hint_after("`memoranda undo` reverses this");
            Ok(Exit::Done)
        }
        UndoOutcome::Unchanged => {
            let json =
                RedoneJson { redone: CommitJson::from(&redone), commit: None, dry_run: false };
            session.printer.done(&json, "Everything is as it was after that commit already")?;
            Ok(Exit::Done)
        }
        UndoOutcome::ChangedSince(places) => {
            let since = format!("the undo of {}; nothing was done", short(&redone));
            Err(changed_since(&places, &since))
        }
    }
}

fn planned(session: &Session, diff: &CommitDiff) -> Result<Exit> {
    if session.is_json() {
        let redone = CommitJson::from(&diff.commit);
        session.printer.json(&RedoneJson { redone, commit: None, dry_run: true })?;
        return Ok(Exit::Done);
    }
    let what = described(&diff.commit);
    session.printer.say(format!("Would redo {}: {what}", short(&diff.commit)));
    paint::diffs(&session.printer, &diff.files)?;
    Ok(Exit::Done)
}
