//! `search_notes`: notes, facts and relations by words, names, kinds and frontmatter.

use memoranda_core::note::type_key;
use memoranda_core::query::{MetaFilter, MetaScalar, MetaTest, parse_frontmatter_key};
use memoranda_core::rank::RankOptions;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_core::tokenize::unicode_forms;
use memoranda_engine::{
    Browse, ListOrder, MIN_RELEVANCE, Place, SearchFilter, SearchRequest, SearchUnit, Understood,
};
use serde_json::{Value, json};

use super::note_parts::parts;
use super::page::page_after;
use super::params::{COMMON, MAX_TOKENS, PAGE, PAGE_SIZE, PROJECT};
use super::search_hit::{Hit, within};
use super::{address, scope};
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, Param, ParamTable, QueryFeedback, ToolArgs, ToolError,
    ToolResult, abbreviate_query, count,
};

/// What an answer takes beside its results and how it begins.
const FRAME_TOKENS: usize = 50;
/// How long a quotation is.
const SNIPPET_CHARS: usize = 200;
/// How many things one call may demand of a note, and how many alternatives one list may hold.
const MOST_DEMANDS: usize = 100;
const MOST_ALTERNATIVES: usize = 10_000;
/// The query that leaves nothing out.
const EVERYTHING: &str = "*";

const SEARCH_TYPES: &[&str] = &["text", "title", "permalink", "vector", "semantic", "hybrid"];

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("query", "Words, \"phrase\", begin*, -not, tag:x, memory://folder/*")
            .aliases(&["q", "search", "text"]),
        PROJECT,
        Param::flag("search_all_projects", "In every project").aliases(&["all_projects"]),
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
        MAX_TOKENS,
    ],
    COMMON,
]);

/// What was found, as far as it goes.
pub(super) struct Found {
    pub(super) hits: Vec<Hit>,
    pub(super) has_more: bool,
    pub(super) partial: bool,
    pub(super) reading: QueryFeedback,
    /// How likely the likeliest candidate has to do with the words, found or not.
    pub(super) relevance: f64,
    /// How the words were understood, if words were looked for.
    pub(super) understood: Option<Understood>,
}

impl Found {
    /// What was found by its name or address, and by no words.
    fn listed(hits: Vec<Hit>, has_more: bool) -> Self {
        let reading = QueryFeedback::default();
        Self { hits, has_more, partial: false, reading, relevance: 0.0, understood: None }
    }
}

/// What is asked, apart from the words.
pub(super) struct Asked {
    query: String,
    search_type: String,
    pub(super) kinds: Vec<String>,
    pub(super) filter: SearchFilter,
    page: usize,
    page_size: usize,
    max_tokens: Option<usize>,
    /// How likely a note must be to have to do with the words.
    min_similarity: Option<f64>,
}

impl Asked {
    /// How many come before the page.
    fn offset(&self) -> usize {
        (self.page - 1) * self.page_size
    }

    /// Whether notes are found by their words, not by what they are called or are.
    fn is_by_words(&self) -> bool {
        !self.query.is_empty() && self.search_type != "title" && self.search_type != "permalink"
    }
}

pub(super) fn search(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let asked = asked(call, args)?;
    let found = find(call, &asked)?;
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
        "" if is_open(&asked.filter) => "everything".to_owned(),
        "" => "filters".to_owned(),
        query => format!("{:?}", abbreviate_query(query)),
    };
    let mut text = format!("# Search results for {what} in {scope}, page {}\n", asked.page);
    text.push_str(&found.reading.to_text());
    let room =
        asked.max_tokens.map(|most| most.saturating_sub(estimate_tokens(&text) + FRAME_TOKENS));
    let (hits, left_out) = within(found.hits, room);
    if hits.is_empty() && total > 0 {
        text.push_str(&format!("\nThere are no more than {}.\n", count(total, "result")));
    } else if hits.is_empty() {
        text.push_str("\nNothing found.\n");
        match elsewhere(call, &asked)? {
            Some(hint) => text.push_str(&hint),
            None => text.push_str(weaker(&asked, found.relevance)),
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
    // Not within `json!`, which copies what it is given.
    structured["results"] = Value::Array(hits.into_iter().map(|(_, item)| item).collect());
    if has_more {
        structured["next"] = json!({ "page": next, "page_size": size });
    }
    found.reading.add_to(&mut structured);
    Ok(ToolResult::ok(text, structured))
}

fn asked(call: &CallContext<'_>, args: &ToolArgs) -> Result<Asked, ToolError> {
    let mut query = args.optional_text("query")?.unwrap_or_default().trim().to_owned();
    let mut search_type = args.word("search_type")?;
    if let Some(address) = query.strip_prefix("memory://") {
        query = address.to_owned();
        search_type = "permalink".into();
    }
    // Whoever names a project means that one.
    let is_named = args.value("project").or(args.value("project_id")).is_some();
    let all = args.is_set("search_all_projects")? && !is_named;
    let projects = match (all, &call.settings.notes.only_project) {
        (true, None) => Vec::new(),
        _ if search_type == "permalink" => {
            let (project, address) = scope::addressed(call, args, &query)?;
            query = address;
            vec![project]
        }
        _ => vec![scope::project(call, args)?],
    };
    let mut metadata = Vec::new();
    for (key, value) in args.object("metadata_filters")?.unwrap_or_default() {
        metadata.push(meta_filter(args, &key, &value)?);
    }
    let demands = metadata.iter().map(|filter: &MetaFilter| match &filter.test {
        MetaTest::HasAll(values) => values.len(),
        _ => 1,
    });
    let demands: usize = demands.sum();
    if demands > MOST_DEMANDS {
        let text = format!(
            "`metadata_filters` demands {demands} values; {MOST_DEMANDS} are allowed in one call. \
             To accept any of many values, use $in: {{\"status\": {{\"$in\": [\"open\", \"done\"]}}}}."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    if let Some(status) = args.optional_text("status")? {
        let test = MetaTest::HasAll(vec![MetaScalar::Text(status)]);
        metadata.push(MetaFilter { key: vec!["status".into()], test });
    }
    let after = args.optional_text("after_date")?;
    let kinds = at_most(args, "note_types", MOST_ALTERNATIVES)?;
    let categories = at_most(args, "categories", MOST_ALTERNATIVES)?;
    let filter = SearchFilter {
        projects,
        note_types: kinds.iter().map(|kind| type_key(kind)).collect(),
        tags: at_most(args, "tags", MOST_DEMANDS)?,
        categories: categories.iter().flat_map(|category| unicode_forms(category)).collect(),
        after: after.map(|text| scope::since(call, &text)).transpose()?,
        metadata,
        ..SearchFilter::default()
    };
    // Whoever says `*` or a kind of result wants all of it.
    let is_all = query == EVERYTHING && search_type != "permalink";
    if is_all {
        query.clear();
    }
    let mut kinds = args.texts("entity_types")?.unwrap_or_default();
    let says_kind = !kinds.is_empty();
    kinds.iter_mut().for_each(|kind| *kind = kind.to_lowercase());
    let known = ["entity", "observation", "relation"];
    if let Some(other) = kinds.iter().find(|kind| !known.contains(&kind.as_str())) {
        let other = Value::String(other.clone());
        return Err(args.wrong("entity_types", "entity, observation or relation", &other).into());
    }
    if kinds.is_empty() {
        let by_fact = !filter.categories.is_empty();
        kinds.push(if by_fact { "observation" } else { "entity" }.to_owned());
    }
    if query.is_empty() && is_open(&filter) && !is_all && !says_kind {
        let text = "search_notes needs something to go by: a `query` (words, a \"phrase\", \
                    begin*, tag:name, memory://folder/*, or * for everything), or a filter: tags, \
                    status, note_types, entity_types, categories, metadata_filters, after_date.";
        return Err(ToolError::new("NO_CRITERIA", text));
    }
    let asked = Asked {
        query,
        search_type,
        kinds,
        filter,
        page: args.integer("page")?,
        page_size: args.integer("page_size")?,
        max_tokens: args.optional_integer("max_tokens")?,
        min_similarity: args.optional_decimal("min_similarity")?,
    };
    Ok(asked)
}

/// A list of texts that is not too long.
fn at_most(args: &ToolArgs, name: &str, most: usize) -> Result<Vec<String>, ToolError> {
    let texts = args.texts(name)?.unwrap_or_default();
    if texts.len() > most {
        let text =
            format!("`{name}` holds {} values; {most} are allowed in one call.", texts.len());
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    }
    Ok(texts)
}

/// Whether a filter lets everything pass.
fn is_open(filter: &SearchFilter) -> bool {
    filter.note_types.is_empty()
        && filter.tags.is_empty()
        && filter.categories.is_empty()
        && filter.metadata.is_empty()
        && filter.after.is_none()
}

/// One condition on frontmatter: a value, a list of which all must be there, or an operator.
fn meta_filter(args: &ToolArgs, key: &str, value: &Value) -> Result<MetaFilter, ToolError> {
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
                values if values.len() > MOST_ALTERNATIVES => {
                    return Err(wrong(&format!("at most {MOST_ALTERNATIVES} values for $in")));
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

/// What is on the page that is asked for.
fn find(call: &CallContext<'_>, asked: &Asked) -> Result<Found, ToolError> {
    let offset = asked.offset();
    if let Some(mut hits) = by_address(call, asked)? {
        hits.drain(..offset.min(hits.len()));
        let has_more = hits.len() > asked.page_size;
        hits.truncate(asked.page_size);
        return Ok(Found::listed(hits, has_more));
    }
    let mut found = match asked.kinds == ["entity"] {
        true => notes(call, asked, asked.page_size, offset)?,
        false => {
            let mut found = parts(call, asked, offset + asked.page_size)?;
            found.hits.drain(..offset.min(found.hits.len()));
            found
        }
    };
    for hit in found.hits.iter_mut().filter(|hit| hit.content.is_empty()) {
        hit.content = beginning(call, &hit.place);
    }
    Ok(found)
}

/// How much there is in all before the page that is asked for, which is empty.
fn count_before(call: &CallContext<'_>, asked: &Asked) -> Result<usize, ToolError> {
    if let Some(hits) = by_address(call, asked)? {
        return Ok(hits.len());
    }
    let found = match asked.kinds == ["entity"] {
        true => notes(call, asked, asked.offset(), 0)?,
        false => parts(call, asked, asked.offset())?,
    };
    Ok(found.hits.len())
}

/// The facts and relations that an address means, if it is no note's.
fn by_address(call: &CallContext<'_>, asked: &Asked) -> Result<Option<Vec<Hit>>, ToolError> {
    let is_address = asked.search_type == "permalink" && asked.query.contains('/');
    if !is_address || !notes(call, asked, 1, 0)?.hits.is_empty() {
        return Ok(None);
    }
    let mut hits = address::parts(call, &asked.filter, &asked.query)?;
    let asks_for = |kind: &str| asked.kinds.iter().any(|asked| asked == kind);
    if !asks_for("entity") {
        hits.retain(|hit| asks_for(hit.kind));
    }
    let categories = &asked.filter.categories;
    if !categories.is_empty() {
        let category = |hit: &Hit| hit.more["category"].as_str().unwrap_or_default().to_owned();
        hits.retain(|hit| categories.iter().any(|c| c.eq_ignore_ascii_case(&category(hit))));
    }
    Ok(Some(hits))
}

/// Notes: by their words if words are asked for, else by what they are called and what they are.
pub(super) fn notes(
    call: &CallContext<'_>,
    asked: &Asked,
    limit: usize,
    offset: usize,
) -> Result<Found, ToolError> {
    if asked.is_by_words() {
        let request = SearchRequest {
            text: match asked.search_type.as_str() {
                // What a phrase means is what its words mean.
                "vector" | "semantic" => asked.query.replace(['"', '“', '”'], " "),
                _ => asked.query.clone(),
            },
            filter: asked.filter.clone(),
            unit: match asked.kinds.iter().any(|kind| kind == "entity") {
                true => SearchUnit::Notes,
                false => SearchUnit::Holders,
            },
            limit,
            offset,
            snippet_chars: SNIPPET_CHARS,
            // Whoever asks for none wants all that there is.
            min_relevance: asked.min_similarity.unwrap_or(1.0).min(MIN_RELEVANCE),
            min_similarity: asked.min_similarity.filter(|_| asked.search_type != "text"),
            options: match asked.search_type.as_str() {
                "text" => RankOptions::WORDS,
                "vector" | "semantic" => RankOptions::MEANING,
                _ => RankOptions::STANDARD,
            },
            ..SearchRequest::default()
        };
        let page = call.memory.search(&request)?;
        return Ok(Found {
            reading: QueryFeedback::from_page(&page),
            hits: page.results.into_iter().map(Hit::found).collect(),
            has_more: page.has_more,
            partial: page.partial,
            relevance: page.relevance,
            understood: Some(page.understood),
        });
    }
    let is_title = asked.search_type == "title";
    let title: Vec<String> = match is_title {
        true => asked.query.split_whitespace().map(str::to_owned).collect(),
        false => Vec::new(),
    };
    let address = (asked.search_type == "permalink" && !asked.query.is_empty())
        .then(|| asked.query.trim_start_matches('/').to_owned());
    let mut files = call.memory.store().browse(&Browse {
        filter: asked.filter.clone(),
        title,
        address,
        order: ListOrder::Newest,
        limit: limit.saturating_add(1),
        offset,
    })?;
    let has_more = files.len() > limit;
    files.truncate(limit);
    Ok(Found::listed(files.into_iter().map(Hit::note).collect(), has_more))
}

/// How a note begins, after its frontmatter and heading.
fn beginning(call: &CallContext<'_>, place: &Place) -> String {
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

/// Which call would find more, when nothing was found.
fn weaker(asked: &Asked, relevance: f64) -> &'static str {
    if asked.query.is_empty() && is_open(&asked.filter) {
        "There is nothing of this kind yet.\n"
    } else if asked.query.is_empty() {
        "Try fewer filters, an earlier after_date, or recent_activity, which shows what changed last.\n"
    } else if !asked.is_by_words() {
        "Without search_type, `query` finds notes by their words and by what they mean.\n"
    } else if relevance > 0.0 && asked.min_similarity != Some(0.0) {
        "min_similarity=0 shows what is less likely, too.\n"
    } else {
        "Try fewer words, a beginning such as conf*, fewer filters, or recent_activity.\n"
    }
}

/// Where else there is something, when there is nothing here.
fn elsewhere(call: &CallContext<'_>, asked: &Asked) -> Result<Option<String>, ToolError> {
    let is_pinned = call.settings.notes.only_project.is_some();
    if asked.filter.projects.is_empty() || is_pinned || asked.page > 1 {
        return Ok(None);
    }
    let filter = SearchFilter { projects: Vec::new(), ..asked.filter.clone() };
    let wider = Asked {
        filter,
        query: asked.query.clone(),
        search_type: asked.search_type.clone(),
        min_similarity: asked.min_similarity,
        kinds: asked.kinds.clone(),
        page: 1,
        page_size: 5,
        max_tokens: None,
    };
    let found = find(call, &wider)?;
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
