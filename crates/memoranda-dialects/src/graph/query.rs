//! Asking the graph: all of it by the page, by names, by words, by numbers, and by the ways
//! between entities.

use std::collections::HashSet;

use memoranda_core::fact::inverse_of;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_core::rank::RankOptions;
use memoranda_core::words::{fold, words};
use memoranda_engine::{Browse, EngineError, ListOrder, Past, SearchFilter, SearchRequest};
use serde_json::{Value, json};

use super::entity::{CONFIDENCE, Entity, IMPORTANCE, Superseded};
use super::error::Result;
use super::load::{
    Layout, Wish, answer, as_of, entity, is_own, listed, named, needed, resolve_typed, time,
};
use super::thread::{Shape, Thread};
use crate::args::Args;
use crate::tool::{Call, ToolResult};

/// So many entities are found at the most; and by the words of their names in large threads.
const MOST_FOUND: usize = 500;
const MOST_NAMED: usize = 50;
/// How many notes are read at once on the way through a thread.
const AT_ONCE: usize = 500;

pub(super) fn read_graph(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("read_graph", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    args.only(&[&Wish::PARAMETERS[..], &["minImportance"]].concat())?;
    let usual = if wish.thread.shape == Shape::Thread { 0.1 } else { 0.0 };
    let least = args.float("minImportance", 0.0, 1.0)?.unwrap_or(usual);
    let mut layout = Layout::new(&wish);
    if let Some(time) = wish.as_of {
        let entities = as_of(call, &wish.thread, time)?;
        let total = entities.len();
        for (n, entity) in entities.iter().enumerate().skip(wish.offset) {
            if !lay(&mut layout, &wish, entity, least) {
                return Ok(layout.answer(Some(n), Some(total)));
            }
        }
        return Ok(layout.answer(None, Some(total)));
    }
    let mut n = wish.offset;
    loop {
        let files = listed(call, &wish.thread, AT_ONCE, n)?;
        if files.is_empty() {
            return Ok(layout.answer(None, None));
        }
        for file in &files {
            if let Some(mut entity) = entity(call, file)? {
                resolve_typed(call, &wish.thread, &mut entity)?;
                if !lay(&mut layout, &wish, &entity, least) {
                    let total = wish.thread.within(call.memory).count()? as usize;
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

pub(super) fn open_nodes(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("open_nodes", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    args.only(&[&Wish::PARAMETERS[..], &["names"]].concat())?;
    let names = args.texts("names")?.ok_or_else(|| args.missing("names", "a list of names"))?;
    let mut entities: Vec<Entity> = Vec::new();
    if let Some(time) = wish.as_of {
        entities = as_of(call, &wish.thread, time)?;
        entities.retain(|entity| names.contains(&entity.name));
    } else {
        for name in &names {
            if entities.iter().all(|entity| entity.name != name.trim()) {
                entities.extend(named(call, &wish.thread, name.trim())?);
            }
        }
    }
    entities.retain(|entity| !entity.is_placeholder);
    let found: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
    let missing: Vec<String> =
        names.iter().filter(|name| !found.contains(name.trim())).cloned().collect();
    let mut result = told(call, &wish, entities)?;
    if wish.thread.shape == Shape::Thread && !missing.is_empty() {
        result.structured["notFound"] = json!(missing);
        result = answer(&wish.thread, result.structured);
    }
    Ok(result)
}

/// Entities with every relation that has an end among them; of past times, those that begin there.
fn told(call: &Call<'_>, wish: &Wish, mut entities: Vec<Entity>) -> Result<ToolResult> {
    for entity in &mut entities {
        resolve_typed(call, &wish.thread, entity)?;
    }
    let names: HashSet<String> = entities.iter().map(|entity| entity.name.clone()).collect();
    let mut layout = Layout::new(wish);
    let total = entities.len();
    for (n, entity) in entities.iter().enumerate().skip(wish.offset) {
        let own = entity.relations.iter();
        let mut relations: Vec<Value> =
            own.map(|relation| relation.told(&entity.name, &wish.thread)).collect();
        if wish.as_of.is_none() {
            relations.extend(incoming(call, &wish.thread, entity, &names)?);
        }
        let told = entity.told(&wish.thread, wish.superseded);
        if layout.entities.len() == wish.limit || !layout.add(Some(told), relations) {
            return Ok(layout.answer(Some(n), Some(total)));
        }
    }
    Ok(layout.answer(None, Some(total)))
}

/// The relations to an entity from others than these.
fn incoming(
    call: &Call<'_>,
    thread: &Thread,
    entity: &Entity,
    without: &HashSet<String>,
) -> Result<Vec<Value>> {
    let store = call.memory.store();
    let Some(file) = store.file(&thread.project, &entity.path)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for row in store.relations_to(file.id)? {
        let Some(from) = store.file_by_id(row.file)? else { continue };
        let here = from.project == thread.project && is_own(thread, &from.path);
        if here && !without.contains(&from.title) {
            let mut told = json!({
                "from": from.title, "to": entity.name, "relationType": row.relation_type,
            });
            if thread.shape == Shape::Thread {
                // Read from this end; only the other end's note states it.
                told["inverse"] = json!(inverse_of(&row.relation_type));
            }
            found.push(told);
        }
    }
    Ok(found)
}

pub(super) fn search_nodes(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("search_nodes", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    args.only(&[&Wish::PARAMETERS[..], &["query"]].concat())?;
    let text = args.text("query")?.trim().to_owned();
    if let Some(time) = wish.as_of {
        let mut entities = as_of(call, &wish.thread, time)?;
        entities.retain(|entity| !entity.is_placeholder && says(entity, &text, wish.superseded));
        rank(&mut entities, &text);
        return told(call, &wish, entities);
    }
    let folder = wish.thread.within(call.memory);
    // Nothing to look for finds everything, as it does in the reference server.
    let is_small = text.is_empty() || folder.count()? <= call.settings.graph.pieces_up_to;
    let mut entities = match is_small {
        true => read_all(call, &folder.holding(&text, MOST_FOUND)?)?,
        false => read_all(call, &titled(call, &wish.thread, &text)?)?,
    };
    rank(&mut entities, &text);
    let mut seen: HashSet<NotePath> = entities.iter().map(|entity| entity.path.clone()).collect();
    let request = SearchRequest {
        text: text.clone(),
        filter: SearchFilter {
            projects: vec![wish.thread.project.clone()],
            folder: NotePath::parse(&wish.thread.folder).ok(),
            past: match wish.superseded {
                Superseded::Show => Past::Include,
                _ => Past::LeaveOut,
            },
            ..SearchFilter::default()
        },
        limit: 100,
        offset: 0,
        snippet_chars: 1,
        // What only means something like it is no match for a name.
        options: RankOptions::WORDS,
        ..SearchRequest::default()
    };
    let hits = match call.memory.search(&request) {
        Ok(page) => page.results,
        Err(EngineError::Invalid(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    for hit in hits {
        if !is_own(&wish.thread, &hit.place.path) || !seen.insert(hit.place.path.clone()) {
            continue;
        }
        let Some(file) = call.memory.store().file(&wish.thread.project, &hit.place.path)? else {
            continue;
        };
        let Some(entity) = entity(call, &file)?.filter(|entity| !entity.is_placeholder) else {
            continue;
        };
        // The word may stand in a fact that no longer holds, or in the note's workings.
        if says(&entity, &text, wish.superseded) {
            entities.push(entity);
        }
    }
    if is_small {
        return told(call, &wish, entities);
    }
    if entities.is_empty() {
        // It takes its time, but what is there is found.
        return told(call, &wish, read_all(call, &folder.holding(&text, MOST_FOUND)?)?);
    }
    let mut result = told(call, &wish, entities)?;
    result.structured["partial"] = json!(format!(
        "The thread has more than {} entities, so words and beginnings of words were looked for, \
         but not pieces within words.",
        call.settings.graph.pieces_up_to
    ));
    Ok(answer(&wish.thread, result.structured))
}

/// The entities of these notes.
fn read_all(call: &Call<'_>, files: &[i64]) -> Result<Vec<Entity>> {
    let mut entities = Vec::with_capacity(files.len());
    for file in call.memory.store().files_by_id(files)? {
        entities.extend(entity(call, &file)?);
    }
    Ok(entities)
}

/// The notes of a thread whose name is a text, or holds words that begin like its words.
fn titled(call: &Call<'_>, thread: &Thread, text: &str) -> Result<Vec<i64>> {
    let exact = thread.within(call.memory).titled(text)?;
    let mut files: Vec<i64> = exact.into_iter().map(|found| found.id).collect();
    let named = call.memory.store().browse(&Browse {
        filter: SearchFilter {
            projects: vec![thread.project.clone()],
            folder: NotePath::parse(&thread.folder).ok(),
            ..SearchFilter::default()
        },
        title: vec![text.to_owned()],
        address: None,
        order: ListOrder::Newest,
        limit: MOST_NAMED,
        offset: 0,
    })?;
    let named = named.into_iter().filter(|file| is_own(thread, &file.path)).map(|file| file.id);
    let further: Vec<i64> = named.filter(|id| !files.contains(id)).collect();
    files.extend(further);
    Ok(files)
}

/// Whether an entity says the text itself, or one of its terms as the index understands them.
fn says(entity: &Entity, text: &str, superseded: Superseded) -> bool {
    let query = Query::parse(text);
    let terms: Vec<Vec<String>> = query
        .wanted()
        .map(|term| term.words.iter().map(|word| fold(word).into_owned()).collect())
        .collect();
    let lower = text.to_lowercase();
    let facts = entity.facts.iter().filter(|f| f.is_current || superseded == Superseded::Show);
    let relations = entity.relations.iter().flat_map(|r| [&r.relation_type, &r.target]);
    let own = [&entity.name, &entity.entity_type];
    facts.map(|fact| &fact.content).chain(own).chain(relations).any(|said| {
        let spoken: Vec<String> = words(said).map(|word| fold(word.text).into_owned()).collect();
        let holds = |term: &Vec<String>| {
            let windows = &mut spoken.windows(term.len().max(1));
            windows.any(|window| window.iter().zip(term).all(|(said, word)| is_form(said, word)))
        };
        said.to_lowercase().contains(&lower) || terms.iter().any(holds)
    })
}

/// Whether two words are forms of one, near enough: short ones are the same, of longer ones all
/// but the last two letters of the one that is asked for begin the other.
fn is_form(said: &str, word: &str) -> bool {
    let count = word.chars().count();
    if count < 4 {
        return said == word;
    }
    let begin: String = word.chars().take((count - 2).max(3)).collect();
    said.starts_with(&begin)
}

/// Exact names first, then names that hold the text, then types, then facts.
fn rank(entities: &mut [Entity], text: &str) {
    let lower = text.to_lowercase();
    entities.sort_by_key(|entity| {
        let name = entity.name.to_lowercase();
        let place = if entity.name == text {
            0
        } else if name == lower {
            1
        } else if name.contains(&lower) {
            2
        } else if entity.entity_type.to_lowercase().contains(&lower) {
            3
        } else {
            4
        };
        (place, entity.name.clone())
    });
}

pub(super) fn query_nodes(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("query_nodes", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    let own = [
        "timestampStart",
        "timestampEnd",
        "confidenceMin",
        "confidenceMax",
        "importanceMin",
        "importanceMax",
    ];
    args.only(&[&Wish::PARAMETERS[..], &own].concat())?;
    let times = (time(&args, own[0])?, time(&args, own[1])?);
    let share = |name| args.float(name, 0.0, 1.0);
    let confidence = (share(own[2])?.unwrap_or(0.0), share(own[3])?.unwrap_or(1.0));
    let importance = (share(own[4])?.unwrap_or(0.0), share(own[5])?.unwrap_or(1.0));
    let within = |value: f64, (least, most): (f64, f64)| (least..=most).contains(&value);
    let mut nodes = wish.thread.within(call.memory).nodes()?;
    nodes.retain(|node| {
        !node.is_placeholder
            && within(node.confidence.unwrap_or(CONFIDENCE), confidence)
            && within(node.importance.unwrap_or(IMPORTANCE), importance)
    });
    // Times are in the notes' rows, which are looked at one by one, as far as there is room.
    let total = (times == (None, None)).then_some(nodes.len());
    let mut layout = Layout::new(&wish);
    for (n, node) in nodes.iter().enumerate().skip(wish.offset) {
        let Some(file) = call.memory.store().file_by_id(node.file)? else { continue };
        let (start, end) = times;
        let fits = start.is_none_or(|start| file.updated >= start)
            && end.is_none_or(|end| file.updated <= end);
        if !fits {
            continue;
        }
        let Some(mut entity) = entity(call, &file)? else { continue };
        resolve_typed(call, &wish.thread, &mut entity)?;
        let own = entity.relations.iter();
        let relations = own.map(|relation| relation.told(&entity.name, &wish.thread)).collect();
        let told = entity.told(&wish.thread, wish.superseded);
        if layout.entities.len() == wish.limit || !layout.add(Some(told), relations) {
            return Ok(layout.answer(Some(n), total));
        }
    }
    Ok(layout.answer(None, total))
}

pub(super) fn list_entities(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("list_entities", arguments)?;
    let thread = Thread::optional(&mut args, call.settings)?;
    args.only(&["threadId", "entityType", "namePattern", "offset", "limit"])?;
    let wanted_type = args.optional_text("entityType")?;
    let pattern = args.optional_text("namePattern")?.map(|pattern| pattern.to_lowercase());
    let offset = args.number("offset", 0, 10_000_000)?.unwrap_or(0) as usize;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(200) as usize;
    let mut entities = Vec::new();
    let (mut n, mut next) = (offset, None);
    'pages: loop {
        let files = listed(call, &thread, AT_ONCE, n)?;
        if files.is_empty() {
            break;
        }
        for file in files {
            if entities.len() == limit {
                next = Some(n);
                break 'pages;
            }
            n += 1;
            let metadata: Value = serde_json::from_str(&file.metadata).unwrap_or_default();
            let entity_type = metadata["type"].as_str().unwrap_or("Note").to_owned();
            let fits = metadata["placeholder"] != "true"
                && wanted_type.as_ref().is_none_or(|wanted| *wanted == entity_type)
                && pattern.as_ref().is_none_or(|p| file.title.to_lowercase().contains(p));
            if fits {
                entities.push(json!({ "name": file.title, "entityType": entity_type }));
            }
        }
    }
    let mut structured = json!({ "entities": entities, "thread": thread.id });
    if let Some(next) = next {
        structured["nextOffset"] = json!(next);
    }
    Ok(answer(&Thread { shape: Shape::Thread, ..thread }, structured))
}

pub(super) fn find_path(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("find_relation_path", arguments)?;
    let thread = Thread::optional(&mut args, call.settings)?;
    args.only(&["threadId", "from", "to", "maxDepth"])?;
    let (from, to) = (args.text("from")?.trim().to_owned(), args.text("to")?.trim().to_owned());
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

/// The entities around some, with the relations among all of them: what `get_context` gives for
/// `entityNames`.
pub(super) fn neighbourhood(
    call: &Call<'_>,
    names: &[String],
    thread: Option<&str>,
    depth: usize,
) -> Result<ToolResult> {
    let mut arguments = json!({});
    if let Some(thread) = thread {
        arguments["threadId"] = json!(thread);
    }
    let mut args = Args::new("get_context", arguments)?;
    let mut wish = Wish::read(&mut args, call)?;
    wish.thread.shape = Shape::Thread;
    let folder = wish.thread.within(call.memory);
    let mut start = Vec::with_capacity(names.len());
    for name in names {
        needed(call, &wish.thread, name.trim())?;
        start.extend(folder.titled(name.trim())?.first().map(|found| found.id));
    }
    let near = folder.around(&start, depth, MOST_FOUND)?;
    let ids = start.iter().copied().chain(near.found.iter().map(|neighbour| neighbour.id));
    let mut entities = Vec::new();
    for id in ids {
        let Some(file) = call.memory.store().file_by_id(id)? else { continue };
        entities.extend(entity(call, &file)?.filter(|entity| !entity.is_placeholder));
    }
    told(call, &wish, entities)
}
