//! `cargo xtask bench retrieval`: measures how well search finds, on questions with known evidence.
//!
//! Each question gets a vault of its own in a temporary folder, with one note per conversation.
//! Notes are ranked, and turns by the passages that contain them. The same run measures plain BM25
//! (the note or the passage alone) and embeddings alone for comparison.

mod answers;
mod cross_validation;
mod fit;
mod measure;
mod questions;
mod relevance;
mod report;

use std::path::{Path, PathBuf};

use memoranda_engine::core::rank::{FeatureWeights, RankFeature, RankOptions, TimeWords};

use self::fit::TextKind;
use self::measure::{Measurement, RankMethod, measure};
use self::questions::BenchQuestion;
use self::relevance::QuestionFile;
use super::rerun_optimised;
use crate::Result;

const USAGE: &str = "\
Usage: cargo xtask bench retrieval FILE [--ranked FILE] [--ablation] [-n N] [--json]
       cargo xtask bench retrieval FILE --answers [-n N] [--json]
       cargo xtask bench retrieval --fit FILE... [--features FILE] [-n N]
       cargo xtask bench retrieval --relevance FILE FILE... [-n N]

  FILE           questions, one JSON object a line (.xz is unpacked; `-` is standard input)
  --fit          learn the weights of the ranking from files of several kinds of text
  --features FILE  also write the features of all candidates, one JSON object a question
  --relevance FILE  only write what fit_relevance.py learns the relevance from
  --answers      measure what answers within a token budget contain, and when they are silent
  --ranked FILE  write the ranking of each question to this file, one JSON object a line
  --ablation     also measure the search without each of its parts, and cross-validate
  -n, --limit N  only N questions, spread over the file
  --json         print JSON";

/// The arguments of `bench retrieval`.
#[derive(Default, PartialEq, Eq, Debug)]
struct RetrievalOptions {
    files: Vec<PathBuf>,
    fit: bool,
    features: Option<PathBuf>,
    relevance: Option<PathBuf>,
    ranked: Option<PathBuf>,
    ablation: bool,
    answers: bool,
    limit: Option<usize>,
    json: bool,
}

/// Measures retrieval and prints the metrics.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    if cfg!(debug_assertions) {
        return rerun_optimised("retrieval", arguments);
    }
    for path in [&options.ranked, &options.features, &options.relevance].into_iter().flatten() {
        // Checked first, because a run can take an hour.
        check_folder_of(path)?;
    }
    if let Some(path) = &options.relevance {
        return write_relevance(&options, path);
    }
    if options.fit {
        return fit_weights(&options);
    }
    let [file] = options.files.as_slice() else {
        return Err(format!("one file of questions is measured at a time\n{USAGE}").into());
    };
    if options.answers {
        let questions = spread(questions::read(file)?, options.limit);
        let report = answers::measure_answers(&questions)?;
        if options.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            print!("{}", report.table());
        }
        return Ok(());
    }
    let measured = measure_questions(questions::read(file)?, &options)?;
    if let Some(path) = &options.ranked {
        std::fs::write(path, measured.ranked_lines("search"))?;
    }
    let report = report::report(&measured);
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{}", report::table(&report));
    }
    Ok(())
}

/// Writes what the relevance is learned from.
fn write_relevance(options: &RetrievalOptions, path: &Path) -> Result<()> {
    let read = |file: &PathBuf| -> Result<QuestionFile> {
        let kind = kind_of(file);
        Ok(QuestionFile { kind, questions: spread(questions::read(file)?, options.limit) })
    };
    let files = options.files.iter().map(read).collect::<Result<Vec<_>>>()?;
    relevance::write_searches(&files, path)
}

/// Returns the name of a file up to its first dot.
fn kind_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Learns the weights and prints them.
fn fit_weights(options: &RetrievalOptions) -> Result<()> {
    let mut kinds = Vec::new();
    for file in &options.files {
        eprintln!("bench: {}", file.display());
        let questions = spread(questions::read(file)?, options.limit);
        kinds.push(TextKind::read(file, &questions)?);
    }
    if let Some(path) = &options.features {
        let lines: String = kinds.iter().map(TextKind::lines).collect();
        std::fs::write(path, lines)?;
    }
    print!("{}", fit::fit(&kinds));
    Ok(())
}

fn parse(arguments: &[String]) -> Result<RetrievalOptions> {
    let mut options = RetrievalOptions::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value\n{USAGE}"));
        match argument.as_str() {
            "--ranked" => options.ranked = Some(value()?.into()),
            "--features" => options.features = Some(value()?.into()),
            "--relevance" => options.relevance = Some(value()?.into()),
            "--fit" => options.fit = true,
            "--ablation" => options.ablation = true,
            "--answers" => options.answers = true,
            "--json" => options.json = true,
            "-n" | "--limit" => options.limit = Some(parse_limit(value()?)?),
            "-" => options.files.push("-".into()),
            flag if flag.starts_with('-') => {
                return Err(format!("unknown argument `{flag}`\n{USAGE}").into());
            }
            file => options.files.push(file.into()),
        }
    }
    if options.files.is_empty() {
        return Err(format!("no file of questions was given\n{USAGE}").into());
    }
    Ok(options)
}

fn parse_limit(text: &str) -> Result<usize> {
    match text.parse() {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => Err(format!("`--limit` takes a number of questions from 1, not `{text}`").into()),
    }
}

/// Rejects an output file in a folder that does not exist.
fn check_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(format!("there is no folder {}", folder.display()).into()),
        None => Ok(()),
    }
}

/// Keeps at most `limit` questions, spread over the file.
fn spread(mut questions: Vec<BenchQuestion>, limit: Option<usize>) -> Vec<BenchQuestion> {
    if let Some(limit) = limit.filter(|&limit| limit < questions.len()) {
        let step = questions.len() as f64 / limit as f64;
        let kept: Vec<usize> = (0..limit).map(|n| (n as f64 * step) as usize).collect();
        let mut at = 0;
        questions.retain(|_| {
            at += 1;
            kept.contains(&(at - 1))
        });
    }
    questions
}

fn measure_questions(
    questions: Vec<BenchQuestion>,
    options: &RetrievalOptions,
) -> Result<Measurement> {
    let questions = spread(questions, options.limit);
    let mut methods = vec![
        RankMethod::new("plain BM25", plain_notes(), plain_passages()),
        RankMethod::same_for_both("vectors alone", vectors()),
        RankMethod::same_for_both("search", RankOptions::STANDARD),
    ];
    if options.ablation {
        methods.extend(ablations().map(|(name, options)| RankMethod::same_for_both(name, options)));
    }
    measure(&questions, &methods)
}

/// Plain BM25 with a note as the document.
fn plain_notes() -> RankOptions {
    of_features(FeatureWeights::ZERO.with(RankFeature::ShortNote, 1.0))
}

/// Plain BM25 with a passage as the document.
fn plain_passages() -> RankOptions {
    of_features(FeatureWeights::ZERO.with(RankFeature::Passage, 1.0))
}

/// Embeddings alone.
fn vectors() -> RankOptions {
    let options = of_features(FeatureWeights::ZERO.with(RankFeature::Meaning, 1.0));
    RankOptions { short_passage_half: 0.0, ..options }
}

/// Only these features; BM25 has the default parameters of full-text indexes.
fn of_features(features: FeatureWeights) -> RankOptions {
    RankOptions {
        features,
        note_features: features,
        bm25_k1: 1.2,
        bm25_b: 0.75,
        word_weight: 0.0,
        time_words: TimeWords::Matched,
        title: 0.0,
        importance: 0.0,
        recency: 0.0,
        ..RankOptions::STANDARD
    }
}

/// The standard search without some of its features.
fn ablations() -> impl Iterator<Item = (&'static str, RankOptions)> {
    use RankFeature::{
        BestMeaning, BestPassage, First, Meaning, MeaningWithoutWords, Neighbours, Note,
        NoteMeaning, Number, Reply, SaysWhen, ShortNote, Speaker, Time, Window, WindowMeaning,
        WindowMeaningWithoutWords,
    };
    const ALL: RankOptions = RankOptions::STANDARD;
    let without = |features: &[RankFeature]| {
        let off = |weights: FeatureWeights| {
            features.iter().fold(weights, |weights, &feature| weights.with(feature, 0.0))
        };
        RankOptions { features: off(ALL.features), note_features: off(ALL.note_features), ..ALL }
    };
    [
        ("without meaning", RankOptions::WORDS),
        ("without neighbours", without(&[Neighbours, Window])),
        ("without the window of five", without(&[Window])),
        ("without the note", without(&[Note, ShortNote, BestPassage])),
        ("without any context", without(&[Neighbours, Window, Note, ShortNote, BestPassage])),
        ("without meaning beside words", without(&[Meaning, WindowMeaning])),
        (
            "without meaning where words fail",
            without(&[MeaningWithoutWords, WindowMeaningWithoutWords]),
        ),
        ("without meaning of window", without(&[WindowMeaning, WindowMeaningWithoutWords])),
        ("without meaning of the note", without(&[NoteMeaning, BestMeaning])),
        ("without replies", without(&[Reply])),
        ("without the first passage", without(&[First])),
        ("without the weight of words", RankOptions { word_weight: 0.0, ..ALL }),
        ("without doubt about short passages", RankOptions { short_passage_half: 0.0, ..ALL }),
        ("without who speaks", without(&[Speaker])),
        ("without the kind of answer", without(&[Number, SaysWhen])),
        ("without time", without(&[Time])),
        ("words of a time matched", RankOptions { time_words: TimeWords::Matched, ..ALL }),
        ("without recency", RankOptions { recency: 0.0, ..ALL }),
    ]
    .into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A question about herons, which one of two conversations answers.
    fn question(qid: &str, question: &str) -> Value {
        let turns =
            |text: &str, gold: bool| json!([{ "role": "user", "text": text, "gold": gold }]);
        json!({ "qid": qid, "type": "one", "question": question, "date": "2025/01/02",
                "gold_sessions": ["a"], "sessions": [
            { "id": "a", "date": "2025/01/01", "turns": turns("The heron stands in the water.", true) },
            { "id": "b", "date": "2025/01/01", "turns": turns("The bill is due in March.", false) },
        ] })
    }

    fn read(text: &str) -> Result<Vec<BenchQuestion>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.jsonl");
        std::fs::write(&path, text).unwrap();
        questions::read(&path)
    }

    fn parsed(arguments: &[&str]) -> Result<RetrievalOptions> {
        parse(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_parsed() {
        let expected = RetrievalOptions {
            files: vec!["q.jsonl".into()],
            fit: true,
            features: Some("f.jsonl".into()),
            relevance: Some("s.jsonl".into()),
            ranked: Some("r.jsonl".into()),
            ablation: true,
            answers: true,
            limit: Some(3),
            json: true,
        };
        let all = "q.jsonl --fit --features f.jsonl --relevance s.jsonl --ranked r.jsonl \
                   --ablation --answers -n 3 --json";
        let all: Vec<&str> = all.split(' ').collect();
        assert_eq!(parsed(&all).unwrap(), expected);
        for wrong in [&[][..], &["q.jsonl", "-n", "0"], &["q.jsonl", "-n"], &["q", "--fast"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let missing = check_folder_of(&folder.path().join("nowhere/x.jsonl")).unwrap_err();
        assert!(missing.to_string().starts_with("there is no folder "), "{missing}");
        assert!(!folder.path().join("nowhere").exists());
        assert!(check_folder_of(Path::new("x.jsonl")).is_ok());
    }

    #[test]
    fn invalid_questions_are_reported_with_their_line() {
        let check = |text: &str, words: &[&str]| {
            let Err(error) = read(text) else { panic!("{text}") };
            for word in words {
                assert!(error.to_string().contains(word), "{word}: {error}");
            }
        };
        let good = question("q1", "Where is the heron?");
        check(&format!("{good}\n\n{}\n", question("q7", "???")), &["line 3 of ", "q7", "???"]);
        check(&format!("{good}\n{}\n", question("q8", "")), &["line 2 of ", "q8"]);
        check("{}\n", &["line 1 of ", "q.jsonl is no question"]);
        check("\n\n", &["q.jsonl holds no question"]);
        assert_eq!(read(&good.to_string()).unwrap().len(), 1);
    }

    #[test]
    fn metrics_of_a_measurement_are_shares() {
        let mut twice = question("q1", "Where is the heron?");
        // Data sets that people put together sometimes name a conversation twice.
        let first = twice["sessions"][0].clone();
        twice["sessions"].as_array_mut().unwrap().push(first);
        twice["gold_sessions"] = json!(["a", "a"]);
        let mut missed = question("q2", "Where is the heron?");
        missed["type"] = json!("missed");
        missed["gold_sessions"] = json!(["elsewhere"]);
        missed["sessions"][0]["turns"][0]["gold"] = json!(false);
        // The byte order mark is not part of the text.
        let questions = read(&format!("\u{feff}{twice}\n{missed}\n")).unwrap();
        let measured = measure_questions(questions, &RetrievalOptions::default()).unwrap();
        let report = report::report(&measured);
        let json = serde_json::to_value(&report).unwrap();
        let search = json["methods"].as_array().unwrap().iter();
        let search = search.filter(|method| method["method"] == "search");
        let levels: Vec<&Value> =
            search.flat_map(|method| method["levels"].as_array().unwrap()).collect();
        for level in &levels {
            let recall = level["recall_5"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&recall), "{level}");
        }
        let of = |level: &str| {
            levels.iter().find(|l| l["level"] == level && l["type"] == "one").unwrap().to_owned()
        };
        assert_eq!(of("session")["all_5"], json!(1.0), "{levels:?}");
        assert_eq!(of("turn")["recall_5"], json!(1.0), "{levels:?}");
        let table = report::table(&report);
        assert!(table.contains("missed") && !table.contains("-0.000"), "{table}");
    }
}
