//! Remembering one statement: its kind and scope, what is known already, and what it replaces.

mod error;
mod scope;
mod similar;
mod store;

pub use error::{RememberError, RememberResult};
pub(crate) use similar::query_words;

use memoranda_core::change::Commit;
use memoranda_core::statement::{StatementKind, StatementScope};

use crate::records::{MemoryRecord, RecordKind, RecordScope};
use crate::{Author, Memory, NoteLocation};

/// Maximum length of a statement, in characters. Longer texts are notes.
pub const MAX_STATEMENT_CHARS: usize = 4_000;
/// Tag of a record that is a preference.
pub const PREFERENCE_TAG: &str = "preference";

/// A statement to remember.
#[derive(Clone, Debug, Default)]
pub struct RememberRequest {
    /// The statement.
    pub content: String,
    /// The kind; guessed if `None`.
    pub kind: Option<StatementKind>,
    /// The scope; guessed if `None`.
    pub scope: Option<StatementScope>,
    /// The tags.
    pub tags: Vec<String>,
    /// The repository that the caller named.
    pub project: Option<RecordScope>,
    /// The repository that the call comes from; `None` if it is unknown.
    pub workspace: Option<RecordScope>,
    /// The record that the statement replaces.
    pub replaces: Option<RecordReference>,
}

/// A record, and the version that the caller knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordReference {
    /// The id.
    pub id: String,
    /// The version; `None` for any.
    pub version: Option<String>,
}

impl RecordReference {
    /// Parses `id` or `id@version`.
    pub fn parse(text: &str) -> Self {
        match text.trim().split_once('@') {
            Some((id, version)) => Self { id: id.to_owned(), version: Some(version.to_owned()) },
            None => Self { id: text.trim().to_owned(), version: None },
        }
    }
}

/// A statement that is remembered.
#[derive(Clone, Debug)]
pub struct RememberedStatement {
    /// The effect of the call.
    pub effect: RememberEffect,
    /// The id of the record.
    pub id: String,
    /// The version of the record.
    pub version: String,
    /// The file.
    pub place: NoteLocation,
    /// The kind.
    pub kind: StatementKind,
    /// True if the kind was guessed.
    pub is_kind_guessed: bool,
    /// The scope.
    pub scope: RecordScope,
    /// Origin of the scope.
    pub scope_origin: ScopeOrigin,
    /// The commit; `None` if nothing was written.
    pub commit: Option<Commit>,
    /// Records that the statement may replace, with their versions.
    pub candidates: Vec<(MemoryRecord, String)>,
}

/// Origin of the scope of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeOrigin {
    /// The request or the replaced record has it.
    Given,
    /// The scope was guessed.
    Guessed,
    /// The statement sounds like one about a repository; none is known, so that it is the person's.
    RepositoryUnknown,
}

/// The effect of remembering a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RememberEffect {
    /// A new record was stored.
    Stored,
    /// The statement was known already; nothing was written.
    Known,
    /// The text of a record was replaced.
    Replaced {
        /// The text before.
        previous: String,
    },
}

/// Returns the kind of records in which statements of a kind are stored.
pub fn record_kind(kind: StatementKind) -> RecordKind {
    match kind {
        StatementKind::Rule => RecordKind::Rule,
        StatementKind::Decision => RecordKind::Decision,
        StatementKind::Preference | StatementKind::Fact => RecordKind::Fact,
        StatementKind::Skill => RecordKind::Skill,
        StatementKind::Note => RecordKind::Note,
    }
}

/// Returns the kind of the statement that a record contains.
pub fn statement_kind(kind: RecordKind, tags: &[String]) -> StatementKind {
    match kind {
        RecordKind::Fact if tags.iter().any(|tag| tag.eq_ignore_ascii_case(PREFERENCE_TAG)) => {
            StatementKind::Preference
        }
        RecordKind::Rule => StatementKind::Rule,
        RecordKind::Decision => StatementKind::Decision,
        RecordKind::Fact => StatementKind::Fact,
        RecordKind::Skill => StatementKind::Skill,
        RecordKind::Note => StatementKind::Note,
    }
}

/// Remembers a statement. A known statement is not stored twice; another value of the same subject
/// replaces the old one; everything else is stored as a new record.
///
/// ```
/// use memoranda_engine::{Memory, OpenOptions};
/// # use memoranda_engine::core::change::{Author, ChangeChannel};
/// # let folder = tempfile::tempdir()?;
/// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
/// # let who = Author::new("example", "example", ChangeChannel::Cli);
/// use memoranda_engine::remember::{RememberRequest, remember};
///
/// let request = RememberRequest { content: "I prefer tabs".to_owned(), ..Default::default() };
/// let remembered = remember(&memory, &who, &request)?;
/// assert_eq!(remembered.kind.as_str(), "preference");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remember(
    memory: &Memory,
    who: &Author,
    request: &RememberRequest,
) -> RememberResult<RememberedStatement> {
    let chars = request.content.chars().count();
    // A number alone says nothing about what it counts.
    if !request.content.contains(char::is_alphabetic) {
        return Err(RememberError::Empty);
    }
    if chars > MAX_STATEMENT_CHARS {
        return Err(RememberError::TooLong { chars });
    }
    match &request.replaces {
        Some(reference) => store::replace(memory, who, request, reference),
        None => store::add(memory, who, request),
    }
}
