//! `memoranda blame`: who wrote each line of a note.

use clap_complete::engine::ArgValueCompleter;
use memoranda_engine::{BlameRun, EngineError};
use serde::Serialize;

use super::log;
use crate::complete;
use crate::context::{CommandContext, NoteOrFolder};
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::json_output::{PlaceJson, short_id};
use crate::output::{FAINT, HIT, OutputFormat, STRONG, visible};
use crate::time;
use crate::wrap::display_width;

/// Show who wrote each line of a note: commit, agent, tool and age.
///
/// The versions of the note are replayed from the history, through its moves. A line belongs to the
/// commit that wrote it last.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda blame 'Q3 plan'
  memoranda blame plans/q3.md --at yesterday
  memoranda blame 'Q3 plan' --json | jq -r '.lines[].agent' | sort | uniq -c

JSON (--json):
  {project, path, hash, lines: [{line, text, commit, time, agent, client, tool, channel}]}")]
pub(crate) struct Args {
    /// The note.
    #[arg(value_name = "NOTE", add = ArgValueCompleter::new(complete::notes))]
    note: String,

    /// The note as it was then: a time or a commit.
    #[arg(long, value_name = "TIME|COMMIT")]
    at: Option<String>,
}

#[derive(Serialize)]
struct BlameJson<'a> {
    #[serde(flatten)]
    place: PlaceJson,
    hash: String,
    lines: Vec<BlameLineJson<'a>>,
}

#[derive(Serialize)]
struct BlameLineJson<'a> {
    line: usize,
    text: &'a str,
    commit: &'a str,
    time: jiff::Timestamp,
    agent: String,
    client: &'a str,
    tool: &'a str,
    channel: &'static str,
}

/// Prints each line with its author.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let place = match log::find_note_or_folder(context, memory, &args.note)? {
        NoteOrFolder::Note(place) => place,
        NoteOrFolder::Folder(place) => {
            let message = format!("{place} is a folder, and only notes have lines");
            return Err(CommandError::usage(message).hint(format!("`memoranda log {place}/`")));
        }
    };
    let at = args.at.as_deref().map(|at| time::parse_point_in_time(memory, at)).transpose()?;
    let blame = match memory.blame(&place, at) {
        Err(EngineError::NotFound { .. }) if at.is_none() => {
            let deleted = context.deleted_note_error(memory, &place.to_string())?;
            return Err(deleted.unwrap_or_else(|| {
                CommandError::new(Exit::NotFound, format!("there is no note {place}"))
            }));
        }
        blame => blame?,
    };
    let texts: Vec<&str> = blame.text.lines().collect();
    let lines = blame.runs.iter().flat_map(|run| {
        let numbers = run.first_line..run.first_line + run.lines;
        numbers.map(move |line| (line, run))
    });
    let text_of = |line: usize| texts.get(line - 1).copied().unwrap_or_default();
    let printer = &context.printer;
    if context.is_json() {
        let line = |(line, run): (usize, &'_ BlameRun)| {
            let author = &run.commit.author;
            BlameLineJson {
                line,
                text: text_of(line),
                commit: "",
                time: run.commit.time,
                agent: memory.agent_of(author).name,
                client: "",
                tool: "",
                channel: author.channel.as_str(),
            }
        };
        let mut json: Vec<BlameLineJson<'_>> = lines.clone().map(line).collect();
        for (json, (_, run)) in json.iter_mut().zip(lines) {
            json.commit = run.commit.id.as_str();
            json.client = &run.commit.author.client;
            json.tool = &run.commit.author.tool;
        }
        let (place, hash) = (PlaceJson::from(&blame.place), blame.hash.to_string());
        printer.json(&BlameJson { place, hash, lines: json })?;
        return Ok(Exit::Success);
    }
    context.start_pager();
    let now = time::now();
    let names: Vec<String> =
        blame.runs.iter().map(|run| memory.agent_of(&run.commit.author).name).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(20);
    for (run, name) in blame.runs.iter().zip(&names) {
        for line in run.first_line..run.first_line + run.lines {
            let text = visible(text_of(line)).into_owned();
            let commit = short_id(&run.commit);
            if printer.format == OutputFormat::Plain {
                let (time, name) = (run.commit.time, visible(name));
                printer.line(format!("{}\t{time}\t{name}\t{line}\t{text}", run.commit.id))?;
                continue;
            }
            let name: String = visible(name).chars().take(width).collect();
            let when = time::ago(run.commit.time, &now);
            let author = format!(
                "{HIT}{commit}{HIT:#} {STRONG}{name:<width$}{STRONG:#} {FAINT}{when:>14} {line:>4}{FAINT:#} "
            );
            printer.hanging(format!("{author}{text}"), display_width(&author))?;
        }
    }
    Ok(Exit::Success)
}
