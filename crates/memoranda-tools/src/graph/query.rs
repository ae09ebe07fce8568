//! Asking the graph: all of it by the page, by names, by numbers, and by the ways between
//! entities.

use std::collections::HashSet;

use memoranda_core::fact::inverse_relation_type;
use memoranda_core::path::NotePath;
use memoranda_engine::{FileSummary, NamedNote};
use serde_json::{Value, json};

use super::as_of::{self, GraphAt};
use super::entity::{
    CONFIDENCE, GraphEntity, IMPORTANCE, is_placeholder, normalize_name, type_in, type_of,
};
use super::error::Result;
use super::load::{
    AnswerLayout, ReadOptions, answer, entity, is_thread_note, named, require_entity,
    resolve_typed, time, time_until,
};
use super::thread::{AnswerShape, GraphThread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// So many entities are told of a neighbourhood.
const MAX_FOUND: usize = 500;
/// How many notes are read at once on the way through a thread.
const BATCH_SIZE: usize = 500;

pub(super) fn read_graph(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("read_graph", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    args.only(&[&ReadOptions::PARAMETERS[..], &["minImportance"]].concat())?;
    let usual = if options.thread.shape == AnswerShape::Thread { 0.1 } else { 0.0 };
    let least = args.float("minImportance", 0.0, 1.0)?.unwrap_or(usual);
    read_page(call, &options, least)
}

/// All entities of a thread that matter enough, by the page.
pub(super) fn read_page(
    call: &CallContext<'_>,
    options: &ReadOptions,
    least: f64,
) -> Result<ToolResult> {
    let mut layout = AnswerLayout::new(options);
    if let Some(time) = options.as_of {
        let files = as_of::files(call, &options.thread, time)?;
        for (n, file) in files.iter().enumerate().skip(options.offset) {
            let Some(entity) = as_of::read(call, &options.thread, file, time)? else { continue };
            if !push_entity(&mut layout, options, &entity, least) {
                return Ok(layout.answer(Some(n), Some(files.len())));
            }
        }
        return Ok(layout.answer(None, Some(files.len())));
    }
    let folder = options.thread.folder_graph(call.memory);
    let mut n = options.offset;
    loop {
        let files = folder.page(BATCH_SIZE, n)?;
        if files.is_empty() {
            return Ok(layout.answer(None, None));
        }
        for file in &files {
            if let Some(mut entity) = entity(call, file)? {
                resolve_typed(call.memory, &options.thread, &mut entity)?;
                if !push_entity(&mut layout, options, &entity, least) {
                    let total = folder.count()? as usize;
                    return Ok(layout.answer(Some(n), Some(total)));
                }
            }
            n += 1;
        }
    }
}

/// Lays out an entity if it matters enough; `false` if there is no room.
fn push_entity(
    layout: &mut AnswerLayout<'_>,
    options: &ReadOptions,
    entity: &GraphEntity,
    least: f64,
) -> bool {
    if layout.entities.len() >= options.limit {
        return false;
    }
    if entity.importance < least {
        layout.hidden += usize::from(!entity.is_placeholder);
        return true;
    }
    let rendered =
        (!entity.is_placeholder).then(|| entity.to_json(&options.thread, options.superseded));
    let weighty = entity
        .relations
        .iter()
        .filter(|relation| relation.importance.is_none_or(|importance| importance >= least));
    let relations =
        weighty.map(|relation| relation.to_json(&entity.name, &options.thread)).collect();
    layout.add(rendered, relations)
}

pub(super) fn open_nodes(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("open_nodes", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    args.only(&[&ReadOptions::PARAMETERS[..], &["names"]].concat())?;
    let names = args.texts("names")?.ok_or_else(|| args.missing("names", "a list of names"))?;
    let then = options.as_of.map(|time| GraphAt::new(call, &options.thread, time)).transpose()?;
    let mut entities: Vec<GraphEntity> = Vec::new();
    for name in &names {
        let name = &normalize_name(name);
        if entities.iter().any(|entity| entity.name == *name) {
            continue;
        }
        // People can give one title to several notes.
        entities.extend(match &then {
            Some(then) => then.named(call, name)?,
            None => named(call, &options.thread, name)?,
        });
    }
    entities.retain(|entity| !entity.is_placeholder);
    let found: HashSet<String> = entities.iter().map(|entity| entity.name.clone()).collect();
    let missing: Vec<String> =
        names.iter().filter(|name| !found.contains(&normalize_name(name))).cloned().collect();
    let entities: Vec<FoundEntity> =
        entities.into_iter().map(|entity| FoundEntity::Read(Box::new(entity))).collect();
    let mut result = render_found(call, &options, &entities, then.as_ref())?;
    if options.thread.shape == AnswerShape::Thread && !missing.is_empty() {
        result.structured["notFound"] = json!(missing);
        result = answer(&options.thread, result.structured);
    }
    Ok(result)
}

/// What was found: an entity, or a note that is read if there is room for it.
pub(super) enum FoundEntity {
    Read(Box<GraphEntity>),
    Listed(Box<FileSummary>),
}

impl FoundEntity {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Read(entity) => &entity.name,
            Self::Listed(file) => &file.title,
        }
    }

    pub(super) fn path(&self) -> &NotePath {
        match self {
            Self::Read(entity) => &entity.path,
            Self::Listed(file) => &file.path,
        }
    }

    pub(super) fn entity_type(&self) -> String {
        match self {
            Self::Read(entity) => entity.entity_type.clone(),
            Self::Listed(file) => type_of(file),
        }
    }

    fn read(&self, call: &CallContext<'_>) -> Result<Option<GraphEntity>> {
        match self {
            Self::Read(entity) => Ok(Some(GraphEntity::clone(entity))),
            Self::Listed(file) => entity(call, file),
        }
    }
}

/// Entities with every relation that has an end among them.
pub(super) fn render_found(
    call: &CallContext<'_>,
    options: &ReadOptions,
    found: &[FoundEntity],
    then: Option<&GraphAt<'_>>,
) -> Result<ToolResult> {
    let names: HashSet<String> = found.iter().map(|one| one.name().to_owned()).collect();
    let mut layout = AnswerLayout::new(options);
    let total = found.len();
    for (n, one) in found.iter().enumerate().skip(options.offset) {
        let read = one.read(call)?;
        let Some(mut entity) = read else { continue };
        if options.as_of.is_none() {
            resolve_typed(call.memory, &options.thread, &mut entity)?;
        }
        let own = entity.relations.iter();
        let mut relations: Vec<Value> =
            own.map(|relation| relation.to_json(&entity.name, &options.thread)).collect();
        relations.extend(match then {
            Some(then) => then.incoming(call, &entity, &names)?,
            None => incoming(call, &options.thread, &entity, &names)?,
        });
        let rendered = entity.to_json(&options.thread, options.superseded);
        if layout.entities.len() == options.limit || !layout.add(Some(rendered), relations) {
            return Ok(layout.answer(Some(n), Some(total)));
        }
    }
    Ok(layout.answer(None, Some(total)))
}

/// The relations to an entity from others than these.
fn incoming(
    call: &CallContext<'_>,
    thread: &GraphThread,
    entity: &GraphEntity,
    without: &HashSet<String>,
) -> Result<Vec<Value>> {
    let store = call.memory.store();
    let Some(file) = store.file(&thread.project, &entity.path)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for row in store.relations_to(file.id)?.into_iter().filter(|row| row.is_stated) {
        let Some(from) = store.file_by_id(row.file)? else { continue };
        let here = from.project == thread.project && is_thread_note(thread, &from.path);
        if here && !without.contains(&from.title) {
            found.push(as_of::incoming_relation(
                thread,
                &from.title,
                &entity.name,
                &row.relation_type,
            ));
        }
    }
    Ok(found)
}

pub(super) fn query_nodes(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
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
    let within = |value: f64, (least, most): (f64, f64)| (least..=most).contains(&value);
    let folder = options.thread.folder_graph(call.memory);
    let mut nodes = folder.nodes()?;
    let changed = match times {
        (None, None) => None,
        (start, end) => Some(folder.changed_between(start, end)?),
    };
    nodes.retain(|node| {
        !node.is_placeholder
            && changed.as_ref().is_none_or(|changed| changed.contains(&node.file))
            && within(node.confidence.unwrap_or(CONFIDENCE), confidence)
            && within(node.importance.unwrap_or(IMPORTANCE), importance)
    });
    let total = Some(nodes.len());
    let mut layout = AnswerLayout::new(&options);
    for (n, node) in nodes.iter().enumerate().skip(options.offset) {
        let Some(file) = call.memory.store().file_by_id(node.file)? else { continue };
        let Some(mut entity) = entity(call, &file)? else { continue };
        resolve_typed(call.memory, &options.thread, &mut entity)?;
        let own = entity.relations.iter();
        let relations =
            own.map(|relation| relation.to_json(&entity.name, &options.thread)).collect();
        let rendered = entity.to_json(&options.thread, options.superseded);
        if layout.entities.len() == options.limit || !layout.add(Some(rendered), relations) {
            return Ok(layout.answer(Some(n), total));
        }
    }
    Ok(layout.answer(None, total))
}

pub(super) fn list_entities(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("list_entities", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "entityType", "namePattern", "offset", "limit"])?;
    let wanted_type = args.optional_text("entityType")?;
    let pattern = args.optional_text("namePattern")?.map(|pattern| pattern.to_lowercase());
    let offset = args.number("offset", 0, 10_000_000)?.unwrap_or(0) as usize;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(200) as usize;
    let keep = |note: &NamedNote| {
        pattern.as_ref().is_none_or(|part| note.title.to_lowercase().contains(part))
            && !is_placeholder(&note.metadata)
            && wanted_type.as_ref().is_none_or(|wanted| *wanted == type_in(&note.metadata))
    };
    let (found, next) = thread.folder_graph(call.memory).entries(limit, offset, keep)?;
    let entity =
        |note: &NamedNote| json!({ "name": note.title, "entityType": type_in(&note.metadata) });
    let entities: Vec<Value> = found.iter().map(entity).collect();
    let mut structured = json!({ "entities": entities, "thread": thread.id });
    if let Some(next) = next {
        structured["nextOffset"] = json!(next);
    }
    Ok(answer(&GraphThread { shape: AnswerShape::Thread, ..thread }, structured))
}

pub(super) fn find_path(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("find_relation_path", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "from", "to", "maxDepth"])?;
    let (from, to) = (normalize_name(&args.text("from")?), normalize_name(&args.text("to")?));
    let depth = args.number("maxDepth", 1, 20)?.unwrap_or(5) as usize;
    let folder = thread.folder_graph(call.memory);
    let mut ends = [0; 2];
    for (end, name) in ends.iter_mut().zip([&from, &to]) {
        match folder.titled(name)?.first() {
            Some(found) => *end = found.id,
            None => return Err(super::load::unknown(call, &thread, name)?),
        }
    }
    let thread_shape = GraphThread { shape: AnswerShape::Thread, ..thread.clone() };
    let Some(route) = folder.path(ends[0], ends[1], depth)? else {
        let structured = json!({
            "found": false, "path": [], "relations": [], "thread": thread.id,
            "message": format!("No path of at most {depth} relations leads from '{from}' to '{to}'."),
        });
        return Ok(answer(&thread_shape, structured));
    };
    let mut titles = Vec::with_capacity(route.notes.len());
    for id in &route.notes {
        titles
            .push(call.memory.store().file_by_id(*id)?.map(|file| file.title).unwrap_or_default());
    }
    let title = |id: i64| {
        let at = route.notes.iter().position(|note| *note == id);
        at.and_then(|at| titles.get(at)).cloned().unwrap_or_default()
    };
    let mut said = vec![titles.first().cloned().unwrap_or_default()];
    let mut relations = Vec::with_capacity(route.edges.len());
    for (edge, pair) in route.edges.iter().zip(route.notes.windows(2)) {
        let is_forward = pair.first() == Some(&edge.from);
        let label =
            if is_forward { edge.label.clone() } else { inverse_relation_type(&edge.label) };
        said.push(format!("—{label}→ {}", title(pair[1])));
        relations.push(json!({
            "from": title(edge.from), "to": title(edge.to), "relationType": edge.label,
            "readAs": label,
        }));
    }
    let structured = json!({
        "found": true, "path": titles, "relations": relations, "said": said.join(" "),
        "thread": thread.id,
    });
    Ok(answer(&thread_shape, structured))
}

/// The entities around some, the nearest first, with the relations among all of them: what
/// `get_context` gives for `entityNames`.
pub(super) fn neighbourhood(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let names = args.texts("entityNames")?.unwrap_or_default();
    let depth = args.number("depth", 1, 5)?.unwrap_or(1) as usize;
    let budget = args.number("budget_tokens", 1, 1_000_000)?.map(|tokens| tokens as usize);
    let own = ["threadId", "offset"].into_iter();
    let own = own.filter_map(|name| Some((name.to_owned(), args.value(name)?.clone())));
    let mut options = ReadOptions::read(&mut ToolArgs::new("get_context", own.collect())?, call)?;
    options.tokens = budget.unwrap_or(usize::MAX).min(options.tokens);
    let folder = options.thread.folder_graph(call.memory);
    let mut start = Vec::with_capacity(names.len());
    for name in &names {
        let name = normalize_name(name);
        require_entity(call, &options.thread, &name)?;
        let id = folder.titled(&name)?.first().map(|found| found.id);
        start.extend(id.filter(|id| !start.contains(id)));
    }
    options.thread.shape = AnswerShape::Thread;
    let near = folder.around(&start, depth, MAX_FOUND)?;
    let ids = start.into_iter().chain(near.found.iter().map(|neighbour| neighbour.id));
    let files = call.memory.store().files_by_id(&ids.collect::<Vec<_>>())?;
    let files = files.into_iter().filter(|file| !is_placeholder(&file.metadata));
    let entities: Vec<FoundEntity> =
        files.map(|file| FoundEntity::Listed(Box::new(file))).collect();
    let mut result = render_found(call, &options, &entities, None)?;
    if near.truncated {
        result.structured["partial"] = json!(format!(
            "Only the {MAX_FOUND} nearest entities are told of; a smaller depth, or one of them \
             in entityNames, shows others."
        ));
        result = answer(&options.thread, result.structured);
    }
    Ok(result)
}
