//! What the memory tool can answer, before it is put into words.

use memoranda_core::id::CommitId;
use memoranda_core::path::NotePath;
use memoranda_engine::{EngineError, StoreError};

use super::command::BadCommand;
use super::path::{self, Stray};
use super::text;
use super::view::LeftEntries;
use crate::settings::Wording;

/// Something that was done or seen. Paths are as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// A directory, two levels deep, and what of it is left to be seen.
    Listing { path: String, entries: Vec<Listed>, left: Option<LeftEntries> },
    /// A file, or some lines of it.
    SideContent { path: String, numbered: String },
    /// A file was written.
    Created(Change),
    /// One text took the place of another.
    Replaced(Change, String),
    /// Lines were put after a line.
    Inserted(Change, i64),
    /// A file or directory is gone.
    Deleted(Change),
    /// A file or directory has another place.
    Renamed(Change, String),
}

/// One line of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    pub(crate) size: u64,
    pub(crate) path: String,
}

/// What every change has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) commit: Option<CommitId>,
    /// What the caller should know, such as a secret that was written.
    pub(crate) warnings: Vec<String>,
}

/// Why a command was not done. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    /// The arguments are no command.
    Bad(BadCommand),
    /// The path is none in the memory directory.
    Stray { path: String, stray: Stray, intent: Intent },
    /// A link in the path leads who knows where.
    Link { path: String, intent: Intent },
    /// Another program keeps there what it obeys.
    OfAProgram { path: String },
    /// A file has a second name, perhaps outside the directory.
    HardLink { path: String, intent: Intent },
    /// What is to be deleted or renamed is, or holds, something that the history cannot keep.
    Held { path: String, entry: String, what: &'static str },
    /// A directory holds nothing but what is hidden or ignored, and that goes nowhere unasked.
    OnlyHidden { path: String, left: Vec<String> },
    /// Nothing is there.
    Missing { path: String, asked_by: AskedBy },
    /// A directory is there, and a file is needed.
    NotAFile { path: String },
    /// Neither a file nor a directory is there, but a pipe or the like.
    Unsupported { path: String },
    /// A file is where a directory would have to be.
    BelowFile { path: String, file: String },
    /// A file is there, and is not to be replaced.
    Exists { path: String },
    /// The place to which something is to go is taken.
    DestinationExists { path: String },
    /// The directory itself is not to go.
    RootDelete,
    /// The directory itself is not to be renamed.
    RootRename,
    /// A directory cannot be moved into itself.
    IntoItself { from: String, to: String },
    /// The text to be replaced is not there.
    NoMatch { path: String, old: String },
    /// The text to be replaced is there more than once.
    ManyMatches { old: String, count: usize, lines: text::Overlapping },
    /// There is no such line.
    BadLine { line: i64, lines: usize },
    /// More lines than can be numbered.
    TooManyLines { path: String },
    /// More than may be kept in one file.
    TooLarge { path: String, size: u64, limit: u64 },
    /// The file that is there is larger than can be read, or kept in the history.
    Oversized { path: String, size: u64, limit: u64, intent: Intent },
    /// The bytes are no text.
    NotText { path: String },
    /// The text holds secrets, and those are not to be kept.
    Secrets { path: String, kinds: Vec<String> },
    /// The disk or the system failed; without a word of where on the machine.
    System { doing: &'static str, reason: &'static str },
}

/// Whether a command only looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intent {
    Read,
    Write,
}

/// Which command missed a file: the words differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AskedBy {
    ViewOrEdit,
    DeleteOrRename,
}

/// The most characters that are said again of a text that a caller sent: enough to know it again,
/// or, where the words are another's, all of it but for what no answer should be made of.
fn quoted_chars(wording: Wording) -> usize {
    match wording {
        Wording::Mcp => 200,
        Wording::Claude => 10_000,
    }
}

impl Failure {
    /// The same, quoting no more of what the caller sent than the wording asks for.
    pub(super) fn brief(mut self, wording: Wording) -> Self {
        let quoted = match &mut self {
            Self::Bad(BadCommand::Unknown(text)) => vec![text],
            Self::Stray { path, .. }
            | Self::Link { path, .. }
            | Self::HardLink { path, .. }
            | Self::OfAProgram { path }
            | Self::Missing { path, .. }
            | Self::NotAFile { path }
            | Self::Unsupported { path }
            | Self::Exists { path }
            | Self::DestinationExists { path }
            | Self::TooManyLines { path }
            | Self::TooLarge { path, .. }
            | Self::Oversized { path, .. }
            | Self::NotText { path }
            | Self::Secrets { path, .. } => vec![path],
            Self::OnlyHidden { path, .. } => vec![path],
            Self::Held { path, entry, .. } => vec![path, entry],
            Self::BelowFile { path, file } => vec![path, file],
            Self::IntoItself { from, to } => vec![from, to],
            Self::NoMatch { path, old } => vec![path, old],
            Self::ManyMatches { old, .. } => vec![old],
            Self::Bad(_)
            | Self::RootDelete
            | Self::RootRename
            | Self::BadLine { .. }
            | Self::System { .. } => Vec::new(),
        };
        for text in quoted {
            if let Some((end, _)) = text.char_indices().nth(quoted_chars(wording)) {
                text.truncate(end);
                text.push('…');
            }
        }
        self
    }

    /// What a failure beneath means for the one who asked about `path`.
    pub(super) fn from_engine(error: &EngineError, path: &str, intent: Intent) -> Self {
        let path = path.to_owned();
        match error {
            EngineError::NotFound { .. } => Self::Missing { path, asked_by: AskedBy::ViewOrEdit },
            EngineError::NotText(_) => Self::NotText { path },
            EngineError::Store(error) => Self::from_store(error, path, intent),
            EngineError::Path(bad) => {
                Self::Stray { path, stray: Stray::Unusable(Some(bad.reason)), intent }
            }
            _ => Self::Stray { path, stray: Stray::Unusable(None), intent },
        }
    }

    /// The same for one who wanted to delete or rename what is at `path`.
    pub(super) fn from_taking(error: &EngineError, path: &str, at: &NotePath) -> Self {
        let held = match error {
            EngineError::Store(StoreError::NotAFile { path: entry, what }) => Some((entry, *what)),
            EngineError::Store(StoreError::TooLarge { path: entry, .. }) => {
                Some((entry, "larger than 64 MB"))
            }
            _ => None,
        };
        if let Some((entry, what)) = held {
            let inner = entry.strip_prefix(at.as_str());
            let entry = match inner {
                Some("") => Some(path.to_owned()),
                Some(inner) if inner.starts_with('/') => Some(path::shown_like(path, entry)),
                _ => None,
            };
            if let Some(entry) = entry {
                return Self::Held { path: path.to_owned(), entry, what };
            }
        }
        match Self::from_engine(error, path, Intent::Write) {
            Self::Missing { path, .. } => Self::Missing { path, asked_by: AskedBy::DeleteOrRename },
            other => other,
        }
    }

    /// The same for one who wanted to make something at `path`.
    pub(super) fn from_making(error: &EngineError, path: &str) -> Self {
        match error {
            EngineError::Store(StoreError::NotAFile {
                path: file,
                what: "a file, not a folder",
            }) => {
                let file = path::shown_like(path, file);
                Self::BelowFile { path: path.to_owned(), file }
            }
            other => Self::from_engine(other, path, Intent::Write),
        }
    }

    fn from_store(error: &StoreError, path: String, intent: Intent) -> Self {
        let doing = match intent {
            Intent::Read => "read",
            Intent::Write => "saved",
        };
        match error {
            StoreError::NotAFile { what: "a folder", .. } => Self::NotAFile { path },
            StoreError::NotAFile { what: "a file, not a folder", .. } => {
                Self::Missing { path, asked_by: AskedBy::ViewOrEdit }
            }
            StoreError::NotAFile { what: "a special file", .. } => Self::Unsupported { path },
            StoreError::NotAFile { what: "a hard link", .. } => Self::HardLink { path, intent },
            StoreError::NotAFile { what: "where another program keeps its own", .. } => {
                Self::OfAProgram { path }
            }
            StoreError::NotAFile { .. } => Self::Link { path, intent },
            StoreError::Twin { .. } => Self::Exists { path },
            // What is to be written was measured before.
            StoreError::TooLarge { size, limit, .. } => {
                Self::Oversized { path, size: *size, limit: *limit, intent }
            }
            StoreError::Busy { .. } => {
                Self::System { doing, reason: "another process is writing; try again" }
            }
            error if error.is_disk_full() => Self::System { doing, reason: "the disk is full" },
            StoreError::Io { source, .. } => Self::System {
                doing,
                reason: match source.kind() {
                    std::io::ErrorKind::PermissionDenied => "permission denied",
                    std::io::ErrorKind::ReadOnlyFilesystem => "the folder is read-only",
                    _ => "the system refused",
                },
            },
            StoreError::ProjectIsLink { .. } => {
                let reason = "the memory folder is a symbolic link, which is not followed; the \
                              person can run `memoranda project add memories DIR` with the folder \
                              that it leads to";
                Self::System { doing, reason }
            }
            StoreError::ProjectUnavailable { .. } => {
                Self::System { doing, reason: "the memory folder cannot be reached now" }
            }
            _ => Self::System { doing, reason: "the store failed; `memoranda doctor` tells more" },
        }
    }
}
