//! `update_observation`.

use memoranda_core::note::plain_text;
use memoranda_engine::graph::{ObservationInput, normalize_name, supersede_observation};
use serde_json::json;

use super::base::{BASE, SET};
use super::error::GraphToolResult;
use super::input::{check_thread_observation, observation_id};
use super::output_schema::output;
use super::params::{CONFIDENCE, ENTITY_NAME, IMPORTANCE, THREAD};
use super::problem::{
    collect_problem, collect_weight, missing_thread, refuse_if_any, unknown_names,
};
use super::read_options::time;
use super::render::{observation_json, with_commit};
use super::secrets::screen_secrets;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "update_observation",
    title: "Update observation",
    description: "Replaces a fact by a newer one; the old one stays in the history as superseded.",
    tier: ToolTier::Extra,
    hints: SET,
    output: || {
        output(&[
            ("success", "boolean"),
            ("entityName", "string"),
            ("observation", "object"),
            ("superseded", "string"),
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
    Param::text("observationId", "The fact that no longer holds, obs_…").required(),
    Param::text("newContent", "What holds now").required(),
    Param::text("timestamp", "Since when, ISO 8601"),
    CONFIDENCE,
    IMPORTANCE,
]])
.defer_unknown();

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let mut problems = Vec::new();
    let thread = CallThread::from_args(args, call.settings);
    let thread = collect_problem(thread, "", &mut problems);
    collect_problem(args.reject_unknown(), "", &mut problems);
    let name = collect_problem(args.text("entityName"), "", &mut problems).unwrap_or_default();
    let name = normalize_name(&name);
    let id = observation_id(args, "observationId")
        .and_then(|id| id.ok_or_else(|| args.missing("observationId", "the observation's id")));
    let id = collect_problem(id, &name, &mut problems);
    let content = collect_problem(args.text("newContent"), &name, &mut problems);
    let content = content.map(|text| plain_text(&text));
    let weight = collect_weight(args, &name, &mut problems);
    let time = collect_problem(time(args, "timestamp"), &name, &mut problems).flatten();
    let wrong = content
        .as_deref()
        .and_then(|text| check_thread_observation(call, thread.as_ref(), &name, text));
    problems.extend(wrong);
    if let Some(thread) = &thread {
        problems.extend(unknown_names(call, thread, [name.as_str()])?);
    }
    refuse_if_any(&problems)?;
    let (Some(thread), Some(id), Some(content)) = (thread, id, content) else {
        return Err(missing_thread());
    };
    let mut new = [ObservationInput { content, weight, time }];
    let warnings = screen_secrets(call, &name, &mut new)?;
    let (observation, commit) =
        supersede_observation(call.memory, &call.who, &thread, &name, &id, &new[0])?;
    let mut structured = json!({
        "success": true,
        "entityName": name,
        "observation": observation_json(&observation, &thread),
        "superseded": id.as_str(),
    });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(with_commit(&thread, structured, commit.as_ref()))
}
