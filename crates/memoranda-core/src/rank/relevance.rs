//! Relevance: the estimated probability that a passage has to do with the query, 0 to 1.
//!
//! It is a logistic regression on the words and the meaning that query and passage share.
//! `xtask/scripts/fit_relevance.py` learned the table; `docs/search.md` lists the texts, and the
//! results on other texts.

/// Number of features of the relevance.
pub const RELEVANCE_FEATURE_COUNT: usize = RelevanceFeature::ALL.len();

/// A number from which the relevance of a passage is estimated. Shares of the query are shares of
/// the weights of its terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelevanceFeature {
    /// 1 for every passage.
    Constant,
    /// Share of the query in the passage.
    Covered,
    /// Mean weight of the terms, relative to that of a term of one passage.
    Rarity,
    /// Logarithm of the number of passages in the scope: the best of many unrelated passages is
    /// nearer to a query by chance than the best of few.
    Size,
    /// Embedding similarity of the passage.
    Similarity,
    /// Share of the query in the passage, times the embedding similarity of the passage.
    Agreement,
}

impl RelevanceFeature {
    /// All features.
    pub const ALL: [Self; 6] = [
        Self::Constant,
        Self::Covered,
        Self::Rarity,
        Self::Size,
        Self::Similarity,
        Self::Agreement,
    ];
}

/// Values of all features, in the order of [`RelevanceFeature::ALL`].
pub type RelevanceValues = [f32; RELEVANCE_FEATURE_COUNT];

/// Weight of each feature if meaning is compared, and if words are all there is.
const TABLE: [(RelevanceFeature, f64, f64); RELEVANCE_FEATURE_COUNT] = [
    (RelevanceFeature::Constant, 0.30, 2.52),
    (RelevanceFeature::Covered, 3.27, 5.40),
    (RelevanceFeature::Rarity, -1.73, -1.93),
    (RelevanceFeature::Size, -0.59, -0.51),
    (RelevanceFeature::Similarity, 7.38, 0.0),
    (RelevanceFeature::Agreement, 2.56, 0.0),
];

/// The part of the relevance that belongs to the query.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct QueryRelevance {
    /// Mean weight of the terms, relative to that of a term of one passage.
    pub(super) rarity: f32,
    /// Logarithm of the number of passages in the scope.
    pub(super) size: f32,
    /// True if a candidate has an embedding similarity.
    pub(super) has_meaning: bool,
}

impl QueryRelevance {
    /// Computes the features of a passage.
    pub(super) fn values(&self, covered: f32, similarity: f32) -> RelevanceValues {
        let similarity = similarity.max(0.0);
        let mut values = [0.0; RELEVANCE_FEATURE_COUNT];
        let mut set = |feature: RelevanceFeature, value: f32| values[feature as usize] = value;
        set(RelevanceFeature::Constant, 1.0);
        set(RelevanceFeature::Covered, covered);
        set(RelevanceFeature::Rarity, self.rarity);
        set(RelevanceFeature::Size, self.size);
        set(RelevanceFeature::Similarity, similarity);
        set(RelevanceFeature::Agreement, covered * similarity);
        values
    }

    /// Estimates the probability that a passage has to do with the query.
    pub(super) fn relevance(&self, values: &RelevanceValues) -> f64 {
        let weight = |(_, with_meaning, words_alone): &(RelevanceFeature, f64, f64)| {
            if self.has_meaning { *with_meaning } else { *words_alone }
        };
        let terms = TABLE.iter().map(weight).zip(values);
        let sum: f64 = terms.map(|(weight, value)| weight * f64::from(*value)).sum();
        1.0 / (1.0 + (-sum).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_match_says_less_among_more_passages() {
        let relevance = |size: f32, has_meaning| {
            let query = QueryRelevance { rarity: 1.0, size, has_meaning };
            query.relevance(&query.values(0.5, 0.3))
        };
        for has_meaning in [true, false] {
            assert!(relevance(3.0, has_meaning) > relevance(9.0, has_meaning) + 0.1);
        }
        assert_ne!(relevance(3.0, true), relevance(3.0, false));
    }

    #[test]
    fn the_table_is_in_the_order_of_the_features() {
        for (at, feature) in RelevanceFeature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, at, "{feature:?}");
            assert_eq!(TABLE[at].0, feature);
        }
    }
}
