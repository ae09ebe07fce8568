//! The tools for memories that arrive in chunks.

use memoranda_core::change::Commit;
use memoranda_engine::records::{
    RecordKind, append_chunk, cancel_stream, finalize_stream, start_stream,
};
use serde_json::json;

use super::arguments;
use super::error::{RecordToolError, RecordToolResult, visible_streams};
use super::render::{count_text, kind_label, push_warning, scope_text, stream_totals};
use super::secrets::SecretScreen;
use crate::registry::{CallContext, ToolArgs, ToolResult};

fn commit_id(commit: Option<Commit>) -> Option<String> {
    commit.map(|commit| commit.id.to_string())
}

/// `start_memory_stream`.
pub(super) fn start(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let kind = arguments::kind(args, "type")?.unwrap_or(RecordKind::Note);
    arguments::check_rule_scope(call, args, kind)?;
    let scope = arguments::target_scope(call, args)?;
    let mut tags = arguments::tags(args)?.unwrap_or_default();
    let mut screen = SecretScreen::new(call);
    screen.texts(&mut tags);
    let warning = screen.finish()?;
    let started = start_stream(call.memory, &call.who, kind, scope, tags)?;
    let (stream, commit) = (&started.stream, commit_id(started.commit));
    let mut text = format!(
        "{}\nStarted a {} stream ({}). append_memory_chunk adds to it, finalize_memory_stream makes \
         the memory; it is kept for a day after the last chunk. Commit {}.",
        stream.id,
        stream.kind.as_str(),
        scope_text(&stream.scope),
        commit.as_deref().unwrap_or("none"),
    );
    let others =
        [("Expired and discarded", &started.expired), ("Unfinished streams", &started.open)];
    for (heading, streams) in others {
        let (seen, _) = visible_streams(&stream.scope, streams);
        if !seen.is_empty() {
            text.push_str(&format!("\n{heading}: {}.", seen.join("; ")));
        }
    }
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "stream_id": stream.id, "warning": warning, "type": stream.kind.as_str(),
        "scope": stream.scope.name(), "path": started.place.to_string(), "commit": commit,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `append_memory_chunk`.
pub(super) fn append(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("stream_id")?;
    let mut chunk = args.text("chunk")?;
    let mut screen = SecretScreen::new(call);
    screen.text(&mut chunk);
    let warning = screen.finish()?;
    if chunk.is_empty() {
        return Err(RecordToolError::new("`chunk` is empty: there is nothing to append."));
    }
    let appended = append_chunk(call.memory, &call.who, &id, &chunk)?;
    let (chunks, chars) = (appended.chunks, appended.chars);
    let mut text = stream_totals(chunks, chars);
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "stream_id": id, "chunks": chunks, "chars": chars, "commit": commit_id(appended.commit),
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `finalize_memory_stream`.
pub(super) fn finalize(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("stream_id")?;
    let mut warning = None;
    // The whole text is screened again: a secret can arrive in two chunks.
    let finalized = finalize_stream(call.memory, &call.who, &id, |record| {
        let mut screen = SecretScreen::new(call);
        screen.record(record);
        warning = screen.finish()?;
        Ok::<_, RecordToolError>(())
    })?;
    let (stream, missing) = (&finalized.stream, &finalized.missing);
    let commit = commit_id(finalized.commit);
    let lost = missing_chunks_text(missing, stream.chunks);
    let Some(record) = finalized.record else {
        let text = format!("Stream {id} was empty - no memory created.{lost}");
        let structured = json!({
            "stream_id": id, "id": null, "commit": commit, "missing_chunks": missing,
        });
        return Ok(ToolResult::ok(text, structured));
    };
    let (chunks, chars) = (stream.chunks - missing.len(), finalized.chars);
    let mut text = format!(
        "Created {} {} from {} ({chars} chars)\n{} ({}) · commit {}{lost}",
        kind_label(stream.kind),
        record.id,
        count_text(chunks, "chunk"),
        record.place,
        scope_text(&stream.scope),
        commit.as_deref().unwrap_or("none"),
    );
    push_warning(&mut text, warning.as_deref());
    let structured = json!({
        "id": record.id, "type": stream.kind.as_str(), "scope": stream.scope.name(),
        "chunks": chunks, "chars": chars, "path": record.place.to_string(), "commit": commit,
        "warning": warning, "missing_chunks": missing,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Renders the line about missing chunks; empty if none is missing.
fn missing_chunks_text(missing: &[usize], chunks: usize) -> String {
    const MAX_NAMED: usize = 20;
    if missing.is_empty() {
        return String::new();
    }
    let mut named: Vec<String> = missing.iter().take(MAX_NAMED).map(usize::to_string).collect();
    if missing.len() > MAX_NAMED {
        named.push("…".to_owned());
    }
    format!(
        "\nMISSING: {} of {} (number {}): the files were removed from the vault. The memory has \
         only the rest; add what is lacking with edit_memory.",
        missing.len(),
        count_text(chunks, "chunk"),
        named.join(", ")
    )
}

/// `cancel_memory_stream`.
pub(super) fn cancel(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("stream_id")?;
    let cancelled = cancel_stream(call.memory, &call.who, &id)?;
    let (chunks, chars) = (cancelled.chunks, cancelled.chars);
    let text = format!("Cancelled stream {id} (discarded {}).", stream_totals(chunks, chars));
    let commit = commit_id(cancelled.commit);
    let structured = json!({ "stream_id": id, "chunks": chunks, "chars": chars, "commit": commit });
    Ok(ToolResult::ok(text, structured))
}
