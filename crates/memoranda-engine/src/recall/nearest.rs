//! Nearest statements of agents to a question without a relevant answer. A short statement often
//! shares no word with the question that it answers ("how should code be indented", "prefers tabs"), so
//! no threshold separates it from statements about something else. The reader can.

use super::passage::RecalledPassage;
use super::{RecallRequest, query};
use crate::records::RecordResult;
use crate::search::remembering_projects;
use crate::{MIN_RELEVANCE, Memory, SearchFilter};

/// Maximum number of statements.
const MAX_NEAREST: usize = 3;
/// Token budget of one statement.
const MAX_NEAREST_TOKENS: usize = 80;

/// Returns the statements of agents that are nearest to a question; nothing if the caller demands a
/// relevance or an earlier time.
pub(super) fn nearest(
    memory: &Memory,
    request: &RecallRequest,
) -> RecordResult<Vec<RecalledPassage>> {
    let (Some(query), None) = (&request.query, request.as_of) else { return Ok(Vec::new()) };
    if request.min_relevance > MIN_RELEVANCE {
        return Ok(Vec::new());
    }
    let is_reached = |name: &_| {
        request.project.as_ref().is_none_or(|only| only == name)
            && memory.store().project(name.as_str()).is_ok()
    };
    let projects: Vec<_> = remembering_projects().filter(is_reached).collect();
    if projects.is_empty() {
        return Ok(Vec::new());
    }
    let wider = RecallRequest { min_relevance: 0.0, ..request.clone() };
    let filter = SearchFilter { projects, ..query::filter(&wider) };
    let packed = query::search_packed(memory, &wider, query, filter)?;
    let mut passages = query::passages(memory, &wider, &packed.notes)?;
    passages.truncate(MAX_NEAREST);
    for passage in &mut passages {
        passage.shrink(MAX_NEAREST_TOKENS);
        passage.add_author(memory, None)?;
    }
    Ok(passages)
}
