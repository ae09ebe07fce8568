//! Errors of client set-up, hooks and checks.

use std::io;
use std::path::{Path, PathBuf};

use memoranda_engine::EngineError;
use memoranda_engine::records::RecordError;

use crate::setup::ConfigSyntaxError;

/// Reason why something was not done for a client.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// Reading or writing a file outside of the vault failed.
    #[error("cannot {doing}: {}", io_reason(.source))]
    Io {
        /// Failed operation with its file.
        doing: String,
        /// Cause of the failure.
        source: io::Error,
    },
    /// A client's file cannot be read as text.
    #[error("cannot {doing}: {}", io_reason(.source))]
    UnreadableFile {
        /// Failed operation with its file.
        doing: String,
        /// Cause of the failure.
        source: io::Error,
    },
    /// A client's file has invalid syntax.
    #[error("{file} was left alone: {reason}")]
    InvalidFile {
        /// Path for people.
        file: String,
        /// The syntax error.
        reason: ConfigSyntaxError,
    },
    /// A client's file changed between planning and writing.
    #[error("{file} changed in this moment; nothing was written")]
    FileChanged {
        /// Path for people.
        file: String,
    },
    /// The change of a client's files is not the one that was shown.
    #[error("the files of {client} changed since; nothing was written")]
    NotAsShown {
        /// Display name of the client.
        client: &'static str,
    },
    /// The client has no file for a project.
    #[error("{title} has no settings of a project")]
    NoProjectFile {
        /// Name of the client on the command line.
        name: &'static str,
        /// Display name of the client.
        title: &'static str,
    },
    /// The address of a server cannot be used.
    #[error("{address:?} is not the address of a server: {reason}")]
    InvalidAddress {
        /// The address.
        address: String,
        /// Reason of the refusal.
        reason: &'static str,
    },
    /// The client takes no address of a server from its file.
    #[error("{title} takes no address of a server from its file")]
    NoAddress {
        /// Display name of the client.
        title: &'static str,
        /// Address to type in the client.
        address: String,
    },
    /// The client cannot sign in at a server.
    #[error("{title} cannot sign in at a server; it needs a token")]
    NeedsToken {
        /// Name of the client on the command line.
        name: &'static str,
        /// Display name of the client.
        title: &'static str,
    },
    /// Hooks call the server by themselves, and cannot sign in.
    #[error("hooks of {title} cannot sign in at a server; they need a file with a token")]
    HooksNeedToken {
        /// Name of the client on the command line.
        name: &'static str,
        /// Display name of the client.
        title: &'static str,
    },
    /// The file of a project is shared, and a token is one person's.
    #[error("a token would be in a file that others see: the project file of {title} is shared")]
    SharedToken {
        /// Display name of the client.
        title: &'static str,
    },
    /// No client has this name.
    #[error("there is no client {0:?}")]
    NoClient(String),
    /// The server of a hook cannot be called, or refused the call.
    #[error("the server did not answer: {0}")]
    Server(String),
    /// The vault does not exist.
    #[error("there is no vault at {}", .0.display())]
    NoVault(PathBuf),
    /// The input of a hook is not a JSON object.
    #[error("standard input is not the JSON of a hook")]
    InvalidHookInput,
    /// Another hook of the same moment has given the brief.
    #[error("another hook has just given this brief")]
    BriefGiven,
    /// The engine returned an error.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Records could not be read.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Result type of this crate.
pub type Result<T, E = ClientsError> = std::result::Result<T, E>;

impl ClientsError {
    /// Returns a conversion of I/O errors for `map_err`.
    pub(crate) fn io(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let doing = format!("{doing} {}", path.display());
        move |source| Self::Io { doing, source }
    }

    /// Returns the next steps.
    pub fn hints(&self) -> Vec<String> {
        let paste = "paste what `memoranda setup --print CLIENT` prints";
        match self {
            Self::UnreadableFile { .. } => vec![format!("fix that file, or {paste}")],
            Self::InvalidFile { .. } => vec![format!("fix that line, or {paste}")],
            Self::FileChanged { .. } => vec!["do it again".to_owned()],
            Self::NotAsShown { .. } => vec!["look at the change again".to_owned()],
            Self::NoProjectFile { name, .. } => {
                vec![format!("`memoranda setup {name}` is for you")]
            }
            Self::InvalidAddress { .. } => {
                vec!["`memoranda setup --url https://team.example` names a server".to_owned()]
            }
            Self::NoAddress { address, .. } => {
                vec![format!("add it in the client: Settings, Connectors, {address}")]
            }
            Self::NeedsToken { name, .. } => {
                vec![format!("`memoranda setup {name} --url URL --token-file FILE`")]
            }
            Self::HooksNeedToken { name, .. } => vec![
                "add `--token-file FILE`, a file that you alone can read".to_owned(),
                format!("or go without hooks: `memoranda setup {name} --remove` takes them out"),
            ],
            Self::SharedToken { .. } => {
                vec![
                    "leave the token out: everybody signs in, or sets up their own file".to_owned(),
                ]
            }
            Self::NoClient(_)
            | Self::Io { .. }
            | Self::NoVault(_)
            | Self::InvalidHookInput
            | Self::BriefGiven
            | Self::Server(_)
            | Self::Engine(_)
            | Self::Record(_) => Vec::new(),
        }
    }
}

/// Returns the reason of a failed operation in plain words.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}
