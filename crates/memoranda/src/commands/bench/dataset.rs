//! Questions with known evidence, as they are read from a file.

use std::io::{BufReader, Read};
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memoranda_engine::core::query::Query;
use serde::Deserialize;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;

/// A question and the conversations in which its answer may be.
#[derive(Deserialize)]
pub(super) struct Question {
    pub(super) qid: String,
    #[serde(default)]
    pub(super) r#type: String,
    /// Whether nothing answers it.
    #[serde(default)]
    pub(super) abstention: bool,
    pub(super) question: String,
    #[serde(default)]
    pub(super) date: String,
    pub(super) gold_sessions: Vec<String>,
    pub(super) sessions: Vec<Conversation>,
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
pub(super) fn read(path: &Path) -> Result<Vec<Question>> {
    let text = text(path)?;
    // Some editors begin a file with a mark of its encoding.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let wrong = |n: usize, why: String| {
        let line = format!("line {} of {}", n + 1, path.display());
        CommandError::usage(format!("{line} is no question: {why}"))
            .hint("`memoranda bench retrieval --help` has the form")
    };
    let mut questions = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let question: Question = serde_json::from_str(line).map_err(|e| wrong(n, e.to_string()))?;
        if !question.asks_something() {
            let Question { qid, question, .. } = &question;
            let why = format!("{question:?} (qid {qid:?}) holds nothing to search for");
            return Err(wrong(n, why));
        }
        questions.push(question);
    }
    if questions.is_empty() {
        return Err(CommandError::usage(format!("{} holds no question", path.display()))
            .hint("`memoranda bench retrieval --help` has the form"));
    }
    Ok(questions)
}

impl Question {
    fn asks_something(&self) -> bool {
        let query = Query::parse(&self.question);
        !query.is_empty() || !query.tags.is_empty()
    }
}

fn text(path: &Path) -> Result<String> {
    let failed = |what: &str, e: &dyn std::fmt::Display| {
        CommandError::new(Exit::Internal, format!("cannot {what} {}: {e}", path.display()))
    };
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| failed("read", &e))?;
    } else if path.extension().is_some_and(|extension| extension == "xz") {
        let mut packed = BufReader::new(files::open(path)?);
        lzma_rs::xz_decompress(&mut packed, &mut bytes).map_err(|e| failed("unpack", &e))?;
    } else {
        bytes = files::read(path)?;
    }
    String::from_utf8(bytes).map_err(|e| failed("read", &e))
}

/// A moment in any of the forms that such files use; the first date in it counts.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    if let Ok(moment) = text.parse() {
        return Some(moment);
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
    fn moments_are_read_in_many_forms() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(moment(text).map(|m| m.to_string()).as_deref(), expected, "{text:?}");
        };
        check("2023/08/11 (Fri) 15:58", Some("2023-08-11T15:58:00Z"));
        check("2023-08-11", Some("2023-08-11T00:00:00Z"));
        check("2023-08-11T15:58:00Z", Some("2023-08-11T15:58:00Z"));
        check("", None);
        check("some day", None);
        check("2023/13/45", None);
    }
}
