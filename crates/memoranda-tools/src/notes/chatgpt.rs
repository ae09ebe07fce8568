//! `search` and `fetch`, as ChatGPT's connectors require them: the text is JSON.

use memoranda_core::token_estimate::truncate_to_tokens;
use memoranda_engine::{NoteLocation, ResolveIntent, SearchFilter, SearchRequest};
use serde_json::{Value, json};

use super::params::COMMON;
use super::scope;
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, Param, ParamTable, QueryFeedback, ToolArgs, ToolError,
    ToolResult, abbreviate_query,
};

/// Maximum number of search results.
const MAX_RESULTS: usize = 20;
/// Maximum length of a fetched text in tokens.
const MAX_TOKENS: usize = 50_000;
/// Separator between the id of a note and the byte to continue from.
const OFFSET_MARK: &str = "?from=";

pub(super) const SEARCH_PARAMS: ParamTable = ParamTable::new(&[
    &[Param::text("query", "What to look for").required().aliases(&["q"])],
    COMMON,
]);

pub(super) const FETCH_PARAMS: ParamTable =
    ParamTable::new(&[&[Param::text("id", "An id that `search` gave").required()], COMMON]);

pub(super) fn search(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let query = args.text("query")?;
    let projects = match scope::requested_project(call, args)? {
        Some(project) => vec![scope::named_project(call, &project)?],
        None => Vec::new(),
    };
    let page = call.memory.search(&SearchRequest {
        text: query.clone(),
        filter: SearchFilter { projects, ..Default::default() },
        limit: MAX_RESULTS,
        snippet_chars: 1,
        ..SearchRequest::default()
    })?;
    let results: Vec<Value> = page
        .results
        .iter()
        .map(|found| {
            let id = format!("{}/{}", found.place.project, found.place.path);
            let url = format!("memoranda://{}/{}", found.place.project, found.permalink);
            json!({ "id": id, "title": found.title, "url": url })
        })
        .collect();
    let query = abbreviate_query(&query);
    let mut structured =
        json!({ "total_count": results.len(), "results": results, "query": query });
    QueryFeedback::from_page(&page).add_to(&mut structured);
    Ok(ToolResult::ok(String::new(), structured))
}

pub(super) fn fetch(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let id = args.text("id")?;
    let (place, from) = match split_offset(&id) {
        Some((whole, from)) => match find_by_id(call, args, whole) {
            Ok(place) => (place, from),
            Err(_) => (find_by_id(call, args, &id)?, 0),
        },
        None => (find_by_id(call, args, &id)?, 0),
    };
    let note = call.memory.read_at(&place)?;
    if !note.is_text() {
        let text = format!("{} is not text, and cannot be fetched.", note.place);
        return Err(ToolError::new("NOT_TEXT", text));
    }
    let text = note.lossy_text();
    let Some((_, rest)) = text.split_at_checked(from).filter(|_| from == 0 || from < text.len())
    else {
        let text = format!("{} has {} bytes, and no text from {from} on.", note.place, text.len());
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    };
    let kept = truncate_to_tokens(rest, MAX_TOKENS);
    let (end, cut) = (from + kept.len(), rest.len() - kept.len());
    let whole = format!("{}/{}", note.place.project, note.place.path);
    let part = |from: usize| format!("{whole}{OFFSET_MARK}{from}");
    let mut shown = kept.to_owned();
    if cut > 0 {
        // Programs read `metadata`, but a model would take the text for complete.
        shown.push_str(&format!(
            "\n\n[{cut} of {} bytes left out here; fetch with id={:?} reads on]\n",
            text.len(),
            part(end)
        ));
    }
    let summary = note.summary.as_ref();
    let permalink = summary.map_or("", |file| &file.permalink);
    let structured = json!({
        "id": if from > 0 { part(from) } else { whole.clone() },
        "title": summary.map_or(note.place.path.stem(), |file| &file.title),
        "text": shown,
        "url": format!("memoranda://{}/{permalink}", note.place.project),
        "metadata": {
            "project": note.place.project.as_str(),
            "file_path": note.place.path.as_str(),
            "permalink": permalink,
            "updated_at": note.modified.to_string(),
            "cut_bytes": cut,
        },
    });
    Ok(ToolResult::ok(String::new(), structured))
}

/// Splits an id into the id of the note and the byte to continue from. `None` without an offset.
fn split_offset(id: &str) -> Option<(&str, usize)> {
    let (whole, from) = id.rsplit_once(OFFSET_MARK)?;
    Some((whole, from.parse().ok()?))
}

/// Finds a note by its id, which starts with the project. Any other name of a note is accepted, too.
fn find_by_id(
    call: &CallContext<'_>,
    args: &ToolArgs,
    id: &str,
) -> Result<NoteLocation, ToolError> {
    if let Some((project, name)) = id.split_once('/')
        && let Some(project) = scope::known_project(call, project)
        && let Ok(Some(found)) = call.memory.resolve_in(&project, name, ResolveIntent::Read)
    {
        return Ok(found.place);
    }
    scope::find_note(call, args, id, ResolveIntent::Read)
}
