//! Finding entities by words: in their names, types and facts, exact matches first.

use std::collections::HashSet;

use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_core::rank::RankOptions;
use memoranda_core::tokenize::{fold, tokenize};
use memoranda_engine::{EngineError, FolderGraph, Past, SearchFilter, SearchRequest};
use serde_json::{Value, json};

use super::as_of::GraphAt;
use super::entity::{GraphEntity, SupersededDisplay, is_placeholder};
use super::error::Result;
use super::load::{ReadOptions, answer, entity, is_thread_note};
use super::query::{FoundEntity, read_page, render_found};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// In large threads so many entities are found by their type, and by the words of their names.
const MAX_BY_NAME: usize = 50;
/// So many are found by the words of their facts: more than an answer has room for.
const MAX_BY_WORDS: usize = 50;
/// So many are found by pieces of words.
const MAX_BY_PIECES: usize = 1000;
/// What is said when a limit was met.
const MORE_MATCHES: &str = "More than these may fit; further words in the query find them.";

pub(super) fn search_nodes(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("search_nodes", arguments)?;
    let options = ReadOptions::read(&mut args, call)?;
    args.only(&[&ReadOptions::PARAMETERS[..], &["query"]].concat())?;
    let text = args.text("query")?.trim().to_owned();
    // Nothing to look for finds everything, as it does in the reference server.
    if text.is_empty() {
        return read_page(call, &options, 0.0);
    }
    let then = options.as_of.map(|time| GraphAt::new(call, &options.thread, time)).transpose()?;
    let (mut found, left) = by_text(call, &options, &text)?;
    if let Some(then) = &then {
        found.retain(|one| !then.is_changed(one.path()));
        let was = then.changed();
        let said = was.filter(|e| !e.is_placeholder && mentions(e, &text, options.superseded));
        found.extend(said.map(|entity| FoundEntity::Read(Box::new(entity.clone()))));
        rank(&mut found, &text, |one| (one.name(), one.entity_type()));
    }
    let mut result = render_found(call, &options, &found, then.as_ref())?;
    if left.is_empty() {
        return Ok(result);
    }
    result.structured["partial"] = json!(left.join(" "));
    Ok(answer(&options.thread, result.structured))
}

/// The entities that say a text now, and what may have been left out.
fn by_text(
    call: &CallContext<'_>,
    options: &ReadOptions,
    text: &str,
) -> Result<(Vec<FoundEntity>, Vec<String>)> {
    let folder = options.thread.folder_graph(call.memory);
    let is_small = !folder.has_more_than(call.settings.graph.pieces_up_to)?;
    let mut found = listed(
        call,
        &if is_small { folder.holding(text, usize::MAX)? } else { by_name(&folder, text)? },
    )?;
    rank(&mut found, text, |one| (one.name(), one.entity_type()));
    let is_all = by_words(call, options, text, &mut found)?;
    let mut left = Vec::new();
    if found.is_empty() && !is_small {
        // It takes its time, but what is there is found.
        found = listed(call, &folder.holding(text, MAX_BY_PIECES)?)?;
        if found.len() >= MAX_BY_PIECES {
            left.push(MORE_MATCHES.to_owned());
        }
        return Ok((found, left));
    }
    if !is_small {
        left.push(format!(
            "The thread has more than {} entities, so words and beginnings of words were looked \
             for, but not pieces within words.",
            call.settings.graph.pieces_up_to
        ));
    }
    if !is_all || (!is_small && found.len() >= MAX_BY_NAME) {
        left.push(MORE_MATCHES.to_owned());
    }
    Ok((found, left))
}

/// Entities by the numbers of their notes.
fn listed(call: &CallContext<'_>, files: &[i64]) -> Result<Vec<FoundEntity>> {
    let files = call.memory.store().files_by_id(files)?.into_iter();
    let described = files.filter(|file| !is_placeholder(&file.metadata));
    Ok(described.map(|file| FoundEntity::Listed(Box::new(file))).collect())
}

/// Adds the notes that the words of a text find; `false` if there may be more of them.
fn by_words(
    call: &CallContext<'_>,
    options: &ReadOptions,
    text: &str,
    found: &mut Vec<FoundEntity>,
) -> Result<bool> {
    let mut seen: HashSet<NotePath> = found.iter().map(|one| one.path().clone()).collect();
    let request = SearchRequest {
        text: text.to_owned(),
        filter: SearchFilter {
            projects: vec![options.thread.project.clone()],
            folder: NotePath::parse(&options.thread.folder).ok(),
            past: match options.superseded {
                SupersededDisplay::Show => Past::Include,
                SupersededDisplay::Hide => Past::LeaveOut,
            },
            ..SearchFilter::default()
        },
        limit: MAX_BY_WORDS,
        offset: 0,
        snippet_chars: 1,
        // What only means something like it is no match for a name.
        options: RankOptions::WORDS,
        ..SearchRequest::default()
    };
    let page = match call.memory.search(&request) {
        Ok(page) => page,
        Err(EngineError::Invalid(_)) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    // In a small thread the text itself was looked for in every note; these are only more.
    let mut is_all = true;
    for hit in page.results {
        if !is_thread_note(&options.thread, &hit.place.path) || !seen.insert(hit.place.path.clone())
        {
            continue;
        }
        let Some(file) = call.memory.store().file(&options.thread.project, &hit.place.path)? else {
            continue;
        };
        let Some(entity) = entity(call, &file)?.filter(|entity| !entity.is_placeholder) else {
            continue;
        };
        // The word may stand in a fact that no longer holds, or in the note's workings.
        if mentions(&entity, text, options.superseded) {
            found.push(FoundEntity::Read(Box::new(entity)));
            is_all = !page.has_more && !page.partial;
        }
    }
    Ok(is_all)
}

/// The notes of a thread whose name or type is a text, or whose names hold words that begin like
/// its words.
fn by_name(folder: &FolderGraph<'_>, text: &str) -> Result<Vec<i64>> {
    let exact = folder.titled(text)?;
    let mut files: Vec<i64> = exact.into_iter().map(|found| found.id).collect();
    let further = folder.called(text, MAX_BY_NAME)?.into_iter();
    let further: Vec<i64> = further.filter(|id| !files.contains(id)).collect();
    files.extend(further);
    Ok(files)
}

/// Whether an entity says the text itself, or one of its terms as the index understands them.
fn mentions(entity: &GraphEntity, text: &str, superseded: SupersededDisplay) -> bool {
    let query = Query::parse(text);
    let terms: Vec<Vec<String>> = query
        .wanted()
        .map(|term| term.words.iter().map(|word| fold(word).into_owned()).collect())
        .collect();
    let lower = text.to_lowercase();
    let facts =
        entity.facts.iter().filter(|f| f.is_current || superseded == SupersededDisplay::Show);
    let own = [&entity.name, &entity.entity_type];
    facts.map(|fact| &fact.content).chain(own).any(|said| {
        let spoken: Vec<String> = tokenize(said).map(|word| fold(word.text).into_owned()).collect();
        let holds = |term: &Vec<String>| {
            let windows = &mut spoken.windows(term.len().max(1));
            windows.any(|window| window.iter().zip(term).all(|(said, word)| is_form(said, word)))
        };
        said.to_lowercase().contains(&lower) || terms.iter().any(holds)
    })
}

/// Whether two words are forms of one, near enough: short ones are the same, of longer ones all
/// but the last two letters of the one that is asked for begin the other.
fn is_form(said: &str, word: &str) -> bool {
    let count = word.chars().count();
    if count < 4 {
        return said == word;
    }
    let begin: String = word.chars().take((count - 2).max(3)).collect();
    said.starts_with(&begin)
}

/// Exact names first, then names that hold the text, then types, then facts.
fn rank<T>(found: &mut [T], text: &str, about: impl Fn(&T) -> (&str, String)) {
    let lower = text.to_lowercase();
    found.sort_by_cached_key(|one| {
        let (own, entity_type) = about(one);
        let name = own.to_lowercase();
        let place = if own == text {
            0
        } else if name == lower {
            1
        } else if name.contains(&lower) {
            2
        } else if entity_type.to_lowercase().contains(&lower) {
            3
        } else {
            4
        };
        (place, own.to_owned())
    });
}
