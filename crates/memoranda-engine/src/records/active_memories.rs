//! Searching the whole memory for what holds now: notes, memory files, entities, banks and active
//! records, of every repository.

use jiff::Zoned;
use memoranda_core::id::ProjectName;
use memoranda_store::SearchFilter;
use serde_json::Value;

use super::error::{RecordError, RecordResult};
use super::query::record_at;
use super::record::{MemoryRecord, PROJECT_NAME, RecordLocation};
use super::scope::{RecordScope, VisibleScopes};
use crate::{EmbeddingSource, EngineError, Memory, SearchRequest, SearchResult};

/// Number of search results requested in addition to the limit, because some are left out.
const EXTRA_RESULTS: usize = 10;
/// Maximum number of result pages: behind them few results are likely.
const MAX_PAGES: usize = 3;
/// Types of notes that are not memories: unfinished streams, reminders, traces of conversations.
const OTHER_TYPES: [&str; 3] = ["stream", "reminder", "checkpoint"];

/// A search for memories that hold now.
#[derive(Clone, Debug)]
pub struct ActiveMemorySearch<'a> {
    /// Scopes whose records are left out, because the caller has them; `None` to leave out none.
    pub known: Option<&'a VisibleScopes>,
    /// The words.
    pub query: &'a str,
    /// Maximum number of results.
    pub limit: usize,
    /// The only project to search; `None` for all.
    pub only: Option<&'a ProjectName>,
    /// Time at which a record must be active.
    pub now: &'a Zoned,
    /// Minimum relevance of a result, 0 to 1.
    pub min_relevance: f64,
    /// Maximum length of a snippet in characters.
    pub snippet_chars: usize,
}

/// A memory that holds now.
#[derive(Clone, Debug)]
pub struct ActiveMemory {
    /// The note with its best passage.
    pub result: SearchResult,
    /// The record, if it is one.
    pub record: Option<MemoryRecord>,
}

/// Memories that match a search.
#[derive(Clone, Debug, Default)]
pub struct ActiveMemoryMatches {
    /// The memories, the best match first.
    pub memories: Vec<ActiveMemory>,
    /// True if notes were not looked for by their meaning, because the vectors are not loaded yet.
    pub is_by_words_alone: bool,
}

/// Returns the best matching memories. A query without a word matches none.
pub fn search_active_memories(
    memory: &Memory,
    search: &ActiveMemorySearch<'_>,
) -> RecordResult<ActiveMemoryMatches> {
    let mut found = Vec::new();
    let mut is_by_words_alone = false;
    let page_size = search.limit + EXTRA_RESULTS;
    for page in 0..MAX_PAGES {
        if search.limit == 0 {
            break;
        }
        let request = SearchRequest {
            text: search.query.to_owned(),
            filter: SearchFilter {
                projects: search.only.cloned().into_iter().collect(),
                ..SearchFilter::default()
            },
            limit: page_size,
            offset: page * page_size,
            snippet_chars: search.snippet_chars,
            min_relevance: search.min_relevance,
            ..SearchRequest::default()
        };
        let page = match memory.search(&request) {
            Err(EngineError::Invalid(_)) => return Ok(ActiveMemoryMatches::default()),
            page => page.map_err(RecordError::from)?,
        };
        is_by_words_alone |= page.meaning == EmbeddingSource::Loading;
        for result in page.results {
            found.extend(active_memory(memory, search, result)?);
        }
        if found.len() >= search.limit || !page.has_more {
            break;
        }
    }
    found.truncate(search.limit);
    Ok(ActiveMemoryMatches { memories: found, is_by_words_alone })
}

/// Returns the memory of a result. `None` for a known or inactive record, and for a note that is not
/// a memory.
fn active_memory(
    memory: &Memory,
    search: &ActiveMemorySearch<'_>,
    result: SearchResult,
) -> RecordResult<Option<ActiveMemory>> {
    if OTHER_TYPES.contains(&result.note_type.as_str()) {
        return Ok(None);
    }
    let location = RecordLocation::parse(&result.place.path)
        .filter(|_| result.place.project.as_str() == PROJECT_NAME);
    let Some(location) = location else { return Ok(Some(ActiveMemory { result, record: None })) };
    let frontmatter: Value = serde_json::from_str(&result.metadata).unwrap_or_default();
    let scope = RecordScope::from_folder(&location.folder, &frontmatter);
    if search.known.is_some_and(|known| known.scopes.contains(&scope)) {
        return Ok(None);
    }
    let record = record_at(memory, &result.place)?;
    let is_active = record.as_ref().is_some_and(|record| record.is_active(search.now));
    Ok(is_active.then_some(ActiveMemory { result, record }))
}
