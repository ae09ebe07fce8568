//! Ranking of candidate notes. The index finds candidates by words and by embeddings; this module
//! scores them in full.
//!
//! BM25 is computed over three texts (the passage, its neighbourhood, the whole note), because an
//! answer often stands next to the words of the question. Embedding similarity fills the gap: its
//! weight falls with the quality of the best word match and is lower for short passages, whose
//! embeddings are unreliable. All other signals only break near-ties. `docs/search.md` lists the
//! measured contribution of each signal.

mod features;
mod question_features;
mod relevance;
mod scoring;
mod term_counts;
mod term_freq;
mod title;
mod tokens;
mod weights;

use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;

pub use features::{FEATURE_COUNT, FeatureValues, FeatureWeights, RankFeature};
pub use question_features::without_speaker_names;
pub use relevance::{
    RELEVANCE_FEATURE_COUNT, RELEVANCE_THRESHOLD, RelevanceFeature, RelevanceValues,
};
pub use term_freq::{QueryTerms, TermFreqs};
pub use title::{TitleMatch, TitleQuery};
pub use tokens::PassageTokens;
pub use weights::{RankOptions, TimeWords};

use crate::passage::PassageStart;
use crate::query::{Query, TimeExpression};
use features::FeatureGroup;
use scoring::RankingContext;

/// A query with the statistics needed for ranking.
pub struct RankQuery<'q> {
    /// Parsed query.
    pub query: &'q Query,
    /// Number of passages that contain each term (document frequencies).
    pub doc_freqs: &'q [u64],
    /// Indices of terms that were corrected as typos.
    pub corrected_terms: &'q [usize],
    /// Number of passages in the index.
    pub passage_count: u64,
    /// Time that the query names.
    pub time: Option<&'q TimeExpression>,
    /// Time of the search.
    pub now: Timestamp,
}

/// A note to be ranked.
#[derive(Clone, PartialEq, Debug)]
pub struct RankCandidate<Id> {
    /// Identity of the note.
    pub note: Id,
    /// Batch in which the note was found. Earlier batches rank first, and the first batch sets the
    /// averages, so that ranks and scores stay stable when a later page loads further batches.
    pub batch: usize,
    /// Path of the note; the last tie-breaker.
    pub path: Arc<str>,
    /// Title and tags.
    pub name: Arc<str>,
    /// Match between the name and the query.
    pub title_match: TitleMatch,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Importance of the most important fact, 0 to 1; `None` if no fact has one.
    pub importance: Option<f64>,
    /// Number of passages with which the note is compared as an answer, if it belongs to the facts that
    /// agents keep: a short list next to a large collection of notes.
    pub corpus_passages: Option<u64>,
    /// Passages in order. A gap in the ids means that passages were left out.
    pub passages: Vec<CandidatePassage>,
}

/// A passage of a candidate note.
#[derive(Clone, PartialEq, Debug)]
pub struct CandidatePassage {
    /// Identity of the passage; consecutive passages have consecutive ids.
    pub id: u64,
    /// Stems of the passage and of its headings.
    pub tokens: PassageTokens,
    /// Headings and text; needed only for prefix terms, which stems cannot answer.
    pub source: Option<Box<PassageSource>>,
    /// Cosine similarity to the query, 1 for equal texts; 0 if similarity is not used.
    pub similarity: f32,
    /// Position in its block: a phrase can span two passages of one paragraph.
    pub start: PassageStart,
}

/// Source text of a passage.
#[derive(Clone, PartialEq, Debug)]
pub struct PassageSource {
    /// Headings above the passage.
    pub heading: String,
    /// Text of the passage.
    pub text: String,
}

impl CandidatePassage {
    /// Builds a passage that belongs to no file.
    pub fn new(heading: &str, text: &str) -> Self {
        let cut = PassageTokens::new(heading, text);
        let said = PassageSource { heading: heading.to_owned(), text: text.to_owned() };
        let said = Some(said.into());
        Self { id: 0, tokens: cut, source: said, similarity: 0.0, start: PassageStart::NewBlock }
    }
}

/// A note with its score and its passages.
#[derive(Clone, PartialEq, Debug)]
pub struct RankedNote<Id> {
    /// Identity of the note.
    pub note: Id,
    /// Batch in which the note was found.
    pub batch: usize,
    /// Sum of all signals.
    pub score: f64,
    /// Estimated probability that the note answers the query, 0 to 1.
    pub relevance: f64,
    /// True if it contains a word of the query as it was typed.
    pub has_typed_word: bool,
    /// True if it belongs to the facts that agents keep.
    pub is_fact: bool,
    /// Similarity of the most similar passage, 0 to 1.
    pub similarity: f64,
    /// Passages, best first.
    pub passages: Vec<RankedPassage>,
    /// Signals that add up to the score.
    pub why: Vec<RankSignal>,
}

/// A passage with its score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankedPassage {
    /// Identity of the passage.
    pub id: u64,
    /// Sum of the passage's own signals.
    pub score: f64,
    /// Estimated probability that the passage answers the query, 0 to 1.
    pub relevance: f64,
    /// True if it contains a word of the query as it was typed.
    pub has_typed_word: bool,
    /// Embedding similarity to the query, 0 to 1.
    pub similarity: f64,
    /// Values of the features that were compared.
    pub features: FeatureValues,
    /// Values from which the relevance was estimated.
    pub relevance_values: RelevanceValues,
}

impl RankedPassage {
    fn why(&self, options: &RankOptions) -> [RankSignal; 6] {
        let sum = |group| options.features.sum(&self.features, group);
        [
            RankSignal::Words(sum(FeatureGroup::Words)),
            RankSignal::Context(sum(FeatureGroup::Context)),
            RankSignal::Meaning(sum(FeatureGroup::Meaning)),
            RankSignal::Speaker(sum(FeatureGroup::Speaker)),
            RankSignal::Kind(sum(FeatureGroup::Kind)),
            RankSignal::Place(sum(FeatureGroup::Place)),
        ]
    }
}

/// One part of a score and its amount.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RankSignal {
    /// The title or permalink equals the query; always ranks first.
    ExactTitle(f64),
    /// The title contains all words of the query.
    TitleWords(f64),
    /// Word match of the best passage.
    Words(f64),
    /// Word match of the passage's neighbourhood and of the whole note.
    Context(f64),
    /// Embedding similarity of the passage.
    Meaning(f64),
    /// The speaker of the passage is the person in question.
    Speaker(f64),
    /// The passage contains the kind of answer that the query asks for: a number or a time.
    Kind(f64),
    /// The passage is the first one of its note.
    Place(f64),
    /// The note is from the time that the query names.
    Time(f64),
    /// The note has a stated importance.
    Importance(f64),
    /// The note changed recently.
    Recency(f64),
    /// A fact that is more relevant than the notes that it ranks before.
    Fact(f64),
}

impl RankSignal {
    /// Returns true if the signal belongs to the note and therefore to each of its passages.
    fn is_note_signal(self) -> bool {
        use RankSignal::{ExactTitle, Importance, Recency, Time, TitleWords};
        matches!(self, ExactTitle(_) | TitleWords(_) | Time(_) | Importance(_) | Recency(_))
    }

    /// Returns the amount added to the score.
    pub fn amount(self) -> f64 {
        match self {
            Self::ExactTitle(amount)
            | Self::TitleWords(amount)
            | Self::Words(amount)
            | Self::Context(amount)
            | Self::Meaning(amount)
            | Self::Speaker(amount)
            | Self::Kind(amount)
            | Self::Place(amount)
            | Self::Time(amount)
            | Self::Importance(amount)
            | Self::Recency(amount)
            | Self::Fact(amount) => amount,
        }
    }

    /// Returns the signal's name in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExactTitle(_) => "exact_title",
            Self::TitleWords(_) => "title_words",
            Self::Words(_) => "words",
            Self::Context(_) => "context",
            Self::Meaning(_) => "meaning",
            Self::Speaker(_) => "speaker",
            Self::Kind(_) => "kind",
            Self::Place(_) => "place",
            Self::Time(_) => "time",
            Self::Importance(_) => "importance",
            Self::Recency(_) => "recency",
            Self::Fact(_) => "fact",
        }
    }
}

/// Sorts notes, best first: by batch, score, later change, then path.
pub fn rank_notes<'r, Id: Copy + Eq + Hash + 'r>(
    candidates: impl IntoIterator<Item = &'r RankCandidate<Id>>,
    asked: &'r RankQuery<'r>,
    options: &'r RankOptions,
) -> Vec<RankedNote<Id>> {
    let sought = QueryTerms::new(asked.query);
    let ranking = RankingContext::new(candidates, asked, &sought, options);
    let mut notes: Vec<_> = ranking.notes.iter().filter_map(|note| ranking.note(note)).collect();
    notes.sort_by(|a, b| {
        let by_round = a.ranked.batch.cmp(&b.ranked.batch);
        let by_score = by_round.then(b.ranked.score.total_cmp(&a.ranked.score));
        by_score.then(b.updated.cmp(&a.updated)).then_with(|| a.path.cmp(b.path))
    });
    let mut ranked: Vec<_> = notes.into_iter().map(|note| note.ranked).collect();
    move_facts_before_notes(&mut ranked);
    align_relevance_with_rank(&mut ranked);
    ranked
}

/// Sorts the passages of ranked notes individually, best first. Signals of a note count for each of
/// its passages.
pub fn rank_passages<Id: Copy>(
    notes: &[RankedNote<Id>],
    options: &RankOptions,
) -> Vec<RankedNote<Id>> {
    let of_note = |note: &RankedNote<Id>, passage: &RankedPassage| {
        let (mut why, behind): (Vec<RankSignal>, Vec<RankSignal>) =
            note.why.iter().filter(|signal| signal.is_note_signal()).partition(|signal| {
                matches!(signal, RankSignal::ExactTitle(_) | RankSignal::TitleWords(_))
            });
        why.extend(passage.why(options).into_iter().filter(|signal| signal.amount() != 0.0));
        why.extend(behind);
        RankedNote {
            note: note.note,
            batch: note.batch,
            score: why.iter().map(|signal| signal.amount()).sum(),
            relevance: passage.relevance,
            has_typed_word: passage.has_typed_word,
            is_fact: note.is_fact,
            similarity: passage.similarity,
            passages: vec![*passage],
            why,
        }
    };
    let all = notes.iter().flat_map(|note| note.passages.iter().map(move |p| of_note(note, p)));
    let mut passages: Vec<_> = all.collect();
    passages.sort_by(|a, b| a.batch.cmp(&b.batch).then(b.score.total_cmp(&a.score)));
    move_facts_before_notes(&mut passages);
    align_relevance_with_rank(&mut passages);
    passages
}

/// Moves each relevant fact before the notes of its batch that are less relevant. A passage of many
/// sentences scores higher than a fact of one: the nearest of ten thousand notes is near by chance,
/// and the relevance takes that into account.
fn move_facts_before_notes<Id>(ranked: &mut [RankedNote<Id>]) {
    for at in 0..ranked.len() {
        let Some((before, [fact, ..])) = ranked.split_at_mut_checked(at) else { return };
        if !fact.is_fact || fact.relevance < RELEVANCE_THRESHOLD {
            continue;
        }
        let is_behind = |note: &RankedNote<Id>| {
            note.batch == fact.batch && !note.is_fact && note.relevance < fact.relevance
        };
        let Some(place) = before.iter().position(is_behind) else { continue };
        // Scores fall along the list, also where a cut relative to the best one is made.
        let advance = before.get(place).map_or(0.0, |note| note.score - fact.score);
        fact.score += advance;
        fact.why.push(RankSignal::Fact(advance));
        if let Some(moved) = ranked.get_mut(place..=at) {
            moved.rotate_right(1);
        }
    }
}

/// Raises the relevance of every note that ranks above the most relevant one to that relevance. The
/// rank uses more signals than the relevance, so a relevance threshold must not cut off a
/// better-ranked note. Later batches do not affect the first.
fn align_relevance_with_rank<Id>(ranked: &mut [RankedNote<Id>]) {
    let first = ranked.iter().take_while(|ranked| ranked.batch == 0);
    let most = first.map(|ranked| ranked.relevance).fold(0.0, f64::max);
    for before in ranked.iter_mut().take_while(|ranked| ranked.relevance < most) {
        before.relevance = most;
    }
}

impl RankQuery<'_> {
    /// Returns true if a note was created or last changed in the named time. A note that spans that
    /// time matches only by these two dates.
    fn is_from_named_time<Id>(&self, note: &RankCandidate<Id>) -> bool {
        let holds = |named: &TimeExpression| {
            named.range.contains(note.created) || named.range.contains(note.updated)
        };
        self.time.is_some_and(holds)
    }

    /// Returns the indices of terms that match any note, such as `notes`.
    fn generic_terms(&self) -> impl Iterator<Item = usize> {
        const ANY: [&str; 6] = ["entries", "entry", "happen", "happened", "note", "notes"];
        let is_any = |word: &String| ANY.iter().any(|any| any.eq_ignore_ascii_case(word));
        let terms = self.query.terms.iter().enumerate();
        terms.filter(move |(_, term)| term.words.iter().all(is_any)).map(|(at, _)| at)
    }

    /// Returns the indices of terms that only name the time.
    fn time_terms(&self) -> Vec<usize> {
        let Some(named) = self.time else { return Vec::new() };
        let terms = self.query.terms.iter().enumerate();
        let timely = terms.filter(|(_, term)| named.is_named_by(term));
        timely.map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests;
