//! Features of a candidate passage, and weights for them. The score of a passage is the sum of its
//! feature values, each times its weight.

/// Number of features.
pub const FEATURE_COUNT: usize = RankFeature::ALL.len();

/// A number that ranking computes for each passage of a candidate. Word matches are shares of the
/// highest possible BM25 score, 0 to 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankFeature {
    /// Word match of the passage.
    Passage,
    /// Word match of the passage with one neighbour on either side.
    Neighbours,
    /// Word match of the passage with two neighbours on either side.
    Window,
    /// Word match of the whole note.
    Note,
    /// Word match of the whole note with the usual BM25 parameters, which prefer short notes more.
    ShortNote,
    /// Best word match of a passage of the note.
    BestPassage,
    /// Embedding similarity of the passage.
    Meaning,
    /// Embedding similarity of the passage, reduced by the best word match among all candidates.
    MeaningWithoutWords,
    /// Embedding similarity of the passage with two neighbours on either side.
    WindowMeaning,
    /// Meaning of the passage, reduced by the best word match among all candidates.
    WindowMeaningWithoutWords,
    /// Embedding similarity of the whole note.
    NoteMeaning,
    /// Best embedding similarity of a passage of the note.
    BestMeaning,
    /// The passage is the first one of its note.
    First,
    /// Word match of the passage before, if that contains a question.
    Reply,
    /// The speaker of the passage is the person in question.
    Speaker,
    /// The query asks for a number, and the passage contains one.
    Number,
    /// The query asks for a time, and the passage contains one.
    SaysWhen,
    /// The note is from the time that the query names.
    Time,
}

/// Values of all features, in the order of [`RankFeature::ALL`].
pub type FeatureValues = [f32; FEATURE_COUNT];

/// Weights of all features.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FeatureWeights([f64; FEATURE_COUNT]);

/// Part of the explanation to which a feature contributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FeatureGroup {
    Words,
    Context,
    Meaning,
    Speaker,
    Kind,
    Place,
    /// The feature belongs to the note and not to a passage.
    Time,
}

impl RankFeature {
    /// All features.
    pub const ALL: [Self; 18] = [
        Self::Passage,
        Self::Neighbours,
        Self::Window,
        Self::Note,
        Self::ShortNote,
        Self::BestPassage,
        Self::Meaning,
        Self::MeaningWithoutWords,
        Self::WindowMeaning,
        Self::WindowMeaningWithoutWords,
        Self::NoteMeaning,
        Self::BestMeaning,
        Self::First,
        Self::Reply,
        Self::Speaker,
        Self::Number,
        Self::SaysWhen,
        Self::Time,
    ];

    pub(super) const fn group(self) -> FeatureGroup {
        match self {
            Self::Passage => FeatureGroup::Words,
            Self::Neighbours
            | Self::Window
            | Self::Note
            | Self::ShortNote
            | Self::BestPassage
            | Self::Reply => FeatureGroup::Context,
            Self::Meaning
            | Self::MeaningWithoutWords
            | Self::WindowMeaning
            | Self::WindowMeaningWithoutWords
            | Self::NoteMeaning
            | Self::BestMeaning => FeatureGroup::Meaning,
            Self::Speaker => FeatureGroup::Speaker,
            Self::First => FeatureGroup::Place,
            Self::Number | Self::SaysWhen => FeatureGroup::Kind,
            Self::Time => FeatureGroup::Time,
        }
    }
}

impl FeatureWeights {
    /// Weights of 0.
    pub const ZERO: Self = Self([0.0; FEATURE_COUNT]);

    /// Builds weights from numbers in the order of [`RankFeature::ALL`].
    pub const fn from_array(weights: [f64; FEATURE_COUNT]) -> Self {
        Self(weights)
    }

    /// Returns the weights in the order of [`RankFeature::ALL`].
    pub const fn to_array(self) -> [f64; FEATURE_COUNT] {
        self.0
    }

    /// Returns the weight of a feature.
    pub const fn get(&self, feature: RankFeature) -> f64 {
        self.0[feature as usize]
    }

    /// Returns these weights with another weight of one feature.
    pub const fn with(mut self, feature: RankFeature, weight: f64) -> Self {
        self.0[feature as usize] = weight;
        self
    }

    /// Returns these weights with 0 for all word matches.
    pub const fn without_words(self) -> Self {
        self.without(FeatureGroup::Words).without(FeatureGroup::Context)
    }

    /// Returns these weights with 0 for all embedding similarities.
    pub const fn without_meaning(self) -> Self {
        self.without(FeatureGroup::Meaning)
    }

    /// Returns true if an embedding similarity has a weight.
    pub fn has_meaning(&self) -> bool {
        self.in_group(FeatureGroup::Meaning).any(|(_, weight)| weight != 0.0)
    }

    /// Sums the values of a group of features, each times its weight.
    pub(super) fn sum(&self, values: &FeatureValues, group: FeatureGroup) -> f64 {
        let terms = self.in_group(group);
        terms.map(|(feature, weight)| weight * f64::from(values[feature as usize])).sum()
    }

    /// Returns an upper bound of the sum of all features, for values of at most 1.
    pub(super) fn max_sum(&self) -> f64 {
        self.0.iter().map(|weight| weight.max(0.0)).sum()
    }

    fn in_group(&self, group: FeatureGroup) -> impl Iterator<Item = (RankFeature, f64)> {
        let all = RankFeature::ALL.into_iter().zip(self.0);
        all.filter(move |(feature, _)| feature.group() as u8 == group as u8)
    }

    const fn without(mut self, group: FeatureGroup) -> Self {
        let mut at = 0;
        while at < FEATURE_COUNT {
            if RankFeature::ALL[at].group() as u8 == group as u8 {
                self.0[at] = 0.0;
            }
            at += 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_numbered_in_the_order_of_the_list() {
        for (at, feature) in RankFeature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, at, "{feature:?}");
        }
    }

    #[test]
    fn groups_of_features_are_switched_off() {
        let all = FeatureWeights([1.0; FEATURE_COUNT]);
        let words = all.without_meaning();
        assert!(all.has_meaning() && !words.has_meaning());
        assert_eq!(words.get(RankFeature::Passage), 1.0);
        assert_eq!(words.get(RankFeature::Time), 1.0);
        let meaning = all.without_words();
        assert!(meaning.has_meaning());
        assert_eq!(meaning.get(RankFeature::Passage) + meaning.get(RankFeature::Note), 0.0);
    }
}
