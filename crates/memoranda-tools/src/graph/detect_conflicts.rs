//! `detect_conflicts`.

use memoranda_engine::graph::find_conflicts;
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::OPTIONAL_THREAD;
use super::render::answer;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "detect_conflicts",
    title: "Detect conflicts",
    description: "Facts of one entity that seem to contradict each other: one denied, or other values.",
    tier: ToolTier::Extra,
    hints: READ,
    output: || output(&[("conflicts", "array"), ("thread", "string"), ("truncated", "string")]),
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    OPTIONAL_THREAD,
    Param::integer("limit", 1, 1000, "Entities at the most (50)").default_integer(50),
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let limit = args.integer("limit")?;
    let (found, left_out) = find_conflicts(call.memory, &thread, limit)?;
    let pair = |(first, second, reason): &(String, String, String)| json!({ "obs1": first, "obs2": second, "reason": reason });
    let found = found.iter().map(|entity| {
        let pairs: Vec<Value> = entity.pairs.iter().map(pair).collect();
        json!({ "entityName": entity.name, "conflicts": pairs })
    });
    let found: Vec<Value> = found.collect();
    let mut structured = json!({ "conflicts": found, "thread": thread.id });
    if left_out > 0 {
        structured["truncated"] =
            json!(format!("{left_out} more entities have conflicts; raise limit to see them."));
    }
    Ok(answer(&thread.with_thread_shape(), structured))
}
