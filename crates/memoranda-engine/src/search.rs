//! Searching: candidates from the store, ranked by the core, cut to a limit and a budget.

use jiff::Timestamp;
use memoranda_core::query::Query;
use memoranda_core::rank::{Candidate, RankOptions, Signal, rank};
use memoranda_core::snippet::{Snippet, snippet};
use memoranda_core::tokens::estimate;
use memoranda_store::{SearchFilter, SearchHit, clock};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::resolve::Place;

/// Candidates are asked for beyond what is shown, because several may be of one note.
const CANDIDATES_PER_RESULT: usize = 3;
const MIN_CANDIDATES: usize = 30;

/// What to search for. Begin with the default and say what differs.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The words, as they were typed.
    pub text: String,
    /// Where to look.
    pub filter: SearchFilter,
    /// How many notes at the most.
    pub limit: usize,
    /// How many to pass over first.
    pub offset: usize,
    /// How long each quotation may be, in characters.
    pub snippet_chars: usize,
    /// How many tokens all quotations may have together.
    pub max_tokens: Option<usize>,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            text: String::new(),
            filter: SearchFilter::default(),
            limit: 10,
            offset: 0,
            snippet_chars: 300,
            max_tokens: None,
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct SearchPage {
    /// The notes, best first.
    pub results: Vec<SearchResult>,
    /// Whether there are more.
    pub has_more: bool,
    /// Results left out because of the token budget.
    pub left_out: usize,
    /// Whether a word was so common that only the newest notes holding it were compared.
    pub partial: bool,
}

/// A note that was found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// Where it lies.
    pub place: Place,
    /// Its title.
    pub title: String,
    /// Its permalink.
    pub permalink: String,
    /// Its type.
    pub note_type: String,
    /// When it was last changed.
    pub updated: Timestamp,
    /// The sum of its signals.
    pub score: f64,
    /// What the score is made of.
    pub why: Vec<Signal>,
    /// The headings above the best passage.
    pub heading: String,
    /// The lines of the best passage.
    pub lines: (usize, usize),
    /// The piece of it that answers best.
    pub snippet: Snippet,
}

impl Memory {
    /// Finds notes by their words.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchPage> {
        let query = Query::parse(&request.text);
        if query.is_empty() && query.tags.is_empty() && request.filter.tags.is_empty() {
            return Err(EngineError::Invalid(format!(
                "{:?} holds nothing to search for; give a word, a \"phrase\" or tag:name",
                request.text
            )));
        }
        let wanted = (request.offset + request.limit + 1).max(1);
        let candidates = (wanted * CANDIDATES_PER_RESULT).max(MIN_CANDIDATES);
        let found = self.store().search(&request.text, &query, &request.filter, candidates)?;
        let ranked = rank(
            &found.hits.iter().map(candidate).collect::<Vec<_>>(),
            clock::now(),
            &RankOptions::STANDARD,
        );
        let has_more = ranked.len() > request.offset + request.limit;
        let shown: Vec<_> = ranked
            .into_iter()
            .skip(request.offset)
            .take(request.limit)
            .filter_map(|ranked| {
                let best = ranked.passages.first().copied();
                let hit = found.hits.iter().find(|hit| {
                    hit.file == ranked.note && best.is_none_or(|best| hit.passage as u64 == best)
                })?;
                Some((ranked, hit))
            })
            .collect();
        let passages: Vec<i64> = shown.iter().map(|(_, hit)| hit.passage).collect();
        let texts = self.store().passage_texts(&passages)?;
        let mut results = Vec::with_capacity(shown.len());
        let (mut tokens, mut left_out) = (0, 0);
        for ((ranked, hit), text) in shown.into_iter().zip(texts) {
            let snippet = snippet(&text, &query, request.snippet_chars);
            tokens += estimate(&snippet.text) + estimate(&hit.title) + estimate(hit.path.as_str());
            if request.max_tokens.is_some_and(|most| tokens > most) && !results.is_empty() {
                left_out += 1;
                continue;
            }
            results.push(SearchResult {
                place: Place { project: hit.project.clone(), path: hit.path.clone() },
                title: hit.title.clone(),
                permalink: hit.permalink.clone(),
                note_type: hit.note_type.clone(),
                updated: hit.updated,
                score: ranked.score,
                why: ranked.why,
                heading: hit.heading.clone(),
                lines: hit.lines,
                snippet,
            });
        }
        Ok(SearchPage { results, has_more, left_out, partial: found.partial })
    }
}

fn candidate(hit: &SearchHit) -> Candidate<i64> {
    Candidate {
        note: hit.file,
        path: hit.path.clone(),
        passage: Some(hit.passage as u64),
        bm25: hit.bm25,
        title_match: hit.title_match,
        updated: hit.updated,
        importance: None,
    }
}
