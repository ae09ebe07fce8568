//! The parameters of the records tools.

use memoranda_engine::records::RecordKind;
use serde_json::json;

use crate::registry::{Param, ParamTable};

const PROJECT: Param = Param::text(
    "project_id",
    "Project, e.g. github.com/user/repo; default: the repository at hand",
)
.aliases(PROJECT_ALIASES);
const PROJECT_ALIASES: &[&str] = &["projectId", "project"];
const GLOBAL: Param = Param::flag("global", "Global scope; excludes project_id");
const MEMORY_ID: Param = Param::text("id", "Memory id").required().aliases(ID_ALIASES);
const ID_ALIASES: &[&str] = &["memory_id", "memoryId", "reminder_id"];
const SESSION_ID: Param =
    Param::text("session_id", "Session id").required().aliases(&["sessionId"]);
const STREAM_ID: Param = Param::text("stream_id", "Stream id").required().aliases(&["streamId"]);
const MIN_RELEVANCE: Param =
    Param::decimal("min_relevance", 0.0, 1.0, "Least relevance; 0 shows all");
const TAGS: Param = Param::texts("tags", "Tags");

/// Layer of a memory in memories.sh, whose clients send it. Not listed.
const LAYER: Param = Param::text("layer", "Layer of memories.sh").hidden();
/// Plural of `type` in memories.sh. Not listed.
const TYPES: Param = Param::texts("types", "Types of memories.sh").hidden();

const fn kind(description: &'static str) -> Param {
    Param::choice("type", &RecordKind::NAMES, description).aliases(&["memory_type"])
}

const fn query(description: &'static str) -> Param {
    Param::text("query", description).aliases(&["q", "search"])
}

const fn content(description: &'static str) -> Param {
    Param::text("content", description).aliases(&["text", "memory"])
}

const fn dry_run(description: &'static str) -> Param {
    Param::flag("dry_run", description).aliases(&["dryRun"])
}

pub(super) const GET_CONTEXT: ParamTable = ParamTable::new(&[&[
    query("What you're working on"),
    PROJECT,
    Param::integer("limit", 0, 50, "Max relevant memories (default 5)")
        .hide_max()
        .default_integer(5),
    Param::texts("files", "Files you work on"),
    Param::integer("budget_tokens", 1, 1_000_000, "Default 1500")
        .hide_max()
        .aliases(&["max_tokens"]),
    MIN_RELEVANCE.hidden(),
    Param::texts("entityNames", "Graph entities: their neighbourhood instead").keep_empty(),
    Param::text("threadId", "Thread of the entities").hidden(),
    Param::integer("depth", 1, 5, "Hops around the entities (default 1)")
        .hidden()
        .default_integer(1),
    Param::integer("offset", 0, 10_000_000, "Entities to pass over").hidden(),
    Param::text("mode", "Mode of memories.sh").hidden(),
    Param::text("session_id", "").ignored(),
    Param::text("turn_count", "").ignored(),
    Param::text("turn_budget", "").ignored(),
    Param::text("last_activity_at", "").ignored(),
    Param::text("inactivity_threshold_minutes", "").ignored(),
    Param::text("task_completed", "").ignored(),
    Param::text("include_session_summary", "").ignored(),
]]);

pub(super) const ADD_MEMORY: ParamTable = ParamTable::new(&[&[
    content("The memory content").required(),
    kind(
        "rule: always follow; decision: choice with rationale; fact: knowledge; skill: \
         workflow (with category, metadata); note (default)",
    ),
    GLOBAL,
    PROJECT,
    TAGS,
    Param::texts("paths", "Globs the rule is for, e.g. src/api/**"),
    Param::text("category", "Grouping key"),
    Param::object("metadata", "Extended attributes"),
    Param::text("expires", "When it stops being true: 2026-12-31, 7d"),
    Param::texts("supersedes", "Ids of memories it replaces"),
    LAYER,
]]);

pub(super) const SEARCH_MEMORIES: ParamTable = ParamTable::new(&[&[
    query("Words, or one id to read that memory whole").required(),
    PROJECT,
    kind("Filter by type"),
    Param::integer("limit", 1, 100, "Max results (default 10)").default_integer(10),
    MIN_RELEVANCE,
    Param::integer("offset", 0, u32::MAX as u64, "With an id: characters to skip")
        .default_integer(0),
    Param::integer("max_tokens", 1, 1_000_000, "Token budget of the answer")
        .hidden()
        .aliases(&["budget_tokens"]),
    TYPES,
    LAYER,
]]);

pub(super) const GET_RULES: ParamTable = ParamTable::new(&[&[
    PROJECT,
    Param::texts("files", "Leaves out rules for other paths"),
    Param::integer("offset", 0, 1_000_000, "Rules to skip").default_integer(0),
]]);

pub(super) const LIST_MEMORIES: ParamTable = ParamTable::new(&[&[
    kind("Filter by type"),
    Param::text("tags", "Filter by tag (substring)"),
    PROJECT,
    Param::integer("limit", 1, 200, "Max results (default 20)").default_integer(20),
    Param::flag("include_inactive", "Also superseded and expired ones"),
    TYPES,
    LAYER,
]]);

/// An empty value clears a field.
pub(super) const EDIT_MEMORY: ParamTable = ParamTable::new(&[&[
    MEMORY_ID,
    content("New content").keep_empty(),
    kind("New type").keep_empty(),
    Param::texts("tags", "New tags (replace)").keep_empty(),
    Param::texts("paths", "New globs (replace)").keep_empty(),
    Param::text("category", "New grouping key").keep_empty(),
    Param::object("metadata", "New attributes (replace)").keep_empty(),
    Param::text("expires", "New expiry").keep_empty(),
]]);

pub(super) const FORGET_MEMORY: ParamTable = ParamTable::new(&[&[MEMORY_ID]]);

pub(super) const RESTORE_MEMORY: ParamTable = ParamTable::new(&[&[
    Param::text("id", "Forgotten memory").aliases(ID_ALIASES),
    Param::text("commit", "Commit of a bulk forget"),
    PROJECT,
]]);

pub(super) const BULK_FORGET_MEMORIES: ParamTable = ParamTable::new(&[&[
    Param::schema(
        "types",
        |_| json!({ "type": "array", "items": { "type": "string", "enum": RecordKind::NAMES } }),
        "Types",
    ),
    Param::texts("tags", "Tags (substring)"),
    Param::integer("older_than_days", 1, 36_500, "Older than N days"),
    Param::text("pattern", "Content pattern anywhere: * any chars, ? one"),
    Param::text("project_id", "Only this project").aliases(PROJECT_ALIASES),
    Param::flag("all", "Everything visible; excludes other filters"),
    dry_run("Preview, delete nothing"),
]]);

pub(super) const ADD_REMINDER: ParamTable = ParamTable::new(&[&[
    Param::text("cron_expression", "5 fields, local time, e.g. 0 9 * * 1-5")
        .required()
        .aliases(&["cron", "schedule"]),
    Param::text("message", "Reminder text").required(),
    GLOBAL,
    PROJECT,
]]);

pub(super) const LIST_REMINDERS: ParamTable =
    ParamTable::new(&[&[Param::flag("include_disabled", "Include disabled ones"), PROJECT]]);

pub(super) const RUN_DUE_REMINDERS: ParamTable =
    ParamTable::new(&[&[dry_run("Preview without advancing"), PROJECT]]);

pub(super) const REMINDER: ParamTable =
    ParamTable::new(&[&[Param::text("id", "Reminder id").required().aliases(ID_ALIASES)]]);

pub(super) const START_MEMORY_STREAM: ParamTable =
    ParamTable::new(&[&[kind("Memory type (default note)"), TAGS, GLOBAL, PROJECT]]);

pub(super) const APPEND_MEMORY_CHUNK: ParamTable =
    ParamTable::new(&[&[STREAM_ID, Param::text("chunk", "Content chunk").required()]]);

pub(super) const STREAM: ParamTable = ParamTable::new(&[&[STREAM_ID]]);

pub(super) const START_SESSION: ParamTable = ParamTable::new(&[&[
    Param::text("title", "What the session is about"),
    Param::text("client", "The client's name"),
    Param::text("user_id", "Whose session it is"),
    Param::object("metadata", "Extended attributes"),
    GLOBAL,
    PROJECT,
]]);

pub(super) const CHECKPOINT_SESSION: ParamTable = ParamTable::new(&[&[
    SESSION_ID,
    content("What happened").required(),
    Param::choice("role", &["user", "assistant", "tool"], "Who (default assistant)")
        .default_word("assistant"),
    Param::choice("kind", &["message", "checkpoint", "summary", "event"], "Default checkpoint")
        .default_word("checkpoint"),
    Param::integer("token_count", 0, 1_000_000_000, "Tokens so far"),
    Param::integer("turn_index", 0, 1_000_000_000, "Turn"),
    Param::flag("is_meaningful", "Default true; false leaves it out of snapshots")
        .default_flag(true),
]]);

pub(super) const END_SESSION: ParamTable = ParamTable::new(&[&[
    SESSION_ID,
    Param::choice("status", &["closed", "compacted"], "Default closed").default_word("closed"),
]]);

pub(super) const SNAPSHOT_SESSION: ParamTable = ParamTable::new(&[&[
    SESSION_ID,
    Param::choice(
        "source_trigger",
        &["new_session", "reset", "manual", "auto_compaction"],
        "Default manual",
    )
    .default_word("manual"),
    Param::text("slug", "Name of the snapshot"),
    Param::text("transcript_md", "Markdown to keep instead of the session's events"),
    Param::integer("message_count", 1, 1000, "Last events to keep (default 15)")
        .default_integer(15),
    Param::flag("meaningful_only", "Default true").default_flag(true),
]]);

pub(super) const CONSOLIDATE_MEMORIES: ParamTable = ParamTable::new(&[&[
    Param::texts("types", "Types; default all"),
    Param::flag("include_global", "Default true").default_flag(true),
    Param::flag("global_only", "Only global ones"),
    PROJECT,
    dry_run("Preview, change nothing"),
    Param::text("model", "").ignored(),
]]);
