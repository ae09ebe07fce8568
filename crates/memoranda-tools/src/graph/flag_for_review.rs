//! `flag_for_review`.

use memoranda_engine::graph::{flag_for_review, normalize_name, require_entity};
use serde_json::json;

use super::base::{APPEND, BASE};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::{ENTITY_NAME, THREAD};
use super::render::{observation_json, with_commit};
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "flag_for_review",
    title: "Flag for review",
    description: "Marks an entity for a person to look at, with the reason.",
    tier: ToolTier::Extra,
    hints: APPEND,
    output: || {
        output(&[
            ("success", "boolean"),
            ("entityName", "string"),
            ("observation", "object"),
            ("commit", "string"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    THREAD.required(),
    ENTITY_NAME.required(),
    Param::text("reason", "What to look at").required(),
    Param::text("reviewer", "Who should look"),
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args(args, call.settings)?;
    let name = normalize_name(&args.text("entityName")?);
    let mut reason = args.text("reason")?.trim().to_owned();
    if reason.is_empty() {
        return Err(args.wrong("reason", "what a person should look at", &json!(reason)).into());
    }
    let reviewer = args.optional_text("reviewer")?;
    require_entity(call.memory, &thread, &name).map_err(|error| thread.explain(error))?;
    if let Some(reviewer) = reviewer {
        reason.push_str(&format!(" (reviewer: {})", reviewer.trim()));
    }
    let (observation, commit) = flag_for_review(call.memory, &call.who, &thread, &name, &reason)?;
    let observation = observation.map(|fact| observation_json(&fact, &thread));
    let structured = json!({ "success": true, "entityName": name, "observation": observation });
    Ok(with_commit(&thread, structured, commit.as_ref()))
}
