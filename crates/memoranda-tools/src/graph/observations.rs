//! Facts over time: added, and replaced by newer ones.

use jiff::Timestamp;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{NoteEdit, ObservationRef};
use memoranda_core::note::{NewObservation, observation_from_text, plain_text};
use serde_json::{Value, json};

use super::entity::{EntityObservation, GraphEntity, normalize_name};
use super::error::{GraphError, Result};
use super::input::{ObservationInput, check_observation, read_observations};
use super::load::{fields, require_entity, time};
use super::problem::{ValidationProblem, collect_problem, refuse_if_any};
use super::reference::{listed, with_commit};
use super::save::{commit_id, screen_secrets};
use super::thread::{AnswerShape, GraphThread};
use super::transaction::{GraphTransaction, ObservationWeight};
use crate::registry::{CallContext, ToolArgs, ToolResult};

struct ObservationAddition {
    name: String,
    contents: Vec<ObservationInput>,
    supersedes: Option<ObservationId>,
    weight: ObservationWeight,
    time: Option<Timestamp>,
}

pub(super) fn observation_id(args: &ToolArgs, name: &str) -> Result<Option<ObservationId>> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    match ObservationId::parse(text.trim()) {
        Some(id) => Ok(Some(id)),
        None => Err(args.wrong(name, "an observation id, obs_…", &json!(text)).into()),
    }
}

/// What is wrong with a fact. Those of a thread are held to the limits; the reference server has
/// none.
fn check(
    thread: Option<&GraphThread>,
    call: &CallContext<'_>,
    name: &str,
    content: &str,
) -> Option<ValidationProblem> {
    if content.is_empty() {
        let suggestion = "State one whole fact, or leave it out";
        return Some(ValidationProblem::of_entity(name, "An observation is empty.", suggestion));
    }
    let is_held = thread.is_none_or(|thread| thread.shape == AnswerShape::Thread);
    let wrong =
        is_held.then(|| check_observation(content, call.settings.graph.limits)).flatten()?;
    Some(ValidationProblem::of_fact(name, content, wrong))
}

/// What is wrong with names: each that nothing has, once.
fn unknown_names<'n>(
    call: &CallContext<'_>,
    thread: &GraphThread,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<ValidationProblem>> {
    let mut problems: Vec<ValidationProblem> = Vec::new();
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        match require_entity(call, thread, name) {
            Ok(_) => {}
            Err(GraphError::Refused(text)) => {
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

pub(super) fn add_observations(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("add_observations", arguments)?;
    let mut problems = Vec::new();
    let thread = collect_problem(
        GraphThread::from_args_or_default(&mut args, call.settings),
        "",
        &mut problems,
    );
    collect_problem(
        args.only(&["observations", "threadId", "thread_id", "agentThreadId"]),
        "",
        &mut problems,
    );
    let objects = args.objects("observations").and_then(|objects| {
        objects.ok_or_else(|| args.missing("observations", "a list of additions"))
    });
    let objects = collect_problem(objects, "", &mut problems).unwrap_or_default();
    let mut additions = Vec::with_capacity(objects.len());
    for object in objects {
        let args = fields("an addition of add_observations", object)?;
        additions.push(addition(call, thread.as_ref(), args, &mut problems));
    }
    if let Some(thread) = thread.as_ref().filter(|_| !problems.is_empty()) {
        let names = additions.iter().map(|addition| addition.name.as_str());
        problems.extend(unknown_names(call, thread, names)?);
    }
    refuse_if_any(&problems)?;
    let Some(thread) = thread else { return Err(missing_thread()) };
    let mut warnings = Vec::new();
    for addition in &mut additions {
        warnings.extend(screen_secrets(call, &addition.name, &mut addition.contents)?);
    }
    let mut results = Vec::new();
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        results = Vec::new();
        for addition in &additions {
            results.push(add(&mut graph, &thread, addition)?);
        }
        Ok::<_, GraphError>(graph.steps())
    });
    let outcome = match outcome {
        // Outside of the lock there is time to look for all that are missing, and for near names.
        Err(GraphError::Refused(message)) if message.starts_with("Entity with name") => {
            let names = additions.iter().map(|addition| addition.name.as_str());
            let missing = unknown_names(call, &thread, names)?;
            if thread.shape == AnswerShape::Thread {
                refuse_if_any(&missing)?;
            }
            let said: Vec<&str> = missing.iter().map(|missing| missing.problem.as_str()).collect();
            let rendered = if missing.is_empty() { message } else { said.join("\n") };
            return Err(GraphError::Refused(rendered));
        }
        other => other?,
    };
    let mut structured = json!({ "results": results });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(listed(&thread, "results", structured, commit_id(&outcome)))
}

/// Reads one addition; what is wrong with it is added to the problems.
fn addition(
    call: &CallContext<'_>,
    thread: Option<&GraphThread>,
    mut args: ToolArgs,
    problems: &mut Vec<ValidationProblem>,
) -> ObservationAddition {
    args.rename(&[("contents", &["observations", "content"]), ("entityName", &["name"])]);
    let name = collect_problem(args.text("entityName"), "", problems).unwrap_or_default();
    let name = normalize_name(&name);
    let known = ["entityName", "contents", "supersedes", "confidence", "importance"];
    collect_problem(
        args.only(&[&known[..], &["timestamp", "agentThreadId"]].concat()),
        &name,
        problems,
    );
    let said = read_observations(&args, "contents", thread);
    let wrong =
        said.problems.into_iter().chain(thread.and_then(|thread| thread.thread_mismatch(&args)));
    problems.extend(wrong.map(|wrong| {
        ValidationProblem::of_entity(
            &name,
            wrong,
            "contents is a list of short texts of one thread",
        )
    }));
    let contents = said.facts;
    problems.extend(contents.iter().filter_map(|fact| check(thread, call, &name, &fact.content)));
    let supersedes =
        collect_problem(observation_id(&args, "supersedes"), &name, problems).flatten();
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

/// How much something counts; what is wrong with it is added to the problems.
pub(super) fn weight(
    args: &ToolArgs,
    name: &str,
    problems: &mut Vec<ValidationProblem>,
) -> ObservationWeight {
    let (weight, wrong) = ObservationWeight::read(args);
    collect_problem(wrong.map_or(Ok(()), Err), name, problems);
    weight
}

/// No thread is known, and why was not said.
pub(super) fn missing_thread() -> GraphError {
    GraphError::Refused("The thread is not known.".to_owned())
}

fn add(
    graph: &mut GraphTransaction<'_, '_>,
    thread: &GraphThread,
    addition: &ObservationAddition,
) -> Result<Value> {
    let name = addition.name.as_str();
    let entity = graph.require(name)?;
    let (mut added, mut skipped) = (Vec::new(), Vec::new());
    for said in &addition.contents {
        let (weight, time) = (said.weight.or(addition.weight), said.time.or(addition.time));
        if let Some(old) = &addition.supersedes {
            added.push(supersede(graph, name, old, &said.content, weight, time)?);
        } else if entity.current().any(|fact| fact.content == said.content) {
            skipped.push(said.content.clone());
        } else {
            added.push(graph.add_observation(name, said, weight, time)?);
        }
    }
    graph.raise_weight(name, addition.weight)?;
    let entity = graph.require(name)?;
    let new = entity.facts.iter().filter(|fact| added.contains(&fact.id));
    let rendered: Vec<Value> = match thread.shape {
        AnswerShape::Reference => new.map(|fact| json!(fact.content)).collect(),
        AnswerShape::Thread => new.map(|fact| fact.to_json(thread)).collect(),
    };
    let mut result = json!({ "entityName": name, "addedObservations": rendered });
    if thread.shape == AnswerShape::Thread && !skipped.is_empty() {
        result["alreadyKnown"] = json!(skipped);
    }
    Ok(result)
}

/// Puts a fact in the place of another; its id.
fn supersede(
    graph: &mut GraphTransaction<'_, '_>,
    name: &str,
    old: &ObservationId,
    content: &str,
    weight: ObservationWeight,
    time: Option<Timestamp>,
) -> Result<ObservationId> {
    let entity = graph.require(name)?;
    let fact = find(&entity, old)?;
    if !fact.is_current {
        let by = match current(&entity, fact) {
            Some(now) => format!("; what holds now is {} \"{}\"", now.id, now.content),
            None => String::new(),
        };
        return Err(GraphError::Refused(format!(
            "Observation {old} of '{name}' is already superseded{by}. Nothing was changed."
        )));
    }
    if let Some(same) = entity.current().find(|f| f.content == content && f.id != *old) {
        return Err(GraphError::Refused(format!(
            "Entity '{name}' says so already, in {}: \"{content}\". Nothing was changed; \
             delete_observations removes {old} if it no longer holds.",
            same.id
        )));
    }
    let weight = ObservationWeight {
        confidence: weight.confidence.or(fact.confidence),
        importance: weight.importance.or(fact.importance),
    };
    // Nothing takes the place of what came later, whatever the clock says.
    let now = graph.now.max(fact.time.unwrap_or(graph.now));
    let mut comment = graph.observation_meta(weight, Some(time.unwrap_or(now)));
    comment.version = fact.version.saturating_add(1);
    comment.supersedes = Some(old.clone());
    let id = comment.id.clone();
    let replacement = NewObservation { fact: Some(comment), ..observation_from_text(content) };
    let observation = if fact.has_comment {
        ObservationRef::Id(old.clone())
    } else {
        ObservationRef::Line(fact.line)
    };
    graph.edit(name, &NoteEdit::SupersedeObservation { observation, replacement })?;
    Ok(id)
}

/// The fact that holds in the place of one that was superseded, however often.
fn current<'e>(
    entity: &'e GraphEntity,
    fact: &'e EntityObservation,
) -> Option<&'e EntityObservation> {
    let mut now = fact;
    // A chain is no longer than there are facts; one that people tied into a ring ends here too.
    for _ in 0..=entity.facts.len() {
        if now.is_current {
            return Some(now);
        }
        let by = now.superseded_by.as_ref()?;
        now = entity.facts.iter().find(|fact| fact.id == *by)?;
    }
    None
}

pub(super) fn find<'e>(
    entity: &'e GraphEntity,
    id: &ObservationId,
) -> Result<&'e EntityObservation> {
    entity.facts.iter().find(|fact| fact.id == *id).ok_or_else(|| {
        let known: Vec<String> = entity
            .current()
            .take(10)
            .map(|fact| format!("{} \"{}\"", fact.id, fact.content))
            .collect();
        GraphError::Refused(format!(
            "Entity '{}' has no observation {id}. Its observations: {}.",
            entity.name,
            known.join("; ")
        ))
    })
}

pub(super) fn update_observation(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("update_observation", arguments)?;
    let mut problems = Vec::new();
    let thread =
        collect_problem(GraphThread::from_args(&mut args, call.settings), "", &mut problems);
    let known = ["threadId", "entityName", "observationId", "newContent", "timestamp"];
    let others = ["confidence", "importance", "thread_id", "agentThreadId"];
    collect_problem(args.only(&[&known[..], &others].concat()), "", &mut problems);
    let name = collect_problem(args.text("entityName"), "", &mut problems).unwrap_or_default();
    let name = normalize_name(&name);
    let id = observation_id(&args, "observationId").and_then(|id| {
        Ok(id.ok_or_else(|| args.missing("observationId", "the observation's id"))?)
    });
    let id = collect_problem(id, &name, &mut problems);
    let content = collect_problem(args.text("newContent"), &name, &mut problems)
        .map(|text| plain_text(&text));
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
    let mut content = [ObservationInput { content, weight, time }];
    let warnings = screen_secrets(call, &name, &mut content)?;
    let mut rendered = Value::Null;
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        graph.require(&name)?;
        let new = supersede(&mut graph, &name, &id, &content[0].content, weight, time)?;
        rendered = find(&graph.require(&name)?, &new)?.to_json(&thread);
        Ok::<_, GraphError>(graph.steps())
    })?;
    let mut structured = json!({ "success": true, "entityName": name, "observation": rendered, "superseded": id.as_str() });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(with_commit(&thread, structured, commit_id(&outcome)))
}
