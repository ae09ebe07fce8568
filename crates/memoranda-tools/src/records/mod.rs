//! Rules, facts, decisions, context and reminders, global or of one repository.
//!
//! Every record is a file: `global/<type>/<id>.md` or `projects/<host-owner-repo>/<type>/<id>.md`
//! in the project `records`. The folder says what it is and whom it concerns, so a file that a
//! person puts there is a record like any other.

mod brief;
mod consolidate;
mod context;
mod delete;
mod error;
mod expiry;
mod glob;
mod kind;
mod layer;
mod listing;
mod query;
mod record;
mod reminder;
mod resources;
mod rules;
mod schedule;
mod schema;
mod scope;
mod secrets;
mod session;
mod similarity;
mod stream;
mod sync_scope;
mod write;

use serde_json::Value;

use crate::registry::{
    CallContext, PromptDef, ToolArgs, ToolDef, ToolHints, ToolResult, ToolTier, Toolset,
};

pub use brief::{BriefRequest, brief};
pub use error::RecordError;
pub use expiry::RecordExpiry;
pub use glob::normalize_globs;
pub use kind::RecordKind;
pub use query::{active_rules, records_of_kind};
pub use record::{MemoryRecord, NewRecord};
pub use reminder::{Reminder, acknowledge_due_reminders, list_reminders};
pub(crate) use resources::RESOURCES;
pub use schedule::DueRuns;
pub use scope::{ProjectId, RecordScope};
pub use sync_scope::rules_sync_scope;
pub(crate) use sync_scope::sync_scope;
pub use write::{AddedRecord, add_records};

const READS: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };
const ADDS: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false };
const CHANGES: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false };

/// What a row of this dialect has of its own.
const fn row(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    hints: ToolHints,
    input: fn() -> Value,
    handler: fn(&CallContext<'_>, Value) -> ToolResult,
) -> ToolDef {
    ToolDef {
        name,
        title,
        description,
        toolset: Toolset::Records,
        tier: ToolTier::Default,
        hints,
        input,
        output: schema::result,
        cap: 60_000,
        handler,
    }
}

/// The tools' rows.
pub(crate) const TOOLS: &[ToolDef] = &[
    row(
        "get_context",
        "Get context",
        "Call first in every task: active rules of this repository and global, memories relevant to \
         the query, due reminders.",
        READS,
        schema::get_context,
        |call, arguments| answer(call, "get_context", arguments, context::get_context),
    ),
    row(
        "add_memory",
        "Add memory",
        "Store a rule, decision, fact, note or skill for later conversations, for this repository \
         or globally.",
        ADDS,
        schema::add_memory,
        |call, arguments| answer(call, "add_memory", arguments, write::add),
    ),
    row(
        "search_memories",
        "Search memories",
        "Full-text search over memories, global and of the project, best first.",
        READS,
        schema::search_memories,
        |call, arguments| answer(call, "search_memories", arguments, listing::search),
    ),
    row(
        "get_rules",
        "Get rules",
        "All active rules, of the project and global.",
        READS,
        schema::get_rules,
        |call, arguments| answer(call, "get_rules", arguments, rules::get_rules),
    ),
    row(
        "list_memories",
        "List memories",
        "Recent memories, global and of the project.",
        READS,
        schema::list_memories,
        |call, arguments| answer(call, "list_memories", arguments, listing::list),
    ),
    row(
        "edit_memory",
        "Edit memory",
        "Change a memory: at least one field besides id. null clears category, metadata, expires.",
        CHANGES,
        schema::edit_memory,
        |call, arguments| answer(call, "edit_memory", arguments, write::edit),
    ),
    row(
        "forget_memory",
        "Forget memory",
        "Soft-delete a memory; restore_memory recovers it.",
        CHANGES,
        schema::forget_memory,
        |call, arguments| answer(call, "forget_memory", arguments, delete::forget),
    ),
    row(
        "bulk_forget_memories",
        "Bulk forget memories",
        "Soft-delete memories matching filters (at least one, or all). Preview with dry_run.",
        CHANGES,
        schema::bulk_forget_memories,
        |call, arguments| answer(call, "bulk_forget_memories", arguments, delete::bulk_forget),
    ),
    row(
        "restore_memory",
        "Restore memory",
        "Bring back what was forgotten, by id or commit; without either, list it.",
        ToolHints { read_only: false, destructive: false, idempotent: true, open_world: false },
        schema::restore_memory,
        |call, arguments| answer(call, "restore_memory", arguments, delete::restore),
    ),
    row(
        "vacuum_memories",
        "Vacuum memories",
        "Permanently purge soft-deleted memories, from the history too.",
        CHANGES,
        schema::nothing,
        |call, arguments| answer(call, "vacuum_memories", arguments, delete::vacuum),
    ),
    row(
        "add_reminder",
        "Add reminder",
        "Create a cron reminder. It is shown by get_context when due.",
        ADDS,
        schema::add_reminder,
        |call, arguments| answer(call, "add_reminder", arguments, reminder::add),
    ),
    row(
        "list_reminders",
        "List reminders",
        "Reminders in scope, due ones first.",
        READS,
        schema::list_reminders,
        |call, arguments| answer(call, "list_reminders", arguments, reminder::list),
    ),
    row(
        "run_due_reminders",
        "Run due reminders",
        "Return reminders due now and advance them; missed runs collapse into one.",
        ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false },
        schema::run_due_reminders,
        |call, arguments| answer(call, "run_due_reminders", arguments, reminder::run),
    ),
    row(
        "enable_reminder",
        "Enable reminder",
        "Enable a reminder and recompute its next trigger.",
        CHANGES,
        schema::reminder,
        |call, arguments| answer(call, "enable_reminder", arguments, reminder::enable),
    ),
    row(
        "disable_reminder",
        "Disable reminder",
        "Disable a reminder.",
        CHANGES,
        schema::reminder,
        |call, arguments| answer(call, "disable_reminder", arguments, reminder::disable),
    ),
    row(
        "delete_reminder",
        "Delete reminder",
        "Delete a reminder.",
        CHANGES,
        schema::reminder,
        |call, arguments| answer(call, "delete_reminder", arguments, reminder::delete),
    ),
    row(
        "start_memory_stream",
        "Start memory stream",
        "Start collecting a memory in chunks; returns stream_id.",
        ADDS,
        schema::start_memory_stream,
        |call, arguments| answer(call, "start_memory_stream", arguments, stream::start),
    ),
    row(
        "append_memory_chunk",
        "Append memory chunk",
        "Append content to a stream.",
        ADDS,
        schema::append_memory_chunk,
        |call, arguments| answer(call, "append_memory_chunk", arguments, stream::append),
    ),
    row(
        "finalize_memory_stream",
        "Finalize memory stream",
        "Complete the stream and create the memory.",
        ADDS,
        schema::stream,
        |call, arguments| answer(call, "finalize_memory_stream", arguments, stream::finalize),
    ),
    row(
        "cancel_memory_stream",
        "Cancel memory stream",
        "Discard the stream without creating a memory.",
        CHANGES,
        schema::stream,
        |call, arguments| answer(call, "cancel_memory_stream", arguments, stream::cancel),
    ),
    of_sessions(row(
        "start_session",
        "Start session",
        "Start the record of a conversation; returns session_id.",
        ADDS,
        schema::start_session,
        |call, arguments| answer(call, "start_session", arguments, session::start),
    )),
    of_sessions(row(
        "checkpoint_session",
        "Checkpoint session",
        "Add what happened to a session.",
        ADDS,
        schema::checkpoint_session,
        |call, arguments| answer(call, "checkpoint_session", arguments, session::checkpoint),
    )),
    of_sessions(row(
        "end_session",
        "End session",
        "End a session; it is kept.",
        ADDS,
        schema::end_session,
        |call, arguments| answer(call, "end_session", arguments, session::end),
    )),
    of_sessions(row(
        "snapshot_session",
        "Snapshot session",
        "Keep the last events of a session, or a transcript, as a note of their own.",
        ADDS,
        schema::snapshot_session,
        |call, arguments| answer(call, "snapshot_session", arguments, session::snapshot),
    )),
    of_sessions(row(
        "consolidate_memories",
        "Consolidate memories",
        "Merge memories that say the same: the newest stays, the others are marked superseded and \
         no longer shown. Preview with dry_run.",
        CHANGES,
        schema::consolidate_memories,
        |call, arguments| answer(call, "consolidate_memories", arguments, consolidate::consolidate),
    )),
];

/// A row of the set `sessions`, which is offered only when it is asked for.
#[expect(clippy::needless_pass_by_value, reason = "a constant takes rows apart only as a whole")]
const fn of_sessions(row: ToolDef) -> ToolDef {
    ToolDef { toolset: Toolset::Sessions, tier: ToolTier::Extra, ..row }
}

/// The prompts' rows.
pub(crate) const PROMPTS: &[PromptDef] = &[];

/// What a client's model is told of this set, in at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "RECORDS:",
    "`get_context` first in every task: the rules, what is relevant, what is due.",
    "`add_memory` keeps what lasts.",
];

/// Other names that models use for parameters.
const ALIASES: &[(&str, &[&str])] = &[
    ("id", &["memory_id", "memoryId", "reminder_id"]),
    ("project_id", &["projectId", "project"]),
    ("query", &["q", "search"]),
    ("content", &["text", "memory"]),
    ("type", &["memory_type"]),
    ("cron_expression", &["cron", "schedule"]),
    ("session_id", &["sessionId"]),
    ("stream_id", &["streamId"]),
    ("dry_run", &["dryRun"]),
];

/// Parameters of memories.sh that are understood without being listed: clients that know it send
/// them. The first are honoured, the last have no meaning here.
const UNLISTED: &[(&str, &[&str], &[&str])] = &[
    (
        "get_context",
        &["mode"],
        &[
            "session_id",
            "turn_count",
            "turn_budget",
            "last_activity_at",
            "inactivity_threshold_minutes",
            "task_completed",
            "include_session_summary",
        ],
    ),
    ("add_memory", &["layer"], &[]),
    ("search_memories", &["types", "layer"], &[]),
    ("list_memories", &["types", "layer"], &[]),
    ("consolidate_memories", &[], &["model"]),
];

/// The parameters that a tool understands without listing them: those that it honours, and those
/// that have no meaning here.
fn unlisted(name: &str) -> (&'static [&'static str], &'static [&'static str]) {
    let found = UNLISTED.iter().find(|(tool, _, _)| *tool == name);
    found.map_or((&[], &[]), |(_, honoured, ignored)| (honoured, ignored))
}

/// The arguments of a tool, by their own names; an error if it has no such parameters.
fn read(name: &'static str, arguments: Value) -> error::Result<ToolArgs> {
    let schema = crate::input_of(name);
    let listed: Vec<&str> = schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let (honoured, ignored) = unlisted(name);
    let mut args = ToolArgs::new(name, arguments)?;
    let aliases: Vec<_> = ALIASES.iter().filter(|(own, _)| listed.contains(own)).copied().collect();
    args.rename(&aliases);
    args.without(&[honoured, ignored].concat()).only(&listed)?;
    Ok(args)
}

/// Reads the arguments of a tool, lets it act, and says what became of it.
fn answer(
    call: &CallContext<'_>,
    name: &'static str,
    arguments: Value,
    act: fn(&CallContext<'_>, &ToolArgs) -> error::Result<ToolResult>,
) -> ToolResult {
    let answered = read(name, arguments).and_then(|args| {
        let mut result = act(call, &args)?;
        let given = unlisted(name).1.iter().filter(|name| args.value(name).is_some());
        let given: Vec<&str> = given.copied().collect();
        if !given.is_empty() {
            result
                .text
                .push_str(&format!("\n[ignored, without meaning here: {}]", given.join(", ")));
        }
        Ok(result)
    });
    match answered {
        Ok(result) => result,
        Err(error) => ToolResult::error(error.to_string()),
    }
}
