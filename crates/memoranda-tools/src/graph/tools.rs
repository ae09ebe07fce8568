//! Rows of the graph tools.

use memoranda_core::fact::FactLimits;
use serde_json::json;

use super::schema::{
    count, deletion, entities, graph, input, number, objects, optional_thread, output, reading,
    reading_now, share, text, texts, thread,
};
use super::settings::GraphSettings;
use super::{
    analytics, history, into_tool_result, maintenance, observations, query, reference, save, search,
};
use crate::registry::{ToolAdvice, ToolDef, ToolHandler, ToolHints, ToolReach, ToolTier, Toolset};

const READ: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };
const ADD: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: true, open_world: false };
const APPEND: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false };
const SET: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false };
const DELETE: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false };

/// Base of the rows: the facts that all graph tools share. Budgets keep most answers far below the
/// maximum length.
const BASE: ToolDef = ToolDef {
    toolset: Toolset::Graph,
    reach: ToolReach::OwnProject,
    max_chars: 110_000,
    ..ToolDef::BASE
};

const SAVE_DESCRIPTION: &str = "Save entities and their relations to the memory graph, atomically. RULES: 1) Each observation max 150 chars (atomic facts only). 2) Each entity MUST have at least 1 relation, to an entity of this request or of the thread. Everything is checked; if anything is wrong, nothing is saved and every problem comes with a suggestion. Existing entities are merged.";

/// Returns the description of `save_memory` with the configured length of an observation.
fn describe_save(limits: FactLimits) -> String {
    let default = format!("max {} chars", GraphSettings::standard().limits.chars);
    SAVE_DESCRIPTION.replace(&default, &format!("max {} chars", limits.chars))
}

/// Rows of the tools: the default tools first, then those of the toolset.
pub(crate) const TOOLS: &[ToolDef] = &[
    ToolDef {
        name: "save_memory",
        describe: Some(|settings| describe_save(settings.graph.limits)),
        title: "Save memory",
        description: SAVE_DESCRIPTION,
        tier: ToolTier::Default,
        hints: ADD,
        output: || {
            output(&[
                ("success", "boolean"),
                ("created", "object"),
                ("merged", "array"),
                ("warnings", "array"),
                ("quality_score", "number"),
                ("validation_errors", "array"),
                ("problems", "array"),
                ("commit", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |settings| {
                input(
                    json!({ "entities": entities(settings.graph.limits), "threadId": thread() }),
                    &["entities", "threadId"],
                )
            },
            run: |call, arguments| into_tool_result(save::save(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "add_observations",
        title: "Add observations",
        description: "Add facts to entities that exist; facts they already have are skipped. With `supersedes` (an observation id) one fact replaces an older one, which stays in the history.",
        tier: ToolTier::Default,
        hints: ADD,
        output: || output(&[("results", "array"), ("warnings", "array"), ("commit", "string")]),
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "observations": objects("Additions", json!({
                            "entityName": text("Entity"),
                            "contents": texts("Atomic facts"),
                            "supersedes": text("Id of the fact that the one in contents replaces"),
                            "confidence": share("0-1"),
                            "importance": share("0-1"),
                            "timestamp": text("When it was so, ISO 8601; now if left out"),
                            "agentThreadId": text("Same as threadId")
                        }), &["entityName", "contents"]),
                        "threadId": optional_thread()
                    }),
                    &["observations"],
                )
            },
            run: |call, arguments| {
                into_tool_result(observations::add_observations(call, arguments))
            },
        },
        ..BASE
    },
    ToolDef {
        name: "get_observation_history",
        title: "Observation history",
        description: "The versions of one fact, oldest first, with who wrote each (people's edits in the file too), what superseded it, or who struck it out or removed it; of deleted entities too.",
        tier: ToolTier::Default,
        hints: READ,
        output: || {
            output(&[("history", "array"), ("entityName", "string"), ("observationId", "string")])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "entityName": text("Entity"),
                        "observationId": text("Any id of the chain, obs_…"),
                        "threadId": optional_thread()
                    }),
                    &["entityName", "observationId"],
                )
            },
            run: |call, arguments| into_tool_result(history::history(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
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
        handler: ToolHandler::Json {
            schema: |_| input(json!({ "threadId": thread() }), &["threadId"]),
            run: |call, arguments| into_tool_result(analytics::analytics(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "search_nodes",
        title: "Search nodes",
        description: "Find entities by words in their name, type and facts; exact matches first. Gives entities and their relations.",
        tier: ToolTier::Default,
        hints: READ,
        output: || graph(),
        handler: ToolHandler::Json {
            schema: |_| reading(json!({ "query": text("Words to look for") }), &["query"]),
            run: |call, arguments| into_tool_result(search::search_nodes(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "query_nodes",
        title: "Query nodes",
        description: "Entities by ranges of last change, confidence and importance.",
        tier: ToolTier::Default,
        hints: READ,
        output: || graph(),
        handler: ToolHandler::Json {
            schema: |_| {
                reading_now(
                    json!({
                        "timestampStart": text("Changed since, ISO 8601"),
                        "timestampEnd": text("Changed until, ISO 8601"),
                        "confidenceMin": share("0-1"),
                        "confidenceMax": share("0-1"),
                        "importanceMin": share("0-1"),
                        "importanceMax": share("0-1")
                    }),
                    &[],
                )
            },
            run: |call, arguments| into_tool_result(query::query_nodes(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "find_relation_path",
        title: "Find relation path",
        description: "A shortest way between two entities, along relations in either direction.",
        tier: ToolTier::Default,
        hints: READ,
        output: || {
            output(&[
                ("found", "boolean"),
                ("path", "array"),
                ("relations", "array"),
                ("said", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "from": text("Entity"),
                        "to": text("Entity"),
                        "maxDepth": json!({ "type": "integer", "minimum": 1, "maximum": 20, "default": 5, "description": "Relations at the most" }),
                        "threadId": optional_thread()
                    }),
                    &["from", "to"],
                )
            },
            run: |call, arguments| into_tool_result(query::find_path(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "create_entities",
        advice: ToolAdvice::Deprecated,
        title: "Create entities (deprecated)",
        description: "Deprecated in favour of save_memory, which also ties entities together and checks quality. Creates entities; existing names are left as they are.",
        tier: ToolTier::Default,
        hints: ADD,
        output: || {
            output(&[
                ("entities", "array"),
                ("existing", "array"),
                ("notice", "string"),
                ("commit", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "entities": objects("Entities", json!({
                            "name": text("Name"),
                            "entityType": text("Type"),
                            "observations": texts("Facts"),
                            "confidence": share("0-1"),
                            "importance": share("0-1"),
                            "timestamp": text("ISO 8601"),
                            "agentThreadId": text("Same as threadId")
                        }), &["name", "entityType", "observations"]),
                        "threadId": optional_thread()
                    }),
                    &["entities"],
                )
            },
            run: |call, arguments| into_tool_result(reference::create_entities(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "create_relations",
        advice: ToolAdvice::Deprecated,
        title: "Create relations (deprecated)",
        description: "Deprecated in favour of save_memory, which saves entities with their relations. Creates relations between entities; equal ones are skipped, and in a thread those without an end, which are told.",
        tier: ToolTier::Default,
        hints: ADD,
        output: || {
            output(&[
                ("relations", "array"),
                ("skipped", "array"),
                ("notice", "string"),
                ("commit", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "relations": objects("Relations", json!({
                            "from": text("Entity"),
                            "to": text("Entity"),
                            "relationType": text("What it says, in active voice"),
                            "confidence": share("0-1"),
                            "importance": share("0-1"),
                            "timestamp": text("ISO 8601"),
                            "agentThreadId": text("Same as threadId")
                        }), &["from", "to", "relationType"]),
                        "threadId": optional_thread()
                    }),
                    &["relations"],
                )
            },
            run: |call, arguments| into_tool_result(reference::create_relations(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "read_graph",
        title: "Read graph",
        description: "The whole graph of a thread, by pages within a token budget.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || graph(),
        handler: ToolHandler::Json {
            schema: |_| {
                reading(
                    json!({ "minImportance": share("Leave out what matters less (0.1; 0 without threadId)") }),
                    &[],
                )
            },
            run: |call, arguments| into_tool_result(query::read_graph(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "open_nodes",
        title: "Open nodes",
        description: "Entities by their names, with their relations.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || graph(),
        handler: ToolHandler::Json {
            schema: |_| reading(json!({ "names": texts("Exact names") }), &["names"]),
            run: |call, arguments| into_tool_result(query::open_nodes(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "list_entities",
        title: "List entities",
        description: "Names and types of a thread's entities.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || {
            output(&[("entities", "array"), ("nextOffset", "integer"), ("thread", "string")])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "threadId": optional_thread(),
                        "entityType": text("Exactly this type"),
                        "namePattern": text("Part of the name"),
                        "offset": number("Notes to pass over", 10_000_000),
                        "limit": count("Entities at the most (200)", 1000)
                    }),
                    &[],
                )
            },
            run: |call, arguments| into_tool_result(query::list_entities(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "validate_memory",
        title: "Validate memory",
        description: "Checks entities as save_memory would, and saves nothing.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || {
            output(&[("all_valid", "boolean"), ("results", "array"), ("quality_score", "number")])
        },
        handler: ToolHandler::Json {
            schema: |settings| {
                input(
                    json!({ "entities": entities(settings.graph.limits), "threadId": thread() }),
                    &["entities"],
                )
            },
            run: |call, arguments| into_tool_result(save::validate(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "get_memory_stats",
        title: "Memory statistics",
        description: "Counts, types, averages and the last week's activity of a thread.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || {
            output(&[
                ("entityCount", "integer"),
                ("relationCount", "integer"),
                ("threadCount", "integer"),
                ("entityTypes", "object"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| input(json!({ "threadId": optional_thread() }), &[]),
            run: |call, arguments| into_tool_result(analytics::stats(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "get_recent_changes",
        title: "Recent changes",
        description: "Entities and relations that changed since a time, newest first.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || graph(),
        handler: ToolHandler::Json {
            schema: |_| reading_now(json!({ "since": text("ISO 8601") }), &["since"]),
            run: |call, arguments| into_tool_result(analytics::recent_changes(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "detect_conflicts",
        title: "Detect conflicts",
        description: "Facts of one entity that seem to contradict each other: one denied, or other values.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || output(&[("conflicts", "array"), ("thread", "string"), ("truncated", "string")]),
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "threadId": optional_thread(),
                        "limit": count("Entities at the most (50)", 1000)
                    }),
                    &[],
                )
            },
            run: |call, arguments| into_tool_result(maintenance::conflicts(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "list_conversations",
        title: "List conversations",
        description: "All threads, with counts and times.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || {
            output(&[("conversations", "array"), ("total", "integer"), ("nextOffset", "integer")])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "offset": number("Threads to pass over", 1_000_000),
                        "limit": count("Threads at the most (100)", 1000)
                    }),
                    &[],
                )
            },
            run: |call, arguments| into_tool_result(analytics::conversations(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "flag_for_review",
        title: "Flag for review",
        description: "Marks an entity for a person to look at, with the reason.",
        tier: ToolTier::Extra,
        hints: APPEND,
        output: || {
            output(&[
                ("success", "boolean"),
                ("entityName", "string"),
                ("observation", "object"),
                ("commit", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "threadId": thread(),
                        "entityName": text("Entity"),
                        "reason": text("What to look at"),
                        "reviewer": text("Who should look")
                    }),
                    &["threadId", "entityName", "reason"],
                )
            },
            run: |call, arguments| into_tool_result(maintenance::flag(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "get_flagged_entities",
        title: "Flagged entities",
        description: "Entities that are marked for review, with the reasons.",
        tier: ToolTier::Extra,
        hints: READ,
        output: || graph(),
        handler: ToolHandler::Json {
            schema: |_| reading_now(json!({}), &[]),
            run: |call, arguments| into_tool_result(maintenance::flagged(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "update_observation",
        title: "Update observation",
        description: "Replaces a fact by a newer one; the old one stays in the history as superseded.",
        tier: ToolTier::Extra,
        hints: SET,
        output: || {
            output(&[
                ("success", "boolean"),
                ("entityName", "string"),
                ("observation", "object"),
                ("superseded", "string"),
                ("commit", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "threadId": thread(),
                        "entityName": text("Entity"),
                        "observationId": text("The fact that no longer holds, obs_…"),
                        "newContent": text("What holds now"),
                        "timestamp": text("Since when, ISO 8601"),
                        "confidence": share("0-1"),
                        "importance": share("0-1")
                    }),
                    &["threadId", "entityName", "observationId", "newContent"],
                )
            },
            run: |call, arguments| {
                into_tool_result(observations::update_observation(call, arguments))
            },
        },
        ..BASE
    },
    ToolDef {
        name: "bulk_update",
        title: "Bulk update",
        description: "Sets confidence and importance of many entities and adds facts to them, in one commit.",
        tier: ToolTier::Extra,
        hints: SET,
        output: || output(&[("updated", "integer"), ("notFound", "array"), ("commit", "string")]),
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "threadId": thread(),
                        "updates": objects("Updates", json!({
                            "entityName": text("Entity"),
                            "confidence": share("0-1"),
                            "importance": share("0-1"),
                            "addObservations": texts("Atomic facts")
                        }), &["entityName"])
                    }),
                    &["threadId", "updates"],
                )
            },
            run: |call, arguments| into_tool_result(maintenance::bulk_update(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "prune_memory",
        title: "Prune memory",
        description: "Removes entities that are old, unimportant, or both, with their relations. With dryRun only says which. The commit can be undone.",
        tier: ToolTier::Extra,
        hints: DELETE,
        output: || {
            output(&[
                ("removedEntities", "integer"),
                ("removedRelations", "integer"),
                ("entityNames", "array"),
                ("commit", "string"),
            ])
        },
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "threadId": thread(),
                        "olderThan": text("Not changed since, ISO 8601"),
                        "importanceLessThan": share("Less important than"),
                        "keepMinEntities": number("Keep at least so many", 10_000_000),
                        "dryRun": json!({ "type": "boolean", "default": false, "description": "Only say what would go" })
                    }),
                    &["threadId"],
                )
            },
            run: |call, arguments| into_tool_result(maintenance::prune(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "delete_entities",
        title: "Delete entities",
        description: "Deletes entities and every relation from and to them. The commit can be undone.",
        tier: ToolTier::Extra,
        hints: DELETE,
        output: || deletion(),
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "entityNames": texts("Exact names"),
                        "threadId": optional_thread()
                    }),
                    &["entityNames"],
                )
            },
            run: |call, arguments| into_tool_result(reference::delete_entities(call, arguments)),
        },
        ..BASE
    },
    ToolDef {
        name: "delete_observations",
        title: "Delete observations",
        description: "Deletes facts of entities, by their text or id. The commit can be undone.",
        tier: ToolTier::Extra,
        hints: DELETE,
        output: || deletion(),
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "deletions": objects("Deletions", json!({
                            "entityName": text("Entity"),
                            "observations": texts("Texts or ids of facts")
                        }), &["entityName", "observations"]),
                        "threadId": optional_thread()
                    }),
                    &["deletions"],
                )
            },
            run: |call, arguments| {
                into_tool_result(reference::delete_observations(call, arguments))
            },
        },
        ..BASE
    },
    ToolDef {
        name: "delete_relations",
        title: "Delete relations",
        description: "Deletes relations between entities. The commit can be undone.",
        tier: ToolTier::Extra,
        hints: DELETE,
        output: || deletion(),
        handler: ToolHandler::Json {
            schema: |_| {
                input(
                    json!({
                        "relations": objects("Relations", json!({
                            "from": text("Entity"),
                            "to": text("Entity"),
                            "relationType": text("What it says, in active voice"),
                            "confidence": share("0-1"),
                            "importance": share("0-1"),
                            "timestamp": text("ISO 8601"),
                            "agentThreadId": text("Same as threadId")
                        }), &["from", "to", "relationType"]),
                        "threadId": optional_thread()
                    }),
                    &["relations"],
                )
            },
            run: |call, arguments| into_tool_result(reference::delete_relations(call, arguments)),
        },
        ..BASE
    },
];
