//! `memoranda log`: the history, with the author and time of each change.

use clap_complete::engine::ArgValueCompleter;
use memoranda_engine::core::change::{Author, Commit};
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{EngineError, HistoryFilter, Memory, NoteLocation, ResolveIntent};
use serde::Serialize;

use super::diff;
use super::undo::{describe_commit, describe_with_text};
use crate::complete;
use crate::context::{CommandContext, NoteOrFolder};
use crate::error::{FailureKind, Result};
use crate::exit::Exit;
use crate::json_output::{CommitJson, change_action, short_id};
use crate::output::{FAINT, HIT, OutputFormat, PLACE, STRONG, visible};
use crate::table::{self, TableColumn};
use crate::{picker, time};

/// Show the history with times and authors: of everything, a note or a folder.
///
/// A note is followed through its moves, and may be deleted by now. The newest comes first.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda log
  memoranda log 'Q3 plan' -v
  memoranda log --since yesterday --client claude-code
  memoranda log --json -n 1 | jq -r '.commits[0].id'

JSON (--json):
  {commits: [{id, time, client, tool, channel, message, kind, files: [{project, path, action,
  moved_from, before, after}]}], has_more}; action is added, changed, moved or deleted; kind is
  null for a write, or scan, first-scan, undo or redo")]
pub(crate) struct Args {
    /// Only what concerns this note or folder.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::notes))]
    note: Option<String>,

    /// Nothing before this time: 7d, yesterday, 2026-01-31.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Nothing after this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Only what this program or person did, such as `claude-code` or the name that the log shows;
    /// `person` for edits in the files.
    #[arg(long, value_name = "NAME")]
    client: Option<String>,

    /// Maximum number of commits.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 30)]
    limit: usize,

    /// Pick one commit with the arrow keys or by typing, and show what it changed.
    #[arg(short, long, conflicts_with_all = ["json", "plain"])]
    interactive: bool,
}

#[derive(Serialize)]
struct LogJson {
    commits: Vec<CommitJson>,
    has_more: bool,
}

/// Width below which a commit takes two lines: the change is what matters, and a column would cut it.
const TABLE_WIDTH: usize = 100;

/// Number of commits that are read at a time.
const PAGE_COMMITS: usize = 200;

/// More versions of one note than this are not looked at.
const MAX_REVISIONS: usize = 100_000;

/// Prints the history.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let mut filter = HistoryFilter {
        project: context.requested_project(memory)?,
        path: None,
        since: time::parse_some(args.since.as_deref())?,
        until: time::parse_some(args.until.as_deref())?,
        before: None,
        client: args.client.clone(),
        conversation: None,
    };
    let limit = args.limit;
    let mut commits = match &args.note {
        None => newest(context, memory, &filter, limit.saturating_add(1))?,
        Some(name) => match find_note_or_folder(context, memory, name)? {
            NoteOrFolder::Note(place) => revisions(context, memory, &place, &filter)?,
            NoteOrFolder::Folder(place) => {
                filter.project = Some(place.project);
                filter.path = Some(place.path);
                newest(context, memory, &filter, limit.saturating_add(1))?
            }
        },
    };
    let has_more = commits.len() > limit;
    commits.truncate(limit);
    if args.interactive && !commits.is_empty() {
        return pick(context, memory, &commits);
    }
    print(context, memory, &commits, has_more)?;
    Ok(Exit::Success)
}

/// Shows the commit that the user picks.
fn pick(context: &CommandContext, memory: &Memory, commits: &[Commit]) -> Result<Exit> {
    let now = time::now();
    let line = |commit: &Commit| {
        let when = time::ago(commit.time, &now);
        let what = describe_with_text(memory, commit);
        format!("{}  {when}  {}  {what}", short_id(commit), context.author_name(&commit.author))
    };
    let width = context.printer.width().map_or(usize::MAX, |width| width.saturating_sub(4));
    let lines: Vec<String> =
        commits.iter().map(|commit| table::truncate(&line(commit), width)).collect();
    match picker::pick(context, "Show which commit?", &lines)?.and_then(|n| commits.get(n)) {
        Some(commit) => diff::run(context, &diff::Args::of_commit(commit.id.as_str())),
        None => Ok(Exit::Success),
    }
}

/// Returns true if an author is the one of a name: as programs announce themselves, or as the log
/// shows the person.
fn is_called(context: &CommandContext, author: &Author, name: &str) -> bool {
    author.is_called(name) || author.is_person() && context.author_name(author) == name
}

/// Returns the newest commits that match. Edits in files are recorded without the name of the person,
/// so that they are recognised here.
fn newest(
    context: &CommandContext,
    memory: &Memory,
    filter: &HistoryFilter,
    limit: usize,
) -> Result<Vec<Commit>> {
    let Some(name) = filter.client.as_deref().filter(|name| *name == context.person_name()) else {
        return Ok(memory.log(filter, limit, 0)?);
    };
    let everyone = HistoryFilter { client: None, ..filter.clone() };
    let mut found = Vec::new();
    for offset in (0..).step_by(PAGE_COMMITS) {
        let page = memory.log(&everyone, PAGE_COMMITS, offset)?;
        let is_last = page.len() < PAGE_COMMITS;
        found.extend(page.into_iter().filter(|commit| is_called(context, &commit.author, name)));
        if is_last || found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

fn revisions(
    context: &CommandContext,
    memory: &Memory,
    place: &NoteLocation,
    filter: &HistoryFilter,
) -> Result<Vec<Commit>> {
    let commits = memory.revisions(place, MAX_REVISIONS)?.into_iter().map(|found| found.commit);
    let fits = |commit: &Commit| {
        filter.since.is_none_or(|since| commit.time >= since)
            && filter.until.is_none_or(|until| commit.time <= until)
            && filter.client.as_deref().is_none_or(|name| is_called(context, &commit.author, name))
    };
    Ok(commits.filter(fits).collect())
}

/// The note or folder of a name, also one that exists no more.
pub(crate) fn find_note_or_folder(
    context: &CommandContext,
    memory: &Memory,
    name: &str,
) -> Result<NoteOrFolder> {
    // An exact path takes precedence over a similar note that exists.
    for (project, path) in context.candidate_locations(memory, name)? {
        let Ok(path) = NotePath::parse(&path) else { continue };
        let place = NoteLocation { project, path };
        if !memory.revisions(&place, 1)?.is_empty() {
            return Ok(NoteOrFolder::Note(place));
        }
    }
    let missing = match context.resolve_note_or_folder(memory, name, ResolveIntent::Read) {
        Err(e) if e.kind == FailureKind::Exit(Exit::NotFound) => e,
        other => return other,
    };
    for (project, path) in context.candidate_locations(memory, name.trim_end_matches('/'))? {
        for path in [path.clone(), format!("{path}.md")] {
            let Ok(path) = NotePath::parse(&path) else { continue };
            let place = NoteLocation { project: project.clone(), path: path.clone() };
            if !memory.revisions(&place, 1)?.is_empty() {
                return Ok(NoteOrFolder::Note(place));
            }
            let filter = HistoryFilter {
                project: Some(project.clone()),
                path: Some(path),
                ..HistoryFilter::default()
            };
            if !memory.log(&filter, 1, 0)?.is_empty() {
                return Ok(NoteOrFolder::Folder(place));
            }
        }
    }
    // By title or permalink, as it was when it was there.
    let (project, name) = context.strip_project_prefix(name)?;
    match memory.place_in_history(project, &name, ResolveIntent::Read) {
        Ok(place) => Ok(NoteOrFolder::Note(place)),
        Err(EngineError::NotFound { .. }) => Err(missing),
        Err(other) => Err(other.into()),
    }
}

fn print(
    context: &CommandContext,
    memory: &Memory,
    commits: &[Commit],
    has_more: bool,
) -> Result<()> {
    context.start_pager();
    let printer = &context.printer;
    if context.is_json() {
        let commits = commits.iter().map(CommitJson::from).collect();
        return printer.json(&LogJson { commits, has_more });
    }
    if commits.is_empty() {
        printer.say("No commits.");
        return Ok(());
    }
    if context.args.verbose && printer.format == OutputFormat::Pretty {
        return commits.iter().try_for_each(|commit| print_long(context, commit));
    }
    let now = time::now();
    if printer.width().is_some_and(|width| width < TABLE_WIDTH) {
        for commit in commits {
            let (id, when) = (short_id(commit), time::ago(commit.time, &now));
            let who = context.author_name(&commit.author);
            let (who, what) = (visible(&who), describe_with_text(memory, commit));
            printer.text(format!(
                "{HIT}{id}{HIT:#}  {FAINT}{when}{FAINT:#}  {STRONG}{who}{STRONG:#}  {}",
                visible(&commit.author.tool)
            ))?;
            printer.text(format!("  {PLACE}{}{PLACE:#}", visible(&what)))?;
        }
    } else {
        let columns = [
            TableColumn::word("COMMIT", HIT),
            TableColumn::word("WHEN", FAINT),
            TableColumn::text("WHO", STRONG),
            TableColumn::optional("TOOL", anstyle::Style::new()),
            TableColumn::path("WHAT", PLACE),
        ];
        let row = |commit: &Commit| {
            let (id, when, what) = match printer.format {
                OutputFormat::Plain => {
                    (commit.id.to_string(), commit.time.to_string(), describe_commit(commit))
                }
                OutputFormat::Pretty | OutputFormat::Json => {
                    let what = describe_with_text(memory, commit);
                    (short_id(commit), time::ago(commit.time, &now), what)
                }
            };
            let author = &commit.author;
            vec![id, when, context.author_name(author), author.tool.clone(), what]
        };
        table::print(printer, &columns, &commits.iter().map(row).collect::<Vec<_>>())?;
    }
    if has_more {
        printer.say("There are more: `-n N` shows more.");
    }
    Ok(())
}

fn print_long(context: &CommandContext, commit: &Commit) -> Result<()> {
    let printer = &context.printer;
    let author = &commit.author;
    let heading = format!(
        "{HIT}{}{HIT:#}  {}  {STRONG}{}{STRONG:#}  {} over {}",
        commit.id,
        time::local(commit.time),
        visible(&context.author_name(author)),
        visible(&author.tool),
        author.channel.as_str()
    );
    printer.hanging(heading, 2)?;
    if let Some(message) = &commit.message {
        printer.text(format!("    {}", visible(message)))?;
    }
    for file in &commit.files {
        let from = file.moved_from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let change = format!(
            "    {:<8}{PLACE}{}/{}{PLACE:#}{}",
            change_action(file),
            file.project,
            visible(file.path.as_str()),
            visible(&from)
        );
        printer.hanging(change, 12)?;
    }
    Ok(())
}
