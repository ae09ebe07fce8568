//! `forget_memory` and `bulk_forget_memories`.

use jiff::{SignedDuration, Timestamp};
use memoranda_engine::clock;
use memoranda_engine::records::{
    DeleteFilter, RecordError, RecordScope, VisibleScopes, delete_record, delete_records,
    matching_records, single_line,
};
use serde_json::json;

use super::arguments;
use super::error::{RecordToolError, RecordToolResult, missing_record_hint};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Maximum number of records in a preview.
const MAX_SHOWN: usize = 100;

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let id = args.text("id")?;
    let (record, commit) =
        delete_record(call.memory, &call.who, id.trim()).map_err(|error| match error {
            RecordError::NotFound { id, is_deleted } => {
                let hint = missing_record_hint(is_deleted);
                RecordToolError::new(format!("Memory {id} not found or already forgotten. {hint}"))
            }
            other => other.into(),
        })?;
    let commit = commit.id.to_string();
    let text = format!(
        "Forgot memory {} ({}: {})\nrestore_memory brings it back until vacuum_memories. Commit {commit}.",
        record.id,
        record.kind.as_str(),
        single_line(&record.content, 80),
    );
    let structured = json!({
        "id": record.id,
        "scope": record.scope.name(),
        "path": record.place.to_string(),
        "commit": commit,
    });
    Ok(ToolResult::ok(text, structured))
}

fn read_filter(args: &ToolArgs) -> RecordToolResult<DeleteFilter> {
    let kinds = arguments::kinds(args, "types")?.unwrap_or_default();
    let tags = arguments::tags(args)?.unwrap_or_default();
    let days = args.optional_integer("older_than_days")?.map(|days| days as u64);
    let pattern = args.optional_text("pattern")?.filter(|pattern| !pattern.is_empty());
    let all = args.is_set("all")?;
    let any = !kinds.is_empty() || !tags.is_empty() || days.is_some() || pattern.is_some();
    let has_project = arguments::named_scope(args)?.is_some();
    if all && (any || has_project) {
        return Err(RecordToolError::new(
            "Cannot combine all:true with other filters. Leave out either `all` or the filters.",
        ));
    }
    if !all && !any {
        return Err(RecordToolError::new(
            "Provide at least one filter (types, tags, older_than_days, pattern), or all:true. \
             project_id alone is not enough: add types to say what to forget.",
        ));
    }
    let older_than = days.map(|days| {
        let age = SignedDuration::from_hours(24 * i64::try_from(days).unwrap_or(i64::MAX / 24));
        clock::now().saturating_sub(age).unwrap_or(Timestamp::MIN)
    });
    Ok(DeleteFilter { kinds, tags, older_than, pattern })
}

pub(super) fn run_bulk(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let filter = read_filter(args)?;
    // A named project restricts the deletion to it; else every visible scope counts.
    let visible = match arguments::named_scope(args)? {
        Some(project) => VisibleScopes::only(project),
        None => arguments::visible_scopes(call.settings, args)?,
    };
    let found = matching_records(call.memory, &visible, &filter)?;
    let names: Vec<&str> = visible.scopes.iter().map(RecordScope::name).collect();
    let scope = names.join(" and ");
    let count = found.len();
    let memories = if count == 1 { "memory" } else { "memories" };
    if args.is_set("dry_run")? {
        let mut text =
            format!("Found {count} {memories} matching filters (dry run — nothing deleted)\n");
        for record in found.iter().take(MAX_SHOWN) {
            let preview = single_line(&record.content, 80);
            text.push_str(&format!("{} [{}] {preview}\n", record.id, record.kind.as_str()));
        }
        if count > MAX_SHOWN {
            text.push_str(&format!("… and {} more.\n", count - MAX_SHOWN));
        }
        text.push_str(&format!("Scope: {scope}"));
        let shown = found.iter().take(MAX_SHOWN).map(|record| {
            json!({
                "id": record.id,
                "type": record.kind.as_str(),
                "contentPreview": single_line(&record.content, 80),
            })
        });
        let shown: Vec<_> = shown.collect();
        return Ok(ToolResult::ok(
            text,
            json!({ "count": count, "memories": shown, "dry_run": true, "scope": scope }),
        ));
    }
    let commit = delete_records(call.memory, &call.who, &found)?;
    let commit = commit.map(|commit| commit.id.to_string());
    let ids: Vec<&str> = found.iter().map(|record| record.id.as_str()).collect();
    let mut text = format!("Bulk deleted {count} {memories}\nScope: {scope}");
    if let Some(commit) = &commit {
        text.push_str(&format!(
            "\nrestore_memory {{\"commit\": \"{commit}\"}} brings all of them back until vacuum_memories."
        ));
    }
    let structured =
        json!({ "count": count, "ids": ids, "dry_run": false, "scope": scope, "commit": commit });
    Ok(ToolResult::ok(text, structured))
}
