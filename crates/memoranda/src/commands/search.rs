//! `memoranda search`: find notes by their words and by what they mean.

use jiff::Timestamp;
use memoranda_clients::ClientsError;
use memoranda_engine::core::note::type_key;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::core::rank::RankOptions;
use memoranda_engine::core::snippet::Snippet;
use memoranda_engine::recall::{RecallRequest, RecalledPassage, nearest_statements};
use memoranda_engine::records::VisibleScopes;
use memoranda_engine::{
    EmbeddingSource, Memory, SearchFilter, SearchPage, SearchRequest, SearchResult, SearchUnit,
    Superseded, TABLE_LOADING_REASON, TypedWords,
};
use serde::Serialize;

use super::show;
use crate::context::CommandContext;
use crate::error::{Result, quoted};
use crate::exit::Exit;
use crate::output::{FAINT, HIT, OutputFormat, PLACE, STRONG, counted, visible};
use crate::wrap::display_width;
use crate::{picker, table, time};

/// Maximum length of a quotation, in characters.
const SNIPPET_CHARS: usize = 240;

/// Find notes by their words and their meaning.
///
/// Ask in your own words: not all words need to occur, typing errors are corrected, and a time that
/// you name ("last week", "in March 2025") ranks notes of that time higher. "quotes" ask for a phrase, +word
/// demands it, -word forbids it, word* takes every ending, tag:name asks for a tag. Facts that were
/// struck out or replaced are left out. Looks in every project, unless --project names one. Ends
/// with exit code 1 if nothing is found.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda search api limit
  memoranda search 'what did we decide about backups last month?' --explain
  memoranda search '\"rate limit\" -draft' --since 30d
  memoranda search tag:work --folder plans --json | jq -r '.results[].path'
  memoranda search -- -draft api

JSON (--json):
  {query, results: [{project, path, title, permalink, type, updated, score, relevance, why:
  [{signal, amount}], heading, first_line, last_line, snippet, highlights: [[start, end]], also:
  [{project, path}]}], page, has_more, left_out, partial, relevance, corrections: [{typed, meant}],
  when: {from, to}, meaning: {by, model, left, reason}, nearest: [{text, kind, id, places,
  updated}]}; nearest is there if nothing was found, and may be about something else; highlights
  are byte offsets in the snippet; by is \"nothing\", \"built-in\" or \"chosen\", reason says why the model was not used")]
pub(crate) struct Args {
    /// Words to search for.
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,

    /// Maximum number of results.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,

    /// Page of results, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    page: u32,

    /// Only notes of this type; may be given several times.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Only notes with this tag; may be given several times.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,

    /// Only notes with a fact of this category; may be given several times.
    #[arg(long = "category", value_name = "CATEGORY")]
    categories: Vec<String>,

    /// Only notes with a fact of at least this importance, 0 to 1.
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,

    /// Only notes in this folder.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<String>,

    /// Only notes changed since then: 7d, yesterday, 2026-01-31.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only notes changed until then; a day counts to its end.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// Show passages instead of notes: a note may then come several times.
    #[arg(long)]
    passages: bool,

    /// Go by the words alone, not by what they mean.
    #[arg(long)]
    words: bool,

    /// Find facts, too, that were struck out or replaced.
    #[arg(long)]
    past: bool,

    /// Least relevance of a result, from 0 to 1; 0 shows everything. Without it, 0.3, and nothing
    /// that scores less than half of the best result.
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,

    /// Stop before the quotations take more than so many tokens.
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,

    /// Say why each note is where it is.
    #[arg(long)]
    explain: bool,

    /// Pick one result with the arrow keys or by typing, and show the note.
    #[arg(short, long, conflicts_with_all = ["json", "plain"])]
    interactive: bool,

    /// Look in every project, whatever MEMORANDA_PROJECT says.
    #[arg(long)]
    all_projects: bool,
}

#[derive(Serialize)]
struct SearchJson<'a> {
    query: &'a str,
    results: Vec<SearchResultJson<'a>>,
    page: u32,
    has_more: bool,
    left_out: usize,
    partial: bool,
    relevance: f64,
    corrections: Vec<CorrectionJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<WhenJson>,
    meaning: MeaningJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<NearestJson<'a>>,
}

/// A statement of agents that may be about something else.
#[derive(Serialize)]
struct NearestJson<'a> {
    text: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    places: Vec<String>,
    updated: Timestamp,
}

#[derive(Default, Serialize)]
struct MeaningJson<'a> {
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct CorrectionJson<'a> {
    typed: &'a str,
    meant: &'a str,
}

#[derive(Serialize)]
struct WhenJson {
    from: Timestamp,
    to: Timestamp,
}

#[derive(Serialize)]
struct AlsoAtJson<'a> {
    project: &'a str,
    path: &'a str,
}

#[derive(Serialize)]
struct SearchResultJson<'a> {
    project: &'a str,
    path: &'a str,
    title: &'a str,
    permalink: &'a str,
    r#type: &'a str,
    updated: Timestamp,
    score: f64,
    relevance: f64,
    why: Vec<SignalJson>,
    heading: &'a str,
    first_line: usize,
    last_line: usize,
    snippet: &'a str,
    highlights: Vec<(usize, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<AlsoAtJson<'a>>,
}

#[derive(Serialize)]
struct SignalJson {
    signal: &'static str,
    amount: f64,
}

/// Searches.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    let request = search_request(context, memory, args)?;
    let mut page = memory.search(&request)?;
    if args.explain {
        explain_fallback(memory, &mut page.meaning);
    }
    let nearest = nearest(memory, args, &request, &page)?;
    if args.interactive && !page.results.is_empty() {
        return pick(context, &page);
    }
    let printer = &context.printer;
    match printer.format {
        OutputFormat::Json => {
            let mut json = search_json(&request.text, args.page, &page);
            json.nearest = nearest.iter().map(nearest_json).collect();
            printer.json(&json)?;
        }
        OutputFormat::Plain => print_plain(context, &page)?,
        OutputFormat::Pretty => print_pretty(context, args, &page)?,
    }
    if !page.results.is_empty() {
        return Ok(Exit::Success);
    }
    let asked = quoted(&request.text);
    printer.say(format!("Nothing found for {asked}."));
    if printer.format == OutputFormat::Pretty {
        print_nearest(context, &nearest)?;
    }
    printer.hint(if has_filters(args) {
        format!("without filters: `memoranda search {asked}`")
    } else if page.relevance > 0.0 {
        "with less likely ones: add `--min-relevance 0`; newest first: `memoranda recent`"
            .to_owned()
    } else {
        "try fewer words, a beginning such as `conf*`, or `memoranda recent`".to_owned()
    });
    Ok(Exit::NotFound)
}

/// Shows the note that the user picks.
fn pick(context: &CommandContext, page: &SearchPage) -> Result<Exit> {
    let line = |result: &SearchResult| {
        let quotation = visible(&result.snippet.text).into_owned();
        format!("{}  {}  {quotation}", result.title, result.place)
    };
    let width = context.printer.width().map_or(usize::MAX, |width| width.saturating_sub(4));
    let lines: Vec<String> =
        page.results.iter().map(|result| table::truncate(&line(result), width)).collect();
    match picker::pick(context, "Show which note?", &lines)?.and_then(|n| page.results.get(n)) {
        Some(result) => show::run(context, &show::Args::of_note(&result.place)),
        None => Ok(Exit::Success),
    }
}

fn search_request(context: &CommandContext, memory: &Memory, args: &Args) -> Result<SearchRequest> {
    let project = if args.all_projects { None } else { context.requested_project(memory)? };
    let folder = args.folder.as_deref().map(|folder| folder.trim_matches('/'));
    let folder = folder.filter(|folder| !folder.is_empty()).map(NotePath::parse).transpose();
    let limit = args.limit as usize;
    let request = SearchRequest {
        text: args.query.join(" "),
        filter: SearchFilter {
            folders: Vec::new(),
            nested_folders: Vec::new(),
            projects: project.into_iter().collect(),
            folder: folder.map_err(memoranda_engine::EngineError::from)?,
            note_types: args.types.iter().map(|kind| type_key(kind)).collect(),
            tags: args.tags.clone(),
            categories: args.categories.clone(),
            min_importance: args.importance,
            after: time::parse_some(args.since.as_deref())?,
            before: time::parse_until(args.until.as_deref())?,
            metadata: Vec::new(),
            superseded: if args.past { Superseded::Include } else { Superseded::Exclude },
        },
        limit,
        offset: limit * (args.page as usize - 1),
        snippet_chars: SNIPPET_CHARS,
        typed_words: TypedWords::Always,
        max_tokens: args.max_tokens,
        unit: if args.passages { SearchUnit::Passages } else { SearchUnit::Notes },
        options: if args.words { RankOptions::WORDS } else { RankOptions::STANDARD },
        ..SearchRequest::default()
    };
    Ok(request.with_min_relevance(args.min_relevance))
}

/// Returns the nearest statements of agents to a question without a result; none for a page behind
/// the first, and for a search with filters or a threshold.
fn nearest(
    memory: &Memory,
    args: &Args,
    request: &SearchRequest,
    page: &SearchPage,
) -> Result<Vec<RecalledPassage>> {
    let is_question = args.page == 1 && !args.words && args.min_relevance.is_none();
    let project = match request.filter.projects.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => return Ok(Vec::new()),
    };
    if !page.results.is_empty() || !is_question || has_filters(args) {
        return Ok(Vec::new());
    }
    let everywhere = VisibleScopes::new(None);
    let asked =
        RecallRequest { project, ..RecallRequest::new(Some(request.text.clone()), everywhere) };
    Ok(nearest_statements(memory, &asked, &|_| true).map_err(ClientsError::from)?)
}

/// Prints the nearest statements of agents.
fn print_nearest(context: &CommandContext, nearest: &[RecalledPassage]) -> Result<()> {
    if nearest.is_empty() {
        return Ok(());
    }
    let (printer, now) = (&context.printer, time::now());
    printer.line("Nearest of what agents remember; it may not be about this:")?;
    for passage in nearest {
        let text = passage.text.trim();
        let text = visible(text.strip_prefix("- ").unwrap_or(text)).into_owned();
        let places: Vec<_> = passage.places.iter().map(ToString::to_string).collect();
        let source = format!("{}  ", visible(&places.join(", ")));
        let ago = time::ago(passage.updated, &now);
        printer.text(format!("  {text}"))?;
        printer.text(format!("    {PLACE}{source}{PLACE:#}{FAINT}{ago}{FAINT:#}"))?;
    }
    Ok(())
}

fn has_filters(args: &Args) -> bool {
    !args.types.is_empty()
        || !args.tags.is_empty()
        || !args.categories.is_empty()
        || args.importance.is_some()
        || args.folder.is_some()
        || args.since.is_some()
        || args.until.is_some()
}

fn search_json<'a>(query: &'a str, page: u32, found: &'a SearchPage) -> SearchJson<'a> {
    let one = |result: &'a SearchResult| SearchResultJson {
        project: result.place.project.as_str(),
        path: result.place.path.as_str(),
        title: &result.title,
        permalink: &result.permalink,
        r#type: &result.note_type,
        updated: result.updated,
        score: result.score,
        relevance: result.relevance,
        why: result
            .why
            .iter()
            .map(|signal| SignalJson { signal: signal.name(), amount: signal.amount() })
            .collect(),
        heading: &result.heading,
        first_line: result.lines.0,
        last_line: result.lines.1,
        snippet: &result.snippet.text,
        highlights: result
            .snippet
            .highlights
            .iter()
            .map(|range| (range.start, range.end))
            .collect(),
        also: result
            .also
            .iter()
            .map(|place| AlsoAtJson { project: place.project.as_str(), path: place.path.as_str() })
            .collect(),
    };
    let corrections = found.corrections.iter();
    SearchJson {
        query,
        results: found.results.iter().map(one).collect(),
        page,
        has_more: found.has_more,
        left_out: found.left_out,
        partial: found.partial,
        relevance: found.relevance,
        corrections: corrections
            .map(|c| CorrectionJson { typed: &c.typed, meant: &c.meant })
            .collect(),
        when: found.when.map(|when| WhenJson { from: when.from, to: when.to }),
        meaning: meaning(&found.meaning),
        nearest: Vec::new(),
    }
}

fn nearest_json(passage: &RecalledPassage) -> NearestJson<'_> {
    NearestJson {
        text: &passage.text,
        kind: passage.kind.as_str(),
        id: passage.id.as_deref(),
        places: passage.places.iter().map(ToString::to_string).collect(),
        updated: passage.updated,
    }
}

fn meaning(by: &EmbeddingSource) -> MeaningJson<'_> {
    match by {
        EmbeddingSource::Nothing => MeaningJson { by: "nothing", ..MeaningJson::default() },
        EmbeddingSource::BuiltIn => MeaningJson { by: "built-in", ..MeaningJson::default() },
        EmbeddingSource::Loading => MeaningJson { by: "loading", ..MeaningJson::default() },
        EmbeddingSource::Chosen { model, left } => {
            MeaningJson { by: "chosen", model: Some(model), left: Some(*left), reason: None }
        }
        EmbeddingSource::ChosenLoading { model, left } => MeaningJson {
            by: "chosen",
            model: Some(model),
            left: Some(*left),
            reason: Some(TABLE_LOADING_REASON),
        },
        EmbeddingSource::FellBack { model, reason } => {
            MeaningJson { by: "built-in", model: Some(model), left: None, reason: Some(reason) }
        }
    }
}

/// Adds what the model that was chosen says for itself: that few passages have a vector may be
/// because it cannot be reached.
fn explain_fallback(memory: &Memory, by: &mut EmbeddingSource) {
    let EmbeddingSource::FellBack { reason, .. } = by else { return };
    if let Some(Err(error)) = memory.try_model() {
        let error = error.to_string();
        if !reason.contains(&error) {
            reason.push_str(&format!("; {error}"));
        }
    }
}

/// By which model meanings were compared, in a sentence.
fn model_sentence(by: &EmbeddingSource) -> Option<String> {
    match by {
        EmbeddingSource::Nothing => None,
        EmbeddingSource::BuiltIn => Some("Meanings are compared by the built-in model.".to_owned()),
        EmbeddingSource::Loading => {
            Some("Found by words alone: the vectors are not loaded yet.".to_owned())
        }
        EmbeddingSource::Chosen { model, left: 0 } => {
            Some(format!("Meanings are compared by {model}."))
        }
        EmbeddingSource::Chosen { model, left } => Some(format!(
            "Meanings are compared by {model}, and by the built-in model for {} without vectors.",
            counted(*left as usize, "passage")
        )),
        EmbeddingSource::ChosenLoading { model, left } => Some(format!(
            "Meanings are compared by {model}; {} without vectors were found by words alone.",
            counted(*left as usize, "passage")
        )),
        EmbeddingSource::FellBack { model, reason } => {
            Some(format!("Meanings are compared by the built-in model; {model}: {reason}."))
        }
    }
}

fn print_plain(context: &CommandContext, page: &SearchPage) -> Result<()> {
    for result in &page.results {
        let line = line_of(result);
        let snippet = visible(&result.snippet.text).into_owned();
        context.printer.line(format!(
            "{}:{line}\t{}\t{snippet}",
            result.place,
            visible(&result.title)
        ))?;
    }
    Ok(())
}

fn print_pretty(context: &CommandContext, args: &Args, page: &SearchPage) -> Result<()> {
    if !page.results.is_empty() {
        context.start_pager();
    }
    let printer = &context.printer;
    let now = time::now();
    for (n, result) in page.results.iter().enumerate() {
        if n > 0 {
            printer.line("")?;
        }
        let place = format!("{}:{}", result.place, line_of(result));
        let title = format!("{STRONG}{}{STRONG:#}", visible(&result.title));
        let ago = time::ago(result.updated, &now);
        let place = format!("{PLACE}{}{PLACE:#}  {FAINT}{ago}{FAINT:#}", visible(&place));
        let heading = format!("{title}  {place}");
        if printer.width().is_none_or(|width| display_width(&heading) <= width) {
            printer.line(heading)?;
        } else {
            printer.text(title)?;
            printer.text(format!("  {place}"))?;
        }
        if !result.heading.is_empty() && result.heading != result.title {
            printer.text(format!("  {FAINT}{}{FAINT:#}", visible(&result.heading)))?;
        }
        for line in highlighted(&result.snippet).lines() {
            printer.text(format!("  {line}"))?;
        }
        if !result.also.is_empty() {
            let places: Vec<_> = result.also.iter().map(ToString::to_string).collect();
            printer.text(format!("  {FAINT}also in {}{FAINT:#}", visible(&places.join(", "))))?;
        }
        if args.explain {
            printer.text(format!("  {FAINT}{}{FAINT:#}", explained(result)))?;
        }
    }
    if page.has_more {
        printer.say(format!("\nMore: add `--page {}`.", args.page + 1));
    }
    if page.left_out > 0 {
        printer.say(format!("{} left out by --max-tokens.", counted(page.left_out, "result")));
    }
    for correction in &page.corrections {
        let (typed, meant) = (visible(&correction.typed), visible(&correction.meant));
        printer.say(format!("No note holds “{typed}”; looked for “{meant}”."));
    }
    if let Some(sentence) = model_sentence(&page.meaning).filter(|_| args.explain) {
        printer.say(visible(&sentence));
    }
    if page.partial {
        printer.say("A word is so common that only the newest notes with it were compared.");
    }
    Ok(())
}

/// The line of the file at which the quotation begins.
fn line_of(result: &SearchResult) -> usize {
    result.lines.0 + result.snippet.line_offset
}

/// The quotation with the words that match in colour, its control characters made visible.
fn highlighted(snippet: &Snippet) -> String {
    let mut painted = String::new();
    let mut from = 0;
    let clean = |piece: &str| crate::output::visible_lines(piece).into_owned();
    for range in &snippet.highlights {
        painted.push_str(&clean(snippet.text.get(from..range.start).unwrap_or_default()));
        let hit = clean(snippet.text.get(range.clone()).unwrap_or_default());
        painted.push_str(&format!("{HIT}{hit}{HIT:#}"));
        from = range.end;
    }
    painted.push_str(&clean(snippet.text.get(from..).unwrap_or_default()));
    painted
}

fn explained(result: &SearchResult) -> String {
    let reasons: Vec<String> = result
        .why
        .iter()
        .map(|signal| format!("{} {:.3}", signal.name().replace('_', " "), signal.amount()))
        .collect();
    let (score, relevance) = (result.score, result.relevance);
    format!("relevance {relevance:.2}, score {score:.3} = {}", reasons.join(" + "))
}
