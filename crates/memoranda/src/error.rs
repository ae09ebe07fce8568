//! The error type of commands: message, exit code and hints.

use std::io;
use std::path::Path;

use memoranda_clients::{ClientsError, io_reason};
use memoranda_engine::core::note::edit::EditError;
use memoranda_engine::records::RecordError;
use memoranda_engine::remote::RemoteError;
use memoranda_engine::{EmbedError, EngineError, NoteLocation, StoreError};
use memoranda_import::ImportError;

use crate::exit::Exit;

/// The next step if a disk is full.
const MAKE_ROOM: &str = "make room; `memoranda vacuum -n` says what can leave the history";

/// Error of a failed command.
#[derive(Clone, Debug)]
pub(crate) struct CommandError {
    /// Exit code, or a silent end.
    pub(crate) kind: FailureKind,
    /// One sentence with the invalid value.
    pub(crate) message: String,
    /// Next steps, one per line.
    pub(crate) hints: Vec<String>,
}

/// Way in which a failed command ends the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FailureKind {
    /// With an exit code.
    Exit(Exit),
    /// Silently, because the reader of the output closed the pipe.
    BrokenPipe,
}

/// Result type of commands.
pub(crate) type Result<T, E = CommandError> = std::result::Result<T, E>;

impl CommandError {
    /// Creates an error without hints.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Exit(exit), message: message.into(), hints: Vec::new() }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint if the error has none.
    pub(crate) fn or_hint(self, hint: impl FnOnce() -> String) -> Self {
        if self.hints.is_empty() { self.hint(hint()) } else { self }
    }

    /// Creates an error for an invalid command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Creates an error for an invalid configuration.
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(Exit::Configuration, message)
    }

    /// Creates an error for a failed I/O operation.
    pub(crate) fn io(doing: &str, error: &io::Error) -> Self {
        let exit = match error.kind() {
            io::ErrorKind::BrokenPipe => return Self::broken_pipe(),
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Internal,
        };
        Self::new(exit, format!("cannot {doing}: {}", io_reason(error)))
    }

    fn broken_pipe() -> Self {
        Self { kind: FailureKind::BrokenPipe, message: String::new(), hints: Vec::new() }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::io("write the output", &error)
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        let message = error.to_string();
        let of = |exit| Self::new(exit, message);
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::NotFound { suggestions, identifier, .. } => match suggestions.first() {
                Some(place) => of(Exit::NotFound).hint(show(place)),
                None => of(Exit::NotFound).hint(format!(
                    "`memoranda search {}` looks in the texts; `memoranda log` lists deleted notes",
                    quoted(&identifier)
                )),
            },
            EngineError::Ambiguous { candidates, .. } => match candidates.first() {
                Some(place) => of(Exit::Usage).hint(format!("for one of them: {}", show(place))),
                None => of(Exit::Usage),
            },
            EngineError::Ignored { .. } => of(Exit::NotFound),
            EngineError::NotThen { place, .. } => of(Exit::NotFound).hint(log_of(&place)),
            EngineError::FirstScan { project, is_in_vault, .. } => {
                let hint = if is_in_vault {
                    format!("move the folder {project} out of the vault to stop following it")
                } else {
                    format!(
                        "`memoranda project remove {project}` stops following it; its files stay"
                    )
                };
                of(Exit::Usage).hint(hint)
            }
            EngineError::NotText(place) => of(Exit::Usage).hint(format!(
                "`memoranda show --raw {}` gives its bytes",
                quoted(&place.to_string())
            )),
            EngineError::Edit { place, error } => match error {
                EditError::WrongCount { .. }
                | EditError::SectionMissing { .. }
                | EditError::ObservationMissing(_)
                | EditError::RelationMissing { .. }
                | EditError::LineOutOfRange { .. } => of(Exit::NotFound).hint(show(&place)),
                _ => of(Exit::Usage).hint(show(&place)),
            },
            EngineError::Path(_) => {
                of(Exit::Usage).hint("a path is relative to its project, such as `plans/q3.md`")
            }
            EngineError::Project(_) => {
                of(Exit::Usage).hint("`memoranda project list` lists the projects")
            }
            EngineError::Invalid(_) => of(Exit::Usage),
        }
    }
}

impl From<EmbedError> for CommandError {
    fn from(error: EmbedError) -> Self {
        let message = error.to_string();
        match error {
            EmbedError::Store(error) => error.into(),
            EmbedError::NoModel => Self::configuration(message)
                .hint("`memoranda config set search.model FOLDER-OR-ADDRESS` chooses one"),
            EmbedError::Model { .. } => Self::new(Exit::Internal, message)
                .hint("searches use the built-in model meanwhile")
                .hint("what was made is kept; the next `memoranda embed` goes on from there"),
        }
    }
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        let message = error.to_string();
        match error {
            ImportError::Engine(error) => error.into(),
            ImportError::Io { doing, source } => Self::io(&doing, &source),
            ImportError::NotThat(_) => Self::usage(message)
                .hint("`memoranda import --list` lists what can be imported, and from what"),
            ImportError::Database { .. } => Self::new(Exit::Internal, message)
                .hint("close the program that uses it, or take its JSON export"),
        }
    }
}

impl From<ClientsError> for CommandError {
    fn from(error: ClientsError) -> Self {
        let (message, hints) = (error.to_string(), error.hints());
        let exit = match error {
            ClientsError::Engine(error) | ClientsError::Record(RecordError::Engine(error)) => {
                return error.into();
            }
            ClientsError::Io { doing, source } => return Self::io(&doing, &source),
            ClientsError::FileChanged { .. } | ClientsError::NotAsShown { .. } => Exit::Conflict,
            ClientsError::UnreadableFile { .. }
            | ClientsError::InvalidFile { .. }
            | ClientsError::NoVault(_) => Exit::Configuration,
            ClientsError::Server(_) => Exit::Internal,
            ClientsError::InvalidAddress { .. }
            | ClientsError::NoAddress { .. }
            | ClientsError::NeedsToken { .. }
            | ClientsError::HooksNeedToken { .. }
            | ClientsError::SharedToken { .. }
            | ClientsError::NoProjectFile { .. }
            | ClientsError::NoClient(_)
            | ClientsError::InvalidHookInput
            | ClientsError::BriefGiven
            | ClientsError::Record(_) => Exit::Usage,
        };
        Self { kind: FailureKind::Exit(exit), message, hints }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let of = |exit| Self::new(exit, message);
        match error {
            StoreError::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::broken_pipe()
            }
            StoreError::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => of(Exit::Internal)
                    .hint("look at the owner and the rights of that file and its folder")
                    .hint("what another user made there is yours again after `sudo chown -R \"$USER\" FOLDER`"),
                io::ErrorKind::ReadOnlyFilesystem => {
                    of(Exit::Internal).hint("`--home DIR` names a vault that can be written")
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    of(Exit::Internal).hint(MAKE_ROOM)
                }
                io::ErrorKind::NotADirectory | io::ErrorKind::NotFound => of(Exit::Internal)
                    .hint("`memoranda doctor` looks at everything")
                    .hint("`--home DIR` names another place for the vault"),
                _ => of(Exit::Internal).hint("`memoranda doctor` looks at everything"),
            },
            StoreError::Busy { .. } => {
                of(Exit::Conflict).hint("`memoranda config set lock_wait_seconds 120` waits longer")
            }
            StoreError::VaultOfOther { owner, .. } => of(Exit::Configuration)
                .hint(format!("work as that user, such as with `sudo -u {} memoranda …`", quoted(&owner)))
                .hint("or let that user run `memoranda serve`, and connect with `memoranda setup --url ADDRESS --token-file FILE`")
                .hint("`--home DIR` names a vault of your own"),
            StoreError::NewerFormat { .. }
            | StoreError::NewerLog { .. }
            | StoreError::VaultAway { .. }
            | StoreError::VaultUnreachable { .. } => of(Exit::Configuration),
            StoreError::OtherVectors { .. } => {
                of(Exit::Conflict).hint("`memoranda embed --rebuild` makes all of them again")
            }
            StoreError::NoProject { name, was_at: Some(folder), .. } => {
                of(Exit::NotFound).hint(add_again(&name, &folder))
            }
            StoreError::ProjectRemoved { name, was_at } => {
                of(Exit::Conflict).hint(add_again(name.as_str(), &was_at))
            }
            StoreError::NoProject { name, .. } => of(Exit::NotFound)
                .hint(format!("`memoranda project create {}` makes it", quoted(&name))),
            StoreError::ProjectIsLink { .. } => of(Exit::Configuration),
            StoreError::ProjectUnavailable { name, .. } => of(Exit::Configuration).hint(format!(
                "mount the folder, or `memoranda project remove {}`",
                quoted(name.as_str())
            )),
            StoreError::ProjectHidden { name, .. } => of(Exit::Conflict).hint(format!(
                "`memoranda project add {} DIR --move` moves them into the folder",
                quoted(name.as_str())
            )),
            StoreError::ProjectRefused { .. } => {
                of(Exit::Usage).hint("`memoranda project list` shows every project's folder")
            }
            StoreError::NotAFile { .. } => {
                of(Exit::Usage).hint("`memoranda scan -v` lists what is left out and why")
            }
            StoreError::TooLarge { .. } => of(Exit::Usage).hint("split it into several notes"),
            StoreError::Twin { existing, .. } => of(Exit::Conflict).hint(format!(
                "`memoranda mv {} NEW` gives that one another name",
                quoted(&existing)
            )),
            StoreError::ContentGone(_) => {
                of(Exit::NotFound).hint("`memoranda log` lists the commits")
            }
            StoreError::NoCommit(_) => of(Exit::NotFound).hint(
                "at least four characters are needed; `memoranda log --plain` has the whole ids",
            ),
            StoreError::AmbiguousCommit { .. } => {
                of(Exit::Usage).hint("`memoranda log --json` has the whole ids")
            }
            StoreError::Damaged { .. } | StoreError::Halted(_) | StoreError::Closing => {
                of(Exit::Internal).hint("`memoranda doctor` looks at everything")
            }
            StoreError::Remote(RemoteError::Refused { .. }) => of(Exit::Usage),
            StoreError::Remote(_) | StoreError::SpaceCopyBehind | StoreError::SpaceRewritten => {
                of(Exit::Internal)
            }
            StoreError::SpaceMoved => of(Exit::Conflict),
            StoreError::NotInSpace { .. } => of(Exit::Usage),
            error @ StoreError::Index(_) if error.is_unwritable() => {
                of(Exit::Internal).hint(MAKE_ROOM).hint("`memoranda status` names the file of the index")
            }
            StoreError::Index(_) => {
                of(Exit::Internal).hint("`memoranda reindex` rebuilds the index")
            }
        }
    }
}

fn add_again(name: &str, folder: &Path) -> String {
    let folder = folder.display().to_string();
    format!(
        "`memoranda project add {} {}` adds it again; then repeat this",
        quoted(name),
        quoted(&folder)
    )
}

fn show(place: &NoteLocation) -> String {
    format!("`memoranda show {}`", quoted(&place.to_string()))
}

fn log_of(place: &NoteLocation) -> String {
    format!("`memoranda log {}` lists its versions", quoted(&place.to_string()))
}

/// Quotes a word for a shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@,=%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
