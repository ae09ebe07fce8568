//! `memoranda export`: the whole vault as one archive.

use std::path::PathBuf;

use serde::Serialize;

use crate::error::{CommandError, Result, quoted};
use crate::exit::Exit;
use crate::files;
use crate::output::{PLACE, counted};
use crate::session::Session;

/// Write the whole vault, with its history, as a tar archive.
///
/// Every project is a folder in it, so the notes can be read without Memoranda. An existing file
/// is not overwritten without --yes.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda export memory.tar
  memoranda export - | zstd > memory.tar.zst

JSON (--json, not with `-`):
  {file, projects, files, bytes}")]
pub(crate) struct Args {
    /// The archive; `-` is standard output.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
struct ExportedJson {
    file: String,
    projects: usize,
    files: usize,
    bytes: u64,
}

/// Writes the archive.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    let printer = &session.printer;
    if args.file.as_os_str() == "-" {
        if printer.is_terminal() {
            return Err(CommandError::usage("an archive is nothing for a terminal")
                .hint("`memoranda export FILE`, or a pipe"));
        }
        let report = memory.export(&mut printer.writer())?;
        printer.say(format!("Exported {}", counted(report.files, "file")));
        return Ok(Exit::Done);
    }
    let shown = args.file.display().to_string();
    if args.file.exists() && !session.args.yes {
        return Err(CommandError::new(Exit::Conflict, format!("{shown} exists"))
            .hint(format!("`memoranda export --yes {}` overwrites it", quoted(&shown))));
    }
    let mut draft = files::private_draft(&args.file)?;
    let report = memory.export(&mut draft)?;
    files::keep(draft, &args.file)?;
    let json = ExportedJson {
        file: shown.clone(),
        projects: report.projects,
        files: report.files,
        bytes: report.bytes,
    };
    let sentence = format!("Exported {} to {PLACE}{shown}{PLACE:#}", counted(report.files, "file"));
    printer.done(&json, sentence)?;
    Ok(Exit::Done)
}
