//! Finding entities by words: in their names, types and facts, exact matches first.

use std::collections::HashSet;

use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_core::rank::RankOptions;
use memoranda_core::words::{fold, words};
use memoranda_engine::{
    Browse, EngineError, FileSummary, ListOrder, Past, SearchFilter, SearchRequest,
};
use serde_json::{Value, json};

use super::entity::{Entity, Superseded, type_of};
use super::error::Result;
use super::load::{Wish, answer, entity, is_own};
use super::past::Then;
use super::query::{Found, everything, told};
use super::thread::Thread;
use crate::args::Args;
use crate::tool::{Call, ToolResult};

/// In large threads so many entities are found by the words of their names.
const MOST_NAMED: usize = 50;

pub(super) fn search_nodes(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("search_nodes", arguments)?;
    let wish = Wish::read(&mut args, call)?;
    args.only(&[&Wish::PARAMETERS[..], &["query"]].concat())?;
    let text = args.text("query")?.trim().to_owned();
    // Nothing to look for finds everything, as it does in the reference server.
    if text.is_empty() {
        return everything(call, &wish, 0.0);
    }
    let then = wish.as_of.map(|time| Then::new(call, &wish.thread, time)).transpose()?;
    let (files, left) = by_text(call, &wish, &text)?;
    let is_same = |file: &FileSummary| then.as_ref().is_none_or(|t| !t.is_changed(&file.path));
    let files = files.into_iter().filter(is_same);
    let mut found: Vec<Found> = files.map(|file| Found::Listed(Box::new(file))).collect();
    if let Some(then) = &then {
        let was = then.changed();
        let said = was.filter(|e| !e.is_placeholder && says(e, &text, wish.superseded));
        found.extend(said.map(|entity| Found::Read(Box::new(entity.clone()))));
        rank(&mut found, &text, |one| (one.name(), one.entity_type()));
    }
    let mut result = told(call, &wish, &found, then.as_ref())?;
    if left.is_empty() {
        return Ok(result);
    }
    result.structured["partial"] = json!(left.join(" "));
    Ok(answer(&wish.thread, result.structured))
}

/// The notes that say a text now, and what may have been left out.
fn by_text(call: &Call<'_>, wish: &Wish, text: &str) -> Result<(Vec<FileSummary>, Vec<String>)> {
    let folder = wish.thread.within(call.memory);
    let is_small = folder.count()? <= call.settings.graph.pieces_up_to;
    let files = match is_small {
        true => folder.holding(text, usize::MAX)?,
        false => titled(call, &wish.thread, text)?,
    };
    let mut files = call.memory.store().files_by_id(&files)?;
    rank(&mut files, text, |file| (&file.title, type_of(file)));
    let is_all = by_words(call, wish, text, &mut files)?;
    if files.is_empty() && !is_small {
        // It takes its time, but what is there is found.
        files = call.memory.store().files_by_id(&folder.holding(text, usize::MAX)?)?;
        return Ok((files, Vec::new()));
    }
    let mut left = Vec::new();
    if !is_small {
        left.push(format!(
            "The thread has more than {} entities, so words and beginnings of words were looked \
             for, but not pieces within words.",
            call.settings.graph.pieces_up_to
        ));
    }
    if !is_all || (!is_small && files.len() >= MOST_NAMED) {
        left.push("More than these may fit; further words in the query find them.".to_owned());
    }
    Ok((files, left))
}

/// Adds the notes that the words of a text find; `false` if there may be more of them.
fn by_words(
    call: &Call<'_>,
    wish: &Wish,
    text: &str,
    files: &mut Vec<FileSummary>,
) -> Result<bool> {
    let mut seen: HashSet<NotePath> = files.iter().map(|file| file.path.clone()).collect();
    let request = SearchRequest {
        text: text.to_owned(),
        filter: SearchFilter {
            projects: vec![wish.thread.project.clone()],
            folder: NotePath::parse(&wish.thread.folder).ok(),
            past: match wish.superseded {
                Superseded::Show => Past::Include,
                Superseded::Hide => Past::LeaveOut,
            },
            ..SearchFilter::default()
        },
        limit: 100,
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
        if !is_own(&wish.thread, &hit.place.path) || !seen.insert(hit.place.path.clone()) {
            continue;
        }
        let Some(file) = call.memory.store().file(&wish.thread.project, &hit.place.path)? else {
            continue;
        };
        let Some(entity) = entity(call, &file)?.filter(|entity| !entity.is_placeholder) else {
            continue;
        };
        // The word may stand in a fact that no longer holds, or in the note's workings.
        if says(&entity, text, wish.superseded) {
            files.push(file);
            is_all = !page.has_more && !page.partial;
        }
    }
    Ok(is_all)
}

/// The notes of a thread whose name is a text, or holds words that begin like its words.
fn titled(call: &Call<'_>, thread: &Thread, text: &str) -> Result<Vec<i64>> {
    let exact = thread.within(call.memory).titled(text)?;
    let mut files: Vec<i64> = exact.into_iter().map(|found| found.id).collect();
    let named = call.memory.store().browse(&Browse {
        filter: SearchFilter {
            projects: vec![thread.project.clone()],
            folder: NotePath::parse(&thread.folder).ok(),
            ..SearchFilter::default()
        },
        title: vec![text.to_owned()],
        address: None,
        order: ListOrder::Newest,
        limit: MOST_NAMED,
        offset: 0,
    })?;
    let named = named.into_iter().filter(|file| is_own(thread, &file.path)).map(|file| file.id);
    let further: Vec<i64> = named.filter(|id| !files.contains(id)).collect();
    files.extend(further);
    Ok(files)
}

/// Whether an entity says the text itself, or one of its terms as the index understands them.
fn says(entity: &Entity, text: &str, superseded: Superseded) -> bool {
    let query = Query::parse(text);
    let terms: Vec<Vec<String>> = query
        .wanted()
        .map(|term| term.words.iter().map(|word| fold(word).into_owned()).collect())
        .collect();
    let lower = text.to_lowercase();
    let facts = entity.facts.iter().filter(|f| f.is_current || superseded == Superseded::Show);
    let own = [&entity.name, &entity.entity_type];
    facts.map(|fact| &fact.content).chain(own).any(|said| {
        let spoken: Vec<String> = words(said).map(|word| fold(word.text).into_owned()).collect();
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
