//! `add_observations`.

use memoranda_engine::graph::{
    AddedObservations, GraphError, ObservationAddition, add_observations, normalize_name,
};
use serde_json::{Value, json};

use super::base::{ADD, BASE};
use super::error::{GraphToolResult, refused};
use super::input::{check_thread_observation, observation_id, read_observations};
use super::output_schema::output;
use super::params::{CONFIDENCE, ENTITY_NAME, IMPORTANCE, ITEM_THREAD, OPTIONAL_THREAD};
use super::problem::{
    ValidationProblem, collect_problem, collect_weight, missing_thread, refuse_if_any,
    unknown_names,
};
use super::read_options::time;
use super::render::{list_with_commit, observation_json};
use super::secrets::screen_secrets;
use super::thread::{AnswerShape, CallThread};
use crate::registry::{
    CallContext, ItemTable, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier,
};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "add_observations",
    title: "Add observations",
    description: "Add facts to entities that exist; facts they already have are skipped. With `supersedes` (an observation id) one fact replaces an older one, which stays in the history.",
    tier: ToolTier::Default,
    hints: ADD,
    output: || output(&[("results", "array"), ("warnings", "array"), ("commit", "string")]),
    params: PARAMS,
    run,
    ..BASE
};

const ADDITION: ParamTable = ParamTable::new(&[&[
    ENTITY_NAME.required().aliases(&["name"]),
    Param::texts("contents", "Atomic facts").required().aliases(&["observations", "content"]),
    Param::text("supersedes", "Id of the fact that the one in contents replaces"),
    CONFIDENCE,
    IMPORTANCE,
    Param::text("timestamp", "When it was so, ISO 8601; now if left out"),
    ITEM_THREAD,
]]);

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::items(
        "observations",
        &ItemTable::new("an addition of add_observations", ADDITION),
        "Additions",
    )
    .required(),
    OPTIONAL_THREAD,
]])
.defer_unknown();

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let mut problems = Vec::new();
    let thread = CallThread::from_args_or_default(args, call.settings);
    let thread = collect_problem(thread, "", &mut problems);
    collect_problem(args.reject_unknown(), "", &mut problems);
    let items = args.required_items("observations", "a list of additions");
    let items = collect_problem(items, "", &mut problems).unwrap_or_default();
    let mut additions: Vec<ObservationAddition> = Vec::with_capacity(items.len());
    for item in &items {
        additions.push(read_addition(call, thread.as_ref(), item, &mut problems));
    }
    let names = || additions.iter().map(|addition| addition.name.as_str());
    if let Some(thread) = thread.as_ref().filter(|_| !problems.is_empty()) {
        problems.extend(unknown_names(call, thread, names())?);
    }
    refuse_if_any(&problems)?;
    let Some(thread) = thread else { return Err(missing_thread()) };
    let mut warnings = Vec::new();
    for addition in &mut additions {
        warnings.extend(screen_secrets(call, &addition.name, &mut addition.contents)?);
    }
    let (results, commit) = match add_observations(call.memory, &call.who, &thread, &additions) {
        // Outside of the transaction there is time to find all unknown names and similar ones.
        Err(error @ GraphError::UnknownEntity { .. }) => {
            let names = additions.iter().map(|addition| addition.name.as_str());
            let missing = unknown_names(call, &thread, names)?;
            if thread.shape == AnswerShape::Thread {
                refuse_if_any(&missing)?;
            }
            let texts: Vec<&str> = missing.iter().map(|missing| missing.problem.as_str()).collect();
            let text = if missing.is_empty() { error.to_string() } else { texts.join("\n") };
            return Err(refused(text));
        }
        other => other?,
    };
    let results: Vec<Value> = results.iter().map(|added| added_json(added, &thread)).collect();
    let mut structured = json!({ "results": results });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(list_with_commit(&thread, "results", structured, commit.as_ref()))
}

fn added_json(added: &AddedObservations, thread: &CallThread) -> Value {
    let new = added.added.iter();
    let observations: Vec<Value> = match thread.shape {
        AnswerShape::Reference => new.map(|fact| json!(fact.content)).collect(),
        AnswerShape::Thread => new.map(|fact| observation_json(fact, thread)).collect(),
    };
    let mut json = json!({ "entityName": added.name, "addedObservations": observations });
    if thread.shape == AnswerShape::Thread && !added.skipped.is_empty() {
        json["alreadyKnown"] = json!(added.skipped);
    }
    json
}

/// Reads one addition and adds its problems.
fn read_addition(
    call: &CallContext<'_>,
    thread: Option<&CallThread>,
    args: &ToolArgs,
    problems: &mut Vec<ValidationProblem>,
) -> ObservationAddition {
    let name = collect_problem(args.text("entityName"), "", problems).unwrap_or_default();
    let name = normalize_name(&name);
    collect_problem(args.reject_unknown(), &name, problems);
    let read = read_observations(args, "contents", thread);
    let wrong =
        read.problems.into_iter().chain(thread.and_then(|thread| thread.thread_mismatch(args)));
    problems.extend(wrong.map(|wrong| {
        let suggestion = "contents is a list of short texts of one thread";
        ValidationProblem::of_entity(&name, wrong, suggestion)
    }));
    let contents = read.facts;
    problems.extend(
        contents
            .iter()
            .filter_map(|fact| check_thread_observation(call, thread, &name, &fact.content)),
    );
    let supersedes = observation_id(args, "supersedes");
    let supersedes = collect_problem(supersedes, &name, problems).flatten();
    if supersedes.is_some() && contents.len() != 1 {
        let problem = format!(
            "supersedes replaces one fact by one: give exactly 1 text in contents, not {}.",
            contents.len()
        );
        let suggestion = "Add the other facts in an addition of their own";
        problems.push(ValidationProblem::of_entity(&name, problem, suggestion));
    }
    let weight = collect_weight(args, &name, problems);
    let time = collect_problem(time(args, "timestamp"), &name, problems).flatten();
    ObservationAddition { name, contents, supersedes, weight, time }
}
