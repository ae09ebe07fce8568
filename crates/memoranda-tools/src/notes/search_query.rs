//! The request of `search_notes`: the query, its filters and the page, read from the arguments of a call.

use memoranda_core::id::ProjectName;
use memoranda_core::note::type_key;
use memoranda_core::query::{MetaFilter, MetaScalar, MetaTest, parse_frontmatter_key};
use memoranda_core::rank::RankOptions;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_core::tokenize::unicode_forms;
use memoranda_engine::{SearchFilter, SearchRequest, SearchUnit, name_in_project};
use serde_json::Value;

use super::scope;
use super::search::{FRAME_TOKENS, SNIPPET_CHARS};
use super::search_hit::HitDetail;
use crate::registry::{CallContext, INVALID_ARGUMENTS, ToolArgs, ToolError, abbreviate_query};
use crate::settings::DefaultSearchScope;

/// Maximum number of required values in one call.
const MAX_REQUIRED: usize = 100;
/// Maximum number of alternatives in one list.
const MAX_ALTERNATIVES: usize = 10_000;
/// Query that matches everything.
const MATCH_ALL: &str = "*";
/// Reserve in tokens for the heading of an answer, without the query.
const HEADING_TOKENS: usize = 20;

/// The request of a search.
#[derive(Clone)]
pub(super) struct NoteSearchQuery {
    pub(super) query: String,
    pub(super) search_type: String,
    pub(super) kinds: Vec<String>,
    pub(super) filter: SearchFilter,
    pub(super) page: usize,
    pub(super) page_size: usize,
    pub(super) max_tokens: Option<usize>,
    /// Minimum similarity of meaning, 0 to 1.
    pub(super) min_similarity: Option<f64>,
    /// Minimum relevance, 0 to 1.
    pub(super) min_relevance: Option<f64>,
    /// Parts of a note that are shown.
    pub(super) excerpt: ResultExcerpt,
}

/// Parts of a found note that are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResultExcerpt {
    /// Whole passages, several of a note.
    Passages,
    /// One short excerpt.
    Snippet,
}

impl NoteSearchQuery {
    /// Returns the number of results before the page.
    pub(super) fn offset(&self) -> usize {
        (self.page - 1) * self.page_size
    }

    /// Returns the token budget of the results, without the frame of the answer.
    pub(super) fn room(&self) -> Option<usize> {
        let heading = HEADING_TOKENS + estimate_tokens(&abbreviate_query(&self.query));
        self.max_tokens.map(|most| most.saturating_sub(heading + FRAME_TOKENS))
    }

    /// Returns the fields of a result: under a token budget only those that a reader needs.
    pub(super) fn detail(&self) -> HitDetail {
        if self.max_tokens.is_some() { HitDetail::Essential } else { HitDetail::Full }
    }

    /// Returns true for a search by words, not by title or permalink.
    pub(super) fn is_by_words(&self) -> bool {
        !self.query.is_empty() && self.search_type != "title" && self.search_type != "permalink"
    }

    /// Returns true if the results are notes with whole passages.
    pub(super) fn is_packed(&self) -> bool {
        self.excerpt == ResultExcerpt::Passages && self.is_by_words() && self.kinds == ["entity"]
    }

    /// Returns the engine's request for notes by words.
    pub(super) fn search_request(&self) -> SearchRequest {
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

/// Reads the request of a call.
pub(super) fn read_query(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> Result<NoteSearchQuery, ToolError> {
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
pub(super) fn is_unrestricted(filter: &SearchFilter) -> bool {
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
