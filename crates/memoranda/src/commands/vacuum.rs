//! `memoranda vacuum`: really remove what was deleted.

use memoranda_engine::{Vacuum, VacuumReport, VacuumWhat};
use serde::Serialize;

use crate::error::Result;
use crate::exit::Exit;
use crate::output::counted;
use crate::session::Session;
use crate::time;

/// Really remove what was deleted, from the history too.
///
/// What is purged cannot be restored by anything. Notes that exist stay, with their history,
/// unless --versions purges that too. Asks first.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda vacuum -n
  memoranda vacuum --older-than 1y --versions
  memoranda vacuum --older-than now -y     (everything that is deleted)

JSON (--json):
  {notes: [{project, path}], contents, bytes, dry_run}")]
pub(crate) struct Args {
    /// Only what was deleted or replaced before then.
    #[arg(long, value_name = "TIME", default_value = "30d")]
    older_than: String,

    /// Earlier versions of existing notes too.
    #[arg(long)]
    versions: bool,

    /// Only say what would be purged.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct VacuumJson {
    notes: Vec<NoteJson>,
    contents: u64,
    bytes: u64,
    dry_run: bool,
}

#[derive(Serialize)]
struct NoteJson {
    project: String,
    path: String,
}

/// Purges.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let before = time::parse(&args.older_than)?;
    let memory = session.reading()?;
    let what = if args.versions { VacuumWhat::DeletedAndVersions } else { VacuumWhat::Deleted };
    let vacuum = Vacuum { project: session.project_asked(memory)?, before, what };
    let plan = memory.plan_vacuum(&vacuum)?;
    if args.dry_run || plan.contents == 0 {
        for (project, path) in &plan.notes {
            session.printer.detail(format!("would purge {project}/{path}"));
        }
        let sentence = format!(
            "Would purge {}: {} in all",
            counted(plan.notes.len(), "deleted note"),
            counted(plan.contents as usize, "version")
        );
        session.printer.done(&wire(&plan, args.dry_run), sentence)?;
        return Ok(Exit::Done);
    }
    let notes = counted(plan.notes.len(), "deleted note");
    let contents = counted(plan.contents as usize, "version");
    session.confirm(&format!("Purge {contents} ({notes})? They cannot be restored."))?;
    let report = memory.vacuum(&vacuum)?;
    let sentence = format!(
        "Purged {}: {} in all; the history is {} bytes smaller",
        counted(report.notes.len(), "deleted note"),
        counted(report.contents as usize, "version"),
        report.bytes
    );
    session.printer.done(&wire(&report, false), sentence)?;
    Ok(Exit::Done)
}

fn wire(report: &VacuumReport, dry_run: bool) -> VacuumJson {
    let note = |(project, path): &(memoranda_engine::core::id::ProjectName, String)| NoteJson {
        project: project.to_string(),
        path: path.clone(),
    };
    let notes = report.notes.iter().map(note).collect();
    VacuumJson { notes, contents: report.contents, bytes: report.bytes, dry_run }
}
