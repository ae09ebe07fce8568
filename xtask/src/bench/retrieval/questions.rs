//! Reads questions with known evidence from a JSON Lines file, optionally compressed with xz.

use std::io::{BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memoranda_engine::core::query::Query;
use serde::{Deserialize, Deserializer};

use crate::Result;

/// The form of a line, for error messages.
const FORMAT: &str = "each line is one JSON object: {qid, type, abstention, question, date, \
                      gold_sessions: [id], gold_turns?: [[id, number]], \
                      sessions?: [{id, date, turns: [{role, text, gold?}]}]}; without `sessions`, \
                      those of the line before apply";

/// A question and the conversations that may answer it.
#[derive(Deserialize)]
pub(super) struct BenchQuestion {
    pub(super) qid: String,
    #[serde(default)]
    pub(super) r#type: String,
    /// True if no conversation answers the question.
    #[serde(default)]
    pub(super) abstention: bool,
    pub(super) question: String,
    #[serde(default)]
    pub(super) date: String,
    pub(super) gold_sessions: Vec<String>,
    /// Further turns with evidence: conversation and number of the turn.
    #[serde(default)]
    gold_turns: Vec<(String, usize)>,
    /// The conversations; empty if those of the question before apply.
    #[serde(default, deserialize_with = "shared")]
    pub(super) sessions: Rc<[Conversation]>,
}

#[derive(Deserialize)]
pub(super) struct Conversation {
    pub(super) id: String,
    #[serde(default)]
    pub(super) date: String,
    pub(super) turns: Vec<Turn>,
}

#[derive(Deserialize)]
pub(super) struct Turn {
    #[serde(default)]
    pub(super) role: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) gold: bool,
}

/// Reads the questions of a file.
pub(super) fn read(path: &Path) -> Result<Vec<BenchQuestion>> {
    let text = text(path)?;
    // Some editors write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let wrong = |n: usize, why: String| {
        format!("line {} of {} is no question: {why}\n{FORMAT}", n + 1, path.display())
    };
    let mut questions = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut question: BenchQuestion =
            serde_json::from_str(line).map_err(|e| wrong(n, e.to_string()))?;
        if question.sessions.is_empty() {
            let before: Option<&BenchQuestion> = questions.last();
            let before = before.ok_or_else(|| wrong(n, "it has no `sessions`".to_owned()))?;
            question.sessions = Rc::clone(&before.sessions);
        }
        if !question.asks_something() {
            let BenchQuestion { qid, question, .. } = &question;
            let why = format!("{question:?} (qid {qid:?}) holds nothing to search for");
            return Err(wrong(n, why).into());
        }
        questions.push(question);
    }
    if questions.is_empty() {
        return Err(format!("{} holds no question\n{FORMAT}", path.display()).into());
    }
    Ok(questions)
}

impl BenchQuestion {
    /// Returns the turns with evidence.
    pub(super) fn gold_turns(&self) -> Vec<(String, usize)> {
        let marked = self.sessions.iter().flat_map(|session| {
            let turns = session.turns.iter().enumerate().filter(|(_, turn)| turn.gold);
            turns.map(|(at, _)| (session.id.clone(), at))
        });
        marked.chain(self.gold_turns.iter().cloned()).collect()
    }

    fn asks_something(&self) -> bool {
        let query = Query::parse(&self.question);
        !query.is_empty() || !query.tags.is_empty()
    }
}

fn shared<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Rc<[Conversation]>, D::Error> {
    Vec::deserialize(from).map(Rc::from)
}

fn text(path: &Path) -> Result<String> {
    let failed =
        |what: &str, e: &dyn std::fmt::Display| format!("cannot {what} {}: {e}", path.display());
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| failed("read", &e))?;
    } else if path.extension().is_some_and(|extension| extension == "xz") {
        let file = std::fs::File::open(path).map_err(|e| failed("read", &e))?;
        let mut packed = BufReader::new(file);
        lzma_rs::xz_decompress(&mut packed, &mut bytes).map_err(|e| failed("unpack", &e))?;
    } else {
        bytes = std::fs::read(path).map_err(|e| failed("read", &e))?;
    }
    Ok(String::from_utf8(bytes).map_err(|e| failed("read", &e))?)
}

/// Parses the first date and time in a text, in any of the forms that data sets use.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let numbers: Vec<i16> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .filter_map(|part| part.parse().ok())
        .collect();
    let (&[year, month, day], rest) = numbers.split_first_chunk::<3>()?;
    let part = |n: i16| i8::try_from(n).ok();
    let (hour, minute) = match rest {
        [hour, minute, ..] => (part(*hour)?, part(*minute)?),
        _ => (0, 0),
    };
    let civil = DateTime::new(year, part(month)?, part(day)?, hour, minute, 0, 0).ok()?;
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_in_many_forms() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                parse_time(text).map(|time| time.to_string()).as_deref(),
                expected,
                "{text:?}"
            );
        };
        check("2023/08/11 (Fri) 15:58", Some("2023-08-11T15:58:00Z"));
        check("2023-08-11", Some("2023-08-11T00:00:00Z"));
        check("2023-08-11T15:58:00Z", Some("2023-08-11T15:58:00Z"));
        check("", None);
        check("some day", None);
        check("2023/13/45", None);
    }
}
