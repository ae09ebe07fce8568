//! Recalling what fits a question.

use memoranda_core::id::ProjectName;
use memoranda_core::statement::{
    StatementDifference, StatementKind, compare_statements, is_update,
};
use serde_json::Value;

use super::passage::{GRAPH_PROJECT, RecalledPassage, merge_same};
use super::{RecallAnswer, RecallRequest};
use crate::records::{
    MemoryRecord, RecordError, RecordKind, RecordQuery, RecordResult, RecordScope, VisibleScopes,
    filter_of_kinds, is_record_place, record_at, records_project, search_records,
};
use crate::remember::{query_words, record_kind, statement_kind};
use crate::{
    EmbeddingSource, EngineError, LOW_RELEVANCE, MIN_RELEVANCE, Memory, PackRequest, PackedNote,
    PackedPage, SearchFilter, SearchPage, SearchRequest, SearchUnit,
};

/// Types of notes that are not memories: unfinished streams, reminders, traces of conversations.
const OTHER_TYPES: [&str; 3] = ["stream", "reminder", "checkpoint"];
/// Maximum number of notes that are read for an answer.
const MAX_NOTES: usize = 30;
/// Maximum number of passages of one note.
const MAX_PASSAGES_PER_NOTE: usize = 3;
/// Share of the score of what the person keeps that a statement of the repository needs to go first.
const NEARLY_AS_WELL: f64 = 0.8;
/// That share of the score of what belongs to another repository.
const HALF_AS_WELL: f64 = 0.5;
/// Number of recalled statements whose updates are looked for.
const MAX_UPDATED: usize = 2;
/// Number of statements that are compared with one of them.
const MAX_COMPARED: usize = 8;
/// Multiple of the budget that is read, because some passages are left out or merged.
const READ_FACTOR: usize = 2;

/// Returns the passages that fit a question.
pub(super) fn search(
    memory: &Memory,
    request: &RecallRequest,
    query: &str,
) -> RecordResult<RecallAnswer> {
    let packed = search_packed(memory, request, query, filter(request))?;
    let mut passages = merge_same(passages(memory, request, &packed.notes)?);
    let here = request.visible.project().map(RecordScope::name);
    prefer_repository(&mut passages, here.unwrap_or_default());
    put_updates_first(memory, request, &mut passages)?;
    Ok(answer_of(passages, packed.page))
}

/// Returns the answer with these passages, and with what a search says of itself.
pub(super) fn answer_of(passages: Vec<RecalledPassage>, page: SearchPage) -> RecallAnswer {
    let is_by_words_alone = page.meaning == EmbeddingSource::Loading;
    let corrections = page.corrections;
    RecallAnswer { passages, corrections, is_by_words_alone, ..RecallAnswer::default() }
}

/// Moves what belongs to the repository at hand before what the person keeps for everywhere, if both
/// fit nearly as well: a rule of the repository decides there, not a taste. What is of another
/// repository has to fit much better.
fn prefer_repository(passages: &mut [RecalledPassage], here: &str) {
    let score = |passage: &RecalledPassage| passage.score.unwrap_or(0.0);
    let goes_first = |pair: &[RecalledPassage]| match pair {
        [before, passage] if passage.repository.as_deref() == Some(here) => {
            let share = match before.repository.as_deref() {
                Some(other) if other == here => return false,
                Some(_) => HALF_AS_WELL,
                None if is_everywhere(before) => NEARLY_AS_WELL,
                None => return false,
            };
            score(passage) >= score(before) * share
        }
        _ => false,
    };
    for at in 1..passages.len() {
        let mut place = at;
        while place > 0 && passages.get(place - 1..=place).is_some_and(goes_first) {
            passages.swap(place - 1, place);
            place -= 1;
        }
    }
}

/// Puts newer statements before the first statements that they update: "we moved from port 8080 to
/// 9090" answers a question about the port, although it shares fewer words with it.
fn put_updates_first(
    memory: &Memory,
    request: &RecallRequest,
    passages: &mut Vec<RecalledPassage>,
) -> RecordResult<()> {
    let (mut at, mut looked_up) = (0, 0);
    while looked_up < MAX_UPDATED
        && let Some(old) = passages.get(at).cloned()
    {
        at += 1;
        if old.id.is_none() || !old.places.first().is_some_and(is_record_place) {
            continue;
        }
        looked_up += 1;
        let Some(update) = newest_update(memory, request, &old)? else { continue };
        let known = passages.iter().position(|passage| passage.id == update.id);
        if known.is_some_and(|known| known < at) {
            continue;
        }
        known.map(|known| passages.remove(known));
        let update = RecalledPassage { relevance: old.relevance, score: old.score, ..update };
        passages.insert(at - 1, update);
        at += 1;
    }
    Ok(())
}

/// Returns the newest statement of the same scope that tells of a change of an older one, or that
/// gives its subject another value.
fn newest_update(
    memory: &Memory,
    request: &RecallRequest,
    old: &RecalledPassage,
) -> RecordResult<Option<RecalledPassage>> {
    let now = memory.local_now();
    let is_newer = |record: &MemoryRecord| {
        record.updated > old.updated
            && record.is_active(&now)
            && RecalledPassage::of_record(record).repository == old.repository
            && request.includes(statement_kind(record.kind, &record.tags))
            && (is_update(&old.text, &record.content)
                || compare_statements(&old.text, &record.content) == StatementDifference::Value)
    };
    let scope = request.visible.scopes.iter().find(|scope| match (scope, &old.repository) {
        (RecordScope::Global, None) => true,
        (RecordScope::Project(_), Some(repository)) => scope.name() == repository,
        _ => false,
    });
    let Some(scope) = scope.cloned() else { return Ok(None) };
    let text = query_words(&old.text);
    let query =
        RecordQuery { text: &text, limit: MAX_COMPARED, min_relevance: Some(LOW_RELEVANCE) };
    let visible = VisibleScopes::only(scope);
    let found = match search_records(memory, &visible, &RecordKind::ALL, query, &is_newer) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => return Ok(None),
        other => other?.records,
    };
    let newest = found.iter().max_by_key(|record| record.updated);
    Ok(newest.map(RecalledPassage::of_record))
}

/// Returns true for a record of the person that belongs to no repository.
fn is_everywhere(passage: &RecalledPassage) -> bool {
    passage.repository.is_none() && passage.places.first().is_some_and(is_record_place)
}

/// Returns the filter of a request. Kinds besides notes are those of records, and facts those of
/// entities too: other notes, however many, must not displace them.
pub(super) fn filter(request: &RecallRequest) -> SearchFilter {
    let is_everything = request.includes(StatementKind::Note);
    let mut filter = if is_everything {
        SearchFilter::default()
    } else if request.kinds.contains(&StatementKind::Fact) {
        // The folder of an entity is its thread.
        let graph = ProjectName::parse(GRAPH_PROJECT).ok();
        let projects = graph.into_iter().chain([records_project()]).collect();
        SearchFilter { projects, ..SearchFilter::default() }
    } else {
        let kinds: Vec<_> = request.kinds.iter().map(|kind| record_kind(*kind)).collect();
        filter_of_kinds(&kinds)
    };
    if let Some(project) = &request.project {
        filter.projects = vec![project.clone()];
    }
    SearchFilter { after: request.since, ..filter }
}

/// Searches with twice the budget.
pub(super) fn search_packed(
    memory: &Memory,
    request: &RecallRequest,
    query: &str,
    filter: SearchFilter,
) -> RecordResult<PackedPage> {
    let search = SearchRequest {
        text: query.to_owned(),
        filter,
        min_relevance: request.min_relevance.unwrap_or(MIN_RELEVANCE),
        // Equal passages of several notes are recalled once.
        unit: SearchUnit::Passages,
        ..SearchRequest::default()
    };
    let pack = PackRequest {
        max_tokens: Some(request.max_tokens.saturating_mul(READ_FACTOR)),
        max_notes: MAX_NOTES,
        max_passages_per_note: MAX_PASSAGES_PER_NOTE,
        ..PackRequest::new(search)
    };
    Ok(memory.search_packed(&pack)?)
}

/// Returns the passages of notes, without templates and without statements that no longer hold.
pub(super) fn passages(
    memory: &Memory,
    request: &RecallRequest,
    notes: &[PackedNote],
) -> RecordResult<Vec<RecalledPassage>> {
    let now = memory.local_now();
    let mut passages = Vec::with_capacity(notes.len());
    for packed in notes {
        if is_other(&packed.note_type, &packed.metadata) {
            continue;
        }
        let passage = if is_record_place(&packed.place) {
            let Some(record) = record_at(memory, &packed.place)? else { continue };
            if !record.is_active(&now) {
                continue;
            }
            let mut passage = RecalledPassage::of_record(&record);
            passage.places.extend(packed.also.iter().cloned());
            passage.relevance = Some(packed.relevance);
            passage.score = Some(packed.score);
            passage
        } else {
            RecalledPassage::of_note(packed)
        };
        if request.includes(passage.kind) && !passage.text.is_empty() {
            passages.push(passage);
        }
    }
    Ok(passages)
}

/// Returns true for a note that is not a memory, by its type and its frontmatter.
pub(super) fn is_other(note_type: &str, metadata: &str) -> bool {
    let hidden = || {
        let frontmatter: Value = serde_json::from_str(metadata).unwrap_or_default();
        frontmatter.get("hidden").and_then(Value::as_bool) == Some(true)
    };
    OTHER_TYPES.contains(&note_type) || hidden()
}

#[cfg(test)]
mod tests {
    use memoranda_core::path::NotePath;

    use super::*;
    use crate::NoteLocation;

    #[test]
    fn a_rule_of_the_repository_goes_before_a_taste_that_fits_nearly_as_well() {
        let passage = |text: &str, repository: Option<&str>, score: f64| {
            let path = NotePath::parse("global/fact/a.md").unwrap();
            let place = NoteLocation::new(&crate::records::records_project(), path);
            let mut passage =
                RecalledPassage::of_text(&place, "", text, jiff::Timestamp::UNIX_EPOCH);
            (passage.repository, passage.score) = (repository.map(str::to_owned), Some(score));
            passage
        };
        let order = |mut passages: Vec<RecalledPassage>| {
            prefer_repository(&mut passages, "here");
            passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join(" ")
        };
        let check = |expected: &str, scores: [f64; 3], last: Option<&str>| {
            let [first, second, third] = scores;
            let passages = vec![
                passage("a", None, first),
                passage("b", None, second),
                passage("c", last, third),
            ];
            assert_eq!(order(passages), expected, "{scores:?} {last:?}");
        };
        check("c a b", [1.0, 0.95, 0.9], Some("here"));
        check("a c b", [2.0, 0.95, 0.9], Some("here"));
        check("a b c", [1.0, 0.95, 0.5], Some("here"));
        check("a b c", [1.0, 0.95, 0.9], Some("there"));
        check("a b c", [1.0, 0.95, 0.9], None);
        let passages = |score: f64| {
            let other = passage("other", Some("there"), 1.0);
            vec![other, passage("own", Some("here"), score)]
        };
        assert_eq!(order(passages(0.6)), "own other");
        assert_eq!(order(passages(0.4)), "other own");
    }
}
