//! `get_analytics`, `get_recent_changes`, `get_memory_stats` and `list_conversations`.

use jiff::Timestamp;
use memoranda_engine::graph::{
    EntityActivity, EntityName, MAX_NEIGHBOURS, OrphanReason, ThreadSummary, graph_analytics,
    graph_statistics, graph_threads, recently_changed,
};
use serde_json::{Value, json};

use super::error::GraphToolResult;
use super::read_options::{ReadOptions, time};
use super::render::{AnswerLayout, SupersededDisplay, answer, entity_json, lines, relation_json};
use super::thread::CallThread;
use crate::registry::{CallContext, ToolArgs, ToolResult};

pub(super) fn analytics(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("get_analytics", arguments)?;
    let thread = CallThread::from_args(&mut args, call.settings)?;
    args.only(&["threadId"])?;
    let found = graph_analytics(call.memory, &thread)?;
    let mut recent_changes = Vec::with_capacity(found.recent.len());
    for activity in &found.recent {
        let mut json = name_json(&activity.entity);
        json["lastModified"] = json!(activity.updated.to_string());
        json["changeType"] = json!(change_type(call, activity)?);
        recent_changes.push(json);
    }
    let important = found.important.iter().map(|important| {
        let mut json = name_json(&important.entity);
        json["importance"] = json!(important.importance);
        json["observationCount"] = json!(important.observations);
        json
    });
    let important: Vec<Value> = important.collect();
    let connected = found.connected.iter().map(|connected| {
        let mut json = name_json(&connected.entity);
        json["relationCount"] = json!(connected.relations);
        if connected.has_more_neighbours {
            let more =
                format!("The first {MAX_NEIGHBOURS} names; open_nodes gives every relation.");
            json["truncated"] = json!(more);
        }
        json["connectedTo"] = json!(connected.neighbours);
        json
    });
    let connected: Vec<Value> = connected.collect();
    let orphans = found.orphans.iter().map(|(entity, reason)| {
        let mut json = name_json(entity);
        json["reason"] = json!(match reason {
            OrphanReason::BrokenRelation => "broken_relation",
            OrphanReason::NoRelations => "no_relations",
        });
        json
    });
    let orphans: Vec<Value> = orphans.collect();
    let structured = json!({
        "recent_changes": recent_changes,
        "top_important": important,
        "most_connected": connected,
        "orphaned_entities": orphans,
        "entity_count": found.entity_count,
        "orphaned_count": found.orphan_count,
        "thread": thread.id,
        "project": thread.project.as_str(),
    });
    Ok(answer(&thread, structured))
}

fn name_json(entity: &EntityName) -> Value {
    json!({ "entityName": entity.name, "entityType": entity.entity_type })
}

fn change_type(call: &CallContext<'_>, activity: &EntityActivity) -> GraphToolResult<&'static str> {
    Ok(if activity.is_new(call.memory)? { "created" } else { "updated" })
}

pub(super) fn recent_changes(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("get_recent_changes", arguments)?;
    let mut options = ReadOptions::read(&mut args, call)?;
    options.thread = options.thread.with_thread_shape();
    args.only(&[ReadOptions::PRESENT, &["since"]].concat())?;
    let since = time(&args, "since")?
        .ok_or_else(|| args.missing("since", "a time such as 2026-01-20T15:30:00Z"))?;
    let limit = options.offset + options.limit + 1;
    let changed = recently_changed(call.memory, &options.thread, Some(since), limit)?;
    let mut layout = AnswerLayout::new(&options);
    let mut next = None;
    for (n, activity) in changed.iter().enumerate().skip(options.offset) {
        let Some(entity) = activity.read(call.memory)? else { continue };
        let mut json = entity_json(&entity, &options.thread, SupersededDisplay::Hide);
        json["changeType"] = json!(change_type(call, activity)?);
        let new = entity.relations.iter().filter(|r| r.time.is_some_and(|time| time >= since));
        let relations = new.map(|relation| relation_json(relation, &entity.name, &options.thread));
        let relations = relations.collect();
        if layout.entities.len() == options.limit || !layout.add(Some(json), relations) {
            next = Some(n);
            break;
        }
    }
    Ok(layout.answer(next, None))
}

pub(super) fn stats(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("get_memory_stats", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId"])?;
    let found = graph_statistics(call.memory, &thread)?;
    let day = |start: Timestamp| start.to_string().chars().take(10).collect::<String>();
    let activity: Vec<Value> = found
        .activity
        .iter()
        .map(|(start, count)| json!({ "timestamp": day(*start), "entityCount": count }))
        .collect();
    let structured = json!({
        "entityCount": found.entities,
        "relationCount": found.relations,
        "threadCount": found.threads,
        "entityTypes": found.types,
        "avgConfidence": found.mean_confidence,
        "avgImportance": found.mean_importance,
        "recentActivity": activity,
        "thread": thread.id,
    });
    Ok(answer(&thread.with_thread_shape(), structured))
}

pub(super) fn conversations(
    call: &CallContext<'_>,
    arguments: Value,
) -> GraphToolResult<ToolResult> {
    let args = ToolArgs::new("list_conversations", arguments)?;
    args.only(&["offset", "limit"])?;
    let offset = args.number("offset", 0, 1_000_000)?.unwrap_or(0) as usize;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(100) as usize;
    let project = &call.settings.graph.project;
    let (threads, total) = graph_threads(call.memory, project, limit, offset)?;
    let conversation = |thread: &ThreadSummary| {
        json!({
            "agentThreadId": thread.id,
            "entityCount": thread.entities,
            "relationCount": thread.relations,
            "firstCreated": thread.times.map(|(first, _)| first.to_string()),
            "lastUpdated": thread.times.map(|(_, last)| last.to_string()),
        })
    };
    let found: Vec<Value> = threads.iter().map(conversation).collect();
    let mut structured =
        json!({ "conversations": found, "total": total, "project": project.as_str() });
    if offset + limit < total {
        structured["nextOffset"] = json!(offset + limit);
    }
    Ok(ToolResult::ok(lines(&structured), structured))
}
