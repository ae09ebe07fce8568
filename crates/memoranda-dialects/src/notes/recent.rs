//! `recent_activity`: what changed last.

use jiff::{SignedDuration, Timestamp};
use memoranda_engine::{
    FileSummary, ListFilter, ListOrder, ListRequest, Memory, ObservationRow, clock,
};
use serde_json::{Value, json};

use super::answer::{Answer, Failure, Form, run};
use super::scope;
use crate::args::Args;
use crate::tool::{Call, ToolResult};

const ALIASES: &[(&str, &[&str])] = &[
    ("type", &["types", "kind"]),
    ("timeframe", &["since", "time_range", "lookback"]),
    ("page", &["page_number"]),
    ("page_size", &["limit", "per_page"]),
];

pub(super) fn handler(call: &Call<'_>, arguments: Value) -> ToolResult {
    run("recent_activity", arguments, ALIASES, Form::Text, |args| recent(call, args))
}

/// When a timeframe began, but at least a day and at most a year ago.
pub(super) fn bounded(since: Timestamp) -> Timestamp {
    let now = clock::now();
    let back = |days: i64| now.saturating_sub(SignedDuration::from_hours(24 * days)).unwrap_or(now);
    since.min(back(1)).max(back(365))
}

fn recent(call: &Call<'_>, args: &Args) -> Result<Answer, Failure> {
    let timeframe = args.optional_text("timeframe")?.unwrap_or_else(|| "7d".into());
    let since = bounded(scope::since(call, &timeframe)?);
    let page = args.number("page", 1, 100_000)?.unwrap_or(1) as usize;
    let page_size = args.number("page_size", 1, 100)?.unwrap_or(10) as usize;
    let kinds: Vec<String> = args.texts("type")?.unwrap_or_default();
    let kinds: Vec<String> = kinds.iter().map(|kind| kind.trim().to_lowercase()).collect();
    let known = ["entity", "observation", "relation"];
    if let Some(other) = kinds.iter().find(|kind| !known.contains(&kind.as_str())) {
        let other = Value::String(other.clone());
        return Err(args.wrong("type", "entity, observation or relation", &other).into());
    }
    let project = match scope::asked(call, args)? {
        Some(project) => Some(scope::named_project(call, &project)?),
        None => None,
    };
    let request = ListRequest {
        filter: ListFilter { project: project.clone(), since: Some(since), ..Default::default() },
        order: ListOrder::Newest,
        limit: page_size,
        offset: (page - 1) * page_size,
    };
    let found = call.memory.list(&request)?;
    let scope = match &project {
        Some(project) => format!("project {project}"),
        None => "all projects".to_owned(),
    };
    let mut text = format!("# Recent activity in {scope} since {since}\n\n");
    let mut items = Vec::new();
    for file in &found.notes {
        text.push_str(&format!(
            "- {} ({}/{}) updated {}\n",
            file.title, file.project, file.permalink, file.updated
        ));
        if kinds.is_empty() || kinds.iter().any(|kind| kind == "entity") {
            items.push(entity(file));
        }
        if kinds.iter().any(|kind| kind == "observation") {
            for fact in facts(call.memory, file)? {
                let category = fact.category.as_deref().unwrap_or("note");
                text.push_str(&format!("  - [{category}] {}\n", fact.text));
                let mut item = entity(file);
                item["type"] = json!("observation");
                item["category"] = json!(category);
                item["content"] = json!(fact.text);
                items.push(item);
            }
        }
        if kinds.iter().any(|kind| kind == "relation") {
            for link in call.memory.store().relations_from(file.id)? {
                text.push_str(&format!("  - {} [[{}]]\n", link.relation_type, link.target));
                let mut item = entity(file);
                item["type"] = json!("relation");
                item["relation_type"] = json!(link.relation_type);
                item["to_name"] = json!(link.target);
                items.push(item);
            }
        }
    }
    if found.notes.is_empty() {
        text.push_str(
            "Nothing was changed. A longer timeframe (`30d`, `1y`) looks further back.\n",
        );
    }
    if found.has_more {
        text.push_str(&format!("\n[more: page={}]\n", page + 1));
    }
    let structured = json!({
        "project": project.map(|project| project.to_string()),
        "since": since.to_string(),
        "results": items,
        "page": page,
        "page_size": page_size,
        "has_more": found.has_more,
    });
    Ok(Answer { text, structured })
}

fn facts(memory: &Memory, file: &FileSummary) -> Result<Vec<ObservationRow>, Failure> {
    let facts = memory.store().observations(file.id)?.into_iter();
    Ok(facts.filter(|fact| fact.is_current).collect())
}

fn entity(file: &FileSummary) -> Value {
    json!({
        "type": "entity",
        "title": file.title,
        "permalink": file.permalink,
        "file_path": file.path.as_str(),
        "project": file.project.as_str(),
        "created_at": file.created.to_string(),
        "updated_at": file.updated.to_string(),
    })
}
