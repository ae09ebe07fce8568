//! `add_memory`.

use memoranda_core::statement::{StatementScope, guess_statement};
use memoranda_engine::clock;
use memoranda_engine::records::{
    AddedRecord, MemoryLayer, NewRecord, RecordExpiry, RecordKind, RecordScope, add_records,
    single_line,
};
use serde_json::json;

use super::arguments;
use super::error::{RecordToolError, RecordToolResult};
use super::render::{kind_label, push_warning, scope_marker, scope_text};
use super::secrets::SecretScreen;
use crate::registry::{CallContext, ToolArgs, ToolResult};

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let content = arguments::content(args, "content")?
        .ok_or_else(|| args.missing("content", "the text to remember"))?;
    let layer = arguments::layer(args)?;
    let default_kind =
        if layer == Some(MemoryLayer::Rule) { RecordKind::Rule } else { RecordKind::Note };
    let kind = arguments::kind(args, "type")?.unwrap_or(default_kind);
    arguments::check_rule_scope(call, args, kind)?;
    let mut record = NewRecord::new(kind, arguments::target_scope(call, args)?, content);
    record.tags = arguments::tags(args)?.unwrap_or_default();
    record.paths = arguments::paths(args)?.unwrap_or_default();
    record.category = arguments::category(args)?;
    record.metadata = args.object("metadata")?;
    let of_layer = layer.and_then(|layer| layer.expiry(clock::now())).map(RecordExpiry::from);
    record.expires = arguments::expiry(call, args)?.or(of_layer);
    record.supersedes = args.texts("supersedes")?.unwrap_or_default();
    let mut screen = SecretScreen::new(call);
    screen.record(&mut record);
    let warning = screen.finish()?;
    let notice = person_notice(args, &record)?;
    let (added, commit) = add_records(call.memory, &call.who, std::slice::from_ref(&record), None)?;
    let Some(AddedRecord { id, place }) = added.into_iter().next() else {
        return Err(RecordToolError::new("Nothing was stored."));
    };
    let commit = commit.map(|commit| commit.id.to_string()).unwrap_or_default();
    let mut text = format!(
        "Stored {} ({}): {}\n{} ({}) {id} · {place} · commit {commit}",
        kind.as_str(),
        scope_text(&record.scope),
        single_line(&record.content, 80),
        kind_label(kind),
        scope_marker(&record.scope),
    );
    for old in &record.supersedes {
        text.push_str(&format!("\n{old} is superseded and no longer shown."));
    }
    push_warning(&mut text, warning.as_deref());
    push_warning(&mut text, notice.as_deref());
    let warning = match (warning, notice) {
        (Some(warning), Some(notice)) => Some(format!("{warning} {notice}")),
        (warning, notice) => warning.or(notice),
    };
    let structured = json!({
        "id": id,
        "type": kind.as_str(),
        "scope": record.scope.name(),
        "path": place.to_string(),
        "commit": commit,
        "warning": warning,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Says that a statement about the person was stored for one repository alone, as the interface asks
/// for calls that name no scope. `None` if the caller chose the scope or the statement is not about the
/// person.
fn person_notice(args: &ToolArgs, record: &NewRecord) -> RecordToolResult<Option<String>> {
    let RecordScope::Project(_) = &record.scope else { return Ok(None) };
    let is_scope_given =
        args.flag("global")?.is_some() || args.optional_text("project_id")?.is_some();
    let repository = record.scope.name();
    let guess = guess_statement(&record.content, &[repository]);
    if is_scope_given || guess.scope == StatementScope::Repository {
        return Ok(None);
    }
    let call = json!({ "content": single_line(&record.content, 200), "scope": "person" });
    Ok(Some(format!(
        "This reads as a statement about the person, and was stored for {repository} alone. For every \
         repository: remember {call}, or add_memory with global=true."
    )))
}
