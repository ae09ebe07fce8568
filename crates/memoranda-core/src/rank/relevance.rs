//! Relevance: the estimated probability that a passage has to do with the query, 0 to 1.
//!
//! It is the higher of two logistic curves: one judges words and meaning together, the other meaning
//! alone. `xtask/scripts/fit_relevance.py` learned the first and measured both; `docs/search.md`
//! lists the texts, and the results on other texts.

/// Number of features of the relevance.
pub const RELEVANCE_FEATURE_COUNT: usize = RelevanceFeature::ALL.len();

/// Least relevance of a passage with the words that were typed.
const TYPED_WORDS_RELEVANCE: f64 = 0.5;

/// Number of terms of a query up to which one of them is enough for [`TYPED_WORDS_RELEVANCE`].
const FEW_TERMS: usize = 2;

/// Embedding similarity that is relevant without any word, in an empty corpus, and its growth with
/// the logarithm of the number of passages: the nearest of many unrelated passages is nearer than
/// the nearest of few.
const MEANING_ALONE: (f64, f64) = (0.215, 0.025);

/// Least similarity of facts that agents keep, one statement each, compared by the subject of the question.
/// Few short statements are near by chance, many are nearer than passages of notes. A reader that
/// stays silent names the nearest facts apart, so that doubtful ones need not be results.
const FACT_MEANING_ALONE: (f64, f64) = (0.105, 0.05);

/// Amount by which the first curve is lower for such facts: a short statement shares a word, or a
/// part of the meaning, with many questions that it does not answer.
const FACT_DOUBT: f64 = 0.6;

/// Number of facts below which a corpus of facts counts as one of so many.
const MIN_FACTS: u64 = 20;

/// Number of passages below which a corpus counts as one of so many: a few notes do not make a match
/// by chance less likely than the small vaults do from which the table was learned.
const MIN_PASSAGES: u64 = 30;

/// Growth of the logit of the relevance with the embedding similarity alone.
const MEANING_SLOPE: f64 = 12.0;

/// Relevance that a result must reach by default, at which both curves meet.
pub const RELEVANCE_THRESHOLD: f64 = 0.35;

/// A number from which the relevance of a passage is estimated. Shares of the query are shares of
/// the weights of its terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelevanceFeature {
    /// 1 for every passage.
    Constant,
    /// Share of the query in the passage.
    Covered,
    /// Embedding similarity of the passage.
    Similarity,
    /// Share of the query that is missing in the passage, times the logarithm of the number of
    /// passages: a part of the words is found by chance in many passages, all of them are not.
    MissingInSize,
    /// Logarithm of the number of passages with which the passage is compared.
    Size,
    /// 1 if the passage contains the words that were typed: all of them, or one of two.
    TypedWords,
}

impl RelevanceFeature {
    /// All features.
    pub const ALL: [Self; 6] = [
        Self::Constant,
        Self::Covered,
        Self::Similarity,
        Self::MissingInSize,
        Self::Size,
        Self::TypedWords,
    ];
}

/// Values of all features, in the order of [`RelevanceFeature::ALL`].
pub type RelevanceValues = [f32; RELEVANCE_FEATURE_COUNT];

/// Weight of each feature if meaning is compared, and if words are all there is. The size alone counts
/// for the second curve only, and typed words set a lower bound.
const TABLE: [(RelevanceFeature, f64, f64); RELEVANCE_FEATURE_COUNT] = [
    (RelevanceFeature::Constant, -0.92, 0.57),
    (RelevanceFeature::Covered, 3.57, 7.23),
    (RelevanceFeature::Similarity, 8.89, 0.0),
    (RelevanceFeature::MissingInSize, -0.81, -0.72),
    (RelevanceFeature::Size, 0.0, 0.0),
    (RelevanceFeature::TypedWords, 0.0, 0.0),
];

/// Returns how much nearer the nearest of `all` unrelated passages is than the nearest of `corpus`.
pub(super) fn chance_similarity(all: u64, corpus: u64) -> f32 {
    let size = |passages: u64| (1.0 + passages.max(MIN_PASSAGES) as f64).ln();
    (MEANING_ALONE.1 * (size(all) - size(corpus)).max(0.0)) as f32
}

/// The texts among which a passage is compared, and their number of passages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Corpus {
    Notes(u64),
    Facts(u64),
}

impl Corpus {
    pub(super) fn passages(self) -> u64 {
        let (Self::Notes(passages) | Self::Facts(passages)) = self;
        passages
    }

    /// Returns the similarity that is relevant without any word; `None` if it is that of notes.
    fn fact_similarity(self) -> Option<f64> {
        let Self::Facts(facts) = self else { return None };
        let (least, growth) = FACT_MEANING_ALONE;
        Some(least + growth * (1.0 + facts.max(MIN_FACTS) as f64).ln())
    }
}

/// Words of the query in a passage.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct WordEvidence {
    /// Share of the query that the passage contains.
    pub(super) covered: f32,
    /// Number of terms that the passage contains as they were typed.
    pub(super) exact: usize,
    /// Number of terms that the passage contains in any form, corrected ones included.
    pub(super) found: usize,
    /// Number of terms of the query.
    pub(super) terms: usize,
}

impl WordEvidence {
    /// Returns true if the passage contains all words of the query, or one of two as it was typed.
    fn is_certain(&self) -> bool {
        let is_one_of_few = self.terms <= FEW_TERMS && self.exact > 0;
        self.terms > 0 && (self.found >= self.terms || is_one_of_few)
    }
}

/// Evidence that is compared for a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RelevanceEvidence {
    WordsAndMeaning,
    Words,
}

impl RelevanceEvidence {
    /// Computes the features of a passage of a corpus.
    pub(super) fn values(words: &WordEvidence, similarity: f32, corpus: Corpus) -> RelevanceValues {
        let covered = words.covered;
        let size = (1.0 + corpus.passages().max(MIN_PASSAGES) as f32).ln();
        let mut values = [0.0; RELEVANCE_FEATURE_COUNT];
        let mut set = |feature: RelevanceFeature, value: f32| values[feature as usize] = value;
        set(RelevanceFeature::Constant, 1.0);
        set(RelevanceFeature::Covered, covered);
        set(RelevanceFeature::Similarity, similarity.max(0.0));
        set(RelevanceFeature::MissingInSize, (1.0 - covered).max(0.0) * size);
        set(RelevanceFeature::Size, size);
        set(RelevanceFeature::TypedWords, f32::from(u8::from(words.is_certain())));
        values
    }

    /// Estimates the probability that a passage has to do with the query.
    pub(super) fn relevance(self, values: &RelevanceValues, corpus: Corpus) -> f64 {
        let weight = |(_, with_meaning, words_alone): &(RelevanceFeature, f64, f64)| match self {
            Self::WordsAndMeaning => *with_meaning,
            Self::Words => *words_alone,
        };
        let terms = TABLE.iter().map(weight).zip(values);
        let sum: f64 = terms.map(|(weight, value)| weight * f64::from(*value)).sum();
        let sum = if matches!(corpus, Corpus::Facts(_)) { sum - FACT_DOUBT } else { sum };
        let value = |feature: RelevanceFeature| f64::from(values[feature as usize]);
        let (least, growth) = MEANING_ALONE;
        let similarity = value(RelevanceFeature::Similarity);
        let least = least + growth * value(RelevanceFeature::Size);
        // A fact that is not near enough is no more relevant than a passage of a note.
        let least = corpus
            .fact_similarity()
            .filter(|least| similarity >= *least)
            .map_or(least, |of_facts| least.min(of_facts));
        let distance = similarity - least;
        let threshold = (RELEVANCE_THRESHOLD / (1.0 - RELEVANCE_THRESHOLD)).ln();
        let by_meaning = match self {
            Self::WordsAndMeaning => threshold + MEANING_SLOPE * distance,
            Self::Words => f64::NEG_INFINITY,
        };
        let estimate = 1.0 / (1.0 + (-sum.max(by_meaning)).exp());
        let has_typed_words = value(RelevanceFeature::TypedWords) > 0.0;
        if has_typed_words { estimate.max(TYPED_WORDS_RELEVANCE) } else { estimate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relevance(covered: f32, similarity: f32, passages: u64) -> f64 {
        let words = WordEvidence { covered, ..WordEvidence::default() };
        let corpus = Corpus::Notes(passages);
        let values = RelevanceEvidence::values(&words, similarity, corpus);
        RelevanceEvidence::WordsAndMeaning.relevance(&values, corpus)
    }

    #[test]
    fn few_facts_need_less_similarity_than_few_passages() {
        let of_facts = |similarity: f32, facts: u64| {
            let corpus = Corpus::Facts(facts);
            let values = RelevanceEvidence::values(&WordEvidence::default(), similarity, corpus);
            RelevanceEvidence::WordsAndMeaning.relevance(&values, corpus)
        };
        assert!(
            of_facts(0.27, 20) > RELEVANCE_THRESHOLD
                && relevance(0.0, 0.27, 20) < RELEVANCE_THRESHOLD
        );
        assert!(of_facts(0.27, 200) < RELEVANCE_THRESHOLD);
        // What is not near enough is not brought nearer, so that it does not fill a list.
        assert!(of_facts(0.15, 20) <= relevance(0.0, 0.15, 20));
        assert_eq!(of_facts(0.5, 100_000), relevance(0.0, 0.5, 100_000));
    }

    #[test]
    fn a_fact_with_a_part_of_the_words_is_less_relevant_than_a_passage_of_a_note() {
        let of = |corpus: Corpus| {
            let words = WordEvidence { covered: 0.4, ..WordEvidence::default() };
            let values = RelevanceEvidence::values(&words, 0.15, corpus);
            RelevanceEvidence::WordsAndMeaning.relevance(&values, corpus)
        };
        assert!(of(Corpus::Facts(100)) < of(Corpus::Notes(100)) - 0.05);
        let all = WordEvidence { covered: 1.0, found: 3, terms: 3, ..WordEvidence::default() };
        let corpus = Corpus::Facts(100);
        let values = RelevanceEvidence::values(&all, 0.0, corpus);
        let certain = RelevanceEvidence::WordsAndMeaning.relevance(&values, corpus);
        assert!(certain > RELEVANCE_THRESHOLD, "all words are enough");
    }

    #[test]
    fn a_part_of_the_words_says_less_among_more_passages() {
        assert!(relevance(0.4, 0.2, 20) > relevance(0.4, 0.2, 20_000) + 0.2);
        let all = relevance(1.0, 0.3, 20) - relevance(1.0, 0.3, 20_000);
        assert!(all.abs() < 1e-6, "{all}");
    }

    #[test]
    fn meaning_alone_is_relevant_in_a_large_corpus_too() {
        assert!(relevance(0.0, 0.36, 20) > RELEVANCE_THRESHOLD);
        assert!(relevance(0.0, 0.36, 20_000) < RELEVANCE_THRESHOLD);
        assert!(relevance(0.0, 0.5, 20_000) > RELEVANCE_THRESHOLD);
    }

    #[test]
    fn the_words_that_were_typed_are_never_silenced() {
        for (exact, found, terms, is_certain) in [
            (1, 1, 1, true),
            (1, 1, 2, true),
            (0, 2, 2, true),
            (0, 1, 2, false),
            (1, 3, 3, true),
            (2, 2, 3, false),
            (0, 0, 0, false),
        ] {
            let words = WordEvidence { covered: 0.0, exact, found, terms };
            let corpus = Corpus::Notes(1_000_000);
            let values = RelevanceEvidence::values(&words, 0.0, corpus);
            for evidence in [RelevanceEvidence::WordsAndMeaning, RelevanceEvidence::Words] {
                let relevance = evidence.relevance(&values, corpus);
                assert_eq!(relevance >= RELEVANCE_THRESHOLD, is_certain, "{exact} of {terms}");
            }
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_features() {
        for (at, feature) in RelevanceFeature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, at, "{feature:?}");
            assert_eq!(TABLE[at].0, feature);
        }
    }
}
