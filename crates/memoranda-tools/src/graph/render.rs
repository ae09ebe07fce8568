//! JSON and text of entities, observations and relations in answers.

use std::collections::HashSet;

use memoranda_core::change::Commit;
use memoranda_core::fact::inverse_relation_type;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::graph::{
    DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, DEFAULT_RELATION_IMPORTANCE, EntityActivity,
    EntityObservation, EntityRelation, FoundEntity, GraphAt, GraphEntity, IncomingRelation,
    incoming_relations, resolve_typed_links,
};
use serde_json::{Map, Value, json};

use super::error::GraphToolResult;
use super::read_options::ReadOptions;
use super::thread::{AnswerShape, CallThread};
use crate::registry::{CallContext, ToolResult};

/// Notice of the deprecated tools.
pub(super) const DEPRECATED: &str = "Deprecated: save_memory saves entities and relations in one \
     atomic call and checks their quality.";
/// Importance below which an entity is shown as archived.
const ARCHIVED_BELOW: f64 = 0.1;

/// Display of superseded observations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SupersededDisplay {
    Show,
    Hide,
}

/// Renders an entity in the shape of the thread.
pub(super) fn entity_json(
    entity: &GraphEntity,
    thread: &CallThread,
    superseded: SupersededDisplay,
) -> Value {
    let facts = entity.facts.iter();
    let shown = facts.filter(|fact| fact.is_current || superseded == SupersededDisplay::Show);
    match thread.shape {
        AnswerShape::Reference => json!({
            "name": entity.name,
            "entityType": entity.entity_type,
            "observations": shown.map(|fact| fact.content.as_str()).collect::<Vec<_>>(),
        }),
        AnswerShape::Thread => {
            let observations: Vec<Value> =
                shown.map(|fact| observation_json(fact, thread)).collect();
            let mut json = json!({
                "name": entity.name,
                "entityType": entity.entity_type,
                "observations": observations,
                "agentThreadId": thread.id,
                "confidence": entity.confidence,
                "importance": entity.importance,
            });
            if let Some((created, updated)) = entity.times {
                json["timestamp"] = json!(created.to_string());
                json["lastModified"] = json!(updated.to_string());
            }
            if entity.importance < ARCHIVED_BELOW {
                json["status"] = json!("ARCHIVED");
            }
            json
        }
    }
}

/// Renders an observation with its metadata.
pub(super) fn observation_json(fact: &EntityObservation, thread: &CallThread) -> Value {
    let mut json = Map::new();
    json.insert("id".into(), json!(fact.id.as_str()));
    json.insert("content".into(), json!(fact.content));
    json.insert("version".into(), json!(fact.version));
    json.insert("timestamp".into(), json!(fact.time.map(|time| time.to_string())));
    json.insert("agentThreadId".into(), json!(thread.id));
    json.insert("confidence".into(), json!(fact.confidence.unwrap_or(DEFAULT_CONFIDENCE)));
    json.insert("importance".into(), json!(fact.importance.unwrap_or(DEFAULT_IMPORTANCE)));
    if let Some(id) = &fact.supersedes {
        json.insert("supersedes".into(), json!(id.as_str()));
    }
    if let Some(id) = &fact.superseded_by {
        json.insert("superseded_by".into(), json!(id.as_str()));
    }
    if !fact.is_current {
        json.insert("current".into(), json!(false));
    }
    json.retain(|_, value| !value.is_null());
    Value::Object(json)
}

/// Renders a relation of an entity in the shape of the thread.
pub(super) fn relation_json(relation: &EntityRelation, from: &str, thread: &CallThread) -> Value {
    let mut json =
        json!({ "from": from, "to": relation.target, "relationType": relation.relation_type });
    if thread.shape == AnswerShape::Thread {
        json["agentThreadId"] = json!(thread.id);
        json["confidence"] = json!(relation.confidence.unwrap_or(DEFAULT_CONFIDENCE));
        json["importance"] = json!(relation.importance.unwrap_or(DEFAULT_RELATION_IMPORTANCE));
        if let Some(time) = relation.time {
            json["timestamp"] = json!(time.to_string());
        }
    }
    json
}

/// Renders all relations of an entity.
pub(super) fn relations_json(entity: &GraphEntity, thread: &CallThread) -> Vec<Value> {
    let relations = entity.relations.iter();
    relations.map(|relation| relation_json(relation, &entity.name, thread)).collect()
}

/// Renders a relation that another entity states, with its inverse.
pub(super) fn incoming_json(relation: &IncomingRelation, to: &str, thread: &CallThread) -> Value {
    let IncomingRelation { from, relation_type } = relation;
    let mut json = json!({ "from": from, "to": to, "relationType": relation_type });
    if thread.shape == AnswerShape::Thread {
        json["inverse"] = json!(inverse_relation_type(relation_type));
    }
    json
}

/// Collects entities and relations within the token budget.
pub(super) struct AnswerLayout<'w> {
    options: &'w ReadOptions,
    pub(super) entities: Vec<Value>,
    pub(super) relations: Vec<Value>,
    tokens: usize,
    /// Number of relations that did not fit.
    omitted: usize,
    /// Number of entities below the minimum importance.
    pub(super) hidden: usize,
    /// True if an entity did not fit.
    is_full: bool,
}

impl<'w> AnswerLayout<'w> {
    pub(super) fn new(options: &'w ReadOptions) -> Self {
        let (entities, relations) = (Vec::new(), Vec::new());
        Self { options, entities, relations, tokens: 0, omitted: 0, hidden: 0, is_full: false }
    }

    /// Adds an entity with its relations. Returns false if they do not fit.
    pub(super) fn add(&mut self, entity: Option<Value>, mut relations: Vec<Value>) -> bool {
        let mut cost: usize = entity.iter().chain(&relations).map(|v| self.cost(v)).sum();
        cost = cost.max(1);
        let is_empty = self.entities.is_empty() && self.relations.is_empty();
        if self.tokens + cost > self.options.tokens {
            if !is_empty {
                self.is_full = true;
                return false;
            }
            // The first entity is always added, but only with the relations that fit.
            cost = entity.iter().map(|v| self.cost(v)).sum();
            let all = relations.len();
            relations.retain(|relation| {
                cost += self.cost(relation);
                cost <= self.options.tokens
            });
            self.omitted += all - relations.len();
        }
        self.tokens += cost;
        self.entities.extend(entity);
        self.relations.extend(relations);
        true
    }

    fn cost(&self, value: &Value) -> usize {
        match self.options.thread.shape {
            AnswerShape::Reference => {
                // In the whole answer each line is indented by four more characters.
                let text = serde_json::to_string_pretty(value).unwrap_or_default();
                estimate_tokens(&text) + text.lines().count()
            }
            AnswerShape::Thread => estimate_tokens(&value.to_string()) + 1,
        }
    }

    /// Renders the answer. `next` is the offset of the next page.
    pub(super) fn answer(self, next: Option<usize>, total: Option<usize>) -> ToolResult {
        let mut structured = json!({ "entities": self.entities, "relations": self.relations });
        let thread = &self.options.thread;
        if thread.shape == AnswerShape::Thread {
            structured["thread"] = json!(thread.id);
            structured["project"] = json!(thread.project.as_str());
        }
        if let Some(next) = next {
            structured["nextOffset"] = json!(next);
            let why = if self.is_full {
                format!("to stay within {} tokens", self.options.tokens)
            } else {
                format!("by limit {}", self.options.limit)
            };
            structured["truncated"] =
                json!(format!("More was left out {why}; call again with offset {next}."));
        }
        if self.omitted > 0 {
            let omitted = format!(
                "{} relations were left out to stay within {} tokens; raise maxTokens, or ask \
                 find_relation_path about a pair.",
                self.omitted, self.options.tokens
            );
            structured["relationsOmitted"] = json!(omitted);
        }
        if self.hidden > 0 {
            let s = if self.hidden == 1 { "y" } else { "ies" };
            structured["hidden"] = json!(format!(
                "Left out here: {} entit{s} of less importance than minImportance, archived ones \
                 among them. minImportance 0 shows all.",
                self.hidden
            ));
        }
        if let Some(total) = total.filter(|_| thread.shape == AnswerShape::Thread || next.is_some())
        {
            structured["total"] = json!(total);
        }
        answer(thread, structured)
    }
}

/// Renders a structure as the reference server does, or with one line per item.
pub(super) fn answer(thread: &CallThread, structured: Value) -> ToolResult {
    let text = match thread.shape {
        AnswerShape::Reference => serde_json::to_string_pretty(&structured).unwrap_or_default(),
        AnswerShape::Thread => lines(&structured),
    };
    ToolResult::ok(text, structured)
}

/// Renders JSON with one line for each item of a list.
pub(super) fn lines(value: &Value) -> String {
    let Value::Object(object) = value else { return value.to_string() };
    let parts: Vec<String> = object.iter().map(|(key, value)| line(key, value)).collect();
    format!("{{\n{}\n}}", parts.join(",\n"))
}

fn line(key: &str, value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 1 || items.iter().any(Value::is_object) => {
            let items: Vec<String> = items.iter().map(|item| format!("  {item}")).collect();
            format!("{}: [\n{}\n]", json!(key), items.join(",\n"))
        }
        other => format!("{}: {other}", json!(key)),
    }
}

/// Adds thread and commit to an answer.
pub(super) fn with_commit(
    thread: &CallThread,
    mut structured: Value,
    commit: Option<&Commit>,
) -> ToolResult {
    if thread.shape == AnswerShape::Thread {
        structured["thread"] = json!(thread.id);
        structured["project"] = json!(thread.project.as_str());
    }
    if let Some(commit) = commit {
        structured["commit"] = json!(commit.id.to_string());
    }
    answer(thread, structured)
}

/// Adds thread and commit to an answer. The text for callers of the reference server is one list of
/// the structure, as that server prints it.
pub(super) fn list_with_commit(
    thread: &CallThread,
    key: &str,
    structured: Value,
    commit: Option<&Commit>,
) -> ToolResult {
    let mut result = with_commit(thread, structured, commit);
    if thread.shape == AnswerShape::Reference {
        let list = &result.structured[key];
        result.text = serde_json::to_string_pretty(list).unwrap_or_default();
    }
    result
}

/// Returns the plural suffix of a count.
pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Renders entities with every relation that begins or ends at one of them.
pub(super) fn render_found(
    call: &CallContext<'_>,
    options: &ReadOptions,
    found: &[FoundEntity],
    at: Option<&GraphAt<'_>>,
) -> GraphToolResult<ToolResult> {
    let (memory, thread) = (call.memory, &options.thread);
    let names: HashSet<String> = found.iter().map(|one| one.name().to_owned()).collect();
    let mut layout = AnswerLayout::new(options);
    let total = found.len();
    for (n, one) in found.iter().enumerate().skip(options.offset) {
        let Some(mut entity) = one.read(memory)? else { continue };
        if options.as_of.is_none() {
            resolve_typed_links(memory, thread, &mut entity)?;
        }
        let incoming = match at {
            Some(at) => at.incoming(memory, &entity, &names)?,
            None => incoming_relations(memory, thread, &entity, &names)?,
        };
        let mut relations = relations_json(&entity, thread);
        relations.extend(incoming.iter().map(|one| incoming_json(one, &entity.name, thread)));
        let json = entity_json(&entity, thread, options.superseded);
        if layout.entities.len() == options.limit || !layout.add(Some(json), relations) {
            return Ok(layout.answer(Some(n), Some(total)));
        }
    }
    Ok(layout.answer(None, Some(total)))
}

/// Returns the kind of the last change of an entity.
pub(super) fn change_type(
    call: &CallContext<'_>,
    activity: &EntityActivity,
) -> GraphToolResult<&'static str> {
    Ok(if activity.is_new(call.memory)? { "created" } else { "updated" })
}

/// Renders the sentence of the reference server, with the details in the structure.
pub(super) fn deletion_result(
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
