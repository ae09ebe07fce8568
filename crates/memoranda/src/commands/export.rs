//! `memoranda export`: the whole vault as one archive, or its notes in a form that others read.

use std::io::Write;
use std::path::{Path, PathBuf};

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{DirEntry, DirEntryKind, Memory};
use memoranda_import::ImportError;
use memoranda_import::export::{self, ExportSummary};
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::{CommandError, Result, quoted};
use crate::exit::Exit;
use crate::files;
use crate::output::{PLACE, counted};
use crate::progress::ProgressBar;

/// Write an archive: the whole vault with its history, or its notes in another form.
///
/// In the archive every project is a folder, so the notes can be read without Memoranda. The other
/// forms hold the notes as they are now: `markdown` is a folder of files, `jsonl` a line of JSON
/// for every file, and `mcp-memory` the file of the reference memory server. `--project` takes one
/// project only. An existing file is not overwritten without --yes.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda export memory.tar                 everything, with its history
  memoranda export - | zstd > memory.tar.zst
  memoranda export markdown ~/notes-copy      the files, a folder for every project
  memoranda export jsonl notes.jsonl          one line of JSON for every file
  memoranda export mcp-memory memory.jsonl    the graph, for the reference memory server

JSON (--json, not with `-`):
  {file, format, projects, files, bytes}")]
pub(crate) struct Args {
    /// The form (archive, markdown, jsonl, mcp-memory), or the file of an archive; `-` is
    /// standard output.
    #[arg(value_name = "FORMAT|FILE")]
    first: PathBuf,

    /// The file or folder; `-` is standard output.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    /// For mcp-memory: the thread whose entities are written.
    #[arg(long, value_name = "NAME", default_value = "default")]
    thread: String,
}

/// The forms that notes can leave in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportForm {
    Archive,
    Markdown,
    Jsonl,
    McpMemory,
}

impl ExportForm {
    const ALL: [(&'static str, Self); 4] = [
        ("archive", Self::Archive),
        ("markdown", Self::Markdown),
        ("jsonl", Self::Jsonl),
        ("mcp-memory", Self::McpMemory),
    ];

    fn parse(name: &Path) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| name.as_os_str() == *known).map(|(_, form)| *form)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, form)| *form == self).map_or("archive", |(name, _)| name)
    }
}

#[derive(Serialize)]
struct ExportedJson {
    file: String,
    format: &'static str,
    projects: usize,
    files: usize,
    bytes: u64,
}

/// Writes what was asked for.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let (form, path) = match (ExportForm::parse(&args.first), &args.path) {
        (Some(form), Some(path)) => (form, path.clone()),
        (Some(ExportForm::Markdown), None) => {
            return Err(CommandError::usage("a folder of Markdown needs a place")
                .hint("`memoranda export markdown DIR`"));
        }
        (Some(form), None) => (form, PathBuf::from("-")),
        (None, None) => (ExportForm::Archive, args.first.clone()),
        (None, Some(_)) => {
            let name = args.first.display();
            return Err(CommandError::usage(format!(
                "{:?} is no form of export",
                name.to_string()
            ))
            .hint("archive, markdown, jsonl or mcp-memory"));
        }
    };
    let memory = context.open_synced_for_copy()?;
    let only = context.requested_project(memory)?;
    if form == ExportForm::Archive && only.is_some() && args.path.is_some() {
        return Err(CommandError::usage("an archive holds the whole vault")
            .hint("`memoranda export markdown DIR -p NAME` takes one project"));
    }
    let printer = &context.printer;
    if path.as_os_str() == "-" {
        if form == ExportForm::Markdown {
            return Err(CommandError::usage("a folder cannot be written to standard output")
                .hint("`memoranda export jsonl` can"));
        }
        if form == ExportForm::Archive && printer.is_terminal() {
            return Err(CommandError::usage("an archive is nothing for a terminal")
                .hint("`memoranda export FILE`, or a pipe"));
        }
        let to = &mut printer.writer();
        let exported = write_export(context, memory, form, only.as_ref(), args, to)?;
        printer.say(format!("Exported {}", counted(exported.files, unit_name(form))));
        report_left_out(context, form, &exported);
        hint_threads(context, memory, form, &exported);
        return Ok(Exit::Success);
    }
    let shown = path.display().to_string();
    let exported = if form == ExportForm::Markdown {
        let mut bar = ProgressBar::new(printer);
        let show =
            &mut |at: memoranda_import::ImportProgress| bar.show("Exporting", at.done, at.total);
        export::write_markdown(memory, only.as_ref(), &path, show).map_err(|error| match error {
            ImportError::NotThat(message) => {
                CommandError::new(Exit::Conflict, message).hint("name a folder that does not exist")
            }
            other => other.into(),
        })?
    } else {
        if path.exists() && !context.args.yes {
            let words = match &args.path {
                Some(_) => format!("{} {}", form.name(), quoted(&shown)),
                None => quoted(&shown),
            };
            return Err(CommandError::new(Exit::Conflict, format!("{shown} exists"))
                .hint(format!("`memoranda export --yes {words}` overwrites it")));
        }
        let mut draft = files::private_draft(&path)?;
        let exported = {
            let mut to = std::io::BufWriter::new(&mut draft);
            let exported = write_export(context, memory, form, only.as_ref(), args, &mut to)?;
            to.flush().map_err(|e| CommandError::io(&format!("write {shown}"), &e))?;
            exported
        };
        files::keep(draft, &path)?;
        exported
    };
    let json = ExportedJson {
        file: shown.clone(),
        format: form.name(),
        projects: exported.projects,
        files: exported.files,
        bytes: exported.bytes,
    };
    let count = counted(exported.files, unit_name(form));
    printer.done(&json, format!("Exported {count} to {PLACE}{shown}{PLACE:#}"))?;
    report_left_out(context, form, &exported);
    hint_threads(context, memory, form, &exported);
    Ok(Exit::Success)
}

/// Writes an export for the page: `archive`, `jsonl` or `mcp-memory`.
pub(crate) fn write_for_page(
    memory: &Memory,
    form: &str,
    project: Option<&ProjectName>,
    to: &mut dyn Write,
) -> Result<()> {
    match ExportForm::parse(Path::new(form)) {
        Some(ExportForm::Archive) => memory.export(to).map(drop)?,
        Some(ExportForm::Jsonl) => {
            export::write_jsonl(memory, project, to, &mut |_| ()).map(drop)?;
        }
        Some(ExportForm::McpMemory) => match project {
            Some(project) if project.as_str() != "graph" => {
                export::write_graph(memory, project, None, to).map(drop)?;
            }
            _ => {
                let graph = memory.project("graph")?.name;
                export::write_graph(memory, &graph, Some("default"), to).map(drop)?;
            }
        },
        Some(ExportForm::Markdown) | None => {
            return Err(CommandError::usage(format!("{form:?} is no form of export")));
        }
    }
    Ok(())
}

fn write_export(
    context: &CommandContext,
    memory: &Memory,
    form: ExportForm,
    only: Option<&ProjectName>,
    args: &Args,
    to: &mut dyn Write,
) -> Result<ExportSummary> {
    let mut bar = ProgressBar::new(&context.printer);
    let show = &mut |at: memoranda_import::ImportProgress| bar.show("Exporting", at.done, at.total);
    Ok(match form {
        ExportForm::Archive => {
            let report = memory.export(to)?;
            let (projects, files, bytes) = (report.projects, report.files, report.bytes);
            ExportSummary { projects, files, bytes, left_out: 0 }
        }
        ExportForm::Jsonl => export::write_jsonl(memory, only, to, show)?,
        ExportForm::McpMemory => match only {
            // A project of another kind has no threads: all of it is one graph.
            Some(project) if project.as_str() != "graph" => {
                export::write_graph(memory, project, None, to)?
            }
            _ => {
                let project = memory.project("graph")?.name;
                export::write_graph(memory, &project, Some(&args.thread), to)?
            }
        },
        ExportForm::Markdown => ExportSummary::default(),
    })
}

/// Reports hidden files that were not exported.
fn report_left_out(context: &CommandContext, form: ExportForm, exported: &ExportSummary) {
    if exported.left_out > 0 && form != ExportForm::McpMemory {
        context.printer.say(format!(
            "{} that Memoranda did not write stayed behind; an archive has them too",
            counted(exported.left_out, "hidden file")
        ));
    }
}

/// Lists the other threads if a thread is empty.
fn hint_threads(
    context: &CommandContext,
    memory: &Memory,
    form: ExportForm,
    exported: &ExportSummary,
) {
    if form != ExportForm::McpMemory || exported.files > 0 {
        return;
    }
    let graph = memory.project("graph").ok();
    let listing = graph.and_then(|graph| memory.list_folder(&graph.name, None).ok().flatten());
    let entries = listing.map(|listing| listing.entries).unwrap_or_default();
    let is_thread =
        |entry: &&DirEntry| entry.kind == DirEntryKind::Folder && !entry.name.starts_with('.');
    let threads: Vec<_> = entries.iter().filter(is_thread).map(|entry| &*entry.name).collect();
    if !threads.is_empty() {
        context
            .printer
            .hint(format!("`--thread NAME` takes another; there are: {}", threads.join(", ")));
    }
}

fn unit_name(form: ExportForm) -> &'static str {
    if form == ExportForm::McpMemory { "line" } else { "file" }
}
