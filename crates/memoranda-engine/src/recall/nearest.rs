//! Nearest statements and notes of agents to a question without a relevant answer. A short statement often
//! shares no word with the question that it answers ("how should code be indented", "prefers tabs"), so
//! no threshold separates it from statements about something else. The reader can.

use memoranda_core::statement::StatementKind;

use super::passage::{RecalledPassage, merge_same};
use super::{RecallRequest, query};
use crate::records::{RecordError, RecordResult};
use crate::search::remembering_projects;
use crate::vacuum::is_agent;
use crate::{EngineError, Memory, SearchFilter, SearchRequest};

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

/// Returns the statements and notes of agents that are nearest to a question and match a condition, the
/// most relevant first. Empty if the caller gives a relevance or an earlier time, and for a question
/// without a word.
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
    if request.min_relevance.is_some() {
        return Ok(Vec::new());
    }
    let wider = RecallRequest { min_relevance: Some(0.0), ..request.clone() };
    let search = || {
        let mut passages = statements(memory, &wider, query, matches)?;
        passages.extend(notes(memory, &wider, query, matches)?);
        Ok(passages)
    };
    let passages = match search() {
        // The words may say nothing to a search.
        Err(RecordError::Engine(EngineError::Invalid(_))) => return Ok(Vec::new()),
        passages => passages?,
    };
    let mut passages = merge_same(passages);
    for passage in &mut passages {
        passage.text = without_relations(&passage.text);
        passage.shrink(MAX_NEAREST_TOKENS);
        passage.add_author(memory, None)?;
    }
    keep_nearest(&mut passages, &NearestRank::of);
    Ok(passages)
}

/// Place of a statement or note among the nearest.
#[derive(Clone, Copy, Debug)]
pub struct NearestRank {
    relevance: f64,
    is_statement: bool,
}

impl NearestRank {
    /// Ranks a statement or note by its relevance and its project.
    pub fn new(relevance: Option<f64>, project: &str) -> Self {
        let is_statement = remembering_projects().any(|name| name.as_str() == project);
        Self { relevance: relevance.unwrap_or(0.0), is_statement }
    }

    /// Ranks a passage.
    pub fn of(passage: &RecalledPassage) -> Self {
        let project = passage.places.first().map_or("", |place| place.project.as_str());
        Self::new(passage.relevance, project)
    }
}

/// Orders nearest statements and notes of one or several spaces by relevance, and keeps as many of
/// each as an answer names.
pub fn keep_nearest<T>(nearest: &mut Vec<T>, rank: &dyn Fn(&T) -> NearestRank) {
    nearest.sort_by(|a, b| rank(b).relevance.total_cmp(&rank(a).relevance));
    let (mut statements, mut notes) = (0, 0);
    nearest.retain(|one| {
        let (count, most) = if rank(one).is_statement {
            (&mut statements, MAX_NEAREST)
        } else {
            (&mut notes, MAX_NEAREST_NOTES)
        };
        *count += 1;
        *count <= most
    });
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
        min_relevance: 0.0,
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
