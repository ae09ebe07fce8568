//! Errors of the store, each with the value concerned.

use std::io;
use std::path::PathBuf;

use memoranda_core::abbreviate::shortened_list;
use memoranda_core::id::{CommitId, ContentHash, ProjectName};

use crate::remote::RemoteError;

/// Number of items that an error lists.
const MAX_LISTED: usize = 20;

/// Kind of an entry that cannot be used as a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotAFileKind {
    /// A symbolic link.
    Symlink,
    /// A folder.
    Folder,
    /// A file where a folder of the path should be.
    FileNotFolder,
    /// A hard link.
    HardLink,
    /// A socket, a pipe or a device.
    SpecialFile,
    /// A folder that another program uses, such as `.git`.
    ControlDir,
    /// A name that is not UTF-8.
    NonUtf8Name,
    /// A name that some systems reject.
    UnportableName,
    /// A new name that Windows reserves for a device, such as `aux`.
    ReservedName,
    /// A file that the ignore rules include, so that it needs a history.
    Note,
    /// A path in a folder that does not exist.
    MissingFolder,
}

impl NotAFileKind {
    /// Returns the kind as a noun phrase for messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Symlink => "a symbolic link",
            Self::Folder => "a folder",
            Self::FileNotFolder => "a file, not a folder",
            Self::HardLink => "a hard link",
            Self::SpecialFile => "a special file",
            Self::ControlDir => "where another program keeps its own",
            Self::NonUtf8Name => "an entry whose name is not UTF-8",
            Self::UnportableName => "an entry whose name is not portable",
            Self::ReservedName => {
                "a name that Windows reserves for a device (con, prn, aux, nul, com1 …); choose another one"
            }
            Self::Note => "a note; only what .gitignore names is written without history",
            Self::MissingFolder => "in a folder that does not exist",
        }
    }
}

impl std::fmt::Display for NotAFileKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure of the store. Outcomes that a caller can act on, such as a conflict, are values.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused something.
    #[error("cannot {doing}: {}", plain(.source))]
    Io {
        /// The failed action, with the project-relative name.
        doing: String,
        /// The system's error.
        source: io::Error,
    },
    /// Another process held the write lock for too long.
    #[error("{}", busy(*.holder, *.is_suspended, *.seconds))]
    Busy {
        /// The process that holds the lock, or that wrote last; 0 if it is not known.
        holder: u32,
        /// True if that process is suspended, as by Ctrl-Z.
        is_suspended: bool,
        /// Seconds waited.
        seconds: u64,
    },
    /// The vault is on a drive that is not mounted.
    #[error(
        "the vault at {} lies on another drive, which is not mounted now; nothing was changed. Mount the drive; if it is \
         gone for good, remove {}, and a new vault can be made",
        .home.display(), .mark.display()
    )]
    VaultAway {
        /// The place of the vault.
        home: PathBuf,
        /// The file that records this.
        mark: PathBuf,
    },
    /// The vault's folder is not there now. What is known of it stays.
    #[error(
        "the folder of the vault cannot be reached ({}); nothing was changed. Mount its drive, or put the folder back",
        .home.display()
    )]
    VaultUnreachable {
        /// The place of the vault.
        home: PathBuf,
    },
    /// The vault belongs to another user, who alone can read its log.
    #[error("the vault {} belongs to another user ({owner}), and a vault has one owner", .home.display())]
    VaultOfOther {
        /// The place of the vault.
        home: PathBuf,
        /// The account of its owner.
        owner: String,
    },
    /// The vault was made by a later version.
    #[error(
        "this vault has format {found}, and this program knows formats up to {known}; use a newer memoranda; nothing was changed"
    )]
    NewerFormat {
        /// The format of the vault.
        found: String,
        /// The newest that is understood.
        known: u32,
    },
    /// A segment of the log was written by a later version.
    #[error(
        "the log has a segment of format {found} ({segment}), and this program knows formats up to {known}; \
         use a newer memoranda; nothing was changed"
    )]
    NewerLog {
        /// The segment.
        segment: String,
        /// Format of the vault.
        found: u8,
        /// The newest that is understood.
        known: u8,
    },
    /// Vectors are of another kind than those that were kept before.
    #[error(
        "{model} makes other vectors than before; `memoranda embed --rebuild` throws the old ones away"
    )]
    OtherVectors {
        /// The model.
        model: String,
    },
    /// No project of that name.
    #[error("there is no project {name:?}{}; known projects: {}", removed(.was_at.as_ref()), list(.known))]
    NoProject {
        /// The requested name.
        name: String,
        /// Existing projects.
        known: Vec<ProjectName>,
        /// Folder of the project, if it was one that was removed.
        was_at: Option<PathBuf>,
    },
    /// The history of the project is about a folder that was removed since.
    #[error("project {name} was removed since; its files were in {}, and nothing was changed", .was_at.display())]
    ProjectRemoved {
        /// The project.
        name: ProjectName,
        /// Folder of the project at that time.
        was_at: PathBuf,
    },
    /// A project's folder does not exist now; perhaps its drive is not mounted.
    #[error(
        "the folder of project {name} cannot be reached: {reason}; nothing was removed from memory"
    )]
    ProjectUnavailable {
        /// The project.
        name: ProjectName,
        /// Reason of the failure.
        reason: String,
    },
    /// A symbolic link is in the place of a project's folder in the vault.
    #[error(
        "the folder of project {name} in the vault is a symbolic link, which is not followed; \
         `memoranda project add {name} DIR` with the folder that it leads to makes that the project"
    )]
    ProjectIsLink {
        /// The project.
        name: ProjectName,
    },
    /// A project could not be added or removed.
    #[error("cannot {doing} project {name}: {reason}")]
    ProjectRefused {
        /// The failed action.
        doing: &'static str,
        /// The project.
        name: ProjectName,
        /// Reason of the failure.
        reason: String,
    },
    /// A project has files in the vault, which another folder for it would hide.
    #[error(
        "project {name} holds files in the vault ({hidden} of {}) that would no longer be seen", .at.display()
    )]
    ProjectHidden {
        /// The project.
        name: ProjectName,
        /// Folder of the project.
        at: PathBuf,
        /// Number of files.
        hidden: usize,
    },
    /// The name on disk is a symbolic link, a hard link or a special file.
    #[error("{path:?} is {kind}, and is neither followed nor replaced")]
    NotAFile {
        /// The path within the project.
        path: String,
        /// The kind of entry at the path.
        kind: NotAFileKind,
    },
    /// Another file has a name that some systems cannot distinguish from the new one.
    #[error(
        "{existing:?} exists, and some systems cannot tell it from {path:?}; use that name, or another"
    )]
    Twin {
        /// The new path.
        path: String,
        /// The existing path.
        existing: String,
    },
    /// The content is larger than the limit.
    #[error("{path:?} would be {size} bytes; the limit is {limit}")]
    TooLarge {
        /// The path within the project.
        path: String,
        /// Size of the file.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The history has no such commit.
    #[error("there is no commit {0:?}; `memoranda log` lists them")]
    NoCommit(String),
    /// A short commit id is ambiguous.
    #[error("commit {given:?} could be any of {}; give more of it", list(.candidates))]
    AmbiguousCommit {
        /// The given id.
        given: String,
        /// Matching commits.
        candidates: Vec<CommitId>,
    },
    /// The content was purged or its log is damaged.
    #[error("the text of version {} is no longer in the log: purged by `vacuum`, or its segment is damaged (`memoranda doctor` tells)", .0.short())]
    ContentGone(ContentHash),
    /// A state file of Memoranda could not be parsed.
    #[error("{file} is not readable: {reason}")]
    Damaged {
        /// Name of the file.
        file: String,
        /// The problem.
        reason: String,
    },
    /// A failed write could not be undone; a new start completes it from the log.
    #[error("an earlier write failed half-way ({0}); restart to complete it from the log")]
    Halted(String),
    /// The store was closed during a scan.
    #[error("the vault was closed before every file was looked at; the next start goes on")]
    Closing,
    /// The remote log of a space failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// Other writers of the space were faster in every attempt.
    #[error("others keep writing to this space; nothing was changed: try again")]
    SpaceMoved,
    /// A commit is in the remote log; the copy of this machine fetches it again.
    #[error("the write is made, and the copy of the space on this server is behind")]
    SpaceCopyBehind,
    /// Log records of the space were rewritten, so this copy is thrown away.
    #[error("the log of this space was rewritten; open the space again")]
    SpaceRewritten,
    /// A space cannot do this.
    #[error("a space of a team server cannot {doing}")]
    NotInSpace {
        /// The failed action.
        doing: &'static str,
    },
    /// SQLite failed.
    #[error("the index failed: {0}")]
    Index(#[from] rusqlite::Error),
}

/// The result of most store calls.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// Returns true if the disk or the quota is full.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Io { source, .. } if matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ))
    }

    /// Returns true if nothing can be written: the disk is full, read-only or away. Reading goes on.
    pub fn is_unwritable(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly};
        match self {
            Self::VaultUnreachable { .. } => true,
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::ReadOnlyFilesystem
            ),
            Self::Index(rusqlite::Error::SqliteFailure(e, _)) => {
                matches!(e.code, DiskFull | ReadOnly | CannotOpen)
            }
            _ => false,
        }
    }

    /// Returns true if another process holds the lock for so long that a read should not wait.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }

    /// Returns true if the index is damaged, so that a rebuild helps.
    pub(crate) fn is_index_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let gone = |message: &str| message.starts_with("no such table");
        match self {
            Self::Index(rusqlite::Error::SqliteFailure(e, message)) => {
                matches!(e.code, DatabaseCorrupt | NotADatabase)
                    || message.as_deref().is_some_and(gone)
            }
            Self::Index(rusqlite::Error::SqlInputError { msg, .. }) => gone(msg),
            // Where a row may be absent, the query says so: here another row refers to it.
            Self::Index(rusqlite::Error::QueryReturnedNoRows) => true,
            // The tables are strict: values of other types are those of another page.
            Self::Index(
                rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..),
            ) => true,
            _ => false,
        }
    }

    /// Returns the error of an index that was changed by another program.
    pub(crate) fn index_damage() -> Self {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        Self::Index(rusqlite::Error::SqliteFailure(code, None))
    }
}

/// Adds the failed action to an I/O error.
pub(crate) trait ErrorContext<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> ErrorContext<T> for io::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| StoreError::Io { doing: what(), source })
    }
}

/// Returns the text of an I/O error without the number at its end.
pub(crate) fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull => "the disk is full; nothing was changed".into(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up; nothing was changed".into(),
        io::ErrorKind::ReadOnlyFilesystem => match error.get_ref() {
            Some(reason) => reason.to_string(),
            None => "the file system is read-only".into(),
        },
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}

fn removed(was_at: Option<&PathBuf>) -> String {
    was_at.map_or(String::new(), |folder| {
        format!(" any more: it was removed, and its files were in {}", folder.display())
    })
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    match items {
        [] => "none".into(),
        items => shortened_list(items, MAX_LISTED),
    }
}

fn busy(holder: u32, is_suspended: bool, seconds: u64) -> String {
    let process = match holder {
        0 => "another process".to_owned(),
        id => format!("process {id}"),
    };
    if is_suspended {
        return format!(
            "the vault is busy: {process} holds the write lock and is suspended; continue that process (`kill -CONT \
             {holder}`), or end it"
        );
    }
    format!(
        "the vault is busy: {process} has held the write lock for {seconds} s; try again, or end that process if it \
         hangs"
    )
}
