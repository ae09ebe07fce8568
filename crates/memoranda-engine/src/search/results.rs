//! Results of a search: what is likely of the notes that were compared, cut to a page.

use std::collections::HashMap;

use memoranda_core::note::without_metadata;
use memoranda_core::passage::PassageStart;
use memoranda_core::query::TermKind;
use memoranda_core::rank::{
    CandidatePassage, RankCandidate, RankOptions, RankSignal, RankedNote, rank_passages,
};
use memoranda_core::snippet::{Snippet, extract_snippet};
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_store::{
    CandidateSet, NoteDisplay, PassageDisplay, Result as StoreResult, SearchReader,
};

use crate::links::resolve::NoteLocation;
use crate::search::{
    CERTAIN_RELEVANCE, FurtherPassage, LOW_RELEVANCE, SearchRequest, SearchResult, SearchUnit,
    TypedWords,
};

/// Shorter passages may well be the same by chance.
const LEAST_DUPLICATE_CHARS: usize = 40;
/// In a batch of notes at least one in this many must be relevant, or the search ends.
const ENOUGH_LIKELY: usize = 4;

/// About how many tokens a result takes.
fn size(result: &SearchResult) -> usize {
    let further: usize = result.further.iter().map(|p| estimate_tokens(&p.snippet.text)).sum();
    estimate_tokens(&result.snippet.text)
        + estimate_tokens(&result.title)
        + estimate_tokens(result.place.path.as_str())
        + further
}

/// Builds results from ranked notes.
pub(crate) struct ResultBuilder<'f> {
    pub(crate) candidates: &'f CandidateSet,
    pub(crate) shown: &'f SearchReader<'f>,
    pub(crate) request: &'f SearchRequest,
}

/// Relevant units of the candidates compared so far.
pub(crate) struct RelevantUnits {
    units: Vec<ResultUnit>,
    /// Number of further units needed to fill the page and to know whether more follow.
    pub(crate) missing: usize,
}

/// The results that were asked for.
pub(crate) struct ResultPage {
    pub(crate) results: Vec<SearchResult>,
    pub(crate) has_more: bool,
    pub(crate) left_out: usize,
}

/// Relevance and score that a result must reach to be shown.
#[derive(Clone, Copy)]
struct RelevanceBar {
    relevance: f64,
    score: f64,
}

/// Returns a score without the amount that puts an equal title first: it says nothing about how good
/// the other results are.
fn score_without_title(ranked: &RankedNote<i64>) -> f64 {
    let title = ranked.why.iter().find(|signal| matches!(signal, RankSignal::ExactTitle(_)));
    ranked.score - title.map_or(0.0, |signal| signal.amount())
}

/// One result to be: a note with the passages that are shown of it.
struct ResultUnit {
    note: RankedNote<i64>,
    also: Vec<NoteLocation>,
}

impl ResultBuilder<'_> {
    /// Returns the relevant units, up to the last batch that is worth reading.
    pub(crate) fn likely(&self, mut ranked: Vec<RankedNote<i64>>) -> StoreResult<RelevantUnits> {
        let last = self.last_round(&ranked, self.bar(&ranked));
        ranked.retain(|note| last.is_none_or(|last| note.batch <= last));
        let units = self.distinct(self.units(ranked))?;
        let needed = self.request.offset + self.request.limit + 1;
        let missing = if last.is_some() { 0 } else { needed.saturating_sub(units.len()) };
        Ok(RelevantUnits { units, missing })
    }

    /// Returns the first batch with few relevant notes; the search ends with this batch. The result
    /// depends only on the batches, so that pages of any size end at the same note.
    fn last_round(&self, ranked: &[RankedNote<i64>], bar: RelevanceBar) -> Option<usize> {
        let rounds = self.candidates.notes.last().map_or(0, |note| note.batch + 1);
        let (mut all, mut likely) = (vec![0; rounds], vec![0; rounds]);
        let count = |counts: &mut [usize], round: usize| {
            counts.get_mut(round).into_iter().for_each(|count| *count += 1);
        };
        self.candidates.notes.iter().for_each(|note| count(&mut all, note.batch));
        let found = ranked.iter().filter(|note| self.is_likely(note, bar));
        found.for_each(|note| count(&mut likely, note.batch));
        all.iter().zip(&likely).position(|(all, likely)| likely * ENOUGH_LIKELY < *all)
    }

    /// The results from the first that was asked for to the last.
    pub(crate) fn page(&self, likely: RelevantUnits) -> StoreResult<ResultPage> {
        let SearchRequest { offset, limit, max_tokens, .. } = *self.request;
        let has_more = likely.units.len() > offset + limit;
        let mut results = Vec::new();
        let (mut tokens, mut left_out) = (0, 0);
        for unit in likely.units.into_iter().skip(offset).take(limit) {
            let Some(result) = self.result(unit)? else { continue };
            tokens += size(&result);
            if max_tokens.is_some_and(|most| tokens > most) && !results.is_empty() {
                left_out += 1;
                continue;
            }
            results.push(result);
        }
        Ok(ResultPage { results, has_more, left_out })
    }

    /// Returns the units above the relevance threshold, as notes or as passages, best first.
    fn units(&self, ranked: Vec<RankedNote<i64>>) -> Vec<ResultUnit> {
        let units = match self.request.unit {
            SearchUnit::Notes | SearchUnit::Holders => ranked,
            SearchUnit::Passages | SearchUnit::EveryPassage => {
                rank_passages(&ranked, &self.request.options)
            }
        };
        let bar = self.bar(&units);
        let likely = units.into_iter().filter(|unit| self.is_likely(unit, bar));
        likely.map(|note| ResultUnit { note, also: Vec::new() }).collect()
    }

    /// Returns the bar that results must reach. It depends on the first batch only, so that it is
    /// equal for pages of any size.
    fn bar(&self, ranked: &[RankedNote<i64>]) -> RelevanceBar {
        let SearchRequest { min_relevance, fill_relevance, relative_cut, .. } = *self.request;
        if !self.request.has_default_threshold() {
            return RelevanceBar { relevance: min_relevance, score: 0.0 };
        }
        // Fragments of holders are compared next, so all relevant holders are needed.
        if self.request.unit == SearchUnit::Holders {
            return RelevanceBar { relevance: LOW_RELEVANCE, score: 0.0 };
        }
        let CandidateSet { query, passages, .. } = self.candidates;
        let first = || ranked.iter().filter(|unit| unit.batch == 0);
        let best_relevance = first().map(|unit| unit.relevance).fold(0.0, f64::max);
        let best_score = first().map(score_without_title).fold(0.0, f64::max);
        let is_cut = !query.is_empty() && !query.has_constraints();
        RelevanceBar {
            relevance: if best_relevance < min_relevance { min_relevance } else { fill_relevance },
            score: if is_cut {
                SearchRequest::cut_share(*passages) * relative_cut * best_score
            } else {
                0.0
            },
        }
    }

    /// Returns true if a word of the query is reason enough to show a result. It is in a search by
    /// words alone.
    fn shows_typed_words(&self) -> bool {
        self.request.has_default_threshold()
            && (self.request.typed_words == TypedWords::Always
                || self.request.options == RankOptions::WORDS)
    }

    /// Returns true if a note or passage is relevant and similar enough to be shown.
    fn is_likely(&self, ranked: &RankedNote<i64>, bar: RelevanceBar) -> bool {
        let by_words = |signal: &RankSignal| {
            use RankSignal::{Context, ExactTitle, TitleWords, Words};
            matches!(signal, Words(_) | Context(_) | ExactTitle(_) | TitleWords(_))
        };
        let least = self.request.min_similarity;
        let is_alike = least.is_none_or(|least| ranked.similarity >= least);
        let is_near_best =
            ranked.relevance >= CERTAIN_RELEVANCE || score_without_title(ranked) >= bar.score;
        (ranked.relevance >= bar.relevance || ranked.has_typed_word && self.shows_typed_words())
            && is_near_best
            && (is_alike || ranked.why.iter().any(by_words))
    }

    /// Merges equal passages of several notes into one result that lists the other notes. A search
    /// for notes keeps each note.
    fn distinct(&self, units: Vec<ResultUnit>) -> StoreResult<Vec<ResultUnit>> {
        if self.request.unit != SearchUnit::Passages {
            return Ok(units);
        }
        // Passages with equal words may have equal texts; only their texts are read.
        let mut alike: HashMap<&[[u8; 4]], Vec<usize>> = HashMap::new();
        let mut distinct: Vec<ResultUnit> = Vec::with_capacity(units.len());
        for unit in units {
            let Some((note, passage)) = self.best(&unit) else { continue };
            let alike = alike.entry(passage.tokens.own_stems()).or_default();
            let same = if alike.is_empty() { None } else { self.same(passage, alike, &distinct)? };
            match same.and_then(|same| distinct.get_mut(same)) {
                Some(first) => {
                    let shown =
                        self.shown.note(note.note)?.filter(|_| first.note.note != note.note);
                    let place = shown.map(place).filter(|place| !first.also.contains(place));
                    first.also.extend(place);
                }
                None => {
                    alike.push(distinct.len());
                    distinct.push(unit);
                }
            }
        }
        Ok(distinct)
    }

    /// Returns which passage has the same text as this one, if the text is long enough.
    fn same(
        &self,
        passage: &CandidatePassage,
        alike: &[usize],
        units: &[ResultUnit],
    ) -> StoreResult<Option<usize>> {
        let Some(shown) = self.shown.passage(passage.id)? else { return Ok(None) };
        let text = shown.text.trim();
        if text.len() < LEAST_DUPLICATE_CHARS {
            return Ok(None);
        }
        for &at in alike {
            let best = units.get(at).and_then(|unit| unit.note.passages.first());
            let other = best.map(|best| self.shown.passage(best.id)).transpose()?.flatten();
            if other.is_some_and(|other| other.text.trim() == text) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn best(&self, unit: &ResultUnit) -> Option<(&RankCandidate<i64>, &CandidatePassage)> {
        let note = self.candidates.notes.iter().find(|note| note.note == unit.note.note)?;
        let best = unit.note.passages.first()?.id;
        Some((note, note.passages.iter().find(|passage| passage.id == best)?))
    }

    /// The piece of a text that answers best. Only a whole passage keeps its metadata, for callers that
    /// parse it.
    fn said(&self, text: &str) -> Snippet {
        let max_chars = self.request.snippet_chars;
        let text = if max_chars == usize::MAX { text.into() } else { without_metadata(text) };
        extract_snippet(&text, &self.candidates.query, max_chars)
    }

    /// Returns the quoted text of a passage and its lines. A phrase at the boundary of two passages
    /// quotes both, and a heading is quoted with the text below it, because it says nothing alone.
    fn quoted(
        &self,
        note: &RankCandidate<i64>,
        passage: &CandidatePassage,
        shown: &PassageDisplay,
    ) -> StoreResult<((usize, usize), Snippet)> {
        let said = self.said(&shown.text);
        let next = note.passages.iter().find(|next| next.id == passage.id + 1);
        if self.request.unit == SearchUnit::Notes && has_headings_alone(&shown.text) {
            return self.quoted_below(note, passage, shown);
        }
        let has_phrase =
            self.candidates.query.wanted_terms().any(|term| term.kind == TermKind::Phrase);
        let next = next.filter(|next| next.start == PassageStart::ContinuesBlock && has_phrase);
        let Some(next) = next.filter(|_| said.highlights.is_empty()) else {
            return Ok((shown.lines, said));
        };
        let Some(next) = self.shown.passage(next.id)? else { return Ok((shown.lines, said)) };
        let between = if next.lines.0 > shown.lines.1 { "\n" } else { " " };
        let across = self.said(&format!("{}{between}{}", shown.text, next.text));
        if across.highlights.is_empty() {
            Ok((shown.lines, said))
        } else {
            Ok(((shown.lines.0, next.lines.1), across))
        }
    }

    /// Quotes a passage of headings with the text below it, as far as a snippet has room.
    fn quoted_below(
        &self,
        note: &RankCandidate<i64>,
        passage: &CandidatePassage,
        shown: &PassageDisplay,
    ) -> StoreResult<((usize, usize), Snippet)> {
        let (mut lines, mut text) = (shown.lines, shown.text.clone());
        let mut id = passage.id;
        while text.len() < self.request.snippet_chars {
            id += 1;
            let Some(next) = note.passages.iter().find(|next| next.id == id) else { break };
            let Some(below) = self.shown.passage(next.id)? else { break };
            lines.1 = below.lines.1;
            text = format!("{text}\n{}", below.text);
        }
        Ok((lines, self.said(&text)))
    }

    fn result(&self, unit: ResultUnit) -> StoreResult<Option<SearchResult>> {
        let Some((note, passage)) = self.best(&unit) else { return Ok(None) };
        let (Some(shown), Some(best)) =
            (self.shown.note(note.note)?, self.shown.passage(passage.id)?)
        else {
            return Ok(None);
        };
        let (lines, snippet) = self.quoted(note, passage, &best)?;
        let mut further = Vec::new();
        for ranked in unit.note.passages.iter().skip(1).take(self.request.further_passages) {
            let Some(passage) = self.shown.passage(ranked.id)? else { continue };
            further.push(FurtherPassage {
                heading: passage.heading,
                lines: passage.lines,
                score: ranked.score,
                snippet: self.said(&passage.text),
            });
        }
        let best_passage = unit.note.passages.first();
        let features = best_passage.map(|best| best.features).unwrap_or_default();
        let relevance_values = best_passage.map(|best| best.relevance_values).unwrap_or_default();
        Ok(Some(SearchResult {
            file: note.note,
            batch: note.batch,
            features,
            relevance_values,
            created: note.created,
            updated: note.updated,
            score: unit.note.score,
            relevance: unit.note.relevance,
            heading: best.heading,
            lines,
            snippet,
            further,
            also: unit.also,
            why: unit.note.why,
            title: shown.title,
            permalink: shown.permalink,
            note_type: shown.note_type,
            metadata: shown.metadata,
            place: NoteLocation { project: shown.project, path: shown.path },
        }))
    }
}

/// Returns whether a text consists of Markdown headings.
fn has_headings_alone(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some()
        && lines.all(|line| line.trim_start_matches('#').starts_with(' ') && line.starts_with('#'))
}

fn place(note: NoteDisplay) -> NoteLocation {
    NoteLocation { project: note.project, path: note.path }
}
