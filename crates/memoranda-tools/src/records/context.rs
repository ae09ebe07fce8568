//! What an agent needs at the start of a task: the rules, what is relevant, what is due.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::{EngineError, Memory};
use serde_json::json;

use super::error::{RecordError, Result};
use super::kind::RecordKind;
use super::layer::MemoryLayer;
use super::listing::{LINE_CHARS, records_json};
use super::record::MemoryRecord;
use super::reminder::{self, Reminder};
use super::rules::{FileSelection, PAGE_CHARS, RuleList};
use super::scope::{self, RecordScope, VisibleScopes};
use super::{query, stream};
use crate::registry::{CallContext, ToolArgs, ToolResult, abbreviate_query};

/// Everything but rules.
pub(super) const MEMORIES: [RecordKind; 4] =
    [RecordKind::Decision, RecordKind::Fact, RecordKind::Note, RecordKind::Skill];

/// What a caller wants to know of beside the rules, if anything.
pub(super) fn query(args: &ToolArgs) -> Result<Option<String>> {
    let query = args.optional_text("query")?.filter(|query| !query.trim().is_empty());
    let rules_only = mode(args)?.as_deref() == Some("rules_only");
    Ok(query.filter(|_| !rules_only))
}

fn mode(args: &ToolArgs) -> Result<Option<String>> {
    Ok(args.choice("mode", &["all", "working", "long_term", "rules_only"])?)
}

/// `get_context`.
pub(super) fn get_context(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    // The one place where the graph comes in.
    if args.value("entityNames").is_some() {
        return Ok(crate::graph::neighbourhood(call, args));
    }
    let limit = args.number("limit", 0, 50)?.unwrap_or(5) as usize;
    let budget = args.number("budget_tokens", 1, 1_000_000)?;
    let layer = mode(args)?.as_deref().and_then(MemoryLayer::parse);
    let query = query(args)?;
    let reach = scope::reach(call.settings, args)?;
    let now = call.settings.records.now();
    let rules = RuleList::read(call.memory, &reach, &FileSelection::read(call, args)?, &now)?;
    let due = reminder::due_reminders(call.memory, &reach, &call.settings.records)?;
    let page = rules.page(0, PAGE_CHARS);
    let mut text =
        if page.rules.is_empty() { "No rules yet.\n".to_owned() } else { page.text.clone() };
    text.push_str(&rules.footer(&page, args));
    push_due_reminders(&mut text, &due);
    let mut found = match &query {
        Some(query) if limit > 0 => {
            let is_active = query::is_active_at(now);
            let fits = |record: &MemoryRecord| {
                is_active(record) && layer.is_none_or(|layer| layer.includes(record))
            };
            relevant(call.memory, &reach, query, limit, &fits)?
        }
        _ => Vec::new(),
    };
    let mut cut = 0;
    if let Some(query) = &query {
        text.push_str("\n## Relevant Memories\n");
        let mut lines = Vec::new();
        let mut spent = estimate_tokens(&text);
        for record in &found {
            let line = record.list_line(LINE_CHARS);
            spent += estimate_tokens(&line);
            if budget.is_some_and(|budget| spent as u64 > budget) {
                break;
            }
            lines.push(line);
        }
        cut = found.len() - lines.len();
        found.truncate(lines.len());
        if found.is_empty() && cut == 0 {
            text.push_str(&format!("Nothing matches {:?}.\n", abbreviate_query(query)));
        }
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        if cut > 0 {
            text.push_str(&format!(
                "[{cut} more did not fit budget_tokens; search_memories shows them]\n"
            ));
        }
    }
    push_open_streams(call.memory, &reach, &mut text)?;
    text.push_str(&format!("\n{}", reach.describe()));
    let structured = json!({
        "project": reach.project().map(RecordScope::name),
        "rules": page.to_json(),
        "next_offset": page.next,
        "memories": records_json(&found),
        "reminders": due.iter().map(Reminder::to_json).collect::<Vec<_>>(),
        "left_out": cut + rules.left_out,
    });
    Ok(ToolResult::ok(text, structured))
}

/// What matches a query; nothing for a query that holds no word.
fn relevant(
    memory: &Memory,
    reach: &VisibleScopes,
    query: &str,
    limit: usize,
    fits: &dyn Fn(&MemoryRecord) -> bool,
) -> Result<Vec<MemoryRecord>> {
    match query::search_records(memory, reach, &MEMORIES, query, limit, fits) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => Ok(Vec::new()),
        other => other.map(|found| found.records),
    }
}

fn push_due_reminders(text: &mut String, due: &[Reminder]) {
    if due.is_empty() {
        return;
    }
    text.push_str("\n## Due Reminders\n");
    for reminder in due {
        text.push_str(&format!("- {}\n", reminder.due_text()));
    }
    text.push_str("[run_due_reminders marks them as done]\n");
}

fn push_open_streams(memory: &Memory, reach: &VisibleScopes, text: &mut String) -> Result<()> {
    let open = stream::visible_open_streams(memory, reach)?;
    if !open.is_empty() {
        let names: Vec<String> = open.iter().map(stream::OpenStream::describe).collect();
        text.push_str(&format!("\nUnfinished streams: {}\n", names.join("; ")));
    }
    Ok(())
}
