//! What each signal is worth. The numbers come from development data (`docs/search.md`).

/// What the signals are worth. Words that match as well as can be are worth the sum of
/// `passage`, `find_neighbours` and `note`; a meaning that is the same is worth `meaning` where no word
/// matches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankOptions {
    /// The words of the passage itself.
    pub passage: f64,
    /// The words of the passage and those beside it.
    pub neighbours: f64,
    /// The words of the whole note.
    pub note: f64,
    /// How soon a repeated word adds nothing more (BM25's k1).
    pub bm25_k1: f64,
    /// How much a long text is held against it (BM25's b).
    pub bm25_b: f64,
    /// How much it counts what a word says by itself, besides its rarity: 0 not, 1 in full.
    pub word_weight: f64,
    /// What the passage means, if words say nothing.
    pub meaning: f64,
    /// So many times more the meaning counts where whole notes are compared: a note is about
    /// something, while a passage says it in words.
    pub meaning_of_notes: f64,
    /// How much less the meaning counts the better words match: to this power of what the best
    /// passage leaves unsaid.
    pub word_match_decay: f64,
    /// In a passage of so many words only half of the meaning counts.
    pub short_passage_half: f64,
    /// Whom the question is about is who tells: asker and passage both say "I", or it names the
    /// speaker.
    pub speaker: f64,
    /// The passage holds a number where one is asked for.
    pub number: f64,
    /// The passage names a time where one is asked for.
    pub has_time: f64,
    /// The note is of the time that the question names.
    pub time: f64,
    /// The same in addition where the question says little else, by the square of the time's share.
    pub time_alone: f64,
    /// A title that holds all the words.
    pub title: f64,
    /// An importance of 1.
    pub importance: f64,
    /// A change at this very moment.
    pub recency: f64,
    /// After how many days recency is worth half.
    pub recency_half_life_days: f64,
}

/// A passage of this length has the meaning counted as it is.
const USUAL_WORDS: f64 = 25.0;

impl RankOptions {
    /// What searches use unless they say otherwise.
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

    /// Words alone, without what they mean.
    pub const WORDS: Self = Self { meaning: 0.0, ..Self::STANDARD };

    /// What is meant, however it is worded.
    pub const MEANING: Self =
        Self { passage: 0.0, neighbours: 0.0, note: 0.0, title: 0.0, ..Self::STANDARD };

    /// What the signals are worth where whole notes are compared.
    pub fn of_notes(&self) -> Self {
        Self { meaning: self.meaning * self.meaning_of_notes, ..*self }
    }

    /// More than a note can reach whose name is not the query.
    pub(super) fn most_without_name(&self) -> f64 {
        self.passage
            + self.neighbours
            + self.note
            + self.meaning * self.trust_scale()
            + self.speaker
            + self.number
            + self.has_time
            + self.time
            + self.time_alone
            + self.title
            + self.importance
            + self.recency
    }

    pub(super) fn trust_scale(&self) -> f64 {
        1.0 + self.short_passage_half / USUAL_WORDS
    }
}

/// How likely a passage has to do with a question: by the share of the question's words that it
/// holds, each by its worth, and by how alike they are in meaning. Fitted to questions asked of
/// the conversations that answer them and of others (`docs/search.md`).
pub(super) fn relevance(covered: f64, similarity: f64) -> f64 {
    1.0 / (1.0 + (3.0 - 4.4 * covered - 2.7 * similarity).exp())
}

impl Default for RankOptions {
    fn default() -> Self {
        Self::STANDARD
    }
}
