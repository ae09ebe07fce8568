//! The tools of the reference server that make and remove: in its shapes when no thread is named.

use jiff::Timestamp;
use memoranda_core::note::NewRelation;
use memoranda_core::note::edit::{NoteEdit, ObservationRef};
use serde_json::{Value, json};

use super::entity::{SupersededDisplay, normalize_name};
use super::error::{GraphError, Result};
use super::input::{ObservationInput, read_observations};
use super::load::{answer, fields, time};
use super::save::{commit_id, describe, screen_secrets};
use super::thread::{AnswerShape, GraphThread};
use super::transaction::{
    EntityKind, GraphTransaction, NewEntity, ObservationWeight, RelationOutcome,
};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// What the deprecated tools point to.
pub(super) const DEPRECATED: &str = "Deprecated: save_memory saves entities and relations in one \
     atomic call and checks their quality.";

struct ReferenceEntity {
    name: String,
    entity_type: String,
    facts: Vec<ObservationInput>,
    weight: ObservationWeight,
    time: Option<Timestamp>,
}

fn weight(args: &ToolArgs) -> Result<ObservationWeight> {
    Ok(ObservationWeight {
        confidence: args.float("confidence", 0.0, 1.0)?,
        importance: args.float("importance", 0.0, 1.0)?,
    })
}

fn name(args: &ToolArgs, parameter: &str) -> Result<String> {
    let name = normalize_name(&args.text(parameter)?);
    if name.is_empty() {
        return Err(args.wrong(parameter, "a name", &json!("")).into());
    }
    Ok(name)
}

pub(super) fn create_entities(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("create_entities", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["entities", "threadId"])?;
    let objects = args.objects("entities")?;
    let objects = objects.ok_or_else(|| args.missing("entities", "a list of entities"))?;
    let mut wanted: Vec<ReferenceEntity> = Vec::with_capacity(objects.len());
    let mut warnings = Vec::new();
    for object in objects {
        let mut args = fields("an entity of create_entities", object)?;
        args.rename(&[("entityType", &["entity_type"])]);
        let known = ["name", "entityType", "observations", "confidence", "importance", "timestamp"];
        args.only(&[&known[..], &["agentThreadId", "type"]].concat())?;
        if let Some(problem) = thread.thread_mismatch(&args) {
            return Err(GraphError::Refused(problem));
        }
        let mut facts = read_observations(&args, "observations", Some(&thread)).all()?;
        facts.retain(|fact| !fact.content.is_empty());
        let name = name(&args, "name")?;
        warnings.extend(screen_secrets(call, &name, &mut facts)?);
        let entity_type = self::name(&args, "entityType")?;
        let (weight, time) = (weight(&args)?, time(&args, "timestamp")?);
        if !wanted.iter().any(|other| other.name == name) {
            wanted.push(ReferenceEntity { name, entity_type, facts, weight, time });
        }
    }
    let (mut made, mut existing) = (Vec::new(), Vec::new());
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        (made, existing) = (Vec::new(), Vec::new());
        for entity in &wanted {
            if graph.open(&entity.name)? {
                if graph.entity(&entity.name).is_some_and(|found| !found.is_placeholder) {
                    existing.push(entity.name.clone());
                    continue;
                }
                describe(&mut graph, &entity.name, &entity.entity_type)?;
                for fact in &entity.facts {
                    graph.add_observation(&entity.name, fact, entity.weight, entity.time)?;
                }
                graph.raise_weight(&entity.name, entity.weight)?;
            } else {
                graph.create(&NewEntity {
                    name: &entity.name,
                    entity_type: &entity.entity_type,
                    facts: &entity.facts,
                    relations: Vec::new(),
                    weight: entity.weight,
                    time: entity.time,
                    kind: EntityKind::Described,
                })?;
            }
            made.extend(
                graph.entity(&entity.name).map(|e| e.to_json(&thread, SupersededDisplay::Hide)),
            );
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    let mut structured = json!({ "entities": made, "notice": DEPRECATED });
    if !existing.is_empty() {
        structured["existing"] = json!(existing);
    }
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(listed(&thread, "entities", structured, commit_id(&outcome)))
}

/// The same, but for the reference server's callers the text is the list alone, as that server
/// prints it.
pub(super) fn listed(
    thread: &GraphThread,
    key: &str,
    structured: Value,
    commit: Option<String>,
) -> ToolResult {
    let mut result = with_commit(thread, structured, commit);
    if thread.shape == AnswerShape::Reference {
        let list = &result.structured[key];
        result.text = serde_json::to_string_pretty(list).unwrap_or_default();
    }
    result
}

/// Adds the commit to a result.
pub(super) fn with_commit(
    thread: &GraphThread,
    mut structured: Value,
    commit: Option<String>,
) -> ToolResult {
    if thread.shape == AnswerShape::Thread {
        structured["thread"] = json!(thread.id);
        structured["project"] = json!(thread.project.as_str());
    }
    if let Some(commit) = commit {
        structured["commit"] = json!(commit);
    }
    answer(thread, structured)
}

struct ReferenceRelation {
    from: String,
    relation: NewRelation,
}

fn relations(
    args: &ToolArgs,
    thread: &GraphThread,
    what: &'static str,
) -> Result<Vec<ReferenceRelation>> {
    let objects = args.objects("relations")?;
    let objects = objects.ok_or_else(|| args.missing("relations", "a list of relations"))?;
    let mut relations: Vec<ReferenceRelation> = Vec::with_capacity(objects.len());
    for object in objects {
        let mut args = fields(what, object)?;
        args.rename(&[("relationType", &["relation_type"])]);
        let known = ["from", "to", "relationType", "confidence", "importance", "timestamp"];
        args.only(&[&known[..], &["agentThreadId", "type"]].concat())?;
        if let Some(problem) = thread.thread_mismatch(&args) {
            return Err(GraphError::Refused(problem));
        }
        let weight = weight(&args)?;
        let relation = NewRelation {
            relation_type: name(&args, "relationType")?,
            target: name(&args, "to")?,
            time: time(&args, "timestamp")?,
            confidence: weight.confidence.filter(|confidence| *confidence < 1.0),
            importance: weight.importance,
        };
        relations.push(ReferenceRelation { from: name(&args, "from")?, relation });
    }
    Ok(relations)
}

pub(super) fn create_relations(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("create_relations", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["relations", "threadId"])?;
    let mut wanted = relations(&args, &thread, "a relation of create_relations")?;
    let mut skipped = Vec::new();
    if thread.shape == AnswerShape::Thread {
        skipped = without_ends(call, &thread, &mut wanted)?;
    }
    let (mut made, mut rated) = (Vec::new(), 0);
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        (made, rated) = (Vec::new(), 0);
        for ReferenceRelation { from, relation } in &wanted {
            let mut relation = relation.clone();
            relation.time.get_or_insert(graph.now);
            if !graph.open(from)? {
                // The reference server lets relations begin at what has no description yet.
                graph.create(&NewEntity {
                    name: from,
                    entity_type: "Unknown",
                    facts: &[],
                    relations: Vec::new(),
                    weight: ObservationWeight::default(),
                    time: None,
                    kind: EntityKind::Placeholder,
                })?;
            }
            let (to, relation_type) = (relation.target.clone(), relation.relation_type.clone());
            let tie = graph.add_relation(from, relation)?;
            rated += usize::from(tie == RelationOutcome::Rated);
            if tie == RelationOutcome::New {
                let entity = graph.entity(from);
                let rendered = entity.into_iter().flat_map(|entity| {
                    let same = entity.relations.into_iter();
                    same.filter(|r| r.target == to && r.relation_type == relation_type)
                });
                made.extend(rendered.map(|relation| relation.to_json(from, &thread)));
            }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    let mut structured = json!({ "relations": made, "notice": DEPRECATED });
    if rated > 0 {
        structured["relationsUpdated"] = json!(rated);
    }
    if !skipped.is_empty() {
        structured["skipped"] = json!(skipped);
    }
    Ok(listed(&thread, "relations", structured, commit_id(&outcome)))
}

/// In a thread a relation needs both its ends: takes out those that have not, and says why.
fn without_ends(
    call: &CallContext<'_>,
    thread: &GraphThread,
    wanted: &mut Vec<ReferenceRelation>,
) -> Result<Vec<Value>> {
    let mut skipped = Vec::new();
    let mut kept = Vec::with_capacity(wanted.len());
    for ReferenceRelation { from, relation } in wanted.drain(..) {
        let mut missing = Vec::new();
        for name in [&from, &relation.target] {
            match super::load::require_entity(call, thread, name) {
                Ok(_) => {}
                Err(GraphError::Refused(text)) => missing.push(text),
                Err(other) => return Err(other),
            }
        }
        if missing.is_empty() {
            kept.push(ReferenceRelation { from, relation });
            continue;
        }
        skipped.push(json!({
            "from": from, "to": relation.target, "relationType": relation.relation_type,
            "reason": missing.join(" "),
        }));
    }
    *wanted = kept;
    Ok(skipped)
}

pub(super) fn delete_entities(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("delete_entities", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["entityNames", "threadId"])?;
    let names = args.texts("entityNames")?;
    let names = names.ok_or_else(|| args.missing("entityNames", "a list of names"))?;
    let (mut deleted, mut missing, mut cut) = (Vec::new(), Vec::new(), 0);
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        (deleted, missing, cut) = (Vec::new(), Vec::new(), 0);
        for name in &names {
            let removal = graph.remove(&normalize_name(name))?;
            cut += removal.relations;
            if removal.is_entity { deleted.push(name.clone()) } else { missing.push(name.clone()) }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    let about = json!({ "deleted": deleted, "relationsDeleted": cut, "notFound": missing });
    Ok(deletion(&thread, "Entities deleted successfully", about, commit_id(&outcome)))
}

/// The reference's sentence, and in the structure what exactly was done.
fn deletion(
    thread: &GraphThread,
    message: &str,
    about: Value,
    commit: Option<String>,
) -> ToolResult {
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

pub(super) fn delete_observations(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("delete_observations", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["deletions", "threadId"])?;
    let objects = args.objects("deletions")?;
    let objects = objects.ok_or_else(|| args.missing("deletions", "a list of deletions"))?;
    let mut wanted = Vec::with_capacity(objects.len());
    for object in objects {
        let args = fields("a deletion of delete_observations", object)?;
        args.only(&["entityName", "observations"])?;
        let facts = read_observations(&args, "observations", None).all()?;
        wanted.push((name(&args, "entityName")?, facts));
    }
    let (mut deleted, mut missing) = (0, Vec::new());
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        (deleted, missing) = (0, Vec::new());
        for (name, facts) in &wanted {
            if !graph.open(name)? {
                missing.push(name.clone());
                continue;
            }
            for ObservationInput { content: asked, .. } in facts {
                let mut found = false;
                // Lines move when one goes, so each is looked for anew.
                while let Some(fact) = graph.entity(name).and_then(|entity| {
                    let is_meant = |fact: &super::entity::EntityObservation| {
                        fact.id.as_str() == asked || (fact.is_current && fact.content == *asked)
                    };
                    entity.facts.into_iter().find(is_meant)
                }) {
                    let observation = if fact.has_comment {
                        ObservationRef::Id(fact.id)
                    } else {
                        ObservationRef::Line(fact.line)
                    };
                    graph.edit(name, &NoteEdit::RemoveObservation { observation })?;
                    (found, deleted) = (true, deleted + 1);
                }
                if !found {
                    missing.push(format!("{name}: {asked}"));
                }
            }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    let about = json!({ "deleted": deleted, "notFound": missing });
    Ok(deletion(&thread, "Observations deleted successfully", about, commit_id(&outcome)))
}

pub(super) fn delete_relations(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("delete_relations", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["relations", "threadId"])?;
    let wanted = relations(&args, &thread, "a relation of delete_relations")?;
    let (mut deleted, mut missing) = (0, Vec::new());
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        (deleted, missing) = (0, Vec::new());
        for ReferenceRelation { from, relation } in &wanted {
            let is_there = graph.open(from)?;
            if is_there && graph.remove_relation(from, &relation.relation_type, &relation.target)? {
                deleted += 1;
            } else {
                missing.push(format!("{from} {} {}", relation.relation_type, relation.target));
            }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    let about = json!({ "deleted": deleted, "notFound": missing });
    Ok(deletion(&thread, "Relations deleted successfully", about, commit_id(&outcome)))
}
