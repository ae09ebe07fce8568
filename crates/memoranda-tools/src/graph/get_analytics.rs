//! `get_analytics`.

use memoranda_engine::graph::{EntityName, MAX_NEIGHBOURS, OrphanReason, graph_analytics};
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::THREAD;
use super::render::{answer, change_type};
use super::thread::CallThread;
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "get_analytics",
    title: "Graph analytics",
    description: "Four measures of a thread, top 10 each: recent changes (created, updated), most important, most connected, orphaned entities (no or broken relations).",
    tier: ToolTier::Default,
    hints: READ,
    output: || {
        output(&[
            ("recent_changes", "array"),
            ("top_important", "array"),
            ("most_connected", "array"),
            ("orphaned_entities", "array"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[THREAD.required()]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args(args, call.settings)?;
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
