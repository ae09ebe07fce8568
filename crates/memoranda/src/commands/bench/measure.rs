//! Asking the questions: a vault for each, and what each method puts first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use memoranda_engine::core::rank::RankOptions;
use memoranda_engine::{
    DEFAULT_PROJECT, Memory, OpenOptions, SearchPage, SearchRequest, SearchUnit, SyncProgress,
};
use serde_json::json;

use super::dataset::{Conversation, Question, moment};
use crate::error::{CommandError, Result};
use crate::files;
use crate::output::Printer;
use crate::progress::Progress;

/// How far down a ranking is looked.
const NOTES: usize = 50;
const PASSAGES: usize = 150;

/// A way to rank: what counts for notes, and what for passages.
pub(super) struct Method {
    pub(super) name: &'static str,
    notes: RankOptions,
    passages: RankOptions,
}

impl Method {
    pub(super) fn new(name: &'static str, notes: RankOptions, passages: RankOptions) -> Self {
        Self { name, notes, passages }
    }

    pub(super) fn one(name: &'static str, options: RankOptions) -> Self {
        Self::new(name, options, options)
    }
}

/// What came of all questions.
pub(super) struct Measured {
    pub(super) questions: Vec<Asked>,
    pub(super) methods: Vec<&'static str>,
}

/// What came of one question.
pub(super) struct Asked {
    pub(super) qid: String,
    pub(super) kind: String,
    pub(super) abstention: bool,
    pub(super) gold_sessions: Vec<String>,
    pub(super) gold_turns: Vec<(String, usize)>,
    /// By method.
    pub(super) rankings: BTreeMap<&'static str, Ranking>,
}

/// What a method put first.
#[derive(Default)]
pub(super) struct Ranking {
    pub(super) sessions: Vec<String>,
    pub(super) turns: Vec<(String, usize)>,
    /// How likely the likeliest candidate answers.
    pub(super) relevance: f64,
}

impl Measured {
    /// The rankings of a method, as scorers read them.
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

/// Asks every question in every way.
pub(super) fn measure(
    printer: &Printer,
    questions: &[Question],
    methods: &[Method],
) -> Result<Measured> {
    let mut progress = Progress::new(printer);
    let mut asked = Vec::with_capacity(questions.len());
    for (done, question) in questions.iter().enumerate() {
        progress.update(SyncProgress { done, total: questions.len() });
        asked.push(ask(question, methods)?);
    }
    Ok(Measured { questions: asked, methods: methods.iter().map(|method| method.name).collect() })
}

fn ask(question: &Question, methods: &[Method]) -> Result<Asked> {
    let folder =
        tempfile::tempdir().map_err(|e| CommandError::io("make a temporary folder", &e))?;
    let notes = write(folder.path(), question)?;
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
                now: moment(&question.date),
                ..SearchRequest::default()
            })
        };
        let found = search(method.notes, SearchUnit::Notes, NOTES)?;
        let passages = search(method.passages, SearchUnit::Passages, PASSAGES)?;
        let sessions = found
            .results
            .iter()
            .filter_map(|result| Some(notes.get(result.place.path.as_str())?.id.clone()));
        rankings.insert(
            method.name,
            Ranking {
                sessions: once(sessions),
                turns: turns(&notes, &passages),
                relevance: found.relevance,
            },
        );
    }
    let gold = question.sessions.iter().flat_map(|session| {
        let turns = session.turns.iter().enumerate().filter(|(_, turn)| turn.gold);
        turns.map(|(at, _)| (session.id.clone(), at))
    });
    Ok(Asked {
        qid: question.qid.clone(),
        kind: question.r#type.clone(),
        abstention: question.abstention,
        gold_sessions: once(question.gold_sessions.iter().cloned()),
        gold_turns: once(gold),
        rankings,
    })
}

/// Each of these once, where it first comes: data may name a conversation twice.
fn once<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}

/// A conversation as a note.
struct Written {
    id: String,
    /// The lines of each turn, from 1, with the number of bytes in each line.
    turns: Vec<Range<usize>>,
    line_bytes: Vec<usize>,
}

/// Writes the conversations of a question as notes; yields them by their paths.
fn write(folder: &Path, question: &Question) -> Result<BTreeMap<String, Written>> {
    let mut notes = BTreeMap::new();
    for (number, conversation) in question.sessions.iter().enumerate() {
        let path = format!("{number:04}.md");
        let (text, turns) = note(conversation);
        let place = folder.join("home").join(DEFAULT_PROJECT).join(&path);
        files::write(&place, text.as_bytes())?;
        let line_bytes = text.lines().map(str::len).collect();
        notes.insert(path, Written { id: conversation.id.clone(), turns, line_bytes });
    }
    Ok(notes)
}

/// The text of a note, and the lines of each turn.
fn note(conversation: &Conversation) -> (String, Vec<Range<usize>>) {
    let mut text = String::from("---\n");
    let date = moment(&conversation.date);
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

/// The turns of passages: each counts for the turn that it overlaps most.
fn turns(notes: &BTreeMap<String, Written>, page: &SearchPage) -> Vec<(String, usize)> {
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
