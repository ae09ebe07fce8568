//! `memoranda hook`: what clients run at certain moments of a conversation.

use std::path::PathBuf;
use std::time::Duration;

use memoranda_clients::hook::{self, HookClient, HookEvent, HookSettings, ServerHookSettings};
use memoranda_clients::setup::ServerAddress;
use memoranda_engine::OpenOptions;
use memoranda_remote::ToolClient;

use crate::cli::one_of;
use crate::commands::clone;
use crate::config::AppSettings;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::{output, time};

/// Handle an event of a conversation; clients run this command.
///
/// Reads the client's JSON from standard input and answers in its format. At the start the model
/// gets a brief: what is known of the person, where the last conversation stood, what changed
/// last. Before a conversation is compacted and when it ends, a checkpoint is kept under
/// /memories/sessions. It takes a fraction of a second, calls no model, and always ends with exit
/// code 0: whatever goes wrong, the conversation goes on. `memoranda setup --hooks` installs it.
/// With --server the memory is on a server, which is called with the token of --token-file,
/// MEMORANDA_TOKEN or MEMORANDA_TOKEN_FILE.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  echo '{\"session_id\":\"x\",\"cwd\":\".\"}' | memoranda hook session-start --client claude-code
  memoranda setup claude-code --hooks")]
pub(crate) struct Args {
    /// The event of the conversation.
    #[arg(value_parser = one_of(&HookEvent::ALL, HookEvent::name, HookEvent::summary))]
    event: HookEvent,

    /// The client that runs it.
    #[arg(
        long,
        value_name = "CLIENT",
        value_parser = one_of(&HookClient::ALL, HookClient::name, HookClient::title)
    )]
    client: HookClient,

    /// The address of a server that has the memory, instead of the vault.
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// A file that contains the token of the server.
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,

    /// The only space of a team server to use.
    #[arg(long, value_name = "NAME", requires = "server")]
    space: Option<String>,
}

/// Does it, and never fails.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let input = output::read_stdin().unwrap_or_default();
    let text = context.settings().and_then(|settings| {
        let done = match &args.server {
            Some(server) => {
                let settings = server_settings(context, settings, args, server)?;
                hook::run_on_server(settings, args.client, args.event, &input)
            }
            None => hook::run(hook_settings(settings), args.client, args.event, &input),
        };
        done.map_err(CommandError::from)
    });
    if let Err(error) = &text {
        context.printer.detail(format!("nothing was done: {}", error.message));
    }
    let answer = args.client.answer(args.event, text.ok().flatten().as_deref());
    if !answer.is_empty() {
        // A client that went away needs no answer.
        context.printer.line(answer).ok();
    }
    Ok(Exit::Success)
}

fn hook_settings(settings: &AppSettings) -> HookSettings {
    HookSettings {
        open: OpenOptions {
            home: settings.home(),
            cache: settings.directories.cache.clone(),
            state: settings.directories.state.clone(),
            file_sync: Duration::from_secs(settings.file_sync_seconds()),
            lock_patience: Duration::ZERO,
        },
        tools: settings.tools(),
        zone: time::zone,
    }
}

fn server_settings(
    context: &CommandContext,
    settings: &AppSettings,
    args: &Args,
    server: &str,
) -> Result<ServerHookSettings> {
    let server = ServerAddress::parse(server)?.origin().to_owned();
    let token = clone::token(context, args.token_file.as_deref())?;
    let name = format!("{} hook", args.client.title());
    let client = ToolClient::new(&server, &token, args.space.as_deref(), &name);
    let caller = move |tool: &str, arguments: &serde_json::Value| {
        client.call(tool, arguments).map_err(|error| error.to_string())
    };
    let state = settings.directories.state.clone();
    Ok(ServerHookSettings { caller: Box::new(caller), server, state, tools: settings.tools() })
}
