//! The graph summed up: what changed, what matters, what is tied to what, and what hangs loose.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use memoranda_core::fact::{DEFAULT_ENTITY_TYPE, thread_of_folder};
use memoranda_core::path::NotePath;
use memoranda_engine::{FileOrder, FileSummary, FilesBelow, ListFilter, ListOrder, NodeRow, clock};
use serde_json::{Value, json};

use super::entity::{CONFIDENCE, IMPORTANCE, SupersededDisplay, is_placeholder, is_root, type_of};
use super::error::Result;
use super::load::{AnswerLayout, ReadOptions, answer, entity, is_thread_note, time};
use super::thread::{AnswerShape, GraphThread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// How many of each kind are told.
const TOP_ENTITIES: usize = 10;
/// How many names are told that one entity is tied to.
const MAX_NAMES: usize = 20;
/// So many notes are looked up one by one; of more, those that come first among all.
const MAX_LOOKUPS: usize = 2000;
/// No thread has more roots.
const MAX_ROOTS: usize = 1000;

pub(super) fn analytics(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("get_analytics", arguments)?;
    let thread = GraphThread::from_args(&mut args, call.settings)?;
    args.only(&["threadId"])?;
    let folder = thread.folder_graph(call.memory);
    let all = folder.nodes()?;
    let ties = folder.ties(&all)?;
    let nodes: Vec<NodeDegree> = all
        .into_iter()
        .zip(ties.incoming)
        .filter(|(node, _)| !node.is_placeholder)
        .map(|(node, incoming)| (node, node.relations + incoming))
        .collect();
    let importance = |node: &NodeRow| node.importance.unwrap_or(IMPORTANCE);

    // Of what matters as much the most connected comes first, and the other way round.
    let weight = |node: &NodeRow| (importance(node) * 1e9) as u64;
    let important = top(call, &thread, &nodes, |(node, degree)| (weight(node), *degree))?;
    let connected = top(call, &thread, &nodes, |(node, degree)| (*degree, weight(node)))?;
    let is_broken = |node: &NodeRow, degree: u64| degree > 0 && ties.loose.contains(&node.file);
    let alone = nodes.iter().filter(|(_, degree)| *degree == 0).map(|(node, _)| node.file);
    let alone = without_roots(call, &thread, alone.collect())?;
    let broken = nodes.iter().filter(|(node, degree)| is_broken(node, *degree));
    let mut loose: Vec<i64> = broken.map(|(node, _)| node.file).chain(alone).collect();
    loose.sort_unstable();
    let orphans = loose.len();
    let loose = first_by_path(call, &thread, &loose, TOP_ENTITIES)?;

    let recent = changed(call, &thread, None, TOP_ENTITIES)?;
    let mut recent_changes = Vec::with_capacity(recent.len());
    for file in &recent {
        recent_changes.push(change(call, &thread, file)?);
    }
    let named =
        |file: &FileSummary| json!({ "entityName": file.title, "entityType": type_of(file) });
    let mut top_important = Vec::new();
    for ((node, _), file) in important {
        let mut rendered = named(&file);
        rendered["importance"] = json!(importance(node));
        rendered["observationCount"] = json!(node.facts);
        top_important.push(rendered);
    }
    let mut most_connected = Vec::new();
    for ((node, degree), file) in connected.into_iter().filter(|((_, degree), _)| *degree > 0) {
        let mut rendered = named(&file);
        rendered["relationCount"] = json!(degree);
        let mut names = folder.tied(node.file, MAX_NAMES + 1)?;
        if names.len() > MAX_NAMES {
            names.truncate(MAX_NAMES);
            let more = format!("The first {MAX_NAMES} names; open_nodes gives every relation.");
            rendered["truncated"] = json!(more);
        }
        rendered["connectedTo"] = json!(names);
        most_connected.push(rendered);
    }
    let mut orphaned = Vec::new();
    for file in loose {
        let mut rendered = named(&file);
        let is_broken = ties.loose.contains(&file.id);
        rendered["reason"] = json!(if is_broken { "broken_relation" } else { "no_relations" });
        orphaned.push(rendered);
    }
    let structured = json!({
        "recent_changes": recent_changes,
        "top_important": top_important,
        "most_connected": most_connected,
        "orphaned_entities": orphaned,
        "entity_count": nodes.len(),
        "orphaned_count": orphans,
        "thread": thread.id,
        "project": thread.project.as_str(),
    });
    Ok(answer(&thread, structured))
}

/// An entity with how many relations begin or end at it.
type NodeDegree = (NodeRow, u64);

/// The nodes with the highest values; among equals the first by path, which no index decides.
fn top<'n>(
    call: &CallContext<'_>,
    thread: &GraphThread,
    nodes: &'n [NodeDegree],
    value: impl Fn(&NodeDegree) -> (u64, u64),
) -> Result<Vec<(&'n NodeDegree, FileSummary)>> {
    let mut values: Vec<(u64, u64)> = nodes.iter().map(&value).collect();
    let least = match values.len() {
        0..=TOP_ENTITIES => (0, 0),
        _ => *values.select_nth_unstable_by_key(TOP_ENTITIES - 1, |value| Reverse(*value)).1,
    };
    let files = |fits: &dyn Fn((u64, u64)) -> bool| -> Vec<i64> {
        nodes.iter().filter(|node| fits(value(node))).map(|(node, _)| node.file).collect()
    };
    let mut found = call.memory.store().files_by_id(&files(&|value| value > least))?;
    let equal = files(&|value| value == least);
    found.extend(first_by_path(call, thread, &equal, TOP_ENTITIES.saturating_sub(found.len()))?);
    let node = |file: FileSummary| {
        let at = nodes.binary_search_by_key(&file.id, |(node, _)| node.file).ok()?;
        Some((nodes.get(at)?, file))
    };
    let mut top: Vec<_> = found.into_iter().filter_map(node).collect();
    top.sort_by(|(a, a_file), (b, b_file)| {
        value(b).cmp(&value(a)).then_with(|| a_file.path.cmp(&b_file.path))
    });
    Ok(top)
}

/// The first by path of some notes, which are given by their numbers in order.
fn first_by_path(
    call: &CallContext<'_>,
    thread: &GraphThread,
    files: &[i64],
    count: usize,
) -> Result<Vec<FileSummary>> {
    let store = call.memory.store();
    let mut found = if files.len() <= MAX_LOOKUPS || count == 0 {
        store.files_by_id(if count == 0 { &[] } else { files })?
    } else {
        let below = |limit| FilesBelow {
            project: thread.project.clone(),
            folder: NotePath::parse(&thread.folder).ok(),
            depth: usize::MAX,
            order: FileOrder::Path,
            limit,
            offset: 0,
        };
        let mut first = Vec::new();
        // Where many are meant, some are among the first.
        for limit in [MAX_LOOKUPS, usize::MAX] {
            let all = store.files_below(&below(limit))?.into_iter().map(|(file, _)| file);
            first = all.filter(|file| files.binary_search(file).is_ok()).take(count).collect();
            if first.len() == count {
                break;
            }
        }
        store.files_by_id(&first)?
    };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.truncate(count);
    Ok(found)
}

/// The notes, by their numbers in order, that are not said to be roots, which may stand alone.
fn without_roots(
    call: &CallContext<'_>,
    thread: &GraphThread,
    files: Vec<i64>,
) -> Result<Vec<i64>> {
    if files.len() <= MAX_LOOKUPS {
        let found = call.memory.store().files_by_id(&files)?.into_iter();
        return Ok(found.filter(|file| !is_root(&file.metadata)).map(|file| file.id).collect());
    }
    let (roots, _) =
        thread.folder_graph(call.memory).entries(MAX_ROOTS, 0, |note| is_root(&note.metadata))?;
    let mut known = Vec::with_capacity(roots.len());
    for root in roots {
        let titled = thread.folder_graph(call.memory).titled(&root.title)?;
        known.extend(titled.into_iter().map(|found| found.id));
    }
    Ok(files.into_iter().filter(|file| !known.contains(file)).collect())
}

/// The entities that changed last.
fn changed(
    call: &CallContext<'_>,
    thread: &GraphThread,
    since: Option<Timestamp>,
    limit: usize,
) -> Result<Vec<FileSummary>> {
    let filter = ListFilter {
        project: Some(thread.project.clone()),
        folder: NotePath::parse(&thread.folder).ok(),
        since,
        ..ListFilter::default()
    };
    let mut found = Vec::new();
    let mut offset = 0;
    loop {
        let files = call.memory.store().list(&filter, ListOrder::Newest, limit.max(50), offset)?;
        let read = files.len();
        offset += read;
        let own = files
            .into_iter()
            .filter(|f| is_thread_note(thread, &f.path) && !is_placeholder(&f.metadata));
        found.extend(own);
        if read < limit.max(50) || found.len() >= limit {
            found.truncate(limit);
            return Ok(found);
        }
    }
}

fn change(call: &CallContext<'_>, thread: &GraphThread, file: &FileSummary) -> Result<Value> {
    let is_new = thread.folder_graph(call.memory).was_just_made(&file.path)?;
    Ok(json!({
        "entityName": file.title,
        "entityType": type_of(file),
        "lastModified": file.updated.to_string(),
        "changeType": if is_new { "created" } else { "updated" },
    }))
}

pub(super) fn recent_changes(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("get_recent_changes", arguments)?;
    let mut options = ReadOptions::read(&mut args, call)?;
    options.thread.shape = AnswerShape::Thread;
    args.only(&[ReadOptions::PRESENT, &["since"]].concat())?;
    let since = time(&args, "since")?
        .ok_or_else(|| args.missing("since", "a time such as 2026-01-20T15:30:00Z"))?;
    let files = changed(call, &options.thread, Some(since), options.offset + options.limit + 1)?;
    let mut layout = AnswerLayout::new(&options);
    let mut next = None;
    for (n, file) in files.iter().enumerate().skip(options.offset) {
        let Some(entity) = entity(call, file)? else { continue };
        let mut rendered = entity.to_json(&options.thread, SupersededDisplay::Hide);
        rendered["changeType"] = change(call, &options.thread, file)?["changeType"].clone();
        let new = entity.relations.iter().filter(|r| r.time.is_some_and(|time| time >= since));
        let relations =
            new.map(|relation| relation.to_json(&entity.name, &options.thread)).collect();
        if layout.entities.len() == options.limit || !layout.add(Some(rendered), relations) {
            next = Some(n);
            break;
        }
    }
    Ok(layout.answer(next, None))
}

pub(super) fn stats(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("get_memory_stats", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId"])?;
    let folder = thread.folder_graph(call.memory);
    let nodes: Vec<NodeRow> =
        folder.nodes()?.into_iter().filter(|node| !node.is_placeholder).collect();
    let mean = |value: fn(&NodeRow) -> f64| match nodes.len() {
        0 => 0.0,
        count => (nodes.iter().map(value).sum::<f64>() / count as f64 * 1000.0).round() / 1000.0,
    };
    let threads = call.memory.store().folders(&thread.project)?;
    let relations = threads.iter().find(|sum| sum.folder == thread.folder);
    let mut types: BTreeMap<String, u64> = BTreeMap::new();
    for (entity_type, count) in folder.types()? {
        *types.entry(entity_type.unwrap_or_else(|| DEFAULT_ENTITY_TYPE.to_owned())).or_default() +=
            count;
    }
    let week = clock::now().checked_sub(SignedDuration::from_hours(7 * 24)).unwrap_or_default();
    let day = |start: Timestamp| start.to_string().chars().take(10).collect::<String>();
    let days = folder.days(week)?.into_iter();
    let activity: Vec<Value> = days
        .map(|(start, count)| json!({ "timestamp": day(start), "entityCount": count }))
        .collect();
    let structured = json!({
        "entityCount": nodes.len(),
        "relationCount": relations.map_or(0, |sum| sum.relations),
        "threadCount": threads.iter().filter(|sum| thread_of_folder(&sum.folder).is_some()).count(),
        "entityTypes": types,
        "avgConfidence": mean(|node| node.confidence.unwrap_or(CONFIDENCE)),
        "avgImportance": mean(|node| node.importance.unwrap_or(IMPORTANCE)),
        "recentActivity": activity,
        "thread": thread.id,
    });
    Ok(answer(&GraphThread { shape: AnswerShape::Thread, ..thread }, structured))
}

pub(super) fn conversations(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let args = ToolArgs::new("list_conversations", arguments)?;
    args.only(&["offset", "limit"])?;
    let offset = args.number("offset", 0, 1_000_000)?.unwrap_or(0) as usize;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(100) as usize;
    let project = &call.settings.graph.project;
    let store = call.memory.store();
    let sums = store.folders(project)?;
    let threads = sums.into_iter().filter_map(|sum| Some((thread_of_folder(&sum.folder)?, sum)));
    let threads: Vec<_> = threads.filter(|(id, _)| !id.is_empty()).collect();
    let mut found = Vec::new();
    for (id, sum) in threads.iter().skip(offset).take(limit) {
        let times = store.folder(project, &sum.folder).times()?;
        found.push(json!({
            "agentThreadId": id,
            "entityCount": sum.notes,
            "relationCount": sum.relations,
            "firstCreated": times.map(|(first, _)| first.to_string()),
            "lastUpdated": times.map(|(_, last)| last.to_string()),
        }));
    }
    let mut structured =
        json!({ "conversations": found, "total": threads.len(), "project": project.as_str() });
    if offset + limit < threads.len() {
        structured["nextOffset"] = json!(offset + limit);
    }
    Ok(ToolResult::ok(super::load::lines(&structured), structured))
}
