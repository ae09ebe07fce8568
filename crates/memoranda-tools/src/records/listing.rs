//! Finding and listing memories, and reading one of them whole.

use memoranda_engine::EngineError;
use serde_json::{Value, json};

use super::error::{RecordError, Result};
use super::kind::RecordKind;
use super::layer::MemoryLayer;
use super::record::MemoryRecord;
use super::scope::{self, RecordScope, VisibleScopes};
use super::{query, write};
use crate::registry::{CallContext, ToolArgs, ToolResult, abbreviate_query};

/// How long one memory may be in a list.
pub(super) const LINE_CHARS: usize = 1000;
/// How many characters the structured memories of one answer may have before they are cut too.
const WHOLE_CHARS: usize = 60_000;
/// How many characters of one memory an answer holds.
const READ_CHARS: usize = 50_000;

/// The kinds that were asked for: one, several, or all.
fn kinds(args: &ToolArgs) -> Result<Vec<RecordKind>> {
    if let Some(kind) = write::kind(args, "type")? {
        return Ok(vec![kind]);
    }
    let several = write::kinds(args, "types")?.filter(|kinds| !kinds.is_empty());
    Ok(several.unwrap_or_else(|| RecordKind::ALL.to_vec()))
}

/// `search_memories`.
pub(super) fn search(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let query = args.text("query")?;
    let limit = args.number("limit", 1, 100)?.unwrap_or(10) as usize;
    let (kinds, layer) = (kinds(args)?, MemoryLayer::read(args)?);
    let reach = scope::reach(call.settings, args)?;
    if let Some(record) = query::find_exact(call.memory, &reach, &kinds, &query)? {
        let from = args.number("offset", 0, u64::from(u32::MAX))?.unwrap_or(0) as usize;
        return Ok(whole(&record, from, &reach));
    }
    let asked = abbreviate_query(&query);
    if args.value("offset").is_some() {
        return Err(RecordError::new(format!(
            "`offset` reads on in one memory, and {asked:?} is no id of one. search_memories \
             without it shows ids."
        )));
    }
    let is_active = query::is_active_at(call.settings.records.now());
    let fits = |record: &MemoryRecord| {
        is_active(record) && layer.is_none_or(|layer| layer.includes(record))
    };
    let searched = query::search_records(call.memory, &reach, &kinds, &query, limit, &fits);
    let found = match searched {
        Err(RecordError::Engine(EngineError::Invalid(reason))) => {
            return Err(RecordError::new(format!("{reason}.")));
        }
        other => other?,
    };
    let hint = found.has_more.then(|| match limit {
        100.. => "[there are more; narrow the query]".to_owned(),
        _ => {
            let call = json!({ "query": query, "limit": (limit * 2).min(100) });
            format!("[there are more; search_memories {call} shows them]")
        }
    });
    let nothing = format!("No memories match {asked:?}.");
    let mut result = listed(&found.records, &reach, hint.as_deref(), &nothing);
    result.text.push_str(&found.reading.to_text());
    found.reading.add_to(&mut result.structured);
    Ok(result)
}

/// One memory that was asked for by its id, line by line as it is kept.
fn whole(record: &MemoryRecord, from: usize, reach: &VisibleScopes) -> ToolResult {
    let total = record.content.chars().count();
    let piece: String = record.content.chars().skip(from).take(READ_CHARS).collect();
    let next = Some(from.saturating_add(READ_CHARS)).filter(|next| *next < total);
    let mut text = format!("Found 1 memory:\n{}\n", record.full_text(&piece));
    if from > 0 || next.is_some() {
        let to = next.unwrap_or(total);
        text.push_str(&format!("[characters {from} to {to} of {total}"));
        if let Some(next) = next {
            let call = json!({ "query": record.id, "offset": next });
            text.push_str(&format!("; search_memories {call} reads on"));
        }
        text.push_str("]\n");
    }
    text.push_str(&reach.describe());
    let mut memory = record.to_json();
    memory["content"] = json!(piece);
    let structured = json!({
        "project": reach.project().map(RecordScope::name),
        "count": 1,
        "memories": [memory],
        "has_more": false,
        "chars": total,
        "next_offset": next,
    });
    ToolResult::ok(text, structured)
}

/// `list_memories`.
pub(super) fn list(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let limit = args.number("limit", 1, 200)?.unwrap_or(20) as usize;
    let (kinds, layer) = (kinds(args)?, MemoryLayer::read(args)?);
    let tags: Vec<String> =
        write::tags(args)?.unwrap_or_default().iter().map(|tag| tag.to_lowercase()).collect();
    let all = args.flag("include_inactive")?.unwrap_or(false);
    let reach = scope::reach(call.settings, args)?;
    let is_active = query::is_active_at(call.settings.records.now());
    let (found, more) = query::newest_records(call.memory, &reach, &kinds, limit, &|record| {
        let own: Vec<String> = record.tags.iter().map(|tag| tag.to_lowercase()).collect();
        let tagged = |wanted: &String| own.iter().any(|tag| tag.contains(wanted));
        (all || is_active(record))
            && (tags.is_empty() || tags.iter().any(tagged))
            && layer.is_none_or(|layer| layer.includes(record))
    })?;
    let hint = more.then(|| {
        format!(
            "[there are more; list_memories {{\"limit\": {}}} shows them]",
            (limit * 2).min(200)
        )
    });
    let nothing = "No memories. add_memory stores the first one.";
    Ok(listed(&found, &reach, hint.as_deref(), nothing))
}

fn listed(
    found: &[MemoryRecord],
    reach: &VisibleScopes,
    hint: Option<&str>,
    nothing: &str,
) -> ToolResult {
    let mut text = match found.len() {
        0 => format!("{nothing}\n"),
        1 => "Found 1 memory:\n".to_owned(),
        count => format!("Found {count} memories:\n"),
    };
    for record in found {
        text.push_str(&record.list_line(LINE_CHARS));
        text.push('\n');
    }
    if let Some(hint) = hint {
        text.push_str(hint);
        text.push('\n');
    }
    text.push_str(&reach.describe());
    let structured = json!({
        "project": reach.project().map(RecordScope::name),
        "count": found.len(),
        "memories": records_json(found),
        "has_more": hint.is_some(),
    });
    ToolResult::ok(text, structured)
}

/// Memories for a program: whole as long as there is room, then cut as in the text.
pub(super) fn records_json(found: &[MemoryRecord]) -> Vec<Value> {
    let mut room = WHOLE_CHARS;
    let wire = |record: &MemoryRecord| {
        let chars = record.content.chars().count();
        let mut wire = record.to_json();
        if chars > room.max(LINE_CHARS) {
            wire["content"] = json!(record.content.chars().take(LINE_CHARS).collect::<String>());
            wire["content_chars"] = json!(chars);
        }
        room = room.saturating_sub(chars);
        wire
    };
    found.iter().map(wire).collect()
}
