//! Forgetting one memory: by id, by name, or by a question that fits exactly one.

use memoranda_core::change::Commit;
use memoranda_core::id::ProjectName;

use crate::recall::{RecallRequest, RecalledPassage, recall, statement_key};
use crate::records::{RecordError, RecordResult, VisibleScopes, delete_record, find_record};
use crate::{
    Author, DeleteOutcome, DeleteRequest, EngineError, Memory, NoteLocation, ResolveIntent,
};

/// Maximum number of memories that a question lists.
const MAX_LISTED: usize = 10;
/// Token budget of the search for the memories of a question.
const SEARCH_TOKENS: usize = 6_000;
/// Maximum number of other places that are searched for the same statement.
const MAX_PLACES: usize = 5;

/// The memory to forget.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForgetTarget {
    /// The id of a record.
    Id(String),
    /// The title, permalink or path of a note or memory file.
    Name(String),
    /// A question that fits the memory.
    Query(String),
}

/// A request to forget.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    /// The memory.
    pub target: ForgetTarget,
    /// The only project that the caller may use; `None` for all.
    pub only: Option<ProjectName>,
    /// The scopes of the caller.
    pub visible: VisibleScopes,
}

/// The outcome of forgetting.
#[expect(clippy::large_enum_variant, reason = "made once a call and never stored")]
#[derive(Clone, Debug)]
pub enum ForgetOutcome {
    /// One memory was deleted; the commit can be undone.
    Forgotten(ForgottenMemory),
    /// The question fits these memories, and none was deleted.
    Listed(Vec<RecalledPassage>),
}

/// A memory that was forgotten.
#[derive(Clone, Debug)]
pub struct ForgottenMemory {
    /// Id of the record; `None` for a note.
    pub id: Option<String>,
    /// The text, or the title of a note.
    pub text: String,
    /// The file.
    pub place: NoteLocation,
    /// The commit; `None` if the file was gone already.
    pub commit: Option<Commit>,
    /// Other places that tell the same.
    pub still_told: Vec<NoteLocation>,
}

/// Forgets one memory.
pub fn forget(
    memory: &Memory,
    who: &Author,
    request: &ForgetRequest,
) -> RecordResult<ForgetOutcome> {
    match &request.target {
        ForgetTarget::Id(id) => match find_record(memory, id) {
            Ok(_) => forget_record(memory, who, request, id),
            // An id may be the path of a note, as answers show it.
            Err(RecordError::NotFound { .. }) if id.contains('/') => {
                forget_note(memory, who, request, id)
            }
            Err(error) => Err(error),
        },
        ForgetTarget::Name(name) => forget_note(memory, who, request, name),
        ForgetTarget::Query(query) => {
            let found = fitting(memory, request, query, MAX_LISTED)?;
            match found.as_slice() {
                // A note contains more than the passage that fits; it is deleted only by its name.
                [RecalledPassage { id: Some(id), places, .. }] if places.len() == 1 => {
                    forget_record(memory, who, request, id)
                }
                _ => Ok(ForgetOutcome::Listed(found)),
            }
        }
    }
}

fn forget_record(
    memory: &Memory,
    who: &Author,
    request: &ForgetRequest,
    id: &str,
) -> RecordResult<ForgetOutcome> {
    let (record, commit) = delete_record(memory, who, id)?;
    let still_told = other_places(memory, request, &record.content, &record.place)?;
    Ok(ForgetOutcome::Forgotten(ForgottenMemory {
        id: Some(record.id),
        text: record.content,
        place: record.place,
        commit: Some(commit),
        still_told,
    }))
}

fn forget_note(
    memory: &Memory,
    who: &Author,
    request: &ForgetRequest,
    name: &str,
) -> RecordResult<ForgetOutcome> {
    let name = name.trim().trim_start_matches('/');
    let only = request.only.as_ref().map(ProjectName::as_str);
    let resolved = memory.resolve(only, name, ResolveIntent::Change)?;
    if request.only.as_ref().is_some_and(|only| resolved.place.project != *only) {
        return Err(EngineError::Invalid(format!("{name:?} is in another project")).into());
    }
    let place = resolved.place;
    let title = match resolved.file.map(|file| memory.store().file_by_id(file)) {
        Some(Ok(Some(file))) => file.title,
        _ => place.path.stem().to_owned(),
    };
    let deletion = DeleteRequest { place: place.clone(), expected: None };
    let commit = match memory.delete(who, &deletion)? {
        DeleteOutcome::Deleted(deleted) => deleted.commit,
        DeleteOutcome::Conflict(..) => None,
    };
    Ok(ForgetOutcome::Forgotten(ForgottenMemory {
        id: None,
        text: title,
        place,
        commit,
        still_told: Vec::new(),
    }))
}

/// Returns the memories that fit a question.
fn fitting(
    memory: &Memory,
    request: &ForgetRequest,
    query: &str,
    limit: usize,
) -> RecordResult<Vec<RecalledPassage>> {
    let search = RecallRequest {
        max_tokens: SEARCH_TOKENS,
        project: request.only.clone(),
        ..RecallRequest::new(Some(query.to_owned()), request.visible.clone())
    };
    let mut found = recall(memory, &search)?.passages;
    found.truncate(limit);
    Ok(found)
}

/// Returns the places besides the forgotten one that tell the same statement.
fn other_places(
    memory: &Memory,
    request: &ForgetRequest,
    text: &str,
    forgotten: &NoteLocation,
) -> RecordResult<Vec<NoteLocation>> {
    let words: String =
        text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).take(200).collect();
    let found = match fitting(memory, request, &words.to_lowercase(), MAX_LISTED) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => return Ok(Vec::new()),
        found => found?,
    };
    let key = statement_key(text);
    let tells = |passage: &RecalledPassage| {
        let mut lines = passage.text.lines();
        statement_key(&passage.text) == key || lines.any(|line| statement_key(line) == key)
    };
    let places = found.into_iter().filter(tells).flat_map(|passage| passage.places);
    Ok(places.filter(|place| place != forgotten).take(MAX_PLACES).collect())
}
