//! The core: remember, recall, get_context and forget, one verb each over everything.

mod arguments;
mod forget;
pub(crate) mod get_context;
pub(crate) mod nearest;
mod recall;
mod remember;

pub use nearest::{NEAREST_HEADING, add_nearest, take_nearest};
pub use remember::remembered_scope;

use serde_json::{Value, json};

use crate::registry::{
    Param, ParamTable, ScanPolicy, ToolDef, ToolError, ToolHints, ToolTier, Toolset,
};

/// Base of the rows.
const BASE: ToolDef = ToolDef {
    toolset: Toolset::Core,
    tier: ToolTier::Core,
    render_error: ToolError::render_code,
    output: any_object,
    max_chars: 60_000,
    ..ToolDef::BASE
};

const PROJECT: Param = Param::text("project_id", "Repository, e.g. github.com/user/repo")
    .aliases(&["projectId", "repository"]);

/// Rows of the tools.
pub(crate) const TOOLS: &[ToolDef] = &[
    ToolDef {
        name: "remember",
        title: "Remember",
        description: "Remember one thing for every agent and later conversation. Kind and scope \
            are guessed if absent; what is known is not stored twice.",
        hints: ToolHints {
            read_only: false,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        params: REMEMBER,
        run: remember::run,
        scan: ScanPolicy::ByArguments(|_, _| memoranda_engine::records::all_records_scope()),
        ..BASE
    },
    ToolDef {
        name: "recall",
        title: "Recall",
        description: "Recall what is known: one search over notes, memory files, facts, records \
            and banks. Without query: about the person and this repository.",
        hints: ToolHints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        params: RECALL,
        run: recall::run,
        ..BASE
    },
    crate::records::GET_CONTEXT,
    ToolDef {
        name: "forget",
        title: "Forget",
        description: "Forget one memory or observation; undoable. A query only lists what fits, \
            unless it is the whole statement.",
        hints: ToolHints {
            read_only: false,
            destructive: true,
            idempotent: true,
            open_world: false,
        },
        params: FORGET,
        run: forget::run,
        ..BASE
    },
];

/// Instructions for the client's model about the protocol of all tools.
pub(crate) const BRIEF: &[&str] = &[
    "At the start of a task `get_context`; to keep something `remember`; to find something \
     `recall`.",
    "`forget` takes one memory back.",
    "`read_note`, `write_note` and `edit_note` are for whole notes.",
];

const REMEMBER: ParamTable = ParamTable::new(&[&[
    Param::text("content", "One statement, understandable by itself")
        .required()
        .aliases(&["text", "memory", "fact"]),
    Param::schema("kind", |_| kind_schema(), "Default: guessed").aliases(&["type"]),
    Param::schema("scope", |_| scope_schema(), "Default: guessed"),
    Param::texts("tags", "Tags"),
    PROJECT,
    Param::text("replaces", "id or id@version that it replaces").aliases(&["supersedes"]),
]]);

const RECALL: ParamTable = ParamTable::new(&[&[
    Param::text("query", "Question or words").aliases(&["q", "search"]),
    Param::integer("max_tokens", 50, 100_000, "Default 1500").aliases(&["budget_tokens"]),
    Param::texts("kinds", "Only these kinds").aliases(&["kind", "types"]),
    Param::text("project", "Only this project"),
    Param::text("since", "Changed since: 7d, 2026-01-31"),
    Param::text("as_of", "As it was then").aliases(&["at"]),
    Param::decimal("min_relevance", 0.0, 1.0, "0 to 1"),
    Param::text("project_id", "Repository, e.g. github.com/user/repo").hidden(),
]]);

const FORGET: ParamTable = ParamTable::new(&[&[
    Param::text("id", "Memory or observation id").aliases(&["memory_id"]),
    Param::text("name", "Title or path of a note").aliases(&["path", "title"]),
    Param::text("query", "Words that fit one memory").aliases(&["q"]),
    Param::text("project_id", "Repository, e.g. github.com/user/repo").hidden(),
]]);

fn kind_schema() -> Value {
    json!({ "type": "string", "enum": memoranda_core::statement::StatementKind::NAMES })
}

fn scope_schema() -> Value {
    json!({ "type": "string", "enum": memoranda_core::statement::StatementScope::NAMES })
}

/// Output schema of a result whose fields are described in the guide only.
fn any_object() -> Value {
    json!({ "type": "object" })
}
