//! Ranking of candidate notes. The index finds candidates by words and by embeddings; this module
//! scores them in full.
//!
//! BM25 is computed over three texts (the passage, its neighbourhood, the whole note), because an
//! answer often stands next to the words of the question. Embedding similarity fills the gap: its
//! weight falls with the quality of the best word match and is lower for short passages, whose
//! embeddings are unreliable. All other signals only break near-ties. `docs/search.md` lists the
//! measured contribution of each signal.

mod question_features;
mod term_freq;
mod title;
mod tokens;
mod weights;

use std::hash::Hash;
use std::sync::Arc;

use jiff::Timestamp;

pub use question_features::without_speaker_names;
pub use term_freq::{QueryTerms, TermFreqs};
pub use title::{TitleMatch, TitleQuery};
pub use tokens::PassageTokens;
pub use weights::RankOptions;

use crate::passage::PassageStart;
use crate::query::{Query, TermRequirement, TimeExpression};

/// Factor on the relevance of a term that was corrected as a typo.
const CORRECTED_TERM_FACTOR: f32 = 0.5;

/// If at least this share of the query's IDF weight names a time, treat it as a query about that
/// time.
const MIN_TIME_SHARE: f32 = 2.0 / 3.0;
/// Term frequency credited to each passage of a note from that time.
const TIME_TERM_FREQ: f32 = 4.0;

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
    /// Embedding similarity to the query, 0 to 1.
    pub similarity: f64,
    words: f64,
    context: f64,
    meaning: f64,
    speaker: f64,
    kind: f64,
}

impl RankedPassage {
    fn why(&self) -> [RankSignal; 5] {
        [
            RankSignal::Words(self.words),
            RankSignal::Context(self.context),
            RankSignal::Meaning(self.meaning),
            RankSignal::Speaker(self.speaker),
            RankSignal::Kind(self.kind),
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
    /// The note is from the time that the query names.
    Time(f64),
    /// The note has a stated importance.
    Importance(f64),
    /// The note changed recently.
    Recency(f64),
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
            | Self::Time(amount)
            | Self::Importance(amount)
            | Self::Recency(amount) => amount,
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
            Self::Time(_) => "time",
            Self::Importance(_) => "importance",
            Self::Recency(_) => "recency",
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
    align_relevance_with_rank(&mut ranked);
    ranked
}

/// Sorts the passages of ranked notes individually, best first. Signals of a note count for each of
/// its passages.
pub fn rank_passages<Id: Copy>(notes: &[RankedNote<Id>]) -> Vec<RankedNote<Id>> {
    let of_note = |note: &RankedNote<Id>, passage: &RankedPassage| {
        let (mut why, behind): (Vec<RankSignal>, Vec<RankSignal>) =
            note.why.iter().filter(|signal| signal.is_note_signal()).partition(|signal| {
                matches!(signal, RankSignal::ExactTitle(_) | RankSignal::TitleWords(_))
            });
        why.extend(passage.why().into_iter().filter(|signal| signal.amount() != 0.0));
        why.extend(behind);
        RankedNote {
            note: note.note,
            batch: note.batch,
            score: why.iter().map(|signal| signal.amount()).sum(),
            relevance: passage.relevance,
            similarity: passage.similarity,
            passages: vec![*passage],
            why,
        }
    };
    let all = notes.iter().flat_map(|note| note.passages.iter().map(move |p| of_note(note, p)));
    let mut passages: Vec<_> = all.collect();
    passages.sort_by(|a, b| a.batch.cmp(&b.batch).then(b.score.total_cmp(&a.score)));
    align_relevance_with_rank(&mut passages);
    passages
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

/// Candidates with their term counts, and the weights for this query.
struct RankingContext<'r, Id> {
    asked: &'r RankQuery<'r>,
    options: &'r RankOptions,
    needs: Vec<TermRequirement>,
    /// Normalized weight of each term; the weights add up to 1.
    worth: Vec<f32>,
    /// Factor on the relevance of each term; lower for corrected typos.
    sure: Vec<f32>,
    notes: Vec<NoteTermCounts<'r, Id>>,
    /// Average number of words of a passage, a neighbourhood and a note.
    means: [f32; 3],
    /// Weight of embedding similarity, reduced by the quality of the best word match.
    meaning: f64,
    /// Weight of the time signal, raised by the time's share of the query.
    time: f64,
}

/// Term counts of a note.
struct NoteTermCounts<'r, Id> {
    candidate: &'r RankCandidate<Id>,
    whole: TermFreqs,
    passages: Vec<PassageTermCounts>,
    /// BM25 of the whole note, 0 to 1.
    matched: f64,
}

/// Term counts of a passage.
struct PassageTermCounts {
    own: TermFreqs,
    /// Counts of the passage and its direct neighbours.
    around: TermFreqs,
    /// BM25 of the passage and of its neighbourhood, 0 to 1.
    matched: [f64; 2],
}

/// A scored note with its tie-breakers.
struct ScoredNote<'r, Id> {
    ranked: RankedNote<Id>,
    updated: Timestamp,
    path: &'r str,
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

impl<'r, Id: Copy> RankingContext<'r, Id> {
    fn new(
        candidates: impl IntoIterator<Item = &'r RankCandidate<Id>>,
        asked: &'r RankQuery<'r>,
        sought: &QueryTerms,
        options: &'r RankOptions,
    ) -> Self {
        let needs: Vec<_> = sought.needs().collect();
        let mut worth: Vec<f32> = needs
            .iter()
            .zip(sought.weights())
            .enumerate()
            .map(|(i, (need, weight))| match need {
                TermRequirement::Excluded => 0.0,
                TermRequirement::Required | TermRequirement::Optional => {
                    let holders = asked.doc_freqs.get(i).copied().unwrap_or(0);
                    inverse_doc_freq(holders, asked.passage_count)
                        * weight.powf(options.word_weight as f32)
                }
            })
            .collect();
        let sum: f32 = worth.iter().sum();
        worth.iter_mut().for_each(|worth| *worth /= sum.max(f32::MIN_POSITIVE));
        let mut timely = if options.time > 0.0 { asked.time_terms() } else { Vec::new() };
        let any: f32 = asked.generic_terms().filter_map(|term| worth.get(term)).sum();
        let said: f32 = timely.iter().filter_map(|&term| worth.get(term)).sum();
        let said = said / (1.0 - any).max(f32::MIN_POSITIVE);
        let mut time = options.time;
        if said < MIN_TIME_SHARE {
            timely.clear();
        } else {
            time += options.time_alone * f64::from(said).powi(2);
        }
        let count = |candidate: &'r RankCandidate<Id>| {
            let is_then = !timely.is_empty() && asked.is_from_named_time(candidate);
            NoteTermCounts::new(candidate, sought, if is_then { &timely } else { &[] })
        };
        let mut notes: Vec<_> = candidates.into_iter().map(count).collect();
        let mean = |words: &mut dyn Iterator<Item = f32>| {
            let (sum, count) = words.fold((0.0, 0.0), |(sum, count), w| (sum + w, count + 1.0));
            f32::max(sum / f32::max(count, 1.0), 1.0)
        };
        let first = || notes.iter().filter(|note| note.candidate.batch == 0);
        let all = || first().flat_map(|note| &note.passages);
        let means = [
            mean(&mut all().map(|passage| passage.own.words)),
            mean(&mut all().map(|passage| passage.around.words)),
            mean(&mut first().map(|note| note.whole.words)),
        ];
        let is_guess = |term| asked.corrected_terms.contains(&term);
        let sure = (0..needs.len())
            .map(|term| if is_guess(term) { CORRECTED_TERM_FACTOR } else { 1.0 })
            .collect();
        let mut ranking = Self {
            asked,
            options,
            needs,
            worth,
            sure,
            notes: Vec::new(),
            means,
            meaning: 0.0,
            time,
        };
        for note in &mut notes {
            note.matched = ranking.bm25_share(&note.whole, 2);
            for passage in &mut note.passages {
                passage.matched =
                    [ranking.bm25_share(&passage.own, 0), ranking.bm25_share(&passage.around, 1)];
            }
        }
        ranking.notes = notes;
        let left = (1.0 - ranking.best_word_match()).max(0.0);
        ranking.meaning = options.meaning * left.powf(options.word_match_decay);
        ranking
    }

    /// Returns the best word match among the candidates of the first batch, 0 to 1.
    fn best_word_match(&self) -> f64 {
        let options = self.options;
        let of_note = |note: &NoteTermCounts<'r, Id>| {
            let whole = options.note * note.matched;
            let of_passages = note.passages.iter().map(|PassageTermCounts { matched, .. }| {
                options.passage * matched[0] + options.neighbours * matched[1] + whole
            });
            of_passages.fold(0.0, f64::max)
        };
        let most = options.passage + options.neighbours + options.note;
        let first = self.notes.iter().filter(|note| note.candidate.batch == 0);
        first.map(of_note).fold(0.0, f64::max) / most.max(f64::MIN_POSITIVE)
    }

    fn note(&self, note: &NoteTermCounts<'r, Id>) -> Option<ScoredNote<'r, Id>> {
        if !self.meets_requirements(&note.whole) {
            return None;
        }
        let all = note.candidate.passages.iter().zip(&note.passages);
        let all = all.map(|(passage, counted)| self.passage(passage, counted, note.matched));
        let mut passages: Vec<_> = all.collect();
        passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        let best = *passages.first()?;
        let (candidate, options) = (note.candidate, self.options);
        let mut why = Vec::with_capacity(9);
        match candidate.title_match {
            TitleMatch::Exact => {
                why.push(RankSignal::ExactTitle(options.max_score_without_title()))
            }
            TitleMatch::AllWords => why.push(RankSignal::TitleWords(options.title)),
            TitleMatch::None => {}
        }
        why.extend(best.why());
        if self.asked.is_from_named_time(candidate) {
            why.push(RankSignal::Time(self.time));
        }
        let importance = candidate.importance.filter(|i| i.is_finite()).unwrap_or(0.0);
        why.push(RankSignal::Importance(importance.clamp(0.0, 1.0) * options.importance));
        why.push(RankSignal::Recency(recency(candidate.updated, self.asked.now, options)));
        why.retain(|signal| signal.amount() != 0.0);
        // An exact title, or a query of tags only, is an answer regardless of the text.
        let is_sure = candidate.title_match == TitleMatch::Exact || self.asked.query.is_empty();
        let relevance = if is_sure { 1.0 } else { best.relevance };
        if is_sure {
            passages.iter_mut().for_each(|passage| passage.relevance = 1.0);
        }
        let ranked = RankedNote {
            note: candidate.note,
            batch: candidate.batch,
            score: why.iter().map(|signal| signal.amount()).sum(),
            relevance,
            similarity: passages.iter().map(|passage| passage.similarity).fold(0.0, f64::max),
            passages,
            why,
        };
        Some(ScoredNote { ranked, updated: candidate.updated, path: &candidate.path })
    }

    fn passage(
        &self,
        passage: &CandidatePassage,
        PassageTermCounts { own, matched, .. }: &PassageTermCounts,
        whole: f64,
    ) -> RankedPassage {
        let options = self.options;
        let words = options.passage * matched[0];
        let context = options.neighbours * matched[1] + options.note * whole;
        let similarity = f64::from(passage.similarity);
        let length = f64::from(own.words);
        let trust = length / (length + options.short_passage_half);
        // A negative similarity counts as no similarity.
        let meaning = self.meaning * similarity.max(0.0) * trust * options.short_passage_scale();
        let worth = self.worth.iter().zip(&self.sure).map(|(worth, sure)| worth * sure);
        // One term of a group of alternatives covers the whole group.
        let groups = self.matched_groups(own);
        let terms = own.terms.iter().zip(&self.asked.query.terms).zip(worth);
        let held = terms.filter(|((count, term), _)| **count > 0.0 || term.groups & groups != 0);
        let covered: f32 = held.map(|(_, worth)| worth).sum();
        let counted = |is_so: bool, amount: f64| if is_so { amount } else { 0.0 };
        let speaker = counted(own.fit.is_by_asked_speaker(), options.speaker);
        let kind = counted(own.fit.has_number, options.number)
            + counted(own.fit.has_time, options.has_time);
        RankedPassage {
            id: passage.id,
            score: words + context + meaning + speaker + kind,
            relevance: weights::relevance(f64::from(covered), similarity),
            similarity,
            words,
            context,
            meaning,
            speaker,
            kind,
        }
    }

    /// Computes BM25 as a share of its maximum, 0 to 1.
    fn bm25_share(&self, counts: &TermFreqs, level: usize) -> f64 {
        let mean = self.means.get(level).copied().unwrap_or(1.0);
        let (k1, b) = (self.options.bm25_k1 as f32, self.options.bm25_b as f32);
        let damping = k1 * (1.0 - b + b * counts.words / mean);
        let terms = counts.terms.iter().zip(&self.worth);
        let sum: f32 = terms.map(|(&tf, worth)| worth * tf / (tf + damping)).sum();
        f64::from(sum)
    }

    /// Returns the groups of alternatives with a term in the text, as bits.
    fn matched_groups(&self, counts: &TermFreqs) -> u32 {
        let terms = self.asked.query.terms.iter().zip(&counts.terms);
        terms.filter(|(_, count)| **count > 0.0).fold(0, |all, (term, _)| all | term.groups)
    }

    /// Returns true if a note contains all required terms and no excluded term.
    fn meets_requirements(&self, counts: &TermFreqs) -> bool {
        let fits = self.needs.iter().zip(&counts.terms).all(|(need, &count)| match need {
            TermRequirement::Required => count > 0.0,
            TermRequirement::Excluded => count == 0.0,
            TermRequirement::Optional => true,
        });
        let groups = self.asked.query.terms.iter().fold(0, |all, term| all | term.groups);
        fits && self.matched_groups(counts) == groups
    }
}

impl<'r, Id> NoteTermCounts<'r, Id> {
    /// Counts the query's terms in a note. Terms that name a time count in every passage of a note
    /// from that time.
    fn new(candidate: &'r RankCandidate<Id>, sought: &QueryTerms, timely: &[usize]) -> Self {
        let name = sought.count(&candidate.name);
        let mut whole = TermFreqs::default();
        let own: Vec<_> = candidate
            .passages
            .iter()
            .enumerate()
            .map(|(i, passage)| {
                let mut counts = sought.count_passage(passage);
                if i == 0 {
                    counts.add(&name);
                }
                let next = candidate.passages.get(i + 1).filter(|next| {
                    next.start == PassageStart::ContinuesBlock && next.id.abs_diff(passage.id) == 1
                });
                if let Some(next) = next {
                    sought.count_across(&passage.tokens, &next.tokens, &mut counts);
                }
                for &term in timely {
                    if let Some(count) = counts.terms.get_mut(term) {
                        *count = count.max(TIME_TERM_FREQ);
                    }
                }
                whole.add(&counts);
                counts
            })
            .collect();
        let is_beside = |a: usize, b: usize| {
            let id = |at: usize| candidate.passages.get(at).map(|passage| passage.id);
            matches!((id(a), id(b)), (Some(a), Some(b)) if a.abs_diff(b) == 1)
        };
        let around = own.iter().enumerate().map(|(i, counts)| {
            let mut around = counts.clone();
            let sides = [i.checked_sub(1), Some(i + 1)];
            for side in sides.into_iter().flatten().filter(|&side| is_beside(i, side)) {
                if let Some(neighbour) = own.get(side) {
                    around.add(neighbour);
                }
            }
            around
        });
        let around: Vec<_> = around.collect();
        let passages = own.into_iter().zip(around);
        let passages =
            passages.map(|(own, around)| PassageTermCounts { own, around, matched: [0.0; 2] });
        Self { candidate, whole, passages: passages.collect(), matched: 0.0 }
    }
}

/// Computes the inverse document frequency of a term.
fn inverse_doc_freq(holders: u64, passages: u64) -> f32 {
    let (holders, passages) = (holders.min(passages) as f32, passages as f32);
    (1.0 + (passages - holders + 0.5) / (holders + 0.5)).ln()
}

fn recency(updated: Timestamp, now: Timestamp, options: &RankOptions) -> f64 {
    let seconds = now.as_second().saturating_sub(updated.as_second()).max(0);
    let half_lives = seconds as f64 / 86_400.0 / options.recency_half_life_days.max(0.001);
    options.recency * 0.5f64.powf(half_lives)
}

#[cfg(test)]
mod tests;
