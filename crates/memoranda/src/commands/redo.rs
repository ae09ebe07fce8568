//! `memoranda redo`: make an undone change again.

use memoranda_engine::core::change::FileChange;
use memoranda_engine::{CommitDiff, UndoOutcome};
use serde::Serialize;

use super::undo::{changed_since, confirm_deletions, describe_commit, describe_with_text};
use crate::context::CommandContext;
use crate::diff_color;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{CommitJson, short_id};
use crate::output::{FAINT, visible};

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
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let step = memory.next_redo(context.requested_project(memory)?.as_ref())?.ok_or_else(|| {
        let message = "there is nothing to redo: no undo since the last write";
        CommandError::new(Exit::NotFound, message).hint(
            "`memoranda log` lists the commits; `memoranda undo COMMIT` reverses any of them, \
             also an undo",
        )
    })?;
    let redone = step.redone.clone();
    if args.dry_run {
        return print_planned(context, &memory.show_commit(redone.id.as_str())?);
    }
    let deleted = |file: &&FileChange| file.before.is_some() && file.after.is_none();
    let deletions = redone.files.iter().filter(deleted).count();
    confirm_deletions(context, "Redo", &redone, deletions)?;
    match memory.redo(&context.author(), step)? {
        UndoOutcome::Undone(done) => {
            let json = RedoneJson {
                redone: CommitJson::from(&redone),
                commit: Some(CommitJson::from(&done.commit)),
                dry_run: false,
            };
            let (was, by, what) =
                (short_id(&redone), short_id(&done.commit), describe_with_text(memory, &redone));
            let what = visible(&what);
            let sentence = format!("Redid {was}: {what} {FAINT}(commit {by}){FAINT:#}");
            context.printer.done(&json, sentence)?;
            context.hint_after("`memoranda undo` reverses this");
            Ok(Exit::Success)
        }
        UndoOutcome::Unchanged => {
            let json =
                RedoneJson { redone: CommitJson::from(&redone), commit: None, dry_run: false };
            context.printer.done(&json, "Everything is as it was after that commit already")?;
            Ok(Exit::Success)
        }
        UndoOutcome::ChangedSince(places) => {
            let since = format!("the undo of {}; nothing was done", short_id(&redone));
            Err(changed_since(&places, &since))
        }
    }
}

fn print_planned(context: &CommandContext, diff: &CommitDiff) -> Result<Exit> {
    if context.is_json() {
        let redone = CommitJson::from(&diff.commit);
        context.printer.json(&RedoneJson { redone, commit: None, dry_run: true })?;
        return Ok(Exit::Success);
    }
    let what = describe_commit(&diff.commit);
    context.printer.say(format!("Would redo {}: {what}", short_id(&diff.commit)));
    diff_color::print_file_diffs(&context.printer, &diff.files)?;
    Ok(Exit::Success)
}
