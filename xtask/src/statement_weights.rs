//! `statements`: learns the weights by which kind and scope of a statement without cues are guessed.
//!
//! One logistic regression for the scope and one for each kind, over the built-in embeddings of the
//! labelled sentences. It uses no randomness, so that the same statements give the same file.

use std::fmt::Write as _;

use memoranda_engine::core::embed::{STATIC_VECTOR_DIMS, StaticEmbeddingModel};
use memoranda_engine::core::statement::{StatementKind, StatementScope};

use crate::statements::{BeamFacts, LEARNED_SENTENCES, read_sentences};
use crate::{Result, workspace};

/// The generated file.
const WEIGHTS: &str = "crates/memoranda-core/src/statement/learned_weights.rs";
/// Number of steps of the descent. More steps fit the labelled sentences better and others worse.
const STEPS: usize = 600;
/// Weight of an error against the size of the weights.
const ERROR_WEIGHT: f64 = 30.0;
/// Share of the last step that is added to the next one.
const MOMENTUM: f64 = 0.95;
/// Largest quantized weight.
const MAX_QUANTIZED: f64 = 127.0;

/// Learned weights and the constant part of one label.
struct LogisticWeights {
    weights: Vec<f64>,
    bias: f64,
}

/// Learns the weights, and writes them as a source file.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [beam] = arguments else {
        return Err("takes the file of the BEAM facts (.jsonl.xz)".into());
    };
    let root = workspace::root()?;
    let mut sentences = Vec::new();
    for (path, _) in LEARNED_SENTENCES {
        sentences.extend(read_sentences(&std::fs::read_to_string(root.join(path))?)?);
    }
    let vectors: Vec<Vec<f64>> = sentences.iter().map(|s| embed(&s.text)).collect();
    let learn_kind = |kind: StatementKind| {
        let labels: Vec<bool> = sentences.iter().map(|s| s.kind == kind).collect();
        learn(&vectors, &labels)
    };
    // The facts of BEAM are longer and of other domains, and show what private work reads like.
    let facts = BeamFacts::read(&root, beam)?.others;
    let is_repository = |scope: StatementScope| scope == StatementScope::Repository;
    let labels = sentences.iter().map(|s| s.scope).chain(facts.iter().map(|(scope, _)| *scope));
    let labels: Vec<bool> = labels.map(is_repository).collect();
    let mut all_vectors = vectors.clone();
    all_vectors.extend(facts.iter().map(|(_, text)| embed(text)));
    let scope = learn(&all_vectors, &labels);
    let mut file = format!(
        "//! Weights of kind and scope over the built-in embedding, learned by `cargo xtask statements`.\n\n\
         use super::learned::LearnedRow;\n\n\
         /// Weights of a repository against the person.\n\
         pub(super) static SCOPE_WEIGHTS: LearnedRow = {};\n\n\
         /// Weights of each kind against the others, in listing order.\n\
         pub(super) static KIND_WEIGHTS: [LearnedRow; 6] = [\n",
        render_row(&scope)?
    );
    for kind in StatementKind::ALL {
        writeln!(file, "{},", render_row(&learn_kind(kind))?)?;
    }
    file.push_str("];\n");
    std::fs::write(root.join(WEIGHTS), file)?;
    println!("{} statements learned. Run `cargo fmt --all` and `cargo xtask docs`.", labels.len());
    Ok(())
}

fn embed(text: &str) -> Vec<f64> {
    let vector = StaticEmbeddingModel::bundled().embed(text);
    vector.numbers.iter().map(|number| f64::from(*number) * f64::from(vector.scale)).collect()
}

/// Learns one label. Both sides of the label weigh the same, however many sentences have it.
fn learn(vectors: &[Vec<f64>], labels: &[bool]) -> LogisticWeights {
    let count = labels.len() as f64;
    let with_label = labels.iter().filter(|label| **label).count() as f64;
    let balance =
        |label: bool| count / (2.0 * if label { with_label } else { count - with_label }.max(1.0));
    // The curvature is at most a quarter of the sum of all weights of errors.
    let rate = 1.0 / (0.25 * ERROR_WEIGHT * count * 2.0 + 1.0);
    let mut learned = LogisticWeights { weights: vec![0.0; STATIC_VECTOR_DIMS], bias: 0.0 };
    let mut speed = LogisticWeights { weights: vec![0.0; STATIC_VECTOR_DIMS], bias: 0.0 };
    for _ in 0..STEPS {
        let mut slope = LogisticWeights { weights: learned.weights.clone(), bias: 0.0 };
        for (vector, &label) in vectors.iter().zip(labels) {
            let score: f64 =
                vector.iter().zip(&learned.weights).map(|(x, w)| x * w).sum::<f64>() + learned.bias;
            let probability = 1.0 / (1.0 + (-score).exp());
            let error = (probability - f64::from(u8::from(label))) * balance(label) * ERROR_WEIGHT;
            for (slope, x) in slope.weights.iter_mut().zip(vector) {
                *slope += error * x;
            }
            slope.bias += error;
        }
        let step = |value: &mut f64, speed: &mut f64, slope: f64| {
            *speed = MOMENTUM * *speed - rate * slope;
            *value += *speed;
        };
        let parts = learned.weights.iter_mut().zip(&mut speed.weights).zip(&slope.weights);
        parts.for_each(|((value, speed), slope)| step(value, speed, *slope));
        step(&mut learned.bias, &mut speed.bias, slope.bias);
    }
    learned
}

/// Renders the weights as 8-bit numbers with a scale.
fn render_row(learned: &LogisticWeights) -> Result<String> {
    let most = learned.weights.iter().fold(0.0f64, |most, weight| most.max(weight.abs()));
    let scale = most.max(f64::MIN_POSITIVE) / MAX_QUANTIZED;
    let mut row = format!("LearnedRow {{ scale: {scale:.6}, bias: {:.4}, numbers: [", learned.bias);
    for weight in &learned.weights {
        write!(row, "{}, ", (weight / scale).round() as i8)?;
    }
    row.push_str("] }");
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_the_vectors_separate_is_learned() {
        let vector = |first: f64| {
            let mut vector = vec![0.0; STATIC_VECTOR_DIMS];
            vector[0] = first;
            vector[1] = 0.5;
            vector
        };
        let vectors: Vec<Vec<f64>> = [0.9, 0.8, -0.9, -0.8, -0.7].map(vector).to_vec();
        let learned = learn(&vectors, &[true, true, false, false, false]);
        let score = |vector: &Vec<f64>| {
            let products = vector.iter().zip(&learned.weights).map(|(x, w)| x * w);
            products.sum::<f64>() + learned.bias
        };
        assert!(vectors[..2].iter().all(|vector| score(vector) > 1.0));
        assert!(vectors[2..].iter().all(|vector| score(vector) < -1.0));
    }
}
