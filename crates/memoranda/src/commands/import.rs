//! `memoranda import`: bring memories from elsewhere.

mod dialect_offer;
mod in_place;
mod upload;

pub(crate) use upload::{StagedUploads, import_upload};

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memoranda_engine::core::change::ChangeChannel;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{Author, EngineError, Memory, NoteLocation, StoreError, SyncScope, clock};
use memoranda_import::{
    DeletedPolicy, ImportInput, ImportMode, ImportOptions, ImportOutcome, ImportProblem,
    ImportSource, ImportSummary, ImportTarget, SOURCES, UsualPaths, default_locations,
    detect_source, global_ignore_file, import_source,
};
use serde::Serialize;
use tempfile::TempDir;

use crate::context::CommandContext;
use crate::env;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;
use crate::output::{FAINT, PLACE, STRONG, counted, visible};
use crate::progress::ProgressBar;
use crate::table::{self, TableColumn};

/// Bring memories from another system, or an archive of this one.
///
/// The kind of a file or folder is detected from its content; SOURCE names it where that is not
/// possible. A source that has a usual place needs no PATH. Every imported note says in its
/// frontmatter where it came from (imported_from, imported_id, imported_at), and keeps its times. A
/// second run brings only what is new or changed; what was edited or deleted here stays so.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda import --list                            what can be imported
  memoranda import ~/Downloads/data-export.zip -n    what would come
  memoranda import ~/Downloads/data-export.zip       conversations with Claude or ChatGPT
  memoranda import claude-code                       what Claude Code remembers
  memoranda import obsidian ~/Vault                  a vault, where it is and as it is
  memoranda import memory.tar --home ~/restored      a whole vault with its history

JSON (--json):
  {source, from, dry_run, created, updated, unchanged, edited, deleted, taken, failed, skipped:
  [{reason, count}], problems: [{at, message}], secrets: [{project, path}], commits: [ID],
  notes: [{id, project, path, outcome}]}
  for a folder that stays where it is: {source, from, dry_run, default_project, projects: [{name,
  path, in_vault, notes}], left_out: [{project, path, reason}]}; for an archive: {home, files,
  segments}; for --list: {sources: [{name, reads, becomes}]}")]
pub(crate) struct Args {
    /// Name of a source, or a file or folder of a detectable kind; `-` is standard input.
    #[arg(value_name = "SOURCE|PATH", required_unless_present = "list")]
    first: Option<PathBuf>,

    /// The file or folder.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    /// List what can be imported.
    #[arg(long, conflicts_with_all = ["first", "path"])]
    list: bool,

    /// Only say what would come.
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Put the notes into this folder of the project; entities into this thread.
    #[arg(long, value_name = "FOLDER")]
    to: Option<String>,

    /// Copy the files of a vault or folder into the vault.
    #[arg(long)]
    copy: bool,

    /// Let the files of a folder stay where they are, as a project.
    #[arg(long, conflicts_with_all = ["copy", "to"])]
    in_place: bool,

    /// Bring back also what was imported once and deleted here since.
    #[arg(long)]
    deleted: bool,
}

#[derive(Serialize)]
struct ArchiveJson {
    home: String,
    files: usize,
    segments: usize,
    left_out: Vec<String>,
    hidden: Vec<String>,
}

#[derive(Serialize)]
struct SourcesJson {
    sources: Vec<SourceJson>,
}

#[derive(Serialize)]
struct SourceJson {
    name: &'static str,
    reads: &'static str,
    becomes: &'static str,
}

#[derive(Serialize)]
struct ImportReportJson {
    source: &'static str,
    from: String,
    dry_run: bool,
    created: usize,
    updated: usize,
    unchanged: usize,
    edited: usize,
    deleted: usize,
    taken: usize,
    failed: usize,
    skipped: Vec<SkippedJson>,
    problems: Vec<ImportProblemJson>,
    secrets: Vec<crate::json_output::PlaceJson>,
    commits: Vec<String>,
    notes: Vec<ImportedNoteJson>,
}

#[derive(Serialize)]
struct SkippedJson {
    reason: &'static str,
    count: usize,
}

#[derive(Serialize)]
struct ImportProblemJson {
    at: String,
    message: String,
}

#[derive(Serialize)]
struct ImportedNoteJson {
    id: String,
    project: String,
    path: String,
    outcome: &'static str,
}

/// Brings what was named.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    if args.list {
        return list(context);
    }
    let (source, places) = requested_source(context, args)?;
    let mut all_is_well = true;
    if source.is_some_and(ImportSource::is_folder) && !places.is_empty() {
        let source = source.unwrap_or(ImportSource::Folder);
        // A vault stays where its owner put it; any other folder is copied, unless said otherwise.
        let stays =
            args.in_place || (source != ImportSource::Folder && !args.copy && args.to.is_none());
        if stays {
            return in_place::add(context, args, source, &places);
        }
        if context.settings()?.project.is_none() && args.to.is_none() {
            check_not_in_place(context, args, &places)?;
        }
    }
    for (_, path) in &places {
        let input = if path.as_os_str() == "-" {
            ImportInput::Bytes(read_piped()?)
        } else {
            ImportInput::open(path)?
        };
        let source = match source {
            Some(source) => source,
            None => detect_source(&input).map_err(|error| unknown_input(&input, error.into()))?,
        };
        match source {
            ImportSource::Archive => import_archive(context, args, &input)?,
            _ => all_is_well &= import_notes(context, args, source, &input)?,
        }
    }
    Ok(if all_is_well { Exit::Success } else { Exit::NotFound })
}

/// Path of the input, and its name for the reader.
type NamedPath = (Option<String>, PathBuf);

/// The source that was named, if one was, and where to look.
fn requested_source(
    context: &CommandContext,
    args: &Args,
) -> Result<(Option<ImportSource>, Vec<NamedPath>)> {
    let first = args.first.clone().unwrap_or_default();
    let named = first.to_str().and_then(ImportSource::parse);
    match (named, &args.path) {
        (Some(source), Some(path)) => Ok((Some(source), vec![(None, path.clone())])),
        (Some(source), None) => {
            let settings = context.settings()?;
            let config = settings.directories.config.parent().and_then(Path::parent);
            let home = &settings.directories.user;
            let memories_sh = env::MEMORIES_DATA_DIR.get().map(PathBuf::from);
            let memory_bank = env::MEMORY_BANK_ROOT.get().map(PathBuf::from);
            let config = config.unwrap_or(home);
            let usual = UsualPaths {
                home,
                config,
                memories_sh: memories_sh.as_deref(),
                memory_bank: memory_bank.as_deref(),
            };
            let places = default_locations(source, &usual);
            let (name, is_here) = (source.name(), first.exists());
            if !places.is_empty() {
                if is_here {
                    context.printer.warn(format!(
                        "{name} means what lies at its usual place; ./{} means what lies here",
                        visible(&first.display().to_string())
                    ));
                }
                return Ok((Some(source), places));
            }
            if is_here {
                return source_at_path(first);
            }
            let message = format!("nothing of {name} was found at its usual place");
            Err(CommandError::new(Exit::NotFound, message)
                .hint(format!("`memoranda import {name} PATH` names another")))
        }
        (None, None) => source_at_path(first),
        (None, Some(_)) => {
            let name = first.display().to_string();
            let near = SOURCES.iter().max_by(|a, b| {
                let likeness = |row: &str| strsim::jaro_winkler(row, &name);
                likeness(a.name).total_cmp(&likeness(b.name))
            });
            let hint = near.map_or("", |row| row.name);
            Err(CommandError::usage(format!("{name:?} is nothing to import from"))
                .hint(format!("did you mean {hint}? `memoranda import --list` lists them")))
        }
    }
}

/// Detects the source of a folder.
fn source_at_path(path: PathBuf) -> Result<(Option<ImportSource>, Vec<NamedPath>)> {
    let source =
        if path.is_dir() { Some(detect_source(&ImportInput::open(&path)?)?) } else { None };
    Ok((source, vec![(None, path)]))
}

fn read_piped() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| CommandError::io("read standard input", &e))?;
    Ok(bytes)
}

/// Unknown standard input was most likely an archive.
fn unknown_input(input: &ImportInput, error: CommandError) -> CommandError {
    match input {
        ImportInput::Bytes(_) => CommandError::usage(
            "standard input is not a whole tar archive, nor anything else that can be imported",
        )
        .hint("`memoranda import --list` lists what can be"),
        _ => error,
    }
}

fn list(context: &CommandContext) -> Result<Exit> {
    let sources = SOURCES.iter();
    if context.is_json() {
        let sources = sources
            .map(|row| SourceJson { name: row.name, reads: row.reads, becomes: row.becomes })
            .collect();
        context.printer.json(&SourcesJson { sources })?;
        return Ok(Exit::Success);
    }
    let columns = [
        TableColumn::word("SOURCE", STRONG),
        TableColumn::wrapped("READS", PLACE),
        TableColumn::optional_wrapped("BECOMES", FAINT),
    ];
    let row = |row: &memoranda_import::SourceRow| {
        vec![row.name.to_owned(), row.reads.to_owned(), row.becomes.to_owned()]
    };
    table::print(&context.printer, &columns, &sources.map(row).collect::<Vec<_>>())?;
    Ok(Exit::Success)
}

/// The vault that memories would come into.
enum ImportVault {
    /// The vault of the user.
    Real,
    /// A temporary vault for a dry run when no vault exists.
    Scratch(Memory, #[expect(dead_code, reason = "the folder goes when this goes")] TempDir),
}

impl ImportVault {
    fn open(context: &CommandContext, args: &Args) -> Result<Self> {
        if args.dry_run && !context.has_vault()? {
            let (memory, folder) = context.open_scratch()?;
            return Ok(Self::Scratch(memory, folder));
        }
        Ok(Self::Real)
    }

    fn memory<'a>(&'a self, context: &'a CommandContext) -> Result<&'a Memory> {
        match self {
            Self::Real => context.open_or_create(),
            Self::Scratch(memory, _) => Ok(memory),
        }
    }
}

/// Refuses to copy a folder into the project that it is: every note would be in its own way.
fn check_not_in_place(context: &CommandContext, args: &Args, places: &[NamedPath]) -> Result<()> {
    let vault = ImportVault::open(context, args)?;
    let projects = vault.memory(context)?.projects()?;
    for (_, folder) in places {
        let Some(info) = projects.iter().find(|info| is_same_folder(&info.project.path, folder))
        else {
            continue;
        };
        let (shown, name) = (context.shown_path(folder), &info.project.name);
        let message =
            format!("{} is the project {name} already; its notes are there", visible(&shown));
        return Err(CommandError::usage(message)
            .hint(format!("`-p NAME` copies them into another project; `memoranda project remove {name}` forgets this one first")));
    }
    Ok(())
}

fn is_same_folder(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}

/// Brings notes; says whether all of them came.
fn import_notes(
    context: &CommandContext,
    args: &Args,
    source: ImportSource,
    input: &ImportInput,
) -> Result<bool> {
    let vault = ImportVault::open(context, args)?;
    let memory = vault.memory(context)?;
    if matches!(vault, ImportVault::Real) {
        context.open_synced()?;
    }
    let project = context.settings()?.project.as_deref();
    let project = project.map(ProjectName::parse).transpose().map_err(EngineError::from)?;
    let passing_over = global_ignore_file(source, &context.settings()?.directories.user);
    let target = ImportTarget { project, folder: args.to.clone(), passing_over };
    let options = ImportOptions {
        source,
        mode: if args.dry_run { ImportMode::DryRun } else { ImportMode::Write },
        deleted: if args.deleted { DeletedPolicy::ComeBack } else { DeletedPolicy::Stay },
        at: clock::now(),
    };
    let who = Author { channel: ChangeChannel::Import, ..context.author() };
    let mut bar = ProgressBar::new(&context.printer);
    let report = import_source(memory, &who, input, &target, options, &mut |at| {
        bar.show("Importing", at.done, at.total);
    });
    drop(bar);
    let report = report?;
    let is_well = report.problems.is_empty();
    print_report(context, args, source, input, &report)?;
    if !args.dry_run && !context.is_json() {
        dialect_offer::offer(context, source)?;
    }
    Ok(is_well)
}

fn print_report(
    context: &CommandContext,
    args: &Args,
    source: ImportSource,
    input: &ImportInput,
    report: &ImportSummary,
) -> Result<()> {
    let printer = &context.printer;
    if context.is_json() {
        return printer.json(&json(args.dry_run, source, input, report));
    }
    if args.dry_run {
        let coming = report
            .notes
            .iter()
            .filter(|note| matches!(note.outcome, ImportOutcome::Created | ImportOutcome::Updated));
        for note in coming {
            let word = if note.outcome == ImportOutcome::Created { "new    " } else { "changed" };
            let place = note.place.to_string();
            printer.hanging(format!("{word} {PLACE}{}{PLACE:#}", visible(&place)), 2)?;
        }
    }
    printer.done(&(), sentence(args, source, report))?;
    for (reason, count) in &report.skipped {
        printer.say(format!("{FAINT}Left out: {reason} ({count}){FAINT:#}"));
    }
    for ImportProblem { at, message } in &report.problems {
        printer.warn(format!("{}: {}", visible(at), visible(message)));
    }
    let edited: Vec<_> =
        report.notes.iter().filter(|n| n.outcome == ImportOutcome::Edited).collect();
    for note in edited {
        let place = note.place.to_string();
        printer.warn(format!("{} was edited here and changed there; it stays", visible(&place)));
    }
    if let Some(place) = report.secrets.first() {
        printer.warn(format!(
            "{} to hold a password or a key, such as {}",
            match report.secrets.len() {
                1 => "1 note seems".to_owned(),
                count => format!("{count} notes seem"),
            },
            visible(&place.to_string())
        ));
    }
    if report.count(ImportOutcome::Deleted) > 0 {
        printer.hint("`--deleted` brings back what was deleted here");
    }
    match report.commits.as_slice() {
        [] => {}
        [one] => context.hint_undo(one.as_str().get(..8).unwrap_or_default()),
        several => {
            let ids: Vec<_> = several.iter().rev().map(|id| id.as_str().get(..8)).collect();
            let ids: Vec<_> = ids.into_iter().flatten().collect();
            if ids.len() <= 5 {
                printer.hint(format!(
                    "`for c in {}; do memoranda undo -y $c; done` undoes it",
                    ids.join(" ")
                ));
            } else {
                let count = ids.len();
                printer
                    .hint(format!("`memoranda log` lists the {count} commits; each can be undone"));
            }
        }
    }
    if report.count(ImportOutcome::Created) > 0 {
        context.hint_after("`memoranda setup` connects your agents to it");
    }
    Ok(())
}

fn sentence(args: &Args, source: ImportSource, report: &ImportSummary) -> String {
    let mut parts = vec![format!("{} new", report.count(ImportOutcome::Created))];
    for (outcome, words) in [
        (ImportOutcome::Updated, "updated"),
        (ImportOutcome::Unchanged, "unchanged"),
        (ImportOutcome::Edited, "kept as edited here"),
        (ImportOutcome::Deleted, "deleted here before"),
        (ImportOutcome::Taken, "without a free place"),
        (ImportOutcome::Failed, "failed"),
    ] {
        match report.count(outcome) {
            0 => {}
            count => parts.push(format!("{count} {words}")),
        }
    }
    let verb = if args.dry_run { "Would import" } else { "Imported" };
    format!("{verb} from {STRONG}{}{STRONG:#}: {}", source.name(), parts.join(", "))
}

/// Returns the report for the page.
fn report_json(
    dry_run: bool,
    source: ImportSource,
    input: &ImportInput,
    report: &ImportSummary,
) -> serde_json::Value {
    serde_json::to_value(json(dry_run, source, input, report)).unwrap_or_default()
}

fn json(
    dry_run: bool,
    source: ImportSource,
    input: &ImportInput,
    report: &ImportSummary,
) -> ImportReportJson {
    let place = |place: &NoteLocation| crate::json_output::PlaceJson::from(place);
    ImportReportJson {
        source: source.name(),
        from: input.display_name(),
        dry_run,
        created: report.count(ImportOutcome::Created),
        updated: report.count(ImportOutcome::Updated),
        unchanged: report.count(ImportOutcome::Unchanged),
        edited: report.count(ImportOutcome::Edited),
        deleted: report.count(ImportOutcome::Deleted),
        taken: report.count(ImportOutcome::Taken),
        failed: report.count(ImportOutcome::Failed),
        skipped: report
            .skipped
            .iter()
            .map(|(reason, count)| SkippedJson { reason, count: *count })
            .collect(),
        problems: report
            .problems
            .iter()
            .map(|problem| ImportProblemJson {
                at: problem.at.clone(),
                message: problem.message.clone(),
            })
            .collect(),
        secrets: report.secrets.iter().map(place).collect(),
        commits: report.commits.iter().map(ToString::to_string).collect(),
        notes: report
            .notes
            .iter()
            .map(|note| ImportedNoteJson {
                id: note.id.clone(),
                project: note.place.project.to_string(),
                path: note.place.path.to_string(),
                outcome: note.outcome.as_str(),
            })
            .collect(),
    }
}

/// Brings a whole vault back into an empty one.
fn import_archive(context: &CommandContext, args: &Args, input: &ImportInput) -> Result<()> {
    // Without an archive no vault is made.
    let mut from: Box<dyn io::Read + '_> = match input {
        ImportInput::Bytes(bytes) => Box::new(bytes.as_slice()),
        ImportInput::File(path) | ImportInput::Folder(path) | ImportInput::Zip(path) => {
            Box::new(io::BufReader::new(files::open(path)?))
        }
    };
    if args.dry_run {
        return Err(CommandError::usage("an archive comes whole, or not at all")
            .hint("`tar -tf FILE` lists what it holds"));
    }
    let memory = context.open_or_create()?;
    let home = memory.home().display().to_string();
    memory.catch_up(&SyncScope::Everything, &mut |_| {})?;
    if memory.snapshot()?.counts()?.notes > 0 {
        let message = format!("the vault {home} has notes, and an archive needs an empty one");
        return Err(CommandError::new(Exit::Conflict, message)
            .hint("`--home DIR` names another, which is made"));
    }
    let report = memory.import(&mut from).map_err(|error| archive_error(input, error))?;
    let count = counted(report.files, "file");
    let mut message = format!("Imported {count} into {PLACE}{home}{PLACE:#}");
    if !report.left_out.is_empty() {
        message += &format!("\nLeft out, because git would obey it: {}", some_of(&report.left_out));
    }
    if !report.hidden.is_empty() {
        message += &format!(
            "\nHidden files came along; other programs may obey them: {}",
            some_of(&report.hidden)
        );
    }
    let json = ArchiveJson {
        home: home.clone(),
        files: report.files,
        segments: report.segments,
        left_out: report.left_out,
        hidden: report.hidden,
    };
    context.printer.done(&json, message)
}

/// Names the first of many places, and counts the rest.
fn some_of(places: &[String]) -> String {
    const SHOWN: usize = 10;
    let first = places.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match places.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Converts an archive error without quoting bytes of the file.
fn archive_error(input: &ImportInput, error: EngineError) -> CommandError {
    use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    match &error {
        EngineError::Store(StoreError::Io { source, .. })
            if matches!(source.kind(), InvalidData | Other | UnexpectedEof) =>
        {
            CommandError::usage(format!("{} is not a whole tar archive", input.display_name()))
                .hint("`memoranda export FILE.tar` makes one")
        }
        _ => error.into(),
    }
}
