//! Markdown notes and the graph between them: the tools that Basic Memory's users know.

mod address;
mod answer;
mod canvas;
mod chatgpt;
mod context;
mod context_then;
mod directory;
mod edit;
mod glob;
mod hit;
mod links;
mod orient;
mod parts;
mod pattern;
mod projects;
mod read;
mod receipt;
mod recent;
mod relocate;
mod schema_names;
mod schemas;
mod scope;
mod search;
mod shape;
mod text;
mod write;

use serde_json::Value;

use crate::registry::{
    CallContext, PromptDef, ResourceDef, ToolDef, ToolHints, ToolResult, ToolTier, Toolset,
};

/// The prompts' rows.
pub(crate) const PROMPTS: &[PromptDef] = orient::PROMPTS;
/// The resources' rows.
pub(crate) const RESOURCES: &[ResourceDef] = orient::RESOURCES;

/// What a client's model is told of this set, in at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "NOTES:",
    "`search_notes` first.",
    "`write_note` makes a note, `edit_note` changes one.",
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

/// What a row says for itself; the rest is the same for all of them.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    tier: ToolTier,
    hints: ToolHints,
    input: fn() -> Value,
    output: fn() -> Value,
    handler: fn(&CallContext<'_>, Value) -> ToolResult,
}

const fn row(row: Row, toolset: Toolset) -> ToolDef {
    ToolDef {
        name: row.name,
        title: row.title,
        description: row.description,
        toolset,
        tier: row.tier,
        hints: row.hints,
        input: row.input,
        output: row.output,
        cap: 600_000,
        handler: row.handler,
    }
}

/// The tools' rows.
pub(crate) const TOOLS: &[ToolDef] = &[
    row(
        Row {
            name: "write_note",
            title: "Write note",
            description: "Create a Markdown note. An existing one is refused unless overwrite=true; \
                the old text stays in the history. Names similar notes.",
            tier: ToolTier::Default,
            hints: CHANGES,
            input: shape::write_note,
            output: shape::changed,
            handler: write::handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "read_note",
            title: "Read note",
            description: "Read a note by title, permalink, path or memory:// address, now or as_of \
                an earlier time.",
            tier: ToolTier::Default,
            hints: READS,
            input: shape::read_note,
            output: shape::plain,
            handler: read::read_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "edit_note",
            title: "Edit note",
            description: "Change a part of a note; the rest stays byte for byte. append and prepend \
                create a missing note.",
            tier: ToolTier::Default,
            hints: CHANGES,
            input: shape::edit_note,
            output: shape::changed,
            handler: edit::handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "search_notes",
            title: "Search notes",
            description: "Find notes, observations or relations by words, names, tags, types, \
                frontmatter and time.",
            tier: ToolTier::Default,
            hints: READS,
            input: shape::search_notes,
            output: shape::found,
            handler: search::handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "build_context",
            title: "Build context",
            description: "A note, its observations and the notes linked to and from it; or all \
                notes of a pattern.",
            tier: ToolTier::Default,
            hints: READS,
            input: shape::build_context,
            output: shape::found,
            handler: context::handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "recent_activity",
            title: "Recent activity",
            description: "What changed last, newest first, in one project or all.",
            tier: ToolTier::Default,
            hints: READS,
            input: shape::recent_activity,
            output: shape::found,
            handler: recent::handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "view_note",
            title: "View note",
            description: "Like read_note, to be displayed as an artifact.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::view_note,
            output: shape::plain,
            handler: read::view_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "move_note",
            title: "Move note",
            description: "Move or rename a note or folder within its project; permalinks stay.",
            tier: ToolTier::Extra,
            hints: CHANGES,
            input: shape::move_note,
            output: shape::changed,
            handler: relocate::move_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "delete_note",
            title: "Delete note",
            description: "Delete a note or folder; the history can bring it back.",
            tier: ToolTier::Extra,
            hints: REMOVES,
            input: shape::delete_note,
            output: shape::changed,
            handler: relocate::delete_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "list_directory",
            title: "List directory",
            description: "Folders and files of a project.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::list_directory,
            output: shape::plain,
            handler: directory::list_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "read_content",
            title: "Read content",
            description: "A file as it is: text, or base64 up to 350 kB.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::read_content,
            output: shape::plain,
            handler: directory::read_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "canvas",
            title: "Canvas",
            description: "Write a JSON Canvas file of nodes and edges.",
            tier: ToolTier::Extra,
            hints: REMOVES,
            input: shape::canvas,
            output: shape::changed,
            handler: canvas::handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "list_memory_projects",
            title: "List projects",
            description: "All projects, with the default.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::nothing,
            output: shape::plain,
            handler: projects::list_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "create_memory_project",
            title: "Create project",
            description: "Make a project; one that exists is reported.",
            tier: ToolTier::Extra,
            hints: ADDS,
            input: shape::create_project,
            output: shape::plain,
            handler: projects::create_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "delete_project",
            title: "Delete project",
            description: "Forget a project; its files stay unless delete_notes=true.",
            tier: ToolTier::Extra,
            hints: REMOVES,
            input: shape::delete_project,
            output: shape::plain,
            handler: projects::delete_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "schema_validate",
            title: "Validate schema",
            description: "Check notes against the schemas of their types.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::schema_validate,
            output: shape::plain,
            handler: schemas::validate_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "schema_infer",
            title: "Infer schema",
            description: "Propose a schema from the notes of a type.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::schema_infer,
            output: shape::plain,
            handler: schemas::infer_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "schema_diff",
            title: "Compare schema",
            description: "How the notes of a type have drifted from their schema.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::schema_diff,
            output: shape::plain,
            handler: schemas::diff_handler,
        },
        Toolset::Notes,
    ),
    row(
        Row {
            name: "search",
            title: "Search",
            description: "Search all notes; gives ids for `fetch`.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::chatgpt_search,
            output: shape::plain,
            handler: chatgpt::search_handler,
        },
        Toolset::Chatgpt,
    ),
    row(
        Row {
            name: "fetch",
            title: "Fetch",
            description: "The whole text of a note that `search` found.",
            tier: ToolTier::Extra,
            hints: READS,
            input: shape::chatgpt_fetch,
            output: shape::plain,
            handler: chatgpt::fetch_handler,
        },
        Toolset::Chatgpt,
    ),
];
