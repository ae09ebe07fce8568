//! Recalling what fits a question.

use serde_json::Value;

use super::passage::{RecalledPassage, merge_same};
use super::{RecallAnswer, RecallRequest};
use crate::records::{RecordResult, is_record_place, record_at};
use crate::{Memory, PackRequest, PackedNote, PackedPage, SearchFilter, SearchRequest, SearchUnit};

/// Types of notes that are not memories: unfinished streams, reminders, traces of conversations.
const OTHER_TYPES: [&str; 3] = ["stream", "reminder", "checkpoint"];
/// Maximum number of notes that are read for an answer.
const MAX_NOTES: usize = 30;
/// Maximum number of passages of one note.
const MAX_PASSAGES_PER_NOTE: usize = 3;
/// Multiple of the budget that is read, because some passages are left out or merged.
const READ_FACTOR: usize = 2;

/// Returns the passages that fit a question.
pub(super) fn search(
    memory: &Memory,
    request: &RecallRequest,
    query: &str,
) -> RecordResult<RecallAnswer> {
    let packed = search_packed(memory, request, query, filter(request))?;
    let passages = passages(memory, request, &packed.notes)?;
    Ok(RecallAnswer {
        passages: merge_same(passages),
        corrections: packed.page.corrections,
        ..RecallAnswer::default()
    })
}

/// Returns the filter of a request.
pub(super) fn filter(request: &RecallRequest) -> SearchFilter {
    SearchFilter {
        projects: request.project.clone().into_iter().collect(),
        after: request.since,
        ..SearchFilter::default()
    }
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
        min_relevance: request.min_relevance,
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

/// Returns the passages of notes, without what is no memory or no longer holds.
pub(super) fn passages(
    memory: &Memory,
    request: &RecallRequest,
    notes: &[PackedNote],
) -> RecordResult<Vec<RecalledPassage>> {
    let now = memory.local_now();
    let mut passages = Vec::with_capacity(notes.len());
    for packed in notes {
        if is_other(packed) {
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

/// Returns true for a note that is not a memory.
pub(super) fn is_other(packed: &PackedNote) -> bool {
    let hidden = || {
        let frontmatter: Value = serde_json::from_str(&packed.metadata).unwrap_or_default();
        frontmatter.get("hidden").and_then(Value::as_bool) == Some(true)
    };
    OTHER_TYPES.contains(&packed.note_type.as_str()) || hidden()
}
