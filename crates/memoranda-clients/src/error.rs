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
    /// No client has this name.
    #[error("there is no client {0:?}")]
    NoClient(String),
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
            Self::NoClient(_)
            | Self::Io { .. }
            | Self::NoVault(_)
            | Self::InvalidHookInput
            | Self::BriefGiven
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
