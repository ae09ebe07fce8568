//! `memoranda vacuum`: really remove what was deleted.

use memoranda_engine::{Memory, VacuumExtent, VacuumReport, VacuumRequest};
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::counted;
use crate::time;

/// Really remove what was deleted, from the history too.
///
/// Purged notes cannot be restored by anything. Notes deleted in the last 30 days stay, unless
/// --older-than says otherwise. Notes that exist stay, with their history, unless --versions purges
/// that too. Asks first.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda vacuum -n
  memoranda vacuum --older-than 1y --versions
  memoranda vacuum --older-than now -y     (everything that is deleted)
  memoranda vacuum --older-than now --versions     (and what was edited out of notes)

JSON (--json):
  {notes: [{project, path}], contents, bytes, still_on: [device], dry_run}; `still_on` names the
  devices of other machines, which purge their own history when they next see this vault")]
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
    notes: Vec<PurgedNoteJson>,
    contents: u64,
    bytes: u64,
    still_on: Vec<String>,
    dry_run: bool,
}

#[derive(Serialize)]
struct PurgedNoteJson {
    project: String,
    path: String,
}

/// Purges.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let before = time::parse(&args.older_than)?;
    let memory = context.open_synced()?;
    let what = if args.versions { VacuumExtent::DeletedAndVersions } else { VacuumExtent::Deleted };
    let vacuum = VacuumRequest { project: context.requested_project(memory)?, before, what };
    let plan = memory.plan_vacuum(&vacuum)?;
    if plan.contents == 0 {
        let how = if args.versions { "deleted or replaced" } else { "deleted" };
        let nothing = format!("Nothing to purge: nothing {how} before {}", time::local(before));
        context.printer.done(&vacuum_json(&plan, args.dry_run), nothing)?;
        hint_remaining(context, memory, args, &vacuum)?;
        return Ok(Exit::Success);
    }
    if args.dry_run {
        for (project, path) in &plan.notes {
            context.printer.detail(format!("would purge {project}/{path}"));
        }
        let sentence = format!(
            "Would purge {}: {} in all",
            counted(plan.notes.len(), "deleted note"),
            counted(plan.contents as usize, "version")
        );
        context.printer.done(&vacuum_json(&plan, args.dry_run), sentence)?;
        hint_remaining(context, memory, args, &vacuum)?;
        return Ok(Exit::Success);
    }
    let notes = counted(plan.notes.len(), "deleted note");
    let contents = counted(plan.contents as usize, "version");
    context.confirm(&format!("Purge {contents} ({notes})? They cannot be restored."))?;
    let report = memory.vacuum(&context.author(), &vacuum)?;
    // The record of the purge itself can be as large as what it removes.
    let smaller = match report.bytes {
        0 => String::new(),
        bytes => format!("; the history is {bytes} bytes smaller"),
    };
    let sentence = format!(
        "Purged {}: {} in all{smaller}",
        counted(report.notes.len(), "deleted note"),
        counted(report.contents as usize, "version")
    );
    context.printer.done(&vacuum_json(&report, false), sentence)?;
    for device in &report.still_on {
        context.printer.hint(format!(
            "it is still on device {device}, whose history only its own machine rewrites"
        ));
    }
    hint_remaining(context, memory, args, &vacuum)?;
    Ok(Exit::Success)
}

/// Reports what can still be restored afterwards, and how to purge that too, so that nobody
/// believes it is gone.
fn hint_remaining(
    context: &CommandContext,
    memory: &Memory,
    args: &Args,
    vacuum: &VacuumRequest,
) -> Result<()> {
    let at_once = VacuumRequest { before: time::parse("now")?, ..vacuum.clone() };
    let with_versions = VacuumRequest { what: VacuumExtent::DeletedAndVersions, ..at_once.clone() };
    let within = memory.plan_vacuum(vacuum)?;
    let younger = memory.plan_vacuum(&at_once)?;
    let all = memory.plan_vacuum(&with_versions)?;
    for project in &within.unavailable {
        context.printer.hint(format!(
            "the history of project {project} stays: its folder cannot be reached, and may still have \
             what was replaced"
        ));
    }
    if younger.contents > within.contents {
        let notes = younger.notes.len().saturating_sub(within.notes.len());
        context.printer.hint(format!(
            "{} ({}) {} younger than --older-than {}; `memoranda vacuum --older-than now{}` purges \
             them, too",
            counted((younger.contents - within.contents) as usize, "version"),
            counted(notes, "deleted note"),
            if younger.contents - within.contents == 1 { "is" } else { "are" },
            args.older_than,
            if args.versions { " --versions" } else { "" },
        ));
    }
    if all.contents > younger.contents {
        context.printer.hint(format!(
            "{} of notes that exist can be restored; `memoranda vacuum --older-than now --versions` \
             purges what was edited out of them",
            counted((all.contents - younger.contents) as usize, "earlier version"),
        ));
    }
    Ok(())
}

fn vacuum_json(report: &VacuumReport, dry_run: bool) -> VacuumJson {
    let note = |(project, path): &(memoranda_engine::core::id::ProjectName, String)| {
        PurgedNoteJson { project: project.to_string(), path: path.clone() }
    };
    let notes = report.notes.iter().map(note).collect();
    let still_on = report.still_on.clone();
    VacuumJson { notes, contents: report.contents, bytes: report.bytes, still_on, dry_run }
}
