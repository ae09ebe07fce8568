//! `restore_memory` and `vacuum_memories`.

use memoranda_engine::records::{
    VisibleScopes, deleted_records, purge_deleted, restore_commit, restore_record, single_line,
};
use serde_json::json;

use super::arguments;
use super::error::{RecordToolError, RecordToolResult};
use super::render::{kind_label, record_json, visible_scopes_text};
use crate::registry::{CallContext, Confirmation, ToolArgs, ToolResult};

/// Maximum number of listed records.
const MAX_LISTED: usize = 20;

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    match (args.optional_text("id")?, args.optional_text("commit")?) {
        (Some(id), None) => restore_one(call, id.trim()),
        (None, Some(commit)) => restore_all(call, commit.trim()),
        (None, None) => list_restorable(call, &arguments::visible_scopes(call.settings, args)?),
        (Some(_), Some(_)) => Err(RecordToolError::new("Give `id` or `commit`, not both.")),
    }
}

fn restore_one(call: &CallContext<'_>, id: &str) -> RecordToolResult<ToolResult> {
    let restored = restore_record(call.memory, &call.who, id)?;
    let (place, commit) = (restored.place, restored.commit.id.to_string());
    let Some(record) = restored.record else {
        let text = format!("Restored {place} · commit {commit}");
        let structured = json!({ "path": place.to_string(), "commit": commit });
        return Ok(ToolResult::ok(text, structured));
    };
    let text = format!(
        "Restored {} {}: {}\n{} · commit {commit}",
        kind_label(record.kind),
        record.id,
        single_line(&record.content, 200),
        record.place,
    );
    let mut structured = record_json(&record);
    structured["path"] = json!(record.place.to_string());
    structured["commit"] = json!(commit);
    Ok(ToolResult::ok(text, structured))
}

fn restore_all(call: &CallContext<'_>, commit: &str) -> RecordToolResult<ToolResult> {
    let restored = restore_commit(call.memory, &call.who, commit)?;
    let commit = restored.commit.id.to_string();
    let ids: Vec<&str> = restored.places.iter().map(|place| place.path.stem()).collect();
    let memories = if ids.len() == 1 { "memory" } else { "memories" };
    let mut text =
        format!("Restored {} {memories}: {}\nCommit {commit}.", ids.len(), ids.join(", "));
    if restored.kept > 0 {
        text.push_str(&format!(" {} of that commit were there already.", restored.kept));
    }
    Ok(ToolResult::ok(text, json!({ "count": ids.len(), "ids": ids, "commit": commit })))
}

/// Lists what can be restored, the last deleted first.
fn list_restorable(
    call: &CallContext<'_>,
    visible: &VisibleScopes,
) -> RecordToolResult<ToolResult> {
    let (deleted, more) = deleted_records(call.memory, visible, MAX_LISTED)?;
    let (mut lines, mut json) = (String::new(), Vec::new());
    for record in deleted {
        let (id, kind) = (record.place.path.stem(), record.kind.as_str());
        let preview = single_line(&record.content, 80);
        let when = record.time.strftime("%Y-%m-%d %H:%M UTC");
        lines.push_str(&format!("\n{id} [{kind}] deleted {when}: {preview}"));
        json.push(json!({
            "id": id, "type": kind, "path": record.place.to_string(),
            "deleted": record.time.to_string(), "contentPreview": preview,
        }));
    }
    let mut text = if json.is_empty() {
        "Nothing to restore.".to_owned()
    } else {
        format!("What can be restored by id, the last deleted first:{lines}")
    };
    if more > 0 {
        text.push_str(&format!("\n… and about {more} older ones."));
    }
    text.push_str(&format!("\n{}", visible_scopes_text(visible)));
    Ok(ToolResult::ok(text, json!({ "deleted": json })))
}

/// `vacuum_memories`.
pub(super) fn run_vacuum(call: &CallContext<'_>, _: &ToolArgs) -> RecordToolResult<ToolResult> {
    let question = "An agent wants to purge all memories that were forgotten. Agents can then no \
                    longer restore them. Purge them?";
    match call.client.confirm("purge", question) {
        Confirmation::Granted => {}
        Confirmation::Declined => {
            return Err(RecordToolError::new("The person declined. Nothing was purged."));
        }
        Confirmation::Pending => {
            return Err(RecordToolError::new("The person is asked. Nothing was purged yet."));
        }
    }
    let days = call.settings.records.purge_days;
    let purged = purge_deleted(call.memory, &call.who, days)?;
    let memories = if purged.count == 1 { "memory" } else { "memories" };
    let message = format!("Vacuumed {} soft-deleted {memories}", purged.count);
    let text = match purged.bytes {
        Some(bytes) => format!("{message}\nThe history shrank by {bytes} bytes."),
        None => format!(
            "{message}\nNo tool shows them any more. The person can restore them for {days} days \
             (`memoranda restore`) or remove them at once (`memoranda vacuum --older-than now`)."
        ),
    };
    let structured =
        json!({ "purged": purged.count, "message": message, "bytes": purged.bytes.unwrap_or(0) });
    Ok(ToolResult::ok(text, structured))
}
