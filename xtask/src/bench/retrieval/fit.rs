//! `--fit`: learns the weights of the ranking features from several kinds of text at once.
//!
//! Each file of questions is one kind, and all kinds count the same. The weights maximise the
//! probability of the evidence in a softmax over all candidates of a question. They are held near
//! the weights that were learned earlier on longer conversations. The weights are also learned once
//! without each kind, to measure them on questions that they were not learned from.

use std::path::Path;

use memoranda_engine::core::rank::{
    FEATURE_COUNT, FeatureValues, FeatureWeights, RankFeature, RankOptions,
};
use memoranda_engine::{SearchRequest, SearchUnit};
use serde_json::json;

use super::measure::{BenchVault, each_in_vault};
use super::questions::BenchQuestion;
use super::report::{LevelMetrics, mean, metrics};
use crate::Result;

/// Number of passages of a question that are compared.
const MAX_PASSAGES: usize = 600;
const STEPS: usize = 400;
const STEP_LENGTH: f64 = 0.02;
/// Factor on scores in the softmax, so that weights of the usual size separate.
const SHARPNESS: f64 = 6.0;
/// Strength with which the weights are held near [`CONVERSATIONS`].
const PRIOR: f64 = 0.02;
/// Weights for passages and for notes that were learned earlier, with fewer features, on long
/// conversations that are not part of the development data. Other features start at 0.
const CONVERSATIONS: [(RankFeature, f64, f64); 9] = [
    (RankFeature::Passage, 0.05, 0.4),
    (RankFeature::Neighbours, 0.78, 0.7),
    (RankFeature::Note, 0.64, 0.77),
    (RankFeature::Meaning, 0.85, 1.0),
    (RankFeature::MeaningWithoutWords, 1.29, 0.84),
    (RankFeature::Speaker, 0.23, 0.05),
    (RankFeature::Number, 0.13, 0.04),
    (RankFeature::SaysWhen, 0.28, 0.11),
    (RankFeature::Time, 0.43, 0.38),
];

/// Unit of the ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FitUnit {
    Turns,
    Notes,
}

/// One file of questions.
pub(super) struct TextKind {
    pub(super) name: String,
    questions: Vec<FitQuestion>,
}

/// The candidates of one question.
struct FitQuestion {
    turns: FitItems,
    notes: FitItems,
}

/// Items to rank, each with the features of its passages and true if it is evidence.
#[derive(Default)]
struct FitItems {
    items: Vec<(bool, Vec<FeatureValues>)>,
    /// Number of pieces of evidence, found or not.
    gold: usize,
}

type Weights = [f64; FEATURE_COUNT];

impl FitItems {
    /// Groups passages by what they belong to.
    fn new<K: PartialEq>(passages: impl Iterator<Item = (K, FeatureValues)>, gold: &[K]) -> Self {
        let mut keys: Vec<K> = Vec::new();
        let mut items: Vec<(bool, Vec<FeatureValues>)> = Vec::new();
        for (key, features) in passages {
            match keys.iter().position(|known| *known == key) {
                Some(at) => items[at].1.push(features),
                None => {
                    items.push((gold.contains(&key), vec![features]));
                    keys.push(key);
                }
            }
        }
        Self { items, gold: gold.len() }
    }

    /// Returns the score of each item and the passage that makes it.
    fn scores(&self, weights: &Weights) -> Vec<(f64, &FeatureValues)> {
        let score = |features: &FeatureValues| -> f64 {
            features.iter().zip(weights).map(|(value, weight)| f64::from(*value) * weight).sum()
        };
        let best = |passages: &'_ Vec<FeatureValues>| {
            let all = passages.iter().enumerate().map(|(at, features)| (score(features), at));
            all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
        };
        let items = self.items.iter().map(|(_, passages)| (best(passages), passages));
        items.map(|((score, at), passages)| (score, &passages[at])).collect()
    }

    /// Adds the gradient of the log probability of the evidence.
    fn add_gradient(&self, weights: &Weights, share: f64, gradient: &mut Weights) {
        let scores = self.scores(weights);
        let gold: Vec<usize> = (0..scores.len()).filter(|&at| self.items[at].0).collect();
        let most = scores.iter().map(|(score, _)| *score).fold(f64::MIN, f64::max);
        let power = |at: usize| (SHARPNESS * (scores[at].0 - most)).exp();
        let others: f64 = (0..scores.len()).filter(|at| !self.items[*at].0).map(power).sum();
        let share = share / gold.len().max(1) as f64;
        let mut add = |at: usize, factor: f64| {
            for (sum, value) in gradient.iter_mut().zip(scores[at].1) {
                *sum += factor * f64::from(*value);
            }
        };
        // Pieces of evidence do not compete with each other.
        let mut pull = 0.0;
        for &at in &gold {
            let all = others + power(at);
            add(at, share * others / all);
            pull += 1.0 / all;
        }
        for at in (0..scores.len()).filter(|&at| !self.items[at].0) {
            add(at, -share * pull * power(at));
        }
    }

    fn metrics(&self, weights: &Weights) -> Option<LevelMetrics> {
        let mut ranked: Vec<(f64, bool)> =
            self.scores(weights).iter().zip(&self.items).map(|(s, item)| (s.0, item.0)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let found = ranked.iter().enumerate().filter(|(_, (_, is_gold))| *is_gold);
        let ranks: Vec<usize> = found.map(|(at, _)| at).collect();
        (self.gold > 0).then(|| metrics(&ranks, self.gold))
    }
}

impl TextKind {
    /// Asks the questions of a file and keeps the features of what is compared.
    pub(super) fn read(path: &Path, questions: &[BenchQuestion]) -> Result<Self> {
        let name = super::kind_of(path);
        let answerable: Vec<_> = questions.iter().filter(|question| !question.abstention).collect();
        let mut kept = Vec::with_capacity(answerable.len());
        each_in_vault(&answerable, |question, vault| {
            kept.push(FitQuestion::new(question, vault)?);
            Ok(())
        })?;
        Ok(Self { name, questions: kept })
    }

    fn items(&self, unit: FitUnit) -> impl Iterator<Item = &FitItems> {
        self.questions.iter().map(move |question| match unit {
            FitUnit::Turns => &question.turns,
            FitUnit::Notes => &question.notes,
        })
    }

    fn metrics(&self, unit: FitUnit, weights: &Weights) -> LevelMetrics {
        let all: Vec<_> = self.items(unit).filter_map(|items| items.metrics(weights)).collect();
        mean(&all)
    }

    /// Returns the features as JSON Lines, for other programs.
    pub(super) fn lines(&self) -> String {
        let of_items = |items: &FitItems| {
            let items_json = items.items.iter().map(|(gold, passages)| json!([gold, passages]));
            json!({ "gold": items.gold, "items": items_json.collect::<Vec<_>>() })
        };
        let line = |question: &FitQuestion| {
            let (turns, notes) = (of_items(&question.turns), of_items(&question.notes));
            format!("{}\n", json!({ "kind": self.name, "turns": turns, "notes": notes }))
        };
        self.questions.iter().map(line).collect()
    }
}

impl FitQuestion {
    fn new(question: &BenchQuestion, vault: &BenchVault) -> Result<Self> {
        let unit = SearchUnit::Passages;
        let request = SearchRequest { limit: MAX_PASSAGES, unit, ..SearchRequest::default() };
        let page = vault.search(question, request)?;
        let found: Vec<_> = page
            .results
            .iter()
            .filter(|result| result.batch == 0)
            .filter_map(|result| Some((vault.turn_of(result)?, result.features)))
            .collect();
        let notes = found.iter().map(|((note, _), features)| (note.clone(), *features));
        let mut gold = question.gold_sessions.clone();
        gold.sort();
        gold.dedup();
        let notes = FitItems::new(notes, &gold);
        let mut gold = question.gold_turns();
        gold.sort();
        gold.dedup();
        Ok(Self { turns: FitItems::new(found.into_iter(), &gold), notes })
    }
}

/// Learns weights for some kinds.
fn learn(kinds: &[&TextKind], unit: FitUnit) -> Weights {
    let prior = of_conversations(unit);
    let mut weights = prior;
    let (mut mean, mut square) = ([0.0; FEATURE_COUNT], [0.0; FEATURE_COUNT]);
    for step in 1..=STEPS {
        let mut gradient = [0.0; FEATURE_COUNT];
        for kind in kinds {
            let share = 1.0 / (kinds.len() * kind.questions.len().max(1)) as f64;
            for items in kind.items(unit) {
                items.add_gradient(&weights, share, &mut gradient);
            }
        }
        // Adam, for weights of very different size.
        for (at, feature) in RankFeature::ALL.into_iter().enumerate() {
            let slope = gradient[at] - PRIOR * (weights[at] - prior[at]);
            mean[at] = 0.9 * mean[at] + 0.1 * slope;
            square[at] = 0.99 * square[at] + 0.01 * slope * slope;
            let (mean, square) = (
                mean[at] / (1.0 - 0.9f64.powi(step as i32)),
                square[at] / (1.0 - 0.99f64.powi(step as i32)),
            );
            let length = STEP_LENGTH * (1.0 - step as f64 / (STEPS + 1) as f64);
            weights[at] += length * mean / (square.sqrt() + 1e-8);
            if !may_be_negative(feature) {
                weights[at] = weights[at].max(0.0);
            }
        }
    }
    weights
}

/// Returns true if a feature may speak against a passage.
fn may_be_negative(feature: RankFeature) -> bool {
    feature == RankFeature::First
}

fn of_conversations(unit: FitUnit) -> Weights {
    let mut weights = FeatureWeights::ZERO;
    for (feature, of_passages, of_notes) in CONVERSATIONS {
        let weight = if unit == FitUnit::Turns { of_passages } else { of_notes };
        weights = weights.with(feature, weight);
    }
    weights.to_array()
}

fn in_use(unit: FitUnit) -> Weights {
    let options = RankOptions::STANDARD;
    match unit {
        FitUnit::Turns => options.features.to_array(),
        FitUnit::Notes => options.note_features.to_array(),
    }
}

/// Learns the weights and renders the table and its cross-validation.
pub(super) fn fit(kinds: &[TextKind]) -> String {
    let mut text = format!(
        "{:20} {:5} {:>4} {:24} {:>6} {:>6} {:>6} {:>6}\n",
        "kind", "unit", "n", "weights", "R@5", "R@10", "nDCG10", "MRR"
    );
    let mut tables = Vec::new();
    for unit in [FitUnit::Turns, FitUnit::Notes] {
        let all: Vec<&TextKind> = kinds.iter().collect();
        let learned = learn(&all, unit);
        for kind in kinds {
            let others: Vec<&TextKind> =
                kinds.iter().filter(|other| other.name != kind.name).collect();
            let rows = [
                ("in use", in_use(unit)),
                ("learned without it", learn(&others, unit)),
                ("learned", learned),
            ];
            for (name, weights) in rows {
                let found = kind.metrics(unit, &weights);
                text.push_str(&format!(
                    "{:20} {:5} {:>4} {:24} {:6.3} {:6.3} {:6.3} {:6.3}\n",
                    kind.name,
                    if unit == FitUnit::Turns { "turn" } else { "note" },
                    found.questions,
                    name,
                    found.recall_5,
                    found.recall_10,
                    found.ndcg_10,
                    found.mrr
                ));
            }
        }
        tables.push(FeatureWeights::from_array(learned));
    }
    text.push_str("\nWeights for passages and for notes:\n");
    for feature in RankFeature::ALL {
        let weights = tables.iter().map(|table| format!("{:.2}", table.get(feature)));
        let weights = weights.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("    (RankFeature::{feature:?}, {weights}),\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_that_tells_evidence_gets_the_weight() {
        let values = |own: f32, note: f32| {
            let mut values = FeatureValues::default();
            values[RankFeature::First as usize] = own;
            values[RankFeature::Passage as usize] = note;
            values
        };
        let question = |n: usize| {
            let noise = |at: usize| (at * 7 + n * 3) as f32 % 5.0 / 5.0;
            let items = (0..10).map(|at| {
                (at == 4, vec![values(f32::from(u8::from(at == 4)), noise(at)), values(0.0, 0.0)])
            });
            let items = || FitItems { items: items.clone().collect(), gold: 1 };
            FitQuestion { turns: items(), notes: items() }
        };
        let kind = TextKind { name: "made".to_owned(), questions: (0..20).map(question).collect() };
        let learned = learn(&[&kind], FitUnit::Turns);
        let before = of_conversations(FitUnit::Turns);
        assert!(learned[RankFeature::First as usize] > before[RankFeature::First as usize] + 0.3);
        assert_eq!(kind.metrics(FitUnit::Turns, &learned).mrr, 1.0);
        assert!(fit(&[kind]).contains("(RankFeature::Passage, "));
    }
}
