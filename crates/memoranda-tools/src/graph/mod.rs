//! The graph tools: entities, observations and relations, validated and versioned.
//!
//! Without `threadId` the tools behave as those of the reference knowledge graph server.

mod add_observations;
mod base;
mod bulk_update;
mod create_entities;
mod create_relations;
mod delete_entities;
mod delete_observations;
mod delete_relations;
mod detect_conflicts;
mod error;
mod find_relation_path;
mod flag_for_review;
mod get_analytics;
mod get_flagged_entities;
mod get_memory_stats;
mod get_observation_history;
mod get_recent_changes;
mod input;
mod list_conversations;
mod list_entities;
mod neighbourhood;
mod open_nodes;
mod output_schema;
mod params;
mod problem;
mod prune_memory;
mod query_nodes;
mod read_graph;
mod read_options;
mod render;
mod request;
mod save_memory;
mod search_nodes;
mod secrets;
mod settings;
mod thread;
mod update_observation;
mod validate_memory;

use memoranda_engine::graph::{ExportedEntity, ExportedRelation, GraphError, export_graph};
use memoranda_engine::{EngineError, Memory, Result};

use crate::registry::{
    CallContext, PromptDef, ResourceDef, ToolArgs, ToolDef, ToolResult, Toolset,
};
use crate::settings::ToolSettings;

pub use settings::GraphSettings;

use thread::{AnswerShape, CallThread, DEFAULT_THREAD};

/// Rows of the tools: the default tools first, then those of the toolset.
pub(crate) const TOOLS: &[ToolDef] = &[
    save_memory::TOOL,
    add_observations::TOOL,
    get_observation_history::TOOL,
    get_analytics::TOOL,
    search_nodes::TOOL,
    query_nodes::TOOL,
    find_relation_path::TOOL,
    create_entities::TOOL,
    create_relations::TOOL,
    read_graph::TOOL,
    open_nodes::TOOL,
    list_entities::TOOL,
    validate_memory::TOOL,
    get_memory_stats::TOOL,
    get_recent_changes::TOOL,
    detect_conflicts::TOOL,
    list_conversations::TOOL,
    flag_for_review::TOOL,
    get_flagged_entities::TOOL,
    update_observation::TOOL,
    bulk_update::TOOL,
    prune_memory::TOOL,
    delete_entities::TOOL,
    delete_observations::TOOL,
    delete_relations::TOOL,
];

/// Rows of the prompts.
pub(crate) const PROMPTS: &[PromptDef] = &[];

/// Rows of the resources.
pub(crate) const RESOURCES: &[ResourceDef] = &[ResourceDef {
    uri: "memory://knowledge-graph",
    name: "knowledge-graph",
    title: "Knowledge graph",
    description: "The entities and relations of the thread `default`, as JSON",
    mime: "application/json",
    toolset: Toolset::Graph,
    read: knowledge_graph,
}];

/// Instructions about this toolset for the client's model, at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "GRAPH:",
    "`save_memory` stores entities with short atomic facts and at least one relation each; its errors say what to correct.",
];

fn knowledge_graph(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    let thread = CallThread::new(DEFAULT_THREAD, settings, AnswerShape::Reference)
        .ok_or_else(|| EngineError::Invalid(format!("{DEFAULT_THREAD:?} cannot name a thread")))?;
    let (entities, relations) = export_graph(memory, &thread).map_err(|error| match error {
        GraphError::Engine(error) => error,
        other => EngineError::Invalid(other.to_string()),
    })?;
    let entity = |entity: &ExportedEntity| {
        serde_json::json!({
            "name": entity.name,
            "entityType": entity.entity_type,
            "observations": entity.observations,
        })
    };
    let relation = |relation: &ExportedRelation| {
        serde_json::json!({
            "from": relation.from, "to": relation.to, "relationType": relation.relation_type,
        })
    };
    let graph = serde_json::json!({
        "entities": entities.iter().map(entity).collect::<Vec<_>>(),
        "relations": relations.iter().map(relation).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&graph).ok())
}

/// Renders the entities around some, at most `depth` relations away, for `get_context` with
/// `entityNames`.
pub(crate) fn neighbourhood(call: &CallContext<'_>, args: &ToolArgs) -> ToolResult {
    neighbourhood::neighbourhood(call, args)
        .unwrap_or_else(|error| error::render_error(call, error))
}
