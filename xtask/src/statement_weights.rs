//! `statements`: learns the weights by which kind and scope of a statement are guessed.
//!
//! A logistic regression with one row for each kind and one for the scope, over the words, the grammar
//! and the built-in embeddings of the labelled sentences. It uses no randomness, so that the same
//! sentences give the same file.

use memoranda_engine::core::statement::{
    FEATURE_COUNT, StatementFeatures, StatementKind, StatementScope,
};

use crate::statements::{LEARNED_SENTENCES, read_sentences};
use crate::{Result, workspace};

/// The generated file.
const WEIGHTS: &str = "crates/memoranda-core/model/statements.bin";
/// Number of rounds over all sentences.
const ROUNDS: usize = 25;
/// Size of a step in the first round, and how fast it shrinks.
const FIRST_STEP: f64 = 0.5;
const STEP_DECAY: f64 = 0.15;
/// Share of a weight that each step takes away, so that rare features weigh little.
const SHRINKING: f64 = 1e-4;
/// Distance between sentences that follow each other in a round. Neighbours in a file have the same label.
const STRIDE: usize = 617;
/// Largest quantized weight.
const MAX_QUANTIZED: f64 = 127.0;

/// A sentence as features, with the number of its label.
type Example = (StatementFeatures, usize);

/// Learns the weights, and writes them.
pub(crate) fn run() -> Result<()> {
    let root = workspace::root()?;
    let mut sentences = Vec::new();
    for (path, _) in LEARNED_SENTENCES {
        sentences.extend(read_sentences(&std::fs::read_to_string(root.join(path))?)?);
    }
    let features = |text: &str| StatementFeatures::of_text(text);
    let kinds = sentences.iter().map(|s| {
        let label = StatementKind::ALL.iter().position(|kind| *kind == s.kind);
        (features(&s.text), label.unwrap_or_default())
    });
    let scopes = sentences
        .iter()
        .map(|s| (features(&s.text), usize::from(s.scope == StatementScope::Repository)));
    let mut rows = learn(&kinds.collect::<Vec<_>>(), StatementKind::ALL.len());
    let scope = learn(&scopes.collect::<Vec<_>>(), StatementScope::ALL.len());
    let [person, repository] = scope.as_slice() else {
        return Err("two scopes were expected".into());
    };
    rows.push(repository.iter().zip(person).map(|(a, b)| a - b).collect());
    let file: Vec<u8> = rows.iter().flat_map(|row| render_row(row)).collect();
    std::fs::write(root.join(WEIGHTS), file)?;
    println!("{} statements learned. Run `cargo xtask docs`.", sentences.len());
    Ok(())
}

/// Learns a row of weights for each label by gradient descent, sentence by sentence.
fn learn(examples: &[Example], labels: usize) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; FEATURE_COUNT]; labels];
    for round in 0..ROUNDS {
        let step = FIRST_STEP / (1.0 + STEP_DECAY * round as f64);
        for n in 0..examples.len() {
            let (features, label) = &examples[(n * STRIDE + round) % examples.len()];
            let probabilities = probabilities(&rows, features);
            for (at, (row, probability)) in rows.iter_mut().zip(probabilities).enumerate() {
                let error = probability - f64::from(u8::from(at == *label));
                for (feature, value) in features.iter() {
                    let weight = &mut row[feature];
                    *weight -= step * (error * f64::from(value) + SHRINKING * *weight);
                }
            }
        }
    }
    rows
}

/// Returns the probability of each label.
fn probabilities(rows: &[Vec<f64>], features: &StatementFeatures) -> Vec<f64> {
    let score =
        |row: &Vec<f64>| features.iter().map(|(at, value)| row[at] * f64::from(value)).sum();
    let scores: Vec<f64> = rows.iter().map(score).collect();
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let powers: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// Renders a row as its quantization step and one byte for each weight.
fn render_row(row: &[f64]) -> Vec<u8> {
    let most = row.iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
    let step = most.max(f64::MIN_POSITIVE) / MAX_QUANTIZED;
    let mut bytes = (step as f32).to_le_bytes().to_vec();
    bytes.extend(row.iter().map(|weight| (weight / step).round() as i8 as u8));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_the_sentences_show_is_learned() {
        let texts = [
            ("never do that", 1),
            ("never say this", 1),
            ("cats are nice", 0),
            ("dogs are fine", 0),
        ];
        let example = |(text, label): (&str, usize)| (StatementFeatures::of_text(text), label);
        let rows = learn(&texts.map(example), 2);
        let second = |text: &str| probabilities(&rows, &StatementFeatures::of_text(text))[1];
        assert!(second("never eat these") > 0.6, "{}", second("never eat these"));
        assert!(second("birds are loud") < 0.4, "{}", second("birds are loud"));
    }

    #[test]
    fn a_row_is_a_step_and_a_byte_for_each_weight() {
        let bytes = render_row(&[0.5, -1.0, 0.0]);
        assert_eq!(bytes.len(), 7);
        assert_eq!(bytes[4..].iter().map(|byte| *byte as i8).collect::<Vec<_>>(), [64, -127, 0]);
    }
}
