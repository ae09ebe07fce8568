//! The tools for sessions.

use memoranda_core::change::Commit;
use memoranda_engine::clock;
use memoranda_engine::records::{
    NewEvent, NewSession, add_event, end_session, snapshot_transcript, start_session,
    write_snapshot,
};
use serde_json::json;

use super::arguments;
use super::error::{RecordToolError, RecordToolResult};
use super::render::{push_warning, scope_text};
use super::secrets::SecretScreen;
use crate::registry::{CallContext, ToolArgs, ToolResult};

fn commit_id(commit: Option<Commit>) -> String {
    commit.map_or_else(|| "none".to_owned(), |commit| commit.id.to_string())
}

/// `start_session`.
pub(super) fn start(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let scope = arguments::target_scope(call, args)?;
    let title = args.optional_text("title")?.filter(|title| !title.trim().is_empty());
    let mut title =
        title.unwrap_or_else(|| format!("Session of {}", clock::now().strftime("%Y-%m-%d %H:%M")));
    let mut metadata = args.object("metadata")?;
    let mut screen = SecretScreen::new(call);
    screen.text(&mut title);
    metadata.iter_mut().for_each(|metadata| screen.object(metadata));
    let mut keys = Vec::new();
    for key in ["client", "user_id"] {
        if let Some(mut value) = args.optional_text(key)? {
            screen.text(&mut value);
            keys.push((key, value));
        }
    }
    let warning = screen.finish()?;
    let new = NewSession { scope, title, keys, metadata };
    let session = start_session(call.memory, &call.who, &new)?;
    let (id, place, commit) = (session.id, session.place, commit_id(session.commit));
    let scope = session.scope;
    let mut text =
        format!("Started session {id} ({})\n{place} · commit {commit}", scope_text(&scope));
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "session_id": id, "scope": scope.name(), "path": place.to_string(), "commit": commit,
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `checkpoint_session`.
pub(super) fn checkpoint(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("session_id")?;
    let mut content = args.text("content")?;
    if content.trim().is_empty() {
        return Err(RecordToolError::new("`content` is empty: there is nothing to keep."));
    }
    let role = args.word("role")?;
    let kind = args.word("kind")?;
    let is_meaningful = args.is_set("is_meaningful")?;
    let mut details = String::new();
    for (name, word) in [("turn_index", "turn"), ("token_count", "tokens")] {
        if let Some(number) = args.optional_integer(name)? {
            details.push_str(&format!(" · {word} {number}"));
        }
    }
    let mut screen = SecretScreen::new(call);
    screen.text(&mut content);
    let warning = screen.finish()?;
    let new = NewEvent { role, kind, details, is_meaningful, content };
    let added = add_event(call.memory, &call.who, &id, &new)?;
    let (event, session) = (added.event, added.session);
    let (scope, commit) = (session.scope, commit_id(session.commit));
    let mut text = format!(
        "Checkpointed session {id} with event {event}\n{} ({}) · commit {commit}",
        session.place,
        scope_text(&scope)
    );
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "session_id": id, "event_id": event, "scope": scope.name(), "commit": commit,
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `end_session`.
pub(super) fn end(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("session_id")?;
    let status = args.word("status")?;
    let session = end_session(call.memory, &call.who, &id, &status)?;
    let (scope, commit) = (session.scope, commit_id(session.commit));
    let text = format!(
        "Ended session {id} as {status}\n{} ({}) · commit {commit}",
        session.place,
        scope_text(&scope)
    );
    let structured = json!({
        "session_id": id, "status": status, "scope": scope.name(), "commit": commit,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `snapshot_session`.
pub(super) fn snapshot(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("session_id")?;
    let trigger = args.word("source_trigger")?;
    let count = args.integer("message_count")?;
    let meaningful_only = args.is_set("meaningful_only")?;
    let transcript = args.optional_text("transcript_md")?;
    let mut request = snapshot_transcript(call.memory, &id, transcript, count, meaningful_only)?;
    request.trigger = trigger;
    if let Some(slug) = args.optional_text("slug")? {
        request.slug = slug;
    }
    let mut screen = SecretScreen::new(call);
    screen.text(&mut request.transcript);
    screen.text(&mut request.slug);
    let warning = screen.finish()?;
    let written = write_snapshot(call.memory, &call.who, &request)?;
    let (number, slug, place) = (written.id, written.slug, written.place);
    let (scope, commit) = (request.scope, commit_id(written.commit));
    let mut text = format!(
        "Created snapshot {number} ({slug}) for session {id}\n{place} ({}) · commit {commit}",
        scope_text(&scope)
    );
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "snapshot_id": number, "slug": slug, "session_id": id, "scope": scope.name(),
        "path": place.to_string(), "commit": commit, "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}
