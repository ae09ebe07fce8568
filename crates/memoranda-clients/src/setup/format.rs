//! Formats of clients' settings. An edit keeps every byte outside the edited key.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use crate::setup::{json, toml, yaml};

/// Format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConfigFormat {
    /// JSON with comments and trailing commas.
    Json,
    /// The format TOML.
    Toml,
    /// The format YAML.
    Yaml,
    /// A script that belongs to Memoranda alone.
    Script,
}

/// Syntax error of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigSyntaxError {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error.
    pub what: String,
}

impl ConfigSyntaxError {
    /// Creates an error at a byte offset.
    pub(crate) fn at(text: &str, byte: usize, what: impl Into<String>) -> Self {
        let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Self { line, what: what.into() }
    }
}

impl fmt::Display for ConfigSyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl ConfigFormat {
    /// Parses the text into a value.
    pub(crate) fn value(self, text: &str) -> Result<Value, ConfigSyntaxError> {
        match self {
            Self::Json => json::value(text),
            Self::Toml => toml::value(text),
            Self::Yaml => yaml::value(text),
            Self::Script if text.trim().is_empty() => Ok(Value::Object(serde_json::Map::new())),
            Self::Script => Ok(serde_json::json!({ "script": text })),
        }
    }

    /// Sets a key and creates missing parents.
    pub(crate) fn set(
        self,
        text: &str,
        path: &[&str],
        value: &Value,
    ) -> Result<String, ConfigSyntaxError> {
        match self {
            Self::Json => json::set(text, path, value),
            Self::Toml => toml::set(text, path, value),
            Self::Yaml => yaml::set(text, path, value),
            Self::Script => Err(ConfigSyntaxError::at(text, 0, "a script has no keys")),
        }
    }

    /// Removes a key and parents that become empty.
    pub(crate) fn remove(self, text: &str, path: &[&str]) -> Result<String, ConfigSyntaxError> {
        match self {
            Self::Json => json::remove(text, path),
            Self::Toml => toml::remove(text, path),
            Self::Yaml => yaml::remove(text, path),
            Self::Script => Err(ConfigSyntaxError::at(text, 0, "a script has no keys")),
        }
    }

    /// Returns the key alone as a snippet to paste.
    pub(crate) fn snippet(self, path: &[&str], value: &Value) -> String {
        // Editing an empty text cannot fail.
        self.set("", path, value).unwrap_or_default()
    }
}

/// Returns the value at a path.
pub(crate) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Returns a value without a path and parents that become empty.
pub(crate) fn without(value: &Value, path: &[&str]) -> Value {
    let mut value = value.clone();
    prune(&mut value, path);
    value
}

fn prune(value: &mut Value, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(object) = value.as_object_mut() else { return };
    if rest.is_empty() {
        object.remove(*first);
    } else if let Some(inner) = object.get_mut(*first) {
        prune(inner, rest);
        let is_empty = match inner {
            Value::Object(inner) => inner.is_empty(),
            Value::Null => true,
            _ => false,
        };
        if is_empty {
            object.remove(*first);
        }
    }
}

/// Replaces non-overlapping ranges of a text, given in any order.
pub(crate) fn spliced(text: &str, mut pieces: Vec<(Range<usize>, String)>) -> String {
    pieces.sort_by_key(|(range, _)| range.start);
    let mut result = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in pieces {
        result.push_str(text.get(at..range.start).unwrap_or_default());
        result.push_str(&new);
        at = range.end.max(at);
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}

/// Returns the line ending of a text.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the start of the line of a byte.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |feed| feed + 1)
}

/// Returns the start of the next line, or the end of the text.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |feed| at + feed + 1)
}
