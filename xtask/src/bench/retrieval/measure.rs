//! Asks every question in a vault of its own and records what each method ranks first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use memoranda_engine::core::rank::RankOptions;
use memoranda_engine::{
    DEFAULT_PROJECT, Memory, OpenOptions, SearchPage, SearchRequest, SearchUnit,
};
use serde_json::json;

use super::questions::{BenchQuestion, Conversation, parse_time};
use crate::Result;

/// Number of notes in a ranking.
const MAX_NOTES: usize = 50;
/// Number of passages from which the ranking of turns is made.
const MAX_PASSAGES: usize = 150;

/// A named set of ranking options, for notes and for passages.
pub(super) struct RankMethod {
    pub(super) name: &'static str,
    notes: RankOptions,
    passages: RankOptions,
}

impl RankMethod {
    pub(super) fn new(name: &'static str, notes: RankOptions, passages: RankOptions) -> Self {
        Self { name, notes, passages }
    }

    pub(super) fn same_for_both(name: &'static str, options: RankOptions) -> Self {
        Self::new(name, options, options)
    }
}

/// The rankings of all questions.
pub(super) struct Measurement {
    pub(super) questions: Vec<QuestionRankings>,
    pub(super) methods: Vec<&'static str>,
}

/// The rankings of one question.
pub(super) struct QuestionRankings {
    pub(super) qid: String,
    pub(super) kind: String,
    pub(super) abstention: bool,
    pub(super) gold_sessions: Vec<String>,
    pub(super) gold_turns: Vec<(String, usize)>,
    /// By method.
    pub(super) rankings: BTreeMap<&'static str, MethodRanking>,
}

/// The ranking that one method made.
#[derive(Default)]
pub(super) struct MethodRanking {
    pub(super) sessions: Vec<String>,
    pub(super) turns: Vec<(String, usize)>,
    /// Relevance of the best result, 0 to 1.
    pub(super) relevance: f64,
}

impl Measurement {
    /// Returns the rankings of a method as JSON Lines.
    pub(super) fn ranked_lines(&self, method: &str) -> String {
        let mut lines = String::new();
        for asked in &self.questions {
            if let Some(ranking) = asked.rankings.get(method) {
                let line = json!({
                    "qid": asked.qid,
                    "sessions": ranking.sessions,
                    "turns": ranking.turns,
                    "score": ranking.relevance,
                });
                lines.push_str(&format!("{line}\n"));
            }
        }
        lines
    }
}

/// Asks every question with every method.
pub(super) fn measure(questions: &[BenchQuestion], methods: &[RankMethod]) -> Result<Measurement> {
    let mut rankings = Vec::with_capacity(questions.len());
    for (done, question) in questions.iter().enumerate() {
        if done > 0 && done % 10 == 0 {
            eprintln!("bench: {done} of {} questions", questions.len());
        }
        rankings.push(rank(question, methods)?);
    }
    Ok(Measurement {
        questions: rankings,
        methods: methods.iter().map(|method| method.name).collect(),
    })
}

fn rank(question: &BenchQuestion, methods: &[RankMethod]) -> Result<QuestionRankings> {
    let folder = tempfile::tempdir()?;
    let notes = write_notes(folder.path(), question)?;
    let memory = Memory::open(OpenOptions {
        home: folder.path().join("home"),
        cache: folder.path().join("cache"),
        state: folder.path().join("state"),
        file_sync: Duration::from_secs(600),
        lock_patience: Duration::from_secs(10),
    })?;
    memory.sync(&mut |_| ())?;
    let mut rankings = BTreeMap::new();
    for method in methods {
        let search = |options: RankOptions, unit: SearchUnit, limit: usize| {
            memory.search(&SearchRequest {
                text: question.question.clone(),
                limit,
                unit,
                min_relevance: 0.0,
                snippet_chars: 1,
                options,
                now: parse_time(&question.date),
                ..SearchRequest::default()
            })
        };
        let found = search(method.notes, SearchUnit::Notes, MAX_NOTES)?;
        let passages = search(method.passages, SearchUnit::Passages, MAX_PASSAGES)?;
        let sessions = found
            .results
            .iter()
            .filter_map(|result| Some(notes.get(result.place.path.as_str())?.id.clone()));
        rankings.insert(
            method.name,
            MethodRanking {
                sessions: deduplicated(sessions),
                turns: turns_of_passages(&notes, &passages),
                relevance: found.relevance,
            },
        );
    }
    let gold = question.sessions.iter().flat_map(|session| {
        let turns = session.turns.iter().enumerate().filter(|(_, turn)| turn.gold);
        turns.map(|(at, _)| (session.id.clone(), at))
    });
    Ok(QuestionRankings {
        qid: question.qid.clone(),
        kind: question.r#type.clone(),
        abstention: question.abstention,
        gold_sessions: deduplicated(question.gold_sessions.iter().cloned()),
        gold_turns: deduplicated(gold),
        rankings,
    })
}

/// Keeps the first occurrence of each item: data sets may name a conversation twice.
fn deduplicated<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}

/// A conversation that was written as a note.
struct ConversationNote {
    id: String,
    /// Line numbers of each turn, from 1.
    turns: Vec<Range<usize>>,
    /// Length of each line in bytes.
    line_bytes: Vec<usize>,
}

/// Writes the conversations of a question as notes and returns them by path.
fn write_notes(
    folder: &Path,
    question: &BenchQuestion,
) -> Result<BTreeMap<String, ConversationNote>> {
    let mut notes = BTreeMap::new();
    for (number, conversation) in question.sessions.iter().enumerate() {
        let path = format!("{number:04}.md");
        let (text, turns) = note_text(conversation);
        let project = folder.join("home").join(DEFAULT_PROJECT);
        std::fs::create_dir_all(&project)?;
        std::fs::write(project.join(&path), text.as_bytes())?;
        let line_bytes = text.lines().map(str::len).collect();
        notes.insert(path, ConversationNote { id: conversation.id.clone(), turns, line_bytes });
    }
    Ok(notes)
}

/// Returns the text of a note and the lines of each turn.
fn note_text(conversation: &Conversation) -> (String, Vec<Range<usize>>) {
    let mut text = String::from("---\n");
    let date = parse_time(&conversation.date);
    text.push_str(&format!("title: Conversation {}\n", conversation.date));
    if let Some(date) = date {
        text.push_str(&format!("created: {date}\n"));
    }
    text.push_str("---\n\n");
    let mut turns = Vec::with_capacity(conversation.turns.len());
    for turn in &conversation.turns {
        let first = text.matches('\n').count() + 1;
        let speaker = if turn.role.is_empty() { "" } else { ": " };
        text.push_str(&format!("{}{speaker}{}\n\n", turn.role, turn.text.trim()));
        turns.push(first..text.matches('\n').count());
    }
    (text, turns)
}

/// Returns the turns of passages: each passage counts for the turn that it overlaps most.
fn turns_of_passages(
    notes: &BTreeMap<String, ConversationNote>,
    page: &SearchPage,
) -> Vec<(String, usize)> {
    let mut turns = Vec::new();
    for result in &page.results {
        let Some(note) = notes.get(result.place.path.as_str()) else { continue };
        let (first, last) = result.lines;
        let overlap = |turn: &Range<usize>| -> usize {
            let lines = turn.start.max(first)..turn.end.min(last + 1);
            lines.filter_map(|line| note.line_bytes.get(line.checked_sub(1)?)).sum()
        };
        let best = note
            .turns
            .iter()
            .enumerate()
            .max_by_key(|(at, turn)| (overlap(turn), std::cmp::Reverse(*at)));
        if let Some((at, _)) = best {
            let turn = (note.id.clone(), at);
            if !turns.contains(&turn) {
                turns.push(turn);
            }
        }
    }
    turns
}
