//! The rules that hold, split by scope, for the files at hand; told in pages if there are many.

use jiff::Zoned;
use memoranda_engine::{Memory, named_from_root};
use serde_json::{Value, json};

use super::error::Result;
use super::query;
use super::record::MemoryRecord;
use super::scope::{self, RecordScope, VisibleScopes};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// How many characters the rules may have together in one answer, and how many rules there may be:
/// the structured part says more of each than the text.
pub(super) const PAGE_CHARS: usize = 40_000;
const PAGE_RULES: usize = 250;

/// The rules that hold, split by scope, for the files that were named.
pub(super) struct RuleList {
    /// The project's first.
    by_scope: Vec<(RecordScope, Vec<MemoryRecord>)>,
    /// Rules for files that were not named.
    pub(super) left_out: usize,
}

/// Some of the rules.
pub(super) struct RulesPage<'a> {
    /// As sections with headings; empty if there are none.
    pub(super) text: String,
    /// The same rules.
    pub(super) rules: Vec<&'a MemoryRecord>,
    /// The number of the next rule, if there are more.
    pub(super) next: Option<usize>,
}

impl RuleList {
    pub(super) fn read(
        memory: &Memory,
        reach: &VisibleScopes,
        files: &FileSelection,
        now: &Zoned,
    ) -> Result<Self> {
        let mut left_out = 0;
        let mut by_scope = Vec::new();
        for scope in &reach.scopes {
            let mut rules = query::active_rules(memory, scope, now)?;
            let before = rules.len();
            rules.retain(|rule| files.applies_to(rule));
            left_out += before - rules.len();
            by_scope.push((scope.clone(), rules));
        }
        Ok(Self { by_scope, left_out })
    }

    pub(super) fn count(&self) -> usize {
        self.by_scope.iter().map(|(_, rules)| rules.len()).sum()
    }

    /// The two sections, from rule number `from` on.
    pub(super) fn page(&self, from: usize, chars: usize) -> RulesPage<'_> {
        let mut page = RulesPage { text: String::new(), rules: Vec::new(), next: None };
        let mut number = 0;
        for (scope, rules) in &self.by_scope {
            let mut is_first = true;
            for rule in rules {
                number += 1;
                if number <= from {
                    continue;
                }
                let line = rule_line(rule);
                let is_full =
                    page.text.len() + line.len() > chars || page.rules.len() >= PAGE_RULES;
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

    /// What is said below a page: the call that goes on, as the caller asked, and what was left out.
    pub(super) fn footer(&self, page: &RulesPage<'_>, args: &ToolArgs) -> String {
        let mut text = String::new();
        if let Some(next) = page.next {
            let mut call = json!({ "offset": next });
            for name in ["project_id", "files"] {
                if let Some(value) = args.value(name) {
                    call[name] = value.clone();
                }
            }
            text.push_str(&format!("[{} more rules: get_rules {call}]\n", self.count() - next));
        }
        match self.left_out {
            0 => {}
            1 => text.push_str("[1 rule for other files is left out]\n"),
            count => text.push_str(&format!("[{count} rules for other files are left out]\n")),
        }
        text
    }
}

impl RulesPage<'_> {
    pub(super) fn to_json(&self) -> Vec<Value> {
        self.rules.iter().map(|rule| rule.to_json()).collect()
    }
}

/// `- text`, further lines indented, with the files that it is for.
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

/// The files that a caller is about to work on.
pub(super) struct FileSelection {
    /// Every way in which patterns may name them; `None` if no files were named.
    named: Option<Vec<String>>,
}

impl FileSelection {
    /// No files were named.
    pub(super) fn any() -> Self {
        Self { named: None }
    }

    pub(super) fn read(call: &CallContext<'_>, args: &ToolArgs) -> Result<Self> {
        let Some(named) = args.texts("files")?.filter(|files| !files.is_empty()) else {
            return Ok(Self::any());
        };
        let workspace = call.settings.workspace.as_deref();
        Ok(Self { named: Some(named_from_root(workspace, &named)) })
    }

    /// A rule for other files than those named is left out.
    fn applies_to(&self, rule: &MemoryRecord) -> bool {
        match &self.named {
            Some(files) if !rule.paths.is_empty() => super::glob::fits(&rule.paths, files),
            _ => true,
        }
    }
}

/// `get_rules`.
pub(super) fn get_rules(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult> {
    let reach = scope::reach(call.settings, args)?;
    let from = args.number("offset", 0, 1_000_000)?.unwrap_or(0) as usize;
    let now = call.settings.records.now();
    let rules = RuleList::read(call.memory, &reach, &FileSelection::read(call, args)?, &now)?;
    let page = rules.page(from, PAGE_CHARS);
    let mut text = match (page.rules.is_empty(), rules.count()) {
        (false, _) => page.text.clone(),
        (true, 0) => "No rules. add_memory with type \"rule\" adds one.\n".to_owned(),
        (true, count) => format!("No rules from number {from} on: there are {count}.\n"),
    };
    text.push_str(&rules.footer(&page, args));
    text.push_str(&format!("\n{}", reach.describe()));
    let structured = json!({
        "project": reach.project().map(RecordScope::name),
        "rules": page.to_json(),
        "count": rules.count(),
        "next_offset": page.next,
    });
    Ok(ToolResult::ok(text, structured))
}
