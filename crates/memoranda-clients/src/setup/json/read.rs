//! Parses JSON with comments and trailing commas, with the byte range of every part.

use serde_json::{Map, Value};

use crate::setup::format::ConfigSyntaxError;

/// Deeper than any client nests its settings.
const MAX_DEPTH: usize = 96;

/// A value and where it stands.
pub(super) struct JsonNode {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: JsonNodeKind,
}

/// Kind of a value.
pub(super) enum JsonNodeKind {
    Object(Vec<JsonMember>),
    Array(Vec<JsonNode>),
    Scalar(Value),
}

/// One key of an object.
pub(super) struct JsonMember {
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) value: JsonNode,
}

impl JsonNode {
    /// The value without its byte ranges. If a key occurs twice, the last one counts.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            JsonNodeKind::Scalar(value) => value.clone(),
            JsonNodeKind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            JsonNodeKind::Object(members) => {
                let entries = members.iter().map(|m| (m.key.clone(), m.value.value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

/// Reads a whole text; `None` if it holds nothing but blanks and comments.
pub(super) fn read(text: &str) -> Result<Option<JsonNode>, ConfigSyntaxError> {
    let mut reader = JsonParser { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.skip()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let node = reader.value(0)?;
    reader.skip()?;
    match reader.peek() {
        None => Ok(Some(node)),
        Some(_) => Err(reader.broken("something follows after the end")),
    }
}

/// Offset of the first byte from `at` on that is neither a blank nor part of a comment.
pub(super) fn after_trivia(text: &str, at: usize) -> usize {
    let mut reader = JsonParser { text, at };
    // The text was parsed before, so this cannot fail.
    reader.skip().ok();
    reader.at
}

/// End of the last comment or non-blank byte between `at` and `close`.
pub(super) fn end_of_trivia(text: &str, at: usize, close: usize) -> usize {
    let inner = text.get(at..close).unwrap_or_default();
    at + inner.trim_end_matches([' ', '\t', '\r', '\n']).len()
}

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
}

impl JsonParser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&self, what: impl Into<String>) -> ConfigSyntaxError {
        ConfigSyntaxError::at(self.text, self.at, what)
    }

    fn skip(&mut self) -> Result<(), ConfigSyntaxError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.rest().starts_with("//") => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                Some(b'/') if self.rest().starts_with("/*") => match self.rest().find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.broken("a comment is never closed")),
                },
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<JsonNode, ConfigSyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.broken("it is nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => JsonNodeKind::Scalar(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.broken("the text ends where a value should stand")),
        };
        Ok(JsonNode { start, end: self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<JsonNodeKind, ConfigSyntaxError> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(JsonNodeKind::Object(members));
                }
                Some(b'"') => {}
                None => return Err(self.broken("a `{` is never closed")),
                Some(_) => return Err(self.broken("here should stand a key in double quotes")),
            }
            let start = self.at;
            let key = self.string()?;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.broken(format!("after the key {key:?} should stand a `:`")));
            }
            self.at += 1;
            self.skip()?;
            let value = self.value(depth + 1)?;
            members.push(JsonMember { key, start, value });
            self.separator(b'}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<JsonNodeKind, ConfigSyntaxError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(JsonNodeKind::Array(items));
                }
                None => return Err(self.broken("a `[` is never closed")),
                Some(_) => items.push(self.value(depth + 1)?),
            }
            self.separator(b']')?;
        }
    }

    /// Reads a comma, or stops before the end of the collection.
    fn separator(&mut self, close: u8) -> Result<(), ConfigSyntaxError> {
        self.skip()?;
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) if byte == close => Ok(()),
            None => Err(self.broken(format!("a `{}` is missing at the end", close as char))),
            Some(_) => Err(self.broken(format!("here should stand a `,` or `{}`", close as char))),
        }
    }

    fn string(&mut self) -> Result<String, ConfigSyntaxError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.broken("a text is never closed")),
                Some(_) => end += 1,
            }
        }
        let written = self.text.get(start..=end).unwrap_or_default();
        let text = serde_json::from_str(written)
            .map_err(|_| self.broken(format!("{written} is not a valid JSON string")))?;
        self.at = end + 1;
        Ok(text)
    }

    fn word(&mut self) -> Result<JsonNodeKind, ConfigSyntaxError> {
        let ends = |c: char| c.is_whitespace() || ",]}/:".contains(c);
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        let word = self.rest().get(..length).unwrap_or_default();
        let value = serde_json::from_str(word)
            .map_err(|_| self.broken(format!("{word:?} is not a JSON value")))?;
        self.at += length;
        Ok(JsonNodeKind::Scalar(value))
    }
}
