//! Entities, their facts and relations: small, checked, versioned.
//!
//! An entity is a note `<thread>/<entity>.md` in the project `graph`: its title is the entity's
//! name, its type the entity's type; facts carry ids and versions in comments, relations are
//! links. Without `threadId` the tools behave as those of the reference knowledge graph server.

mod analytics;
mod as_of;
mod entity;
mod error;
mod export;
mod input;
mod load;
mod maintenance;
mod observation_history;
mod observations;
mod problem;
mod query;
mod reference;
mod request;
mod save;
mod schema;
mod search;
mod settings;
mod thread;
mod tools;
mod transaction;

use memoranda_engine::{Memory, Result};

use crate::registry::{CallContext, PromptDef, ResourceDef, ToolArgs, ToolResult, Toolset};
use crate::settings::ToolSettings;

use export::{ExportedEntity, ExportedRelation, whole_graph};
pub use settings::GraphSettings;
pub(crate) use tools::TOOLS;

/// The prompts' rows.
pub(crate) const PROMPTS: &[PromptDef] = &[];

/// The resources' rows.
pub(crate) const RESOURCES: &[ResourceDef] = &[ResourceDef {
    uri: "memory://knowledge-graph",
    name: "knowledge-graph",
    title: "Knowledge graph",
    description: "The entities and relations of the thread `default`, as JSON",
    mime: "application/json",
    toolset: Toolset::Graph,
    read: knowledge_graph,
}];

/// What a client's model is told of this set, in at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "GRAPH:",
    "`save_memory` stores entities with short atomic facts and at least one relation each; it says what to mend.",
];

fn knowledge_graph(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    let (entities, relations) = whole_graph(memory, settings)?;
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

/// The entities around some, at most `depth` relations away, with the relations among them; in the
/// thread `default` if none is named. This is what `get_context` answers for `entityNames`.
pub(crate) fn neighbourhood(call: &CallContext<'_>, args: &ToolArgs) -> ToolResult {
    into_tool_result(query::neighbourhood(call, args))
}

/// A handler's result as a tool's.
fn into_tool_result(result: error::Result<ToolResult>) -> ToolResult {
    result.unwrap_or_else(error::GraphError::into_tool_result)
}
