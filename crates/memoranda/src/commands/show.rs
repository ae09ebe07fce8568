//! `memoranda show`: read a note, now or as it was, and what is around it.

use clap_complete::engine::ArgValueCompleter;
use jiff::Timestamp;
use memoranda_engine::core::note::Note;
use memoranda_engine::{GraphRequest, Memory, NoteLocation, ReadNote, ResolveIntent};
use serde::Serialize;

use super::graph;
use crate::complete;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, OutputFormat, STRONG, visible, visible_lines};
use crate::time;

/// Read a note: its text, what is known of it, or the notes around it.
///
/// A note is named by its path, its title or its permalink. With --at it is shown as it was at a
/// time or after a commit, even if it is deleted now.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda show 'Q3 plan'
  memoranda show main/plans/q3.md --at yesterday
  memoranda show 'Q3 plan' --graph --depth 2
  memoranda show 'Q3 plan' --info

JSON (--json):
  {project, path, title, permalink, type, tags, created, updated, version, size, text,
  observations: [{id, category, text, context, line, version, current}],
  relations: [{type, target, resolved, context, line}], problems: [{line, message}]};
  text is null if the file is not UTF-8
  with --graph: {centre: {project, path, title}, notes: [{project, path, title, depth,
  relation_type, direction, via}], unresolved: [{relation_type, target}], truncated}")]
pub(crate) struct Args {
    /// Path, title or permalink.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::notes))]
    note: String,

    /// As it was at this time, or after this commit.
    #[arg(long, value_name = "COMMIT|TIME")]
    at: Option<String>,

    /// Draw what the note links to, and what links to it.
    #[arg(long, conflicts_with = "at")]
    graph: bool,

    /// Maximum number of links from the note in the drawing.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "graph", value_parser = clap::value_parser!(u8).range(1..=5))]
    depth: u8,

    /// The bytes, exactly.
    #[arg(long, conflicts_with_all = ["graph", "info", "json"])]
    raw: bool,

    /// Properties of the note, without its text.
    #[arg(long, conflicts_with_all = ["graph", "at"])]
    info: bool,
}

impl Args {
    /// Returns the arguments that show the text of a note.
    pub(super) fn of_note(place: &NoteLocation) -> Self {
        Self { note: place.to_string(), at: None, graph: false, depth: 1, raw: false, info: false }
    }
}

#[derive(Serialize)]
struct NoteJson {
    project: String,
    path: String,
    title: String,
    permalink: Option<String>,
    r#type: String,
    tags: Vec<String>,
    created: Option<Timestamp>,
    updated: Timestamp,
    version: String,
    size: usize,
    text: Option<String>,
    observations: Vec<ObservationJson>,
    relations: Vec<RelationJson>,
    problems: Vec<LineProblemJson>,
}

#[derive(Serialize)]
struct ObservationJson {
    id: Option<String>,
    category: Option<String>,
    text: String,
    context: Option<String>,
    line: usize,
    version: Option<u32>,
    current: bool,
}

#[derive(Serialize)]
struct RelationJson {
    r#type: String,
    target: String,
    resolved: Option<String>,
    context: Option<String>,
    line: usize,
}

#[derive(Serialize)]
struct LineProblemJson {
    line: usize,
    message: String,
}

/// Shows the note.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    if args.graph {
        let place = resolve_named(context, memory, &args.note)?;
        let depth = usize::from(args.depth);
        context.start_pager();
        let around = memory.neighbours(&GraphRequest { place, depth, max: 200 })?;
        graph::print(&context.printer, &around)?;
        return Ok(Exit::Success);
    }
    let note = match &args.at {
        Some(at) => {
            let moment = time::parse_point_in_time(memory, at)?;
            let (project, name) = context.strip_project_prefix(&args.note)?;
            memory.read_as_of(project, &name, moment)?
        }
        None => {
            let place = resolve_named(context, memory, &args.note)?;
            let note = memory.read_at(&place)?;
            memory.record_use(&place);
            note
        }
    };
    let printer = &context.printer;
    match printer.format {
        OutputFormat::Json => printer.json(&note_json(memory, &note)?)?,
        OutputFormat::Pretty | OutputFormat::Plain if args.info => {
            print_info(context, &note_json(memory, &note)?)?
        }
        // Who asks for colours in a pipe shows them on a terminal in the end.
        OutputFormat::Pretty | OutputFormat::Plain
            if args.raw || !printer.is_terminal() && !printer.is_color_forced() =>
        {
            printer.bytes(&note.bytes)?;
        }
        OutputFormat::Pretty | OutputFormat::Plain => {
            context.start_pager();
            let text = note.lossy_text();
            let text = visible_lines(&text);
            printer.text(text.strip_suffix('\n').unwrap_or(&text))?;
        }
    }
    Ok(Exit::Success)
}

/// The note that a name means; that it could be another's is said.
fn resolve_named(context: &CommandContext, memory: &Memory, name: &str) -> Result<NoteLocation> {
    let found = context.resolve_note(memory, name, ResolveIntent::Read)?;
    if let Some(other) = &found.other {
        let said = format!("this is {}; {other} goes by the name {name:?} too", found.place);
        context.printer.warn(visible(&said));
    }
    Ok(found.place)
}

/// Everything that is known of a note.
fn note_json(memory: &Memory, note: &ReadNote) -> Result<NoteJson> {
    let parsed = note.parse().ok();
    let is_markdown = matches!(note.place.path.extension(), "md" | "markdown");
    let known = parsed.as_ref().filter(|_| is_markdown).map(|parsed| &parsed.note);
    let summary = note.summary.as_ref();
    let stem = || note.place.path.stem().to_owned();
    let title = match summary {
        Some(summary) => summary.title.clone(),
        None => known.and_then(Note::title).unwrap_or_else(stem),
    };
    let (observations, relations) = match summary {
        Some(summary) => indexed_facts(memory, summary.id)?,
        None => (Vec::new(), Vec::new()),
    };
    let problem = |problem: &memoranda_engine::core::problem::ParseProblem| LineProblemJson {
        line: problem.line,
        message: problem.message.clone(),
    };
    Ok(NoteJson {
        project: note.place.project.to_string(),
        path: note.place.path.to_string(),
        title,
        permalink: summary.map(|summary| summary.permalink.clone()),
        r#type: known.map_or("file".to_owned(), Note::note_type),
        tags: known.map(Note::tags).unwrap_or_default(),
        created: summary.map(|summary| summary.created),
        updated: summary.map_or(note.modified, |summary| summary.updated),
        version: note.hash.to_string(),
        size: note.bytes.len(),
        text: note.text().ok().map(str::to_owned),
        observations,
        relations,
        problems: known.map(|note| note.problems.iter().map(problem).collect()).unwrap_or_default(),
    })
}

fn indexed_facts(memory: &Memory, file: i64) -> Result<(Vec<ObservationJson>, Vec<RelationJson>)> {
    let snapshot = memory.snapshot()?;
    let observations = snapshot.observations(file)?.into_iter().map(|row| ObservationJson {
        id: Some(row.id),
        category: row.category,
        text: row.text,
        context: row.context,
        line: row.line,
        version: Some(row.version),
        current: row.is_current,
    });
    let observations = observations.collect();
    let mut relations = Vec::new();
    for row in snapshot.relations_from(file)? {
        let target = row.target_file.map(|id| snapshot.file_by_id(id)).transpose()?.flatten();
        relations.push(RelationJson {
            r#type: row.relation_type,
            target: row.target,
            resolved: target.map(|file| format!("{}/{}", file.project, file.path)),
            context: row.context,
            line: row.line,
        });
    }
    Ok((observations, relations))
}

fn print_info(context: &CommandContext, note: &NoteJson) -> Result<()> {
    let printer = &context.printer;
    let unresolved = note.relations.iter().filter(|relation| relation.resolved.is_none()).count();
    let current = note.observations.iter().filter(|fact| fact.current).count();
    let rows = [
        ("place", format!("{}/{}", note.project, note.path)),
        ("title", note.title.clone()),
        ("permalink", note.permalink.clone().unwrap_or_default()),
        ("type", note.r#type.clone()),
        ("tags", note.tags.join(", ")),
        ("created", note.created.map(time::local).unwrap_or_default()),
        ("updated", time::local(note.updated)),
        ("size", format!("{} bytes", note.size)),
        ("version", note.version.chars().take(8).collect()),
        ("facts", format!("{current}")),
        ("links", format!("{} ({unresolved} to notes not written yet)", note.relations.len())),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        match printer.format {
            OutputFormat::Plain => printer.line(format!("{name}\t{}", visible(value)))?,
            OutputFormat::Pretty | OutputFormat::Json => {
                let value = visible(value);
                let row = format!("{FAINT}{name:<10}{FAINT:#} {STRONG}{value}{STRONG:#}");
                printer.hanging(row, 11)?;
            }
        }
    }
    for problem in &note.problems {
        printer.warn(format!("line {}: {}", problem.line, visible(&problem.message)));
    }
    Ok(())
}
