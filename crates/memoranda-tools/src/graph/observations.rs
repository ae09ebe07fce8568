//! `add_observations` and `update_observation`.

use memoranda_core::id::ObservationId;
use memoranda_core::note::plain_text;
use memoranda_engine::graph::{
    AddedObservations, GraphError, ObservationAddition, ObservationInput, ObservationWeight,
    add_observations as add, normalize_name, require_entity, supersede_observation,
};
use serde_json::{Value, json};

use super::error::{GraphToolError, GraphToolResult};
use super::input::{check_observation, read_observations, read_weight};
use super::problem::{ValidationProblem, collect_problem, refuse_if_any};
use super::read_options::{fields, time};
use super::render::{list_with_commit, observation_json, with_commit};
use super::save::screen_secrets;
use super::thread::{AnswerShape, CallThread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Reads the id of an observation.
pub(super) fn observation_id(
    args: &ToolArgs,
    name: &str,
) -> GraphToolResult<Option<ObservationId>> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    match ObservationId::parse(text.trim()) {
        Some(id) => Ok(Some(id)),
        None => Err(args.wrong(name, "an observation id, obs_…", &json!(text)).into()),
    }
}

/// Checks an observation. The limits apply to threads; the reference server has none.
fn check(
    thread: Option<&CallThread>,
    call: &CallContext<'_>,
    name: &str,
    content: &str,
) -> Option<ValidationProblem> {
    if content.is_empty() {
        let suggestion = "State one whole fact, or leave it out";
        return Some(ValidationProblem::of_entity(name, "An observation is empty.", suggestion));
    }
    let is_limited = thread.is_none_or(|thread| thread.shape == AnswerShape::Thread);
    let limits = call.settings.graph.limits;
    let wrong = is_limited.then(|| check_observation(content, limits)).flatten()?;
    Some(ValidationProblem::of_fact(name, content, wrong))
}

/// Returns one problem for each name that no entity has.
fn unknown_names<'n>(
    call: &CallContext<'_>,
    thread: &CallThread,
    names: impl IntoIterator<Item = &'n str>,
) -> GraphToolResult<Vec<ValidationProblem>> {
    let mut problems: Vec<ValidationProblem> = Vec::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        let required = require_entity(call.memory, thread, name);
        match required.map_err(|error| thread.explain(error)) {
            Ok(_) => {}
            Err(GraphToolError::Refused(text)) => {
                if problems.iter().all(|problem| problem.entity != name) {
                    let suggestion = "Name an entity that is there, or make it with save_memory";
                    problems.push(ValidationProblem::of_entity(name, text, suggestion));
                }
            }
            Err(other) => return Err(other),
        }
    }
    Ok(problems)
}

pub(super) fn add_observations(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("add_observations", arguments)?;
    let mut problems = Vec::new();
    let thread = CallThread::from_args_or_default(&mut args, call.settings);
    let thread = collect_problem(thread, "", &mut problems);
    let known = ["observations", "threadId", "thread_id", "agentThreadId"];
    collect_problem(args.only(&known), "", &mut problems);
    let objects = args.objects("observations").and_then(|objects| {
        objects.ok_or_else(|| args.missing("observations", "a list of additions"))
    });
    let objects = collect_problem(objects, "", &mut problems).unwrap_or_default();
    let mut additions = Vec::with_capacity(objects.len());
    for object in objects {
        let args = fields("an addition of add_observations", object)?;
        additions.push(read_addition(call, thread.as_ref(), args, &mut problems));
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
    let (results, commit) = match add(call.memory, &call.who, &thread, &additions) {
        // Outside of the transaction there is time to find all unknown names and similar ones.
        Err(error @ GraphError::UnknownEntity { .. }) => {
            let names = additions.iter().map(|addition| addition.name.as_str());
            let missing = unknown_names(call, &thread, names)?;
            if thread.shape == AnswerShape::Thread {
                refuse_if_any(&missing)?;
            }
            let texts: Vec<&str> = missing.iter().map(|missing| missing.problem.as_str()).collect();
            let text = if missing.is_empty() { error.to_string() } else { texts.join("\n") };
            return Err(GraphToolError::Refused(text));
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
    mut args: ToolArgs,
    problems: &mut Vec<ValidationProblem>,
) -> ObservationAddition {
    args.rename(&[("contents", &["observations", "content"]), ("entityName", &["name"])]);
    let name = collect_problem(args.text("entityName"), "", problems).unwrap_or_default();
    let name = normalize_name(&name);
    let known = ["entityName", "contents", "supersedes", "confidence", "importance"];
    let known = [&known[..], &["timestamp", "agentThreadId"]].concat();
    collect_problem(args.only(&known), &name, problems);
    let read = read_observations(&args, "contents", thread);
    let wrong =
        read.problems.into_iter().chain(thread.and_then(|thread| thread.thread_mismatch(&args)));
    problems.extend(wrong.map(|wrong| {
        let suggestion = "contents is a list of short texts of one thread";
        ValidationProblem::of_entity(&name, wrong, suggestion)
    }));
    let contents = read.facts;
    problems.extend(contents.iter().filter_map(|fact| check(thread, call, &name, &fact.content)));
    let supersedes = observation_id(&args, "supersedes");
    let supersedes = collect_problem(supersedes, &name, problems).flatten();
    if supersedes.is_some() && contents.len() != 1 {
        let problem = format!(
            "supersedes replaces one fact by one: give exactly 1 text in contents, not {}.",
            contents.len()
        );
        let suggestion = "Add the other facts in an addition of their own";
        problems.push(ValidationProblem::of_entity(&name, problem, suggestion));
    }
    let weight = weight(&args, &name, problems);
    let time = collect_problem(time(&args, "timestamp"), &name, problems).flatten();
    ObservationAddition { name, contents, supersedes, weight, time }
}

/// Reads confidence and importance and adds their problems.
pub(super) fn weight(
    args: &ToolArgs,
    name: &str,
    problems: &mut Vec<ValidationProblem>,
) -> ObservationWeight {
    let (weight, wrong) = read_weight(args);
    collect_problem(wrong.map_or(Ok(()), Err), name, problems);
    weight
}

/// Returns the error for a call without a thread that has no other problem.
pub(super) fn missing_thread() -> GraphToolError {
    GraphToolError::Refused("The thread is not known.".to_owned())
}

pub(super) fn update_observation(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("update_observation", arguments)?;
    let mut problems = Vec::new();
    let thread = CallThread::from_args(&mut args, call.settings);
    let thread = collect_problem(thread, "", &mut problems);
    let known = ["threadId", "entityName", "observationId", "newContent", "timestamp"];
    let others = ["confidence", "importance", "thread_id", "agentThreadId"];
    collect_problem(args.only(&[&known[..], &others].concat()), "", &mut problems);
    let name = collect_problem(args.text("entityName"), "", &mut problems).unwrap_or_default();
    let name = normalize_name(&name);
    let id = observation_id(&args, "observationId").and_then(|id| {
        Ok(id.ok_or_else(|| args.missing("observationId", "the observation's id"))?)
    });
    let id = collect_problem(id, &name, &mut problems);
    let content = collect_problem(args.text("newContent"), &name, &mut problems);
    let content = content.map(|text| plain_text(&text));
    let weight = weight(&args, &name, &mut problems);
    let time = collect_problem(time(&args, "timestamp"), &name, &mut problems).flatten();
    let wrong = content.as_deref().and_then(|text| check(thread.as_ref(), call, &name, text));
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
