//! Markdown notes and the graph between them: the tools that Basic Memory's users know.

mod address;
mod canvas;
mod chatgpt;
mod checksum;
mod compose;
mod context;
mod context_at;
mod directory;
mod edit;
mod glob;
mod links;
mod note_parts;
mod note_schema;
mod page;
mod params;
mod projects;
mod prompts;
mod read;
mod recent;
mod relocate;
mod schema_names;
mod scope;
mod search;
mod search_hit;
mod search_query;
mod write;
mod write_summary;

use serde_json::{Value, json};

use crate::registry::{
    PromptDef, ResourceDef, ScanPolicy, TextFormat, ToolDef, ToolError, ToolHints, ToolTier,
    Toolset,
};

/// Prompts of the notes tools.
pub(crate) const PROMPTS: &[PromptDef] = prompts::PROMPTS;
/// Resources of the notes tools.
pub(crate) const RESOURCES: &[ResourceDef] = prompts::RESOURCES;

/// Instructions for the model about this toolset, in at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "NOTES:",
    "`search_notes` filters by tag, type, folder and time.",
    "`build_context` follows the links of a `memory://` address.",
];

const READS: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };
const ADDS: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: true, open_world: false };
const CHANGES: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false };
const REMOVES: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false };

/// Base of the rows: the facts that all notes tools share.
const BASE: ToolDef = ToolDef {
    toolset: Toolset::Notes,
    tier: ToolTier::Extra,
    output: any_object,
    max_chars: 600_000,
    render_error: ToolError::render_code,
    ..ToolDef::BASE
};

/// Base of the rows of `search` and `fetch`, whose text is JSON.
const CHATGPT: ToolDef =
    ToolDef { toolset: Toolset::Chatgpt, text_format: TextFormat::Json, hints: READS, ..BASE };

/// Definitions of the notes tools.
pub(crate) const TOOLS: &[ToolDef] = &[
    ToolDef {
        name: "write_note",
        title: "Write note",
        description: "Create a Markdown note. An existing one is refused unless overwrite=true; \
            the old text stays in the history. Names similar notes.",
        tier: ToolTier::Core,
        hints: CHANGES,
        output: changed,
        params: write::PARAMS,
        run: write::write,
        ..BASE
    },
    ToolDef {
        name: "read_note",
        title: "Read note",
        description: "Read a note by title, permalink, path or memory:// address, now or as_of \
            an earlier time.",
        tier: ToolTier::Core,
        hints: READS,
        params: read::READ_PARAMS,
        run: read::read_note,
        scan: ScanPolicy::IfMissing,
        ..BASE
    },
    ToolDef {
        name: "edit_note",
        title: "Edit note",
        description: "Change a part of a note; the rest stays byte for byte. append and prepend \
            create a missing note.",
        tier: ToolTier::Core,
        hints: CHANGES,
        output: changed,
        params: edit::PARAMS,
        run: edit::edit_note,
        ..BASE
    },
    ToolDef {
        name: "search_notes",
        title: "Search notes",
        description: "Find notes, observations or relations by words, names, tags, types, \
            frontmatter and time.",
        tier: ToolTier::Default,
        hints: READS,
        output: found,
        params: search::PARAMS,
        run: search::search,
        ..BASE
    },
    ToolDef {
        name: "build_context",
        title: "Build context",
        description: "A note, its observations and the notes linked to and from it; or all \
            notes of a pattern.",
        tier: ToolTier::Default,
        hints: READS,
        output: found,
        params: context::PARAMS,
        run: context::build,
        text_format: TextFormat::Json,
        ..BASE
    },
    ToolDef {
        name: "recent_activity",
        title: "Recent activity",
        description: "What changed last, newest first, in one project or all.",
        tier: ToolTier::Default,
        hints: READS,
        output: found,
        params: recent::PARAMS,
        run: recent::recent,
        // Clients that parse the text expect a list.
        json_text_field: Some("results"),
        ..BASE
    },
    ToolDef {
        name: "view_note",
        title: "View note",
        description: "Like read_note, to be displayed as an artifact.",
        hints: READS,
        params: read::VIEW_PARAMS,
        run: read::view_note,
        ..BASE
    },
    ToolDef {
        name: "move_note",
        title: "Move note",
        description: "Move or rename a note or folder within its project; permalinks stay.",
        hints: CHANGES,
        output: changed,
        params: relocate::MOVE_PARAMS,
        run: relocate::move_note,
        ..BASE
    },
    ToolDef {
        name: "delete_note",
        title: "Delete note",
        description: "Delete a note or folder; the history can bring it back.",
        hints: REMOVES,
        output: changed,
        params: relocate::DELETE_PARAMS,
        run: relocate::delete_note,
        ..BASE
    },
    ToolDef {
        name: "list_directory",
        title: "List directory",
        description: "Folders and files of a project.",
        hints: READS,
        params: directory::LIST_PARAMS,
        run: directory::list,
        ..BASE
    },
    ToolDef {
        name: "read_content",
        title: "Read content",
        description: "A file as it is: text, or base64 up to 350 kB.",
        hints: READS,
        params: directory::READ_PARAMS,
        run: directory::read,
        ..BASE
    },
    ToolDef {
        name: "canvas",
        title: "Canvas",
        description: "Write a JSON Canvas file of nodes and edges.",
        hints: REMOVES,
        output: changed,
        params: canvas::PARAMS,
        run: canvas::draw,
        ..BASE
    },
    ToolDef {
        name: "list_memory_projects",
        title: "List projects",
        description: "All projects, with the default.",
        hints: READS,
        params: projects::LIST_PARAMS,
        run: projects::list,
        ..BASE
    },
    ToolDef {
        name: "create_memory_project",
        title: "Create project",
        description: "Make a project; one that exists is reported.",
        hints: ADDS,
        params: projects::CREATE_PARAMS,
        run: projects::create,
        ..BASE
    },
    ToolDef {
        name: "delete_project",
        title: "Delete project",
        description: "Forget a project; its files stay unless delete_notes=true.",
        hints: REMOVES,
        params: projects::DELETE_PARAMS,
        run: projects::delete,
        ..BASE
    },
    ToolDef {
        name: "schema_validate",
        title: "Validate schema",
        description: "Check notes against the schemas of their types.",
        hints: READS,
        params: note_schema::VALIDATE_PARAMS,
        run: note_schema::validate,
        ..BASE
    },
    ToolDef {
        name: "schema_infer",
        title: "Infer schema",
        description: "Propose a schema from the notes of a type.",
        hints: READS,
        params: note_schema::INFER_PARAMS,
        run: note_schema::infer_schema,
        ..BASE
    },
    ToolDef {
        name: "schema_diff",
        title: "Compare schema",
        description: "How the notes of a type have drifted from their schema.",
        hints: READS,
        params: note_schema::DIFF_PARAMS,
        run: note_schema::diff,
        ..BASE
    },
    ToolDef {
        name: "search",
        title: "Search",
        description: "Search all notes; gives ids for `fetch`.",
        params: chatgpt::SEARCH_PARAMS,
        run: chatgpt::search,
        ..CHATGPT
    },
    ToolDef {
        name: "fetch",
        title: "Fetch",
        description: "The whole text of a note that `search` found.",
        params: chatgpt::FETCH_PARAMS,
        run: chatgpt::fetch,
        ..CHATGPT
    },
];

/// Output schema of a result whose fields are described in the guide only.
fn any_object() -> Value {
    json!({ "type": "object" })
}

/// Output schema of a change: the note's location, and the commit that can be undone.
fn changed() -> Value {
    let text = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": { "file_path": text, "permalink": text, "checksum": text, "commit": text }
    })
}

/// Output schema of a search: the results, and whether there are more.
fn found() -> Value {
    json!({
        "type": "object",
        "properties": { "results": { "type": "array" }, "has_more": { "type": "boolean" } }
    })
}
