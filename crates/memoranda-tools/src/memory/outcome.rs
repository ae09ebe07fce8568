//! Outcomes and errors of the memory tool, before they are rendered in a wording.

use memoranda_core::abbreviate::abbreviate;
use memoranda_core::id::CommitId;
use memoranda_core::path::NotePath;
use memoranda_engine::{EngineError, NotAFileKind, StoreError};

use super::command::MemoryCommandError;
use super::lines;
use super::path::{self, MemoryPathError};
use super::view::RemainingEntries;
use crate::settings::Wording;

/// Outcome of a command. Paths are as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryOutcome {
    /// A directory, two levels deep, and the entries that did not fit.
    Listing { path: String, entries: Vec<ListedEntry>, left: Option<RemainingEntries> },
    /// A file or some of its lines.
    FileContent { path: String, numbered: String },
    /// A file was written.
    Created(MemoryChange),
    /// A text was replaced.
    Replaced(MemoryChange, String),
    /// Lines were inserted after a line.
    Inserted(MemoryChange, i64),
    /// A file or directory was deleted.
    Deleted(MemoryChange),
    /// A file or directory was moved.
    Renamed(MemoryChange, String),
}

/// One line of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedEntry {
    pub(crate) size: u64,
    pub(crate) path: String,
}

/// Facts that every change has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MemoryChange {
    pub(crate) path: String,
    pub(crate) commit: Option<CommitId>,
    /// Warnings for the caller, such as a written secret.
    pub(crate) warnings: Vec<String>,
}

/// Reason why a command failed. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MemoryError {
    /// The arguments are not a command.
    Command(MemoryCommandError),
    /// The path is outside the memory directory, or unusable.
    InvalidPath { path: String, reason: MemoryPathError, access: PathAccess },
    /// The path contains a symlink.
    Symlink { path: String, access: PathAccess },
    /// The path is inside `.git` or another tool's control directory.
    ReservedPath { path: String },
    /// The file is a hard link, perhaps to a file outside the directory.
    HardLink { path: String, access: PathAccess },
    /// The path to delete or rename is or contains an entry that the history cannot keep.
    Unrecordable { path: String, entry: String, what: &'static str },
    /// The directory contains only hidden or ignored files, which are deleted by name only.
    OnlyHidden { path: String, left: Vec<String> },
    /// Nothing exists at the path.
    Missing { path: String, command: CommandGroup },
    /// The path is a directory, and a file is needed.
    NotAFile { path: String },
    /// The path is a special file, such as a pipe.
    Unsupported { path: String },
    /// A parent of the path is a file.
    BelowFile { path: String, file: String },
    /// The file exists and must not be replaced.
    Exists { path: String },
    /// The destination exists.
    DestinationExists { path: String },
    /// The memory directory itself cannot be deleted.
    RootDelete,
    /// The memory directory itself cannot be renamed.
    RootRename,
    /// A directory cannot be moved into itself.
    IntoItself { from: String, to: String },
    /// The text to replace does not occur.
    NoMatch { path: String, old: String },
    /// The text to replace occurs more than once.
    ManyMatches { old: String, count: usize, lines: lines::OccurrenceLines },
    /// The file has no such line.
    InvalidLine { line: i64, lines: usize },
    /// The file has more lines than can be numbered.
    TooManyLines { path: String },
    /// The new text exceeds the maximum file size.
    TooLarge { path: String, size: u64, limit: u64 },
    /// The existing file is too large to be read, or to be kept in the history.
    Oversized { path: String, size: u64, limit: u64, access: PathAccess },
    /// The file is not UTF-8 text.
    NotText { path: String },
    /// The text contains secrets, and the policy rejects them.
    Secrets { path: String, kinds: Vec<String> },
    /// The disk or the system failed. The message contains no local path.
    System { doing: &'static str, reason: &'static str },
}

/// Access of a command to a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathAccess {
    Read,
    Write,
}

/// Group of the command that did not find a file: the wordings differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommandGroup {
    ViewOrEdit,
    DeleteOrRename,
}

/// Maximum length of a quotation of the caller's text, in characters. The Claude wording quotes the
/// whole text, up to a safe length.
fn max_quoted_chars(wording: Wording) -> usize {
    match wording {
        Wording::Mcp => 200,
        Wording::Claude => 10_000,
    }
}

impl MemoryError {
    /// Abbreviates the quotations of the caller's text.
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
            *text = abbreviate(text, max_quoted_chars(wording)).into_owned();
        }
        self
    }

    /// Converts an engine error of a command on `path`.
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

    /// Converts an engine error of deleting or renaming `path`.
    pub(super) fn from_removing(error: &EngineError, path: &str, at: &NotePath) -> Self {
        let held = match error {
            EngineError::Store(StoreError::NotAFile { path: entry, kind }) => {
                Some((entry, kind.as_str()))
            }
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

    /// Converts an engine error of creating `path`.
    pub(super) fn from_creating(error: &EngineError, path: &str) -> Self {
        match error {
            EngineError::Store(StoreError::NotAFile {
                path: file,
                kind: NotAFileKind::FileNotFolder,
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
            StoreError::NotAFile { kind: NotAFileKind::Folder, .. } => Self::NotAFile { path },
            StoreError::NotAFile { kind: NotAFileKind::FileNotFolder, .. } => {
                Self::Missing { path, command: CommandGroup::ViewOrEdit }
            }
            StoreError::NotAFile { kind: NotAFileKind::SpecialFile, .. } => {
                Self::Unsupported { path }
            }
            StoreError::NotAFile { kind: NotAFileKind::HardLink, .. } => {
                Self::HardLink { path, access }
            }
            StoreError::NotAFile { kind: NotAFileKind::ControlDir, .. } => {
                Self::ReservedPath { path }
            }
            StoreError::NotAFile { .. } => Self::Symlink { path, access },
            StoreError::Twin { .. } => Self::Exists { path },
            // The size of the new text was checked before.
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
            StoreError::ProjectUnavailable { .. } | StoreError::VaultUnreachable { .. } => {
                Self::System { doing, reason: "the memory folder cannot be reached now" }
            }
            _ => Self::System { doing, reason: "the store failed; run `memoranda doctor`" },
        }
    }
}
