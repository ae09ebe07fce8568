//! Weights of the ranking features. `cargo xtask bench retrieval --fit` learned the table, except
//! the weight of replies; `docs/search.md` lists the texts, and the results on other texts.

use super::features::{FEATURE_COUNT, FeatureWeights, RankFeature};

/// Weight of each feature when passages are compared, and when whole notes are.
const TABLE: [(RankFeature, f64, f64); FEATURE_COUNT] = [
    (RankFeature::Passage, 0.1, 0.27),
    (RankFeature::Neighbours, 0.9, 0.71),
    (RankFeature::Window, 0.17, 0.08),
    (RankFeature::Note, 0.7, 0.92),
    (RankFeature::ShortNote, 0.07, 0.16),
    (RankFeature::BestPassage, 0.21, 0.21),
    (RankFeature::Meaning, 0.74, 0.77),
    (RankFeature::MeaningWithoutWords, 1.34, 0.87),
    (RankFeature::WindowMeaning, 0.15, 0.22),
    (RankFeature::WindowMeaningWithoutWords, 0.13, 0.16),
    (RankFeature::NoteMeaning, 0.32, 0.38),
    (RankFeature::BestMeaning, 0.14, 0.26),
    (RankFeature::First, 0.2, 0.1),
    (RankFeature::Reply, 0.15, 0.0),
    (RankFeature::Speaker, 0.22, 0.06),
    (RankFeature::Number, 0.2, 0.06),
    (RankFeature::SaysWhen, 0.36, 0.19),
    (RankFeature::Time, 0.37, 0.25),
];

/// Weights of the ranking signals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankOptions {
    /// Weights of the features of passages.
    pub features: FeatureWeights,
    /// Weights that replace `features` when whole notes are compared.
    pub note_features: FeatureWeights,
    /// BM25 `k1`: term-frequency saturation.
    pub bm25_k1: f64,
    /// BM25 `b`: length normalization.
    pub bm25_b: f64,
    /// Exponent of the word's own weight in addition to its IDF: 0 ignores it, 1 applies it fully.
    pub word_weight: f64,
    /// Exponent of the reduction of similarity by the best word match: `(1 -
    /// best_match)^word_match_decay`.
    pub word_match_decay: f64,
    /// Number of words of a passage at which embedding similarity counts half.
    pub short_passage_half: f64,
    /// Treatment of the words of a named time in word matches.
    pub time_words: TimeWords,
    /// Additional weight of the time if the query names little else; scaled by the square of the
    /// time's share.
    pub time_alone: f64,
    /// Weight of a title that contains all words of the query.
    pub title: f64,
    /// Weight of an importance of 1.
    pub importance: f64,
    /// Weight of a change at the time of the search.
    pub recency: f64,
    /// Number of days after which `recency` counts half.
    pub recency_half_life_days: f64,
}

/// Treatment of the words of a time that the query names, such as "last week", if a candidate is
/// from that time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeWords {
    /// The words are matched like others.
    Matched,
    /// The words are ignored, and only the note's time counts.
    Ignored,
}

/// Number of words at which embedding similarity counts unchanged.
const USUAL_PASSAGE_WORDS: f64 = 25.0;

impl RankOptions {
    /// Default weights of a search.
    pub const STANDARD: Self = {
        let (features, note_features) = columns(&TABLE);
        Self {
            features,
            note_features,
            bm25_k1: 0.9,
            bm25_b: 0.4,
            word_weight: 1.0,
            word_match_decay: 2.0,
            short_passage_half: 4.0,
            time_words: TimeWords::Ignored,
            time_alone: 2.0,
            title: 0.3,
            importance: 0.05,
            recency: 0.02,
            recency_half_life_days: 30.0,
        }
    };

    /// Weights for searching by words only.
    pub const WORDS: Self = Self {
        features: Self::STANDARD.features.without_meaning(),
        note_features: Self::STANDARD.note_features.without_meaning(),
        ..Self::STANDARD
    };

    /// Weights for searching by embedding similarity.
    pub const MEANING: Self = Self {
        features: Self::STANDARD.features.without_words(),
        note_features: Self::STANDARD.note_features.without_words(),
        title: 0.0,
        ..Self::STANDARD
    };

    /// Returns the weights for comparing whole notes.
    pub fn of_notes(&self) -> Self {
        Self { features: self.note_features, ..*self }
    }

    /// Returns true if embeddings are compared.
    pub fn uses_meaning(&self) -> bool {
        self.features.has_meaning() || self.note_features.has_meaning()
    }

    /// Returns true if a time in the query is looked for.
    pub fn uses_time(&self) -> bool {
        [self.features, self.note_features]
            .iter()
            .any(|weights| weights.get(RankFeature::Time) > 0.0)
    }

    /// Returns an upper bound of the score of a note without an exact title match.
    pub(super) fn max_score_without_title(&self) -> f64 {
        self.features.max_sum() * self.short_passage_scale()
            + self.time_alone
            + self.title
            + self.importance
            + self.recency
    }

    pub(super) fn short_passage_scale(&self) -> f64 {
        1.0 + self.short_passage_half / USUAL_PASSAGE_WORDS
    }
}

/// Returns the weights of a table for passages and for notes.
const fn columns(
    table: &[(RankFeature, f64, f64); FEATURE_COUNT],
) -> (FeatureWeights, FeatureWeights) {
    let (mut passages, mut notes) = (FeatureWeights::ZERO, FeatureWeights::ZERO);
    let mut at = 0;
    while at < FEATURE_COUNT {
        let (feature, of_passages, of_notes) = table[at];
        passages = passages.with(feature, of_passages);
        notes = notes.with(feature, of_notes);
        at += 1;
    }
    (passages, notes)
}

impl Default for RankOptions {
    fn default() -> Self {
        Self::STANDARD
    }
}
