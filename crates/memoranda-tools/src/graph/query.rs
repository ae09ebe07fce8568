//! Asking the graph: all of it by the page, by names, by numbers, and by the ways between
//! entities.

use std::collections::HashSet;

use memoranda_core::fact::inverse_of;
use memoranda_core::path::NotePath;
use memoranda_engine::{FileSummary, NamedNote};
use serde_json::{Value, json};

use super::entity::{CONFIDENCE, Entity, IMPORTANCE, is_placeholder, said_name, type_in, type_of};
use super::error::Result;
use super::load::{
    Layout, Wish, answer, entity, is_own, named, needed, resolve_typed, time, time_until,
};
use super::past::{self, Then};
use super::thread::{Shape, Thread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// So many entities are told of a neighbourhood.
const MOST_FOUND: usize = 500;
/// How many notes are read at once on the way through a thread.
const AT_ONCE: usize = 500;

pub(super) fn read_graph(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("read_graph", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    args.only(&[&Wish::PARAMETERS[..], &["minImportance"]].concat())?;
    let usual = if wish.thread.shape == Shape::Thread { 0.1 } else { 0.0 };
    let least = args.float("minImportance", 0.0, 1.0)?.unwrap_or(usual);
    everything(call, &wish, least)
}

/// All entities of a thread that matter enough, by the page.
pub(super) fn everything(call: &CallContext<'_>, wish: &Wish, least: f64) -> Result<ToolResult> {
    let mut layout = Layout::new(wish);
    if let Some(time) = wish.as_of {
        let files = past::files(call, &wish.thread, time)?;
        for (n, file) in files.iter().enumerate().skip(wish.offset) {
            let Some(entity) = past::read(call, &wish.thread, file, time)? else { continue };
            if !lay(&mut layout, wish, &entity, least) {
                return Ok(layout.answer(Some(n), Some(files.len())));
            }
        }
        return Ok(layout.answer(None, Some(files.len())));
    }
    let folder = wish.thread.within(call.memory);
    let mut n = wish.offset;
    loop {
        let files = folder.page(AT_ONCE, n)?;
        if files.is_empty() {
            return Ok(layout.answer(None, None));
        }
        for file in &files {
            if let Some(mut entity) = entity(call, file)? {
                resolve_typed(call.memory, &wish.thread, &mut entity)?;
                if !lay(&mut layout, wish, &entity, least) {
                    let total = folder.count()? as usize;
                    return Ok(layout.answer(Some(n), Some(total)));
                }
            }
            n += 1;
        }
    }
}

/// Lays out an entity if it matters enough; `false` if there is no room.
fn lay(layout: &mut Layout<'_>, wish: &Wish, entity: &Entity, least: f64) -> bool {
    if layout.entities.len() >= wish.limit {
        return false;
    }
    if entity.importance < least {
        layout.hidden += usize::from(!entity.is_placeholder);
        return true;
    }
    let told = (!entity.is_placeholder).then(|| entity.told(&wish.thread, wish.superseded));
    let weighty = entity
        .relations
        .iter()
        .filter(|relation| relation.importance.is_none_or(|importance| importance >= least));
    let relations = weighty.map(|relation| relation.told(&entity.name, &wish.thread)).collect();
    layout.add(told, relations)
}

pub(super) fn open_nodes(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("open_nodes", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    args.only(&[&Wish::PARAMETERS[..], &["names"]].concat())?;
    let names = args.texts("names")?.ok_or_else(|| args.missing("names", "a list of names"))?;
    let then = wish.as_of.map(|time| Then::new(call, &wish.thread, time)).transpose()?;
    let mut entities: Vec<Entity> = Vec::new();
    for name in &names {
        let name = &said_name(name);
        if entities.iter().any(|entity| entity.name == *name) {
            continue;
        }
        // People can give one title to several notes.
        entities.extend(match &then {
            Some(then) => then.named(call, name)?,
            None => named(call, &wish.thread, name)?,
        });
    }
    entities.retain(|entity| !entity.is_placeholder);
    let found: HashSet<String> = entities.iter().map(|entity| entity.name.clone()).collect();
    let missing: Vec<String> =
        names.iter().filter(|name| !found.contains(&said_name(name))).cloned().collect();
    let entities: Vec<Found> =
        entities.into_iter().map(|entity| Found::Read(Box::new(entity))).collect();
    let mut result = told(call, &wish, &entities, then.as_ref())?;
    if wish.thread.shape == Shape::Thread && !missing.is_empty() {
        result.structured["notFound"] = json!(missing);
        result = answer(&wish.thread, result.structured);
    }
    Ok(result)
}

/// What was found: an entity, or a note that is read if there is room for it.
pub(super) enum Found {
    Read(Box<Entity>),
    Listed(Box<FileSummary>),
}

impl Found {
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

    fn read(&self, call: &CallContext<'_>) -> Result<Option<Entity>> {
        match self {
            Self::Read(entity) => Ok(Some(Entity::clone(entity))),
            Self::Listed(file) => entity(call, file),
        }
    }
}

/// Entities with every relation that has an end among them.
pub(super) fn told(
    call: &CallContext<'_>,
    wish: &Wish,
    found: &[Found],
    then: Option<&Then<'_>>,
) -> Result<ToolResult> {
    let names: HashSet<String> = found.iter().map(|one| one.name().to_owned()).collect();
    let mut layout = Layout::new(wish);
    let total = found.len();
    for (n, one) in found.iter().enumerate().skip(wish.offset) {
        let read = one.read(call)?;
        let Some(mut entity) = read else { continue };
        if wish.as_of.is_none() {
            resolve_typed(call.memory, &wish.thread, &mut entity)?;
        }
        let own = entity.relations.iter();
        let mut relations: Vec<Value> =
            own.map(|relation| relation.told(&entity.name, &wish.thread)).collect();
        relations.extend(match then {
            Some(then) => then.incoming(call, &entity, &names)?,
            None => incoming(call, &wish.thread, &entity, &names)?,
        });
        let told = entity.told(&wish.thread, wish.superseded);
        if layout.entities.len() == wish.limit || !layout.add(Some(told), relations) {
            return Ok(layout.answer(Some(n), Some(total)));
        }
    }
    Ok(layout.answer(None, Some(total)))
}

/// The relations to an entity from others than these.
fn incoming(
    call: &CallContext<'_>,
    thread: &Thread,
    entity: &Entity,
    without: &HashSet<String>,
) -> Result<Vec<Value>> {
    let store = call.memory.store();
    let Some(file) = store.file(&thread.project, &entity.path)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for row in store.relations_to(file.id)?.into_iter().filter(|row| row.is_stated) {
        let Some(from) = store.file_by_id(row.file)? else { continue };
        let here = from.project == thread.project && is_own(thread, &from.path);
        if here && !without.contains(&from.title) {
            found.push(past::led(thread, &from.title, &entity.name, &row.relation_type));
        }
    }
    Ok(found)
}

pub(super) fn query_nodes(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("query_nodes", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    let own = [
        "timestampStart",
        "timestampEnd",
        "confidenceMin",
        "confidenceMax",
        "importanceMin",
        "importanceMax",
    ];
    args.only(&[Wish::PRESENT, &own].concat())?;
    let times = (time(&args, own[0])?, time_until(&args, own[1])?);
    let share = |name| args.float(name, 0.0, 1.0);
    let confidence = (share(own[2])?.unwrap_or(0.0), share(own[3])?.unwrap_or(1.0));
    let importance = (share(own[4])?.unwrap_or(0.0), share(own[5])?.unwrap_or(1.0));
    let within = |value: f64, (least, most): (f64, f64)| (least..=most).contains(&value);
    let folder = wish.thread.within(call.memory);
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
    let mut layout = Layout::new(&wish);
    for (n, node) in nodes.iter().enumerate().skip(wish.offset) {
        let Some(file) = call.memory.store().file_by_id(node.file)? else { continue };
        let Some(mut entity) = entity(call, &file)? else { continue };
        resolve_typed(call.memory, &wish.thread, &mut entity)?;
        let own = entity.relations.iter();
        let relations = own.map(|relation| relation.told(&entity.name, &wish.thread)).collect();
        let told = entity.told(&wish.thread, wish.superseded);
        if layout.entities.len() == wish.limit || !layout.add(Some(told), relations) {
            return Ok(layout.answer(Some(n), total));
        }
    }
    Ok(layout.answer(None, total))
}

pub(super) fn list_entities(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("list_entities", arguments)?;
    let thread = Thread::optional(&mut args, call.settings)?;
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
    let (found, next) = thread.within(call.memory).entries(limit, offset, keep)?;
    let entity =
        |note: &NamedNote| json!({ "name": note.title, "entityType": type_in(&note.metadata) });
    let entities: Vec<Value> = found.iter().map(entity).collect();
    let mut structured = json!({ "entities": entities, "thread": thread.id });
    if let Some(next) = next {
        structured["nextOffset"] = json!(next);
    }
    Ok(answer(&Thread { shape: Shape::Thread, ..thread }, structured))
}

pub(super) fn find_path(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("find_relation_path", arguments)?;
    let thread = Thread::optional(&mut args, call.settings)?;
    args.only(&["threadId", "from", "to", "maxDepth"])?;
    let (from, to) = (said_name(&args.text("from")?), said_name(&args.text("to")?));
    let depth = args.number("maxDepth", 1, 20)?.unwrap_or(5) as usize;
    let folder = thread.within(call.memory);
    let mut ends = [0; 2];
    for (end, name) in ends.iter_mut().zip([&from, &to]) {
        match folder.titled(name)?.first() {
            Some(found) => *end = found.id,
            None => return Err(super::load::unknown(call, &thread, name)?),
        }
    }
    let thread_shape = Thread { shape: Shape::Thread, ..thread.clone() };
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
        let label = if is_forward { edge.label.clone() } else { inverse_of(&edge.label) };
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
    let mut wish = Wish::read(&mut ToolArgs::new("get_context", own.collect())?, call)?;
    wish.tokens = budget.unwrap_or(usize::MAX).min(wish.tokens);
    let folder = wish.thread.within(call.memory);
    let mut start = Vec::with_capacity(names.len());
    for name in &names {
        let name = said_name(name);
        needed(call, &wish.thread, &name)?;
        let id = folder.titled(&name)?.first().map(|found| found.id);
        start.extend(id.filter(|id| !start.contains(id)));
    }
    wish.thread.shape = Shape::Thread;
    let near = folder.around(&start, depth, MOST_FOUND)?;
    let ids = start.into_iter().chain(near.found.iter().map(|neighbour| neighbour.id));
    let files = call.memory.store().files_by_id(&ids.collect::<Vec<_>>())?;
    let files = files.into_iter().filter(|file| !is_placeholder(&file.metadata));
    let entities: Vec<Found> = files.map(|file| Found::Listed(Box::new(file))).collect();
    let mut result = told(call, &wish, &entities, None)?;
    if near.truncated {
        result.structured["partial"] = json!(format!(
            "Only the {MOST_FOUND} nearest entities are told of; a smaller depth, or one of them \
             in entityNames, shows others."
        ));
        result = answer(&wish.thread, result.structured);
    }
    Ok(result)
}
