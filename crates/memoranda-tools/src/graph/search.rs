//! `search_nodes`.

use memoranda_engine::graph::{EntitySearch, MatchLimit, search_entities};
use serde_json::{Value, json};

use super::error::GraphToolResult;
use super::query::{graph_at, read_page, render_found};
use super::read_options::ReadOptions;
use super::render::{SupersededDisplay, answer};
use crate::registry::{CallContext, ToolArgs, ToolResult};

pub(super) fn search_nodes(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("search_nodes", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    args.only(&[&ReadOptions::PARAMETERS[..], &["query"]].concat())?;
    let text = args.text("query")?.trim().to_owned();
    // An empty query matches everything, as in the reference server.
    if text.is_empty() {
        return read_page(call, &options, 0.0);
    }
    let at = graph_at(call, &options)?;
    let max_entities_for_parts = call.settings.graph.pieces_up_to;
    let search = EntitySearch {
        text: &text,
        include_superseded: options.superseded == SupersededDisplay::Show,
        max_entities_for_parts,
    };
    let matches = search_entities(call.memory, &options.thread, search, at.as_ref())?;
    let mut result = render_found(call, &options, &matches.found, at.as_ref())?;
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
