//! Kind and scope by the meaning of a statement: dot products of its embedding with learned weights.
//! `cargo xtask statements` learns the weights from the labelled sentences.

use super::StatementKind;
use super::learned_weights::{KIND_WEIGHTS, SCOPE_WEIGHTS};
use crate::embed::{STATIC_VECTOR_DIMS, StaticEmbeddingModel, StaticVector};

/// Advantage of a fact over the other kinds, because most statements without cues are facts.
const FACT_BONUS: f32 = 3.0;

/// The weights of one label.
pub(super) struct LearnedRow {
    /// Value of one quantization step.
    pub(super) scale: f32,
    /// The constant part.
    pub(super) bias: f32,
    /// Quantized weights.
    pub(super) numbers: [i8; STATIC_VECTOR_DIMS],
}

impl LearnedRow {
    /// Computes the score of a vector: positive if the label is more likely than not.
    fn score(&self, vector: &StaticVector) -> f32 {
        let product = |(&a, &b): (&i8, &i8)| i32::from(a) * i32::from(b);
        let sum: i32 = self.numbers.iter().zip(&vector.numbers).map(product).sum();
        sum as f32 * (self.scale * vector.scale) + self.bias
    }
}

/// Minimum number of words of a statement whose meaning says something about kind and scope.
const MIN_WORDS: usize = 4;

/// The learned scores of a statement.
pub(super) struct LearnedScores {
    /// The embedding; `None` for a statement that is too short, or without a known word.
    vector: Option<StaticVector>,
}

impl LearnedScores {
    /// Embeds a statement.
    pub(super) fn of_text(text: &str) -> Self {
        let is_long = text.split_whitespace().nth(MIN_WORDS - 1).is_some();
        let vector = is_long.then(|| StaticEmbeddingModel::bundled().embed(text));
        Self { vector: vector.filter(|vector| !vector.is_zero()) }
    }

    /// Returns the probability that the statement is about a repository; `None` if it is unknown.
    pub(super) fn repository_probability(&self) -> Option<f32> {
        let vector = self.vector.as_ref()?;
        Some(1.0 / (1.0 + (-SCOPE_WEIGHTS.score(vector)).exp()))
    }

    /// Returns the most likely kind.
    pub(super) fn kind(&self) -> StatementKind {
        let Some(vector) = &self.vector else { return StatementKind::Fact };
        let score = |kind: StatementKind, row: &LearnedRow| {
            let bonus = if kind == StatementKind::Fact { FACT_BONUS } else { 0.0 };
            row.score(vector) + bonus
        };
        let scores = StatementKind::ALL.into_iter().zip(&KIND_WEIGHTS);
        let scores = scores.map(|(kind, row)| (kind, score(kind, row)));
        let best = scores.max_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map_or(StatementKind::Fact, |(kind, _)| kind)
    }
}
