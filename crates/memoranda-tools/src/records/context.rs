//! What an agent needs at the start of a task: the rules, what is relevant, what is due.

use memoranda_core::tokens::estimate;
use memoranda_engine::{EngineError, Memory};
use serde_json::json;

use super::kind::RecordKind;
use super::layer::Layer;
use super::listing::{LINE_CHARS, wires};
use super::record::Record;
use super::refusal::{RecordError, Result};
use super::reminder::{self, Reminder};
use super::rules::{Files, PAGE_CHARS, Rules};
use super::scope::{self, Reach, Scope};
use super::{shelf, stream};
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
    let layer = mode(args)?.as_deref().and_then(Layer::parse);
    let query = query(args)?;
    let reach = scope::reach(call.settings, args)?;
    let now = call.settings.records.now();
    let rules = Rules::read(call.memory, &reach, &Files::read(call, args)?, &now)?;
    let due = reminder::due(call.memory, &reach, &call.settings.records)?;
    let page = rules.page(0, PAGE_CHARS);
    let mut text = match page.rules.is_empty() {
        true => "No rules yet.\n".to_owned(),
        false => page.text.clone(),
    };
    text.push_str(&rules.said_below(&page, args));
    say_due(&mut text, &due);
    let mut found = match &query {
        Some(query) if limit > 0 => {
            let is_active = shelf::is_active_at(now);
            let fits = |record: &Record| {
                is_active(record) && layer.is_none_or(|layer| layer.holds(record))
            };
            relevant(call.memory, &reach, query, limit, &fits)?
        }
        _ => Vec::new(),
    };
    let mut cut = 0;
    if let Some(query) = &query {
        text.push_str("\n## Relevant Memories\n");
        let mut lines = Vec::new();
        let mut spent = estimate(&text);
        for record in &found {
            let line = record.line(LINE_CHARS);
            spent += estimate(&line);
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
    say_streams(call.memory, &reach, &mut text)?;
    text.push_str(&format!("\n{}", reach.said()));
    let structured = json!({
        "project": reach.project().map(Scope::name),
        "rules": page.wire(),
        "next_offset": page.next,
        "memories": wires(&found),
        "reminders": due.iter().map(Reminder::wire).collect::<Vec<_>>(),
        "left_out": cut + rules.left_out,
    });
    Ok(ToolResult::ok(text, structured))
}

/// What matches a query; nothing for a query that holds no word.
fn relevant(
    memory: &Memory,
    reach: &Reach,
    query: &str,
    limit: usize,
    fits: &dyn Fn(&Record) -> bool,
) -> Result<Vec<Record>> {
    match shelf::search(memory, reach, &MEMORIES, query, limit, fits) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => Ok(Vec::new()),
        other => other.map(|found| found.records),
    }
}

fn say_due(text: &mut String, due: &[Reminder]) {
    if due.is_empty() {
        return;
    }
    text.push_str("\n## Due Reminders\n");
    for reminder in due {
        text.push_str(&format!("- {}\n", reminder.said_due()));
    }
    text.push_str("[run_due_reminders marks them as done]\n");
}

fn say_streams(memory: &Memory, reach: &Reach, text: &mut String) -> Result<()> {
    let open = stream::open_in(memory, reach)?;
    if !open.is_empty() {
        let names: Vec<String> = open.iter().map(stream::Open::said).collect();
        text.push_str(&format!("\nUnfinished streams: {}\n", names.join("; ")));
    }
    Ok(())
}
