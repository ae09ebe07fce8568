//! `get_context`: rules, relevant memories, and the further sections at the start of a task.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::records::{MemoryLayer, RecordScope, VisibleScopes, visible_open_streams};
use memoranda_engine::task_context::{ContextQuestion, TaskContext, TaskContextRequest};
use memoranda_engine::{Memory, VisitRegister, VisitingClient};
use serde_json::json;

use super::arguments;
use super::elsewhere::{ElsewhereSection, only_project, other_repositories};
use super::error::{RecordToolError, RecordToolResult};
use super::render::{
    LINE_CHARS, due_text, list_line, record_json, records_json, reminder_json, stream_text,
    visible_scopes_text,
};
use super::rules::{PAGE_CHARS, RulesPage, selected_files};
use crate::core::get_context::{self, FurtherRequest, FurtherSections};
use crate::core::nearest::NearestSection;
use crate::registry::{
    BY_WORDS_ALONE, CallContext, ToolArgs, ToolResult, Toolset, abbreviate_query,
    project_constrained,
};

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
    let limit = args.integer("limit")?;
    let budget = args.optional_integer("budget_tokens")?;
    let layer = mode(args)?.as_deref().and_then(MemoryLayer::parse);
    let query = query(args)?;
    let visible = arguments::visible_scopes(call.settings, args)?;
    let zone = &call.settings.records.zone;
    let repository = visible.project().map_or("global", RecordScope::name);
    let context = TaskContext::load(
        call.memory,
        &TaskContextRequest {
            visible: &visible,
            files: selected_files(call, args)?,
            question: match &query {
                Some(text) => Some(ContextQuestion {
                    text,
                    limit,
                    layer,
                    min_relevance: args.optional_decimal("min_relevance")?,
                    names_nearest: args.optional_decimal("min_relevance")?.is_none(),
                    others: other_repositories(args)?,
                }),
                None => None,
            },
            only: only_project(call)?.as_ref(),
            memory_files: call.settings.reaches_memories().then_some(&call.settings.memories),
            zone,
            now: &call.settings.records.now(),
            visitor: Some(&VisitingClient::new(&call.who.client, repository, VisitRegister::Tools)),
        },
    )?;
    let page = RulesPage::new(&context.rules, 0, PAGE_CHARS);
    let mut text =
        if page.rules.is_empty() { "No rules yet.\n".to_owned() } else { page.text.clone() };
    text.push_str(&page.footer(&context.rules, args));
    let mut found = context.relevant.as_slice();
    let mut elsewhere = ElsewhereSection::new(&context.elsewhere);
    let mut nearest = NearestSection::new(&context.nearest);
    let mut cut = 0;
    let mut end = if context.is_by_words_alone { BY_WORDS_ALONE.to_owned() } else { String::new() };
    push_open_streams(call.memory, &visible, &mut end)?;
    end.push_str(&format!("\n{}", visible_scopes_text(&visible)));
    let mut structured = json!({
        "project": visible.project().map(RecordScope::name),
        "rules": page.to_json(),
        "next_offset": page.next,
        "memories": [],
        "elsewhere": [],
        "reminders": [],
        "person": [],
        "everywhere": [],
        "memory_files": [],
        "changes": context.changes.as_ref().map(|changes| {
            json!({ "since": changes.since.to_string(), "commits": 0, "shown": [] })
        }),
        "left_out": context.rules.left_out,
    });
    if context.is_by_words_alone {
        structured["by_words_alone"] = json!(true);
    }
    // Text and structure each stay within the budget.
    let end_tokens = estimate_tokens(&end);
    let mut spent =
        (estimate_tokens(&text) + end_tokens).max(estimate_tokens(&structured.to_string()));
    if let Some(query) = query.as_ref().filter(|_| limit > 0) {
        text.push_str("\n## Relevant Memories\n");
        let mut lines = Vec::new();
        spent += estimate_tokens("\n## Relevant Memories\n");
        for record in found {
            let line = list_line(record, LINE_CHARS);
            let json = record_json(record).to_string();
            let cost = estimate_tokens(&line).max(estimate_tokens(&json)) + 1;
            if budget.is_some_and(|budget| spent + cost > budget) {
                break;
            }
            spent += cost;
            lines.push(line);
        }
        cut = found.len() - lines.len();
        found = found.get(..lines.len()).unwrap_or_default();
        if found.is_empty() && cut == 0 {
            let what = if elsewhere.is_empty() { "Nothing" } else { "No record" };
            let line = format!("{what} matches {:?}.\n", abbreviate_query(query));
            spent += estimate_tokens(&line);
            text.push_str(&line);
        }
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        if let Some(budget) = budget {
            let left = budget.saturating_sub(spent);
            cut += elsewhere.cut_to(if cut > 0 { 0 } else { left });
        }
        spent += elsewhere.tokens();
        text.push_str(&elsewhere.text());
        if let Some(budget) = budget {
            nearest.cut_to(budget.saturating_sub(spent));
        }
        spent += nearest.tokens();
    }
    let cut_text = match cut {
        0 => String::new(),
        _ => format!("[{cut} more did not fit budget_tokens; search_memories shows them]\n"),
    };
    let mut due: Vec<String> =
        context.due.iter().map(|reminder| format!("- {}", due_text(reminder, zone))).collect();
    if !due.is_empty() {
        due.push("[run_due_reminders marks them as done]".to_owned());
    }
    let further = FurtherSections::new(
        call,
        &context,
        &FurtherRequest {
            visible: &visible,
            shown: found.iter().map(|record| record.id.as_str()).collect(),
            due,
            budget,
            spent: spent
                .max(estimate_tokens(&format!("{text}{}{cut_text}", nearest.text())) + end_tokens),
        },
    );
    // What is known of the person is not said to be about something else.
    nearest.leave_out(&further.known, get_context::LINE_CHARS);
    text.push_str(&format!("{}{cut_text}{}{end}", nearest.text(), further.text));
    let filled = [
        ("memories", json!(records_json(found))),
        ("elsewhere", json!(elsewhere.items)),
        ("reminders", context.due.iter().map(reminder_json).collect()),
        ("person", json!(further.person)),
        ("everywhere", json!(further.everywhere)),
        ("memory_files", json!(further.memory_files)),
        ("changes", further.changes),
        ("left_out", json!(cut + context.rules.left_out)),
    ];
    filled.into_iter().for_each(|(name, value)| structured[name] = value);
    nearest.add_to(&mut structured);
    Ok(ToolResult::ok(text, structured))
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
