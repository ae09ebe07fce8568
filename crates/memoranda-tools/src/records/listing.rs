//! `search_memories` and `list_memories`.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::EngineError;
use memoranda_engine::recall::{RecallRequest, RecalledPassage};
use memoranda_engine::records::{
    MemoryRecord, RecordError, RecordKind, RecordQuery, RecordScope, VisibleScopes, find_exact,
    is_record_place, newest_records, search_records,
};
use memoranda_engine::remember::record_kind;
use memoranda_engine::task_context::OtherRepositories;
use serde_json::json;

use super::arguments;
use super::elsewhere::{ElsewhereSection, only_project, other_repositories};
use super::error::{RecordToolError, RecordToolResult};
use super::render::{
    LINE_CHARS, full_text, list_line, record_json, records_json, visible_scopes_text,
};
use crate::core::nearest::NearestSection;
use crate::registry::{CallContext, QueryFeedback, ToolArgs, ToolResult, abbreviate_query};

/// Maximum number of characters of one memory in an answer.
const READ_CHARS: usize = 50_000;

/// Reads the requested kinds: one, several, or all.
fn kinds(args: &ToolArgs) -> RecordToolResult<Vec<RecordKind>> {
    if let Some(kind) = arguments::kind(args, "type")? {
        return Ok(vec![kind]);
    }
    let several = arguments::kinds(args, "types")?.filter(|kinds| !kinds.is_empty());
    Ok(several.unwrap_or_else(|| RecordKind::ALL.to_vec()))
}

/// `search_memories`.
pub(super) fn search(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let query = args.text("query")?;
    let limit = args.integer("limit")?;
    let (kinds, layer) = (kinds(args)?, arguments::layer(args)?);
    let visible = arguments::visible_scopes(call.settings, args)?;
    if let Some(record) = find_exact(call.memory, &visible, &kinds, &query)? {
        let from = args.integer("offset")?;
        return Ok(whole_memory(&record, from, &visible));
    }
    let asked = abbreviate_query(&query);
    // A caller that means nothing by it sends 0.
    if args.integer("offset")? > 0 {
        return Err(RecordToolError::new(format!(
            "`offset` reads on in one memory, and {asked:?} is no id of one. search_memories \
             without it shows ids."
        )));
    }
    let now = call.settings.records.now();
    let fits = |record: &MemoryRecord| {
        record.is_active(&now) && layer.is_none_or(|layer| layer.includes(record))
    };
    let min_relevance = args.optional_decimal("min_relevance")?;
    let asked_for = RecordQuery { text: &query, limit, min_relevance };
    let searched = search_records(call.memory, &visible, &kinds, asked_for, &fits);
    let found = match searched {
        Err(RecordError::Engine(EngineError::Invalid(reason))) => {
            return Err(RecordToolError::new(format!("{reason}.")));
        }
        other => other?,
    };
    // Kinds and layers are attributes of records.
    let is_filtered = kinds.len() < RecordKind::ALL.len() || layer.is_some();
    let elsewhere = if is_filtered {
        ElsewhereSection::default()
    } else {
        ElsewhereSection::search(call, &visible, other_repositories(args)?, &query, limit)?
    };
    let mut nearest = NearestSection::default();
    if found.records.is_empty() && elsewhere.is_empty() && layer.is_none() {
        nearest = nearest_records(call, &visible, args, &query, is_filtered.then_some(&kinds))?;
    }
    let mut feedback = found.page.as_ref().map(QueryFeedback::from_page).unwrap_or_default();
    feedback.add_by_words_alone(elsewhere.is_by_words_alone);
    let more = found.has_more.then(|| match limit {
        100.. => "[there are more; narrow the query]".to_owned(),
        _ => {
            let call = json!({ "query": query, "limit": (limit * 2).min(100) });
            format!("[there are more; search_memories {call} shows them]")
        }
    });
    let mut answer = SearchAnswer {
        asked,
        visible: &visible,
        records: found.records,
        elsewhere,
        nearest,
        feedback,
        more,
        cut: 0,
    };
    Ok(match args.optional_integer("max_tokens")? {
        Some(budget) => answer.within(budget),
        None => answer.result(),
    })
}

/// Parts of an answer of `search_memories`.
struct SearchAnswer<'a> {
    /// The query, abbreviated.
    asked: String,
    visible: &'a VisibleScopes,
    records: Vec<MemoryRecord>,
    elsewhere: ElsewhereSection,
    nearest: NearestSection,
    feedback: QueryFeedback,
    /// Line that says that there are more; `None` if there are none.
    more: Option<String>,
    /// Number of memories that the budget left out.
    cut: usize,
}

impl SearchAnswer<'_> {
    /// Renders the parts.
    fn result(&self) -> ToolResult {
        let Self { asked, elsewhere, .. } = self;
        let nothing = if self.cut > 0 && elsewhere.is_empty() {
            format!("Nothing that matches {asked:?} fits max_tokens.")
        } else if elsewhere.is_empty() {
            format!("No memories match {asked:?}.")
        } else {
            format!("No record matches {asked:?}.")
        };
        let hint = match self.cut {
            0 => self.more.clone(),
            cut => Some(format!("[{cut} more did not fit max_tokens]")),
        };
        let mut result = listed(&self.records, self.visible, hint.as_deref(), &nothing, elsewhere);
        let nearest = self.nearest.text();
        if !nearest.is_empty() {
            result.text.push_str(&format!("\n\n{}", nearest.trim_end()));
        }
        self.nearest.add_to(&mut result.structured);
        let feedback = self.feedback.to_text();
        if !feedback.is_empty() {
            result.text.push_str(&format!("\n{}", feedback.trim_end()));
        }
        self.feedback.add_to(&mut result.structured);
        result
    }

    /// Renders what fits into a number of tokens as text and as structure, with everything around it.
    fn within(&mut self, budget: usize) -> ToolResult {
        let (kept, left) = fitting_records(&self.records, budget);
        self.cut = self.records.len() - kept;
        self.records.truncate(kept);
        self.cut += self.elsewhere.cut_to(if self.cut > 0 { 0 } else { left });
        loop {
            let result = self.result();
            let structure = estimate_tokens(&result.structured.to_string());
            if estimate_tokens(&result.text).max(structure) <= budget || !self.leave_out_last() {
                return result;
            }
        }
    }

    /// Leaves out the least important part. Returns false if nothing is left.
    fn leave_out_last(&mut self) -> bool {
        const SHORT: &str = "[there are more; a larger limit shows them]";
        if self.nearest.pop() {
            return true;
        }
        // A query that is longer than the budget has no room in the hint.
        if let Some(more) =
            self.more.as_mut().filter(|more| self.cut == 0 && more.len() > SHORT.len())
        {
            SHORT.clone_into(more);
            return true;
        }
        let is_left_out = self.elsewhere.pop() || self.records.pop().is_some();
        self.cut += usize::from(is_left_out);
        is_left_out
    }
}

/// Returns the nearest statements to a query that found nothing. A caller that names kinds asks for
/// records.
fn nearest_records(
    call: &CallContext<'_>,
    visible: &VisibleScopes,
    args: &ToolArgs,
    query: &str,
    kinds: Option<&Vec<RecordKind>>,
) -> RecordToolResult<NearestSection> {
    let others = other_repositories(args)?;
    let request = RecallRequest {
        project: only_project(call)?,
        min_relevance: args.optional_decimal("min_relevance")?,
        ..RecallRequest::new(Some(query.to_owned()), visible.clone())
    };
    let is_of_kind = |passage: &RecalledPassage, kinds: &Vec<RecordKind>| {
        kinds.contains(&record_kind(passage.kind))
            && passage.places.first().is_some_and(is_record_place)
    };
    let matches = |passage: &RecalledPassage| {
        (others == OtherRepositories::Included || passage.is_of(visible))
            && kinds.is_none_or(|kinds| is_of_kind(passage, kinds))
    };
    Ok(NearestSection::search(call, &request, &matches)?)
}

/// Returns how many records fit into a number of tokens, as lines and as structures, and the tokens
/// that are left.
fn fitting_records(records: &[MemoryRecord], mut left: usize) -> (usize, usize) {
    let fits = |record: &&MemoryRecord| {
        let (line, json) = (list_line(record, LINE_CHARS), record_json(record).to_string());
        let cost = estimate_tokens(&line).max(estimate_tokens(&json)) + 1;
        let fits = cost <= left;
        left -= if fits { cost } else { 0 };
        fits
    };
    let kept = records.iter().take_while(fits).count();
    (kept, left)
}

/// Renders one memory that was requested by id, line by line.
fn whole_memory(record: &MemoryRecord, from: usize, visible: &VisibleScopes) -> ToolResult {
    let total = record.content.chars().count();
    let piece: String = record.content.chars().skip(from).take(READ_CHARS).collect();
    let next = Some(from.saturating_add(READ_CHARS)).filter(|next| *next < total);
    let mut text = format!("Found 1 memory:\n{}\n", full_text(record, &piece));
    if from > 0 || next.is_some() {
        let to = next.unwrap_or(total);
        text.push_str(&format!("[characters {from} to {to} of {total}"));
        if let Some(next) = next {
            let call = json!({ "query": record.id, "offset": next });
            text.push_str(&format!("; search_memories {call} reads on"));
        }
        text.push_str("]\n");
    }
    text.push_str(&visible_scopes_text(visible));
    let mut memory = record_json(record);
    memory["content"] = json!(piece);
    let structured = json!({
        "project": visible.project().map(RecordScope::name),
        "count": 1,
        "memories": [memory],
        "has_more": false,
        "chars": total,
        "next_offset": next,
    });
    ToolResult::ok(text, structured)
}

/// `list_memories`.
pub(super) fn list(call: &CallContext<'_>, args: &ToolArgs) -> RecordToolResult<ToolResult> {
    let limit = args.integer("limit")?;
    let (kinds, layer) = (kinds(args)?, arguments::layer(args)?);
    let tags: Vec<String> =
        arguments::tags(args)?.unwrap_or_default().iter().map(|tag| tag.to_lowercase()).collect();
    let include_inactive = args.is_set("include_inactive")?;
    let visible = arguments::visible_scopes(call.settings, args)?;
    let now = call.settings.records.now();
    let (found, more) = newest_records(call.memory, &visible, &kinds, limit, &|record| {
        let own_tags: Vec<String> = record.tags.iter().map(|tag| tag.to_lowercase()).collect();
        let tagged = |wanted: &String| own_tags.iter().any(|tag| tag.contains(wanted));
        (include_inactive || record.is_active(&now))
            && (tags.is_empty() || tags.iter().any(tagged))
            && layer.is_none_or(|layer| layer.includes(record))
    })?;
    let hint = more.then(|| {
        format!(
            "[there are more; list_memories {{\"limit\": {}}} shows them]",
            (limit * 2).min(200)
        )
    });
    let nothing = "No memories. add_memory stores the first one.";
    Ok(listed(&found, &visible, hint.as_deref(), nothing, &ElsewhereSection::default()))
}

fn listed(
    found: &[MemoryRecord],
    visible: &VisibleScopes,
    hint: Option<&str>,
    nothing: &str,
    elsewhere: &ElsewhereSection,
) -> ToolResult {
    let mut text = match found.len() {
        0 => format!("{nothing}\n"),
        1 => "Found 1 memory:\n".to_owned(),
        count => format!("Found {count} memories:\n"),
    };
    for record in found {
        text.push_str(&list_line(record, LINE_CHARS));
        text.push('\n');
    }
    if let Some(hint) = hint {
        text.push_str(hint);
        text.push('\n');
    }
    if !elsewhere.is_empty() {
        text.push_str(&format!("{}\n", elsewhere.text()));
    }
    text.push_str(&visible_scopes_text(visible));
    let mut structured = json!({
        "project": visible.project().map(RecordScope::name),
        "count": found.len(),
        "memories": records_json(found),
        "has_more": hint.is_some(),
    });
    if !elsewhere.is_empty() {
        structured["elsewhere"] = json!(elsewhere.items);
    }
    ToolResult::ok(text, structured)
}
