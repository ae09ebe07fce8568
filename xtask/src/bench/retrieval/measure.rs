//! Asks every question in a vault of its own and records what each method ranks first.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use memoranda_engine::core::rank::RankOptions;
use memoranda_engine::{
    DEFAULT_PROJECT, Memory, OpenOptions, SearchPage, SearchRequest, SearchResult, SearchUnit,
};
use serde_json::json;
use tempfile::TempDir;

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
    each_in_vault(questions, |question, vault| {
        rankings.push(rank(question, vault, methods)?);
        Ok(())
    })?;
    Ok(Measurement {
        questions: rankings,
        methods: methods.iter().map(|method| method.name).collect(),
    })
}

/// Calls a function for each question, with a vault of its conversations. Consecutive questions
/// with the same conversations share a vault.
pub(super) fn each_in_vault(
    questions: &[impl Borrow<BenchQuestion>],
    mut ask: impl FnMut(&BenchQuestion, &BenchVault) -> Result<()>,
) -> Result<()> {
    let mut open: Option<BenchVault> = None;
    for (done, question) in questions.iter().map(Borrow::borrow).enumerate() {
        if done > 0 && done % 10 == 0 {
            eprintln!("bench: {done} of {} questions", questions.len());
        }
        let vault = match open.take().filter(|vault| vault.is_of(&question.sessions)) {
            Some(vault) => vault,
            None => BenchVault::new(&question.sessions)?,
        };
        ask(question, &vault)?;
        open = Some(vault);
    }
    Ok(())
}

/// A vault with one note for each conversation.
pub(super) struct BenchVault {
    memory: Memory,
    notes: BTreeMap<String, ConversationNote>,
    sessions: Rc<[Conversation]>,
    _folder: TempDir,
}

impl BenchVault {
    pub(super) fn new(sessions: &Rc<[Conversation]>) -> Result<Self> {
        Self::of_part(sessions, &(0..sessions.len()).collect::<Vec<_>>())
    }

    /// Makes a vault of some of the conversations.
    pub(super) fn of_part(sessions: &Rc<[Conversation]>, part: &[usize]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let chosen = part.iter().filter_map(|at| sessions.get(*at));
        let notes = write_notes(folder.path(), chosen)?;
        let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
        memory.sync(&mut |_| ())?;
        Ok(Self { memory, notes, sessions: Rc::clone(sessions), _folder: folder })
    }

    /// Returns true if the vault was made of these conversations.
    pub(super) fn is_of(&self, sessions: &Rc<[Conversation]>) -> bool {
        Rc::ptr_eq(&self.sessions, sessions)
    }

    /// Searches for the text of a question; other fields as in the request.
    pub(super) fn search(
        &self,
        question: &BenchQuestion,
        request: SearchRequest,
    ) -> Result<SearchPage> {
        Ok(self.memory.search(&SearchRequest {
            text: question.question.clone(),
            min_relevance: 0.0,
            snippet_chars: 1,
            now: parse_time(&question.date),
            ..request
        })?)
    }

    /// Returns the conversation and the turn of a result.
    pub(super) fn turn_of(&self, result: &SearchResult) -> Option<(String, usize)> {
        let note = self.notes.get(result.place.path.as_str())?;
        Some((note.id.clone(), note.turn_at(result.lines)?))
    }
}

fn rank(
    question: &BenchQuestion,
    vault: &BenchVault,
    methods: &[RankMethod],
) -> Result<QuestionRankings> {
    let mut rankings = BTreeMap::new();
    for method in methods {
        let search = |options: RankOptions, unit: SearchUnit, limit: usize| {
            vault.search(
                question,
                SearchRequest { limit, unit, options, ..SearchRequest::default() },
            )
        };
        let found = search(method.notes, SearchUnit::Notes, MAX_NOTES)?;
        let passages = search(method.passages, SearchUnit::Passages, MAX_PASSAGES)?;
        let sessions = found
            .results
            .iter()
            .filter_map(|result| Some(vault.notes.get(result.place.path.as_str())?.id.clone()));
        let turns = passages.results.iter().filter_map(|result| vault.turn_of(result));
        rankings.insert(
            method.name,
            MethodRanking {
                sessions: deduplicated(sessions),
                turns: deduplicated(turns),
                relevance: found.relevance,
            },
        );
    }
    Ok(QuestionRankings {
        qid: question.qid.clone(),
        kind: question.r#type.clone(),
        abstention: question.abstention,
        gold_sessions: deduplicated(question.gold_sessions.iter().cloned()),
        gold_turns: deduplicated(question.gold_turns().into_iter()),
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
pub(super) struct ConversationNote {
    pub(super) id: String,
    /// Line numbers of each turn, from 1.
    turns: Vec<Range<usize>>,
    /// Length of each line in bytes.
    line_bytes: Vec<usize>,
}

impl ConversationNote {
    /// Returns the turn that a passage overlaps most.
    pub(super) fn turn_at(&self, (first, last): (usize, usize)) -> Option<usize> {
        let overlap = |turn: &Range<usize>| -> usize {
            let lines = turn.start.max(first)..turn.end.min(last + 1);
            lines.filter_map(|line| self.line_bytes.get(line.checked_sub(1)?)).sum()
        };
        let turns = self.turns.iter().enumerate();
        let best = turns.max_by_key(|(at, turn)| (overlap(turn), std::cmp::Reverse(*at)));
        best.map(|(at, _)| at)
    }
}

/// Writes the conversations of a question as notes and returns them by path.
pub(super) fn write_notes<'c>(
    folder: &Path,
    sessions: impl IntoIterator<Item = &'c Conversation>,
) -> Result<BTreeMap<String, ConversationNote>> {
    let mut notes = BTreeMap::new();
    for (number, conversation) in sessions.into_iter().enumerate() {
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
