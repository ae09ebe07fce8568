//! One case for every tool: which arguments the measured call has, and what must exist before it.

use serde_json::{Value, json};
use xtask::vault::note;

/// Thread of the graph in which the cases write.
const THREAD: &str = "bench";
/// Project of the records in which the cases write.
const PROJECT: &str = "github.com/bench/bench";

/// Tool and arguments of a call that prepares a measured one.
type PrepareCall = fn(&CaseInput<'_>) -> (&'static str, Value);

/// The measured call of one tool.
pub(super) struct ToolCase {
    pub(super) tool: &'static str,
    /// Unmeasured call before each measured one. Its result is the input of `arguments`.
    pub(super) prepare: Option<PrepareCall>,
    pub(super) arguments: fn(&CaseInput<'_>) -> Value,
    pub(super) repeat: CaseRepeat,
}

/// Number of measurements of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseRepeat {
    Often,
    /// For calls that rewrite the whole log, or that create something that a vault has few of.
    Rarely,
}

/// Input for the arguments of a call.
pub(super) struct CaseInput<'a> {
    /// Number of this call, different for all calls of a run.
    pub(super) serial: usize,
    /// Number of notes in the vault.
    pub(super) notes: usize,
    /// Structured result of the prepared call.
    pub(super) prepared: &'a Value,
}

impl CaseInput<'_> {
    /// Returns the number of a note of the vault, spread over all of them.
    fn number(&self) -> usize {
        (self.serial * 7919) % self.notes
    }

    fn title(&self) -> String {
        note(self.number()).title
    }

    fn path(&self) -> String {
        note(self.number()).path
    }

    /// Returns three words that stand in some notes.
    fn query(&self) -> String {
        let other = note((self.number() + 1) % self.notes).title;
        format!("{} {}", self.title(), other.split(' ').next().unwrap_or_default())
    }

    /// Returns a small note: three lines with a fact, a tag and a link.
    fn small_note(&self) -> String {
        let (serial, title) = (self.serial, self.title());
        format!(
            "The meeting {serial} was about {title}.\n\n- [decision] Step {serial} comes before \
             lunch #bench\n- relates_to [[{title}]]\n"
        )
    }

    fn name(&self, what: &str) -> String {
        format!("Bench {what} {}", self.serial)
    }

    fn entity(&self) -> Value {
        json!({
            "name": self.name("entity"), "entityType": "Task",
            "observations": [format!("Step {} comes before lunch", self.serial)],
        })
    }

    /// Returns a text of the prepared result by its JSON pointer.
    fn prepared_text(&self, pointer: &str) -> Value {
        self.prepared.pointer(pointer).cloned().unwrap_or_default()
    }
}

fn write_note(c: &CaseInput<'_>) -> (&'static str, Value) {
    let title = c.name("note");
    ("write_note", json!({ "title": title, "content": c.small_note(), "directory": "bench" }))
}

fn add_memory(c: &CaseInput<'_>) -> (&'static str, Value) {
    let text = format!("Step {} comes before lunch, said {}", c.serial, c.title());
    ("add_memory", json!({ "content": text, "type": "fact", "project_id": PROJECT }))
}

fn remember(c: &CaseInput<'_>) -> (&'static str, Value) {
    let text = format!("The lamp {} of {} needs a new bulb", c.serial, c.title());
    ("remember", json!({ "content": text, "kind": "fact", "scope": "person" }))
}

fn add_reminder(c: &CaseInput<'_>) -> (&'static str, Value) {
    let message = c.name("reminder");
    ("add_reminder", json!({ "message": message, "cron_expression": "0 9 * * 1" }))
}

fn create_entities(c: &CaseInput<'_>) -> (&'static str, Value) {
    ("create_entities", json!({ "entities": [c.entity()], "threadId": THREAD }))
}

/// Creates an entity with a relation to another one.
fn save_memory(c: &CaseInput<'_>) -> (&'static str, Value) {
    let (name, other) = (c.name("entity"), c.name("other"));
    let observations = [format!("Step {} comes before lunch", c.serial)];
    let entities = json!([
        { "name": name, "entityType": "Task", "observations": observations,
          "relations": [{ "targetEntity": other, "relationType": "uses" }] },
        { "name": other, "entityType": "Task", "observations": observations, "relations": [],
          "root": true },
    ]);
    ("save_memory", json!({ "entities": entities, "threadId": THREAD }))
}

fn start_session(c: &CaseInput<'_>) -> (&'static str, Value) {
    ("start_session", json!({ "title": c.name("session") }))
}

fn start_stream(_: &CaseInput<'_>) -> (&'static str, Value) {
    ("start_memory_stream", json!({ "type": "note" }))
}

fn activate(_: &CaseInput<'_>) -> (&'static str, Value) {
    let arguments = json!({
        "bank_type": "project", "bank_id": "auto", "project_name": "bench",
        "project_description": "A project to measure",
    });
    ("activate", arguments)
}

fn create_project(c: &CaseInput<'_>) -> (&'static str, Value) {
    ("create_memory_project", json!({ "project_name": format!("bench-{}", c.serial) }))
}

fn disable_reminder_of(c: &CaseInput<'_>) -> Value {
    json!({ "id": c.prepared_text("/id") })
}

fn stream_id(c: &CaseInput<'_>) -> Value {
    json!({ "stream_id": c.prepared_text("/stream_id") })
}

const fn reads(tool: &'static str, arguments: fn(&CaseInput<'_>) -> Value) -> ToolCase {
    ToolCase { tool, prepare: None, arguments, repeat: CaseRepeat::Often }
}

const fn after(
    tool: &'static str,
    prepare: fn(&CaseInput<'_>) -> (&'static str, Value),
    arguments: fn(&CaseInput<'_>) -> Value,
) -> ToolCase {
    ToolCase { tool, prepare: Some(prepare), arguments, repeat: CaseRepeat::Often }
}

impl ToolCase {
    const fn rarely(mut self) -> Self {
        self.repeat = CaseRepeat::Rarely;
        self
    }
}

/// The cases of all tools, by toolset.
pub(super) const CASES: &[ToolCase] = &[
    reads("memory", |c| {
        json!({
            "command": "create", "path": format!("/memories/bench/{}.md", c.serial),
            "file_text": c.small_note(),
        })
    }),
    // The core.
    reads("remember", |c| remember(c).1),
    reads("recall", |c| json!({ "query": c.query() })),
    after("forget", remember, |c| json!({ "id": c.prepared_text("/id") })),
    // Notes.
    reads("write_note", |c| write_note(c).1),
    reads("read_note", |c| json!({ "identifier": c.title() })),
    reads("edit_note", |c| {
        let content = format!("- [step] Step {} comes before lunch\n", c.serial);
        json!({ "identifier": c.path(), "operation": "append", "content": content })
    }),
    reads("search_notes", |c| json!({ "query": c.query() })),
    reads("build_context", |c| json!({ "url": c.title() })),
    reads("recent_activity", |_| json!({ "timeframe": "7d" })),
    reads("list_directory", |_| json!({ "dir_name": "projects" })),
    after("move_note", write_note, |c| {
        json!({
            "identifier": c.prepared_text("/permalink"),
            "destination_path": format!("moved/Moved note {}.md", c.serial),
        })
    }),
    after("delete_note", write_note, |c| json!({ "identifier": c.prepared_text("/permalink") })),
    reads("read_content", |c| json!({ "path": c.path() })),
    reads("view_note", |c| json!({ "identifier": c.title() })),
    reads("canvas", |c| {
        let file = c.path();
        let node = json!({ "id": "a", "type": "file", "file": file, "x": 0, "y": 0, "width": 9, "height": 9 });
        json!({ "title": c.name("canvas"), "directory": "bench", "nodes": [node], "edges": [] })
    }),
    reads("list_memory_projects", |_| json!({})),
    reads("create_memory_project", |c| create_project(c).1).rarely(),
    after(
        "delete_project",
        create_project,
        |c| json!({ "project_name": format!("bench-{}", c.serial) }),
    )
    .rarely(),
    reads("schema_validate", |_| json!({ "note_type": "person" })),
    reads("schema_infer", |_| json!({ "note_type": "person" })),
    reads("schema_diff", |_| json!({ "note_type": "person" })),
    reads("search", |c| json!({ "query": c.query() })),
    reads("fetch", |c| json!({ "id": c.path() })),
    // The graph.
    reads("save_memory", |c| save_memory(c).1),
    reads("validate_memory", |c| save_memory(c).1),
    reads("create_entities", |c| create_entities(c).1),
    after("create_relations", save_memory, |c| {
        let relation = json!({
            "from": c.name("other"), "to": c.name("entity"), "relationType": "follows",
        });
        json!({ "relations": [relation], "threadId": THREAD })
    }),
    after("add_observations", create_entities, |c| {
        let added = json!({ "entityName": c.name("entity"), "contents": ["It takes an hour"] });
        json!({ "observations": [added], "threadId": THREAD })
    }),
    after("update_observation", create_entities, |c| {
        json!({
            "threadId": THREAD, "entityName": c.name("entity"), "newContent": "It takes two hours",
            "observationId": c.prepared_text("/entities/0/observations/0/id"),
        })
    }),
    after("get_observation_history", create_entities, |c| {
        json!({
            "threadId": THREAD, "entityName": c.name("entity"),
            "observationId": c.prepared_text("/entities/0/observations/0/id"),
        })
    }),
    after("delete_observations", create_entities, |c| {
        let text = format!("Step {} comes before lunch", c.serial);
        let deleted = json!({ "entityName": c.name("entity"), "observations": [text] });
        json!({ "deletions": [deleted], "threadId": THREAD })
    }),
    after("delete_relations", save_memory, |c| {
        let relation = json!({
            "from": c.name("entity"), "to": c.name("other"), "relationType": "uses",
        });
        json!({ "relations": [relation], "threadId": THREAD })
    }),
    after(
        "delete_entities",
        create_entities,
        |c| json!({ "entityNames": [c.name("entity")], "threadId": THREAD }),
    ),
    after("bulk_update", create_entities, |c| {
        let update = json!({ "entityName": c.name("entity"), "importance": 0.7 });
        json!({ "threadId": THREAD, "updates": [update] })
    }),
    after(
        "flag_for_review",
        create_entities,
        |c| json!({ "threadId": THREAD, "entityName": c.name("entity"), "reason": "Is it so?" }),
    ),
    reads("get_flagged_entities", |_| json!({ "threadId": THREAD })),
    reads("read_graph", |_| json!({ "threadId": THREAD })),
    reads("search_nodes", |c| json!({ "query": c.query() })),
    reads("open_nodes", |c| json!({ "names": [c.title()] })),
    reads("query_nodes", |_| json!({ "threadId": THREAD, "importanceMin": 0.6 })),
    reads("list_entities", |_| json!({})),
    reads("list_conversations", |_| json!({})),
    after(
        "find_relation_path",
        save_memory,
        |c| json!({ "threadId": THREAD, "from": c.name("entity"), "to": c.name("other") }),
    ),
    reads("detect_conflicts", |_| json!({ "threadId": THREAD })),
    reads("get_analytics", |_| json!({ "threadId": THREAD })),
    reads("get_memory_stats", |_| json!({})),
    reads("get_recent_changes", |_| json!({ "threadId": THREAD, "since": "2026-01-01T00:00:00Z" })),
    reads(
        "prune_memory",
        |_| json!({ "threadId": THREAD, "importanceLessThan": 0.01, "dryRun": true }),
    ),
    // Records.
    reads("add_memory", |c| add_memory(c).1),
    reads("search_memories", |c| json!({ "query": c.query(), "project_id": PROJECT })),
    reads("get_context", |c| json!({ "query": c.query() })),
    reads("get_rules", |_| json!({})),
    reads("list_memories", |_| json!({ "project_id": PROJECT })),
    after("edit_memory", add_memory, |c| {
        let text = format!("Step {} comes after lunch", c.serial);
        json!({ "id": c.prepared_text("/id"), "content": text })
    }),
    after("forget_memory", add_memory, |c| json!({ "id": c.prepared_text("/id") })),
    reads("restore_memory", |_| json!({})),
    reads(
        "bulk_forget_memories",
        |c| json!({ "pattern": format!("nothing says {}*", c.serial), "dry_run": true }),
    ),
    reads("consolidate_memories", |_| json!({ "dry_run": true })).rarely(),
    reads("vacuum_memories", |_| json!({})).rarely(),
    reads("add_reminder", |c| add_reminder(c).1),
    reads("list_reminders", |_| json!({})),
    after("disable_reminder", add_reminder, disable_reminder_of),
    after("enable_reminder", add_reminder, disable_reminder_of),
    after("delete_reminder", add_reminder, disable_reminder_of),
    reads("run_due_reminders", |_| json!({})),
    // A server keeps fifty unfinished streams.
    reads("start_memory_stream", |c| start_stream(c).1).rarely(),
    after("append_memory_chunk", start_stream, |c| {
        let mut arguments = stream_id(c);
        arguments["chunk"] = json!(c.small_note());
        arguments
    })
    .rarely(),
    after("finalize_memory_stream", start_stream, stream_id).rarely(),
    after("cancel_memory_stream", start_stream, stream_id).rarely(),
    // Sessions.
    reads("start_session", |c| start_session(c).1),
    after(
        "checkpoint_session",
        start_session,
        |c| json!({ "session_id": c.prepared_text("/session_id"), "content": c.small_note() }),
    ),
    after("snapshot_session", start_session, |c| {
        let id = c.prepared_text("/session_id");
        json!({ "session_id": id, "transcript_md": c.small_note() })
    }),
    after(
        "end_session",
        start_session,
        |c| json!({ "session_id": c.prepared_text("/session_id") }),
    ),
    // Banks.
    reads("activate", |c| activate(c).1),
    after("update", activate, |c| {
        json!({
            "bank_type": "project", "bank_id": c.prepared_text("/bank_info/id"),
            "content": format!("- Step {} comes before lunch\n", c.serial),
            "target_file": "doc/progress.md", "operation": "append",
        })
    }),
    reads("list", |_| json!({})),
];
