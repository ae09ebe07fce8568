//! The tools of the reference server that create and delete. Without a thread, answers have its
//! shapes.

use memoranda_core::change::Commit;
use memoranda_core::note::NewRelation;
use memoranda_engine::graph::{
    EntityDeletion, EntityInput, NamedRelation, ObservationInput, ObservationWeight,
    create_entities as create_entity_notes, create_relations as create_relation_lines,
    delete_entities as delete_entity_notes, delete_observations as delete_observation_lines,
    delete_relations as delete_relation_lines, normalize_name, require_entity,
};
use serde_json::{Value, json};

use super::error::{GraphToolError, GraphToolResult};
use super::input::read_observations;
use super::read_options::{fields, time};
use super::render::{SupersededDisplay, entity_json, list_with_commit, relation_json};
use super::save::screen_secrets;
use super::thread::{AnswerShape, CallThread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Notice of the deprecated tools.
pub(super) const DEPRECATED: &str = "Deprecated: save_memory saves entities and relations in one \
     atomic call and checks their quality.";

fn weight(args: &ToolArgs) -> GraphToolResult<ObservationWeight> {
    Ok(ObservationWeight {
        confidence: args.float("confidence", 0.0, 1.0)?,
        importance: args.float("importance", 0.0, 1.0)?,
    })
}

fn name(args: &ToolArgs, parameter: &str) -> GraphToolResult<String> {
    let name = normalize_name(&args.text(parameter)?);
    if name.is_empty() {
        return Err(args.wrong(parameter, "a name", &json!("")).into());
    }
    Ok(name)
}

pub(super) fn create_entities(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("create_entities", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["entities", "threadId"])?;
    let objects = args.objects("entities")?;
    let objects = objects.ok_or_else(|| args.missing("entities", "a list of entities"))?;
    let mut entities: Vec<EntityInput> = Vec::with_capacity(objects.len());
    let mut warnings = Vec::new();
    for object in objects {
        let mut args = fields("an entity of create_entities", object)?;
        args.rename(&[("entityType", &["entity_type"])]);
        let known = ["name", "entityType", "observations", "confidence", "importance", "timestamp"];
        args.only(&[&known[..], &["agentThreadId", "type"]].concat())?;
        if let Some(problem) = thread.thread_mismatch(&args) {
            return Err(GraphToolError::Refused(problem));
        }
        let mut observations = read_observations(&args, "observations", Some(&thread)).all()?;
        observations.retain(|fact| !fact.content.is_empty());
        let name = name(&args, "name")?;
        warnings.extend(screen_secrets(call, &name, &mut observations)?);
        let entity_type = self::name(&args, "entityType")?;
        let (weight, time) = (weight(&args)?, time(&args, "timestamp")?);
        match entities.iter_mut().find(|other| other.name == name) {
            Some(first) => {
                let is_known = |fact: &ObservationInput, known: &[ObservationInput]| {
                    known.iter().any(|other| other.content == fact.content)
                };
                observations.retain(|fact| !is_known(fact, &first.observations));
                warnings.push(format!(
                    "'{name}' was given twice: its observations were joined, as a {}.",
                    first.entity_type
                ));
                first.observations.extend(observations);
            }
            None => entities.push(EntityInput {
                name,
                entity_type,
                observations,
                weight,
                time,
                ..Default::default()
            }),
        }
    }
    let result = create_entity_notes(call.memory, &call.who, &thread, &entities)?;
    let created = result.created.iter();
    let created: Vec<Value> =
        created.map(|entity| entity_json(entity, &thread, SupersededDisplay::Hide)).collect();
    let mut structured = json!({ "entities": created, "notice": DEPRECATED });
    if !result.existing.is_empty() {
        structured["existing"] = json!(result.existing);
    }
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(list_with_commit(&thread, "entities", structured, result.commit.as_ref()))
}

fn read_relations(
    args: &ToolArgs,
    thread: &CallThread,
    what: &'static str,
) -> GraphToolResult<Vec<NamedRelation>> {
    let objects = args.objects("relations")?;
    let objects = objects.ok_or_else(|| args.missing("relations", "a list of relations"))?;
    let mut relations: Vec<NamedRelation> = Vec::with_capacity(objects.len());
    for object in objects {
        let mut args = fields(what, object)?;
        args.rename(&[("relationType", &["relation_type"])]);
        let known = ["from", "to", "relationType", "confidence", "importance", "timestamp"];
        args.only(&[&known[..], &["agentThreadId", "type"]].concat())?;
        if let Some(problem) = thread.thread_mismatch(&args) {
            return Err(GraphToolError::Refused(problem));
        }
        let weight = weight(&args)?;
        let relation = NewRelation {
            relation_type: name(&args, "relationType")?,
            target: name(&args, "to")?,
            time: time(&args, "timestamp")?,
            confidence: weight.confidence.filter(|confidence| *confidence < 1.0),
            importance: weight.importance,
        };
        relations.push(NamedRelation { from: name(&args, "from")?, relation });
    }
    Ok(relations)
}

pub(super) fn create_relations(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("create_relations", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["relations", "threadId"])?;
    let mut relations = read_relations(&args, &thread, "a relation of create_relations")?;
    let mut skipped = Vec::new();
    if thread.shape == AnswerShape::Thread {
        skipped = take_incomplete(call, &thread, &mut relations)?;
    }
    let result = create_relation_lines(call.memory, &call.who, &thread, &relations)?;
    let created = result.created.iter();
    let created: Vec<Value> =
        created.map(|(from, relation)| relation_json(relation, from, &thread)).collect();
    let mut structured = json!({ "relations": created, "notice": DEPRECATED });
    if result.updated > 0 {
        structured["relationsUpdated"] = json!(result.updated);
    }
    if !skipped.is_empty() {
        structured["skipped"] = json!(skipped);
    }
    Ok(list_with_commit(&thread, "relations", structured, result.commit.as_ref()))
}

/// Removes the relations whose source or target does not exist, and returns them with the reason.
fn take_incomplete(
    call: &CallContext<'_>,
    thread: &CallThread,
    relations: &mut Vec<NamedRelation>,
) -> GraphToolResult<Vec<Value>> {
    let mut skipped = Vec::new();
    let mut kept = Vec::with_capacity(relations.len());
    for NamedRelation { from, relation } in relations.drain(..) {
        let mut missing = Vec::new();
        for name in [&from, &relation.target] {
            let required = require_entity(call.memory, thread, name);
            match required.map_err(|error| thread.explain(error)) {
                Ok(_) => {}
                Err(GraphToolError::Refused(text)) => missing.push(text),
                Err(other) => return Err(other),
            }
        }
        if missing.is_empty() {
            kept.push(NamedRelation { from, relation });
            continue;
        }
        skipped.push(json!({
            "from": from, "to": relation.target, "relationType": relation.relation_type,
            "reason": missing.join(" "),
        }));
    }
    *relations = kept;
    Ok(skipped)
}

pub(super) fn delete_entities(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("delete_entities", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["entityNames", "threadId"])?;
    let names = args.texts("entityNames")?;
    let names = names.ok_or_else(|| args.missing("entityNames", "a list of names"))?;
    let result = delete_entity_notes(call.memory, &call.who, &thread, &names)?;
    let about = json!({
        "deleted": result.deleted, "relationsDeleted": result.relations, "notFound": result.missing,
    });
    Ok(deletion(&thread, "Entities deleted successfully", about, result.commit))
}

/// Renders the sentence of the reference server, with the details in the structure.
fn deletion(
    thread: &CallThread,
    message: &str,
    about: Value,
    commit: Option<Commit>,
) -> ToolResult {
    let commit = commit.map(|commit| commit.id.to_string());
    let mut structured = json!({ "success": true, "message": message });
    if let Some(commit) = &commit {
        structured["commit"] = json!(commit);
    }
    let text = match thread.shape {
        AnswerShape::Reference => message.to_owned(),
        AnswerShape::Thread => {
            structured["thread"] = json!(thread.id);
            let message = if commit.is_some() { message } else { "Nothing was deleted" };
            structured["message"] = json!(message);
            let undo = commit.map(|id| format!(" `memoranda undo {id}` takes it back."));
            let undo = undo.unwrap_or_else(|| " Nothing had to be changed.".to_owned());
            format!("{message} in thread '{}': {about}.{undo}", thread.id)
        }
    };
    if let Value::Object(about) = about {
        about.into_iter().for_each(|(key, value)| structured[key] = value);
    }
    ToolResult::ok(text, structured)
}

pub(super) fn delete_observations(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("delete_observations", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["deletions", "threadId"])?;
    let objects = args.objects("deletions")?;
    let objects = objects.ok_or_else(|| args.missing("deletions", "a list of deletions"))?;
    let mut deletions = Vec::with_capacity(objects.len());
    for object in objects {
        let args = fields("a deletion of delete_observations", object)?;
        args.only(&["entityName", "observations"])?;
        let facts = read_observations(&args, "observations", None).all()?;
        let observations = facts.into_iter().map(|fact| fact.content).collect();
        deletions.push(EntityDeletion { name: name(&args, "entityName")?, observations });
    }
    let result = delete_observation_lines(call.memory, &call.who, &thread, &deletions)?;
    let about = json!({ "deleted": result.deleted, "notFound": result.missing });
    Ok(deletion(&thread, "Observations deleted successfully", about, result.commit))
}

pub(super) fn delete_relations(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("delete_relations", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["relations", "threadId"])?;
    let relations = read_relations(&args, &thread, "a relation of delete_relations")?;
    let result = delete_relation_lines(call.memory, &call.who, &thread, &relations)?;
    let about = json!({ "deleted": result.deleted, "notFound": result.missing });
    Ok(deletion(&thread, "Relations deleted successfully", about, result.commit))
}
