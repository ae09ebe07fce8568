//! `memoranda rules list`: the rules that hold in this repository.

use memoranda_engine::Memory;
use memoranda_engine::records::{MemoryRecord, RecordScope, active_rules};
use serde::Serialize;

use super::record_error;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, STRONG};
use crate::table::{self, TableColumn};
use crate::time;

#[derive(Serialize)]
struct RuleListJson {
    rules: Vec<ListedRuleJson>,
}

#[derive(Serialize)]
struct ListedRuleJson {
    id: String,
    text: String,
    scope: String,
    paths: Vec<String>,
    category: Option<String>,
}

/// Prints the rules of a repository and those for every repository.
pub(super) fn run(
    context: &CommandContext,
    memory: &Memory,
    repository: Option<RecordScope>,
) -> Result<Exit> {
    let now = time::now();
    let mut rules = Vec::new();
    for scope in repository.into_iter().chain([RecordScope::Global]) {
        rules.extend(active_rules(memory, &scope, &now).map_err(record_error)?);
    }
    let rules: Vec<ListedRuleJson> = rules.into_iter().map(rule_json).collect();
    if context.is_json() {
        context.printer.json(&RuleListJson { rules })?;
        return Ok(Exit::Success);
    }
    if rules.is_empty() {
        context.printer.say("No rules yet.");
        context
            .hint_after("`memoranda rules import` reads those of AGENTS.md, CLAUDE.md and others");
        return Ok(Exit::Success);
    }
    let columns = [
        TableColumn::text("RULE", STRONG),
        TableColumn::text("FOR", FAINT),
        TableColumn::optional("ID", FAINT),
    ];
    let rows: Vec<Vec<String>> =
        rules.into_iter().map(|rule| vec![rule.text, rule.scope, rule.id]).collect();
    table::print(&context.printer, &columns, &rows)?;
    Ok(Exit::Success)
}

fn rule_json(rule: MemoryRecord) -> ListedRuleJson {
    let scope = match &rule.scope {
        RecordScope::Global => "every repository".to_owned(),
        scope => scope.folder().trim_start_matches("projects/").to_owned(),
    };
    ListedRuleJson {
        id: rule.id,
        text: rule.content.trim().to_owned(),
        scope,
        paths: rule.paths,
        category: rule.category,
    }
}
