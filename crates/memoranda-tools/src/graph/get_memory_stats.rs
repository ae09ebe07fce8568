//! `get_memory_stats`.

use jiff::Timestamp;
use memoranda_engine::graph::{graph_statistics, save_calls};
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::OPTIONAL_THREAD;
use super::render::answer;
use super::thread::CallThread;
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "get_memory_stats",
    title: "Memory statistics",
    description: "Counts, types, averages and the last week's activity of a thread.",
    tier: ToolTier::Extra,
    hints: READ,
    output: || {
        output(&[
            ("entityCount", "integer"),
            ("relationCount", "integer"),
            ("threadCount", "integer"),
            ("entityTypes", "object"),
            ("saveCalls", "object"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[OPTIONAL_THREAD]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let found = graph_statistics(call.memory, &thread)?;
    let calls = save_calls(call.memory, &thread);
    let day = |start: Timestamp| start.to_string().chars().take(10).collect::<String>();
    let activity: Vec<Value> = found
        .activity
        .iter()
        .map(|(start, count)| json!({ "timestamp": day(*start), "entityCount": count }))
        .collect();
    let structured = json!({
        "entityCount": found.entities,
        "relationCount": found.relations,
        "threadCount": found.threads,
        "entityTypes": found.types,
        "avgConfidence": found.mean_confidence,
        "avgImportance": found.mean_importance,
        "recentActivity": activity,
        "saveCalls": {
            "total": calls.total,
            "rejected": calls.rejected,
            "errorRate": calls.error_rate(),
            "since": calls.since.map(|since| since.to_string()),
        },
        "thread": thread.id,
    });
    Ok(answer(&thread.with_thread_shape(), structured))
}
