//! The schemas of the tools, from a few building blocks: what clients send is read with the same
//! names.

use serde_json::{Map, Value, json};

use super::kind::RecordKind;

/// An object with these properties.
fn object(properties: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn number(description: &str, least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

fn bag(description: &str) -> Value {
    json!({ "type": "object", "description": description })
}

fn kind(description: &str) -> Value {
    json!({ "type": "string", "enum": RecordKind::NAMES, "description": description })
}

fn project() -> Value {
    text("Project, e.g. github.com/user/repo; default: the repository at hand")
}

fn global() -> Value {
    flag("Global scope; excludes project_id")
}

pub(super) fn get_context() -> Value {
    object(
        &[
            ("query", text("What you're working on; without it, just rules and due reminders")),
            ("project_id", project()),
            ("limit", number("Max memories (default 5; rules always included)", 0, 50)),
            ("files", texts("Files you work on: leaves out rules for other paths")),
            ("budget_tokens", number("Cut memories to about this many tokens", 1, 1_000_000)),
            ("entityNames", texts("Graph entities: their neighbourhood instead")),
            ("threadId", text("Thread of the entities")),
            ("depth", number("Hops around the entities (default 1)", 1, 5)),
            ("offset", number("Entities to pass over, as a cut answer says", 0, 10_000_000)),
        ],
        &[],
    )
}

pub(super) fn add_memory() -> Value {
    object(
        &[
            ("content", text("The memory content")),
            (
                "type",
                kind(
                    "rule: always follow; decision: choice with rationale; fact: knowledge; skill: \
                     workflow (with category, metadata); note (default)",
                ),
            ),
            ("global", global()),
            ("project_id", project()),
            ("tags", texts("Tags")),
            ("paths", texts("Globs the rule is for, e.g. src/api/**")),
            ("category", text("Grouping key")),
            ("metadata", bag("Extended attributes")),
            ("expires", text("When it stops being true: 2026-12-31, 7d")),
            ("supersedes", texts("Ids of memories it replaces")),
        ],
        &["content"],
    )
}

pub(super) fn search_memories() -> Value {
    object(
        &[
            ("query", text("Words, or one id to read that memory whole")),
            ("project_id", project()),
            ("type", kind("Filter by type")),
            ("limit", number("Max results (default 10)", 1, 100)),
            ("offset", number("With an id: characters to skip", 0, u64::from(u32::MAX))),
        ],
        &["query"],
    )
}

pub(super) fn get_rules() -> Value {
    object(
        &[
            ("project_id", project()),
            ("files", texts("Leaves out rules for other paths")),
            ("offset", number("Rules to skip", 0, 1_000_000)),
        ],
        &[],
    )
}

pub(super) fn list_memories() -> Value {
    object(
        &[
            ("type", kind("Filter by type")),
            ("tags", text("Filter by tag (substring)")),
            ("project_id", project()),
            ("limit", number("Max results (default 20)", 1, 200)),
            ("include_inactive", flag("Also superseded and expired ones")),
        ],
        &[],
    )
}

pub(super) fn edit_memory() -> Value {
    object(
        &[
            ("id", text("Memory id")),
            ("content", text("New content")),
            ("type", kind("New type")),
            ("tags", texts("New tags (replace)")),
            ("paths", texts("New globs (replace)")),
            ("category", text("New grouping key")),
            ("metadata", bag("New attributes (replace)")),
            ("expires", text("New expiry")),
        ],
        &["id"],
    )
}

pub(super) fn forget_memory() -> Value {
    object(&[("id", text("Memory id"))], &["id"])
}

pub(super) fn restore_memory() -> Value {
    object(
        &[
            ("id", text("Forgotten memory")),
            ("commit", text("Commit of a bulk forget")),
            ("project_id", project()),
        ],
        &[],
    )
}

pub(super) fn bulk_forget_memories() -> Value {
    object(
        &[
            (
                "types",
                json!({
                    "type": "array",
                    "items": { "type": "string", "enum": RecordKind::NAMES },
                    "description": "Types",
                }),
            ),
            ("tags", texts("Tags (substring)")),
            ("older_than_days", number("Older than N days", 1, 36_500)),
            ("pattern", text("Content pattern anywhere: * any chars, ? one")),
            ("project_id", text("Only this project")),
            ("all", flag("Everything visible; excludes other filters")),
            ("dry_run", flag("Preview, delete nothing")),
        ],
        &[],
    )
}

pub(super) fn nothing() -> Value {
    object(&[], &[])
}

pub(super) fn add_reminder() -> Value {
    object(
        &[
            ("cron_expression", text("5 fields, local time, e.g. 0 9 * * 1-5")),
            ("message", text("Reminder text")),
            ("global", global()),
            ("project_id", project()),
        ],
        &["cron_expression", "message"],
    )
}

pub(super) fn list_reminders() -> Value {
    object(&[("include_disabled", flag("Include disabled ones")), ("project_id", project())], &[])
}

pub(super) fn run_due_reminders() -> Value {
    object(&[("dry_run", flag("Preview without advancing")), ("project_id", project())], &[])
}

pub(super) fn reminder() -> Value {
    object(&[("id", text("Reminder id"))], &["id"])
}

pub(super) fn start_memory_stream() -> Value {
    object(
        &[
            ("type", kind("Memory type (default note)")),
            ("tags", texts("Tags")),
            ("global", global()),
            ("project_id", project()),
        ],
        &[],
    )
}

pub(super) fn append_memory_chunk() -> Value {
    object(
        &[("stream_id", text("Stream id")), ("chunk", text("Content chunk"))],
        &["stream_id", "chunk"],
    )
}

pub(super) fn stream() -> Value {
    object(&[("stream_id", text("Stream id"))], &["stream_id"])
}

pub(super) fn start_session() -> Value {
    object(
        &[
            ("title", text("What the session is about")),
            ("client", text("The client's name")),
            ("user_id", text("Whose session it is")),
            ("metadata", bag("Extended attributes")),
            ("global", global()),
            ("project_id", project()),
        ],
        &[],
    )
}

fn choice(description: &str, words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words, "description": description })
}

pub(super) fn checkpoint_session() -> Value {
    object(
        &[
            ("session_id", text("Session id")),
            ("content", text("What happened")),
            ("role", choice("Who (default assistant)", &["user", "assistant", "tool"])),
            ("kind", choice("Default checkpoint", &["message", "checkpoint", "summary", "event"])),
            ("token_count", number("Tokens so far", 0, 1_000_000_000)),
            ("turn_index", number("Turn", 0, 1_000_000_000)),
            ("is_meaningful", flag("Default true; false leaves it out of snapshots")),
        ],
        &["session_id", "content"],
    )
}

pub(super) fn end_session() -> Value {
    object(
        &[
            ("session_id", text("Session id")),
            ("status", choice("Default closed", &["closed", "compacted"])),
        ],
        &["session_id"],
    )
}

pub(super) fn snapshot_session() -> Value {
    object(
        &[
            ("session_id", text("Session id")),
            (
                "source_trigger",
                choice("Default manual", &["new_session", "reset", "manual", "auto_compaction"]),
            ),
            ("slug", text("Name of the snapshot")),
            ("transcript_md", text("Markdown to keep instead of the session's events")),
            ("message_count", number("Last events to keep (default 15)", 1, 1000)),
            ("meaningful_only", flag("Default true")),
        ],
        &["session_id"],
    )
}

pub(super) fn consolidate_memories() -> Value {
    object(
        &[
            ("types", texts("Types; default all")),
            ("include_global", flag("Default true")),
            ("global_only", flag("Only global ones")),
            ("project_id", project()),
            ("dry_run", flag("Preview, change nothing")),
        ],
        &[],
    )
}

/// Results are objects; their fields are in the reference.
pub(super) fn result() -> Value {
    json!({ "type": "object" })
}
