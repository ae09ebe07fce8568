//! Retrieval metrics of a measurement: recall, nDCG and MRR, as JSON or a table.

use serde::Serialize;

use super::cross_validation::{CrossValidation, cross_validate};
use super::measure::{Measurement, QuestionRankings};

/// Mean metrics of one group of questions.
#[derive(Serialize, Default, Clone)]
pub(super) struct LevelMetrics {
    level: &'static str,
    r#type: String,
    pub(super) questions: usize,
    any_1: f64,
    any_5: f64,
    all_5: f64,
    any_10: f64,
    all_10: f64,
    pub(super) recall_5: f64,
    pub(super) recall_10: f64,
    pub(super) ndcg_10: f64,
    pub(super) mrr: f64,
}

#[derive(Serialize)]
struct MethodMetrics {
    method: &'static str,
    levels: Vec<LevelMetrics>,
}

/// Accuracy with which the relevance separates questions with an answer from those without.
#[derive(Serialize)]
struct AbstentionMetrics {
    answered: usize,
    silent: usize,
    accuracy: f64,
    threshold: f64,
}

#[derive(Serialize)]
pub(super) struct RetrievalReport {
    questions: usize,
    methods: Vec<MethodMetrics>,
    abstention: Option<AbstentionMetrics>,
    validation: Option<CrossValidation>,
}

/// Computes the metrics of a measurement.
pub(super) fn report(measured: &Measurement) -> RetrievalReport {
    let methods = measured
        .methods
        .iter()
        .map(|&method| MethodMetrics { method, levels: levels(measured, method) });
    RetrievalReport {
        questions: measured.questions.len(),
        methods: methods.collect(),
        abstention: abstention(measured),
        validation: cross_validate(measured),
    }
}

/// Renders a report as a table.
pub(super) fn table(report: &RetrievalReport) -> String {
    let mut text = format!(
        "{:36} {:8} {:26} {:>4} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
        "method",
        "level",
        "type",
        "n",
        "any@1",
        "any@5",
        "all@5",
        "all@10",
        "R@5",
        "R@10",
        "nDCG10",
        "MRR"
    );
    for method in &report.methods {
        for level in &method.levels {
            // Types are shown for the standard search only; other methods show their total.
            if method.method != "search" && level.r#type != "all" {
                continue;
            }
            text.push_str(&format!(
                "{:36} {:8} {:26} {:>4} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3}\n",
                method.method,
                level.level,
                level.r#type,
                level.questions,
                level.any_1,
                level.any_5,
                level.all_5,
                level.all_10,
                level.recall_5,
                level.recall_10,
                level.ndcg_10,
                level.mrr
            ));
        }
    }
    if let Some(found) = &report.abstention {
        text.push_str(&format!(
            "Separating {} questions with an answer from {} without: accuracy {:.3} at a relevance \
             of {:.3}.\n",
            found.answered, found.silent, found.accuracy, found.threshold
        ));
    }
    if let Some(validation) = &report.validation {
        text.push_str(&format!("{}\n", validation.sentence()));
    }
    text
}

fn levels(measured: &Measurement, method: &'static str) -> Vec<LevelMetrics> {
    let mut kinds: Vec<&str> = measured.questions.iter().map(|asked| asked.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut levels = Vec::new();
    for level in ["session", "turn"] {
        for kind in std::iter::once("all").chain(kinds.iter().copied()) {
            let of_kind = measured
                .questions
                .iter()
                .filter(|asked| !asked.abstention && (kind == "all" || asked.kind == kind));
            let found: Vec<LevelMetrics> = of_kind
                .filter_map(|asked| ranks(asked, method, level))
                .map(|(ranks, gold)| metrics(&ranks, gold))
                .collect();
            if !found.is_empty() {
                levels.push(LevelMetrics { level, r#type: kind.to_owned(), ..mean(&found) });
            }
        }
    }
    levels
}

/// Scores a method at a question with one number: the mean of R@5 and nDCG for sessions, and of
/// R@10 and nDCG for turns.
pub(super) fn merit(asked: &QuestionRankings, method: &str) -> Option<f64> {
    let at = |level| ranks(asked, method, level).map(|(ranks, gold)| metrics(&ranks, gold));
    let session = at("session").filter(|_| !asked.abstention)?;
    let session = [session.recall_5, session.ndcg_10];
    let turn = at("turn").map_or(session, |turn| [turn.recall_10, turn.ndcg_10]);
    Some(session.iter().chain(&turn).sum::<f64>() / 4.0)
}

/// Returns the ranks, from 0, of the evidence that was found, and the number of pieces of evidence.
fn ranks(asked: &QuestionRankings, method: &str, level: &str) -> Option<(Vec<usize>, usize)> {
    fn places<T: PartialEq>(ranked: &[T], gold: &[T]) -> (Vec<usize>, usize) {
        let found = ranked.iter().enumerate().filter(|(_, item)| gold.contains(item));
        (found.map(|(at, _)| at).collect(), gold.len())
    }
    let ranking = asked.rankings.get(method)?;
    let (ranks, gold) = match level {
        "session" => places(&ranking.sessions, &asked.gold_sessions),
        _ => places(&ranking.turns, &asked.gold_turns),
    };
    (gold > 0).then_some((ranks, gold))
}

pub(super) fn metrics(ranks: &[usize], gold: usize) -> LevelMetrics {
    let within = |k: usize| ranks.iter().filter(|&&rank| rank < k).count();
    let any = |k: usize| f64::from(u8::from(within(k) > 0));
    let all = |k: usize| f64::from(u8::from(within(k) == gold));
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    // An empty sum would be -0.0 and print its sign.
    let reached = ranks.iter().filter(|&&rank| rank < 10).fold(0.0, |sum, &rank| sum + gain(rank));
    let possible: f64 = (0..gold.min(10)).map(gain).sum();
    LevelMetrics {
        questions: 1,
        any_1: any(1),
        any_5: any(5),
        all_5: all(5),
        any_10: any(10),
        all_10: all(10),
        recall_5: within(5) as f64 / gold as f64,
        recall_10: within(10) as f64 / gold as f64,
        ndcg_10: reached / possible,
        mrr: ranks.first().map_or(0.0, |&rank| 1.0 / (rank as f64 + 1.0)),
        ..LevelMetrics::default()
    }
}

pub(super) fn mean(levels: &[LevelMetrics]) -> LevelMetrics {
    let of = |number: fn(&LevelMetrics) -> f64| {
        levels.iter().map(number).sum::<f64>() / levels.len() as f64
    };
    LevelMetrics {
        questions: levels.len(),
        any_1: of(|l| l.any_1),
        any_5: of(|l| l.any_5),
        all_5: of(|l| l.all_5),
        any_10: of(|l| l.any_10),
        all_10: of(|l| l.all_10),
        recall_5: of(|l| l.recall_5),
        recall_10: of(|l| l.recall_10),
        ndcg_10: of(|l| l.ndcg_10),
        mrr: of(|l| l.mrr),
        ..LevelMetrics::default()
    }
}

/// Finds the relevance threshold with the best accuracy.
fn abstention(measured: &Measurement) -> Option<AbstentionMetrics> {
    let known: Vec<(f64, bool)> = measured
        .questions
        .iter()
        .filter_map(|asked| Some((asked.rankings.get("search")?.relevance, asked.abstention)))
        .collect();
    let silent = known.iter().filter(|(_, is_silent)| *is_silent).count();
    if silent == 0 {
        return None;
    }
    let right = |threshold: f64| {
        let right = known.iter().filter(|(found, is_silent)| (*found >= threshold) != *is_silent);
        right.count() as f64 / known.len() as f64
    };
    let best = known.iter().map(|&(threshold, _)| (right(threshold), threshold));
    let (accuracy, threshold) = best.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(AbstentionMetrics { answered: known.len() - silent, silent, accuracy, threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_follow_from_ranks() {
        let found = metrics(&[0, 6], 2);
        assert_eq!((found.any_1, found.any_5, found.all_5, found.all_10), (1.0, 1.0, 0.0, 1.0));
        assert_eq!((found.recall_5, found.recall_10, found.mrr), (0.5, 1.0, 1.0));
        assert!((found.ndcg_10 - (1.0 + 1.0 / 3.0) / (1.0 + 1.0 / 3f64.log2())).abs() < 1e-9);
        assert_eq!(metrics(&[], 1).mrr, 0.0);
        assert_eq!(format!("{:.3}", mean(&[metrics(&[], 1)]).ndcg_10), "0.000");
    }
}
