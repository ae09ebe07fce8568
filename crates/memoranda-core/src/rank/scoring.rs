//! Scores of notes and passages: the features of each passage, times their weights.

use jiff::Timestamp;

use super::features::{FEATURE_COUNT, FeatureGroup, FeatureValues, RankFeature};
use super::relevance::{Corpus, RelevanceEvidence, WordEvidence, chance_similarity};
use super::term_counts::{NoteTermCounts, PassageTermCounts, WINDOW_REACH, neighbours};
use super::term_freq::{QueryTerms, TermFreqs};
use super::weights::{RankOptions, TimeWords};
use super::{CandidatePassage, RankCandidate, RankQuery, RankSignal, RankedNote, RankedPassage};
use super::{TitleMatch, question_features::PassageFeatures};
use crate::query::TermRequirement;

/// Factor on the relevance of a term that was corrected as a typo.
const CORRECTED_TERM_FACTOR: f32 = 0.5;

/// Least relevance of a note from the time that the query names, if it names little else.
const TIME_RELEVANCE: f64 = 0.6;

/// Similarity from which on the advantage of a small corpus counts fully.
const LIKELY_SIMILARITY: f32 = 0.3;

/// If at least this share of the query's IDF weight names a time, treat it as a query about that
/// time.
const MIN_TIME_SHARE: f32 = 2.0 / 3.0;

/// Shares of the passage, its neighbours and its note in the best word match, which reduces the
/// weight of embedding similarity.
const WORD_MATCH_MIX: [f32; 3] = [0.47, 0.47, 0.06];

/// BM25 parameters `k1` and `b` of [`RankFeature::ShortNote`].
const USUAL_BM25: (f32, f32) = (1.2, 0.75);

/// Candidates with their term counts, and the weights for this query.
pub(super) struct RankingContext<'r, Id> {
    asked: &'r RankQuery<'r>,
    options: &'r RankOptions,
    needs: Vec<TermRequirement>,
    /// Normalized weight of each term; the weights add up to 1.
    worth: Vec<f32>,
    /// Factor on the relevance of each term; lower for corrected typos.
    sure: Vec<f32>,
    pub(super) notes: Vec<MatchedNote<'r, Id>>,
    /// Factor on similarity that falls with the best word match.
    left_to_meaning: f32,
    /// Additional weight of the time signal, if the query names little else.
    time_alone: f64,
    /// Evidence from which the relevance is estimated.
    evidence: RelevanceEvidence,
}

/// A note with its word matches.
pub(super) struct MatchedNote<'r, Id> {
    counts: NoteTermCounts<'r, Id>,
    /// Word match of the whole note, and the same with the usual BM25 parameters.
    whole: [f32; 2],
    /// Word match of each passage, of its neighbours and of its window.
    passages: Vec<[f32; 3]>,
}

/// A scored note with its tie-breakers.
pub(super) struct ScoredNote<'r, Id> {
    pub(super) ranked: RankedNote<Id>,
    pub(super) updated: Timestamp,
    pub(super) path: &'r str,
}

/// Average numbers of words.
struct MeanLengths {
    passage: f32,
    around: f32,
    window: f32,
    note: f32,
}

impl MeanLengths {
    /// Computes the averages over the candidates of the first batch.
    fn new<Id>(notes: &[NoteTermCounts<'_, Id>]) -> Self {
        let mean = |words: &mut dyn Iterator<Item = f32>| {
            let (sum, count) = words.fold((0.0, 0.0), |(sum, count), w| (sum + w, count + 1.0));
            f32::max(sum / f32::max(count, 1.0), 1.0)
        };
        let first = || notes.iter().filter(|note| note.candidate.batch == 0);
        let all = || first().flat_map(|note| &note.passages);
        Self {
            passage: mean(&mut all().map(|passage| passage.own.words)),
            around: mean(&mut all().map(|passage| passage.around.words)),
            window: mean(&mut all().map(|passage| passage.window.words)),
            note: mean(&mut first().map(|note| note.whole.words)),
        }
    }
}

impl<'r, Id: Copy> RankingContext<'r, Id> {
    pub(super) fn new(
        candidates: impl IntoIterator<Item = &'r RankCandidate<Id>>,
        asked: &'r RankQuery<'r>,
        sought: &QueryTerms,
        options: &'r RankOptions,
    ) -> Self {
        let candidates: Vec<_> = candidates.into_iter().collect();
        let needs: Vec<_> = sought.needs().collect();
        let mut worth = term_worth(asked, sought, options);
        let mut timely = if options.uses_time() { asked.time_terms() } else { Vec::new() };
        let any: f32 = asked.generic_terms().filter_map(|term| worth.get(term)).sum();
        let said: f32 = timely.iter().filter_map(|&term| worth.get(term)).sum();
        let said = said / (1.0 - any).max(f32::MIN_POSITIVE);
        let mut time_alone = 0.0;
        if said >= MIN_TIME_SHARE {
            time_alone = options.time_alone * f64::from(said).powi(2);
        } else {
            let mut first = candidates.iter().filter(|note| note.batch == 0);
            if options.time_words == TimeWords::Ignored
                && first.any(|note| asked.is_from_named_time(note))
            {
                for term in &timely {
                    worth.get_mut(*term).into_iter().for_each(|worth| *worth = 0.0);
                }
                normalize(&mut worth);
            }
            timely.clear();
        }
        let count = |candidate: &'r RankCandidate<Id>| {
            let is_then = !timely.is_empty() && asked.is_from_named_time(candidate);
            NoteTermCounts::new(candidate, sought, if is_then { &timely } else { &[] })
        };
        let first = candidates.iter().filter(|note| note.batch == 0);
        let has_meaning =
            first.flat_map(|note| &note.passages).any(|passage| passage.similarity != 0.0);
        let evidence =
            if has_meaning { RelevanceEvidence::WordsAndMeaning } else { RelevanceEvidence::Words };
        let counts: Vec<_> = candidates.into_iter().map(count).collect();
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
            left_to_meaning: 0.0,
            time_alone,
            evidence,
        };
        let means = MeanLengths::new(&counts);
        ranking.notes =
            counts.into_iter().map(|counts| ranking.match_words(counts, &means)).collect();
        let left = (1.0 - ranking.best_word_match()).max(0.0);
        ranking.left_to_meaning = left.powf(options.word_match_decay as f32);
        ranking
    }

    fn match_words(
        &self,
        counts: NoteTermCounts<'r, Id>,
        means: &MeanLengths,
    ) -> MatchedNote<'r, Id> {
        let usual = (self.options.bm25_k1 as f32, self.options.bm25_b as f32);
        let share = |counts: &TermFreqs, mean: f32| self.bm25_share(counts, mean, usual);
        let of_passage = |passage: &PassageTermCounts| {
            [
                share(&passage.own, means.passage),
                share(&passage.around, means.around),
                share(&passage.window, means.window),
            ]
        };
        let whole = [
            share(&counts.whole, means.note),
            self.bm25_share(&counts.whole, means.note, USUAL_BM25),
        ];
        let passages = counts.passages.iter().map(of_passage).collect();
        MatchedNote { counts, whole, passages }
    }

    /// Returns the best word match among the candidates of the first batch, 0 to 1.
    fn best_word_match(&self) -> f32 {
        let [passage, around, whole] = WORD_MATCH_MIX;
        let of_note = |note: &MatchedNote<'r, Id>| {
            let best = note.passages.iter().map(|m| passage * m[0] + around * m[1]);
            best.fold(0.0, f32::max) + whole * note.whole[0]
        };
        let first = self.notes.iter().filter(|note| note.counts.candidate.batch == 0);
        first.map(of_note).fold(0.0, f32::max)
    }

    pub(super) fn note(&self, note: &MatchedNote<'r, Id>) -> Option<ScoredNote<'r, Id>> {
        let (candidate, options) = (note.counts.candidate, self.options);
        if !self.meets_requirements(&note.counts.whole) {
            return None;
        }
        let values = self.feature_values(note);
        let all = candidate.passages.iter().zip(&note.counts.passages).zip(values);
        let notes = Corpus::Notes(self.asked.passage_count);
        let corpus = candidate.corpus_passages.map_or(notes, Corpus::Facts);
        let all =
            all.map(|((passage, counts), values)| self.passage(passage, counts, values, corpus));
        let mut passages: Vec<_> = all.collect();
        if self.time_alone > 0.0 && self.asked.is_from_named_time(candidate) {
            let raise = |passage: &mut RankedPassage| {
                passage.relevance = passage.relevance.max(TIME_RELEVANCE);
            };
            passages.iter_mut().for_each(raise);
        }
        passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        let best = *passages.first()?;
        let mut why = Vec::with_capacity(9);
        match candidate.title_match {
            TitleMatch::Exact => {
                why.push(RankSignal::ExactTitle(options.max_score_without_title()))
            }
            TitleMatch::AllWords => why.push(RankSignal::TitleWords(options.title)),
            TitleMatch::None => {}
        }
        why.extend(best.why(options));
        let time = options.features.sum(&best.features, FeatureGroup::Time);
        if time > 0.0 {
            why.push(RankSignal::Time(time + self.time_alone));
        }
        let importance = candidate.importance.filter(|i| i.is_finite()).unwrap_or(0.0);
        why.push(RankSignal::Importance(importance.clamp(0.0, 1.0) * options.importance));
        why.push(RankSignal::Recency(recency(candidate.updated, self.asked.now, options)));
        why.retain(|signal| signal.amount() != 0.0);
        // An exact title, or a query of tags only, is an answer regardless of the text.
        let is_sure = candidate.title_match == TitleMatch::Exact || self.asked.query.is_empty();
        // The best passage may be a neighbour of the passage with the words of the query.
        let most = passages.iter().map(|passage| passage.relevance).fold(0.0, f64::max);
        let relevance = if is_sure { 1.0 } else { most };
        if is_sure {
            passages.iter_mut().for_each(|passage| passage.relevance = 1.0);
        }
        let ranked = RankedNote {
            note: candidate.note,
            batch: candidate.batch,
            score: why.iter().map(|signal| signal.amount()).sum(),
            relevance,
            has_typed_word: passages.iter().any(|passage| passage.has_typed_word),
            is_fact: candidate.corpus_passages.is_some(),
            similarity: passages.iter().map(|passage| passage.similarity).fold(0.0, f64::max),
            passages,
            why,
        };
        Some(ScoredNote { ranked, updated: candidate.updated, path: &candidate.path })
    }

    /// Computes the features of all passages of a note.
    fn feature_values(&self, note: &MatchedNote<'r, Id>) -> Vec<FeatureValues> {
        let candidate = note.counts.candidate;
        let passages = &candidate.passages;
        // In a corpus of its own a note competes with fewer passages that are near by chance.
        let all = self.asked.passage_count;
        let chance = chance_similarity(all, candidate.corpus_passages.unwrap_or(all));
        // A negative similarity counts as no similarity.
        let similarity = |at: usize| {
            let similarity = passages.get(at).map_or(0.0, |p| p.similarity.max(0.0));
            similarity + chance * (similarity / LIKELY_SIMILARITY).min(1.0)
        };
        let words = |at: usize| note.counts.passages.get(at).map_or(0.0, |p| p.own.words);
        let half = self.options.short_passage_half as f32;
        let scale = self.options.short_passage_scale() as f32;
        let trusted = |at: usize| similarity(at) * words(at) / (words(at) + half).max(1.0) * scale;
        let mean_similarity = |places: &mut dyn Iterator<Item = usize>| {
            let (sum, length) = places.fold((0.0, 0.0), |(sum, length), at| {
                (sum + words(at) * similarity(at), length + words(at))
            });
            sum / f32::max(length, 1.0)
        };
        let matched = |at: usize| note.passages.get(at).copied().unwrap_or_default();
        let sign = |is_so: bool| f32::from(u8::from(is_so));
        let count = note.passages.len();
        let best_passage = (0..count).map(|at| matched(at)[0]).fold(0.0, f32::max);
        let best_meaning = (0..count).map(trusted).fold(0.0, f32::max);
        let note_meaning = mean_similarity(&mut (0..count));
        let time = sign(self.asked.is_from_named_time(candidate));
        let of_passage = |at: usize| {
            let question = neighbours(passages, at, 1).find(|&before| {
                let before = passages.get(before).filter(|_| before < at);
                before.is_some_and(|p| p.tokens.signs.has(PassageFeatures::QUESTION))
            });
            let window = mean_similarity(
                &mut neighbours(passages, at, WINDOW_REACH).chain(std::iter::once(at)),
            );
            let [own, around, wide] = matched(at);
            let fit = note.counts.passages.get(at).map(|p| p.own.fit).unwrap_or_default();
            let mut values = [0.0; FEATURE_COUNT];
            let mut set = |feature: RankFeature, value: f32| values[feature as usize] = value;
            set(RankFeature::Passage, own);
            set(RankFeature::Neighbours, around);
            set(RankFeature::Window, wide);
            set(RankFeature::Note, note.whole[0]);
            set(RankFeature::ShortNote, note.whole[1]);
            set(RankFeature::BestPassage, best_passage);
            set(RankFeature::Meaning, trusted(at));
            set(RankFeature::MeaningWithoutWords, trusted(at) * self.left_to_meaning);
            set(RankFeature::WindowMeaning, window);
            set(RankFeature::WindowMeaningWithoutWords, window * self.left_to_meaning);
            set(RankFeature::NoteMeaning, note_meaning);
            set(RankFeature::BestMeaning, best_meaning);
            set(RankFeature::First, sign(at == 0));
            set(RankFeature::Reply, question.map_or(0.0, |at| matched(at)[0]));
            set(RankFeature::Speaker, sign(fit.is_by_asked_speaker()));
            set(RankFeature::Number, sign(fit.has_number));
            set(RankFeature::SaysWhen, sign(fit.has_time));
            set(RankFeature::Time, time);
            values
        };
        (0..count).map(of_passage).collect()
    }

    fn passage(
        &self,
        passage: &CandidatePassage,
        counts: &PassageTermCounts,
        features: FeatureValues,
        corpus: Corpus,
    ) -> RankedPassage {
        let words = self.word_evidence(&counts.own);
        let relevance_values = RelevanceEvidence::values(&words, passage.similarity, corpus);
        let mut ranked = RankedPassage {
            id: passage.id,
            score: 0.0,
            relevance: self.evidence.relevance(&relevance_values, corpus),
            has_typed_word: words.exact > 0,
            similarity: f64::from(passage.similarity),
            features,
            relevance_values,
        };
        ranked.score = ranked.why(self.options).iter().map(|signal| signal.amount()).sum();
        ranked
    }

    /// Returns which part of the query a text contains.
    fn word_evidence(&self, counts: &TermFreqs) -> WordEvidence {
        // One term of a group of alternatives covers the whole group.
        let groups = self.matched_groups(counts);
        let mut evidence = WordEvidence::default();
        let terms = counts.terms.iter().zip(&self.asked.query.terms);
        for (at, ((&count, term), (&worth, &sure))) in
            terms.zip(self.worth.iter().zip(&self.sure)).enumerate()
        {
            // Excluded terms and those that name the time of the note are no evidence.
            if worth <= 0.0 {
                continue;
            }
            evidence.terms += 1;
            if count <= 0.0 && term.groups & groups == 0 {
                continue;
            }
            evidence.found += 1;
            // A longer word that only begins with the term is no more certain than a corrected one.
            let is_beginning = count > 0.0 && count < 1.0;
            if !is_beginning && !self.asked.corrected_terms.contains(&at) {
                evidence.exact += 1;
            }
            evidence.covered +=
                worth * sure * if is_beginning { CORRECTED_TERM_FACTOR } else { 1.0 };
        }
        evidence
    }

    /// Computes BM25 as a share of its maximum, 0 to 1.
    fn bm25_share(&self, counts: &TermFreqs, mean: f32, (k1, b): (f32, f32)) -> f32 {
        let damping = k1 * (1.0 - b + b * counts.words / mean);
        let terms = counts.terms.iter().zip(&self.worth);
        terms.map(|(&tf, worth)| worth * tf / (tf + damping)).sum()
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

/// Returns the normalized weight of each term.
fn term_worth(asked: &RankQuery<'_>, sought: &QueryTerms, options: &RankOptions) -> Vec<f32> {
    let terms = sought.needs().zip(sought.weights()).enumerate();
    let worth = terms.map(|(i, (need, weight))| match need {
        TermRequirement::Excluded => 0.0,
        TermRequirement::Required | TermRequirement::Optional => {
            let holders = asked.doc_freqs.get(i).copied().unwrap_or(0);
            inverse_doc_freq(holders, asked.passage_count) * weight.powf(options.word_weight as f32)
        }
    });
    let mut worth: Vec<f32> = worth.collect();
    normalize(&mut worth);
    worth
}

/// Divides numbers by their sum.
fn normalize(numbers: &mut [f32]) {
    let sum: f32 = numbers.iter().sum();
    numbers.iter_mut().for_each(|number| *number /= sum.max(f32::MIN_POSITIVE));
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
