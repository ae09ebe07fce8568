//! Arguments of servers: selection and settings of tools from flags, variables and the
//! configuration.

use std::sync::Arc;

use clap::ValueEnum;
use memoranda_engine::Memory;
use memoranda_server::{ServerConfig, ServerError};
use memoranda_tools::{AccessMode, DiagnosticsMode, ToolSelection, ToolSettings, Wording};

use crate::context::CommandContext;
use crate::env;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::logging;

/// Version reported to clients.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Flags of both servers.
#[derive(clap::Args)]
pub(crate) struct ServerArgs {
    /// Toolsets to offer; also `default` and `all`.
    #[arg(long, alias = "toolset", value_name = "SETS", value_delimiter = ',')]
    toolsets: Option<Vec<String>>,

    /// Single tools to offer; without --toolsets only these.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    tools: Option<Vec<String>>,

    /// Tools to exclude from every selection.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    exclude_tools: Vec<String>,

    /// Offer only tools that change nothing.
    #[arg(long)]
    read_only: bool,

    /// Write each memory bank that is used to `cache_memory_dump.json` in its folder.
    #[arg(long)]
    debug: bool,

    #[command(flatten)]
    wording: WordingArgs,
}

/// Wording of the answers of the memory tool.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct WordingArgs {
    /// Wording of the answers of the memory tool.
    #[arg(long, value_name = "WORDING", value_enum)]
    wording: Option<WordingName>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WordingName {
    /// The words of the MCP tool; `create` overwrites.
    #[value(alias = "seed")]
    Mcp,
    /// The words of the Claude API's own SDKs; `create` refuses to overwrite.
    Claude,
}

impl WordingArgs {
    /// Returns the settings of tools with the flags applied.
    pub(crate) fn tool_settings(self, context: &CommandContext) -> Result<ToolSettings> {
        let settings = context.settings()?.tools();
        let wording = match self.wording {
            Some(WordingName::Mcp) => Wording::Mcp,
            Some(WordingName::Claude) => Wording::Claude,
            None => settings.wording,
        };
        let model = context.settings()?.model()?;
        Ok(ToolSettings { wording, model, ..settings })
    }
}

impl ServerArgs {
    /// Opens the vault and returns the configuration of the server. Starts logging to standard
    /// error.
    pub(crate) fn open_vault(
        &self,
        context: &CommandContext,
    ) -> Result<(Arc<Memory>, ServerConfig)> {
        let config = self.config(context)?;
        let memory = context.open_memory()?;
        // A missing project is an error, so that a typing error creates no project.
        if let Some(only) = &config.settings.notes.only_project
            && !config.settings.makes_project(only)
        {
            memory.project(only)?;
        }
        Ok((Arc::new(memory), config))
    }

    /// Returns the configuration of the server. Starts logging to standard error.
    pub(crate) fn config(&self, context: &CommandContext) -> Result<ServerConfig> {
        logging::init(context.args.verbosity());
        let mut config = ServerConfig::standard(VERSION);
        config.selection = self.selection(context)?;
        config.settings = self.wording.tool_settings(context)?;
        if self.debug {
            config.settings.banks.diagnostics = DiagnosticsMode::Dump;
        }
        // Checked first, so that an invalid selection creates no vault.
        config.selection.resolve().map_err(|error| server_error(ServerError::from(error)))?;
        Ok(config)
    }

    fn selection(&self, context: &CommandContext) -> Result<ToolSelection> {
        let listed = |variable: &env::EnvVariable| variable.text().map(|text| comma_list(&text));
        let tools = self.tools.clone().or_else(|| listed(&env::MEMORANDA_TOOLS));
        let mut toolsets = match &self.toolsets {
            Some(sets) => sets.clone(),
            // Tools named on the command line replace the toolsets.
            None if self.tools.is_some() => Vec::new(),
            None => comma_list(context.settings()?.toolsets()),
        };
        if self.toolsets.is_none() && toolsets == ["default"] {
            // Without a chosen set, the server decides per client.
            toolsets.clear();
        }
        let mut exclude = self.exclude_tools.clone();
        exclude.extend(listed(&env::MEMORANDA_EXCLUDE_TOOLS).unwrap_or_default());
        let read_only = self.read_only || env::is_read_only();
        Ok(ToolSelection {
            toolsets,
            tools: tools.unwrap_or_default(),
            exclude,
            access: if read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite },
        })
    }
}

/// Converts a server error into a command error with hints.
pub(crate) fn server_error(error: ServerError) -> CommandError {
    let message = error.to_string();
    match error {
        ServerError::Selection(_) => CommandError::configuration(message)
            .hint("`memoranda tool --list` lists the tools and their sets"),
        ServerError::TokenRequired { .. } | ServerError::AuthenticationUndecided => {
            CommandError::configuration(message)
                .hint("leave out `--no-token`, or bind to 127.0.0.1")
        }
        ServerError::BadPublicUrl { .. } => CommandError::configuration(message)
            .hint("`--public-url` takes a scheme, a host and a port, without a path"),
        ServerError::BadOrigin { .. } => CommandError::configuration(message)
            .hint("`--allow-origin` and `serve.allow_origins` take a scheme, a host and a port"),
        ServerError::BadToken => {
            CommandError::configuration(message).hint("`openssl rand -hex 32` prints a good one")
        }
        ServerError::Bind { bind, source } => {
            let error = CommandError::io(&format!("listen on {bind}"), &source);
            CommandError::new(Exit::Internal, error.message)
                .hint("`memoranda serve --bind 127.0.0.1:0` takes a free port")
        }
        ServerError::Io { doing, source } => {
            CommandError::new(Exit::Internal, CommandError::io(doing, &source).message)
        }
        ServerError::Protocol(_) => CommandError::new(Exit::Internal, message)
            .hint("`memoranda mcp` is started by a client, not by hand"),
    }
}

/// Splits a list with commas into its words.
pub(crate) fn comma_list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
