//! `memoranda scan` and `memoranda reindex`: look at the files.

use memoranda_engine::ScanReport;
use serde::Serialize;

use crate::error::Result;
use crate::exit::Exit;
use crate::output::counted;
use crate::progress::Progress;
use crate::session::Session;

/// Scan every file for changes made outside Memoranda, and index them.
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

/// Delete the index and rebuild it from the files and the history.
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
pub(crate) struct SyncJson {
    seen: usize,
    added: usize,
    changed: usize,
    moved: usize,
    removed: usize,
    indexed: usize,
    unavailable: Vec<UnavailableJson>,
    unreadable: Vec<LeftJson>,
    skipped: Vec<LeftJson>,
}

#[derive(Serialize)]
struct UnavailableJson {
    project: String,
    reason: String,
}

#[derive(Serialize)]
struct LeftJson {
    project: String,
    path: String,
    reason: String,
}

impl From<&ScanReport> for SyncJson {
    fn from(report: &ScanReport) -> Self {
        let left =
            |(project, path, reason): (String, String, String)| LeftJson { project, path, reason };
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
pub(crate) fn run(session: &Session, _: &Args) -> Result<Exit> {
    let memory = session.memory()?;
    let mut progress = Progress::new(&session.printer);
    let report = memory.sync(&mut |step| progress.update(step))?;
    drop(progress);
    told(session, &report)
}

/// Rebuilds the index.
pub(crate) fn reindex(session: &Session, _: &ReindexArgs) -> Result<Exit> {
    let memory = session.memory()?;
    let mut progress = Progress::new(&session.printer);
    let report = memory.reindex(&mut |step| progress.update(step))?;
    drop(progress);
    told(session, &report)
}

fn told(session: &Session, report: &ScanReport) -> Result<Exit> {
    let printer = &session.printer;
    printer.done(&SyncJson::from(report), sentence(report))?;
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
    if left > 0 && !session.args.verbose {
        printer.say(format!(
            "Left out: {}; `memoranda scan -v` says which and why.",
            counted(left, "name")
        ));
    }
    Ok(Exit::Done)
}

/// Returns the result of a scan as a sentence.
pub(crate) fn sentence(report: &ScanReport) -> String {
    let counts = [
        (report.added, "new"),
        (report.changed, "changed"),
        (report.moved, "moved"),
        (report.removed, "removed"),
    ];
    let found: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match found.as_slice() {
        [] => format!("Scanned {}: no changes", counted(report.seen, "file")),
        found => format!("Scanned {}: {}", counted(report.seen, "file"), found.join(", ")),
    }
}
