//! Search: hits with their reasons, the answer that an agent gets, and names for completion.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::type_key;
use memoranda_engine::core::query::Query;
use memoranda_engine::core::rank::RankSignal;
use memoranda_engine::core::snippet::extract_snippet;
use memoranda_engine::core::token_estimate::estimate_tokens;
use memoranda_engine::{
    AgentIdentity, EmbeddingSource, EngineError, FileSummary, FilteredList, IndexProgress,
    ListFilter, ListOrder, ListRequest, Memory, NoteLocation, SearchFilter, SearchPage,
    SearchRequest, SearchResult, Superseded, TABLE_LOADING_REASON, TypedWords,
};
use memoranda_tools::{CallContext, ClientContext};
use serde_json::{Value, json};

use super::request::{PageRequest, place_json, segments};
use crate::http_error::HttpError;

/// Number of characters that are quoted of a hit, as on the command line.
const SNIPPET_CHARS: usize = 240;
/// Number of nearest notes below the threshold.
const NEAREST: usize = 5;
/// Number of hits that are searched for those of one agent.
const MAX_SEARCHED: usize = 200;
/// Tool whose answer is shown as the agent gets it.
const AGENT_TOOL: &str = "search_notes";

/// Searches. Without words, lists the newest notes.
pub(super) fn search(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let limit = request.number("limit", 20, 200)?;
    let offset = request.offset()?;
    let text = request.text("q").unwrap_or_default();
    let projects = projects(request)?;
    let total_notes = memory.snapshot()?.note_count().map_err(EngineError::from)?;
    let agent = request.text("agent");
    let tags: Vec<String> = request.query.all("tag").map(str::to_owned).collect();
    let query = Query::parse(text);
    let has_words = !(query.is_empty() && query.tags.is_empty() && tags.is_empty());
    if !has_words {
        return newest(request, memory, &projects, (limit, offset), total_notes);
    }
    let mut search = SearchRequest {
        text: text.to_owned(),
        filter: SearchFilter {
            folders: Vec::new(),
            nested_folders: Vec::new(),
            projects,
            folder: None,
            note_types: request.query.all("type").map(type_key).collect(),
            tags,
            categories: Vec::new(),
            min_importance: None,
            after: request.time("since")?,
            before: request.time("until")?,
            metadata: Vec::new(),
            superseded: if request.is_set("past") {
                Superseded::Include
            } else {
                Superseded::Exclude
            },
        },
        limit,
        offset,
        snippet_chars: SNIPPET_CHARS,
        typed_words: TypedWords::Always,
        ..SearchRequest::default()
    };
    if agent.is_some() {
        // The index knows no agents: those of one agent are chosen among many.
        (search.limit, search.offset) = (MAX_SEARCHED, 0);
    }
    let mut page = memory.search(&search)?;
    let mut hits = hits(memory, &page, &query, agent)?;
    if agent.is_some() {
        page.has_more = hits.len() > offset + limit;
        hits = hits.into_iter().skip(offset).take(limit).collect();
    }
    let nearest = if hits.is_empty() && offset == 0 && request.is_set("nearest") {
        search.min_relevance = 0.0;
        if agent.is_none() {
            search.limit = NEAREST;
        }
        let page = memory.search(&search)?;
        let nearest = self::hits(memory, &page, &query, agent)?;
        nearest.into_iter().take(NEAREST).collect()
    } else {
        Vec::new()
    };
    Ok(json!({
        "query": text,
        "hits": hits,
        "next": page.has_more.then(|| (offset + limit).to_string()),
        "has_more": page.has_more,
        "relevance": page.relevance,
        "corrections": page.corrections.iter()
            .map(|read| json!({ "typed": read.typed, "meant": read.meant })).collect::<Vec<_>>(),
        "when": page.when.map(|when| {
            json!({ "from": when.from.to_string(), "to": when.to.to_string() })
        }),
        "meaning": meaning_json(&page.meaning),
        "partial": page.partial || is_being_built(memory),
        "left_out": page.left_out,
        "nearest": nearest,
        "total_notes": total_notes,
    }))
}

/// Returns true if the index is being built now: a damaged one was perhaps found only by this search.
fn is_being_built(memory: &Memory) -> bool {
    let progress = memory.await_index(Duration::ZERO, &|_, _| ());
    matches!(progress, Ok(IndexProgress::Part { .. }))
}

/// Returns the projects to search: the requested ones, or the only one that may be shown.
fn projects(request: &PageRequest<'_>) -> Result<Vec<ProjectName>, HttpError> {
    let only = request.only_project()?;
    let mut projects = Vec::new();
    for name in request.query.all("project") {
        let project = request.vault().project(name)?.name;
        request.check_shown(&project)?;
        projects.push(project);
    }
    if projects.is_empty() {
        projects.extend(only);
    }
    Ok(projects)
}

/// Lists the newest notes, so that an empty line shows everything.
fn newest(
    request: &PageRequest<'_>,
    memory: &Memory,
    projects: &[ProjectName],
    (limit, offset): (usize, usize),
    total_notes: u64,
) -> Result<Value, HttpError> {
    let agent = request.text("agent");
    let mut page = memory.list(&ListRequest {
        filter: ListFilter {
            project: projects.first().cloned(),
            note_type: request.text("type").map(type_key),
            since: request.time("since")?,
            without_templates: request.text("type").is_none(),
            ..ListFilter::default()
        },
        order: ListOrder::Newest,
        limit: if agent.is_some() { MAX_SEARCHED } else { limit },
        offset: if agent.is_some() { 0 } else { offset },
    })?;
    if agent.is_some() {
        let mut own = Vec::new();
        for file in page.notes {
            if is_by(memory, &NoteLocation::from(&file), agent)? {
                own.push(file);
            }
        }
        page.has_more = own.len() > offset + limit;
        page.notes = own.into_iter().skip(offset).take(limit).collect();
    }
    let hit = |file: &FileSummary| {
        json!({
            "project": file.project.as_str(),
            "path": file.path.as_str(),
            "title": segments(&file.title, &[]),
            "permalink": file.permalink,
            "type": file.note_type,
            "updated": file.updated.to_string(),
            "map_id": file.id,
            "heading": "",
            "first_line": 1,
            "last_line": 1,
            "snippet": [],
            "score": 0.0,
            "relevance": 0.0,
            "why": [],
            "bar": bar_json(&[]),
            "also": [],
        })
    };
    Ok(json!({
        "query": "",
        "hits": page.notes.iter().map(hit).collect::<Vec<_>>(),
        "next": page.has_more.then(|| (offset + limit).to_string()),
        "has_more": page.has_more,
        "relevance": 0.0,
        "corrections": [],
        "when": null,
        "meaning": { "by": "nothing" },
        "partial": is_being_built(memory),
        "left_out": 0,
        "nearest": [],
        "total_notes": total_notes,
    }))
}

fn hits(
    memory: &Memory,
    page: &SearchPage,
    query: &Query,
    agent: Option<&str>,
) -> Result<Vec<Value>, HttpError> {
    let mut hits = Vec::new();
    for result in &page.results {
        if is_by(memory, &result.place, agent)? {
            hits.push(hit_json(result, query));
        }
    }
    Ok(hits)
}

/// Returns true if an agent wrote a note last, or if any agent will do.
fn is_by(memory: &Memory, place: &NoteLocation, agent: Option<&str>) -> Result<bool, HttpError> {
    let Some(key) = agent else { return Ok(true) };
    let last = memory.revisions(place, 1)?.into_iter().next();
    Ok(last.is_some_and(|last| AgentIdentity::key_of(&last.commit.author) == key))
}

fn hit_json(result: &SearchResult, query: &Query) -> Value {
    let title = extract_snippet(&result.title, query, usize::MAX);
    let heading = result.heading.rsplit(" › ").next().unwrap_or_default();
    let (snippet, hits) = readable_snippet(
        &result.snippet.text,
        &result.snippet.highlights,
        &[&result.title, heading],
    );
    let why = result.why.iter();
    let why = why.map(|signal| json!({ "signal": signal.name(), "amount": signal.amount() }));
    json!({
        "project": result.place.project.as_str(),
        "path": result.place.path.as_str(),
        "title": segments(&title.text, &title.highlights),
        "permalink": result.permalink,
        "type": result.note_type,
        "updated": result.updated.to_string(),
        "map_id": result.file,
        "heading": result.heading,
        "first_line": result.lines.0,
        "last_line": result.lines.1,
        "snippet": segments(&snippet, &hits),
        "score": result.score,
        "relevance": result.relevance,
        "why": why.collect::<Vec<_>>(),
        "bar": bar_json(&result.why),
        "also": result.also.iter().map(place_json).collect::<Vec<_>>(),
    })
}

/// Returns a snippet for people: without the comments of facts, the mark of a list, the brackets of
/// links, and a heading that the hit shows elsewhere.
fn readable_snippet(
    text: &str,
    hits: &[Range<usize>],
    headings: &[&str],
) -> (String, Vec<Range<usize>>) {
    let mut start = 0;
    if text.starts_with('#') {
        let rest = text.trim_start_matches('#').trim_start();
        let said = headings.iter().find_map(|heading| rest.strip_prefix(heading));
        start = text.len() - said.map_or(rest, str::trim_start).len();
    }
    let rest = text.get(start..).unwrap_or_default();
    start = text.len() - rest.strip_prefix("- ").unwrap_or(rest).len();
    let mut cuts: Vec<Range<usize>> = std::iter::once(0..start).collect();
    let mut at = cuts.first().map_or(0, |cut| cut.end);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("<!--")).map(|n| at + n) {
        // A comment that the snippet cuts off has no end.
        let end = text.get(start..).and_then(|rest| rest.find("-->"));
        at = end.map_or(text.len(), |n| start + n + 3);
        cuts.push(start..at);
    }
    for brackets in ["[[", "]]"] {
        let found = text.match_indices(brackets).map(|(at, found)| at..at + found.len());
        let is_shown = |place: &Range<usize>| {
            !cuts.iter().any(|cut| place.start < cut.end && cut.start < place.end)
        };
        let found: Vec<Range<usize>> = found.filter(is_shown).collect();
        cuts.extend(found);
    }
    cuts.sort_unstable_by_key(|cut| cut.start);
    let mut shown = String::new();
    let mut last = 0;
    for cut in &cuts {
        shown.push_str(text.get(last..cut.start).unwrap_or_default());
        last = cut.end;
    }
    shown.push_str(text.get(last..).unwrap_or_default());
    let removed = |position: usize| -> usize {
        cuts.iter().map(|cut| position.clamp(cut.start, cut.end) - cut.start).sum()
    };
    let moved = |hit: &Range<usize>| hit.start - removed(hit.start)..hit.end - removed(hit.end);
    (shown, hits.iter().map(moved).filter(|hit| !hit.is_empty()).collect())
}

/// Returns the shares of five groups of signals in a score.
fn bar_json(why: &[RankSignal]) -> Value {
    let sum = |names: &[&str]| -> f64 {
        let of = why.iter().filter(|signal| names.contains(&signal.name()));
        of.map(|signal| signal.amount().max(0.0)).sum()
    };
    let words = sum(&["words", "exact_title", "title_words"]);
    let meaning = sum(&["meaning"]);
    let context = sum(&["context", "speaker", "kind"]);
    let time = sum(&["time", "recency"]);
    let importance = sum(&["importance"]);
    let total = (words + meaning + context + time + importance).max(f64::MIN_POSITIVE);
    json!({
        "words": words / total,
        "meaning": meaning / total,
        "context": context / total,
        "time": time / total,
        "importance": importance / total,
    })
}

fn meaning_json(by: &EmbeddingSource) -> Value {
    match by {
        EmbeddingSource::Nothing => json!({ "by": "nothing" }),
        EmbeddingSource::BuiltIn => json!({ "by": "built-in" }),
        EmbeddingSource::Loading => json!({ "by": "loading" }),
        EmbeddingSource::Chosen { model, left } => {
            json!({ "by": "chosen", "model": model, "left": left })
        }
        EmbeddingSource::ChosenLoading { model, left } => {
            json!({ "by": "chosen", "model": model, "left": left, "reason": TABLE_LOADING_REASON })
        }
        EmbeddingSource::FellBack { model, reason } => {
            json!({ "by": "built-in", "model": model, "reason": reason })
        }
    }
}

/// Returns the answer of the search tool, exactly as an agent gets it, with its tokens.
pub(super) fn as_the_agent_gets_it(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let tool = memoranda_tools::tool(AGENT_TOOL)
        .ok_or_else(|| HttpError::not_found("The search tool is missing."))?;
    let mut arguments = json!({ "query": request.required("q")? });
    if let Some(project) = request.text("project") {
        arguments["project"] = json!(project);
    }
    let client = ClientContext::default();
    let call = CallContext {
        memory,
        who: request.author(AGENT_TOOL),
        settings: &request.page.catalog.settings,
        progress: &|_, _, _| (),
        cancelled: &AtomicBool::new(false),
        client: &client,
        space: None,
        others: &[],
    };
    let result = memoranda_tools::call(tool, &call, arguments.clone());
    let structured = result.structured.to_string();
    Ok(json!({
        "tool": AGENT_TOOL,
        "arguments": arguments,
        "tokens": estimate_tokens(&result.text),
        "structured_tokens": estimate_tokens(&structured),
        "text": result.text,
        "structured": result.structured,
        "is_error": result.is_error,
    }))
}

/// Returns notes whose name contains the words, the newest first.
pub(super) fn complete(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let limit = request.number("limit", 10, 50)?;
    let words = request.text("q").unwrap_or_default().split_whitespace();
    let list = FilteredList {
        filter: SearchFilter {
            projects: request.project()?.into_iter().collect(),
            ..SearchFilter::default()
        },
        title: words.map(str::to_owned).collect(),
        address: None,
        order: ListOrder::Newest,
        limit,
        offset: 0,
    };
    let found = memory.snapshot()?.filtered_list(&list).map_err(EngineError::from)?;
    let mut items = Vec::new();
    for file in found {
        items.push(json!({
            "project": file.project.as_str(),
            "path": file.path.as_str(),
            "title": file.title,
            "permalink": file.permalink,
            "type": file.note_type,
            "updated": file.updated.to_string(),
        }));
    }
    Ok(json!({ "items": items }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_has_neither_comments_nor_the_heading_twice() {
        let check = |text: &str, hit: &str, expected: &str, hits: &[&str]| {
            let found: Vec<Range<usize>> =
                text.match_indices(hit).map(|(at, _)| at..at + hit.len()).collect();
            let (shown, moved) = readable_snippet(text, &found, &["Straße", "Observations"]);
            assert_eq!(shown, expected);
            let marked: Vec<&str> = moved.iter().map(|range| &shown[range.clone()]).collect();
            assert_eq!(marked, hits, "{text}");
        };
        check("# Straße Die große Straße", "Straße", "Die große Straße", &["Straße"]);
        check("## Other p95 is 80", "p95", "Other p95 is 80", &["p95"]);
        check("## Observations - [fact] p95 is 80", "p95", "[fact] p95 is 80", &["p95"]);
        check("- [fact] p95 - 80", "p95", "[fact] p95 - 80", &["p95"]);
        check("[fact] a <!-- obs_A v1 --> b", "b", "[fact] a  b", &["b"]);
        check("[fact] a b <!-- obs_A v1 b", "b", "[fact] a b ", &["b"]);
        check("see [[2026-05-21]] <!-- [[x]] -->", "2026", "see 2026-05-21 ", &["2026"]);
        check("see [[Straße|the road]]]", "[[Straße|the", "see Straße|the road]", &["Straße|the"]);
        check("plain é text", "text", "plain é text", &["text"]);
        check("#", "#", "", &[]);
    }
}
