//! `get_rules`, and the pages of rules that other answers contain.

use memoranda_engine::records::{FileSelection, MemoryRecord, RecordScope, RuleList};
use serde_json::{Value, json};

use super::arguments;
use super::error::RecordToolResult;
use super::render::{record_json, visible_scopes_text};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Maximum number of characters of the rules in one answer.
pub(super) const PAGE_CHARS: usize = 40_000;
/// Maximum number of rules in one answer: their structured form is longer than their text.
const PAGE_RULES: usize = 250;

/// A page of rules.
pub(super) struct RulesPage<'a> {
    /// Sections with headings; empty if there are no rules.
    pub(super) text: String,
    /// The rules of the page.
    pub(super) rules: Vec<&'a MemoryRecord>,
    /// Number of the next rule; `None` if there are no more.
    pub(super) next: Option<usize>,
}

impl<'a> RulesPage<'a> {
    /// Renders the rules from number `from` on.
    pub(super) fn new(list: &'a RuleList, from: usize, max_chars: usize) -> Self {
        let mut page = Self { text: String::new(), rules: Vec::new(), next: None };
        let mut number = 0;
        for (scope, rules) in &list.by_scope {
            let mut is_first = true;
            for rule in rules {
                number += 1;
                if number <= from {
                    continue;
                }
                let line = rule_line(rule);
                let is_full =
                    page.text.len() + line.len() > max_chars || page.rules.len() >= PAGE_RULES;
                if !page.rules.is_empty() && is_full {
                    page.next = Some(number - 1);
                    return page;
                }
                if is_first {
                    let heading = match scope {
                        RecordScope::Global => "## Global Rules\n",
                        RecordScope::Project(_) => "## Project Rules\n",
                    };
                    page.text.push_str(if page.text.is_empty() { "" } else { "\n" });
                    page.text.push_str(heading);
                    is_first = false;
                }
                page.text.push_str(&line);
                page.rules.push(rule);
            }
        }
        page
    }

    /// Renders the call for the next page with the caller's arguments, and the number of rules that
    /// were left out.
    pub(super) fn footer(&self, list: &RuleList, args: &ToolArgs) -> String {
        let mut text = String::new();
        if let Some(next) = self.next {
            let mut call = json!({ "offset": next });
            for name in ["project_id", "files"] {
                if let Some(value) = args.value(name) {
                    call[name] = value.clone();
                }
            }
            text.push_str(&format!("[{} more rules: get_rules {call}]\n", list.count() - next));
        }
        match list.left_out {
            0 => {}
            1 => text.push_str("[1 rule for other files is left out]\n"),
            count => text.push_str(&format!("[{count} rules for other files are left out]\n")),
        }
        text
    }

    pub(super) fn to_json(&self) -> Vec<Value> {
        self.rules.iter().map(|rule| record_json(rule)).collect()
    }
}

/// Renders a rule as a list item with the patterns of its files.
fn rule_line(rule: &MemoryRecord) -> String {
    let mut lines = rule.content.lines();
    let mut text = format!("- {}", lines.next().unwrap_or_default());
    for line in lines {
        text.push_str(if line.is_empty() { "\n" } else { "\n  " });
        text.push_str(line);
    }
    if !rule.paths.is_empty() {
        text.push_str(&format!(" (only for paths: {})", rule.paths.join(", ")));
    }
    text.push('\n');
    text
}

/// Reads the files that the caller works on.
pub(super) fn selected_files(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> RecordToolResult<FileSelection> {
    let files = args.texts("files")?.unwrap_or_default();
    Ok(FileSelection::new(call.settings.workspace.as_deref(), &files))
}

pub(super) fn get_rules(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let visible = arguments::visible_scopes(call.settings, args)?;
    let from = args.integer("offset")?;
    let now = call.settings.records.now();
    let rules = RuleList::load(call.memory, &visible, &selected_files(call, args)?, &now)?;
    let page = RulesPage::new(&rules, from, PAGE_CHARS);
    let mut text = match (page.rules.is_empty(), rules.count()) {
        (false, _) => page.text.clone(),
        (true, 0) => "No rules. add_memory with type \"rule\" adds one.\n".to_owned(),
        (true, count) => format!("No rules from number {from} on: there are {count}.\n"),
    };
    text.push_str(&page.footer(&rules, args));
    text.push_str(&format!("\n{}", visible_scopes_text(&visible)));
    let structured = json!({
        "project": visible.project().map(RecordScope::name),
        "rules": page.to_json(),
        "count": rules.count(),
        "next_offset": page.next,
    });
    Ok(ToolResult::ok(text, structured))
}
