//! `cargo xtask bench retrieval FILE --answers`: measures what an answer within a token budget
//! contains, and how often a vault without an answer stays silent.

use memoranda_engine::core::token_estimate::estimate_tokens;
use memoranda_engine::{
    Memory, OpenOptions, PackRequest, PackedNote, RELATIVE_CUT, SearchRequest, SearchUnit,
};
use serde::Serialize;
use serde_json::json;

use super::measure::write_notes;
use super::questions::{BenchQuestion, parse_time};
use crate::Result;

/// Measured token budgets.
const BUDGETS: [usize; 4] = [500, 1_000, 2_000, 4_000];
/// Measured thresholds of relevance.
const THRESHOLDS: [f64; 10] = [0.1, 0.15, 0.2, 0.22, 0.25, 0.28, 0.3, 0.35, 0.4, 0.5];
/// Measured cuts relative to the best score.
const CUTS: [f64; 5] = [0.0, 0.4, 0.5, 0.6, 0.7];
/// Distance of the other questions that each vault is asked.
const FOREIGN: [usize; 4] = [7, 19, 31, 43];

/// Evidence in the answers, and silence about other subjects.
#[derive(Serialize)]
pub(super) struct AnswersReport {
    questions: usize,
    budgets: Vec<BudgetMetrics>,
    thresholds: Vec<ThresholdMetrics>,
    cuts: Vec<CutMetrics>,
}

#[derive(Serialize)]
struct BudgetMetrics {
    max_tokens: usize,
    /// Share of questions whose whole evidence the answer contains.
    whole_evidence: f64,
    /// Share of questions with a part of the evidence.
    some_evidence: f64,
    /// Mean number of passages and of tokens.
    passages: f64,
    tokens: f64,
}

#[derive(Serialize)]
struct ThresholdMetrics {
    min_relevance: f64,
    /// Share of questions answered in their own vault and in another one.
    own: f64,
    foreign: f64,
}

#[derive(Serialize)]
struct CutMetrics {
    relative_cut: f64,
    /// Mean number of passages, of at most 50.
    passages: f64,
    /// Share of the passages that belong to a turn of the evidence.
    precision: f64,
    /// Share of questions with the whole evidence.
    whole_evidence: f64,
}

/// The turns of one answer, each passage with its turn.
struct AnswerTurns {
    turns: Vec<(String, usize)>,
    tokens: usize,
}

/// The answers to one question.
struct QuestionAnswers {
    gold: Vec<(String, usize)>,
    packed: Vec<AnswerTurns>,
    cut: Vec<AnswerTurns>,
    own: f64,
    foreign: Vec<f64>,
}

/// Asks all questions and computes the shares.
pub(super) fn measure_answers(questions: &[BenchQuestion]) -> Result<AnswersReport> {
    let mut answers = Vec::with_capacity(questions.len());
    for (at, question) in questions.iter().enumerate() {
        if at > 0 && at % 10 == 0 {
            eprintln!("bench: {at} of {} questions", questions.len());
        }
        let foreign = FOREIGN.iter().filter(|distance| **distance < questions.len());
        let foreign = foreign.filter_map(|step| questions.get((at + step) % questions.len()));
        answers.push(ask(question, &foreign.collect::<Vec<_>>())?);
    }
    let answers: Vec<_> = answers.iter().filter(|asked| !asked.gold.is_empty()).collect();
    let budgets = BUDGETS.iter().enumerate().map(|(at, &max_tokens)| BudgetMetrics {
        max_tokens,
        whole_evidence: mean(answers.iter().map(|asked| share(asked.holds_all(&asked.packed, at)))),
        some_evidence: mean(answers.iter().map(|asked| share(asked.holds_any(&asked.packed, at)))),
        passages: mean(answers.iter().map(|asked| asked.count(&asked.packed, at))),
        tokens: mean(answers.iter().filter_map(|asked| Some(asked.packed.get(at)?.tokens as f64))),
    });
    let thresholds = THRESHOLDS.iter().map(|&min_relevance| ThresholdMetrics {
        min_relevance,
        own: mean(answers.iter().map(|asked| share(asked.own >= min_relevance))),
        foreign: mean(
            answers.iter().flat_map(|asked| &asked.foreign).map(|r| share(*r >= min_relevance)),
        ),
    });
    let cuts = CUTS.iter().enumerate().map(|(at, &relative_cut)| CutMetrics {
        relative_cut,
        passages: mean(answers.iter().map(|asked| asked.count(&asked.cut, at))),
        precision: mean(answers.iter().filter_map(|asked| asked.precision(at))),
        whole_evidence: mean(answers.iter().map(|asked| share(asked.holds_all(&asked.cut, at)))),
    });
    Ok(AnswersReport {
        questions: answers.len(),
        budgets: budgets.collect(),
        thresholds: thresholds.collect(),
        cuts: cuts.collect(),
    })
}

impl QuestionAnswers {
    fn holds_all(&self, answers: &[AnswerTurns], at: usize) -> bool {
        answers.get(at).is_some_and(|a| self.gold.iter().all(|turn| a.turns.contains(turn)))
    }

    fn holds_any(&self, answers: &[AnswerTurns], at: usize) -> bool {
        answers.get(at).is_some_and(|a| self.gold.iter().any(|turn| a.turns.contains(turn)))
    }

    fn count(&self, answers: &[AnswerTurns], at: usize) -> f64 {
        answers.get(at).map_or(0.0, |answer| answer.turns.len() as f64)
    }

    /// Returns the share of passages that belong to the evidence; `None` without passages.
    fn precision(&self, at: usize) -> Option<f64> {
        let turns = &self.cut.get(at)?.turns;
        let right = turns.iter().filter(|turn| self.gold.contains(turn)).count();
        (!turns.is_empty()).then(|| right as f64 / turns.len() as f64)
    }
}

fn share(is_so: bool) -> f64 {
    if is_so { 1.0 } else { 0.0 }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}

/// Returns the tokens of a note in the answer of `search_notes`: the longer of text and structure.
fn cost(note: &PackedNote) -> usize {
    let content = note.text();
    let item = json!({
        "title": note.title,
        "permalink": note.permalink,
        "project": note.place.project.as_str(),
        "content": content,
        "lines": note.line_ranges(),
        "relevance": (note.relevance * 100.0).round() / 100.0,
    });
    let text = format!(
        "\n### {}\npermalink: {} | project: {} | lines: {} | updated: 2026-01-01 | relevance: 0.50\n> {}",
        note.title,
        note.permalink,
        note.place.project,
        note.lines_text(),
        content.replace('\n', "\n> ")
    );
    estimate_tokens(&item.to_string()).max(estimate_tokens(&text)) + 1
}

fn ask(question: &BenchQuestion, foreign: &[&BenchQuestion]) -> Result<QuestionAnswers> {
    let folder = tempfile::tempdir()?;
    let notes = write_notes(folder.path(), question.sessions.iter())?;
    let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    memory.sync(&mut |_| ())?;
    let request = |question: &BenchQuestion| SearchRequest {
        text: question.question.clone(),
        now: parse_time(&question.date),
        ..SearchRequest::default()
    };
    let turn = |path: &str, lines: (usize, usize)| {
        let note = notes.get(path)?;
        Some((note.id.clone(), note.turn_at(lines)?))
    };
    let mut packed = Vec::new();
    for max_tokens in BUDGETS {
        let request = PackRequest {
            max_tokens: Some(max_tokens - 70),
            max_notes: 100,
            cost: &cost,
            ..PackRequest::new(request(question))
        };
        let found = memory.search_packed(&request)?.notes;
        let passages = found.iter().flat_map(|note| {
            let path = note.place.path.as_str();
            note.passages.iter().filter_map(move |passage| turn(path, passage.lines))
        });
        packed
            .push(AnswerTurns { turns: passages.collect(), tokens: found.iter().map(cost).sum() });
    }
    let mut cut = Vec::new();
    for relative_cut in CUTS {
        let found = memory.search(&SearchRequest {
            unit: SearchUnit::Passages,
            limit: 50,
            snippet_chars: 1,
            relative_cut,
            ..request(question)
        })?;
        let turns = found.results.iter().filter_map(|r| turn(r.place.path.as_str(), r.lines));
        cut.push(AnswerTurns { turns: turns.collect(), tokens: 0 });
    }
    let relevance = |question: &BenchQuestion| -> Result<f64> {
        Ok(memory.search(&SearchRequest { snippet_chars: 1, ..request(question) })?.relevance)
    };
    let gold = question.sessions.iter().flat_map(|session| {
        let turns = session.turns.iter().enumerate().filter(|(_, turn)| turn.gold);
        turns.map(|(at, _)| (session.id.clone(), at))
    });
    Ok(QuestionAnswers {
        gold: gold.filter(|_| !question.abstention).collect(),
        packed,
        cut,
        own: relevance(question)?,
        foreign: foreign.iter().map(|other| relevance(other)).collect::<Result<_>>()?,
    })
}

impl AnswersReport {
    /// Renders the report as tables.
    pub(super) fn table(&self) -> String {
        let mut text = format!("{} questions with an answer\n\n", self.questions);
        text.push_str("max_tokens  whole evidence  some evidence  passages  tokens\n");
        for row in &self.budgets {
            text.push_str(&format!(
                "{:>10}  {:>14.3}  {:>13.3}  {:>8.1}  {:>6.0}\n",
                row.max_tokens, row.whole_evidence, row.some_evidence, row.passages, row.tokens
            ));
        }
        text.push_str("\nmin_relevance  answered (own vault)  answered (another vault)\n");
        for row in &self.thresholds {
            text.push_str(&format!(
                "{:>13.2}  {:>20.3}  {:>24.3}\n",
                row.min_relevance, row.own, row.foreign
            ));
        }
        text.push_str(&format!(
            "\nrelative cut (shipped {RELATIVE_CUT})  passages  precision  whole evidence\n"
        ));
        for row in &self.cuts {
            text.push_str(&format!(
                "{:>26.2}  {:>8.1}  {:>9.3}  {:>14.3}\n",
                row.relative_cut, row.passages, row.precision, row.whole_evidence
            ));
        }
        text
    }
}
