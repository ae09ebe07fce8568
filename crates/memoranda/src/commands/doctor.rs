//! `memoranda doctor`: prove that files, history and index agree, and that clients find us.

use memoranda_clients::doctor::{doctor_checks, run_doctor};
use memoranda_clients::setup::{self, BaseDirs, EntryFinding, EntryPart, InstalledEntry};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{CheckReport, DoctorReport, ModelStatus, NoteLocation};
use serde::Serialize;

use super::scan::{ScanJson, UnavailableJson};
use super::status::{ModelJson, describe_model, probe_model};
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::json_output::PlaceJson;
use crate::output::{BAD, GOOD, HIT, Printer, counted, visible};
use crate::progress::ProgressBar;

/// Maximum number of omitted files that are listed.
const MAX_LEFT_OUT_NAMES: usize = 20;

/// Check everything: that the history is whole, that files, history and index agree, and that
/// every client that was connected can start this program.
///
/// Reads every file and the whole history, builds a second index and compares it with the present
/// one. Ends with exit code 1 if something disagrees. Problems in the text of notes are listed
/// without a failure. --repair rebuilds the index; it never changes your files. --restore brings
/// back versions that were acknowledged and are gone without an edit, as after a power cut. Without
/// a vault, only the clients are checked.
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
    let dirs = context.settings()?.directories.clients();
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

fn print(context: &CommandContext, found: &VaultCheck) -> Result<()> {
    let VaultCheck { report, repaired, restored, .. } = found;
    let printer = &context.printer;
    let check = &report.check;
    let checks = doctor_checks(report);
    for check in &checks {
        print_check(printer, &check.passed, check.failed, &check.found)?;
    }
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
    if *repaired {
        printer.say("The index was rebuilt.");
    }
    let failed = checks.iter().filter(|check| !check.found.is_empty());
    let mut remedies: Vec<&str> = failed.filter_map(|check| check.remedy).collect();
    remedies.dedup();
    remedies.iter().for_each(|remedy| printer.hint(remedy));
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

/// Column at which the text of a check begins.
const CHECK_INDENT: usize = 6;

fn print_check(printer: &Printer, well: &str, wrong: &str, found: &[String]) -> Result<()> {
    if found.is_empty() {
        return print_ok(printer, well);
    }
    printer.hanging(format!("{BAD}FAIL{BAD:#}  {wrong}:"), CHECK_INDENT)?;
    found
        .iter()
        .try_for_each(|item| printer.hanging(format!("      {}", visible(item)), CHECK_INDENT + 2))
}

fn print_ok(printer: &Printer, text: &str) -> Result<()> {
    printer.hanging(format!("{GOOD}ok{GOOD:#}    {text}"), CHECK_INDENT)
}

fn print_note(printer: &Printer, text: &str) -> Result<()> {
    printer.hanging(format!("{HIT}note{HIT:#}  {text}"), CHECK_INDENT)
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
