//! `memoranda clone`: a space of a team server with its history, as a vault on this disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::remote::{RemoteError, RemoteLog};
use memoranda_engine::{CloneOrigin, Memory, OpenOptions};
use memoranda_remote::HttpLog;
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::{CommandError, Result, quoted};
use crate::exit::Exit;
use crate::files;
use crate::http_token::HttpToken;

/// Copy a space of a team server into a folder.
///
/// The folder is a vault: every reading command works on it with `--home DIR`, without the server.
/// It is read-only, because the space is written on its server; `memoranda pull` fetches what is
/// new. The token comes from --token-file, MEMORANDA_TOKEN or MEMORANDA_TOKEN_FILE.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda clone https://team.example acme ~/acme --token-file ~/.acme-token
  memoranda --home ~/acme search deployment
  memoranda --home ~/acme pull --token-file ~/.acme-token

JSON (--json):
  {url, space, folder, commits}")]
pub(crate) struct Args {
    /// The address of the server.
    url: String,
    /// The name of the space.
    space: String,
    /// A folder that is empty or does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A file that contains the token.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Serialize)]
pub(crate) struct ClonedJson {
    url: String,
    space: String,
    folder: String,
    commits: u64,
}

/// Makes the clone.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    if !files::names_in(&args.folder).is_empty() {
        let shown = args.folder.display();
        return Err(CommandError::usage(format!("{shown} is not empty"))
            .hint("name a folder that does not exist; `memoranda pull` updates a clone"));
    }
    let token = token(context, args.token_file.as_deref())?;
    let url = args.url.trim_end_matches('/').to_owned();
    let log = HttpLog::connect(&url, &args.space, &token).map_err(remote_error)?;
    let head = log.head().map_err(remote_error)?;
    let (space, device) = (args.space.clone(), log.device().to_owned());
    let origin = CloneOrigin { url, space, device, epoch: head.epoch };
    let cloned = pull_into(context, &args.folder, &origin, Arc::new(log))?;
    let sentence = format!(
        "Cloned {} with {} commits into {}. It is read-only.",
        cloned.space, cloned.commits, cloned.folder
    );
    context.printer.done(&cloned, sentence)?;
    context.hint_after(&format!("memoranda --home {} list", quoted(&cloned.folder)));
    Ok(Exit::Success)
}

/// Fetches what the log has beyond a clone.
pub(crate) fn pull_into(
    context: &CommandContext,
    home: &std::path::Path,
    origin: &CloneOrigin,
    log: Arc<dyn RemoteLog>,
) -> Result<ClonedJson> {
    let settings = context.settings()?;
    let options = OpenOptions {
        home: home.to_path_buf(),
        cache: settings.directories.cache.clone(),
        state: settings.directories.state.clone(),
        file_sync: Duration::from_secs(settings.file_sync_seconds()),
        lock_patience: Duration::from_secs(settings.lock_wait_seconds()),
    };
    let memory = Memory::open_clone(options, origin, log)?;
    memory.pull()?;
    memory.sync(&mut |_| {})?;
    let commits = memory.copied_commits()?;
    let (url, space) = (origin.url.clone(), origin.space.clone());
    Ok(ClonedJson { url, space, folder: home.display().to_string(), commits })
}

impl ClonedJson {
    /// Returns the name of the space, and the number of commits that the clone has.
    pub(crate) fn summary(&self) -> (&str, u64) {
        (&self.space, self.commits)
    }
}

/// Reads the token of a team server.
pub(crate) fn token(context: &CommandContext, file: Option<&std::path::Path>) -> Result<String> {
    let chosen = HttpToken::chosen(&context.printer, file)?;
    chosen.map(|token| token.text.trim().to_owned()).ok_or_else(|| {
        CommandError::configuration("the server needs a token")
            .hint("put it into a file that you alone can read, and name it with --token-file")
    })
}

/// Converts an error of the server's log.
#[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
pub(crate) fn remote_error(error: RemoteError) -> CommandError {
    let message = error.to_string();
    match error {
        RemoteError::Refused { .. } => CommandError::new(Exit::NotFound, message)
            .hint("`memoranda admin token list` on the server lists what each token opens"),
        _ => CommandError::new(Exit::Internal, message),
    }
}
