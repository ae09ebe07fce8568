//! Weights of the ranking signals, tuned on development data (`docs/search.md`).

/// Weights of the ranking signals. A perfect word match scores `passage` + `neighbours` + `note`;
/// an identical embedding scores `meaning` if no word matches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankOptions {
    /// Weight of the word match in the passage.
    pub passage: f64,
    /// Weight of the word match in the passage and its neighbours.
    pub neighbours: f64,
    /// Weight of the word match in the whole note.
    pub note: f64,
    /// BM25 `k1`: term-frequency saturation.
    pub bm25_k1: f64,
    /// BM25 `b`: length normalization.
    pub bm25_b: f64,
    /// Exponent of the word's own weight in addition to its IDF: 0 ignores it, 1 applies it fully.
    pub word_weight: f64,
    /// Weight of embedding similarity if no word matches.
    pub meaning: f64,
    /// Factor on `meaning` when whole notes are compared: a note has a topic, while a passage
    /// answers in words.
    pub meaning_of_notes: f64,
    /// Exponent that reduces `meaning` by the best word match: `meaning * (1 -
    /// best_match)^word_match_decay`.
    pub word_match_decay: f64,
    /// Number of words of a passage at which embedding similarity counts half.
    pub short_passage_half: f64,
    /// Weight if the person in question is the speaker: both query and passage use "I", or the
    /// query names the speaker.
    pub speaker: f64,
    /// Weight if the query asks for a number and the passage contains one.
    pub number: f64,
    /// Weight if the query asks for a time and the passage contains one.
    pub has_time: f64,
    /// Weight if the note is from the time that the query names.
    pub time: f64,
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

/// Number of words at which embedding similarity counts unchanged.
const USUAL_PASSAGE_WORDS: f64 = 25.0;

impl RankOptions {
    /// Default weights of a search.
    pub const STANDARD: Self = Self {
        passage: 0.47,
        neighbours: 0.47,
        note: 0.06,
        bm25_k1: 0.9,
        bm25_b: 0.4,
        word_weight: 1.0,
        meaning: 3.5,
        meaning_of_notes: 1.75,
        word_match_decay: 2.0,
        short_passage_half: 4.0,
        speaker: 0.12,
        number: 0.06,
        has_time: 0.1,
        time: 0.1,
        time_alone: 2.0,
        title: 0.3,
        importance: 0.05,
        recency: 0.02,
        recency_half_life_days: 30.0,
    };

    /// Weights for searching by words only.
    pub const WORDS: Self = Self { meaning: 0.0, ..Self::STANDARD };

    /// Weights for searching by embedding similarity.
    pub const MEANING: Self =
        Self { passage: 0.0, neighbours: 0.0, note: 0.0, title: 0.0, ..Self::STANDARD };

    /// Returns the weights for comparing whole notes.
    pub fn of_notes(&self) -> Self {
        Self { meaning: self.meaning * self.meaning_of_notes, ..*self }
    }

    /// Returns an upper bound of the score of a note without an exact title match.
    pub(super) fn max_score_without_title(&self) -> f64 {
        self.passage
            + self.neighbours
            + self.note
            + self.meaning * self.short_passage_scale()
            + self.speaker
            + self.number
            + self.has_time
            + self.time
            + self.time_alone
            + self.title
            + self.importance
            + self.recency
    }

    pub(super) fn short_passage_scale(&self) -> f64 {
        1.0 + self.short_passage_half / USUAL_PASSAGE_WORDS
    }
}

/// Estimates the probability that a passage answers a query from the covered share of term weight
/// and from embedding similarity. Logistic regression, fitted on questions about matching and other
/// conversations (`docs/search.md`).
pub(super) fn relevance(covered: f64, similarity: f64) -> f64 {
    1.0 / (1.0 + (3.0 - 4.4 * covered - 2.7 * similarity).exp())
}

impl Default for RankOptions {
    fn default() -> Self {
        Self::STANDARD
    }
}
