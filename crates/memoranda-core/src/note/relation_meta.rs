//! The metadata comment at the end of a relation's line: `<!-- rel 2026-01-20T15:30:00Z c=1.0 i=0.7
//! to=… as=… -->`.
//!
//! A name that a link cannot contain (`Issue #5`, `a|b`) is approximated in the link and exact in
//! the comment; the same applies to relation types.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::blocks::BlockContainer;
use super::{RelationMeta, comment, one_line, relation};
use crate::abbreviate::join_words;

/// A relation to be written, with its metadata.
#[derive(Clone, PartialEq, Debug)]
pub struct NewRelation {
    /// Relation type.
    pub relation_type: String,
    /// Name of the target note.
    pub target: String,
    /// Time of writing.
    pub time: Option<Timestamp>,
    /// Confidence of the author, 0 to 1.
    pub confidence: Option<f64>,
    /// Importance, 0 to 1.
    pub importance: Option<f64>,
}

/// Splits a relation comment off the end of a line; any other comment stays part of the text.
pub(super) fn split(line: &str) -> (&str, Option<RelationMeta>) {
    let inner = line.trim_end().strip_suffix("-->").and_then(|inner| inner.rsplit_once("<!--"));
    let Some((text, words)) = inner else { return (line, None) };
    let mut words = words.split_ascii_whitespace();
    if words.next() != Some("rel") {
        return (line, None);
    }
    let mut rating = RelationMeta::default();
    for word in words {
        if let Some(value) = word.strip_prefix("c=") {
            rating.confidence = comment::share(value);
        } else if let Some(value) = word.strip_prefix("i=") {
            rating.importance = comment::share(value);
        } else if let Some(value) = word.strip_prefix("to=") {
            rating.target = name_in(value);
        } else if let Some(value) = word.strip_prefix("as=") {
            rating.relation_type = name_in(value);
        } else if let Ok(time) = word.parse() {
            rating.time = Some(time);
        }
    }
    (text.trim_end(), Some(rating))
}

/// Decodes a name from a comment.
fn name_in(value: &str) -> Option<String> {
    let name = comment::decode(value);
    Some(one_line(&name).into_owned()).filter(|name| !name.is_empty())
}

/// Renders a relation as one line, without list mark or line ending.
pub fn render_relation(new: &NewRelation) -> String {
    let label = match words(&new.relation_type, "\"'[]#<>`\\") {
        label if label.is_empty() => "relates_to".to_owned(),
        label if label.starts_with(char::is_alphabetic) && !label.contains(' ') => label,
        label => format!("\"{label}\""),
    };
    let target = match words(&new.target, "[]#^|<>`\\") {
        target if target.is_empty() => "?".to_owned(),
        target => target,
    };
    let link = format!("{label} [[{target}]]");
    let read = relation::links(&link, BlockContainer::Item);
    let (kept_type, kept_target) =
        read.first().filter(|link| link.typed).map_or((false, false), |link| {
            (link.relation_type == new.relation_type, link.target == new.target)
        });
    let rating = RelationMeta {
        time: new.time,
        confidence: new.confidence,
        importance: new.importance,
        target: (!kept_target).then(|| new.target.clone()),
        relation_type: (!kept_type).then(|| new.relation_type.clone()),
    };
    format!("{link} {}", write(&rating))
}

/// Renders the comment of a relation.
pub(super) fn write(rating: &RelationMeta) -> String {
    let mut out = "<!-- rel".to_owned();
    // Writing to a string cannot fail.
    if let Some(time) = rating.time {
        let _ = write!(out, " {time}");
    }
    if let Some(confidence) = rating.confidence {
        let _ = write!(out, " c={confidence:?}");
    }
    if let Some(importance) = rating.importance {
        let _ = write!(out, " i={importance:?}");
    }
    if let Some(target) = &rating.target {
        let _ = write!(out, " to={}", comment::encode(target));
    }
    if let Some(relation_type) = &rating.relation_type {
        let _ = write!(out, " as={}", comment::encode(relation_type));
    }
    out.push_str(" -->");
    out
}

/// Returns a text on one line without the characters that have a meaning in a link.
fn words(text: &str, without: &str) -> String {
    let plain = text.replace(|c: char| without.contains(c) || c.is_control(), " ");
    join_words(&plain)
}
