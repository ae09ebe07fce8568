//! The graph tools: entities, observations and relations, validated and versioned.
//!
//! Without `threadId` the tools behave as those of the reference knowledge graph server.

mod analytics;
mod error;
mod history;
mod input;
mod maintenance;
mod observations;
mod problem;
mod query;
mod read_options;
mod reference;
mod render;
mod request;
mod save;
mod schema;
mod search;
mod settings;
mod thread;
mod tools;

use memoranda_engine::graph::{ExportedEntity, ExportedRelation, GraphError, export_graph};
use memoranda_engine::{EngineError, Memory, Result};

use crate::registry::{CallContext, PromptDef, ResourceDef, ToolArgs, ToolResult, Toolset};
use crate::settings::ToolSettings;

pub use settings::GraphSettings;
pub(crate) use tools::TOOLS;

use error::{GraphToolError, GraphToolResult};
use thread::{AnswerShape, CallThread, DEFAULT_THREAD};

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
    "`save_memory` stores entities with short atomic facts and at least one relation each; it says what to mend.",
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
    into_tool_result(query::neighbourhood(call, args))
}

/// Renders the error of a handler.
fn into_tool_result(result: GraphToolResult<ToolResult>) -> ToolResult {
    result.unwrap_or_else(GraphToolError::into_tool_result)
}
