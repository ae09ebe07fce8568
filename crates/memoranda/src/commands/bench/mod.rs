//! `memoranda bench`: measure how well search finds, on questions whose answers are known.

mod dataset;
mod measure;
mod report;
mod validate;

use std::path::PathBuf;

use clap::Subcommand;
use memoranda_engine::core::rank::RankOptions;

use crate::error::Result;
use crate::exit::Exit;
use crate::files;
use crate::output::Format;
use crate::session::Session;
use measure::{Method, measure};

/// Measure how well search finds.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda bench retrieval questions.jsonl")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Bench,
}

#[derive(Subcommand)]
enum Bench {
    Retrieval(RetrievalArgs),
}

/// Search for the answers to questions whose evidence is known.
///
/// Each question gets a vault of its own in a temporary folder, with one note a conversation, and
/// is then searched for as anyone would. Two things are ranked: notes, and turns by the passages
/// that hold them. Beside the search as it is, the same run measures plain BM25 (the note or the
/// passage alone) and the meaning alone. Your own vault is not touched.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda bench retrieval questions.jsonl
  memoranda bench retrieval questions.jsonl.xz --ranked ranked.jsonl --ablation

FILE has one JSON object a line (.xz is unpacked; `-` is standard input):
  {qid, type, abstention, question, date, gold_sessions: [id],
   sessions: [{id, date, turns: [{role, text, gold?}]}]}

JSON (--json):
  {questions, methods: [{method, levels: [{level, type, questions, any_1, any_5, all_5, any_10,
  all_10, recall_5, recall_10, ndcg_10, mrr}]}], abstention: {answered, silent, accuracy,
  threshold}, validation: {settings, rounds, chosen, held_out, search, error}}")]
struct RetrievalArgs {
    /// The questions.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Write the ranking of each question to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    ranked: Option<PathBuf>,

    /// Measure also what search is worth without each of its parts, and how it would fare if the
    /// best of these settings were chosen on half of the questions.
    #[arg(long)]
    ablation: bool,

    /// Only so many questions, spread over the file.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
}

/// Measures.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    match &args.command {
        Bench::Retrieval(args) => retrieval(session, args),
    }
}

fn retrieval(session: &Session, args: &RetrievalArgs) -> Result<Exit> {
    if let Some(path) = &args.ranked {
        // Better now than after an hour.
        files::check_folder_of(path)?;
    }
    let mut questions = dataset::read(&args.file)?;
    let limit = args.limit.map(|limit| limit as usize);
    if let Some(limit) = limit.filter(|&limit| limit < questions.len()) {
        let step = questions.len() as f64 / limit as f64;
        let kept: Vec<usize> = (0..limit).map(|n| (n as f64 * step) as usize).collect();
        let mut at = 0;
        questions.retain(|_| {
            at += 1;
            kept.contains(&(at - 1))
        });
    }
    let mut methods = vec![
        Method::new("plain BM25", plain_notes(), plain_passages()),
        Method::one("vectors alone", vectors()),
        Method::one("search", RankOptions::STANDARD),
    ];
    if args.ablation {
        methods.extend(ablations().map(|(name, options)| Method::one(name, options)));
    }
    let measured = measure(&session.printer, &questions, &methods)?;
    if let Some(path) = &args.ranked {
        files::replace(path, measured.ranked_lines("search").as_bytes())?;
    }
    match session.printer.format {
        Format::Json => session.printer.json(&report::json(&measured))?,
        Format::Plain | Format::Pretty => report::print(&session.printer, &measured)?,
    }
    Ok(Exit::Done)
}

/// What a full-text index alone gives, with a note as the document.
fn plain_notes() -> RankOptions {
    RankOptions { note: 1.0, passage: 0.0, ..plain_passages() }
}

/// What a full-text index alone gives, with a passage as the document.
fn plain_passages() -> RankOptions {
    RankOptions { passage: 1.0, ..none() }
}

/// Nothing that counts; words would be compared as full-text indexes do by default.
fn none() -> RankOptions {
    RankOptions {
        passage: 0.0,
        neighbours: 0.0,
        note: 0.0,
        saturation: 1.2,
        length: 0.75,
        word_weight: 0.0,
        meaning: 0.0,
        speaker: 0.0,
        number: 0.0,
        says_when: 0.0,
        time: 0.0,
        title: 0.0,
        importance: 0.0,
        recency: 0.0,
        ..RankOptions::STANDARD
    }
}

/// What comparing vectors alone gives.
fn vectors() -> RankOptions {
    RankOptions { meaning: 1.0, words_first: 0.0, unsure_words: 0.0, ..none() }
}

/// The search without one of its parts.
fn ablations() -> impl Iterator<Item = (&'static str, RankOptions)> {
    const ALL: RankOptions = RankOptions::STANDARD;
    [
        ("without meaning", RankOptions::WORDS),
        (
            "without neighbours",
            RankOptions { neighbours: 0.0, passage: ALL.passage + ALL.neighbours, ..ALL },
        ),
        ("without the note", RankOptions { note: 0.0, ..ALL }),
        (
            "without any context",
            RankOptions {
                neighbours: 0.0,
                note: 0.0,
                passage: ALL.passage + ALL.neighbours + ALL.note,
                ..ALL
            },
        ),
        (
            "meaning the same for all questions",
            RankOptions { words_first: 0.0, meaning: ALL.meaning / 2.5, ..ALL },
        ),
        ("without the weight of words", RankOptions { word_weight: 0.0, ..ALL }),
        ("without more meaning for notes", RankOptions { meaning_of_notes: 1.0, ..ALL }),
        ("without doubt about short passages", RankOptions { unsure_words: 0.0, ..ALL }),
        ("without who speaks", RankOptions { speaker: 0.0, ..ALL }),
        ("without the kind of answer", RankOptions { number: 0.0, says_when: 0.0, ..ALL }),
        ("without time", RankOptions { time: 0.0, ..ALL }),
        ("without recency", RankOptions { recency: 0.0, ..ALL }),
        ("meaning halved", RankOptions { meaning: ALL.meaning / 2.0, ..ALL }),
        ("meaning doubled", RankOptions { meaning: ALL.meaning * 2.0, ..ALL }),
    ]
    .into_iter()
}
