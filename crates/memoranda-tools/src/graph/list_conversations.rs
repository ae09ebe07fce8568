//! `list_conversations`.

use memoranda_engine::graph::{ThreadSummary, graph_threads};
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::render::lines;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "list_conversations",
    title: "List conversations",
    description: "All threads, with counts and times.",
    tier: ToolTier::Extra,
    hints: READ,
    output: || {
        output(&[("conversations", "array"), ("total", "integer"), ("nextOffset", "integer")])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::integer("offset", 0, 1_000_000, "Threads to pass over").default_integer(0),
    Param::integer("limit", 1, 1000, "Threads at the most (100)").default_integer(100),
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let offset = args.integer("offset")?;
    let limit = args.integer("limit")?;
    let project = &call.settings.graph.project;
    let (threads, total) = graph_threads(call.memory, project, limit, offset)?;
    let conversation = |thread: &ThreadSummary| {
        json!({
            "agentThreadId": thread.id,
            "entityCount": thread.entities,
            "relationCount": thread.relations,
            "firstCreated": thread.times.map(|(first, _)| first.to_string()),
            "lastUpdated": thread.times.map(|(_, last)| last.to_string()),
        })
    };
    let found: Vec<Value> = threads.iter().map(conversation).collect();
    let mut structured =
        json!({ "conversations": found, "total": total, "project": project.as_str() });
    if offset + limit < total {
        structured["nextOffset"] = json!(offset + limit);
    }
    Ok(ToolResult::ok(lines(&structured), structured))
}
