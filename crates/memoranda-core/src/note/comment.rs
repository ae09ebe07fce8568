//! The metadata comment at the end of an observation's line: `<!-- obs_01J9Z… v2
//! 2026-01-20T15:30:00Z c=1.0 i=0.5 thread=portfolio by obs_… supersedes obs_… -->`.
//!
//! Unknown words in the comment are ignored on read and preserved on write.

use std::borrow::Cow;
use std::fmt::Write as _;

use jiff::Timestamp;

use super::ObservationMeta;
use crate::id::ObservationId;
use crate::percent;

/// A comment split off the end of a line.
pub(crate) struct ObservationComment {
    /// Parsed metadata; `None` if the comment is malformed.
    pub(crate) fact: Option<ObservationMeta>,
    /// Unknown words, in order.
    pub(crate) unknown: Vec<String>,
    /// Problems of the comment.
    pub(crate) faults: Vec<String>,
}

/// Splits an observation comment off the end of a line; any other comment stays part of the text.
pub(crate) fn split(line: &str) -> (&str, Option<ObservationComment>) {
    let Some((text, words)) = find(line) else { return (line, None) };
    let comment = read(words);
    // A comment without a valid id is ordinary text.
    let text = if comment.fact.is_some() { text.trim_end() } else { line };
    (text, Some(comment))
}

/// Removes the metadata comments of observations and relations at the ends of lines. Other comments
/// stay, and so does the number of lines.
pub fn without_metadata(text: &str) -> Cow<'_, str> {
    if !text.contains("<!--") {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| match split(line) {
        (text, Some(_)) => text,
        (line, None) => super::relation_meta::split(line).0,
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the text before a trailing `obs_` comment, and the content of the comment.
fn find(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim_end().strip_suffix("-->")?;
    let (text, words) = inner.rsplit_once("<!--")?;
    words.trim_start().starts_with("obs_").then_some((text, words))
}

fn read(words: &str) -> ObservationComment {
    let mut comment = ObservationComment { fact: None, unknown: Vec::new(), faults: Vec::new() };
    let mut words = words.split_ascii_whitespace().peekable();
    let id = words.next().unwrap_or_default();
    let Some(id) = ObservationId::parse(id) else {
        comment.faults.push(format!("{id:?} is not the id of an observation"));
        return comment;
    };
    let mut fact = ObservationMeta::new(id);
    let mut faults = Vec::new();
    let mut fault = |word: &str| faults.push(format!("{word:?} in a fact's comment is not valid"));
    while let Some(word) = words.next() {
        if let Some(value) = word.strip_prefix("c=") {
            fact.confidence = share(value);
            fact.confidence.is_none().then(|| fault(word));
        } else if let Some(value) = word.strip_prefix("i=") {
            fact.importance = share(value);
            fact.importance.is_none().then(|| fault(word));
        } else if let Some(value) = word.strip_prefix("thread=") {
            fact.thread = Some(decode(value)).filter(|thread| !thread.is_empty());
        } else if word == "by" || word == "supersedes" {
            match words.peek().copied().and_then(ObservationId::parse) {
                None => comment.unknown.push(word.to_owned()),
                id => {
                    words.next();
                    if word == "by" { fact.superseded_by = id } else { fact.supersedes = id }
                }
            }
        } else if let Some(version) = word.strip_prefix('v').and_then(number) {
            fact.version = version;
        } else if let Ok(time) = word.parse::<Timestamp>() {
            fact.time = Some(time);
        } else {
            comment.unknown.push(word.to_owned());
        }
    }
    comment.fact = Some(fact);
    comment.faults = faults;
    comment
}

fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

pub(super) fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value| (0.0..=1.0).contains(value))
}

/// Renders the comment of an observation, with the unknown words at its end.
pub(crate) fn write(fact: &ObservationMeta, unknown: &[String]) -> String {
    let mut out = format!("<!-- {} v{}", fact.id, fact.version);
    // Writing to a string cannot fail.
    if let Some(time) = fact.time {
        let _ = write!(out, " {time}");
    }
    if let Some(confidence) = fact.confidence {
        let _ = write!(out, " c={confidence:?}");
    }
    if let Some(importance) = fact.importance {
        let _ = write!(out, " i={importance:?}");
    }
    if let Some(thread) = fact.thread.as_ref().filter(|thread| !thread.is_empty()) {
        let _ = write!(out, " thread={}", encode(thread));
    }
    if let Some(id) = &fact.superseded_by {
        let _ = write!(out, " by {id}");
    }
    if let Some(id) = &fact.supersedes {
        let _ = write!(out, " supersedes {id}");
    }
    for word in unknown {
        let _ = write!(out, " {word}");
    }
    out.push_str(" -->");
    out
}

/// Percent-encodes characters that would end a word or the comment: blanks, control characters,
/// `%`, `>`.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c == '%' || c == '>' || c == '<' || c.is_control() {
            percent::push_encoded(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

/// Decodes a word of a comment. Invalid UTF-8 means that a person typed the `%`: the word stays as
/// written.
pub(super) fn decode(text: &str) -> String {
    percent::decode(text).map_or_else(|| text.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, written: &str, faults: usize) {
        let line = format!("text <!-- {words} -->");
        let (text, comment) = split(&line);
        let comment = comment.unwrap();
        assert_eq!(comment.faults.len(), faults, "{words}: {:?}", comment.faults);
        match comment.fact {
            Some(fact) => {
                assert_eq!(text, "text");
                assert_eq!(write(&fact, &comment.unknown), format!("<!-- {written} -->"));
            }
            None => assert_eq!((text, ""), (line.as_str(), written)),
        }
    }

    #[test]
    fn text_without_metadata_keeps_other_comments_and_all_lines() {
        let id = "obs_01J9ZQ4M0N8B7V6C5X4Z3A2S1D";
        let text = format!(
            "- [fact] Uses gas <!-- {id} v2 c=1.0 -->\n- uses [[Tap]] <!-- rel c=0.5 -->\nsaid <!-- mine -->\n"
        );
        let shown = "- [fact] Uses gas\n- uses [[Tap]]\nsaid <!-- mine -->\n";
        assert_eq!(without_metadata(&text), shown);
    }

    #[test]
    fn comments_are_read_and_written() {
        let whole = "obs_A v2 2026-01-20T15:30:00Z c=1.0 i=0.5 thread=p by obs_B supersedes obs_C";
        check(whole, whole, 0);
        check("obs_A", "obs_A v1", 0);
        check("obs_A v1 new=field extra", "obs_A v1 new=field extra", 0);
        check("obs_A extra v3", "obs_A v3 extra", 0);
        check("obs_A thread=a%20b%25c%2D%2D%3E", "obs_A v1 thread=a%20b%25c--%3E", 0);
        check("obs_A thread=100%", "obs_A v1 thread=100%25", 0);
        check("obs_A c=2 i=x", "obs_A v1", 2);
        check("obs_A by me by obs_B", "obs_A v1 by obs_B by me", 0);
        check("obs_A vx v99999999999", "obs_A v1 vx v99999999999", 0);
        check("obs_… v1", "", 1);
    }

    #[test]
    fn other_comments_stay_in_the_text() {
        for line in ["a <!-- todo -->", "a -->", "a <!-- obs_A --> b", "<!-- obs_A", ""] {
            let (text, comment) = split(line);
            assert_eq!(text, line);
            assert!(comment.is_none(), "{line}");
        }
    }
}
