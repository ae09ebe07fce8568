//! `edit_memory`.

use memoranda_engine::records::{RecordChanges, edit_record, single_line};
use serde_json::json;

use super::arguments;
use super::error::{RecordToolError, RecordToolResult};
use super::render::{kind_label, push_warning, record_json, scope_text};
use super::secrets::SecretScreen;
use crate::registry::{CallContext, ToolArgs, ToolResult};

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("id")?;
    let mut changes = read_changes(call, args)?;
    let mut screen = SecretScreen::new(call);
    screen.changes(&mut changes);
    let warning = screen.finish()?;
    let edited = edit_record(call.memory, &call.who, &id, &changes)?;
    let commit = edited.commit.map(|commit| commit.id.to_string());
    let record = edited.record;
    let outcome = match &commit {
        Some(commit) => format!("commit {commit}"),
        None => "nothing changed: it was so already".to_owned(),
    };
    let mut text = format!(
        "Updated {} {}: {}\n{} ({}) · {outcome}",
        kind_label(record.kind),
        record.id,
        single_line(&record.content, 200),
        record.place,
        scope_text(&record.scope),
    );
    push_warning(&mut text, warning.as_deref());
    let mut structured = record_json(&record);
    structured["path"] = json!(record.place.to_string());
    structured["commit"] = json!(commit);
    structured["warning"] = json!(warning);
    Ok(ToolResult::ok(text, structured))
}

fn read_changes(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<RecordChanges> {
    let given = |name: &str| args.has(name);
    let changes = RecordChanges {
        content: arguments::content(args, "content")?,
        kind: arguments::kind(args, "type")?,
        tags: arguments::tags(args)?,
        paths: arguments::paths(args)?,
        category: given("category").then(|| arguments::category(args)).transpose()?,
        metadata: given("metadata").then(|| args.object("metadata")).transpose()?,
        expires: given("expires").then(|| arguments::expiry(call, args)).transpose()?,
    };
    if changes.is_empty() {
        return Err(RecordToolError::new(
            "Nothing to update. Provide at least one of: content, type, tags, paths, \
             category, metadata, expires.",
        ));
    }
    Ok(changes)
}
