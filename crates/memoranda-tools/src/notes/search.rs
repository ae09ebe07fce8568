//! `search_notes`: finds notes, facts and relations by words, names, types and frontmatter.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::recall::RecallRequest;
use memoranda_engine::records::{VisibleScopes, is_inactive_record, records_project};
use memoranda_engine::{
    FilteredList, ListOrder, NoteLocation, PackRequest, PackedNote, ResolvedQuery, SearchFilter,
    SearchRequest,
};
use serde_json::{Value, json};

use super::address;
use super::note_parts::find_parts;
use super::page::page_after;
use super::params::{COMMON, MAX_TOKENS, PAGE, PAGE_SIZE};
use super::search_hit::{NoteHit, fit_to_budget};
use super::search_query::{NoteSearchQuery, ResultExcerpt, is_unrestricted, read_query};
use crate::core::nearest::NearestSection;
use crate::registry::{
    CallContext, Param, ParamTable, QueryFeedback, ToolArgs, ToolError, ToolResult,
    abbreviate_query, count,
};

/// Reserve in tokens for the frame of an answer.
pub(super) const FRAME_TOKENS: usize = 50;
/// Length of a snippet in characters.
pub(super) const SNIPPET_CHARS: usize = 200;
/// Maximum number of passages of one note in an answer without a token budget.
const MAX_PASSAGES_PER_NOTE: usize = 3;

const SEARCH_TYPES: &[&str] = &["text", "title", "permalink", "vector", "semantic", "hybrid"];

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("query", "Words, \"phrase\", begin*, -not, tag:x, memory://folder/*")
            .aliases(&["q", "search", "text"]),
        Param::text("project", "Project; default all"),
        Param::flag("search_all_projects", "In every project: the default")
            .aliases(&["all_projects"]),
        PAGE,
        PAGE_SIZE,
        Param::choice("search_type", SEARCH_TYPES, "Default hybrid").default_word("hybrid"),
        Param::texts("note_types", "Types of note").aliases(&["note_type", "types"]),
        Param::texts("entity_types", "entity, observation, relation").aliases(&["entity_type"]),
        Param::texts("categories", "Categories of observations").aliases(&["category"]),
        Param::text("after_date", "Changed since: date or `7d`").aliases(&[
            "since",
            "after",
            "from_date",
        ]),
        Param::object(
            "metadata_filters",
            "Frontmatter: value, list (all), or {$in|$gt|$gte|$lt|$lte|$between: …}",
        ),
        Param::texts("tags", "Tags, all of them"),
        Param::text("status", "Frontmatter `status`"),
        Param::decimal(
            "min_similarity",
            0.0,
            1.0,
            "Least likeness by meaning; 0 also shows unlikely ones",
        )
        .aliases(&["threshold", "similarity_threshold"]),
        Param::decimal("min_relevance", 0.0, 1.0, "Least relevance; 0 shows all"),
        Param::flag("passages", "Whole passages (default), false: one excerpt a note")
            .default_flag(true),
        MAX_TOKENS,
    ],
    COMMON,
]);

/// One page of results.
pub(super) struct NoteSearchResults {
    pub(super) hits: Vec<NoteHit>,
    /// Number of notes on the page that did not fit into the budget.
    pub(super) left_out: usize,
    pub(super) has_more: bool,
    pub(super) partial: bool,
    pub(super) feedback: QueryFeedback,
    /// Relevance of the best candidate, 0 to 1, even if it was not returned.
    pub(super) relevance: f64,
    /// Interpretation of the words. `None` for a search without words.
    pub(super) understood: Option<ResolvedQuery>,
}

impl NoteSearchResults {
    /// Adds the results of another space.
    fn join(&mut self, further: Self) {
        self.hits.extend(further.hits);
        self.left_out += further.left_out;
        self.has_more |= further.has_more;
        self.partial |= further.partial;
        self.relevance = self.relevance.max(further.relevance);
        self.feedback.join(further.feedback);
    }

    /// Orders results of several spaces as those of one vault: by score, or newest first.
    fn order(&mut self) {
        if self.understood.is_some() {
            self.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        } else {
            self.hits.sort_by_key(|hit| std::cmp::Reverse(hit.updated));
        }
    }

    /// Creates the results of a search by name or address.
    fn without_words(hits: Vec<NoteHit>, has_more: bool) -> Self {
        let feedback = QueryFeedback::default();
        Self {
            hits,
            left_out: 0,
            has_more,
            partial: false,
            feedback,
            relevance: 0.0,
            understood: None,
        }
    }
}

pub(super) fn search(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let (asked, found) = find_in_all_spaces(call, args)?;
    let total = match (found.hits.len(), asked.page) {
        (0, 2..) => count_before(call, &asked)?,
        (shown, _) => asked.offset() + shown,
    };
    let scope = match asked.filter.projects.as_slice() {
        [] => "all projects".to_owned(),
        [one] => format!("project {one}"),
        _ => "several projects".to_owned(),
    };
    let what = match asked.query.as_str() {
        "" if is_unrestricted(&asked.filter) => "everything".to_owned(),
        "" => "filters".to_owned(),
        query => format!("{:?}", abbreviate_query(query)),
    };
    let mut text = format!("# Search results for {what} in {scope}, page {}\n", asked.page);
    text.push_str(&found.feedback.to_text());
    // Packed results fit already, unless the query had corrections.
    let room =
        asked.max_tokens.map(|most| most.saturating_sub(estimate_tokens(&text) + FRAME_TOKENS));
    let (hits, not_fitting) = fit_to_budget(found.hits, room);
    let left_out = found.left_out + not_fitting;
    if hits.is_empty() && total > 0 {
        text.push_str(&format!("\nThere are no more than {}.\n", count(total, "result")));
    } else if hits.is_empty() {
        let is_unlikely = asked.is_by_words() && found.relevance > 0.0;
        text.push_str(if is_unlikely {
            "\nNothing relevant found.\n"
        } else {
            "\nNothing found.\n"
        });
        match suggest_other_projects(call, &asked)? {
            Some(hint) => text.push_str(&hint),
            None => text.push_str(suggest_next_call(&asked, found.relevance)),
        }
    }
    let mut nearest = match total {
        0 => nearest_statements(call, &asked)?,
        _ => NearestSection::default(),
    };
    if let Some(most) = asked.max_tokens {
        nearest.cut_to(most.saturating_sub(estimate_tokens(&text) + FRAME_TOKENS));
    }
    let nearest_text = nearest.text();
    if !nearest_text.is_empty() {
        text.push_str(&format!("\n{nearest_text}"));
    }
    for (hit, _) in &hits {
        text.push_str(&hit.text());
    }
    let has_more = found.has_more || left_out > 0;
    let (next, size) = match left_out {
        0 => (asked.page + 1, asked.page_size),
        _ => page_after(asked.offset() + hits.len(), hits.len()),
    };
    if left_out > 0 {
        text.push_str(&format!(
            "\n[{} left out by max_tokens: page={next}, page_size={size} goes on with them]\n",
            count(left_out, "result")
        ));
    } else if has_more {
        text.push_str(&format!("\n[more results: page={next}]\n"));
    }
    if found.partial {
        text.push_str("\n[a word is very common: only the newest notes with it were compared]\n");
    }
    let mut structured = json!({
        "project": match asked.filter.projects.as_slice() {
            [one] => Value::String(one.to_string()),
            _ => Value::Null,
        },
        "current_page": asked.page,
        "page_size": asked.page_size,
        "total": total,
        "total_is_exact": !found.has_more,
        "has_more": has_more,
        "left_out": left_out,
    });
    // Outside of `json!`, which would copy the results.
    structured["results"] = Value::Array(hits.into_iter().map(|(_, item)| item).collect());
    if has_more {
        structured["next"] = json!({ "page": next, "page_size": size });
    }
    nearest.add_to(&mut structured);
    found.feedback.add_to(&mut structured);
    Ok(ToolResult::ok(text, structured))
}

/// Returns the nearest statements of agents to a search by words and meaning that found nothing. They
/// are no notes of a filter, and no answer to a caller that chose a threshold, demands words or reads on.
fn nearest_statements(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
) -> Result<NearestSection, ToolError> {
    let is_question = asked.page == 1
        && asked.is_by_words()
        && asked.search_type != "text"
        && asked.min_relevance.is_none()
        && asked.min_similarity.is_none()
        && asked.kinds == ["entity"]
        && is_unrestricted(&asked.filter);
    let project = match asked.filter.projects.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => return Ok(NearestSection::default()),
    };
    if !is_question {
        return Ok(NearestSection::default());
    }
    let visible = VisibleScopes::of_workspace(call.settings.workspace.as_deref());
    let request =
        RecallRequest { project, ..RecallRequest::new(Some(asked.query.clone()), visible) };
    NearestSection::search(call, &request, &|_| true)
        .map_err(|error| ToolError::new("STORE_FAILED", error.to_string()))
}

/// Returns the results of the requested page, from all spaces of the call in one order.
fn find_in_all_spaces(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<(NoteSearchQuery, NoteSearchResults), ToolError> {
    if call.others.is_empty() {
        let asked = read_query(call, args)?;
        let found = find_page(call, &asked)?;
        return Ok((asked, found));
    }
    let (mut joined, mut failed): (Option<(NoteSearchQuery, NoteSearchResults)>, _) = (None, None);
    for (space, single) in call.in_each_space() {
        let searched = read_query(&single, args).and_then(|asked| {
            // The page can consist of results of one space alone.
            let page_size = asked.offset() + asked.page_size;
            let whole = NoteSearchQuery { page: 1, page_size, ..asked.clone() };
            Ok((asked, find_page(&single, &whole)?))
        });
        let (asked, mut found) = match searched {
            Ok(found) => found,
            // A project that one of several spaces lacks is no error.
            Err(error) => {
                failed = failed.or(Some(error));
                continue;
            }
        };
        found.hits.iter_mut().for_each(|hit| hit.space = space.map(str::to_owned));
        match &mut joined {
            None => joined = Some((asked, found)),
            Some((_, first)) => first.join(found),
        }
    }
    match (joined, failed) {
        (Some((asked, mut found)), _) => {
            found.order();
            let offset = asked.offset();
            found.hits.drain(..offset.min(found.hits.len()));
            found.has_more |= found.hits.len() > asked.page_size;
            found.hits.truncate(asked.page_size);
            Ok((asked, found))
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(ToolError::new("NO_SPACE", "There is nothing to search.")),
    }
}

/// Returns the results of the requested page.
fn find_page(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
) -> Result<NoteSearchResults, ToolError> {
    let offset = asked.offset();
    if let Some(mut hits) = by_address(call, asked)? {
        hits.drain(..offset.min(hits.len()));
        let has_more = hits.len() > asked.page_size;
        hits.truncate(asked.page_size);
        return Ok(NoteSearchResults::without_words(hits, has_more));
    }
    let mut found = if asked.is_packed() {
        find_packed(call, asked, asked.page_size, offset)?
    } else if asked.kinds == ["entity"] {
        find_notes(call, asked, asked.page_size, offset)?
    } else {
        let mut found = find_parts(call, asked, offset + asked.page_size)?;
        found.hits.drain(..offset.min(found.hits.len()));
        found
    };
    leave_out_inactive(call, asked, &mut found.hits)?;
    for hit in found.hits.iter_mut().filter(|hit| hit.content.is_empty()) {
        hit.content = first_words(call, &hit.place);
    }
    Ok(found)
}

/// Removes records that no longer hold, unless the caller searches the records in particular.
fn leave_out_inactive(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
    hits: &mut Vec<NoteHit>,
) -> Result<(), ToolError> {
    if asked.filter.projects.contains(&records_project()) {
        return Ok(());
    }
    let now = call.settings.records.now();
    let mut kept = Vec::with_capacity(hits.len());
    for hit in hits.drain(..) {
        let is_inactive = is_inactive_record(call.memory, &hit.place, &hit.metadata, &now)
            .map_err(|error| ToolError::new("STORE_FAILED", error.to_string()))?;
        if !is_inactive {
            kept.push(hit);
        }
    }
    *hits = kept;
    Ok(())
}

/// Counts the results before an empty page.
fn count_before(call: &CallContext<'_>, asked: &NoteSearchQuery) -> Result<usize, ToolError> {
    if let Some(hits) = by_address(call, asked)? {
        return Ok(hits.len());
    }
    let found = if asked.is_packed() {
        let unlimited = NoteSearchQuery { max_tokens: None, ..asked.clone() };
        find_packed(call, &unlimited, asked.offset(), 0)?
    } else if asked.kinds == ["entity"] {
        find_notes(call, asked, asked.offset(), 0)?
    } else {
        find_parts(call, asked, asked.offset())?
    };
    Ok(found.hits.len())
}

/// Returns the facts and relations of an address. `None` if the address is of notes.
fn by_address(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
) -> Result<Option<Vec<NoteHit>>, ToolError> {
    let is_address = asked.search_type == "permalink" && asked.query.contains('/');
    if !is_address || !find_notes(call, asked, 1, 0)?.hits.is_empty() {
        return Ok(None);
    }
    let mut hits = address::parts(call, &asked.filter, &asked.query)?;
    let asks_for = |kind: &str| asked.kinds.iter().any(|asked| asked == kind);
    if !asks_for("entity") {
        hits.retain(|hit| asks_for(hit.kind));
    }
    let categories = &asked.filter.categories;
    if !categories.is_empty() {
        let category = |hit: &NoteHit| hit.more["category"].as_str().unwrap_or_default().to_owned();
        hits.retain(|hit| categories.iter().any(|c| c.eq_ignore_ascii_case(&category(hit))));
    }
    Ok(Some(hits))
}

/// Finds notes by words, with whole passages that fit into the budget.
fn find_packed(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
    limit: usize,
    offset: usize,
) -> Result<NoteSearchResults, ToolError> {
    let detail = asked.detail();
    let cost = |note: &PackedNote| NoteHit::packed(note.clone(), detail).cost();
    let request = PackRequest {
        max_tokens: asked.room(),
        max_notes: limit,
        skip_notes: offset,
        max_passages_per_note: asked.max_tokens.map_or(MAX_PASSAGES_PER_NOTE, |_| usize::MAX),
        cost: &cost,
        ..PackRequest::new(asked.search_request())
    };
    let packed = call.memory.search_packed(&request)?;
    let page = packed.page;
    Ok(NoteSearchResults {
        feedback: QueryFeedback::from_page(&page),
        hits: packed.notes.into_iter().map(|note| NoteHit::packed(note, detail)).collect(),
        left_out: packed.notes_left_out,
        has_more: packed.has_more,
        partial: page.partial,
        relevance: page.relevance,
        understood: Some(page.understood),
    })
}

/// Finds notes by words, or by title, permalink and filters.
pub(super) fn find_notes(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
    limit: usize,
    offset: usize,
) -> Result<NoteSearchResults, ToolError> {
    if asked.is_by_words() {
        let request = SearchRequest { limit, offset, ..asked.search_request() };
        let page = call.memory.search(&request)?;
        return Ok(NoteSearchResults {
            feedback: QueryFeedback::from_page(&page),
            hits: page.results.into_iter().map(NoteHit::found).collect(),
            left_out: 0,
            has_more: page.has_more,
            partial: page.partial,
            relevance: page.relevance,
            understood: Some(page.understood),
        });
    }
    let is_title = asked.search_type == "title";
    let title: Vec<String> = if is_title {
        asked.query.split_whitespace().map(str::to_owned).collect()
    } else {
        Vec::new()
    };
    let address = (asked.search_type == "permalink" && !asked.query.is_empty())
        .then(|| asked.query.trim_start_matches('/').to_owned());
    let mut files = call.memory.snapshot()?.filtered_list(&FilteredList {
        filter: asked.filter.clone(),
        title,
        address,
        order: ListOrder::Newest,
        limit: limit.saturating_add(1),
        offset,
    })?;
    let has_more = files.len() > limit;
    files.truncate(limit);
    Ok(NoteSearchResults::without_words(files.into_iter().map(NoteHit::note).collect(), has_more))
}

/// Returns the first words of a note after its frontmatter and heading.
fn first_words(call: &CallContext<'_>, place: &NoteLocation) -> String {
    let Ok(note) = call.memory.read_at(place) else { return String::new() };
    let text = note.lossy_text();
    let parsed = memoranda_core::note::parse(&text);
    let body = text.get(parsed.body).unwrap_or_default();
    let lines =
        body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let joined = lines.take(4).collect::<Vec<_>>().join(" ");
    match super::page::cut(&joined, SNIPPET_CHARS) {
        (kept, 0) => kept.to_owned(),
        (kept, _) => format!("{kept}…"),
    }
}

/// Suggests the next call after an empty result.
fn suggest_next_call(asked: &NoteSearchQuery, relevance: f64) -> &'static str {
    if asked.query.is_empty() && is_unrestricted(&asked.filter) {
        "There is nothing of this kind yet.\n"
    } else if asked.query.is_empty() {
        "Try fewer filters, an earlier after_date, or recent_activity, which shows what changed last.\n"
    } else if !asked.is_by_words() {
        "Without search_type, `query` finds notes by their words and by what they mean.\n"
    } else if relevance > 0.0 && asked.min_relevance != Some(0.0) {
        "min_relevance=0 shows what is less likely, too.\n"
    } else {
        "Try fewer words, a beginning such as conf*, fewer filters, or recent_activity.\n"
    }
}

/// Suggests other projects with results after an empty result.
fn suggest_other_projects(
    call: &CallContext<'_>,
    asked: &NoteSearchQuery,
) -> Result<Option<String>, ToolError> {
    let is_pinned = call.settings.notes.only_project.is_some();
    if asked.filter.projects.is_empty() || is_pinned || asked.page > 1 {
        return Ok(None);
    }
    let filter = SearchFilter { projects: Vec::new(), ..asked.filter.clone() };
    let wider = NoteSearchQuery {
        filter,
        query: asked.query.clone(),
        search_type: asked.search_type.clone(),
        min_similarity: asked.min_similarity,
        kinds: asked.kinds.clone(),
        page: 1,
        page_size: 5,
        max_tokens: None,
        min_relevance: asked.min_relevance,
        excerpt: ResultExcerpt::Snippet,
    };
    let found = find_page(call, &wider)?;
    if found.hits.is_empty() {
        return Ok(None);
    }
    let mut projects: Vec<String> =
        found.hits.iter().map(|hit| hit.place.project.to_string()).collect();
    projects.sort();
    projects.dedup();
    Ok(Some(format!(
        "There are results in {}; search_all_projects=true, without project, shows them.\n",
        projects.join(", ")
    )))
}
