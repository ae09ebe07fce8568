//! `memoranda watch`: keep the index current, and tell what changes.

use std::time::Duration;

use memoranda_engine::HistoryFilter;
use memoranda_engine::core::id::CommitId;

use super::undo::described;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, HIT, PLACE, STRONG, visible};
use crate::session::Session;
use crate::time;
use crate::wire::{CommitJson, short};

/// How often the history is looked at.
const INTERVAL: Duration = Duration::from_millis(300);
/// No more commits than this are told at a time.
const MOST: usize = 1000;

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
pub(crate) fn run(session: &Session, _: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    let filter =
        HistoryFilter { project: session.project_asked(memory)?, ..HistoryFilter::default() };
    let mut last: Option<CommitId> = memory.log(&filter, 1, 0)?.first().map(|commit| commit.id);
    memory.start_background()?;
    session.printer.say(format!("Watching {}; Ctrl-C ends it.", memory.store().home().display()));
    loop {
        let newest = memory.log(&filter, 1, 0)?.first().map(|commit| commit.id);
        if newest != last {
            let commits = memory.log(&filter, MOST, 0)?;
            let new = commits.iter().take_while(|commit| Some(commit.id) != last);
            for commit in new.collect::<Vec<_>>().into_iter().rev() {
                told(session, commit)?;
            }
            last = newest;
        }
        std::thread::sleep(INTERVAL);
    }
}

fn told(session: &Session, commit: &memoranda_engine::core::change::Commit) -> Result<()> {
    if session.is_json() {
        return session.printer.json(&CommitJson::from(commit));
    }
    session.printer.line(format!(
        "{HIT}{}{HIT:#}  {FAINT}{}{FAINT:#}  {STRONG}{}{STRONG:#}  {PLACE}{}{PLACE:#}",
        short(commit),
        time::local(commit.time),
        visible(&commit.author.client),
        visible(&described(commit))
    ))
}
