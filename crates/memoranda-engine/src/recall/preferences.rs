//! Preferences that are added to the answer of a question about the person that finds nothing. A
//! preference rarely shares a word with the question that it answers ("how should code be indented").

use memoranda_core::statement::StatementKind;
use memoranda_core::statement::asks_about_person;

use super::passage::RecalledPassage;
use super::{RecallRequest, query};
use crate::records::{RecordResult, records_project};
use crate::remember::PREFERENCE_TAG;
use crate::{MIN_RELEVANCE, Memory, SearchFilter};

/// Maximum number of preferences.
const MAX_PREFERENCES: usize = 3;

/// Returns the person's preferences that are nearest to a question about the person; nothing for
/// other questions, and if the caller demands a relevance or an earlier time.
pub(super) fn nearest(
    memory: &Memory,
    request: &RecallRequest,
) -> RecordResult<Vec<RecalledPassage>> {
    let project = records_project();
    let is_reached = request.project.as_ref().is_none_or(|only| *only == project)
        && memory.store().project(project.as_str()).is_ok();
    let (Some(query), None, true) = (&request.query, request.as_of, is_reached) else {
        return Ok(Vec::new());
    };
    let is_wanted = request.includes(StatementKind::Preference)
        && request.min_relevance <= MIN_RELEVANCE
        && asks_about_person(query);
    if !is_wanted {
        return Ok(Vec::new());
    }
    let wider = RecallRequest {
        kinds: vec![StatementKind::Preference],
        project: Some(project),
        min_relevance: 0.0,
        ..request.clone()
    };
    let tags = vec![PREFERENCE_TAG.to_owned()];
    let filter = SearchFilter { tags, ..query::filter(&wider) };
    let packed = query::search_packed(memory, &wider, query, filter)?;
    let mut passages = query::passages(memory, &wider, &packed.notes)?;
    passages.retain(|passage| passage.repository.is_none());
    passages.truncate(MAX_PREFERENCES);
    Ok(passages)
}
