//! What an agent needs at the start of a task: the rules, what is relevant, what is due.

use memoranda_core::tokens::estimate;
use memoranda_engine::{EngineError, Memory, Repository, clock};
use serde_json::{Value, json};

use super::kind::RecordKind;
use super::record::Record;
use super::refusal::{RecordError, Result};
use super::reminder::{self, Reminder};
use super::scope::{self, Reach, Scope};
use super::{glob, keep, shelf, stream};
use crate::args::Args;
use crate::tool::{Call, ToolResult};

/// How long one memory may be in a list.
pub(super) const LINE_CHARS: usize = 1000;
/// How many characters the rules may have together in one answer.
const RULES_CHARS: usize = 40_000;
/// Everything but rules.
pub(super) const MEMORIES: [RecordKind; 4] =
    [RecordKind::Decision, RecordKind::Fact, RecordKind::Note, RecordKind::Skill];

/// The rules that hold, split by scope, for the files that were named.
pub(super) struct Rules {
    /// The project's first.
    by_scope: Vec<(Scope, Vec<Record>)>,
    /// Rules for files that were not named.
    left_out: usize,
}

impl Rules {
    pub(super) fn read(memory: &Memory, reach: &Reach, files: &Files) -> Result<Self> {
        let mut left_out = 0;
        let mut by_scope = Vec::new();
        for scope in &reach.scopes {
            let mut rules = shelf::rules_of(memory, scope)?;
            let before = rules.len();
            rules.retain(|rule| files.let_through(rule));
            left_out += before - rules.len();
            by_scope.push((scope.clone(), rules));
        }
        Ok(Self { by_scope, left_out })
    }

    pub(super) fn count(&self) -> usize {
        self.by_scope.iter().map(|(_, rules)| rules.len()).sum()
    }

    /// The two sections, from rule number `from` on; and the number of the next rule, if not all
    /// of them fit.
    pub(super) fn said(&self, from: usize, chars: usize) -> (String, Option<usize>) {
        let mut text = String::new();
        let mut number = 0;
        for (scope, rules) in &self.by_scope {
            let mut is_first = true;
            for rule in rules {
                number += 1;
                if number <= from {
                    continue;
                }
                let line = rule_line(rule);
                if !text.is_empty() && text.len() + line.len() > chars {
                    return (text, Some(number - 1));
                }
                if is_first {
                    let heading = match scope {
                        Scope::Global => "## Global Rules\n",
                        Scope::Project(_) => "## Project Rules\n",
                    };
                    text.push_str(if text.is_empty() { "" } else { "\n" });
                    text.push_str(heading);
                    is_first = false;
                }
                text.push_str(&line);
            }
        }
        (text, None)
    }

    fn wire(&self) -> Vec<Value> {
        self.by_scope.iter().flat_map(|(_, rules)| rules).map(Record::wire).collect()
    }
}

/// `- text`, further lines indented, with the files that it is for.
fn rule_line(rule: &Record) -> String {
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
pub(super) struct Files {
    named: Option<Vec<String>>,
    root: Option<std::path::PathBuf>,
}

impl Files {
    /// No files were named.
    pub(super) fn any() -> Self {
        Self { named: None, root: None }
    }

    fn read(call: &Call<'_>, args: &Args) -> Result<Self> {
        let named = args.texts("files")?.filter(|files| !files.is_empty());
        let workspace = call.settings.workspace.as_deref().filter(|_| named.is_some());
        let root = workspace.map(|folder| match Repository::of(folder) {
            Some(repository) => repository.root,
            None => folder.to_owned(),
        });
        Ok(Self { named, root })
    }

    /// A rule for other files than those named is left out.
    fn let_through(&self, rule: &Record) -> bool {
        match &self.named {
            Some(files) if !rule.paths.is_empty() => {
                glob::fits(&rule.paths, files, self.root.as_deref())
            }
            _ => true,
        }
    }
}

/// `get_context`.
pub(super) fn get_context(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    if args.value("entityNames").is_some() {
        return neighbourhood(call, args);
    }
    let limit = args.number("limit", 0, 50)?.unwrap_or(5) as usize;
    let budget = args.number("budget_tokens", 1, 1_000_000)?;
    let query = args.optional_text("query")?.filter(|query| !query.trim().is_empty());
    let reach = scope::reach(call, args)?;
    let rules = Rules::read(call.memory, &reach, &Files::read(call, args)?)?;
    let due = reminder::due(call.memory, &reach, &call.settings.records)?;
    let (mut text, next) = rules.said(0, RULES_CHARS);
    if text.is_empty() {
        text.push_str("No rules yet.\n");
    }
    if let Some(next) = next {
        text.push_str(&format!(
            "[{} more rules: get_rules {{\"offset\": {next}}}]\n",
            rules.count() - next
        ));
    }
    if rules.left_out > 0 {
        text.push_str(&left_out_said(rules.left_out));
    }
    say_due(&mut text, &due);
    let mut found = match &query {
        Some(query) if limit > 0 => relevant(call.memory, &reach, query, limit)?,
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
            text.push_str(&format!("Nothing matches {query:?}.\n"));
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
        "rules": rules.wire(),
        "memories": found.iter().map(Record::wire).collect::<Vec<_>>(),
        "reminders": due.iter().map(Reminder::wire).collect::<Vec<_>>(),
        "left_out": cut + rules.left_out,
    });
    Ok(ToolResult::ok(text, structured))
}

/// The neighbourhood of entities in the graph: the one place where the graph comes in.
fn neighbourhood(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let names = args.texts("entityNames")?.unwrap_or_default();
    let thread = args.optional_text("threadId")?;
    let depth = args.number("depth", 1, 5)?.unwrap_or(1) as usize;
    Ok(crate::graph::neighbourhood(call, &names, thread.as_deref(), depth))
}

/// What matches a query; nothing for a query that holds no word.
fn relevant(memory: &Memory, reach: &Reach, query: &str, limit: usize) -> Result<Vec<Record>> {
    match shelf::search(memory, reach, &MEMORIES, query, limit) {
        Err(RecordError::Engine(EngineError::Invalid(_))) => Ok(Vec::new()),
        other => other,
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

/// `get_rules`.
pub(super) fn get_rules(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let reach = scope::reach(call, args)?;
    let from = args.number("offset", 0, 1_000_000)?.unwrap_or(0) as usize;
    let rules = Rules::read(call.memory, &reach, &Files::read(call, args)?)?;
    let (mut text, next) = rules.said(from, RULES_CHARS);
    if text.is_empty() {
        text.push_str("No rules. add_memory with type \"rule\" adds one.\n");
    }
    if let Some(next) = next {
        text.push_str(&format!(
            "[{} more rules: get_rules {{\"offset\": {next}}}]\n",
            rules.count() - next
        ));
    }
    if rules.left_out > 0 {
        text.push_str(&left_out_said(rules.left_out));
    }
    text.push_str(&format!("\n{}", reach.said()));
    let structured = json!({
        "project": reach.project().map(Scope::name),
        "rules": rules.wire(),
        "next_offset": next,
    });
    Ok(ToolResult::ok(text, structured))
}

/// `search_memories`.
pub(super) fn search(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let query = args.text("query")?;
    let limit = args.number("limit", 1, 100)?.unwrap_or(10) as usize;
    let kinds = match keep::kind(args, "type")? {
        Some(kind) => vec![kind],
        None => RecordKind::ALL.to_vec(),
    };
    let reach = scope::reach(call, args)?;
    let found = match shelf::search(call.memory, &reach, &kinds, &query, limit) {
        Err(RecordError::Engine(EngineError::Invalid(reason))) => {
            return Err(RecordError::new(format!("{reason}.")));
        }
        other => other?,
    };
    // One memory that was asked for by its id is shown whole.
    let most = match found.as_slice() {
        [only] if only.id == query.trim() => usize::MAX,
        _ => LINE_CHARS,
    };
    Ok(listed(&found, most, &reach, None, &format!("No memories match {query:?}.")))
}

/// `list_memories`.
pub(super) fn list(call: &Call<'_>, args: &Args) -> Result<ToolResult> {
    let limit = args.number("limit", 1, 200)?.unwrap_or(20) as usize;
    let kinds = match keep::kind(args, "type")? {
        Some(kind) => vec![kind],
        None => RecordKind::ALL.to_vec(),
    };
    let tags: Vec<String> =
        keep::tags(args)?.unwrap_or_default().iter().map(|tag| tag.to_lowercase()).collect();
    let all = args.flag("include_inactive")?.unwrap_or(false);
    let reach = scope::reach(call, args)?;
    let is_active = shelf::is_active_at(clock::now());
    let (found, more) = shelf::newest(call.memory, &reach, &kinds, limit, &|record| {
        let own: Vec<String> = record.tags.iter().map(|tag| tag.to_lowercase()).collect();
        let tagged = |wanted: &String| own.iter().any(|tag| tag.contains(wanted));
        (all || is_active(record)) && (tags.is_empty() || tags.iter().any(tagged))
    })?;
    let hint = more.then(|| {
        format!(
            "[there are more; list_memories {{\"limit\": {}}} shows them]",
            (limit * 2).min(200)
        )
    });
    Ok(listed(
        &found,
        LINE_CHARS,
        &reach,
        hint.as_deref(),
        "No memories. add_memory stores the first one.",
    ))
}

fn listed(
    found: &[Record],
    most: usize,
    reach: &Reach,
    hint: Option<&str>,
    nothing: &str,
) -> ToolResult {
    let mut text = match found.len() {
        0 => format!("{nothing}\n"),
        1 => "Found 1 memory:\n".to_owned(),
        count => format!("Found {count} memories:\n"),
    };
    for record in found {
        text.push_str(&record.line(most));
        text.push('\n');
    }
    if let Some(hint) = hint {
        text.push_str(hint);
        text.push('\n');
    }
    text.push_str(&reach.said());
    let structured = json!({
        "project": reach.project().map(Scope::name),
        "count": found.len(),
        "memories": found.iter().map(Record::wire).collect::<Vec<_>>(),
        "has_more": hint.is_some(),
    });
    ToolResult::ok(text, structured)
}

fn left_out_said(count: usize) -> String {
    match count {
        1 => "[1 rule for other files is left out]\n".to_owned(),
        _ => format!("[{count} rules for other files are left out]\n"),
    }
}
