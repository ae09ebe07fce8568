//! The record tools: rules, facts, decisions, context, reminders, streams and sessions.

mod add_memory;
mod arguments;
mod brief;
mod consolidate;
mod context;
mod edit_memory;
mod elsewhere;
mod error;
mod forget_memory;
mod listing;
mod params;
mod reminders;
mod render;
mod resources;
mod restore_memory;
mod rules;
mod secrets;
mod sessions;
mod streams;
mod sync_scope;
mod writer;

use crate::registry::{
    ParamTable, PromptDef, ScanPolicy, ToolAdvice, ToolDef, ToolHints, ToolReach, ToolTier, Toolset,
};

pub(crate) use arguments::{named_scope, visible_scopes};
pub use brief::{
    BriefQuestion, BriefRequest, BriefVisit, NearestInBrief, question_brief, quotation,
    session_brief,
};
pub(crate) use error::RecordToolError;
pub(crate) use resources::RESOURCES;
pub(crate) use secrets::SecretScreen;
pub use writer::last_writer;

const READS: ToolHints =
    ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false };
const ADDS: ToolHints =
    ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false };
const CHANGES: ToolHints =
    ToolHints { read_only: false, destructive: true, idempotent: true, open_world: false };

/// Base of the rows: the facts that most records tools share. A memory is named by its id, so the
/// result can depend on every record.
const BASE: ToolDef = ToolDef {
    toolset: Toolset::Records,
    tier: ToolTier::Default,
    reach: ToolReach::OwnProject,
    max_chars: 60_000,
    scan: ScanPolicy::ByArguments(sync_scope::all_records),
    ..ToolDef::BASE
};

/// Base of the rows of the set `sessions`.
const SESSION_BASE: ToolDef = ToolDef { toolset: Toolset::Sessions, tier: ToolTier::Extra, ..BASE };

/// Row of `get_context`, which is listed with the core.
pub(crate) const GET_CONTEXT: ToolDef = ToolDef {
    name: "get_context",
    title: "Get context",
    description: "For the start of a task: active rules, memories relevant to the query, what is \
        known of the person, what is due, memory files, changes since the last visit.",
    tier: ToolTier::Core,
    hints: READS,
    params: params::GET_CONTEXT,
    run: |call, args| Ok(context::get_context(call, args)?),
    reach: ToolReach::Requested,
    scan: ScanPolicy::ByArguments(sync_scope::context),
    ..BASE
};

/// Rows of the tools.
pub(crate) const TOOLS: &[ToolDef] = &[
    ToolDef {
        name: "add_memory",
        title: "Add memory",
        description: "Store a rule, decision, fact, note or skill for later conversations, for this repository \
            or globally.",
        hints: ADDS,
        params: params::ADD_MEMORY,
        run: |call, args| Ok(add_memory::run(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "search_memories",
        title: "Search memories",
        description: "Search memories: those of the project and global first, then what other interfaces and \
            repositories hold, each with its place.",
        hints: READS,
        params: params::SEARCH_MEMORIES,
        run: |call, args| Ok(listing::search(call, args)?),
        scan: ScanPolicy::Everything,
        ..BASE
    },
    ToolDef {
        name: "get_rules",
        title: "Get rules",
        description: "All active rules, of the project and global.",
        hints: READS,
        params: params::GET_RULES,
        run: |call, args| Ok(rules::get_rules(call, args)?),
        scan: ScanPolicy::ByArguments(sync_scope::rules),
        ..BASE
    },
    ToolDef {
        name: "list_memories",
        title: "List memories",
        description: "Recent memories, global and of the project.",
        hints: READS,
        params: params::LIST_MEMORIES,
        run: |call, args| Ok(listing::list(call, args)?),
        scan: ScanPolicy::ByArguments(sync_scope::visible_records),
        ..BASE
    },
    ToolDef {
        name: "edit_memory",
        title: "Edit memory",
        description: "Change a memory: at least one field besides id. null clears category, metadata, expires.",
        hints: CHANGES,
        params: params::EDIT_MEMORY,
        run: |call, args| Ok(edit_memory::run(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "forget_memory",
        title: "Forget memory",
        description: "Soft-delete a memory; restore_memory recovers it.",
        hints: CHANGES,
        params: params::FORGET_MEMORY,
        run: |call, args| Ok(forget_memory::run(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "bulk_forget_memories",
        advice: ToolAdvice::ForPeople,
        title: "Bulk forget memories",
        description: "Soft-delete memories matching filters (at least one, or all). Preview with dry_run.",
        hints: CHANGES,
        params: params::BULK_FORGET_MEMORIES,
        run: |call, args| Ok(forget_memory::run_bulk(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "restore_memory",
        title: "Restore memory",
        description: "Bring back what was forgotten, by id or commit; without either, list it.",
        hints: ToolHints {
            read_only: false,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        params: params::RESTORE_MEMORY,
        run: |call, args| Ok(restore_memory::run(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "vacuum_memories",
        advice: ToolAdvice::ForPeople,
        title: "Vacuum memories",
        description: "Permanently purge soft-deleted memories, from the history too.",
        hints: CHANGES,
        params: ParamTable::EMPTY,
        run: |call, args| Ok(restore_memory::run_vacuum(call, args)?),
        scan: ScanPolicy::Everything,
        ..BASE
    },
    ToolDef {
        name: "add_reminder",
        title: "Add reminder",
        description: "Create a cron reminder. It is shown by get_context when due.",
        hints: ADDS,
        params: params::ADD_REMINDER,
        run: |call, args| Ok(reminders::add(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "list_reminders",
        title: "List reminders",
        description: "Reminders in scope, due ones first.",
        hints: READS,
        params: params::LIST_REMINDERS,
        run: |call, args| Ok(reminders::list(call, args)?),
        scan: ScanPolicy::ByArguments(sync_scope::reminders),
        ..BASE
    },
    ToolDef {
        name: "run_due_reminders",
        title: "Run due reminders",
        description: "Return reminders due now and advance them; missed runs collapse into one.",
        hints: ToolHints {
            read_only: false,
            destructive: false,
            idempotent: false,
            open_world: false,
        },
        params: params::RUN_DUE_REMINDERS,
        run: |call, args| Ok(reminders::run_due(call, args)?),
        scan: ScanPolicy::ByArguments(sync_scope::reminders),
        ..BASE
    },
    ToolDef {
        name: "enable_reminder",
        title: "Enable reminder",
        description: "Enable a reminder and recompute its next trigger.",
        hints: CHANGES,
        params: params::REMINDER,
        run: |call, args| Ok(reminders::enable(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "disable_reminder",
        title: "Disable reminder",
        description: "Disable a reminder.",
        hints: CHANGES,
        params: params::REMINDER,
        run: |call, args| Ok(reminders::disable(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "delete_reminder",
        title: "Delete reminder",
        description: "Delete a reminder.",
        hints: CHANGES,
        params: params::REMINDER,
        run: |call, args| Ok(reminders::delete(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "start_memory_stream",
        title: "Start memory stream",
        description: "Start collecting a memory in chunks; returns stream_id.",
        hints: ADDS,
        params: params::START_MEMORY_STREAM,
        run: |call, args| Ok(streams::start(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "append_memory_chunk",
        title: "Append memory chunk",
        description: "Append content to a stream.",
        hints: ADDS,
        params: params::APPEND_MEMORY_CHUNK,
        run: |call, args| Ok(streams::append(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "finalize_memory_stream",
        title: "Finalize memory stream",
        description: "Complete the stream and create the memory.",
        hints: ADDS,
        params: params::STREAM,
        run: |call, args| Ok(streams::finalize(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "cancel_memory_stream",
        title: "Cancel memory stream",
        description: "Discard the stream without creating a memory.",
        hints: CHANGES,
        params: params::STREAM,
        run: |call, args| Ok(streams::cancel(call, args)?),
        ..BASE
    },
    ToolDef {
        name: "start_session",
        title: "Start session",
        description: "Start the record of a conversation; returns session_id.",
        hints: ADDS,
        params: params::START_SESSION,
        run: |call, args| Ok(sessions::start(call, args)?),
        ..SESSION_BASE
    },
    ToolDef {
        name: "checkpoint_session",
        title: "Checkpoint session",
        description: "Add what happened to a session.",
        hints: ADDS,
        params: params::CHECKPOINT_SESSION,
        run: |call, args| Ok(sessions::checkpoint(call, args)?),
        ..SESSION_BASE
    },
    ToolDef {
        name: "end_session",
        title: "End session",
        description: "End a session; it is kept.",
        hints: ADDS,
        params: params::END_SESSION,
        run: |call, args| Ok(sessions::end(call, args)?),
        ..SESSION_BASE
    },
    ToolDef {
        name: "snapshot_session",
        title: "Snapshot session",
        description: "Keep the last events of a session, or a transcript, as a note of their own.",
        hints: ADDS,
        params: params::SNAPSHOT_SESSION,
        run: |call, args| Ok(sessions::snapshot(call, args)?),
        ..SESSION_BASE
    },
    ToolDef {
        name: "consolidate_memories",
        title: "Consolidate memories",
        description: "Merge memories that say the same: the newest stays, the others are marked superseded and \
            no longer shown. Preview with dry_run.",
        hints: CHANGES,
        params: params::CONSOLIDATE_MEMORIES,
        run: |call, args| Ok(consolidate::consolidate(call, args)?),
        ..SESSION_BASE
    },
];

/// Rows of the prompts.
pub(crate) const PROMPTS: &[PromptDef] = &[];

/// Instructions about this toolset for the client's model, at most 200 bytes.
pub(crate) const BRIEF: &[&str] = &[
    "RECORDS:",
    "`add_memory` keeps a record with type, tags and paths.",
    "`search_memories` finds records.",
];
