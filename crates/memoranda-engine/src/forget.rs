//! Forgetting one memory: by id, by name, or by its whole statement. A question that merely fits lists
//! what fits and deletes nothing.

use memoranda_core::change::Commit;
use memoranda_core::id::{ObservationId, ProjectName};
use memoranda_core::note::edit::{NoteEdit, ObservationRef, apply_edit};
use memoranda_store::UnindexedText;

use crate::recall::{RecallRequest, RecalledPassage, recall, split_observations, statement_key};
use crate::records::{RecordError, RecordResult, VisibleScopes, delete_record, find_record};
use crate::{
    Author, DeleteOutcome, DeleteRequest, EditOutcome, EngineError, Memory, NoteLocation,
    ResolveIntent,
};

/// Maximum number of memories that a question lists.
const MAX_LISTED: usize = 10;
/// Token budget of the search for the memories of a question.
const SEARCH_TOKENS: usize = 6_000;
/// Words of a request before the statement that it names.
const REQUEST_WORDS: [&str; 8] =
    ["please", "forget", "delete", "remove", "that", "about", "the", "fact"];
/// Maximum number of other places that are searched for the same statement.
const MAX_PLACES: usize = 5;

/// The memory to forget.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForgetTarget {
    /// The id of a record or of an observation.
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
    /// Id of the record or observation; `None` for a note.
    pub id: Option<String>,
    /// The text, or the title of a note.
    pub text: String,
    /// The file.
    pub place: NoteLocation,
    /// The commit; `None` if the file was gone already.
    pub commit: Option<Commit>,
    /// Other places that contain the same statement.
    pub still_told: Vec<NoteLocation>,
}

/// Forgets one memory.
pub fn forget(
    memory: &Memory,
    who: &Author,
    request: &ForgetRequest,
) -> RecordResult<ForgetOutcome> {
    match &request.target {
        ForgetTarget::Id(id) if ObservationId::parse(id).is_some() => {
            forget_observation(memory, who, request, id)
        }
        ForgetTarget::Id(id) => match find_record(memory, id) {
            Ok(record) if !request.reaches(&record.place) => {
                Err(RecordError::NotFound { id: id.clone(), is_deleted: false })
            }
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
            let found: Vec<RecalledPassage> =
                found.into_iter().flat_map(split_observations).take(MAX_LISTED).collect();
            match stated_id(memory, query, &found) {
                Some(id) => {
                    let target = ForgetTarget::Id(id);
                    forget(memory, who, &ForgetRequest { target, ..request.clone() })
                }
                None => Ok(ForgetOutcome::Listed(found)),
            }
        }
    }
}

/// Returns the id of the only memory whose whole statement a query is. A note contains more than the
/// passage that fits, and is deleted only by its name. A single word is a statement only if it fits
/// nothing else.
fn stated_id(memory: &Memory, query: &str, found: &[RecalledPassage]) -> Option<String> {
    let said = statement_key(without_request_words(query));
    let mut same = found.iter().filter(|passage| statement_key(&passage.text) == said);
    let (Some(RecalledPassage { id: Some(id), places, .. }), None) = (same.next(), same.next())
    else {
        return None;
    };
    let is_sentence = said.contains(' ') || found.len() == 1;
    let is_whole = ObservationId::parse(id).is_some()
        || find_record(memory, id).is_ok_and(|record| statement_key(&record.content) == said);
    (places.len() == 1 && is_sentence && is_whole).then(|| id.clone())
}

impl ForgetRequest {
    /// Returns true if the caller may use the project of a file.
    fn reaches(&self, place: &NoteLocation) -> bool {
        self.only.as_ref().is_none_or(|only| place.project == *only)
    }
}

/// Removes the words of a request before a statement: "forget that I prefer tabs".
fn without_request_words(query: &str) -> &str {
    let mut rest = query.trim();
    while let Some((word, after)) = rest.split_once(' ') {
        if !REQUEST_WORDS.contains(&word.to_lowercase().as_str()) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Removes the line of one observation.
fn forget_observation(
    memory: &Memory,
    who: &Author,
    request: &ForgetRequest,
    id: &str,
) -> RecordResult<ForgetOutcome> {
    let found = memory.snapshot()?.observation(id).map_err(EngineError::from)?;
    let found =
        found.map(|(file, row)| (NoteLocation { project: file.project, path: file.path }, row));
    let Some((place, row)) = found.filter(|(place, _)| request.reaches(place)) else {
        return Err(RecordError::NotFound { id: id.to_owned(), is_deleted: false });
    };
    let outcome = memory.rewrite(who, &place, None, None, |text| {
        let by_id = ObservationId::parse(id).map(ObservationRef::Id);
        let removed = |observation: ObservationRef| {
            apply_edit(text, &NoteEdit::RemoveObservation { observation })
        };
        // An observation that a person wrote has no comment with its id.
        let edited = by_id.map(removed).filter(Result::is_ok);
        let edited = edited.unwrap_or_else(|| removed(ObservationRef::Line(row.line)));
        edited.map_err(|error| EngineError::Edit { place: place.clone(), error })
    })?;
    let commit = match outcome {
        EditOutcome::Edited(report) => Some(report.commit),
        EditOutcome::Unchanged(..) | EditOutcome::Conflict(..) => None,
    };
    let still_told = other_places(memory, request, &row.text, &place)?;
    Ok(ForgetOutcome::Forgotten(ForgottenMemory {
        id: Some(id.to_owned()),
        text: row.text,
        place,
        commit,
        still_told,
    }))
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
    let file = match resolved.file {
        Some(file) => memory.snapshot()?.file_by_id(file)?,
        None => None,
    };
    let title = file.map_or_else(|| place.path.stem().to_owned(), |file| file.title);
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

/// Returns the places besides the forgotten one that contain the same statement.
fn other_places(
    memory: &Memory,
    request: &ForgetRequest,
    text: &str,
    forgotten: &NoteLocation,
) -> RecordResult<Vec<NoteLocation>> {
    let words: String =
        text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).take(200).collect();
    let key = statement_key(text);
    let says = |text: &str| {
        statement_key(text) == key || text.lines().any(|line| statement_key(line) == key)
    };
    let search = || {
        let found = match fitting(memory, request, &words.to_lowercase(), MAX_LISTED) {
            Err(RecordError::Engine(EngineError::Invalid(_))) => return Ok(Vec::new()),
            found => found?,
        };
        let telling = found.into_iter().filter(|passage| says(&passage.text));
        let places = telling.flat_map(|passage| passage.places);
        Ok(places.filter(|place| place != forgotten).take(MAX_PLACES).collect())
    };
    // A passage is a part of a text, so that all words of the statement are in the text.
    let may_say = |file: &UnindexedText| {
        let text = file.text.as_deref().unwrap_or_default().to_lowercase();
        key.split(' ').all(|word| text.contains(word))
    };
    memory.search_beside_pending(may_say, Vec::clone, search)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_not_a_part_of_the_statement() {
        for (query, statement) in [
            ("forget that I prefer tabs", "I prefer tabs"),
            ("Please forget the fact that I prefer tabs", "I prefer tabs"),
            ("I prefer tabs", "I prefer tabs"),
            ("tabs", "tabs"),
            ("forget", "forget"),
        ] {
            assert_eq!(without_request_words(query), statement, "{query}");
        }
    }
}
