//! `get_context`: rules, relevant memories, and the further sections at the start of a task.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::records::{
    MemoryLayer, MemoryRecord, RecordError, RecordKind, RecordQuery, RecordScope, RuleList,
    VisibleScopes, due_reminders, search_records, visible_open_streams,
};
use memoranda_engine::{EngineError, Memory};
use serde_json::{Value, json};

use super::arguments;
use super::elsewhere::{ElsewhereSection, OtherRepositories};
use super::error::{RecordToolError, RecordToolResult};
use super::render::{
    LINE_CHARS, due_text, list_line, record_json, records_json, reminder_json, stream_text,
    visible_scopes_text,
};
use super::rules::{PAGE_CHARS, RulesPage, selected_files};
use crate::core::get_context::{FurtherRequest, FurtherSections};
use crate::registry::{
    CallContext, ToolArgs, ToolResult, Toolset, abbreviate_query, project_constrained,
};

/// Every kind except rules.
pub(super) const MEMORIES: [RecordKind; 4] =
    [RecordKind::Decision, RecordKind::Fact, RecordKind::Note, RecordKind::Skill];

/// Returns the query of a call; `None` if only rules are requested.
pub(super) fn query(args: &ToolArgs) -> RecordToolResult<Option<String>> {
    let query = args.optional_text("query")?.filter(|query| !query.trim().is_empty());
    let rules_only = mode(args)?.as_deref() == Some("rules_only");
    Ok(query.filter(|_| !rules_only))
}

fn mode(args: &ToolArgs) -> RecordToolResult<Option<String>> {
    Ok(args.choice("mode", &["all", "working", "long_term", "rules_only"])?)
}

pub(super) fn get_context(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    // With entity names, the graph answers instead.
    if args.value("entityNames").is_some() {
        return match call.settings.notes.only_project.as_deref() {
            Some(only) if !Toolset::Graph.is_reachable(call.settings) => {
                Err(RecordToolError::new(project_constrained(only).message))
            }
            _ => Ok(crate::graph::neighbourhood(call, args)),
        };
    }
    let limit = args.number("limit", 0, 50)?.unwrap_or(5) as usize;
    let budget = args.number("budget_tokens", 1, 1_000_000)?;
    let layer = mode(args)?.as_deref().and_then(MemoryLayer::parse);
    let query = query(args)?;
    let visible = arguments::visible_scopes(call.settings, args)?;
    let now = call.settings.records.now();
    let zone = &call.settings.records.zone;
    let rules = RuleList::load(call.memory, &visible, &selected_files(call, args)?, &now)?;
    let due = due_reminders(call.memory, &visible, zone)?;
    let page = RulesPage::new(&rules, 0, PAGE_CHARS);
    let mut text =
        if page.rules.is_empty() { "No rules yet.\n".to_owned() } else { page.text.clone() };
    text.push_str(&page.footer(&rules, args));
    let mut found = match &query {
        Some(query) if limit > 0 => {
            let matches = |record: &MemoryRecord| {
                record.is_active(&now) && layer.is_none_or(|layer| layer.includes(record))
            };
            let min_relevance = args.optional_decimal("min_relevance")?;
            let query = RecordQuery { text: query, limit, min_relevance };
            relevant(call.memory, &visible, query, &matches)?
        }
        _ => Vec::new(),
    };
    let mut elsewhere = match &query {
        // A layer is an attribute of records.
        Some(query) if layer.is_none() => ElsewhereSection::search(
            call,
            &visible,
            OtherRepositories::of_call(args)?,
            query,
            limit,
        )?,
        _ => ElsewhereSection::default(),
    };
    let mut cut = 0;
    if let Some(query) = &query {
        text.push_str("\n## Relevant Memories\n");
        let mut lines = Vec::new();
        let mut spent = estimate_tokens(&text);
        for record in &found {
            let line = list_line(record, LINE_CHARS);
            // Text and structure each stay within the budget.
            let json = record_json(record).to_string();
            spent += estimate_tokens(&line).max(estimate_tokens(&json));
            if budget.is_some_and(|budget| spent as u64 > budget) {
                break;
            }
            lines.push(line);
        }
        cut = found.len() - lines.len();
        found.truncate(lines.len());
        if found.is_empty() && cut == 0 && elsewhere.is_empty() {
            text.push_str(&format!("Nothing matches {:?}.\n", abbreviate_query(query)));
        } else if found.is_empty() && cut == 0 {
            text.push_str(&format!("No record matches {:?}.\n", abbreviate_query(query)));
        }
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        if let Some(budget) = budget {
            let left = usize::try_from(budget).unwrap_or(usize::MAX).saturating_sub(spent);
            cut += elsewhere.cut_to(left);
        }
        text.push_str(&elsewhere.text());
        if cut > 0 {
            text.push_str(&format!(
                "[{cut} more did not fit budget_tokens; search_memories shows them]\n"
            ));
        }
    }
    let mut due_lines: Vec<String> =
        due.iter().map(|reminder| format!("- {}", due_text(reminder, zone))).collect();
    if !due_lines.is_empty() {
        due_lines.push("[run_due_reminders marks them as done]".to_owned());
    }
    let further = FurtherSections::load(
        call,
        &FurtherRequest {
            visible: &visible,
            shown: found.iter().map(|record| record.id.as_str()).collect(),
            due: due_lines,
            budget: budget.map(|budget| usize::try_from(budget).unwrap_or(usize::MAX)),
            spent: estimate_tokens(&text),
        },
    )?;
    text.push_str(&further.text);
    push_open_streams(call.memory, &visible, &mut text)?;
    text.push_str(&format!("\n{}", visible_scopes_text(&visible)));
    let reminders: Vec<Value> = due.iter().map(reminder_json).collect();
    let structured = json!({
        "project": visible.project().map(RecordScope::name),
        "rules": page.to_json(),
        "next_offset": page.next,
        "memories": records_json(&found),
        "elsewhere": elsewhere.items,
        "reminders": reminders,
        "person": further.person,
        "memory_files": further.memory_files,
        "changes": further.changes,
        "left_out": cut + rules.left_out,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Returns the records that match a query; none if the query contains no word.
pub(super) fn relevant(
    memory: &Memory,
    visible: &VisibleScopes,
    query: RecordQuery<'_>,
    matches: &dyn Fn(&MemoryRecord) -> bool,
) -> Result<Vec<MemoryRecord>, RecordError> {
    match search_records(memory, visible, &MEMORIES, query, matches) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => Ok(Vec::new()),
        other => other.map(|found| found.records),
    }
}

fn push_open_streams(
    memory: &Memory,
    visible: &VisibleScopes,
    text: &mut String,
) -> RecordToolResult<()> {
    let open = visible_open_streams(memory, visible)?;
    if !open.is_empty() {
        let names: Vec<String> = open.iter().map(stream_text).collect();
        text.push_str(&format!("\nUnfinished streams: {}\n", names.join("; ")));
    }
    Ok(())
}
