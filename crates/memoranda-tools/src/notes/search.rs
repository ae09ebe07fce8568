//! `search_notes`: finds notes, facts and relations by words, names, types and frontmatter.

use memoranda_core::id::ProjectName;
use memoranda_core::note::type_key;
use memoranda_core::query::{MetaFilter, MetaScalar, MetaTest, parse_frontmatter_key};
use memoranda_core::rank::RankOptions;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_core::tokenize::unicode_forms;
use memoranda_engine::records::{is_inactive_record, records_project};
use memoranda_engine::{
    FilteredList, ListOrder, NoteLocation, PackRequest, PackedNote, ResolvedQuery, SearchFilter,
    SearchRequest, SearchUnit, name_in_project,
};
use serde_json::{Value, json};

use super::note_parts::find_parts;
use super::page::page_after;
use super::params::{COMMON, MAX_TOKENS, PAGE, PAGE_SIZE};
use super::search_hit::{HitDetail, NoteHit, fit_to_budget};
use super::{address, scope};
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, Param, ParamTable, QueryFeedback, ToolArgs, ToolError,
    ToolResult, abbreviate_query, count,
};
use crate::settings::DefaultSearchScope;

/// Reserve in tokens for the frame of an answer.
const FRAME_TOKENS: usize = 50;
/// Reserve in tokens for the heading of an answer, without the query.
const HEADING_TOKENS: usize = 20;
/// Length of a snippet in characters.
const SNIPPET_CHARS: usize = 200;
/// Maximum number of passages of one note in an answer without a token budget.
const MAX_PASSAGES_PER_NOTE: usize = 3;
/// Maximum number of required values in one call.
const MAX_REQUIRED: usize = 100;
/// Maximum number of alternatives in one list.
const MAX_ALTERNATIVES: usize = 10_000;
/// Query that matches everything.
const MATCH_ALL: &str = "*";

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

/// The request of a search.
#[derive(Clone)]
pub(super) struct NoteSearchQuery {
    query: String,
    search_type: String,
    pub(super) kinds: Vec<String>,
    pub(super) filter: SearchFilter,
    page: usize,
    page_size: usize,
    max_tokens: Option<usize>,
    /// Minimum similarity of meaning, 0 to 1.
    min_similarity: Option<f64>,
    /// Minimum relevance, 0 to 1.
    min_relevance: Option<f64>,
    /// Parts of a note that are shown.
    excerpt: ResultExcerpt,
}

/// Parts of a found note that are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ResultExcerpt {
    /// Whole passages, several of a note.
    Passages,
    /// One short excerpt.
    Snippet,
}

impl NoteSearchQuery {
    /// Returns the number of results before the page.
    fn offset(&self) -> usize {
        (self.page - 1) * self.page_size
    }

    /// Returns the token budget of the results, without the frame of the answer.
    fn room(&self) -> Option<usize> {
        let heading = HEADING_TOKENS + estimate_tokens(&abbreviate_query(&self.query));
        self.max_tokens.map(|most| most.saturating_sub(heading + FRAME_TOKENS))
    }

    /// Returns the fields of a result: under a token budget only those that a reader needs.
    fn detail(&self) -> HitDetail {
        if self.max_tokens.is_some() { HitDetail::Essential } else { HitDetail::Full }
    }

    /// Returns true for a search by words, not by title or permalink.
    fn is_by_words(&self) -> bool {
        !self.query.is_empty() && self.search_type != "title" && self.search_type != "permalink"
    }

    /// Returns true if the results are notes with whole passages.
    fn is_packed(&self) -> bool {
        self.excerpt == ResultExcerpt::Passages && self.is_by_words() && self.kinds == ["entity"]
    }

    /// Returns the engine's request for notes by words.
    fn search_request(&self) -> SearchRequest {
        // A minimum of 0 returns everything.
        let is_everything = self.min_similarity == Some(0.0);
        let chosen = self.min_relevance.or(is_everything.then_some(0.0));
        let request = SearchRequest {
            text: match self.search_type.as_str() {
                // The embedding of a phrase is that of its words.
                "vector" | "semantic" => self.query.replace(['"', '“', '”'], " "),
                _ => self.query.clone(),
            },
            filter: self.filter.clone(),
            unit: if self.kinds.iter().any(|kind| kind == "entity") {
                SearchUnit::Notes
            } else {
                SearchUnit::Holders
            },
            snippet_chars: SNIPPET_CHARS,
            min_similarity: self.min_similarity.filter(|_| self.search_type != "text"),
            options: match self.search_type.as_str() {
                "text" => RankOptions::WORDS,
                "vector" | "semantic" => RankOptions::MEANING,
                _ => RankOptions::STANDARD,
            },
            ..SearchRequest::default()
        };
        let request = request.with_min_relevance(chosen);
        let least = self.min_similarity.unwrap_or(1.0);
        SearchRequest { min_relevance: request.min_relevance.min(least), ..request }
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
    found.feedback.add_to(&mut structured);
    Ok(ToolResult::ok(text, structured))
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

fn read_query(call: &CallContext<'_>, args: &ToolArgs) -> Result<NoteSearchQuery, ToolError> {
    let mut query = args.optional_text("query")?.unwrap_or_default().trim().to_owned();
    let mut search_type = args.word("search_type")?;
    if let Some(address) = query.strip_prefix("memory://") {
        query = address.to_owned();
        search_type = "permalink".into();
    } else if is_permalink_pattern(&query) && matches!(search_type.as_str(), "hybrid" | "text") {
        search_type = "permalink".into();
    }
    let projects = searched_projects(call, args, &search_type, &mut query)?;
    let metadata = frontmatter_filters(args)?;
    let after = args.optional_text("after_date")?;
    let kinds = limited_texts(args, "note_types", MAX_ALTERNATIVES)?;
    let categories = limited_texts(args, "categories", MAX_ALTERNATIVES)?;
    let filter = SearchFilter {
        projects,
        note_types: kinds.iter().map(|kind| type_key(kind)).collect(),
        tags: limited_texts(args, "tags", MAX_REQUIRED)?,
        categories: categories.iter().flat_map(|category| unicode_forms(category)).collect(),
        after: after.map(|text| scope::parse_since(call, &text)).transpose()?,
        metadata,
        ..SearchFilter::default()
    };
    // `*`, or a type of result alone, matches everything.
    let is_all = query == MATCH_ALL && search_type != "permalink";
    if is_all {
        query.clear();
    }
    let kinds = result_kinds(args)?;
    let says_kind = !kinds.is_empty();
    if query.is_empty() && is_unrestricted(&filter) && !is_all && !says_kind {
        let text = "search_notes needs something to go by: a `query` (words, a \"phrase\", \
                    begin*, tag:name, memory://folder/*, or * for everything), or a filter: tags, \
                    status, note_types, entity_types, categories, metadata_filters, after_date.";
        return Err(ToolError::new("NO_CRITERIA", text));
    }
    let default_kind = if filter.categories.is_empty() { "entity" } else { "observation" };
    let asked = NoteSearchQuery {
        query,
        search_type,
        kinds: if says_kind { kinds } else { vec![default_kind.to_owned()] },
        filter,
        page: args.integer("page")?,
        page_size: args.integer("page_size")?,
        max_tokens: args.optional_integer("max_tokens")?,
        min_similarity: args.optional_decimal("min_similarity")?,
        min_relevance: args.optional_decimal("min_relevance")?,
        excerpt: if args.is_set("passages")? {
            ResultExcerpt::Passages
        } else {
            ResultExcerpt::Snippet
        },
    };
    Ok(asked)
}

/// Returns the projects to search: the named one, else all. An empty list means all. The project at
/// the start of an address is removed from the query.
fn searched_projects(
    call: &CallContext<'_>,
    args: &ToolArgs,
    search_type: &str,
    query: &mut String,
) -> Result<Vec<ProjectName>, ToolError> {
    let is_named = scope::requested_project(call, args)?.is_some();
    let is_everywhere = !is_named
        && (args.is_set("search_all_projects")?
            || call.settings.notes.search_scope == DefaultSearchScope::AllProjects);
    if search_type == "permalink" {
        let (project, address) = scope::split_address(call, args, query)?;
        // `work/plans/*` names its project.
        let names_project = address != *query
            || name_in_project(project.as_str(), query.trim_start_matches('/')).is_some();
        if !is_everywhere || names_project {
            *query = address;
            return Ok(vec![project]);
        }
    }
    if is_everywhere {
        return Ok(Vec::new());
    }
    Ok(vec![scope::call_project(call, args)?])
}

/// Returns true if a query is a pattern of permalinks, such as `specs/*`, and not words.
fn is_permalink_pattern(query: &str) -> bool {
    query.contains('/')
        && query.contains('*')
        && !query.starts_with(['+', '-', '"'])
        && !query.contains(|c: char| c.is_whitespace() || c == ':')
}

/// Reads `metadata_filters` and `status`.
fn frontmatter_filters(args: &ToolArgs) -> Result<Vec<MetaFilter>, ToolError> {
    let mut metadata = Vec::new();
    for (key, value) in args.object("metadata_filters")?.unwrap_or_default() {
        metadata.push(frontmatter_filter(args, &key, &value)?);
    }
    let demands = metadata.iter().map(|filter: &MetaFilter| match &filter.test {
        MetaTest::HasAll(values) => values.len(),
        _ => 1,
    });
    let demands: usize = demands.sum();
    if demands > MAX_REQUIRED {
        let text = format!(
            "`metadata_filters` demands {demands} values; {MAX_REQUIRED} are allowed in one call. \
             To accept any of many values, use $in: {{\"status\": {{\"$in\": [\"open\", \"done\"]}}}}."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    if let Some(status) = args.optional_text("status")? {
        let test = MetaTest::HasAll(vec![MetaScalar::Text(status)]);
        metadata.push(MetaFilter { key: vec!["status".into()], test });
    }
    Ok(metadata)
}

/// Reads `entity_types`: the types of results.
fn result_kinds(args: &ToolArgs) -> Result<Vec<String>, ToolError> {
    let mut kinds = args.texts("entity_types")?.unwrap_or_default();
    kinds.iter_mut().for_each(|kind| *kind = kind.to_lowercase());
    let known = ["entity", "observation", "relation"];
    if let Some(other) = kinds.iter().find(|kind| !known.contains(&kind.as_str())) {
        let other = Value::String(other.clone());
        return Err(args.wrong("entity_types", "entity, observation or relation", &other).into());
    }
    Ok(kinds)
}

/// Reads a list of texts with a maximum length.
fn limited_texts(args: &ToolArgs, name: &str, most: usize) -> Result<Vec<String>, ToolError> {
    let texts = args.texts(name)?.unwrap_or_default();
    if texts.len() > most {
        let text =
            format!("`{name}` holds {} values; {most} are allowed in one call.", texts.len());
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    Ok(texts)
}

/// Returns true if a filter matches everything.
fn is_unrestricted(filter: &SearchFilter) -> bool {
    filter.note_types.is_empty()
        && filter.tags.is_empty()
        && filter.categories.is_empty()
        && filter.metadata.is_empty()
        && filter.after.is_none()
}

/// Reads a condition on frontmatter: a value, a list of required values, or an operator.
fn frontmatter_filter(args: &ToolArgs, key: &str, value: &Value) -> Result<MetaFilter, ToolError> {
    let names =
        parse_frontmatter_key(key).map_err(|e| ToolError::new(INVALID_ARGUMENTS, e.to_string()))?;
    let wrong =
        |expected: &str| -> ToolError { args.wrong("metadata_filters", expected, value).into() };
    let scalar = |value: &Value| match (value, value.as_f64()) {
        (_, Some(number)) => Ok(MetaScalar::Number(number)),
        (Value::String(text), _) => Ok(MetaScalar::Text(text.clone())),
        (Value::Number(_) | Value::Bool(_), _) => Ok(MetaScalar::Text(value.to_string())),
        _ => Err(wrong("texts, numbers, true or false as values")),
    };
    let equals = |value: &Value| match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(scalar).collect(),
        Value::Array(_) => Err(wrong("lists that hold something")),
        other => Ok(vec![scalar(other)?]),
    };
    let operator = match value {
        Value::Object(operators) if operators.len() == 1 => operators.iter().next(),
        Value::Object(_) => return Err(wrong("one operator a key")),
        _ => None,
    };
    let test = match operator {
        None => MetaTest::HasAll(equals(value)?),
        Some((name, operand)) => match name.as_str() {
            "$in" => match equals(operand)? {
                values if values.len() > MAX_ALTERNATIVES => {
                    return Err(wrong(&format!("at most {MAX_ALTERNATIVES} values for $in")));
                }
                values => MetaTest::HasAny(values),
            },
            "$gt" => MetaTest::Above(scalar(operand)?),
            "$gte" => MetaTest::AtLeast(scalar(operand)?),
            "$lt" => MetaTest::Below(scalar(operand)?),
            "$lte" => MetaTest::AtMost(scalar(operand)?),
            "$between" => match operand.as_array().map(Vec::as_slice) {
                Some([low, high]) => MetaTest::Between(scalar(low)?, scalar(high)?),
                _ => return Err(wrong("two values for $between")),
            },
            _ => return Err(wrong("$in, $gt, $gte, $lt, $lte or $between")),
        },
    };
    Ok(MetaFilter { key: names, test })
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
