//! The three formats in which clients keep their settings. An edit is a new text in which every
//! byte outside the edited key is the old one.

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use crate::setup::{json, toml, yaml};

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConfigFormat {
    /// JSON, with comments and trailing commas where people put them.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// Why a text cannot be edited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ConfigSyntaxError {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong with it.
    pub(crate) what: String,
}

impl ConfigSyntaxError {
    /// Something that is wrong at a byte of a text.
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
    /// What the text says, without its form.
    pub(crate) fn value(self, text: &str) -> Result<Value, ConfigSyntaxError> {
        match self {
            Self::Json => json::value(text),
            Self::Toml => toml::value(text),
            Self::Yaml => yaml::value(text),
        }
    }

    /// The text with a key set, the way to it made if need be.
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
        }
    }

    /// The text without a key, and without what then stands empty on the way to it.
    pub(crate) fn remove(self, text: &str, path: &[&str]) -> Result<String, ConfigSyntaxError> {
        match self {
            Self::Json => json::remove(text, path),
            Self::Toml => toml::remove(text, path),
            Self::Yaml => yaml::remove(text, path),
        }
    }

    /// What a person would paste: the key alone, in a file of its own.
    pub(crate) fn snippet(self, path: &[&str], value: &Value) -> String {
        // An empty text can always be added to.
        self.set("", path, value).unwrap_or_default()
    }
}

/// The value at a path.
pub(crate) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The same value without a path, and without objects that are empty for it.
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

/// Replaces pieces of a text, given in any order, none of which overlap.
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

/// How a text ends its lines.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Where the line of a byte begins.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |feed| feed + 1)
}

/// Where the line of a byte ends: after its line feed, or at the end of the text.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |feed| at + feed + 1)
}
