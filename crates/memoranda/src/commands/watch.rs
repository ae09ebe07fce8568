//! `memoranda watch`: keep the index current, and tell what changes.

use std::time::Duration;

use memoranda_engine::HistoryFilter;
use memoranda_engine::core::id::CommitId;

use super::undo::describe_commit;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::json_output::{CommitJson, short_id};
use crate::output::{FAINT, HIT, PLACE, STRONG, visible};
use crate::time;

/// Interval at which the history is read.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// Maximum number of commits reported at a time.
const MAX_COMMITS: usize = 1000;

/// Notice edits in the files as they happen, and print every change until Ctrl-C.
///
/// While it runs, other commands need not look at the files themselves.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda watch
  memoranda watch --json | jq -r '.files[].path'

JSON (--json):
  one commit a line: {id, time, client, tool, channel, message, kind, files: [{project, path, action,
  moved_from, before, after}]}")]
pub(crate) struct Args {}

/// Watches until it is interrupted or nobody reads any more.
pub(crate) fn run(context: &CommandContext, _: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let filter =
        HistoryFilter { project: context.requested_project(memory)?, ..HistoryFilter::default() };
    let mut last: Option<CommitId> = memory.log(&filter, 1, 0)?.first().map(|commit| commit.id);
    memory.start_background()?;
    context.printer.say(format!("Watching {}; Ctrl-C ends it.", context.shown_path(memory.home())));
    loop {
        let newest = memory.log(&filter, 1, 0)?.first().map(|commit| commit.id);
        if newest != last {
            let commits = memory.log(&filter, MAX_COMMITS, 0)?;
            let new = commits.iter().take_while(|commit| Some(commit.id) != last);
            for commit in new.collect::<Vec<_>>().into_iter().rev() {
                print_commit(context, commit)?;
            }
            last = newest;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn print_commit(
    context: &CommandContext,
    commit: &memoranda_engine::core::change::Commit,
) -> Result<()> {
    if context.is_json() {
        return context.printer.json(&CommitJson::from(commit));
    }
    let line = format!(
        "{HIT}{}{HIT:#}  {FAINT}{}{FAINT:#}  {STRONG}{}{STRONG:#}  {PLACE}{}{PLACE:#}",
        short_id(commit),
        time::local(commit.time),
        visible(&context.author_name(&commit.author)),
        visible(&describe_commit(commit))
    );
    context.printer.hanging(line, 2)
}
