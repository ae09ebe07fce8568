//! `memoranda scan` and `memoranda reindex`: look at the files.

use memoranda_clients::doctor::scan_sentence;
use memoranda_engine::ScanReport;
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::counted;
use crate::progress::ProgressBar;

/// Scan the files: find changes made outside Memoranda, and index them.
///
/// Commands that read do this by themselves. A scan never writes to your files. With -v it lists
/// the files that are left out, and why.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda scan
  memoranda scan -v

JSON (--json):
  {seen, added, changed, moved, removed, indexed, unavailable: [{project, reason}],
  unreadable: [{project, path, reason}], skipped: [{project, path, reason}]}")]
pub(crate) struct Args {}

/// Rebuild the index: from the files and the history.
///
/// Never needed in normal use: the index is checked on every start.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda reindex

JSON (--json):
  as of `memoranda scan`")]
pub(crate) struct ReindexArgs {}

/// The result of a scan as JSON.
#[derive(Serialize)]
pub(crate) struct ScanJson {
    seen: usize,
    added: usize,
    changed: usize,
    moved: usize,
    removed: usize,
    indexed: usize,
    unavailable: Vec<UnavailableJson>,
    unreadable: Vec<LeftOutFileJson>,
    skipped: Vec<LeftOutFileJson>,
}

#[derive(Serialize)]
pub(super) struct UnavailableJson {
    pub(super) project: String,
    pub(super) reason: String,
}

#[derive(Serialize)]
struct LeftOutFileJson {
    project: String,
    path: String,
    reason: String,
}

impl From<&ScanReport> for ScanJson {
    fn from(report: &ScanReport) -> Self {
        let left = |(project, path, reason): (String, String, String)| LeftOutFileJson {
            project,
            path,
            reason,
        };
        let unavailable = report.unavailable.iter().map(|(project, reason)| UnavailableJson {
            project: project.to_string(),
            reason: reason.clone(),
        });
        let unreadable = report.unreadable.iter();
        let unreadable =
            unreadable.map(|(p, path, why)| (p.to_string(), path.clone(), why.clone()));
        let skipped = report.skipped.iter();
        let skipped =
            skipped.map(|(p, path, why)| (p.to_string(), path.clone(), (*why).to_owned()));
        Self {
            seen: report.seen,
            added: report.added,
            changed: report.changed,
            moved: report.moved,
            removed: report.removed,
            indexed: report.indexed,
            unavailable: unavailable.collect(),
            unreadable: unreadable.map(left).collect(),
            skipped: skipped.map(left).collect(),
        }
    }
}

/// Scans every file.
pub(crate) fn run(context: &CommandContext, _: &Args) -> Result<Exit> {
    let memory = context.open_existing()?;
    let mut progress = ProgressBar::new(&context.printer);
    let report = memory.sync(&mut |step| progress.update(step))?;
    drop(progress);
    print_report(context, &report)
}

/// Rebuilds the index.
pub(crate) fn reindex(context: &CommandContext, _: &ReindexArgs) -> Result<Exit> {
    let memory = context.open_existing()?;
    let mut progress = ProgressBar::new(&context.printer);
    let report = memory.reindex(&mut |step| progress.update(step))?;
    drop(progress);
    print_report(context, &report)
}

fn print_report(context: &CommandContext, report: &ScanReport) -> Result<Exit> {
    let printer = &context.printer;
    printer.done(&ScanJson::from(report), scan_sentence(report))?;
    for (project, reason) in &report.unavailable {
        printer.warn(format!("the folder of project {project} cannot be reached: {reason}"));
    }
    for (project, place, reason) in &report.unreadable {
        printer.warn(format!("{project}/{place} cannot be read: {reason}"));
    }
    for (project, place, reason) in &report.skipped {
        printer.detail(format!("left out {project}/{place}: {reason}"));
    }
    let left = report.skipped.len();
    if left > 0 && !context.args.verbose {
        printer.say(format!(
            "Left out: {}; `memoranda scan -v` says which and why.",
            counted(left, "name")
        ));
    }
    Ok(Exit::Success)
}
