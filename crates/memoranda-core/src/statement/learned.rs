//! Kind and scope by a linear model over the form and the meaning of a statement.
//! `cargo xtask statements` learns its weights from the labelled sentences.

use super::StatementKind;
use super::features::{FEATURE_COUNT, StatementFeatures};
use super::words::StatementWords;

/// Learned weights: a row for each kind in listing order, then one for a repository against the person.
/// A row is its quantization step as four bytes and one byte for each feature.
static WEIGHTS: &[u8] = include_bytes!("../../model/statements.bin");

/// Number of bytes of the quantization step before a row.
const STEP_BYTES: usize = 4;
/// Advantage of the kind that the cues of a statement speak for. Cues of a fact are weak: most
/// statements have a verb of a state.
const CUE_BONUS: f32 = 2.0;
/// Disadvantage of a rule without a cue: rules stand in every brief, so that a wrong one costs most.
const UNCLEAR_RULE_MALUS: f32 = 1.0;

/// The learned scores of a statement.
pub(super) struct LearnedScores {
    features: StatementFeatures,
}

impl LearnedScores {
    /// Computes the features of a statement.
    pub(super) fn of_words(words: &StatementWords) -> Self {
        Self { features: StatementFeatures::new(words) }
    }

    /// Returns the probability that the statement is about a repository; `None` for an empty text.
    pub(super) fn repository_probability(&self) -> Option<f32> {
        let score = self.score(StatementKind::ALL.len());
        (!self.features.is_empty()).then(|| 1.0 / (1.0 + (-score).exp()))
    }

    /// Returns the most likely kind. Cues speak for one kind, but do not decide alone.
    pub(super) fn kind(&self, cue: Option<StatementKind>) -> StatementKind {
        if self.features.is_empty() {
            return cue.unwrap_or(StatementKind::Fact);
        }
        let score = |(row, kind): (usize, StatementKind)| {
            let bonus = match kind {
                StatementKind::Fact => 0.0,
                _ if cue == Some(kind) => CUE_BONUS,
                StatementKind::Rule => -UNCLEAR_RULE_MALUS,
                _ => 0.0,
            };
            (kind, self.score(row) + bonus)
        };
        let scores = StatementKind::ALL.into_iter().enumerate().map(score);
        let best = scores.max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map_or(StatementKind::Fact, |(kind, _)| kind)
    }

    /// Returns the sum of the weights of the features in a row.
    fn score(&self, row: usize) -> f32 {
        let start = row * (STEP_BYTES + FEATURE_COUNT);
        let row = WEIGHTS.get(start..).unwrap_or_default();
        let Some((step, weights)) = row.split_first_chunk::<STEP_BYTES>() else { return 0.0 };
        let weight =
            |feature: usize| weights.get(feature).map_or(0.0, |byte| f32::from(*byte as i8));
        let features = self.features.iter();
        features.map(|(feature, value)| value * weight(feature)).sum::<f32>()
            * f32::from_le_bytes(*step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_have_a_row_for_each_kind_and_the_scope() {
        assert_eq!(WEIGHTS.len(), (StatementKind::ALL.len() + 1) * (STEP_BYTES + FEATURE_COUNT));
        let score = |text: &str| LearnedScores::of_words(&StatementWords::new(text));
        assert_eq!(score("").repository_probability(), None);
        assert_eq!(score("").kind(None), StatementKind::Fact);
        assert_eq!(score("").kind(Some(StatementKind::Note)), StatementKind::Note);
        let code = score("the parser of this module returns a syntax tree");
        let home = score("my grandmother bakes a cake for every birthday");
        assert!(code.repository_probability() > home.repository_probability());
    }
}
