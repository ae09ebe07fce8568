//! `--relevance FILE`: writes what the relevance is learned from. Every question is asked in its own
//! vault and in a small part of it, and questions that neither can answer are asked there, too.
//! `xtask/scripts/fit_relevance.py` learns the table from that file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

use memoranda_engine::{SearchRequest, SearchUnit};
use serde_json::json;

use super::cross_validation::hashed;
use super::measure::BenchVault;
use super::questions::BenchQuestion;
use crate::Result;

/// Number of passages that are written of each search.
const MAX_PASSAGES: usize = 30;
/// Number of questions of other vaults that are asked in each vault.
const UNRELATED: usize = 4;
/// Numbers of further notes in the small vaults.
const SMALL_VAULTS: [usize; 4] = [2, 6, 14, 30];
/// Maximum number of notes with evidence in a small vault.
const MAX_GOLD_NOTES: usize = 3;

/// A file of questions: one kind of text.
pub(super) struct QuestionFile {
    pub(super) kind: String,
    pub(super) questions: Vec<BenchQuestion>,
}

/// A question that is asked in some vault.
#[derive(Clone, Copy)]
struct AskedQuestion<'q> {
    kind: &'q str,
    question: &'q BenchQuestion,
    /// True if the vault contains the evidence.
    is_own: bool,
}

/// Asks all questions and writes one JSON object a search.
pub(super) fn write_searches(files: &[QuestionFile], path: &Path) -> Result<()> {
    let mut output = BufWriter::new(File::create(path)?);
    for file in files {
        eprintln!("bench: {}", file.kind);
        let mut open: Option<BenchVault> = None;
        for (at, question) in file.questions.iter().enumerate() {
            let vault = match open.take().filter(|vault| vault.is_of(&question.sessions)) {
                Some(vault) => vault,
                None => BenchVault::new(&question.sessions)?,
            };
            let own = AskedQuestion { kind: &file.kind, question, is_own: true };
            let asked = [vec![own], unrelated(files, own, at)].concat();
            write_vault(&mut output, own, &vault, &asked, question.sessions.len())?;
            open = Some(vault);
            let part = small_part(question, at);
            let small = BenchVault::of_part(&question.sessions, &part)?;
            write_vault(&mut output, own, &small, &asked, part.len())?;
        }
    }
    Ok(output.flush()?)
}

/// Chooses questions of other vaults: half of the same kind if there are such vaults.
fn unrelated<'q>(
    files: &'q [QuestionFile],
    own: AskedQuestion<'q>,
    at: usize,
) -> Vec<AskedQuestion<'q>> {
    let all = files.iter().flat_map(|file| {
        let of_file = file.questions.iter();
        of_file.map(|question| AskedQuestion { kind: &file.kind, question, is_own: false })
    });
    let others = all.filter(|other| !Rc::ptr_eq(&other.question.sessions, &own.question.sessions));
    let (same, other): (Vec<_>, Vec<_>) = others.partition(|other| other.kind == own.kind);
    let pick = |from: &[AskedQuestion<'q>], count: usize| -> Vec<AskedQuestion<'q>> {
        let places = (0..count).map(|n| hashed((at * UNRELATED + n) as u64) as usize);
        places.filter_map(|place| from.get(place % from.len().max(1)).copied()).collect()
    };
    let near = pick(&same, UNRELATED / 2);
    let far = pick(&other, UNRELATED - near.len());
    [near, far].concat()
}

/// Chooses the notes of a small vault: those with evidence and a few others.
fn small_part(question: &BenchQuestion, at: usize) -> Vec<usize> {
    let count = question.sessions.len();
    let is_gold = |place: &usize| {
        let session = question.sessions.get(*place);
        session.is_some_and(|session| question.gold_sessions.contains(&session.id))
    };
    let gold = (0..count).filter(is_gold).take(MAX_GOLD_NOTES);
    let further = SMALL_VAULTS[at % SMALL_VAULTS.len()];
    let further = (0..further).map(|n| hashed((at * 64 + n) as u64) as usize % count);
    let mut part: Vec<usize> = gold.chain(further).collect();
    part.sort_unstable();
    part.dedup();
    part
}

fn write_vault(
    output: &mut impl Write,
    own: AskedQuestion<'_>,
    vault: &BenchVault,
    asked: &[AskedQuestion<'_>],
    notes: usize,
) -> Result<()> {
    let gold = own.question.gold_turns();
    for asked in asked.iter().filter(|asked| !(asked.is_own && asked.question.abstention)) {
        let unit = SearchUnit::Passages;
        let request = SearchRequest { limit: MAX_PASSAGES, unit, ..SearchRequest::default() };
        let page = vault.search(asked.question, request)?;
        let passages = page.results.iter().map(|result| {
            let turn = vault.turn_of(result).filter(|_| asked.is_own);
            json!({
                "is_gold": turn.is_some_and(|turn| gold.contains(&turn)),
                "note": result.file,
                "score": result.score,
                "features": result.features,
                "relevance": result.relevance_values,
            })
        });
        let line = json!({
            "kind": own.kind,
            "asked": asked.kind,
            "is_own": asked.is_own,
            "is_small": notes < own.question.sessions.len(),
            "gold": gold.len(),
            "question": asked.question.question,
            "passages": passages.collect::<Vec<_>>(),
        });
        writeln!(output, "{line}")?;
    }
    Ok(())
}
