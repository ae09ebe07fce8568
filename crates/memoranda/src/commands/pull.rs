//! `memoranda pull`: what is new in the space that a vault was cloned from.

use std::path::PathBuf;

use memoranda_engine::CloneOrigin;
use std::sync::Arc;

use memoranda_engine::remote::RemoteLog as _;
use memoranda_remote::HttpLog;

use super::clone::{pull_into, remote_error, token};
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// Fetch what is new in the space of this clone.
///
/// The token comes from --token-file, MEMORANDA_TOKEN or MEMORANDA_TOKEN_FILE.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda pull --home ~/acme --token-file ~/.acme-token

JSON (--json):
  {url, space, folder, commits}")]
pub(crate) struct Args {
    /// A file that contains the token.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Fetches the commits that the clone does not have.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let home = context.settings()?.home();
    let Some(origin) = CloneOrigin::of_vault(&home).map_err(memoranda_engine::EngineError::from)?
    else {
        let shown = home.display();
        return Err(CommandError::usage(format!("the vault at {shown} is no clone"))
            .hint("`memoranda clone URL SPACE DIR` makes one; `--home DIR` names it"));
    };
    let token = token(context, args.token_file.as_deref())?;
    let log = HttpLog::connect(&origin.url, &origin.space, &token).map_err(remote_error)?;
    let head = log.head().map_err(remote_error)?;
    if log.device() != origin.device || head.epoch != origin.epoch {
        return Err(CommandError::usage(format!(
            "something was purged from the space {}, and this clone has it still",
            origin.space
        ))
        .hint("delete the folder of this clone, and make another one with `memoranda clone`"));
    }
    let pulled = pull_into(context, &home, &origin, Arc::new(log))?;
    let (space, commits) = pulled.summary();
    let sentence = format!("The clone of {space} is current: {commits} commits.");
    context.printer.done(&pulled, sentence)?;
    Ok(Exit::Success)
}
