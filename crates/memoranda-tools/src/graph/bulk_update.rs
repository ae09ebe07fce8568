//! `bulk_update`.

use memoranda_engine::graph::{BulkUpdate, bulk_update, normalize_name};
use serde_json::json;

use super::base::{BASE, SET};
use super::error::GraphToolResult;
use super::input::{check_observation, read_observations};
use super::output_schema::output;
use super::params::{CONFIDENCE, ENTITY_NAME, IMPORTANCE, THREAD};
use super::problem::{
    ValidationProblem, collect_problem, collect_weight, missing_thread, refuse_if_any,
};
use super::render::with_commit;
use super::secrets::screen_secrets;
use super::thread::CallThread;
use crate::registry::{
    CallContext, ItemTable, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier,
};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "bulk_update",
    title: "Bulk update",
    description: "Sets confidence and importance of many entities and adds facts to them, in one commit.",
    tier: ToolTier::Extra,
    hints: SET,
    output: || output(&[("updated", "integer"), ("notFound", "array"), ("commit", "string")]),
    params: PARAMS,
    run,
    ..BASE
};

const UPDATE: ParamTable = ParamTable::new(&[&[
    ENTITY_NAME.required(),
    CONFIDENCE,
    IMPORTANCE,
    Param::texts("addObservations", "Atomic facts"),
]]);

const PARAMS: ParamTable = ParamTable::new(&[&[
    THREAD.required(),
    Param::items("updates", &ItemTable::new("an update of bulk_update", UPDATE), "Updates")
        .required(),
]])
.defer_unknown();

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let mut problems = Vec::new();
    let thread = CallThread::from_args(args, call.settings);
    let thread = collect_problem(thread, "", &mut problems);
    collect_problem(args.reject_unknown(), "", &mut problems);
    let items = args.required_items("updates", "a list of updates");
    let items = collect_problem(items, "", &mut problems).unwrap_or_default();
    let mut updates = Vec::with_capacity(items.len());
    for args in &items {
        let name = collect_problem(args.text("entityName"), "", &mut problems).unwrap_or_default();
        let name = normalize_name(&name);
        collect_problem(args.reject_unknown(), &name, &mut problems);
        let weight = collect_weight(args, &name, &mut problems);
        let read = read_observations(args, "addObservations", thread.as_ref());
        let wrong = read.problems.into_iter();
        let suggestion = "addObservations is a list of short texts";
        problems.extend(wrong.map(|wrong| ValidationProblem::of_entity(&name, wrong, suggestion)));
        for fact in &read.facts {
            let wrong = check_observation(&fact.content, call.settings.graph.limits);
            let problem =
                wrong.map(|wrong| ValidationProblem::of_fact(&name, &fact.content, wrong));
            problems.extend(problem);
        }
        updates.push(BulkUpdate { name, weight, observations: read.facts });
    }
    refuse_if_any(&problems)?;
    let Some(thread) = thread else { return Err(missing_thread()) };
    let mut warnings = Vec::new();
    for update in &mut updates {
        warnings.extend(screen_secrets(call, &update.name, &mut update.observations)?);
    }
    let report = bulk_update(call.memory, &call.who, &thread, &updates)?;
    let mut structured = json!({ "updated": report.updated, "notFound": report.missing });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(with_commit(&thread, structured, report.commit.as_ref()))
}
