//! Change sets (writes before they happen), commits (writes in the history) and their authors.

use jiff::Timestamp;

use crate::id::{CommitId, ContentHash, ProjectName};
use crate::path::NotePath;

/// A set of file operations that is applied as a whole or rejected as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangeSet {
    /// Operations in order; each path occurs at most once.
    pub operations: Vec<ChangeOperation>,
    /// Folders to create, even if they stay empty.
    pub created_folders: Vec<(ProjectName, NotePath)>,
    /// Folders to remove once they are empty; the deepest first.
    pub removed_folders: Vec<(ProjectName, NotePath)>,
    /// One line for the history, such as the reason that a caller gave.
    pub message: Option<String>,
    /// `None` if the change is an ordinary write.
    pub kind: Option<CommitKind>,
}

/// An operation on one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangeOperation {
    /// Project of the file.
    pub project: ProjectName,
    /// Path of the file after the operation.
    pub path: NotePath,
    /// Content that must be on disk before the change: at `path`, or for a move at the old path.
    pub expect: ExpectedContent,
    /// Action on the file.
    pub action: FileAction,
}

/// Precondition of an operation. Any other content on disk is a conflict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpectedContent {
    /// No file of that name.
    Absent,
    /// A file with exactly these bytes.
    Hash(ContentHash),
    /// Any content, or no file.
    Anything,
}

/// Action of an operation on its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileAction {
    /// Writes these bytes to the file.
    Put(Vec<u8>),
    /// Moves the file from `from` to the operation's path and writes these bytes. The path must be
    /// free.
    MoveFrom {
        /// Old path of the file.
        from: NotePath,
        /// New content of the file.
        content: Vec<u8>,
    },
    /// Removes the file; the history keeps its content.
    Remove,
}

/// Author of a change: program, tool, channel and further identities where they are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Author {
    /// Client program, such as `claude-code 2.1`; `person` for an edit found on disk.
    pub client: String,
    /// Tool or command, such as `write_note` or `add`.
    pub tool: String,
    /// Interface through which the change arrived.
    pub channel: ChangeChannel,
    /// Further identities, where they are known.
    pub details: Box<AuthorDetails>,
}

/// Identities of an author that most changes lack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuthorDetails {
    /// Person or account, such as the owner of a token on a team server.
    pub account: Option<String>,
    /// Name of the token that the request carried; never the token itself.
    pub token: Option<String>,
    /// Conversation or session of the client. Undo can take back all its changes.
    pub conversation: Option<String>,
    /// Origin of the text, such as an address or the name of an imported file.
    pub source: Option<String>,
    /// Fields that a newer version wrote: tag and value, kept as they were read.
    pub unknown: Vec<(u64, Vec<u8>)>,
}

/// Name of a person who is not named.
pub const UNNAMED_PERSON: &str = "You";
/// Client of what people do by command, without its version.
const OWN_PROGRAM: &str = "memoranda";

impl Author {
    /// Returns an author without further details.
    pub fn new(client: impl Into<String>, tool: impl Into<String>, channel: ChangeChannel) -> Self {
        let details = Box::default();
        Self { client: client.into(), tool: tool.into(), channel, details }
    }

    /// Sets the conversation or session of the client.
    #[must_use]
    pub fn with_conversation(mut self, conversation: Option<String>) -> Self {
        self.details.conversation = conversation;
        self
    }

    /// Sets the person or account.
    #[must_use]
    pub fn with_account(mut self, account: Option<String>) -> Self {
        self.details.account = account;
        self
    }

    /// Sets the name of the token that the request carried.
    #[must_use]
    pub fn with_token(mut self, token: Option<String>) -> Self {
        self.details.token = token;
        self
    }

    /// Sets the origin of the text.
    #[must_use]
    pub fn with_source(mut self, source: Option<String>) -> Self {
        self.details.source = source;
        self
    }

    /// Returns true if a person made the change: by command, on the page, or in a file. The author of
    /// what a hook writes is the client that started it.
    pub fn is_person(&self) -> bool {
        match self.channel {
            ChangeChannel::Disk | ChangeChannel::Page => true,
            ChangeChannel::Cli => self.client.split(' ').next() == Some(OWN_PROGRAM),
            ChangeChannel::Mcp | ChangeChannel::Http | ChangeChannel::Import => false,
        }
    }

    /// Returns the name that people know the author by: the person, the person with their agent, or
    /// the client. `person` is the name of the person whose vault it is, if it is known.
    pub fn display_name(&self, person: Option<&str>) -> String {
        match (&self.details.account, self.channel) {
            (None, _) if self.is_person() => person.unwrap_or(UNNAMED_PERSON).to_owned(),
            (None, _) => self.client.clone(),
            (Some(account), ChangeChannel::Mcp | ChangeChannel::Http) => {
                format!("{account} ({})", self.client)
            }
            (Some(account), _) => account.clone(),
        }
    }

    /// Returns true if the author is the client of this name in any version, or the person of this
    /// name. `claude-code` is also `Claude Code`, as hooks write it.
    pub fn is_called(&self, name: &str) -> bool {
        let spaced = name.replace('-', " ");
        let is_version = self.client.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        self.client == name
            || is_version
            || self.client.eq_ignore_ascii_case(&spaced)
            || self.details.account.as_deref() == Some(name)
    }
}

/// Interface through which a change arrives. Set by the program, never by a caller's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeChannel {
    /// The command line.
    Cli,
    /// The Model Context Protocol.
    Mcp,
    /// The HTTP interface.
    Http,
    /// The web page, used by a person.
    Page,
    /// An edit made in the files by a person or another program.
    Disk,
    /// An import from another system.
    Import,
}

impl ChangeChannel {
    /// All channels, for tables and tests.
    pub const ALL: [Self; 6] =
        [Self::Cli, Self::Mcp, Self::Http, Self::Page, Self::Disk, Self::Import];

    /// Returns the channel's name in logs and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Mcp => "mcp",
            Self::Http => "http",
            Self::Page => "page",
            Self::Disk => "disk",
            Self::Import => "import",
        }
    }

    /// Parses a channel's name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == text)
    }
}

/// The kind of a commit that is not an ordinary write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitKind {
    /// Files that were in a folder when it became a project. This is not an edit, and cannot be
    /// undone.
    FirstScan,
    /// Edits by a person or another program, found by a later scan.
    Scan,
    /// Takes back a commit.
    Undo(CommitId),
    /// Makes a commit again that was taken back.
    Redo(CommitId),
    /// Says that texts were purged from the history. It changes no file.
    Purge,
}

impl CommitKind {
    /// The name in the log and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FirstScan => "first-scan",
            Self::Scan => "scan",
            Self::Undo(_) => "undo",
            Self::Redo(_) => "redo",
            Self::Purge => "purge",
        }
    }

    /// The commit that an undo or a redo is about.
    pub fn target(self) -> Option<CommitId> {
        match self {
            Self::Undo(id) | Self::Redo(id) => Some(id),
            Self::FirstScan | Self::Scan | Self::Purge => None,
        }
    }

    /// Reads a name and a target; `None` for a kind that this version does not know.
    pub fn parse(name: &str, target: Option<&str>) -> Option<Self> {
        let target = target.and_then(CommitId::parse);
        match name {
            "first-scan" => Some(Self::FirstScan),
            "scan" => Some(Self::Scan),
            "undo" => target.map(Self::Undo),
            "redo" => target.map(Self::Redo),
            "purge" => Some(Self::Purge),
            _ => None,
        }
    }
}

/// A change set that was applied, as recorded in the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    /// Identity of the commit.
    pub id: CommitId,
    /// Time of the commit by the clock of the machine that wrote it.
    pub time: Timestamp,
    /// Author of the change.
    pub author: Author,
    /// One line about the change.
    pub message: Option<String>,
    /// `None` if the commit is an ordinary write.
    pub kind: Option<CommitKind>,
    /// Changes of files.
    pub files: Vec<FileChange>,
    /// Changes of folders; `None` for most commits.
    pub folders: Option<Box<FolderChanges>>,
}

/// Folders that a commit created and removed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FolderChanges {
    /// Created folders; a parent comes before its children.
    pub created: Vec<(ProjectName, NotePath)>,
    /// Folders to be removed once empty; the deepest first.
    pub removed: Vec<(ProjectName, NotePath)>,
}

impl FolderChanges {
    /// Returns `None` if there are no changes.
    pub fn into_option(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

/// Change of one file by a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileChange {
    /// Project of the file.
    pub project: ProjectName,
    /// Path of the file after the commit.
    pub path: NotePath,
    /// Old path if the commit moved the file.
    pub moved_from: Option<NotePath>,
    /// Content before the commit, at the old path if the file was moved; `None` if the file did not
    /// exist.
    pub before: Option<ContentHash>,
    /// Content after the commit; `None` if the commit removed the file.
    pub after: Option<ContentHash>,
    /// Facts whose text a person changed in the file; each edit is a new version of the fact.
    pub fact_edits: Vec<FactEdit>,
}

/// A fact whose text a person changed in its file. The history counts the new text as a version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FactEdit {
    /// Identity of the fact.
    pub id: crate::id::ObservationId,
    /// Version number of the new text.
    pub version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_are_found_by_the_names_that_people_see() {
        let hook = Author::new("Claude Code", "hook stop", ChangeChannel::Cli);
        let agent = Author::new("claude-code 2.1", "remember", ChangeChannel::Mcp);
        let person = Author::new("memoranda 0.1.0", "add", ChangeChannel::Cli);
        let person = person.with_account(Some("Ada".to_owned()));
        for (author, name, expected) in [
            (&hook, "claude-code", true),
            (&hook, "Claude Code", true),
            (&agent, "claude-code", true),
            (&agent, "claude-code 2.1", true),
            (&agent, "claude", false),
            (&person, "Ada", true),
            (&person, "memoranda", true),
            (&person, "claude-code", false),
        ] {
            assert_eq!(author.is_called(name), expected, "{author:?} as {name}");
        }
    }

    #[test]
    fn the_person_has_one_name_on_every_channel() {
        let ada = || Some("Ada".to_owned());
        for (client, tool, channel, account, expected) in [
            ("memoranda 0.1.0", "add", ChangeChannel::Cli, ada(), "Ada"),
            ("memoranda 0.1.0", "add", ChangeChannel::Cli, None, "Mara"),
            ("memoranda 0.1.0", "edit", ChangeChannel::Page, None, "Mara"),
            ("person", "editor", ChangeChannel::Disk, None, "Mara"),
            ("Claude Code", "hook stop", ChangeChannel::Cli, None, "Claude Code"),
            ("claude-code 2.1", "remember", ChangeChannel::Mcp, None, "claude-code 2.1"),
            ("claude-code 2.1", "remember", ChangeChannel::Http, ada(), "Ada (claude-code 2.1)"),
            ("memoranda 0.1.0", "obsidian", ChangeChannel::Import, None, "memoranda 0.1.0"),
        ] {
            let author = Author::new(client, tool, channel).with_account(account);
            assert_eq!(author.display_name(Some("Mara")), expected, "{author:?}");
        }
    }
}
