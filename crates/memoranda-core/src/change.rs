//! What a write means, as a value, before it happens; and who asked for it.

use jiff::Timestamp;

use crate::id::{CommitId, ContentHash, ProjectName};
use crate::path::NotePath;

/// A set of file operations that happen together or not at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeSet {
    /// What happens to which file, in order; no file is named twice.
    pub operations: Vec<ChangeOperation>,
    /// Folders that are there afterwards, even with nothing in them.
    pub made: Vec<(ProjectName, NotePath)>,
    /// Folders that go too, once nothing is left in them; the deepest first.
    pub emptied: Vec<(ProjectName, NotePath)>,
    /// One line for the history, such as the reason a caller gave.
    pub message: Option<String>,
}

/// What happens to one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeOperation {
    /// The project that holds the file.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// What must be on disk for the change to be made: at the path, or for a move at the place
    /// that the file comes from.
    pub expect: ExpectedContent,
    /// What becomes of it.
    pub action: FileAction,
}

/// What a change expects to find before it is made. Anything else is a conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedContent {
    /// No file of that name.
    Absent,
    /// A file with exactly these bytes.
    Hash(ContentHash),
    /// Whatever is there, or nothing.
    Anything,
}

/// What becomes of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileAction {
    /// The file holds these bytes.
    Put(Vec<u8>),
    /// The file that was at `from` is here with these bytes, and no longer there. Nothing else
    /// may be here already.
    MoveFrom {
        /// Where the file was.
        from: NotePath,
        /// What it holds now.
        content: Vec<u8>,
    },
    /// The file is gone; the history keeps it.
    Remove,
}

/// Who made a change: the program, the tool that it used, and the way in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Author {
    /// The program, such as `claude-code 2.1`, or `person` for an edit found on disk.
    pub client: String,
    /// The tool or command, such as `write_note` or `add`.
    pub tool: String,
    /// The way in.
    pub channel: ChangeChannel,
}

/// The ways by which a change can arrive. Set by the program, never by a caller's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeChannel {
    /// The command line.
    Cli,
    /// The Model Context Protocol.
    Mcp,
    /// The HTTP interface.
    Http,
    /// An edit made in the files by a person or another program.
    Disk,
    /// An import from another system.
    Import,
}

impl ChangeChannel {
    /// All channels, for tables and tests.
    pub const ALL: [Self; 5] = [Self::Cli, Self::Mcp, Self::Http, Self::Disk, Self::Import];

    /// The channel's name in logs and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Mcp => "mcp",
            Self::Http => "http",
            Self::Disk => "disk",
            Self::Import => "import",
        }
    }

    /// Reads a channel's name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == text)
    }
}

/// A change that was made, as the history tells it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    /// Its identity.
    pub id: CommitId,
    /// When it was made, by the clock of the machine that made it.
    pub time: Timestamp,
    /// Who made it.
    pub author: Author,
    /// One line about it.
    pub message: Option<String>,
    /// What it did to each file.
    pub files: Vec<FileChange>,
    /// What it did to folders; most commits do nothing to any.
    pub folders: Option<Box<FolderChanges>>,
}

/// The folders that came and went with a commit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FolderChanges {
    /// Those that were not there before it; one above comes before what is in it.
    pub made: Vec<(ProjectName, NotePath)>,
    /// Those that were to go with what was in them; the deepest first.
    pub emptied: Vec<(ProjectName, NotePath)>,
}

impl FolderChanges {
    /// The changes; `None` if there are none.
    pub fn some(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

/// What a commit did to one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileChange {
    /// The project that holds the file.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Where the file was before, if it was moved here.
    pub moved_from: Option<NotePath>,
    /// What it held before, at its old place if it was moved; `None` if it was not there.
    pub before: Option<ContentHash>,
    /// What it holds since; `None` if it is gone.
    pub after: Option<ContentHash>,
    /// Facts whose text a person changed in the file, each a new version.
    pub fact_edits: Vec<FactEdit>,
}

/// A fact that a person reworded in its file: the history counts it as a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactEdit {
    /// The fact.
    pub id: crate::id::ObservationId,
    /// The version that its new text has.
    pub version: u32,
}
