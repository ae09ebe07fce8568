//! `memoranda import`: bring an archive back.

use std::io;
use std::path::PathBuf;

use memoranda_engine::{EngineError, StoreError};
use serde::Serialize;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;
use crate::output::{PLACE, counted};
use crate::session::Session;

/// Bring an archive made by `memoranda export` into an empty vault, with its history.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda import memory.tar --home ~/restored
  zstd -dc memory.tar.zst | memoranda import -

JSON (--json):
  {home, files, segments}; segments are files of the history")]
pub(crate) struct Args {
    /// The archive; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
struct ImportedJson {
    home: String,
    files: usize,
    segments: usize,
}

/// Reads the archive.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    // Without an archive no vault is made.
    let mut from: Box<dyn io::Read> = match args.file.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(io::BufReader::new(files::open(&args.file)?)),
    };
    let memory = session.made()?;
    let home = memory.store().home().display().to_string();
    memory.catch_up(&mut |_| {})?;
    if memory.store().counts()?.notes > 0 {
        let message = format!("the vault {home} has notes, and an archive needs an empty one");
        return Err(CommandError::new(Exit::Conflict, message)
            .hint("`--home DIR` names another, which is made"));
    }
    let report = memory.import(&mut from).map_err(|error| failed(args, error))?;
    let json = ImportedJson { home: home.clone(), files: report.files, segments: report.segments };
    let sentence =
        format!("Imported {} into {PLACE}{home}{PLACE:#}", counted(report.files, "file"));
    session.printer.done(&json, sentence)?;
    Ok(Exit::Done)
}

/// What is no archive at all is said so, without quoting its bytes.
fn failed(args: &Args, error: EngineError) -> CommandError {
    use io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    match &error {
        EngineError::Store(StoreError::Io { source, .. })
            if matches!(source.kind(), InvalidData | Other | UnexpectedEof) =>
        {
            let name = match args.file.as_os_str() == "-" {
                true => "standard input".to_owned(),
                false => args.file.display().to_string(),
            };
            CommandError::usage(format!("{name} is not a whole tar archive"))
                .hint("`memoranda export FILE` makes one")
        }
        _ => error.into(),
    }
}
