//! `read_graph`, `open_nodes`, `query_nodes`, `list_entities` and `find_relation_path`.

use std::collections::HashSet;

use memoranda_engine::graph::{
    EntityFilter, EntityName, FoundEntity, GraphAt, GraphEntity, entities_around, entities_named,
    entity_at, entity_names, filter_entities, incoming_relations, normalize_name, read_entity,
    relation_path, resolve_typed_links, thread_files_at, thread_page, thread_size,
};
use serde_json::{Value, json};

use super::error::GraphToolResult;
use super::read_options::{ReadOptions, time, time_until};
use super::render::{
    AnswerLayout, answer, entity_json, incoming_json, relation_json, relations_json,
};
use super::thread::{AnswerShape, CallThread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Maximum number of entities of a neighbourhood.
const MAX_FOUND: usize = 500;
/// Number of notes that are read at once.
const BATCH_SIZE: usize = 500;

/// Loads the differences between the thread at the requested time and now.
pub(super) fn graph_at<'o>(
    call: &CallContext<'_>,
    options: &'o ReadOptions,
) -> GraphToolResult<Option<GraphAt<'o>>> {
    let Some(time) = options.as_of else { return Ok(None) };
    let progress = |done: u64, total: u64| {
        (call.progress)(done, total, "reading the history");
        !call.is_cancelled()
    };
    Ok(Some(GraphAt::load(call.memory, &options.thread, time, &progress)?))
}

pub(super) fn read_graph(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("read_graph", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    args.only(&[&ReadOptions::PARAMETERS[..], &["minImportance"]].concat())?;
    let default = if options.thread.shape == AnswerShape::Thread { 0.1 } else { 0.0 };
    let min_importance = args.float("minImportance", 0.0, 1.0)?.unwrap_or(default);
    read_page(call, &options, min_importance)
}

/// Renders all entities of a thread from a minimum importance on, by the page.
pub(super) fn read_page(
    call: &CallContext<'_>,
    options: &ReadOptions,
    min_importance: f64,
) -> GraphToolResult<ToolResult> {
    let (memory, thread) = (call.memory, &options.thread);
    let mut layout = AnswerLayout::new(options);
    if let Some(time) = options.as_of {
        let files = thread_files_at(memory, thread, time)?;
        for (n, file) in files.iter().enumerate().skip(options.offset) {
            let Some(entity) = entity_at(memory, thread, file, time)? else { continue };
            if !push_entity(&mut layout, options, &entity, min_importance) {
                return Ok(layout.answer(Some(n), Some(files.len())));
            }
        }
        return Ok(layout.answer(None, Some(files.len())));
    }
    let mut n = options.offset;
    loop {
        let files = thread_page(memory, thread, BATCH_SIZE, n)?;
        if files.is_empty() {
            return Ok(layout.answer(None, None));
        }
        for file in &files {
            if let Some(mut entity) = read_entity(memory, file)? {
                resolve_typed_links(memory, thread, &mut entity)?;
                if !push_entity(&mut layout, options, &entity, min_importance) {
                    return Ok(layout.answer(Some(n), Some(thread_size(memory, thread)?)));
                }
            }
            n += 1;
        }
    }
}

/// Adds an entity of sufficient importance. Returns false if it does not fit.
fn push_entity(
    layout: &mut AnswerLayout<'_>,
    options: &ReadOptions,
    entity: &GraphEntity,
    min_importance: f64,
) -> bool {
    if layout.entities.len() >= options.limit {
        return false;
    }
    if entity.importance < min_importance {
        layout.hidden += usize::from(!entity.is_placeholder);
        return true;
    }
    let json =
        (!entity.is_placeholder).then(|| entity_json(entity, &options.thread, options.superseded));
    let important = entity.relations.iter().filter(|relation| {
        relation.importance.is_none_or(|importance| importance >= min_importance)
    });
    let relations =
        important.map(|relation| relation_json(relation, &entity.name, &options.thread)).collect();
    layout.add(json, relations)
}

pub(super) fn open_nodes(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("open_nodes", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    args.only(&[&ReadOptions::PARAMETERS[..], &["names"]].concat())?;
    let names = args.texts("names")?.ok_or_else(|| args.missing("names", "a list of names"))?;
    let at = graph_at(call, &options)?;
    let mut entities: Vec<GraphEntity> = Vec::new();
    for name in &names {
        let name = &normalize_name(name);
        if entities.iter().any(|entity| entity.name == *name) {
            continue;
        }
        // Several notes can have the same title.
        entities.extend(match &at {
            Some(at) => at.named(call.memory, name)?,
            None => entities_named(call.memory, &options.thread, name)?,
        });
    }
    entities.retain(|entity| !entity.is_placeholder);
    let found: HashSet<String> = entities.iter().map(|entity| entity.name.clone()).collect();
    let missing: Vec<String> =
        names.iter().filter(|name| !found.contains(&normalize_name(name))).cloned().collect();
    let entities: Vec<FoundEntity> =
        entities.into_iter().map(|entity| FoundEntity::Read(Box::new(entity))).collect();
    let mut result = render_found(call, &options, &entities, at.as_ref())?;
    if options.thread.shape == AnswerShape::Thread && !missing.is_empty() {
        result.structured["notFound"] = json!(missing);
        result = answer(&options.thread, result.structured);
    }
    Ok(result)
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

pub(super) fn query_nodes(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("query_nodes", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    let own = [
        "timestampStart",
        "timestampEnd",
        "confidenceMin",
        "confidenceMax",
        "importanceMin",
        "importanceMax",
    ];
    args.only(&[ReadOptions::PRESENT, &own].concat())?;
    let times = (time(&args, own[0])?, time_until(&args, own[1])?);
    let share = |name| args.float(name, 0.0, 1.0);
    let confidence = (share(own[2])?.unwrap_or(0.0), share(own[3])?.unwrap_or(1.0));
    let importance = (share(own[4])?.unwrap_or(0.0), share(own[5])?.unwrap_or(1.0));
    let filter = EntityFilter { times, confidence, importance };
    let (memory, thread) = (call.memory, &options.thread);
    let found = filter_entities(memory, thread, &filter)?;
    let total = Some(found.len());
    let mut layout = AnswerLayout::new(&options);
    for (n, id) in found.iter().enumerate().skip(options.offset) {
        let Some(mut entity) = id.read(memory)? else { continue };
        resolve_typed_links(memory, thread, &mut entity)?;
        let relations = relations_json(&entity, thread);
        let json = entity_json(&entity, thread, options.superseded);
        if layout.entities.len() == options.limit || !layout.add(Some(json), relations) {
            return Ok(layout.answer(Some(n), total));
        }
    }
    Ok(layout.answer(None, total))
}

pub(super) fn list_entities(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("list_entities", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "entityType", "namePattern", "offset", "limit"])?;
    let entity_type = args.optional_text("entityType")?;
    let pattern = args.optional_text("namePattern")?.map(|pattern| pattern.to_lowercase());
    let offset = args.number("offset", 0, 10_000_000)?.unwrap_or(0) as usize;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(200) as usize;
    let (entity_type, pattern) = (entity_type.as_deref(), pattern.as_deref());
    let (found, next) = entity_names(call.memory, &thread, entity_type, pattern, (limit, offset))?;
    let entity =
        |entity: &EntityName| json!({ "name": entity.name, "entityType": entity.entity_type });
    let entities: Vec<Value> = found.iter().map(entity).collect();
    let mut structured = json!({ "entities": entities, "thread": thread.id });
    if let Some(next) = next {
        structured["nextOffset"] = json!(next);
    }
    Ok(answer(&thread.with_thread_shape(), structured))
}

pub(super) fn find_path(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("find_relation_path", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "from", "to", "maxDepth"])?;
    let (from, to) = (normalize_name(&args.text("from")?), normalize_name(&args.text("to")?));
    let depth = args.number("maxDepth", 1, 20)?.unwrap_or(5) as usize;
    let path = relation_path(call.memory, &thread, &from, &to, depth)
        .map_err(|error| thread.explain(error))?;
    let thread = thread.with_thread_shape();
    let Some(path) = path else {
        let structured = json!({
            "found": false, "path": [], "relations": [], "thread": thread.id,
            "message": format!("No path of at most {depth} relations leads from '{from}' to '{to}'."),
        });
        return Ok(answer(&thread, structured));
    };
    let mut said = vec![path.names.first().cloned().unwrap_or_default()];
    let mut relations = Vec::with_capacity(path.steps.len());
    for step in &path.steps {
        said.push(format!("—{}→ {}", step.read_as, step.next));
        relations.push(json!({
            "from": step.from, "to": step.to, "relationType": step.relation_type,
            "readAs": step.read_as,
        }));
    }
    let structured = json!({
        "found": true, "path": path.names, "relations": relations, "said": said.join(" "),
        "thread": thread.id,
    });
    Ok(answer(&thread, structured))
}

/// Renders the entities around some with the relations among them, for `get_context` with
/// `entityNames`.
pub(super) fn neighbourhood(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> GraphToolResult<ToolResult> {
    let names = args.texts("entityNames")?.unwrap_or_default();
    let depth = args.number("depth", 1, 5)?.unwrap_or(1) as usize;
    let budget = args.number("budget_tokens", 1, 1_000_000)?.map(|tokens| tokens as usize);
    let own = ["threadId", "offset"].into_iter();
    let own = own.filter_map(|name| Some((name.to_owned(), args.value(name)?.clone())));
    let mut options = ReadOptions::read(&mut ToolArgs::new("get_context", own.collect())?, call)?;
    options.tokens = budget.unwrap_or(usize::MAX).min(options.tokens);
    let names: Vec<String> = names.iter().map(|name| normalize_name(name)).collect();
    let around = entities_around(call.memory, &options.thread, &names, depth, MAX_FOUND);
    let (entities, has_more) = around.map_err(|error| options.thread.explain(error))?;
    options.thread = options.thread.with_thread_shape();
    let mut result = render_found(call, &options, &entities, None)?;
    if has_more {
        result.structured["partial"] = json!(format!(
            "Only the {MAX_FOUND} nearest entities are told of; a smaller depth, or one of them \
             in entityNames, shows others."
        ));
        result = answer(&options.thread, result.structured);
    }
    Ok(result)
}
