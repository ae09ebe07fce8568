//! `recent_activity`: the latest changes.

use jiff::{SignedDuration, Timestamp};
use memoranda_core::note::one_line;
use memoranda_engine::{
    FileSummary, ListFilter, ListOrder, ListRequest, Memory, ObservationRow, clock,
};
use serde_json::{Value, json};

use super::params::{COMMON, PAGE, PAGE_SIZE};
use super::scope;
use super::search_hit::{fact_address, relation_address};
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolError, ToolResult};

/// Number of notes whose parts are read at once.
const BATCH_NOTES: usize = 200;

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::texts("type", "entity (default), observation, relation").aliases(&["types", "kind"]),
        Param::text("timeframe", "`7d` (default), `yesterday`, `2 weeks`").aliases(&[
            "since",
            "time_range",
            "lookback",
        ]),
        Param::text("project", "Project; default all"),
        PAGE,
        PAGE_SIZE,
    ],
    COMMON,
]);

/// Limits the start of a timeframe to between a day and a year ago.
pub(super) fn limit_since(since: Timestamp) -> Timestamp {
    let now = clock::now();
    let back = |days: i64| now.saturating_sub(SignedDuration::from_hours(24 * days)).unwrap_or(now);
    since.min(back(1)).max(back(365))
}

pub(super) fn recent(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let timeframe = args.optional_text("timeframe")?.unwrap_or_else(|| "7d".into());
    let since = limit_since(scope::parse_since(call, &timeframe)?);
    let page = args.integer("page")?;
    let page_size = args.integer("page_size")?;
    let kinds: Vec<String> = args.texts("type")?.unwrap_or_default();
    let kinds: Vec<String> = kinds.iter().map(|kind| kind.trim().to_lowercase()).collect();
    let known = ["entity", "observation", "relation"];
    if let Some(other) = kinds.iter().find(|kind| !known.contains(&kind.as_str())) {
        let other = Value::String(other.clone());
        return Err(args.wrong("type", "entity, observation or relation", &other).into());
    }
    let project = match scope::requested_project(call, args)? {
        Some(project) => Some(scope::named_project(call, &project)?),
        None => None,
    };
    let scope = match &project {
        Some(project) => format!("project {project}"),
        None => "all projects".to_owned(),
    };
    let mut text = format!("# Recent activity in {scope} since {since}\n\n");
    let offset = (page - 1) * page_size;
    let filter = ListFilter {
        project: project.clone(),
        since: Some(since),
        without_templates: true,
        ..Default::default()
    };
    let mut changed = RecentItems { call, filter, kinds, passed: 0, items: Vec::new() };
    let has_more = changed.collect(offset, page_size)?;
    let shown = changed.items.into_iter().skip(offset - changed.passed).take(page_size);
    let (lines, items): (Vec<String>, Vec<Value>) = shown.unzip();
    lines.iter().for_each(|line| text.push_str(line));
    if items.is_empty() && page > 1 {
        text.push_str(&format!(
            "Nothing is left for page {page}; what changed last is on page 1.\n"
        ));
    } else if items.is_empty() {
        text.push_str(
            "Nothing was changed. A longer timeframe (`30d`, `1y`) looks further back.\n",
        );
    }
    if has_more {
        text.push_str(&format!("\n[more: page={}]\n", page + 1));
    }
    let structured = json!({
        "project": project.map(|project| project.to_string()),
        "since": since.to_string(),
        "results": items,
        "page": page,
        "page_size": page_size,
        "has_more": has_more,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Changed items: notes or their parts, as requested.
struct RecentItems<'c> {
    call: &'c CallContext<'c>,
    filter: ListFilter,
    kinds: Vec<String>,
    /// Number of items before the collected ones.
    passed: usize,
    /// Each item as text and as structure.
    items: Vec<(String, Value)>,
}

impl RecentItems<'_> {
    fn wants(&self, kind: &str) -> bool {
        self.kinds.iter().any(|wanted| wanted == kind)
    }

    /// Collects the items of a page, and perhaps some before it. Returns true if there are more.
    fn collect(&mut self, offset: usize, page_size: usize) -> Result<bool, ToolError> {
        // If every note is one item, the notes before the page can be skipped.
        let by_note = self.kinds.is_empty() || self.kinds.iter().all(|kind| kind == "entity");
        let mut from = 0;
        if by_note {
            (self.passed, from) = (offset, offset);
        }
        let end = offset + page_size;
        loop {
            let found = self.call.memory.list(&ListRequest {
                filter: self.filter.clone(),
                order: ListOrder::Newest,
                limit: if by_note { page_size } else { BATCH_NOTES },
                offset: from,
            })?;
            for file in &found.notes {
                self.add(file)?;
                if self.passed + self.items.len() > end {
                    return Ok(true);
                }
            }
            if by_note || !found.has_more {
                return Ok(found.has_more);
            }
            from += BATCH_NOTES;
        }
    }

    fn add(&mut self, file: &FileSummary) -> Result<(), ToolError> {
        let (project, path) = (&file.project, &file.path);
        if self.kinds.is_empty() || self.wants("entity") {
            let line = format!(
                "- {} ({project}/{}) updated {}\n",
                file.title, file.permalink, file.updated
            );
            self.items.push((line, entity(file)));
        }
        if self.wants("observation") {
            for fact in facts(self.call.memory, file)? {
                let category = fact.category.as_deref().unwrap_or("note");
                let mut item = entity(file);
                item["type"] = json!("observation");
                item["permalink"] = json!(fact_address(&file.permalink, category, &fact.text));
                item["category"] = json!(category);
                item["content"] = json!(fact.text);
                let said = one_line(&fact.text);
                self.items.push((format!("- [{category}] {said} ({project}/{path})\n"), item));
            }
        }
        if self.wants("relation") {
            for link in self.call.memory.snapshot()?.relations_from(file.id)? {
                let mut item = entity(file);
                item["type"] = json!("relation");
                item["permalink"] = json!(relation_address(self.call, &file.permalink, &link)?.0);
                item["relation_type"] = json!(link.relation_type);
                item["to_name"] = json!(link.target);
                let line = format!(
                    "- {} {} [[{}]] ({project}/{path})\n",
                    file.title, link.relation_type, link.target
                );
                self.items.push((line, item));
            }
        }
        Ok(())
    }
}

fn facts(memory: &Memory, file: &FileSummary) -> Result<Vec<ObservationRow>, ToolError> {
    let facts = memory.snapshot()?.observations(file.id)?.into_iter();
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
