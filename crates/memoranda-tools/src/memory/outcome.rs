//! What the memory tool can answer, before it is put into words.

use memoranda_core::id::CommitId;
use memoranda_core::path::NotePath;
use memoranda_engine::{EngineError, StoreError};

use super::command::MemoryCommandError;
use super::lines;
use super::path::{self, MemoryPathError};
use super::view::RemainingEntries;
use crate::settings::Wording;

/// Something that was done or seen. Paths are as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryOutcome {
    /// A directory, two levels deep, and what of it is left to be seen.
    Listing { path: String, entries: Vec<ListedEntry>, left: Option<RemainingEntries> },
    /// A file, or some lines of it.
    FileContent { path: String, numbered: String },
    /// A file was written.
    Created(MemoryChange),
    /// One text took the place of another.
    Replaced(MemoryChange, String),
    /// Lines were put after a line.
    Inserted(MemoryChange, i64),
    /// A file or directory is gone.
    Deleted(MemoryChange),
    /// A file or directory has another place.
    Renamed(MemoryChange, String),
}

/// One line of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedEntry {
    pub(crate) size: u64,
    pub(crate) path: String,
}

/// What every change has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MemoryChange {
    pub(crate) path: String,
    pub(crate) commit: Option<CommitId>,
    /// What the caller should know, such as a secret that was written.
    pub(crate) warnings: Vec<String>,
}

/// Why a command was not done. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryError {
    /// The arguments are no command.
    Command(MemoryCommandError),
    /// The path is none in the memory directory.
    InvalidPath { path: String, reason: MemoryPathError, access: PathAccess },
    /// A link in the path leads who knows where.
    Symlink { path: String, access: PathAccess },
    /// Another program keeps there what it obeys.
    ReservedPath { path: String },
    /// A file has a second name, perhaps outside the directory.
    HardLink { path: String, access: PathAccess },
    /// What is to be deleted or renamed is, or holds, something that the history cannot keep.
    Unrecordable { path: String, entry: String, what: &'static str },
    /// A directory holds nothing but what is hidden or ignored, and that goes nowhere unasked.
    OnlyHidden { path: String, left: Vec<String> },
    /// Nothing is there.
    Missing { path: String, command: CommandGroup },
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
    ManyMatches { old: String, count: usize, lines: lines::OccurrenceLines },
    /// There is no such line.
    InvalidLine { line: i64, lines: usize },
    /// More lines than can be numbered.
    TooManyLines { path: String },
    /// More than may be kept in one file.
    TooLarge { path: String, size: u64, limit: u64 },
    /// The file that is there is larger than can be read, or kept in the history.
    Oversized { path: String, size: u64, limit: u64, access: PathAccess },
    /// The bytes are no text.
    NotText { path: String },
    /// The text holds secrets, and those are not to be kept.
    Secrets { path: String, kinds: Vec<String> },
    /// The disk or the system failed; without a word of where on the machine.
    System { doing: &'static str, reason: &'static str },
}

/// Whether a command only looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathAccess {
    Read,
    Write,
}

/// Which command missed a file: the words differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommandGroup {
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

impl MemoryError {
    /// The same, quoting no more of what the caller sent than the wording asks for.
    pub(super) fn abbreviate(mut self, wording: Wording) -> Self {
        let quoted = match &mut self {
            Self::Command(MemoryCommandError::Unknown(text)) => vec![text],
            Self::InvalidPath { path, .. }
            | Self::Symlink { path, .. }
            | Self::HardLink { path, .. }
            | Self::ReservedPath { path }
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
            Self::Unrecordable { path, entry, .. } => vec![path, entry],
            Self::BelowFile { path, file } => vec![path, file],
            Self::IntoItself { from, to } => vec![from, to],
            Self::NoMatch { path, old } => vec![path, old],
            Self::ManyMatches { old, .. } => vec![old],
            Self::Command(_)
            | Self::RootDelete
            | Self::RootRename
            | Self::InvalidLine { .. }
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
    pub(super) fn from_engine(error: &EngineError, path: &str, access: PathAccess) -> Self {
        let path = path.to_owned();
        match error {
            EngineError::NotFound { .. } => {
                Self::Missing { path, command: CommandGroup::ViewOrEdit }
            }
            EngineError::NotText(_) => Self::NotText { path },
            EngineError::Store(error) => Self::from_store(error, path, access),
            EngineError::Path(bad) => Self::InvalidPath {
                path,
                reason: MemoryPathError::Unusable(Some(bad.reason)),
                access,
            },
            _ => Self::InvalidPath { path, reason: MemoryPathError::Unusable(None), access },
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
                return Self::Unrecordable { path: path.to_owned(), entry, what };
            }
        }
        match Self::from_engine(error, path, PathAccess::Write) {
            Self::Missing { path, .. } => {
                Self::Missing { path, command: CommandGroup::DeleteOrRename }
            }
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
            other => Self::from_engine(other, path, PathAccess::Write),
        }
    }

    fn from_store(error: &StoreError, path: String, access: PathAccess) -> Self {
        let doing = match access {
            PathAccess::Read => "read",
            PathAccess::Write => "saved",
        };
        match error {
            StoreError::NotAFile { what: "a folder", .. } => Self::NotAFile { path },
            StoreError::NotAFile { what: "a file, not a folder", .. } => {
                Self::Missing { path, command: CommandGroup::ViewOrEdit }
            }
            StoreError::NotAFile { what: "a special file", .. } => Self::Unsupported { path },
            StoreError::NotAFile { what: "a hard link", .. } => Self::HardLink { path, access },
            StoreError::NotAFile { what: "where another program keeps its own", .. } => {
                Self::ReservedPath { path }
            }
            StoreError::NotAFile { .. } => Self::Symlink { path, access },
            StoreError::Twin { .. } => Self::Exists { path },
            // What is to be written was measured before.
            StoreError::TooLarge { size, limit, .. } => {
                Self::Oversized { path, size: *size, limit: *limit, access }
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
