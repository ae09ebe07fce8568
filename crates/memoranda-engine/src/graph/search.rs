//! Full-text search of entities: names, types and observations, exact matches first.

use std::collections::HashSet;

use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_core::rank::RankOptions;
use memoranda_core::tokenize::{fold, tokenize};
use memoranda_store::{FolderGraph, SearchFilter, Superseded};

use super::as_of::GraphAt;
use super::entity::{GraphEntity, is_placeholder};
use super::error::GraphResult;
use super::query::FoundEntity;
use super::read::read_entity;
use super::thread::GraphThread;
use crate::{EngineError, Memory, SearchRequest};

/// Maximum number of entities of a large thread that are found by type or by words of their names.
const MAX_BY_NAME: usize = 50;
/// Maximum number of entities that are found by words of their observations.
const MAX_BY_WORDS: usize = 50;
/// Maximum number of entities that are found by parts of words.
const MAX_BY_PARTS: usize = 1000;

/// A restriction that may have left entities out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchLimit {
    /// The thread is large, so parts within words were not looked for.
    WordsOnly,
    /// More entities may match.
    MoreMatches,
}

/// The entities that a search found.
#[derive(Clone, Debug)]
pub struct EntityMatches {
    /// The entities, the best match first.
    pub found: Vec<FoundEntity>,
    /// Restrictions that may have left entities out.
    pub limits: Vec<MatchLimit>,
}

/// A search for entities.
#[derive(Clone, Copy, Debug)]
pub struct EntitySearch<'a> {
    /// The text.
    pub text: &'a str,
    /// True if superseded observations are searched too.
    pub include_superseded: bool,
    /// Maximum number of entities of a thread in which parts of words are looked for.
    pub max_entities_for_parts: u64,
}

/// Finds the entities of a thread that contain a text, now or at an earlier time.
pub fn search_entities(
    memory: &Memory,
    thread: &GraphThread,
    search: EntitySearch<'_>,
    at: Option<&GraphAt<'_>>,
) -> GraphResult<EntityMatches> {
    let mut matches = search_now(memory, thread, search)?;
    if let Some(at) = at {
        matches.found.retain(|one| !at.is_changed(one.path()));
        let earlier = at.changed().filter(|e| !e.is_placeholder && mentions(e, search));
        matches.found.extend(earlier.map(|entity| FoundEntity::Read(Box::new(entity.clone()))));
        rank(&mut matches.found, search.text);
    }
    Ok(matches)
}

fn search_now(
    memory: &Memory,
    thread: &GraphThread,
    search: EntitySearch<'_>,
) -> GraphResult<EntityMatches> {
    let text = search.text;
    let folder = thread.folder_graph(memory)?;
    let is_small = !folder.has_more_than(search.max_entities_for_parts)?;
    let ids = if is_small { folder.holding(text, usize::MAX)? } else { by_name(&folder, text)? };
    let mut found = listed(memory, &ids)?;
    rank(&mut found, text);
    let is_complete = add_by_words(memory, thread, search, &mut found)?;
    let mut limits = Vec::new();
    if found.is_empty() && !is_small {
        // Slow, but it finds parts of words.
        found = listed(memory, &folder.holding(text, MAX_BY_PARTS)?)?;
        if found.len() >= MAX_BY_PARTS {
            limits.push(MatchLimit::MoreMatches);
        }
        return Ok(EntityMatches { found, limits });
    }
    if !is_small {
        limits.push(MatchLimit::WordsOnly);
    }
    if !is_complete || (!is_small && found.len() >= MAX_BY_NAME) {
        limits.push(MatchLimit::MoreMatches);
    }
    Ok(EntityMatches { found, limits })
}

fn listed(memory: &Memory, files: &[i64]) -> GraphResult<Vec<FoundEntity>> {
    let files = memory.snapshot()?.files_by_id(files)?.into_iter();
    let described = files.filter(|file| !is_placeholder(&file.metadata));
    Ok(described.map(|file| FoundEntity::Listed(Box::new(file))).collect())
}

/// Adds the entities that a full-text search finds. Returns false if there may be more.
fn add_by_words(
    memory: &Memory,
    thread: &GraphThread,
    search: EntitySearch<'_>,
    found: &mut Vec<FoundEntity>,
) -> GraphResult<bool> {
    let mut seen: HashSet<NotePath> = found.iter().map(|one| one.path().clone()).collect();
    let superseded =
        if search.include_superseded { Superseded::Include } else { Superseded::Exclude };
    let request = SearchRequest {
        text: search.text.to_owned(),
        filter: SearchFilter {
            projects: vec![thread.project.clone()],
            folder: NotePath::parse(&thread.folder).ok(),
            superseded,
            ..SearchFilter::default()
        },
        limit: MAX_BY_WORDS,
        offset: 0,
        snippet_chars: 1,
        // A similar meaning is not a match for a name.
        options: RankOptions::WORDS,
        // Each entity is tested for the text below.
        min_relevance: 0.0,
        ..SearchRequest::default()
    };
    let page = match memory.search(&request) {
        Ok(page) => page,
        Err(EngineError::Invalid(_)) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    // In a small thread every note was searched for the text already; these are additions.
    let mut is_complete = true;
    for hit in page.results {
        if !thread.owns(&hit.place.path) || !seen.insert(hit.place.path.clone()) {
            continue;
        }
        let Some(file) = memory.snapshot()?.file(&thread.project, &hit.place.path)? else {
            continue;
        };
        let Some(entity) = read_entity(memory, &file)?.filter(|entity| !entity.is_placeholder)
        else {
            continue;
        };
        // The word may be in a superseded observation or in a comment.
        if mentions(&entity, search) {
            found.push(FoundEntity::Read(Box::new(entity)));
            is_complete = !page.has_more && !page.partial;
        }
    }
    Ok(is_complete)
}

/// Returns the notes whose name or type is a text, or whose names contain words with its prefixes.
fn by_name(folder: &FolderGraph<'_>, text: &str) -> GraphResult<Vec<i64>> {
    let exact = folder.titled(text)?;
    let mut files: Vec<i64> = exact.into_iter().map(|found| found.id).collect();
    let further = folder.called(text, MAX_BY_NAME)?.into_iter();
    let further: Vec<i64> = further.filter(|id| !files.contains(id)).collect();
    files.extend(further);
    Ok(files)
}

/// Returns true if an entity contains the text, or one of its terms as the index matches them.
fn mentions(entity: &GraphEntity, search: EntitySearch<'_>) -> bool {
    let query = Query::parse(search.text);
    let terms: Vec<Vec<String>> = query
        .wanted_terms()
        .map(|term| term.words.iter().map(|word| fold(word).into_owned()).collect())
        .collect();
    let lower = search.text.to_lowercase();
    let facts = entity.facts.iter().filter(|f| f.is_current || search.include_superseded);
    let own = [&entity.name, &entity.entity_type];
    facts.map(|fact| &fact.content).chain(own).any(|text| {
        let text_words: Vec<String> =
            tokenize(text).map(|word| fold(word.text).into_owned()).collect();
        let contains = |term: &Vec<String>| {
            let windows = &mut text_words.windows(term.len().max(1));
            windows.any(|window| window.iter().zip(term).all(|(word, part)| is_form(word, part)))
        };
        text.to_lowercase().contains(&lower) || terms.iter().any(contains)
    })
}

/// Returns true if a word is probably a form of a query word. Short words must be equal; of longer
/// words all but the last two letters must match.
fn is_form(word: &str, query_word: &str) -> bool {
    let count = query_word.chars().count();
    if count < 4 {
        return word == query_word;
    }
    let prefix: String = query_word.chars().take((count - 2).max(3)).collect();
    word.starts_with(&prefix)
}

/// Sorts exact names first, then names that contain the text, then types, then observations.
fn rank(found: &mut [FoundEntity], text: &str) {
    let lower = text.to_lowercase();
    found.sort_by_cached_key(|one| {
        let own = one.name();
        let name = own.to_lowercase();
        let class = if own == text {
            0
        } else if name == lower {
            1
        } else if name.contains(&lower) {
            2
        } else if one.entity_type().to_lowercase().contains(&lower) {
            3
        } else {
            4
        };
        (class, own.to_owned())
    });
}
