//! `memoranda doctor`: prove that files, history and index agree, and that clients find us.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{CheckReport, DoctorReport, Memory, ModelStatus, NoteLocation};
use serde::Serialize;

use super::scan::{ScanJson, UnavailableJson, scan_sentence};
use super::status::{ModelJson, describe_model, probe_model};
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::PlaceJson;
use crate::output::{BAD, GOOD, HIT, Printer, counted, visible};
use crate::progress::ProgressBar;
use crate::setup::{self, BaseDirs, EntryFinding, EntryPart, InstalledEntry};

/// Maximum number of omitted files that are listed.
const MAX_LEFT_OUT_NAMES: usize = 20;

/// Check everything: that the history is whole, that files, history and index agree, and that
/// every client that was connected can start this program.
///
/// Reads every file and the whole history, builds a second index and compares it with the present
/// one. Ends with exit code 1 if something disagrees. Problems in the text of notes are listed
/// without a failure. --repair rebuilds the index; it never changes your files. --restore brings
/// back the versions that were written and are gone although nobody was seen to change them, as
/// after a power cut. Without a vault, only the clients are checked.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda doctor
  memoranda doctor --repair
  memoranda doctor --restore

JSON (--json):
  {vault, agrees, repaired, files, commits, damage: [{segment, offset, bytes}],
  broken_links: [{device, seq}], lost: [{project, path, state, commit}], restored,
  unkept: [{project, path}], stale: [{project, path}], differing: [table],
  unavailable: [{project, reason}], problems: [{project, path, line, message}],
  model: as of `memoranda status`, sync: as of `memoranda scan`,
  clients: [{name, file, part, state, program}]}; `part` is `server` or `hooks`, `state` is
  `well`, `address`, `other`, `missing`, `untrusted` or `unreadable`; if `vault` is false, there
  are only `vault` and `clients`")]
pub(crate) struct Args {
    /// Rebuild the index if it disagrees with the files.
    #[arg(long)]
    repair: bool,

    /// Bring back what was lost without an edit.
    #[arg(long)]
    restore: bool,
}

#[derive(Serialize)]
struct DoctorJson {
    vault: bool,
    #[serde(flatten)]
    check: Option<CheckJson>,
    clients: Vec<ClientCheckJson>,
}

#[derive(Serialize)]
struct CheckJson {
    agrees: bool,
    repaired: bool,
    files: usize,
    commits: usize,
    damage: Vec<DamageJson>,
    broken_links: Vec<BrokenLinkJson>,
    lost: Vec<LostFileJson>,
    restored: usize,
    unkept: Vec<PlaceJson>,
    stale: Vec<PlaceJson>,
    differing: Vec<String>,
    unavailable: Vec<UnavailableJson>,
    problems: Vec<NoteProblemJson>,
    model: Option<ModelJson>,
    sync: ScanJson,
}

#[derive(Serialize)]
struct DamageJson {
    segment: String,
    offset: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct LostFileJson {
    project: String,
    path: String,
    state: &'static str,
    commit: String,
}

#[derive(Serialize)]
struct BrokenLinkJson {
    device: String,
    seq: u64,
}

#[derive(Serialize)]
struct NoteProblemJson {
    project: String,
    path: String,
    line: usize,
    message: String,
}

#[derive(Serialize)]
struct ClientCheckJson {
    name: &'static str,
    file: String,
    part: &'static str,
    state: &'static str,
    program: Option<String>,
}

/// Result of the checks of the vault.
struct VaultCheck {
    report: DoctorReport,
    repaired: bool,
    /// Number of files that were brought back.
    restored: usize,
    model: Option<ModelStatus>,
}

/// Checks everything.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let found = if context.has_vault()? { Some(check_vault(context, args)?) } else { None };
    let dirs = BaseDirs::find(&context.settings()?.directories);
    let clients = setup::check(&dirs);
    if context.is_json() {
        context.printer.json(&DoctorJson {
            vault: found.is_some(),
            check: found.as_ref().map(check_json),
            clients: clients.iter().map(|wired| client_json(wired, &dirs)).collect(),
        })?;
    } else {
        match &found {
            Some(found) => {
                print(context, found)?;
                print_model(&context.printer, found.model.as_ref())?;
            }
            None => print_no_vault(context, &dirs)?,
        }
        print_clients(&context.printer, &clients, &dirs)?;
    }
    let agrees = found.is_none_or(|found| found.report.check.is_ok());
    let can_start = !clients.iter().any(|wired| matches!(wired.finding, EntryFinding::Missing(_)));
    Ok(if agrees && can_start { Exit::Success } else { Exit::NotFound })
}

fn check_vault(context: &CommandContext, args: &Args) -> Result<VaultCheck> {
    let memory = context.open_existing()?;
    let mut report = run_doctor(memory)?;
    let mut restored = 0;
    if args.restore && !report.check.lost.is_empty() {
        restored = memory.restore_lost(&context.author())?.map_or(0, |commit| commit.files.len());
        report = run_doctor(memory)?;
    }
    let repaired = args.repair && !report.check.agrees();
    if repaired {
        let mut progress = ProgressBar::new(&context.printer);
        memory.reindex(&mut |step| progress.update(step))?;
        drop(progress);
        report = run_doctor(memory)?;
    }
    Ok(VaultCheck {
        report,
        repaired,
        restored,
        model: probe_model(memory, memory.model_status()?),
    })
}

fn print_no_vault(context: &CommandContext, dirs: &BaseDirs) -> Result<()> {
    let home = dirs.shown(&context.settings()?.home());
    print_note(&context.printer, &format!("there is no vault at {home} yet"))?;
    context.printer.hint(
        "`memoranda init` makes it, and so does the first client that starts Memoranda; `--home DIR` \
         names another",
    );
    Ok(())
}

fn print_model(printer: &Printer, model: Option<&ModelStatus>) -> Result<()> {
    let text = format!("search uses {}", describe_model(model));
    match model.map(|model| &model.coverage) {
        Some(Err(_)) => print_note(printer, &visible(&text)),
        Some(Ok(coverage)) if coverage.covered < coverage.passages => {
            print_note(printer, &visible(&text))?;
            printer.hint("`memoranda embed` makes the rest; a running server does it by itself");
            Ok(())
        }
        _ => print_ok(printer, &visible(&text)),
    }
}

/// Returns the checks of the vault for the page, each with its sentence.
pub(crate) fn page_checks(memory: &Memory) -> Result<serde_json::Value> {
    let report = run_doctor(memory)?;
    let check = &report.check;
    let damaged: Vec<String> = check
        .damage
        .iter()
        .map(|damage| {
            let (bytes, offset) = (damage.bytes, damage.offset);
            format!("{bytes} bytes at {offset} of log segment {}", damage.segment)
        })
        .collect();
    let unavailable: Vec<String> =
        check.unavailable.iter().map(|(project, reason)| format!("{project}: {reason}")).collect();
    let files = counted(check.files, "file");
    let line = |name: &str, good: String, bad: &str, found: Vec<String>| {
        let ok = found.is_empty();
        let detail = if ok { good } else { format!("{bad} {}", found.join(", ")) };
        let level = if ok { "ok" } else { "error" };
        serde_json::json!({ "name": name, "ok": ok, "level": level, "detail": detail })
    };
    let commits = counted(check.commits, "commit");
    Ok(serde_json::json!([
        line("scan", scan_sentence(&report.sync), "", Vec::new()),
        line(
            "history",
            format!("the history is whole: {commits}"),
            "the history is damaged:",
            damaged
        ),
        line(
            "chain",
            "the chain of every log is whole".to_owned(),
            "the chain of the log breaks at",
            broken_links(check),
        ),
        line(
            "acknowledged",
            "every acknowledged file is there".to_owned(),
            "lost without an edit (`memoranda doctor --restore` brings them back):",
            lost_files(check),
        ),
        line(
            "texts",
            "the history has the text of every file".to_owned(),
            "the history lacks the text of",
            names(&check.unkept),
        ),
        line(
            "index",
            format!("the index has every file as it is: {files}"),
            "the index is behind for",
            names(&check.stale),
        ),
        line(
            "rebuild",
            "a rebuilt index is identical".to_owned(),
            "a rebuilt index differs in",
            check.differing.iter().map(ToString::to_string).collect(),
        ),
        line(
            "folders",
            "the folder of every project can be reached".to_owned(),
            "folders that cannot be reached:",
            unavailable,
        ),
    ]))
}

fn run_doctor(memory: &Memory) -> Result<DoctorReport> {
    let scratch = crate::files::private_folder("memoranda-doctor-");
    let scratch = scratch.map_err(|e| CommandError::io("make a folder to compare in", &e))?;
    Ok(memory.doctor(scratch.path())?)
}

fn print(context: &CommandContext, found: &VaultCheck) -> Result<()> {
    let VaultCheck { report, repaired, restored, .. } = found;
    let printer = &context.printer;
    let check = &report.check;
    print_ok(printer, &scan_sentence(&report.sync))?;
    let whole = format!("the history is whole: {}", counted(check.commits, "commit"));
    let damaged = check.damage.iter().map(|damage| {
        format!("{} bytes at {} of log segment {}", damage.bytes, damage.offset, damage.segment)
    });
    print_check(printer, &whole, "the history is damaged", &damaged.collect::<Vec<_>>())?;
    let chain = "the records of each device follow each other";
    print_check(printer, chain, "records are missing or were changed", &broken_links(check))?;
    print_check(
        printer,
        "the files have what was written to them",
        "after a restart files were found without what was written to them",
        &lost_files(check),
    )?;
    print_check(
        printer,
        "the history has the text of every file",
        "the history lacks the text of",
        &names(&check.unkept),
    )?;
    print_check(
        printer,
        &format!("the index has every file as it is: {}", counted(check.files, "file")),
        "the index is behind for",
        &names(&check.stale),
    )?;
    print_check(
        printer,
        "a rebuilt index is identical",
        "a rebuilt index differs in",
        &check.differing,
    )?;
    for (project, reason) in &check.unavailable {
        print_note(
            printer,
            &format!("the folder of project {project} cannot be reached: {reason}"),
        )?;
    }
    for (project, place, reason) in &report.sync.unreadable {
        print_note(printer, &format!("{project}/{} is not read: {reason}", visible(place)))?;
    }
    for (project, place, reason) in report.sync.skipped.iter().take(MAX_LEFT_OUT_NAMES) {
        print_note(printer, &format!("{project}/{} is left out: {reason}", visible(place)))?;
    }
    let more = report.sync.skipped.len().saturating_sub(MAX_LEFT_OUT_NAMES);
    if more > 0 {
        let more = counted(more, "more name");
        print_note(printer, &format!("{more} left out; `memoranda scan -v` says which and why"))?;
    }
    for (place, line, message) in problems(check) {
        print_note(printer, &format!("{place}:{line}: {}", visible(&message)))?;
    }
    if *restored > 0 {
        printer.say(format!("Brought back {}.", counted(*restored, "file")));
    }
    if !check.lost.is_empty() {
        printer.hint("`memoranda doctor --restore` brings them back");
    }
    if *repaired {
        printer.say("The index was rebuilt.");
    }
    if !check.agrees() && !repaired {
        printer.hint("`memoranda doctor --repair` rebuilds the index");
    }
    if !check.damage.is_empty() || !check.unkept.is_empty() || !check.broken_links.is_empty() {
        printer
            .hint("damage in the history cannot be repaired; restore .memoranda/log from a backup");
    }
    Ok(())
}

fn print_clients(printer: &Printer, clients: &[InstalledEntry], dirs: &BaseDirs) -> Result<()> {
    let mut missing = Vec::new();
    for InstalledEntry { client, file, part, finding } in clients {
        let who = match part {
            EntryPart::Server => client.title.to_owned(),
            EntryPart::Hooks => format!("{}, for hooks,", client.title),
        };
        let file = dirs.shown(file);
        match finding {
            EntryFinding::This => {
                print_ok(printer, &format!("{who} starts this program ({file})"))?
            }
            EntryFinding::Address(address) => {
                print_ok(printer, &format!("{who} connects to {} ({file})", visible(address)))?;
            }
            EntryFinding::Other(path) => {
                let path = visible(path);
                print_note(printer, &format!("{who} starts another program: {path} ({file})"))?;
                printer.hint(format!("`memoranda setup {}` names this one", client.name));
            }
            EntryFinding::Missing(program) => {
                missing.push(format!("{who} starts {program}, which is not there ({file})"));
                printer.hint(format!("`memoranda setup {}` repairs it", client.name));
            }
            EntryFinding::Untrusted => {
                let title = client.title;
                print_note(
                    printer,
                    &format!(
                        "{title} has the hooks, but has not noted that you trust them ({file})"
                    ),
                )?;
                if let Some(after) = client.after_hooks() {
                    printer.hint(format!("{title}: {after}"));
                }
            }
            EntryFinding::Unreadable(why) => {
                let why = visible(why);
                print_note(printer, &format!("{file} of {} cannot be read: {why}", client.title))?;
            }
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        print_check(printer, "", "clients cannot start Memoranda", &missing)
    }
}

/// Names the records whose hash does not follow from the record before.
fn broken_links(check: &memoranda_engine::CheckReport) -> Vec<String> {
    check
        .broken_links
        .iter()
        .map(|link| {
            format!(
                "record {} of device {} does not follow the one before it",
                link.seq, link.device
            )
        })
        .collect()
}

/// Names the files that are gone, empty, cut or older although nobody edited them.
fn lost_files(check: &memoranda_engine::CheckReport) -> Vec<String> {
    check
        .lost
        .iter()
        .map(|lost| {
            let (state, commit) = (lost.state.as_str(), lost.commit.short());
            format!("{}/{} is {state} since commit {commit}", lost.project, lost.path)
        })
        .collect()
}

fn print_check(printer: &Printer, well: &str, wrong: &str, found: &[String]) -> Result<()> {
    if found.is_empty() {
        return print_ok(printer, well);
    }
    printer.line(format!("{BAD}FAIL{BAD:#}  {wrong}:"))?;
    found.iter().try_for_each(|item| printer.line(format!("      {}", visible(item))))
}

fn print_ok(printer: &Printer, text: &str) -> Result<()> {
    printer.line(format!("{GOOD}ok{GOOD:#}    {text}"))
}

fn print_note(printer: &Printer, text: &str) -> Result<()> {
    printer.line(format!("{HIT}note{HIT:#}  {text}"))
}

fn names(places: &[(ProjectName, NotePath)]) -> Vec<String> {
    places.iter().map(|(project, path)| format!("{project}/{path}")).collect()
}

fn problems(check: &CheckReport) -> Vec<(NoteLocation, usize, String)> {
    let of = |found: &memoranda_engine::FileProblems| {
        let place = NoteLocation { project: found.project.clone(), path: found.path.clone() };
        let problems = found.problems.iter();
        problems.map(|p| (place.clone(), p.line, p.message.clone())).collect::<Vec<_>>()
    };
    check.problems.iter().flat_map(of).collect()
}

fn check_json(found: &VaultCheck) -> CheckJson {
    let VaultCheck { report, repaired, restored, model } = found;
    let check = &report.check;
    let places = |places: &[(ProjectName, NotePath)]| {
        let place = |(project, path): &(ProjectName, NotePath)| {
            PlaceJson::from(&NoteLocation { project: project.clone(), path: path.clone() })
        };
        places.iter().map(place).collect()
    };
    CheckJson {
        agrees: check.is_ok(),
        repaired: *repaired,
        files: check.files,
        commits: check.commits,
        damage: check
            .damage
            .iter()
            .map(|damage| DamageJson {
                segment: damage.segment.clone(),
                offset: damage.offset,
                bytes: damage.bytes,
            })
            .collect(),
        broken_links: check
            .broken_links
            .iter()
            .map(|link| BrokenLinkJson { device: link.device.clone(), seq: link.seq })
            .collect(),
        lost: check
            .lost
            .iter()
            .map(|lost| LostFileJson {
                project: lost.project.to_string(),
                path: lost.path.to_string(),
                state: lost.state.as_str(),
                commit: lost.commit.to_string(),
            })
            .collect(),
        restored: *restored,
        unkept: places(&check.unkept),
        stale: places(&check.stale),
        differing: check.differing.clone(),
        unavailable: check
            .unavailable
            .iter()
            .map(|(project, reason)| UnavailableJson {
                project: project.to_string(),
                reason: reason.clone(),
            })
            .collect(),
        problems: problems(check)
            .into_iter()
            .map(|(place, line, message)| NoteProblemJson {
                project: place.project.to_string(),
                path: place.path.to_string(),
                line,
                message,
            })
            .collect(),
        model: model.as_ref().map(ModelJson::from),
        sync: ScanJson::from(&report.sync),
    }
}

fn client_json(wired: &InstalledEntry, dirs: &BaseDirs) -> ClientCheckJson {
    let (state, program) = match &wired.finding {
        EntryFinding::This => ("well", None),
        EntryFinding::Address(address) => ("address", Some(address)),
        EntryFinding::Other(path) => ("other", Some(path)),
        EntryFinding::Missing(program) => ("missing", Some(program)),
        EntryFinding::Untrusted => ("untrusted", None),
        EntryFinding::Unreadable(_) => ("unreadable", None),
    };
    ClientCheckJson {
        name: wired.client.name,
        file: dirs.shown(&wired.file),
        part: match wired.part {
            EntryPart::Server => "server",
            EntryPart::Hooks => "hooks",
        },
        state,
        program: program.cloned(),
    }
}
