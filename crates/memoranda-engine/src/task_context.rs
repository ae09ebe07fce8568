//! The context of a task: rules, relevant memories, what is known about the person and the
//! repository, what is due, memory files, and changes by others. `get_context` and the briefs of
//! hooks are two renderings of it.

use jiff::Zoned;
use jiff::tz::TimeZone;
use memoranda_core::id::ProjectName;
use memoranda_core::statement::StatementKind;
use memoranda_store::{FileSummary, ListFilter, ListOrder};

use crate::recall::{RecallRequest, RecalledPassage, RecalledSubject, nearest_statements, recall};
use crate::records::{
    ActiveMemory, ActiveMemoryMatches, ActiveMemorySearch, FileSelection, MemoryLayer,
    MemoryRecord, RecordError, RecordKind, RecordMatches, RecordQuery, RecordResult, Reminder,
    RuleList, VisibleScopes, due_reminders, search_active_memories, search_records,
};
use crate::{
    ChangesSinceVisit, EmbeddingSource, EngineError, MIN_RELEVANCE, Memory, VisitingClient,
};

/// Kinds of records besides rules, which have their own section.
pub const MEMORY_KINDS: [RecordKind; 4] =
    [RecordKind::Decision, RecordKind::Fact, RecordKind::Note, RecordKind::Skill];
/// Kinds of statements besides rules, which have their own section.
const STATEMENT_KINDS: [StatementKind; 5] = [
    StatementKind::Preference,
    StatementKind::Fact,
    StatementKind::Decision,
    StatementKind::Skill,
    StatementKind::Note,
];
/// Token budget of the statements about the person and the repository together.
const KNOWN_TOKENS: usize = 3_000;
/// Maximum number of memory files that are listed.
const MAX_FILES: usize = 30;
/// Maximum number of memories besides the records.
pub const MAX_ELSEWHERE: usize = 5;
/// Maximum length of a passage of a memory besides the records, in characters.
pub const ELSEWHERE_CHARS: usize = 300;

/// Records of other repositories than the visible one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OtherRepositories {
    /// They are found: the call names no repository.
    Included,
    /// They are not found: the call names a repository.
    LeftOut,
}

/// A question whose answers belong to the context.
#[derive(Clone, Copy, Debug)]
pub struct ContextQuestion<'a> {
    /// The words.
    pub text: &'a str,
    /// Maximum number of relevant records.
    pub limit: usize,
    /// Only records of this layer; `None` for all memories.
    pub layer: Option<MemoryLayer>,
    /// Minimum relevance of each record; `None` fills the list with less relevant ones.
    pub min_relevance: Option<f64>,
    /// True if the nearest statements are named where nothing is relevant.
    pub names_nearest: bool,
    /// Records of other repositories.
    pub others: OtherRepositories,
}

/// A request for the context of a task.
pub struct TaskContextRequest<'a> {
    /// The scopes of the caller.
    pub visible: &'a VisibleScopes,
    /// The files that the caller works on, for rules of some files.
    pub files: FileSelection,
    /// The question; `None` for a context without relevant memories.
    pub question: Option<ContextQuestion<'a>>,
    /// The only project that the caller may read; `None` for all.
    pub only: Option<&'a ProjectName>,
    /// Project of the memory files; `None` if it is out of reach.
    pub memory_files: Option<&'a ProjectName>,
    /// Time zone of the person.
    pub zone: &'a TimeZone,
    /// Time at which a record must be active.
    pub now: &'a Zoned,
    /// The client whose visit is recorded; `None` for a context without changes.
    pub visitor: Option<&'a VisitingClient>,
}

/// The context of a task.
pub struct TaskContext {
    /// The active rules by scope.
    pub rules: RuleList,
    /// The records that match the question.
    pub relevant: Vec<MemoryRecord>,
    /// Memories besides the visible records that match the question.
    pub elsewhere: Vec<ActiveMemory>,
    /// True if notes were not looked for by their meaning, because the vectors are not loaded yet.
    pub is_by_words_alone: bool,
    /// Nearest statements of agents to a question without a relevant memory.
    pub nearest: Vec<RecalledPassage>,
    /// Statements about the person.
    pub person: Vec<RecalledPassage>,
    /// Statements that hold everywhere and are not about the person.
    pub everywhere: Vec<RecalledPassage>,
    /// Statements about the repository.
    pub repository: Vec<RecalledPassage>,
    /// Reminders that are due.
    pub due: Vec<Reminder>,
    /// The newest memory files.
    pub memory_files: Vec<FileSummary>,
    /// Changes by others since the last visit; `None` on the first one.
    pub changes: Option<ChangesSinceVisit>,
}

impl TaskContext {
    /// Loads the context, and records the visit.
    pub fn load(memory: &Memory, request: &TaskContextRequest<'_>) -> RecordResult<Self> {
        let rules = RuleList::load(memory, request.visible, &request.files, request.now)?;
        let due = due_reminders(memory, request.visible, request.zone)?;
        let (relevant, elsewhere) = match &request.question {
            Some(question) => (
                relevant_records(memory, request, question)?,
                memories_elsewhere(memory, request, question)?,
            ),
            None => Default::default(),
        };
        let is_by_words_alone = elsewhere.is_by_words_alone
            || relevant.page.is_some_and(|page| page.meaning == EmbeddingSource::Loading);
        let (relevant, elsewhere) = (relevant.records, elsewhere.memories);
        let nearest = match &request.question {
            Some(question) if relevant.is_empty() && elsewhere.is_empty() => {
                nearest_memories(memory, request, question)?
            }
            _ => Vec::new(),
        };
        let known = RecallRequest {
            max_tokens: KNOWN_TOKENS,
            kinds: STATEMENT_KINDS.to_vec(),
            project: request.only.cloned(),
            ..RecallRequest::new(None, request.visible.clone())
        };
        let known = recall(memory, &known)?.passages;
        let (person, others): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|passage| passage.subject == Some(RecalledSubject::Person));
        let is_everywhere =
            |passage: &RecalledPassage| passage.subject == Some(RecalledSubject::Everywhere);
        let (everywhere, repository) = others.into_iter().partition(is_everywhere);
        let changes = match request.visitor {
            Some(visitor) => memory.visit(visitor)?,
            None => None,
        };
        let memory_files = memory_files(memory, request.memory_files)?;
        Ok(Self {
            rules,
            relevant,
            elsewhere,
            is_by_words_alone,
            nearest,
            person,
            everywhere,
            repository,
            due,
            memory_files,
            changes,
        })
    }
}

/// Returns the records that match the question; none if it contains no word.
fn relevant_records(
    memory: &Memory,
    request: &TaskContextRequest<'_>,
    question: &ContextQuestion<'_>,
) -> RecordResult<RecordMatches> {
    if question.limit == 0 {
        return Ok(RecordMatches::default());
    }
    let matches = |record: &MemoryRecord| {
        record.is_active(request.now) && question.layer.is_none_or(|layer| layer.includes(record))
    };
    let &ContextQuestion { text, limit, min_relevance, .. } = question;
    let query = RecordQuery { text, limit, min_relevance };
    match search_records(memory, request.visible, &MEMORY_KINDS, query, &matches) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => Ok(RecordMatches::default()),
        found => found,
    }
}

/// Returns the memories besides the visible records that match the question.
fn memories_elsewhere(
    memory: &Memory,
    request: &TaskContextRequest<'_>,
    question: &ContextQuestion<'_>,
) -> RecordResult<ActiveMemoryMatches> {
    // A layer is an attribute of records.
    if question.layer.is_some() {
        return Ok(ActiveMemoryMatches::default());
    }
    let search = ActiveMemorySearch {
        known: Some(request.visible),
        query: question.text,
        limit: question.limit.min(MAX_ELSEWHERE),
        only: request.only,
        now: request.now,
        min_relevance: MIN_RELEVANCE,
        snippet_chars: ELSEWHERE_CHARS,
    };
    let mut found = search_active_memories(memory, &search)?;
    if question.others == OtherRepositories::LeftOut {
        found.memories.retain(|other| other.record.is_none());
    }
    Ok(found)
}

/// Returns the nearest statements to a question without a relevant memory. Rules have their own
/// section, and a layer is an attribute of records.
fn nearest_memories(
    memory: &Memory,
    request: &TaskContextRequest<'_>,
    question: &ContextQuestion<'_>,
) -> RecordResult<Vec<RecalledPassage>> {
    if question.limit == 0 || question.layer.is_some() || !question.names_nearest {
        return Ok(Vec::new());
    }
    let asked = RecallRequest {
        kinds: STATEMENT_KINDS.to_vec(),
        project: request.only.cloned(),
        ..RecallRequest::new(Some(question.text.to_owned()), request.visible.clone())
    };
    let is_found = |passage: &RecalledPassage| {
        question.others == OtherRepositories::Included || passage.is_of(request.visible)
    };
    nearest_statements(memory, &asked, &is_found)
}

/// Lists the newest memory files.
fn memory_files(memory: &Memory, project: Option<&ProjectName>) -> RecordResult<Vec<FileSummary>> {
    let store = memory.store();
    let Some(project) = project.filter(|project| store.project(project.as_str()).is_ok()) else {
        return Ok(Vec::new());
    };
    let filter = ListFilter { project: Some(project.clone()), ..ListFilter::default() };
    Ok(store
        .snapshot()?
        .list(&filter, ListOrder::Newest, MAX_FILES, 0)
        .map_err(EngineError::from)?)
}
