//! Texts and JSON of records, reminders, scopes and streams in answers.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use memoranda_core::note;
use memoranda_engine::records::{
    MAX_COUNTED_RUNS, MemoryRecord, NoProjectReason, OpenStream, RecordKind, RecordScope, Reminder,
    VisibleScopes, single_line,
};
use serde_json::{Value, json};

/// Maximum length of a record in a list, in characters.
pub(super) const LINE_CHARS: usize = 1000;
/// Number of characters of structured records per answer before each is cut.
const WHOLE_CHARS: usize = 60_000;

/// Returns the label of a kind in lists.
pub(super) fn kind_label(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Rule => "📌 RULE",
        RecordKind::Decision => "💡 DECISION",
        RecordKind::Fact => "📋 FACT",
        RecordKind::Note => "📝 NOTE",
        RecordKind::Skill => "🔧 SKILL",
    }
}

/// Returns the marker of a scope in lists.
pub(super) fn scope_marker(scope: &RecordScope) -> &'static str {
    match scope {
        RecordScope::Global => "G",
        RecordScope::Project(_) => "P",
    }
}

/// Names a scope in a sentence.
pub(super) fn scope_text(scope: &RecordScope) -> String {
    match scope {
        RecordScope::Global => "global".to_owned(),
        RecordScope::Project(_) => format!("project: {}", scope.name()),
    }
}

/// Returns the line of an answer that names the visible scopes.
pub(super) fn visible_scopes_text(visible: &VisibleScopes) -> String {
    let because = match (visible.project(), &visible.no_project) {
        (Some(project), _) => {
            return format!("Scope: project {} and global", project.name());
        }
        (None, NoProjectReason::Requested) => return "Scope: global (as asked)".to_owned(),
        (None, NoProjectReason::Restricted(only)) => {
            return format!("Scope: the project {only} only");
        }
        (None, NoProjectReason::Unknown) => {
            return "Scope: global (no project: the client did not name its repository, by \
                    project_id or by the header X-Memoranda-Repository)"
                .to_owned();
        }
        (None, NoProjectReason::NoRemote) => "no git remote was found".to_owned(),
        (None, NoProjectReason::Remotes(names)) if names.len() == 1 => {
            format!("the git remote {} names no host", names.join(""))
        }
        (None, NoProjectReason::Remotes(names)) => {
            format!("none of the git remotes {} is `origin` with a host", names.join(", "))
        }
    };
    format!("Scope: global (no project: {because}, and no project_id given)")
}

/// Renders a record in a list: `📋 FACT (P) id: text [tags] (paths: …) {category}`.
pub(super) fn list_line(record: &MemoryRecord, max_chars: usize) -> String {
    let (label, marker) = (kind_label(record.kind), scope_marker(&record.scope));
    let text = clipped_content(record, max_chars);
    format!("{label} ({marker}) {}: {text}{}", record.id, details(record))
}

/// Renders a record with its text, or a part of its text, line by line.
pub(super) fn full_text(record: &MemoryRecord, text: &str) -> String {
    let (label, marker) = (kind_label(record.kind), scope_marker(&record.scope));
    let (id, details) = (&record.id, details(record));
    if text.contains('\n') {
        format!("{label} ({marker}) {id}{details}:\n{text}")
    } else {
        format!("{label} ({marker}) {id}: {text}{details}")
    }
}

/// Renders the attributes of a record.
fn details(record: &MemoryRecord) -> String {
    let mut line = String::new();
    if record.kind == RecordKind::Decision {
        if let Some(reason) = decision_reason(record) {
            line.push_str(&format!(" — because {reason}"));
        }
        line.push_str(&format!(" (decided {})", record.created.strftime("%Y-%m-%d")));
    }
    if !record.tags.is_empty() {
        line.push_str(&format!(" [{}]", record.tags.join(", ")));
    }
    if !record.paths.is_empty() {
        line.push_str(&format!(" (paths: {})", record.paths.join(", ")));
    }
    if let Some(category) = &record.category {
        line.push_str(&format!(" {{{category}}}"));
    }
    if record.kind == RecordKind::Skill
        && let Some(metadata) = &record.metadata
    {
        let json = Value::Object(metadata.clone()).to_string();
        line.push_str(&format!(" metadata: {}", single_line(&json, 300)));
    }
    if let Some(by) = &record.superseded_by {
        line.push_str(&format!(" (superseded by {by})"));
    }
    if let Some(expires) = record.expires {
        line.push_str(&format!(" (expires {})", expires.day()));
    }
    note::one_line(&line).into_owned()
}

/// Returns the reason of a decision without a leading "because".
fn decision_reason(record: &MemoryRecord) -> Option<String> {
    let metadata = record.metadata.as_ref()?;
    let keys = ["reason", "rationale", "why", "because"];
    let reason = keys.iter().find_map(|key| scalar_text(metadata.get(*key)?))?;
    let reason = single_line(&reason, 300);
    let prefix = reason.get(..8).filter(|word| word.eq_ignore_ascii_case("because "));
    Some(prefix.and_then(|_| reason.get(8..)).unwrap_or(&reason).to_owned())
}

fn scalar_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Renders the text of a record on one line. A long text is cut and names the call for the rest.
fn clipped_content(record: &MemoryRecord, max_chars: usize) -> String {
    let chars = record.content.chars().count();
    if chars <= max_chars {
        return single_line(&record.content, usize::MAX);
    }
    let id = &record.id;
    let head = single_line(&record.content, max_chars);
    format!("{head} [cut, {chars} characters: search_memories {{\"query\": \"{id}\"}}]")
}

/// Renders a record as JSON.
pub(super) fn record_json(record: &MemoryRecord) -> Value {
    let mut json = json!({
        "id": record.id,
        "type": record.kind.as_str(),
        "scope": record.scope.name(),
        "content": record.content,
        "created": record.created.to_string(),
        "updated": record.updated.to_string(),
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            json[key] = value;
        }
    };
    add("tags", (!record.tags.is_empty()).then(|| json!(record.tags)));
    add("paths", (!record.paths.is_empty()).then(|| json!(record.paths)));
    add("category", record.category.clone().map(Value::String));
    add("metadata", record.metadata.clone().map(Value::Object));
    add("expires", record.expires.map(|expires| json!(expires.to_stored_text())));
    add("superseded_by", record.superseded_by.clone().map(Value::String));
    json
}

/// Renders records as JSON: in full while there is room, then cut as in the text.
pub(super) fn records_json(found: &[MemoryRecord]) -> Vec<Value> {
    let mut room = WHOLE_CHARS;
    let json = |record: &MemoryRecord| {
        let chars = record.content.chars().count();
        let mut json = record_json(record);
        if chars > room.max(LINE_CHARS) {
            json["content"] = json!(record.content.chars().take(LINE_CHARS).collect::<String>());
            json["content_chars"] = json!(chars);
        }
        room = room.saturating_sub(chars);
        json
    };
    found.iter().map(json).collect()
}

/// Formats a time in the local time zone.
pub(super) fn local_time(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
}

/// Renders the next run of a reminder.
pub(super) fn next_run_text(reminder: &Reminder, zone: &TimeZone) -> String {
    match (reminder.next, &reminder.problem) {
        (Some(next), _) => local_time(next, zone),
        (None, Some(problem)) => problem.clone(),
        (None, None) => "none".to_owned(),
    }
}

/// Renders a due reminder with the time since when it is due.
pub(super) fn due_text(reminder: &Reminder, zone: &TimeZone) -> String {
    let (id, scope) = (&reminder.id, scope_text(&reminder.scope));
    let message = single_line(&reminder.message, 500);
    let Some(due) = reminder.due else { return format!("{id} ({scope}): {message}") };
    let missed = match due.runs {
        1 => String::new(),
        MAX_COUNTED_RUNS => format!("; {MAX_COUNTED_RUNS} or more runs missed, shown once"),
        runs => format!("; {runs} runs missed, shown once"),
    };
    format!("{id} ({scope}): {message} (due since {}{missed})", local_time(due.since, zone))
}

/// Renders a reminder as JSON.
pub(super) fn reminder_json(reminder: &Reminder) -> Value {
    json!({
        "id": reminder.id,
        "scope": reminder.scope.name(),
        "cron": reminder.cron,
        "message": reminder.message,
        "enabled": reminder.enabled,
        "next": reminder.next.map(|next| next.to_string()),
        "due_since": reminder.due.map(|due| due.since.to_string()),
        "runs": reminder.due.map(|due| due.runs),
        "problem": reminder.problem,
    })
}

/// Renders an open stream: `stream_abc (2 chunks, 27 chars)`.
pub(super) fn stream_text(stream: &OpenStream) -> String {
    format!("{} ({})", stream.id, stream_totals(stream.chunks, stream.chars))
}

/// Renders the size of a stream: `2 chunks, 27 chars`.
pub(super) fn stream_totals(chunks: usize, chars: usize) -> String {
    format!("{}, {chars} chars", count_text(chunks, "chunk"))
}

/// Renders a number with its noun.
pub(super) fn count_text(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Adds a warning to an answer on a line of its own.
pub(super) fn push_warning(text: &mut String, warning: Option<&str>) {
    if let Some(warning) = warning {
        text.push_str(&format!("\n{warning}"));
    }
}
