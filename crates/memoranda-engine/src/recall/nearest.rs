//! Nearest statements and notes of agents to a question without a relevant answer. A short statement often
//! shares no word with the question that it answers ("how should code be indented", "prefers tabs"), so
//! no threshold separates it from statements about something else. The reader can.

use memoranda_core::statement::StatementKind;

use super::passage::{RecalledPassage, merge_same};
use super::{RecallRequest, query};
use crate::records::{RecordError, RecordResult};
use crate::search::remembering_projects;
use crate::vacuum::is_agent;
use crate::{EngineError, MIN_RELEVANCE, Memory, SearchFilter, SearchRequest};

/// Maximum number of statements.
const MAX_NEAREST: usize = 3;
/// Maximum number of plain notes that agents wrote.
const MAX_NEAREST_NOTES: usize = 2;
/// Number of nearest notes of all writers that are examined for those of agents.
const MAX_COMPARED_NOTES: usize = 30;
/// Maximum length of the quotation of a note, in characters.
const MAX_NOTE_CHARS: usize = 240;
/// Token budget of one statement.
const MAX_NEAREST_TOKENS: usize = 80;

/// Returns the statements and notes of agents that are nearest to a question and match a condition;
/// nothing if the caller demands a relevance or an earlier time.
///
/// ```
/// use memoranda_engine::recall::{RecallRequest, nearest_statements};
/// use memoranda_engine::records::VisibleScopes;
/// use memoranda_engine::remember::{RememberRequest, remember};
/// use memoranda_engine::{Memory, OpenOptions};
/// # use memoranda_engine::core::change::{Author, ChangeChannel};
/// # let folder = tempfile::tempdir()?;
/// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
/// # let who = Author::new("example", "example", ChangeChannel::Cli);
/// let statement = RememberRequest { content: "I prefer tabs".to_owned(), ..Default::default() };
/// remember(&memory, &who, &statement)?;
/// let asked = Some("how should code be indented".to_owned());
/// let request = RecallRequest::new(asked, VisibleScopes::new(None));
/// let nearest = nearest_statements(&memory, &request, &|_| true)?;
/// assert_eq!(nearest[0].text, "I prefer tabs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn nearest_statements(
    memory: &Memory,
    request: &RecallRequest,
    matches: &dyn Fn(&RecalledPassage) -> bool,
) -> RecordResult<Vec<RecalledPassage>> {
    let (Some(query), None) = (&request.query, request.as_of) else { return Ok(Vec::new()) };
    if request.min_relevance > MIN_RELEVANCE {
        return Ok(Vec::new());
    }
    let wider = RecallRequest { min_relevance: 0.0, ..request.clone() };
    let mut passages = match statements(memory, &wider, query, matches) {
        // The words may say nothing to a search.
        Err(RecordError::Engine(EngineError::Invalid(_))) => return Ok(Vec::new()),
        passages => passages?,
    };
    passages.extend(notes(memory, &wider, query, matches)?);
    let mut passages = merge_same(passages);
    for passage in &mut passages {
        passage.text = without_relations(&passage.text);
        passage.shrink(MAX_NEAREST_TOKENS);
        passage.add_author(memory, None)?;
    }
    Ok(passages)
}

/// Removes the lines of links from the text of an entity: they name what it is related to, and say
/// nothing by themselves.
fn without_relations(text: &str) -> String {
    let is_relation = |line: &str| line.trim_start().starts_with("- ") && line.ends_with("]]");
    let lines: Vec<&str> = text.lines().filter(|line| !is_relation(line)).collect();
    let said = lines.join("\n");
    if said.trim().is_empty() { text.to_owned() } else { said.trim_end().to_owned() }
}

/// Returns the nearest statements in the projects of what agents remember.
fn statements(
    memory: &Memory,
    request: &RecallRequest,
    query: &str,
    matches: &dyn Fn(&RecalledPassage) -> bool,
) -> RecordResult<Vec<RecalledPassage>> {
    let is_reached = |name: &_| {
        request.project.as_ref().is_none_or(|only| only == name)
            && memory.store().project(name.as_str()).is_ok()
    };
    let projects: Vec<_> = remembering_projects().filter(is_reached).collect();
    if projects.is_empty() {
        return Ok(Vec::new());
    }
    let filter = SearchFilter { projects, ..query::filter(request) };
    let packed = query::search_packed(memory, request, query, filter)?;
    let mut passages = query::passages(memory, request, &packed.notes)?;
    passages.retain(matches);
    passages.truncate(MAX_NEAREST);
    Ok(passages)
}

/// Returns the nearest notes that agents wrote, if they are among the nearest of all notes.
fn notes(
    memory: &Memory,
    request: &RecallRequest,
    query: &str,
    matches: &dyn Fn(&RecalledPassage) -> bool,
) -> RecordResult<Vec<RecalledPassage>> {
    let remembering: Vec<_> = remembering_projects().collect();
    let is_of_agents = request.project.as_ref().is_some_and(|only| remembering.contains(only));
    if is_of_agents || !request.includes(StatementKind::Note) {
        return Ok(Vec::new());
    }
    let search = SearchRequest {
        text: query.to_owned(),
        filter: query::filter(request),
        limit: MAX_COMPARED_NOTES,
        snippet_chars: MAX_NOTE_CHARS,
        min_relevance: request.min_relevance,
        ..SearchRequest::default()
    };
    let mut passages = Vec::new();
    for found in memory.search(&search)?.results {
        if remembering.contains(&found.place.project)
            || query::is_other(&found.note_type, &found.metadata)
            || !memory.writing_commit(&found.place)?.is_some_and(|last| is_agent(&last.author))
        {
            continue;
        }
        let (title, text) = (&found.title, &found.snippet.text);
        let mut passage = RecalledPassage::of_text(&found.place, title, text, found.updated);
        (passage.relevance, passage.score) = (Some(found.relevance), Some(found.score));
        if matches(&passage) {
            passages.push(passage);
        }
        if passages.len() == MAX_NEAREST_NOTES {
            break;
        }
    }
    Ok(passages)
}
