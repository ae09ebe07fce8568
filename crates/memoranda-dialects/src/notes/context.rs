//! `build_context`: what notes say and what is around them, from a `memory://` address.

use memoranda_core::note::permalink::slug;
use memoranda_core::tokens::{cut_to_budget, estimate};
use memoranda_engine::{ContextNote, ContextRequest, ContextTarget, EngineError, Related, clock};
use serde_json::{Value, json};

use super::answer::{Answer, Failure, Form, run};
use super::scope::{self, Intent};
use crate::args::Args;
use crate::prompts::quoted;
use crate::tool::{Call, ToolResult};

/// How much of a note's own text comes along: of one that was named, of one among several.
const OWN_TOKENS: usize = 2000;
const EACH_TOKENS: usize = 200;
const MAX_TOKENS: u64 = 10_000;
const LONGEST_URL: usize = 2028;

pub(super) const ALIASES: &[(&str, &[&str])] = &[
    ("url", &["uri", "memory_url"]),
    ("timeframe", &["since", "time_range", "lookback"]),
    ("page", &["page_number"]),
    ("page_size", &["limit", "per_page"]),
    ("max_related", &["max_results"]),
];

pub(super) fn handler(call: &Call<'_>, arguments: Value) -> ToolResult {
    run("build_context", arguments, ALIASES, Form::Json, |args| build(call, args))
}

fn build(call: &Call<'_>, args: &Args) -> Result<Answer, Failure> {
    let url = args.text("url")?.trim().to_owned();
    let address = scope::bare(&url);
    check_address(&url, address)?;
    let depth = args.number("depth", 0, 10)?.unwrap_or(1) as usize;
    let page = args.number("page", 1, 100_000)?.unwrap_or(1) as usize;
    let page_size = args.number("page_size", 1, 100)?.unwrap_or(10) as usize;
    let timeframe = args.optional_text("timeframe")?.filter(|text| !text.trim().is_empty());
    let as_of = scope::moment(call, args)?;
    let (project, target) = target(call, args, &url, address, as_of.is_some())?;
    let request = ContextRequest {
        project: project.clone(),
        target,
        depth,
        max_related: args.number("max_related", 1, 10_000)?.unwrap_or(10) as usize,
        since: timeframe.as_deref().map(|text| scope::since(call, text)).transpose()?,
        as_of,
        limit: page_size,
        offset: (page - 1) * page_size,
    };
    let found = call.memory.context(&request)?;
    let budget = args.number("max_tokens", 1, 1_000_000)?.unwrap_or(MAX_TOKENS) as usize;
    let each = if found.notes.len() > 1 { EACH_TOKENS } else { OWN_TOKENS };
    let mut tokens = 0;
    let (mut results, mut blocks, mut left_out) = (Vec::new(), String::new(), 0);
    for note in &found.notes {
        let shown = shown(note, each.min(budget));
        tokens += estimate(&shown.1);
        if tokens > budget && !results.is_empty() {
            left_out += 1;
            continue;
        }
        results.push(shown.0);
        blocks.push_str(&shown.1);
    }
    let shown = &found.notes[..found.notes.len() - left_out];
    let related: usize = shown.iter().map(|note| note.related.len()).sum();
    let facts: usize = shown.iter().map(|note| current(note).count()).sum();
    let when = args.optional_text("as_of")?;
    let mut text = format!("# Context of {url} (project {project}, depth {depth}");
    if let Some(when) = &when {
        text.push_str(&format!(", as of {when}"));
    }
    if let Some(timeframe) = &timeframe {
        text.push_str(&format!(", changed since {timeframe}"));
    }
    text.push_str(")\n");
    text.push_str(&blocks);
    if results.is_empty() {
        text.push_str("\nNothing fits. list_directory shows what there is.\n");
    }
    if left_out > 0 {
        text.push_str(&format!(
            "\n[{left_out} notes left out by max_tokens; ask for fewer a page]\n"
        ));
    }
    if found.has_more {
        text.push_str(&format!("\n[more notes: page={}]\n", page + 1));
    }
    if shown.iter().any(|note| note.truncated) {
        text.push_str("\n[more related notes: raise max_related]\n");
    }
    let structured = json!({
        "project": project.as_str(),
        "metadata": {
            "uri": address,
            "types": [],
            "depth": depth,
            "timeframe": timeframe,
            "as_of": when,
            "generated_at": clock::now().to_string(),
            "primary_count": results.len(),
            "related_count": related,
            "total_results": results.len() + related,
            "total_relations": related,
            "total_observations": facts,
        },
        "results": results,
        "page": page,
        "page_size": page_size,
        "has_more": found.has_more,
        "left_out": left_out,
        "related_truncated": shown.iter().any(|note| note.truncated),
    });
    Ok(Answer { text, structured })
}

/// Refuses what cannot be an address.
fn check_address(url: &str, address: &str) -> Result<(), Failure> {
    let wrong = if address.is_empty() {
        Some("it names nothing")
    } else if url.len() > LONGEST_URL {
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
            Err(Failure::new("INVALID_URL", text))
        }
    }
}

/// Which notes an address means, and in which project.
fn target(
    call: &Call<'_>,
    args: &Args,
    url: &str,
    address: &str,
    is_past: bool,
) -> Result<(memoranda_core::id::ProjectName, ContextTarget), Failure> {
    let project = scope::project(call, args)?;
    if address.contains('*') {
        // `work/plans/*` names the project first, if there is no such folder here.
        let named = scope::asked(call, args)?.is_some();
        if let Some((first, rest)) = address.split_once('/')
            && !named
            && !first.contains('*')
            && first != project.as_str()
            && let Ok(other) = call.memory.store().project(first)
        {
            return Ok((other.name, ContextTarget::Pattern(rest.to_owned())));
        }
        return Ok((project, ContextTarget::Pattern(address.to_owned())));
    }
    if is_past {
        return Ok((project, ContextTarget::Name(address.to_owned())));
    }
    match scope::find(call, args, url, Intent::Read) {
        Ok(place) => Ok((place.project, ContextTarget::Name(format!("/{}", place.path)))),
        // A fact's or a relation's own address leads to its note.
        Err(failure) if failure.code == "NOTE_NOT_FOUND" => {
            match address.split_once("/observations/") {
                Some((note, _)) => {
                    let place = scope::find(call, args, note, Intent::Read)?;
                    Ok((place.project, ContextTarget::Name(format!("/{}", place.path))))
                }
                None => Err(failure),
            }
        }
        Err(failure) => Err(failure),
    }
}

fn current(note: &ContextNote) -> impl Iterator<Item = &memoranda_core::note::Observation> {
    note.note.observations.iter().filter(|observation| {
        let replaced = observation.fact.as_ref().is_some_and(|fact| fact.superseded_by.is_some());
        !observation.struck && !replaced
    })
}

/// A note and what is around it, to parse and to read.
fn shown(note: &ContextNote, tokens: usize) -> (Value, String) {
    let body = note.text.get(note.note.body.clone()).unwrap_or_default().trim_start_matches('\n');
    let content = cut_to_budget(body, tokens);
    let is_cut = content.len() < body.len();
    let mut text = format!(
        "\n## {}\npermalink: {} | file_path: {}",
        note.title, note.permalink, note.place.path
    );
    if let Some(updated) = note.updated {
        text.push_str(&format!(" | updated: {updated}"));
    }
    text.push('\n');
    text.push_str(&quoted(content));
    if is_cut {
        text.push_str(&format!("[cut; read_note {:?} shows all of it]\n", note.permalink));
    }
    if !note.related.is_empty() {
        text.push_str("\n### Related\n");
        for related in &note.related {
            text.push_str(&line(related));
        }
    }
    if !note.unresolved.is_empty() {
        text.push_str("\n### Not written yet\n");
        for (relation_type, name) in &note.unresolved {
            text.push_str(&format!("- {relation_type} [[{name}]]\n"));
        }
    }
    let observation = |fact: &memoranda_core::note::Observation| {
        let category = fact.category.as_deref().unwrap_or("note");
        json!({
            "type": "observation",
            "category": category,
            "content": fact.text,
            "tags": fact.tags,
            "context": fact.context,
            "permalink": format!(
                "{}/observations/{}/{}",
                note.permalink,
                slug(category),
                slug(&fact.text).chars().take(200).collect::<String>()
            ),
        })
    };
    let value = json!({
        "primary_result": {
            "type": "entity",
            "title": note.title,
            "permalink": note.permalink,
            "file_path": note.place.path.as_str(),
            "content": content,
            "content_cut": is_cut,
            "created_at": note.created.map(|time| time.to_string()),
            "updated_at": note.updated.map(|time| time.to_string()),
        },
        "observations": current(note).map(observation).collect::<Vec<_>>(),
        "related_results": note.related.iter().map(related).collect::<Vec<_>>(),
        "unresolved": note
            .unresolved
            .iter()
            .map(|(relation_type, name)| json!({ "relation_type": relation_type, "to_name": name }))
            .collect::<Vec<_>>(),
    });
    (value, text)
}

fn line(related: &Related) -> String {
    let far =
        if related.depth > 1 { format!(", {} links away", related.depth) } else { String::new() };
    format!(
        "- {} —{}→ {} ({}{far})\n",
        related.from, related.relation_type, related.to, related.permalink
    )
}

fn related(related: &Related) -> Value {
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

impl From<memoranda_core::path::BadPath> for Failure {
    fn from(error: memoranda_core::path::BadPath) -> Self {
        EngineError::from(error).into()
    }
}
