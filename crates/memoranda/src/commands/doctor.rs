//! `memoranda doctor`: prove that files, history and index agree, and that clients find us.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{CheckReport, DoctorReport, Memory, ModelStatus, Place};
use serde::Serialize;

use super::scan::{SyncJson, sentence};
use super::status::{ModelJson, meaning, tried};
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{BAD, GOOD, HIT, Printer, counted, visible};
use crate::progress::Progress;
use crate::session::Session;
use crate::setup::{self, Bases, Finding, Part, Wired};
use crate::wire::PlaceJson;

/// How many names that are left out are told one by one.
const MOST_LEFT_OUT: usize = 20;

/// Check everything: that the history is whole, that files, history and index agree, and that
/// every client that was connected can start this program.
///
/// Reads every file and the whole history, builds a second index and compares it with the present
/// one. Ends with exit code 1 if something disagrees. Problems in the text of notes are listed
/// without a failure. --repair rebuilds the index; it never changes your files. Without a vault,
/// only the clients are checked.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda doctor
  memoranda doctor --repair

JSON (--json):
  {vault, agrees, repaired, files, commits, damage: [{segment, offset, bytes}],
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
}

#[derive(Serialize)]
struct DoctorJson {
    vault: bool,
    #[serde(flatten)]
    check: Option<CheckJson>,
    clients: Vec<ClientJson>,
}

#[derive(Serialize)]
struct CheckJson {
    agrees: bool,
    repaired: bool,
    files: usize,
    commits: usize,
    damage: Vec<DamageJson>,
    unkept: Vec<PlaceJson>,
    stale: Vec<PlaceJson>,
    differing: Vec<String>,
    unavailable: Vec<UnavailableJson>,
    problems: Vec<ProblemJson>,
    model: Option<ModelJson>,
    sync: SyncJson,
}

#[derive(Serialize)]
struct DamageJson {
    segment: String,
    offset: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct UnavailableJson {
    project: String,
    reason: String,
}

#[derive(Serialize)]
struct ProblemJson {
    project: String,
    path: String,
    line: usize,
    message: String,
}

#[derive(Serialize)]
struct ClientJson {
    name: &'static str,
    file: String,
    part: &'static str,
    state: &'static str,
    program: Option<String>,
}

/// What was found of the vault.
struct Found {
    report: DoctorReport,
    repaired: bool,
    model: Option<ModelStatus>,
}

/// Checks everything.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let found = if session.has_vault()? { Some(find(session, args)?) } else { None };
    let bases = Bases::find(&session.settings()?.directories);
    let clients = setup::check(&bases);
    if session.is_json() {
        session.printer.json(&DoctorJson {
            vault: found.is_some(),
            check: found.as_ref().map(wire),
            clients: clients.iter().map(|wired| client_json(wired, &bases)).collect(),
        })?;
    } else {
        match &found {
            Some(found) => {
                print(session, &found.report, found.repaired)?;
                print_model(&session.printer, found.model.as_ref())?;
            }
            None => print_no_vault(session, &bases)?,
        }
        print_clients(&session.printer, &clients, &bases)?;
    }
    let agrees = found.is_none_or(|found| found.report.check.agrees());
    let can_start = !clients.iter().any(|wired| matches!(wired.finding, Finding::Missing(_)));
    Ok(if agrees && can_start { Exit::Done } else { Exit::NotFound })
}

fn find(session: &Session, args: &Args) -> Result<Found> {
    let memory = session.memory()?;
    let mut report = checked(memory)?;
    let repaired = args.repair && !report.check.agrees();
    if repaired {
        let mut progress = Progress::new(&session.printer);
        memory.reindex(&mut |step| progress.update(step))?;
        drop(progress);
        report = checked(memory)?;
    }
    Ok(Found { report, repaired, model: tried(memory, memory.model_status()?) })
}

fn print_no_vault(session: &Session, bases: &Bases) -> Result<()> {
    let home = bases.shown(&session.settings()?.home());
    note(&session.printer, &format!("there is no vault at {home} yet"))?;
    session.printer.hint(
        "`memoranda init` makes it, and so does the first client that starts Memoranda; `--home DIR` \
         names another",
    );
    Ok(())
}

fn print_model(printer: &Printer, model: Option<&ModelStatus>) -> Result<()> {
    let text = format!("search uses {}", meaning(model));
    match model.map(|model| &model.coverage) {
        Some(Err(_)) => note(printer, &visible(&text)),
        Some(Ok(coverage)) if coverage.covered < coverage.passages => {
            note(printer, &visible(&text))?;
            printer.hint("`memoranda embed` makes the rest; a running server does it by itself");
            Ok(())
        }
        _ => ok(printer, &visible(&text)),
    }
}

fn checked(memory: &Memory) -> Result<DoctorReport> {
    let scratch = crate::files::private_folder("memoranda-doctor-");
    let scratch = scratch.map_err(|e| CommandError::io("make a folder to compare in", &e))?;
    Ok(memory.doctor(scratch.path())?)
}

fn print(session: &Session, report: &DoctorReport, repaired: bool) -> Result<()> {
    let printer = &session.printer;
    let check = &report.check;
    ok(printer, &sentence(&report.sync))?;
    let whole = format!("the history is whole: {}", counted(check.commits, "commit"));
    let damaged = check.damage.iter().map(|damage| {
        format!("{} bytes at {} of log segment {}", damage.bytes, damage.offset, damage.segment)
    });
    line(printer, &whole, "the history is damaged", &damaged.collect::<Vec<_>>())?;
    line(
        printer,
        "the history has the text of every file",
        "the history lacks the text of",
        &names(&check.unkept),
    )?;
    line(
        printer,
        &format!("the index has every file as it is: {}", counted(check.files, "file")),
        "the index is behind for",
        &names(&check.stale),
    )?;
    line(printer, "a rebuilt index is identical", "a rebuilt index differs in", &check.differing)?;
    for (project, reason) in &check.unavailable {
        note(printer, &format!("the folder of project {project} cannot be reached: {reason}"))?;
    }
    for (project, place, reason) in &report.sync.unreadable {
        note(printer, &format!("{project}/{} is not read: {reason}", visible(place)))?;
    }
    for (project, place, reason) in report.sync.skipped.iter().take(MOST_LEFT_OUT) {
        note(printer, &format!("{project}/{} is left out: {reason}", visible(place)))?;
    }
    let more = report.sync.skipped.len().saturating_sub(MOST_LEFT_OUT);
    if more > 0 {
        let more = counted(more, "more name");
        note(printer, &format!("{more} left out; `memoranda scan -v` says which and why"))?;
    }
    for (place, line, message) in problems(check) {
        note(printer, &format!("{place}:{line}: {}", visible(&message)))?;
    }
    if repaired {
        printer.say("The index was rebuilt.");
    }
    if !check.agrees() && !repaired {
        printer.hint("`memoranda doctor --repair` rebuilds the index");
    }
    if !check.damage.is_empty() || !check.unkept.is_empty() {
        printer
            .hint("damage in the history cannot be repaired; restore .memoranda/log from a backup");
    }
    Ok(())
}

fn print_clients(printer: &Printer, clients: &[Wired], bases: &Bases) -> Result<()> {
    let mut missing = Vec::new();
    for Wired { client, file, part, finding } in clients {
        let who = match part {
            Part::Server => client.title.to_owned(),
            Part::Hooks => format!("{}, for hooks,", client.title),
        };
        let file = bases.shown(file);
        match finding {
            Finding::This => ok(printer, &format!("{who} starts this program ({file})"))?,
            Finding::Address(address) => {
                ok(printer, &format!("{who} connects to {} ({file})", visible(address)))?;
            }
            Finding::Other(path) => {
                let path = visible(path);
                note(printer, &format!("{who} starts another program: {path} ({file})"))?;
                printer.hint(format!("`memoranda setup {}` names this one", client.name));
            }
            Finding::Missing(program) => {
                missing.push(format!("{who} starts {program}, which is not there ({file})"));
                printer.hint(format!("`memoranda setup {}` repairs it", client.name));
            }
            Finding::Untrusted => {
                let title = client.title;
                note(
                    printer,
                    &format!(
                        "{title} has the hooks, but has not noted that you trust them ({file})"
                    ),
                )?;
                if let Some(after) = client.after_hooks() {
                    printer.hint(format!("{title}: {after}"));
                }
            }
            Finding::Unreadable(why) => {
                let why = visible(why);
                note(printer, &format!("{file} of {} cannot be read: {why}", client.title))?;
            }
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        line(printer, "", "clients cannot start Memoranda", &missing)
    }
}

fn line(printer: &Printer, well: &str, wrong: &str, found: &[String]) -> Result<()> {
    if found.is_empty() {
        return ok(printer, well);
    }
    printer.line(format!("{BAD}FAIL{BAD:#}  {wrong}:"))?;
    found.iter().try_for_each(|item| printer.line(format!("      {}", visible(item))))
}

fn ok(printer: &Printer, text: &str) -> Result<()> {
    printer.line(format!("{GOOD}ok{GOOD:#}    {text}"))
}

fn note(printer: &Printer, text: &str) -> Result<()> {
    printer.line(format!("{HIT}note{HIT:#}  {text}"))
}

fn names(places: &[(ProjectName, NotePath)]) -> Vec<String> {
    places.iter().map(|(project, path)| format!("{project}/{path}")).collect()
}

fn problems(check: &CheckReport) -> Vec<(Place, usize, String)> {
    let of = |found: &memoranda_engine::FileProblems| {
        let place = Place { project: found.project.clone(), path: found.path.clone() };
        let problems = found.problems.iter();
        problems.map(|p| (place.clone(), p.line, p.message.clone())).collect::<Vec<_>>()
    };
    check.problems.iter().flat_map(of).collect()
}

fn wire(Found { report, repaired, model }: &Found) -> CheckJson {
    let check = &report.check;
    let places = |places: &[(ProjectName, NotePath)]| {
        let place = |(project, path): &(ProjectName, NotePath)| {
            PlaceJson::from(&Place { project: project.clone(), path: path.clone() })
        };
        places.iter().map(place).collect()
    };
    CheckJson {
        agrees: check.agrees(),
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
            .map(|(place, line, message)| ProblemJson {
                project: place.project.to_string(),
                path: place.path.to_string(),
                line,
                message,
            })
            .collect(),
        model: model.as_ref().map(ModelJson::from),
        sync: SyncJson::from(&report.sync),
    }
}

fn client_json(wired: &Wired, bases: &Bases) -> ClientJson {
    let (state, program) = match &wired.finding {
        Finding::This => ("well", None),
        Finding::Address(address) => ("address", Some(address)),
        Finding::Other(path) => ("other", Some(path)),
        Finding::Missing(program) => ("missing", Some(program)),
        Finding::Untrusted => ("untrusted", None),
        Finding::Unreadable(_) => ("unreadable", None),
    };
    ClientJson {
        name: wired.client.name,
        file: bases.shown(&wired.file),
        part: match wired.part {
            Part::Server => "server",
            Part::Hooks => "hooks",
        },
        state,
        program: program.cloned(),
    }
}
