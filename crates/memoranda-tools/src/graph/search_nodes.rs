//! `search_nodes`.

use memoranda_engine::graph::{EntitySearch, GraphError, MatchLimit, search_entities};
use memoranda_engine::{EngineError, NoteLocation, SearchFilter, SearchRequest};
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::graph;
use super::params::{PAST, PRESENT};
use super::read_graph::read_page;
use super::read_options::ReadOptions;
use super::render::{SupersededDisplay, answer, render_found};
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "search_nodes",
    title: "Search nodes",
    description: "Find entities by words in their name, type and facts; exact matches first. Gives entities and their relations.",
    tier: ToolTier::Default,
    hints: READ,
    output: graph,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable =
    ParamTable::new(&[&[Param::text("query", "Words to look for").required()], PRESENT, PAST]);

/// Maximum number of memories outside the thread in an empty answer.
const MAX_OUTSIDE: usize = 5;

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let options = ReadOptions::read(args, call)?;
    let text = args.text("query")?.trim().to_owned();
    // An empty query matches everything, as in the reference server.
    if text.is_empty() {
        return read_page(call, &options, 0.0);
    }
    let at = options.graph_at(call)?;
    let max_entities_for_parts = call.settings.graph.pieces_up_to;
    let search = EntitySearch {
        text: &text,
        include_superseded: options.superseded == SupersededDisplay::Show,
        max_entities_for_parts,
    };
    let matches = search_entities(call.memory, &options.thread, search, at.as_ref())?;
    let mut result = render_found(call, &options, &matches.found, at.as_ref())?;
    if matches.found.is_empty() && at.is_none() {
        let outside = outside_thread(call, &options, &text)?;
        if !outside.is_empty() {
            result.structured["outside"] = json!(outside);
            result.structured["hint"] = json!(format!(
                "Nothing in the thread {:?}. search_notes reads what is outside.",
                options.thread.id
            ));
            result = answer(&options.thread, result.structured);
        }
    }
    if matches.limits.is_empty() {
        return Ok(result);
    }
    let limit = |limit: &MatchLimit| match limit {
        MatchLimit::WordsOnly => format!(
            "The thread has more than {max_entities_for_parts} entities, so words and beginnings of \
             words were looked for, but not pieces within words."
        ),
        MatchLimit::MoreMatches => {
            "More than these may fit; further words in the query find them.".to_owned()
        }
    };
    let limits: Vec<String> = matches.limits.iter().map(limit).collect();
    result.structured["partial"] = json!(limits.join(" "));
    Ok(answer(&options.thread, result.structured))
}

/// Returns the places of the rest of the memory that fit a query. Texts of other threads are not
/// quoted.
fn outside_thread(
    call: &CallContext<'_>,
    options: &ReadOptions,
    query: &str,
) -> GraphToolResult<Vec<Value>> {
    let thread = &options.thread;
    let is_limited = call.settings.notes.only_project.is_some();
    let request = SearchRequest {
        text: query.to_owned(),
        filter: SearchFilter {
            projects: is_limited.then(|| thread.project.clone()).into_iter().collect(),
            ..SearchFilter::default()
        },
        limit: MAX_OUTSIDE,
        snippet_chars: 1,
        ..SearchRequest::default()
    };
    let found = match call.memory.search(&request) {
        Err(EngineError::Invalid(_)) => return Ok(Vec::new()),
        found => found.map_err(GraphError::from)?,
    };
    let is_outside = |place: &NoteLocation| {
        place.project != thread.project || !place.path.is_within(&thread.folder)
    };
    let outside = found.results.into_iter().filter(|result| is_outside(&result.place));
    Ok(outside
        .map(|result| {
            json!({
                "project": result.place.project.as_str(),
                "file_path": result.place.path.as_str(),
                "title": result.title,
            })
        })
        .collect())
}
