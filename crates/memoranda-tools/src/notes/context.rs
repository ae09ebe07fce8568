//! `build_context`: notes of a `memory://` address with their related notes.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::token_estimate::{estimate_tokens, truncate_to_tokens};
use memoranda_engine::{
    ContextNote, ContextRequest, ContextTarget, EngineError, FileSummary, FilteredList,
    FurtherLink, ListOrder, NoteLocation, RelatedNote, ResolveIntent, SearchFilter, clock,
};
use serde_json::{Value, json};

use super::page::{page_after, past_end};
use super::params::{AS_OF, COMMON, MAX_TOKENS, PAGE, PAGE_SIZE, PROJECT};
use super::read::ANOTHER;
use super::search_hit::fact_address;
use super::{address, context_at, scope};
use crate::registry::{
    CallContext, NOTE_NOT_FOUND, Param, ParamTable, ToolArgs, ToolError, ToolResult, count,
    quote_lines,
};

/// Maximum length of the text of a single note, in tokens.
const OWN_TOKENS: usize = 2000;
/// Maximum length of the text of one note among several, in tokens.
const EACH_TOKENS: usize = 200;
/// Budget of an answer in tokens, unless the caller chooses another.
const DEFAULT_TOKENS: u64 = 10_000;
/// Maximum budget of an answer in tokens: clients cannot take more.
const MAX_ANSWER_TOKENS: usize = 100_000;
/// Reserve in tokens for the counts and the next page, which are filled in last.
const COUNTS_TOKENS: usize = 20;
/// Minimum room for a note in tokens. With less room, the note is left out.
const MIN_NOTE_TOKENS: usize = 20;
/// Maximum length of an address in bytes.
const MAX_URL_BYTES: usize = 2028;

pub(super) const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("url", "memory://folder/note, memory://folder/*, or a title")
            .required()
            .aliases(&["uri", "memory_url"]),
        PROJECT,
        Param::integer("depth", 0, 10, "Links to follow; default 1").default_integer(1),
        Param::text("timeframe", "Only related notes changed since, such as `7d`").aliases(&[
            "since",
            "time_range",
            "lookback",
        ]),
        PAGE,
        PAGE_SIZE,
        Param::integer("max_related", 1, 10_000, "Most related notes; default 10")
            .default_integer(10)
            .hide_max()
            .aliases(&["max_results"]),
        MAX_TOKENS.default_integer(DEFAULT_TOKENS),
        AS_OF,
        Param::choice("output_format", &["json", "text"], "Default json"),
    ],
    COMMON,
]);

pub(super) fn build(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let url = args.text("url")?.trim().to_owned();
    let address = scope::strip_address(&url);
    check_address(&url, address)?;
    let as_of = scope::as_of(call, args)?;
    let ResolvedAddress { project, notes, other } = match as_of {
        None => resolve_address(call, args, &url, address)?,
        Some(time) => context_at::resolve_address(call, args, &url, address, time)?,
    };
    let (page, page_size) = (args.integer("page")?, args.integer("page_size")?);
    let timeframe = args.optional_text("timeframe")?;
    let request = ContextRequest {
        project: project.clone(),
        target: notes,
        depth: args.integer("depth")?,
        only: call.settings.notes.only_project.is_some().then(|| project.clone()),
        max_related: args.integer("max_related")?,
        since: timeframe.as_deref().map(|text| scope::parse_since(call, text)).transpose()?,
        as_of,
        limit: page_size,
        offset: (page - 1) * page_size,
    };
    let mut found = call.memory.context(&request)?;
    if as_of.is_some() {
        let notes = std::mem::take(&mut found.notes);
        for note in notes {
            if !call.memory.is_purged_by_agent(&note.place)? {
                found.notes.push(note);
            }
        }
    }
    let when = args.optional_text("as_of")?;
    let mut structured = json!({
        "project": project.as_str(),
        "metadata": {
            "uri": address,
            "types": [],
            "depth": request.depth,
            "timeframe": timeframe,
            "as_of": when,
            "generated_at": clock::now().to_string(),
            "primary_count": 0,
            "related_count": 0,
            "total_results": 0,
            "total_relations": 0,
            "total_observations": 0,
        },
        "results": [],
        "page": page,
        "page_size": page_size,
        "has_more": false,
        "left_out": 0,
        "related_truncated": false,
    });
    let max_tokens = args.integer("max_tokens")?.min(MAX_ANSWER_TOKENS);
    let frame = estimate_tokens(&structured.to_string()) + COUNTS_TOKENS;
    let entries =
        ContextEntries::collect(call, &found.notes, TokenBudget(max_tokens.saturating_sub(frame)));
    let mut text = format!("# Context of {url} (project {project}, depth {}", request.depth);
    if let Some(when) = &when {
        text.push_str(&format!(", as of {when}"));
    }
    if let Some(timeframe) = &timeframe {
        text.push_str(&format!(", changed since {timeframe}"));
    }
    text.push_str(")\n");
    if let Some(other) = &other {
        text.push_str(&format!("[{ANOTHER}: {other}]\n"));
        structured["metadata"]["other_of_this_name"] = json!(other.to_string());
    }
    text.push_str(&entries.text);
    if entries.results.is_empty() {
        let hint = empty_hint(call, &request, page)?;
        text.push_str(&format!("\n{hint}\n"));
        structured["hint"] = json!(hint);
    }
    let has_more = found.has_more || entries.left_out > 0;
    let (next, size) = match entries.left_out {
        0 => (page + 1, page_size),
        _ => page_after(request.offset + entries.results.len(), entries.results.len()),
    };
    if entries.left_out > 0 {
        text.push_str(&format!(
            "\n[{} left out by max_tokens: page={next}, page_size={size} goes on with them]\n",
            count(entries.left_out, "note")
        ));
    } else if has_more {
        text.push_str(&format!("\n[more notes: page={next}]\n"));
    }
    let truncated = entries.is_cut || found.notes.iter().any(|note| note.truncated);
    if truncated {
        text.push_str("\n[more related notes: raise max_related, or max_tokens]\n");
    }
    structured["has_more"] = json!(has_more);
    structured["related_truncated"] = json!(truncated);
    if has_more {
        structured["next"] = json!({ "page": next, "page_size": size });
    }
    entries.add_to(&mut structured);
    Ok(ToolResult::ok(text, structured))
}

/// The notes of an answer that fit into its budget.
#[derive(Default)]
struct ContextEntries {
    text: String,
    results: Vec<Value>,
    /// Number of notes that did not fit.
    left_out: usize,
    related: usize,
    further: usize,
    facts: usize,
    /// True if related notes or relations did not fit.
    is_cut: bool,
}

impl ContextEntries {
    fn collect(call: &CallContext<'_>, notes: &[ContextNote], mut budget: TokenBudget) -> Self {
        let max_tokens = if notes.len() > 1 { EACH_TOKENS } else { OWN_TOKENS };
        let mut entries = Self::default();
        for note in notes {
            let head = estimate_tokens(&ContextEntry::default().value(note).to_string());
            if budget.0 < head + MIN_NOTE_TOKENS && !entries.results.is_empty() {
                // Skip all later notes, too: a shorter one must not look like the next.
                budget.0 = 0;
                entries.left_out += 1;
                continue;
            }
            budget.0 = budget.0.saturating_sub(head);
            call.memory.record_use(&note.place);
            let entry = ContextEntry::fitting(note, max_tokens, &mut budget);
            entries.related += entry.related.len();
            entries.further += entry.further.len();
            entries.facts += entry.facts.len();
            entries.is_cut |= entry.related.len() < note.related.len();
            entries.is_cut |= entry.further.len() < note.further.len();
            entries.text.push_str(&entry.text(note));
            entries.results.push(entry.value(note));
        }
        entries
    }

    /// Adds the results and their counts to the structured result.
    fn add_to(self, structured: &mut Value) {
        let counts = [
            ("primary_count", self.results.len()),
            ("related_count", self.related),
            ("total_results", self.results.len() + self.related),
            ("total_relations", self.related + self.further),
            ("total_observations", self.facts),
        ];
        for (name, count) in counts {
            structured["metadata"][name] = json!(count);
        }
        structured["left_out"] = json!(self.left_out);
        structured["results"] = Value::Array(self.results);
    }
}

/// Explains an empty page.
fn empty_hint(
    call: &CallContext<'_>,
    request: &ContextRequest,
    page: usize,
) -> Result<String, ToolError> {
    // Without `as_of`, a pattern always matches some note.
    let is_too_old = request.since.is_some()
        && request.as_of.is_none()
        && matches!(request.target, ContextTarget::Pattern(_));
    Ok(match total_before(call, request)? {
        0 if is_too_old => {
            "Nothing fits. Without timeframe, notes that were changed before come too.".to_owned()
        }
        0 => "Nothing fits. list_directory shows what there is.".to_owned(),
        total => past_end(page, request.limit, total, "note"),
    })
}

/// Counts the notes before an empty page.
fn total_before(call: &CallContext<'_>, request: &ContextRequest) -> Result<usize, ToolError> {
    if let (ContextTarget::Pattern(pattern), None) = (&request.target, request.as_of) {
        // Counts without reading the texts.
        let found = notes_matching(call, &request.project, pattern, request.since, request.offset)?;
        return Ok(found.len());
    }
    let first = ContextRequest {
        depth: 0,
        max_related: 0,
        limit: request.offset,
        offset: 0,
        ..request.clone()
    };
    match request.offset {
        0 => Ok(0),
        _ => Ok(call.memory.context(&first)?.notes.len()),
    }
}

/// Rejects an invalid address.
fn check_address(url: &str, address: &str) -> Result<(), ToolError> {
    let wrong = if address.is_empty() {
        Some("it names nothing")
    } else if url.len() > MAX_URL_BYTES {
        Some("it is longer than 2028 bytes")
    } else if address.contains("://") {
        Some("it holds a second ://")
    } else if address.contains("//") {
        Some("it holds //")
    } else if address.contains(['<', '>', '"', '|', '?']) {
        Some("it holds one of < > \" | ?")
    } else {
        None
    };
    match wrong {
        None => Ok(()),
        Some(why) => {
            let shown: String = url.chars().take(100).collect();
            let text = format!(
                "{shown:?} is no address: {why}. Addresses are memory://folder/note, \
                 memory://folder/*, or the title of a note."
            );
            Err(ToolError::new("INVALID_URL", text))
        }
    }
}

/// The notes of an address.
pub(super) struct ResolvedAddress {
    project: ProjectName,
    notes: ContextTarget,
    /// Another note with the same address.
    other: Option<NoteLocation>,
}

impl ResolvedAddress {
    pub(super) fn new(project: ProjectName, notes: ContextTarget) -> Self {
        Self { project, notes, other: None }
    }

    pub(super) fn note(place: &NoteLocation) -> Self {
        let notes = ContextTarget::Name(format!("/{}", place.path));
        Self::new(place.project.clone(), notes)
    }
}

/// Resolves an address to notes of a project.
fn resolve_address(
    call: &CallContext<'_>,
    args: &ToolArgs,
    url: &str,
    address: &str,
) -> Result<ResolvedAddress, ToolError> {
    if address.contains('*') {
        let (project, pattern) = scope::split_address(call, args, address)?;
        let target = if matches_any_note(call, &project, &pattern)? {
            ContextTarget::Pattern(pattern)
        } else {
            ContextTarget::Notes(holders(call, &project, &pattern)?)
        };
        return Ok(ResolvedAddress::new(project, target));
    }
    match scope::resolve_note(call, args, url, ResolveIntent::Read) {
        Ok(found) => {
            Ok(ResolvedAddress { other: found.other, ..ResolvedAddress::note(&found.place) })
        }
        // The address of a fact or a relation resolves to its note.
        Err(failure) if failure.code == NOTE_NOT_FOUND => {
            let place = match address.split_once("/observations/") {
                Some((note, _)) => Some(scope::find_note(call, args, note, ResolveIntent::Read)?),
                None => {
                    let (project, address) = scope::split_address(call, args, address)?;
                    let path = holders(call, &project, &address)?.into_iter().next();
                    path.map(|path| NoteLocation { project, path })
                }
            };
            Ok(ResolvedAddress::note(&place.ok_or(failure)?))
        }
        Err(failure) => Err(failure),
    }
}

/// Returns true if the address of some note matches a pattern.
fn matches_any_note(
    call: &CallContext<'_>,
    project: &ProjectName,
    pattern: &str,
) -> Result<bool, ToolError> {
    Ok(!notes_matching(call, project, pattern, None, 1)?.is_empty())
}

/// Returns the first notes whose address matches a pattern, changed since a time.
fn notes_matching(
    call: &CallContext<'_>,
    project: &ProjectName,
    pattern: &str,
    since: Option<Timestamp>,
    limit: usize,
) -> Result<Vec<FileSummary>, ToolError> {
    let projects = vec![project.clone()];
    Ok(call.memory.snapshot()?.filtered_list(&FilteredList {
        filter: SearchFilter { projects, after: since, ..Default::default() },
        title: Vec::new(),
        address: Some(pattern.to_owned()),
        order: ListOrder::Path,
        limit,
        offset: 0,
    })?)
}

/// Returns the notes with facts or relations whose address matches, as in `*/uses/*`.
pub(super) fn holders(
    call: &CallContext<'_>,
    project: &ProjectName,
    pattern: &str,
) -> Result<Vec<NotePath>, ToolError> {
    let filter = SearchFilter { projects: vec![project.clone()], ..Default::default() };
    let parts = address::parts(call, &filter, pattern)?;
    let mut holders: Vec<NotePath> = parts.into_iter().map(|part| part.place.path).collect();
    holders.dedup();
    Ok(holders)
}

fn current(note: &ContextNote) -> impl Iterator<Item = &memoranda_core::note::Observation> {
    note.note.observations.iter().filter(|observation| {
        let replaced = observation.meta.as_ref().is_some_and(|fact| fact.superseded_by.is_some());
        !observation.struck && !replaced
    })
}

/// Remaining budget in tokens.
struct TokenBudget(usize);

impl TokenBudget {
    /// Takes the first values that fit.
    fn fit(&mut self, values: impl Iterator<Item = Value>) -> Vec<Value> {
        let mut kept = Vec::new();
        for value in values {
            let cost = estimate_tokens(&format!("{value},"));
            if cost > self.0 {
                // A later, smaller value must not look like the next.
                self.0 = 0;
                break;
            }
            self.0 -= cost;
            kept.push(value);
        }
        kept
    }

    /// Takes the beginning of a text, up to `tokens` tokens.
    fn fit_text<'t>(&mut self, text: &'t str, tokens: usize) -> &'t str {
        let mut most = tokens.min(self.0);
        loop {
            let kept = truncate_to_tokens(text, most);
            // Escaping and quoting make the text longer.
            let cost =
                estimate_tokens(&json!(kept).to_string()).max(estimate_tokens(&quote_lines(kept)));
            if cost <= self.0 || most == 0 {
                self.0 = self.0.saturating_sub(cost);
                return kept;
            }
            most = (most * self.0 / cost).min(most - 1);
        }
    }
}

/// The parts of a note that fit into the budget.
#[derive(Default)]
struct ContextEntry<'n> {
    content: &'n str,
    is_cut: bool,
    facts: Vec<Value>,
    related: Vec<Value>,
    further: Vec<Value>,
    unresolved: Vec<Value>,
    elsewhere: Vec<Value>,
    /// Every relation as a result of its own, for programs that expect relations among the results.
    relations: Vec<Value>,
}

impl<'n> ContextEntry<'n> {
    fn fitting(note: &'n ContextNote, tokens: usize, budget_left: &mut TokenBudget) -> Self {
        let text = note.text.as_deref().unwrap_or_default();
        let body = text.get(note.note.body.clone()).unwrap_or_default();
        let body = body.trim_start_matches('\n');
        let content = budget_left.fit_text(body, tokens);
        let named = |(relation_type, name): &(String, String)| json!({ "relation_type": relation_type, "to_name": name });
        Self {
            content,
            is_cut: content.len() < body.len(),
            related: budget_left.fit(note.related.iter().map(related)),
            facts: budget_left.fit(current(note).map(|fact| observation(note, fact))),
            further: budget_left.fit(note.further.iter().map(relation)),
            unresolved: budget_left.fit(note.unresolved.iter().map(named)),
            elsewhere: budget_left.fit(note.elsewhere.iter().map(named)),
            relations: budget_left.fit(relations(note)),
        }
    }

    /// Renders the structured result.
    fn value(&self, note: &ContextNote) -> Value {
        let related = self.related.iter().chain(&self.further).chain(&self.relations);
        let related: Vec<&Value> = related.collect();
        let mut value = json!({
            "primary_result": {
                "type": "entity",
                "title": note.title,
                "permalink": note.permalink,
                "file_path": note.place.path.as_str(),
                "content": self.content,
                "content_cut": self.is_cut,
                "created_at": note.created.map(|time| time.to_string()),
                "updated_at": note.updated.map(|time| time.to_string()),
            },
            "observations": self.facts,
            "related_results": related,
            "unresolved": self.unresolved,
            "left_out": {
                "observations": current(note).count() - self.facts.len(),
                "related": note.related.len() - self.related.len(),
                "relations": note.further.len() - self.further.len(),
                "unresolved": note.unresolved.len() - self.unresolved.len(),
            },
        });
        if note.text.is_none() {
            value["primary_result"]["no_text"] = json!(unreadable_note(note));
        }
        if note.truncated {
            value["related_truncated"] = json!(true);
        }
        if !self.elsewhere.is_empty() {
            value["other_projects"] = json!(self.elsewhere);
        }
        value
    }

    /// Renders the text.
    fn text(&self, note: &ContextNote) -> String {
        let mut text = format!(
            "\n## {}\npermalink: {} | file_path: {}",
            note.title, note.permalink, note.place.path
        );
        if let Some(updated) = note.updated {
            text.push_str(&format!(" | updated: {updated}"));
        }
        text.push('\n');
        text.push_str(&quote_lines(self.content));
        if note.text.is_none() {
            text.push_str(&format!("[{}]\n", unreadable_note(note)));
        }
        if self.is_cut {
            text.push_str(&format!(
                "[cut; read_note(identifier={:?}, project={:?}) shows all of it]\n",
                note.permalink,
                note.place.project.as_str()
            ));
        }
        if !self.related.is_empty() || !self.further.is_empty() {
            text.push_str("\n### Related\n");
            for related in note.related.iter().take(self.related.len()) {
                text.push_str(&line(related));
            }
            for FurtherLink { relation_type, from, to } in
                note.further.iter().take(self.further.len())
            {
                text.push_str(&format!("- {from} —{relation_type}→ {to}\n"));
            }
        }
        for (heading, links, shown) in [
            ("Not written yet", &note.unresolved, self.unresolved.len()),
            (
                "In other projects, which as_of does not cover",
                &note.elsewhere,
                self.elsewhere.len(),
            ),
        ] {
            if shown > 0 {
                text.push_str(&format!("\n### {heading}\n"));
            }
            for (relation_type, name) in links.iter().take(shown) {
                text.push_str(&format!("- {relation_type} [[{name}]]\n"));
            }
        }
        text
    }
}

/// Explains why a file has no text, and how to read it.
fn unreadable_note(note: &ContextNote) -> String {
    format!("no text; read_content {:?} gives it as it is", note.place.path.as_str())
}

fn observation(note: &ContextNote, fact: &memoranda_core::note::Observation) -> Value {
    let category = fact.category.as_deref().unwrap_or("note");
    json!({
        "type": "observation",
        "category": category,
        "content": fact.text,
        "tags": fact.tags,
        "context": fact.context,
        "permalink": fact_address(&note.permalink, category, &fact.text),
    })
}

fn line(related: &RelatedNote) -> String {
    let far =
        if related.depth > 1 { format!(", {} links away", related.depth) } else { String::new() };
    format!(
        "- {} —{}→ {} ({}{far})\n",
        related.from, related.relation_type, related.to, related.permalink
    )
}

fn related(related: &RelatedNote) -> Value {
    json!({
        "type": "entity",
        "title": related.title,
        "permalink": related.permalink,
        "file_path": related.place.path.as_str(),
        "project": related.place.project.as_str(),
        "relation_type": related.relation_type,
        "from_entity": related.from,
        "to_entity": related.to,
        "depth": related.depth,
        "updated_at": related.updated.map(|time| time.to_string()),
    })
}

/// Returns the relations to related notes and to names that no note has.
fn relations(note: &ContextNote) -> impl Iterator<Item = Value> {
    let resolved = note.related.iter().map(|related| {
        json!({
            "type": "relation",
            "relation_type": related.relation_type,
            "from_entity": related.from,
            "to_entity": related.to,
        })
    });
    let unresolved = note.unresolved.iter().map(|(relation_type, name)| {
        json!({
            "type": "relation",
            "relation_type": relation_type,
            "from_entity": note.title,
            "to_entity": null,
            "to_name": name,
        })
    });
    resolved.chain(unresolved)
}

/// Renders a relation between two of the notes.
fn relation(link: &FurtherLink) -> Value {
    json!({
        "type": "relation",
        "relation_type": link.relation_type,
        "from_entity": link.from,
        "to_entity": link.to,
    })
}

impl From<memoranda_core::path::PathError> for ToolError {
    fn from(error: memoranda_core::path::PathError) -> Self {
        EngineError::from(error).into()
    }
}
