//! Writes JSON in the style of the rest of a file.

use serde_json::{Map, Value};

use super::read::JsonNode;
use crate::setup::format::{line_end, line_start};

/// Line endings and indentation of a file.
pub(super) struct JsonStyle {
    /// One step to the right.
    pub(super) unit: String,
    /// Line ending.
    pub(super) line_end: &'static str,
    is_one_line: bool,
}

impl JsonStyle {
    /// Looks at how a text is written.
    pub(super) fn of(text: &str) -> Self {
        let trimmed = text.trim_start_matches('\u{feff}').trim();
        Self {
            unit: unit(text),
            line_end: line_end(text),
            is_one_line: trimmed.len() > 2 && trimmed.starts_with('{') && !trimmed.contains('\n'),
        }
    }

    /// Renders a value over several lines, or on one line if the whole file is on one. The first
    /// line has no indentation.
    pub(super) fn render(&self, value: &Value, indent: &str) -> String {
        if self.is_one_line {
            return compact(value);
        }
        let mut text = String::new();
        self.write(&mut text, value, indent);
        text
    }

    /// Renders a value that replaces another: on one line if the other was.
    pub(super) fn render_beside(
        &self,
        text: &str,
        old: &JsonNode,
        value: &Value,
        indent: &str,
    ) -> String {
        let written = text.get(old.start..old.end).unwrap_or_default();
        if written.len() > 2 && !written.contains('\n') {
            compact(value)
        } else {
            self.render(value, indent)
        }
    }

    fn write(&self, text: &mut String, value: &Value, indent: &str) {
        let (open, close, items): (_, _, Vec<(Option<&String>, &Value)>) = match value {
            Value::Object(map) if !map.is_empty() => (
                '{',
                '}',
                ordered(map).into_iter().map(|(key, value)| (Some(key), value)).collect(),
            ),
            Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
                ('[', ']', list.iter().map(|value| (None, value)).collect())
            }
            _ => return text.push_str(&compact(value)),
        };
        let inner = format!("{indent}{}", self.unit);
        text.push(open);
        for (n, (key, value)) in items.into_iter().enumerate() {
            if n > 0 {
                text.push(',');
            }
            text.push_str(self.line_end);
            text.push_str(&inner);
            if let Some(key) = key {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push_str(": ");
            }
            self.write(text, value, &inner);
        }
        text.push_str(self.line_end);
        text.push_str(indent);
        text.push(close);
    }

    /// The blanks at the beginning of the line of a byte.
    pub(super) fn indent_of(&self, text: &str, at: usize) -> String {
        let line = &text[line_start(text, at)..];
        let line = line.trim_start_matches('\u{feff}');
        line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    }

    /// Returns true if only white space precedes a byte on its line.
    pub(super) fn starts_line(&self, text: &str, at: usize) -> bool {
        let start = line_start(text, at);
        start > 0 && text[start..at].chars().all(|c| c == ' ' || c == '\t')
    }
}

/// One step of indentation, as in the first indented line of the file.
fn unit(text: &str) -> String {
    let indented = text.lines().skip(1).find_map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        let is_item = rest.starts_with(['"', '{', '[']);
        (is_item && rest.len() < line.len()).then(|| &line[..line.len() - rest.len()])
    });
    indented.unwrap_or("  ").to_owned()
}

/// Returns the members of an object in the usual order: kind and command first, then options.
pub(crate) fn ordered(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    const FIRST: [&str; 7] = ["version", "name", "matcher", "type", "command", "cmd", "args"];
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by_key(|(key, _)| rank(key));
    members
}

/// A value on one line, with a blank after `:` and `,`.
pub(super) fn compact(value: &Value) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), compact(value))
            };
            let members: Vec<_> = ordered(map).into_iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(compact).collect::<Vec<_>>().join(", "))
        }
        _ => value.to_string(),
    }
}
