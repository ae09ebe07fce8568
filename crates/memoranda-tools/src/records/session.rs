//! Sessions: what happened in a conversation, kept as one file that grows, and snapshots of it.

use jiff::Timestamp;
use memoranda_core::note::{self, MetaValue};
use memoranda_engine::{Memory, Place, ReviseOutcome, Step, clock};
use serde_json::json;

use super::error::{RecordError, Result};
use super::query;
use super::record::{metadata_value, place, project, set_key, single_line};
use super::scope::{self, RecordScope};
use super::secrets::SecretScreen;
use super::write;
use crate::registry::{CallContext, ToolArgs, ToolResult};

const FOLDER: &str = "session";
const SNAPSHOTS: &str = "snapshot";
/// A session that is longer than this is to be ended, and another one started.
const MAX_SESSION_BYTES: usize = 500_000;
const ROLES: [&str; 3] = ["assistant", "user", "tool"];
const EVENT_KINDS: [&str; 4] = ["checkpoint", "message", "summary", "event"];
const TRIGGERS: [&str; 4] = ["manual", "new_session", "reset", "auto_compaction"];

/// `start_session`.
pub(super) fn start(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let scope = scope::target(call, args)?;
    let now = clock::now();
    let id = clock::new_name();
    let title = args.optional_text("title")?.filter(|title| !title.trim().is_empty());
    let mut title =
        title.unwrap_or_else(|| format!("Session of {}", now.strftime("%Y-%m-%d %H:%M")));
    let mut metadata = args.object("metadata")?;
    let mut screen = SecretScreen::new(call);
    screen.text(&mut title);
    metadata.iter_mut().for_each(|metadata| screen.object(metadata));
    let mut about = Vec::new();
    for key in ["client", "user_id"] {
        if let Some(mut value) = args.optional_text(key)? {
            screen.text(&mut value);
            about.push((key, value));
        }
    }
    let warning = screen.finish()?;
    let mut text = String::from("\n");
    let mut set = |key: &str, value: MetaValue| -> Result<()> {
        text = set_key(&text, key, value)?;
        Ok(())
    };
    set("title", MetaValue::Text(single_line(&title, 200)))?;
    set("type", MetaValue::Text(FOLDER.into()))?;
    if !write::is_global(&scope) {
        set("project", MetaValue::Text(scope.name().to_owned()))?;
    }
    for (key, value) in about {
        set(key, MetaValue::Text(single_line(&value, 200)))?;
    }
    if let Some(metadata) = &metadata {
        set("metadata", metadata_value(metadata))?;
    }
    set("status", MetaValue::Text("open".into()))?;
    set("started", MetaValue::Text(now.to_string()))?;
    call.memory.create_project(project().as_str())?;
    let at = place(&format!("{}/{id}.md", query::kind_folder(&scope, FOLDER)?))?;
    let outcome = call.memory.revise(&call.who, None, |_| -> Result<Vec<Step>> {
        Ok(vec![Step::create(at.clone(), text.clone())])
    })?;
    let commit = commit_id(outcome)?;
    let mut text = format!("Started session {id} ({})\n{at} · commit {commit}", scope.describe());
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "session_id": id, "scope": scope.name(), "path": at.to_string(), "commit": commit,
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `checkpoint_session`.
pub(super) fn checkpoint(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("session_id")?;
    let mut content = args.text("content")?;
    if content.trim().is_empty() {
        return Err(RecordError::new("`content` is empty: there is nothing to keep."));
    }
    let role = args.choice("role", &ROLES)?.unwrap_or_else(|| "assistant".into());
    let kind = args.choice("kind", &EVENT_KINDS)?.unwrap_or_else(|| "checkpoint".into());
    let meaningful = args.flag("is_meaningful")?.unwrap_or(true);
    let mut more = String::new();
    for (name, word) in [("turn_index", "turn"), ("token_count", "tokens")] {
        if let Some(number) = args.number(name, 0, 1_000_000_000)? {
            more.push_str(&format!(" · {word} {number}"));
        }
    }
    if !meaningful {
        more.push_str(" · minor");
    }
    let mut screen = SecretScreen::new(call);
    screen.text(&mut content);
    let warning = screen.finish()?;
    let content = escape_event_headings(&content);
    let (scope, at) = find_session(call.memory, &id)?;
    let mut event = String::new();
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let text = open_text(desk.text(&at)?.map(|(text, _)| text), &id)?;
        let number = events(&text).len() + 1;
        event = format!("e{number}");
        let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
        let now = clock::now();
        let entry =
            format!("{gap}## {event} · {role} · {kind} · {now}{more}\n\n{}\n", content.trim());
        if text.len() + entry.len() > MAX_SESSION_BYTES {
            return Err(RecordError::new(format!(
                "Session {id} has {} bytes, and {MAX_SESSION_BYTES} are the most. end_session it and \
                 start another.",
                text.len()
            )));
        }
        Ok(vec![Step::put(at.clone(), text + &entry)])
    })?;
    let commit = commit_id(outcome)?;
    let mut text = format!(
        "Checkpointed session {id} with event {event}\n{at} ({}) · commit {commit}",
        scope.describe()
    );
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "session_id": id, "event_id": event, "scope": scope.name(), "commit": commit,
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `end_session`.
pub(super) fn end(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("session_id")?;
    let status =
        args.choice("status", &["closed", "compacted"])?.unwrap_or_else(|| "closed".into());
    let (scope, at) = find_session(call.memory, &id)?;
    let outcome = call.memory.revise(&call.who, None, |desk| -> Result<Vec<Step>> {
        let text = open_text(desk.text(&at)?.map(|(text, _)| text), &id)?;
        let text = set_key(&text, "status", MetaValue::Text(status.clone()))?;
        let text = set_key(&text, "ended", MetaValue::Text(clock::now().to_string()))?;
        Ok(vec![Step::put(at.clone(), text)])
    })?;
    let commit = commit_id(outcome)?;
    let text =
        format!("Ended session {id} as {status}\n{at} ({}) · commit {commit}", scope.describe());
    let structured = json!({
        "session_id": id, "status": status, "scope": scope.name(), "commit": commit,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `snapshot_session`.
pub(super) fn snapshot(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let id = args.text("session_id")?;
    let trigger = args.choice("source_trigger", &TRIGGERS)?.unwrap_or_else(|| "manual".into());
    let count = args.number("message_count", 1, 1000)?.unwrap_or(15) as usize;
    let meaningful_only = args.flag("meaningful_only")?.unwrap_or(true);
    let (scope, at) = find_session(call.memory, &id)?;
    let read = call.memory.read_at(&at)?;
    let text = read.text()?;
    let title = note::parse(text).title().unwrap_or_else(|| id.clone());
    let mut transcript = match args.optional_text("transcript_md")? {
        Some(transcript) if !transcript.trim().is_empty() => transcript,
        _ => {
            let mut kept = events(text);
            kept.retain(|event| !meaningful_only || !event.minor);
            let skip = kept.len().saturating_sub(count);
            let parts: Vec<&str> = kept.iter().skip(skip).map(|event| event.text).collect();
            if parts.is_empty() {
                return Err(RecordError::new(format!(
                    "Session {id} has no events to snapshot: checkpoint_session adds one, or give \
                     transcript_md."
                )));
            }
            parts.join("\n\n")
        }
    };
    let mut screen = SecretScreen::new(call);
    screen.text(&mut transcript);
    let mut slug = args.optional_text("slug")?.unwrap_or_else(|| title.clone());
    screen.text(&mut slug);
    let warning = screen.finish()?;
    let slug: String = memoranda_core::note::permalink::slug(&slug).replace('/', "-");
    let slug: String = slug.chars().take(60).collect();
    let number = clock::new_name();
    let name = if slug.is_empty() { number.clone() } else { format!("{slug}-{number}") };
    let now = clock::now();
    let file = snapshot_file(&scope, &id, &title, &trigger, &transcript, now)?;
    let to = place(&format!("{}/{name}.md", query::kind_folder(&scope, SNAPSHOTS)?))?;
    let outcome = call.memory.revise(&call.who, None, |_| -> Result<Vec<Step>> {
        Ok(vec![Step::create(to.clone(), file.clone())])
    })?;
    let commit = commit_id(outcome)?;
    let mut text = format!(
        "Created snapshot {number} ({slug}) for session {id}\n{to} ({}) · commit {commit}",
        scope.describe()
    );
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    let structured = json!({
        "snapshot_id": number, "slug": slug, "session_id": id, "scope": scope.name(),
        "path": to.to_string(), "commit": commit, "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

fn snapshot_file(
    scope: &RecordScope,
    session: &str,
    title: &str,
    trigger: &str,
    transcript: &str,
    now: Timestamp,
) -> Result<String> {
    let mut text = format!("\n{}\n\n- snapshot_of [[{session}]]\n", transcript.trim());
    let mut keys = vec![
        ("title", format!("{title} (snapshot)")),
        ("type", SNAPSHOTS.to_owned()),
        ("session", session.to_owned()),
        ("trigger", trigger.to_owned()),
        ("created", now.to_string()),
    ];
    if !write::is_global(scope) {
        keys.insert(2, ("project", scope.name().to_owned()));
    }
    for (key, value) in keys {
        text = set_key(&text, key, MetaValue::Text(value))?;
    }
    Ok(text)
}

/// One event of a session.
struct SessionEvent<'t> {
    text: &'t str,
    minor: bool,
}

/// Whether a line begins an event.
fn is_event_heading(line: &str) -> bool {
    line.strip_prefix("## e")
        .and_then(|rest| rest.split_once(" · "))
        .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What an event says, without a line that would be taken for another event.
fn escape_event_headings(content: &str) -> String {
    let line = |line| if is_event_heading(line) { format!("\\{line}") } else { line.to_owned() };
    content.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The events of a session, in order.
fn events(text: &str) -> Vec<SessionEvent<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_event_heading(line) {
            starts.push((at, line.trim_end().ends_with(" · minor")));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let event = |((start, minor), end): (&(usize, bool), usize)| SessionEvent {
        text: text.get(*start..end).unwrap_or_default().trim_end(),
        minor: *minor,
    };
    starts.iter().zip(ends).map(event).collect()
}

/// The text of a session that has not ended.
fn open_text(text: Option<String>, id: &str) -> Result<String> {
    let text = text.ok_or_else(|| unknown_session(id))?;
    match note::parse(&text).frontmatter.text("status").as_deref() {
        Some("open") | None => Ok(text),
        Some(status) => Err(RecordError::new(format!(
            "Session {id} has ended ({status}). start_session starts another."
        ))),
    }
}

fn find_session(memory: &Memory, id: &str) -> Result<(RecordScope, Place)> {
    for candidate in memory.store().link_candidates(&project(), id)? {
        let path = &candidate.path;
        let Some(folder) = path.parent().and_then(|folder| folder.strip_suffix("/session")) else {
            continue;
        };
        if path.stem() == id {
            let file = memory.store().file_by_id(candidate.id)?;
            let front = file.and_then(|file| serde_json::from_str(&file.metadata).ok());
            let scope = RecordScope::from_folder(folder, &front.unwrap_or_default());
            return Ok((scope, Place { project: project(), path: path.clone() }));
        }
    }
    Err(unknown_session(id))
}

fn unknown_session(id: &str) -> RecordError {
    RecordError::new(format!("Session {id} not found. start_session starts one and gives its id."))
}

fn commit_id(outcome: ReviseOutcome) -> Result<String> {
    match outcome {
        ReviseOutcome::Committed(commit) => Ok(commit.id.to_string()),
        ReviseOutcome::Unchanged => Ok("none".to_owned()),
        ReviseOutcome::Conflict(_) => {
            Err(RecordError::new("The session was changed meanwhile; nothing was done. Try again."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_apart_from_what_they_say() {
        let text = "---\nstatus: open\n---\n\n## e1 · user · message · t\n\nhi\n## Plan\nx\n\n\
                    ## e2 · tool · event · t · minor\n\nnoise\n";
        let found = events(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "## e1 · user · message · t\n\nhi\n## Plan\nx");
        assert_eq!((found[0].minor, found[1].minor), (false, true));
        let said = escape_event_headings("hi\n## e9 · tool · event · t\n## Plan");
        assert_eq!(said, "hi\n\\## e9 · tool · event · t\n## Plan");
        assert!(events(&said).is_empty());
        assert!(events("no events, ## e1 · in a line").is_empty());
    }
}
