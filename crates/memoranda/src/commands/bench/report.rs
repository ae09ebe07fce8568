//! What was measured, in the usual numbers.

use serde::Serialize;

use super::measure::{Asked, Measured};
use super::validate::{Validation, validate};
use crate::error::Result;
use crate::output::{Printer, STRONG};

/// The usual numbers of one group of questions, as means.
#[derive(Serialize, Default, Clone)]
struct Level {
    level: &'static str,
    r#type: String,
    questions: usize,
    any_1: f64,
    any_5: f64,
    all_5: f64,
    any_10: f64,
    all_10: f64,
    recall_5: f64,
    recall_10: f64,
    ndcg_10: f64,
    mrr: f64,
}

#[derive(Serialize)]
struct OfMethod {
    method: &'static str,
    levels: Vec<Level>,
}

/// How well the relevance tells questions with an answer from those without.
#[derive(Serialize)]
struct Abstention {
    answered: usize,
    silent: usize,
    accuracy: f64,
    threshold: f64,
}

#[derive(Serialize)]
pub(super) struct Report {
    questions: usize,
    methods: Vec<OfMethod>,
    abstention: Option<Abstention>,
    validation: Option<Validation>,
}

/// The numbers.
pub(super) fn json(measured: &Measured) -> Report {
    let methods = measured
        .methods
        .iter()
        .map(|&method| OfMethod { method, levels: levels(measured, method) });
    Report {
        questions: measured.questions.len(),
        methods: methods.collect(),
        abstention: abstention(measured),
        validation: validate(measured),
    }
}

/// Prints them as a table.
pub(super) fn print(printer: &Printer, measured: &Measured) -> Result<()> {
    let report = json(measured);
    printer.line(format!(
        "{STRONG}{:36} {:8} {:26} {:>4} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}{STRONG:#}",
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
    ))?;
    for method in &report.methods {
        for level in &method.levels {
            // The types are of interest for the search as it is; of the others the sum is.
            if method.method != "search" && level.r#type != "all" {
                continue;
            }
            printer.line(format!(
                "{:36} {:8} {:26} {:>4} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3}",
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
            ))?;
        }
    }
    if let Some(found) = &report.abstention {
        printer.line(format!(
            "Telling {} questions with an answer from {} without: {:.3} right at a relevance of {:.3}.",
            found.answered, found.silent, found.accuracy, found.threshold
        ))?;
    }
    if let Some(validation) = &report.validation {
        printer.line(validation.sentence())?;
    }
    Ok(())
}

fn levels(measured: &Measured, method: &'static str) -> Vec<Level> {
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
            let found: Vec<Level> = of_kind
                .filter_map(|asked| ranks(asked, method, level))
                .map(|(ranks, gold)| numbers(&ranks, gold))
                .collect();
            if !found.is_empty() {
                levels.push(Level { level, r#type: kind.to_owned(), ..mean(&found) });
            }
        }
    }
    levels
}

/// How well a method did at a question, in one number: the mean of R@5 and nDCG for sessions, and of
/// R@10 and nDCG for turns.
pub(super) fn merit(asked: &Asked, method: &str) -> Option<f64> {
    let at = |level| ranks(asked, method, level).map(|(ranks, gold)| numbers(&ranks, gold));
    let session = at("session").filter(|_| !asked.abstention)?;
    let session = [session.recall_5, session.ndcg_10];
    let turn = at("turn").map_or(session, |turn| [turn.recall_10, turn.ndcg_10]);
    Some(session.iter().chain(&turn).sum::<f64>() / 4.0)
}

/// The places, from 0, at which the evidence was found, and how much evidence there is.
fn ranks(asked: &Asked, method: &str, level: &str) -> Option<(Vec<usize>, usize)> {
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

fn numbers(ranks: &[usize], gold: usize) -> Level {
    let within = |k: usize| ranks.iter().filter(|&&rank| rank < k).count();
    let any = |k: usize| f64::from(u8::from(within(k) > 0));
    let all = |k: usize| f64::from(u8::from(within(k) == gold));
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    // The sum of nothing is -0 otherwise, and is printed so.
    let reached = ranks.iter().filter(|&&rank| rank < 10).fold(0.0, |sum, &rank| sum + gain(rank));
    let possible: f64 = (0..gold.min(10)).map(gain).sum();
    Level {
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
        ..Level::default()
    }
}

fn mean(levels: &[Level]) -> Level {
    let of =
        |number: fn(&Level) -> f64| levels.iter().map(number).sum::<f64>() / levels.len() as f64;
    Level {
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
        ..Level::default()
    }
}

/// The threshold that tells best, and how often it is right.
fn abstention(measured: &Measured) -> Option<Abstention> {
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
    Some(Abstention { answered: known.len() - silent, silent, accuracy, threshold })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_from_places() {
        let found = numbers(&[0, 6], 2);
        assert_eq!((found.any_1, found.any_5, found.all_5, found.all_10), (1.0, 1.0, 0.0, 1.0));
        assert_eq!((found.recall_5, found.recall_10, found.mrr), (0.5, 1.0, 1.0));
        assert!((found.ndcg_10 - (1.0 + 1.0 / 3.0) / (1.0 + 1.0 / 3f64.log2())).abs() < 1e-9);
        assert_eq!(numbers(&[], 1).mrr, 0.0);
        assert_eq!(format!("{:.3}", mean(&[numbers(&[], 1)]).ndcg_10), "0.000");
    }
}
