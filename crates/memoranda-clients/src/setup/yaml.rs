//! YAML: our key among its siblings, found by the places of the parser's events.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};
use serde_json::{Map, Value};

use crate::setup::format::{ConfigSyntaxError, line_end, line_start, next_line, spliced};
use crate::setup::json::ordered;

const MAX_DEPTH: usize = 48;

/// A value and where it stands.
struct YamlNode {
    start: usize,
    end: usize,
    kind: YamlNodeKind,
}

enum YamlNodeKind {
    Mapping {
        entries: Vec<YamlEntry>,
        flow: bool,
    },
    Sequence(Vec<YamlNode>),
    /// A scalar as it is written, so that `yes` and `010` stay what they are. An alias counts too.
    Scalar {
        text: String,
        bare: bool,
    },
}

struct YamlEntry {
    key: String,
    start: usize,
    value: YamlNode,
}

/// Parses a text into a value; scalars are text.
pub(crate) fn value(text: &str) -> Result<Value, ConfigSyntaxError> {
    Ok(read(text)?.map_or_else(|| Value::Object(Map::new()), |node| node.value()))
}

/// Sets a key and creates missing mappings.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, ConfigSyntaxError> {
    let Some(root) = read(text)? else {
        let mut result = text.to_owned();
        end_line(&mut result);
        result.push_str(&block(path, value, 0, line_end(text)));
        return Ok(result);
    };
    let mut node = &root;
    let mut parent: Option<&YamlEntry> = None;
    for (n, key) in path.iter().enumerate() {
        let rest = path.get(n..).unwrap_or_default();
        let entries = match &node.kind {
            YamlNodeKind::Mapping { entries, flow: false } => entries,
            YamlNodeKind::Mapping { flow: true, .. } => {
                return Ok(in_flow(text, node, rest, value));
            }
            // `extensions:` with nothing behind it, in any of the ways of writing that.
            YamlNodeKind::Scalar { bare: true, text: written } if is_nothing(written) => {
                return Ok(first_child(text, parent, node, rest, value));
            }
            _ => {
                let what = format!("{:?} is not a mapping", path[..n].join("."));
                return Err(ConfigSyntaxError::at(text, node.start, what));
            }
        };
        match entries.iter().rfind(|entry| entry.key == *key) {
            Some(entry) if n + 1 == path.len() => {
                let (start, end) = lines_of(text, entry);
                let indent = entry.start - line_start(text, entry.start);
                let new = block(rest, value, indent, line_end(text));
                return Ok(spliced(text, vec![(start..end, new)]));
            }
            Some(entry) => (parent, node) = (Some(entry), &entry.value),
            None => return Ok(sibling(text, entries, rest, value)),
        }
    }
    Ok(text.to_owned())
}

/// Removes a key and mappings that become empty.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, ConfigSyntaxError> {
    let Some(root) = read(text)? else { return Ok(text.to_owned()) };
    let mut node = &root;
    // The outermost entry that holds nothing but our key.
    let mut doomed: Option<(&YamlEntry, bool)> = None;
    for key in path {
        let YamlNodeKind::Mapping { entries, flow } = &node.kind else {
            return Ok(text.to_owned());
        };
        let Some(entry) = entries.iter().rfind(|entry| entry.key == *key) else {
            return Ok(text.to_owned());
        };
        let is_root = std::ptr::eq(node, &raw const root);
        if entries.len() > 1 || is_root || doomed.is_none() {
            doomed = Some((entry, *flow));
        }
        node = &entry.value;
    }
    match doomed {
        Some((entry, false)) => {
            let (start, end) = lines_of(text, entry);
            Ok(spliced(text, vec![(start..end, String::new())]))
        }
        Some((entry, true)) => Ok(spliced(text, vec![(item_of(text, entry), String::new())])),
        None => Ok(text.to_owned()),
    }
}

/// Returns true if a plain scalar is null.
fn is_nothing(word: &str) -> bool {
    matches!(word, "" | "~" | "null" | "Null" | "NULL")
}

/// An entry in braces, with the comma that goes with it.
fn item_of(text: &str, entry: &YamlEntry) -> Range<usize> {
    let (start, end) = (entry.start, entry.value.end);
    let behind = text[end..].trim_start();
    if let Some(rest) = behind.strip_prefix(',') {
        let rest = rest.trim_start_matches(' ');
        return start..text.len() - rest.len();
    }
    let before = text[..start].trim_end();
    before.strip_suffix(',').map_or(start, str::len)..end
}

/// From the line of a key to the last line of its value.
fn lines_of(text: &str, entry: &YamlEntry) -> (usize, usize) {
    let end = entry.value.end.max(entry.start);
    // Empty lines after a block scalar belong to the next entry.
    let end = text[..end].trim_end().len().max(entry.start);
    (line_start(text, entry.start), next_line(text, end))
}

/// After the last entry of a mapping.
fn sibling(text: &str, entries: &[YamlEntry], path: &[&str], value: &Value) -> String {
    let Some(last) = entries.last() else { return text.to_owned() };
    let indent = last.start - line_start(text, last.start);
    let (_, end) = lines_of(text, last);
    let line = line_end(text);
    let mut new = block(path, value, indent, line);
    if !text[..end].ends_with('\n') {
        new.insert_str(0, line);
    }
    spliced(text, vec![(end..end, new)])
}

/// The first entry of a mapping that was not written yet.
fn first_child(
    text: &str,
    parent: Option<&YamlEntry>,
    node: &YamlNode,
    path: &[&str],
    value: &Value,
) -> String {
    let line = line_end(text);
    let Some(parent) = parent else { return text.to_owned() };
    let indent = parent.start - line_start(text, parent.start) + 2;
    let mut pieces = Vec::new();
    if node.start < node.end {
        pieces.push((node.start..node.end, String::new()));
    }
    let after = next_line(text, node.end.max(parent.start));
    let mut new = block(path, value, indent, line);
    if !text[..after].ends_with('\n') {
        new.insert_str(0, line);
    }
    pieces.push((after..after, new));
    spliced(text, pieces)
}

/// The first entry of a mapping in braces; JSON is YAML there.
fn in_flow(text: &str, node: &YamlNode, path: &[&str], value: &Value) -> String {
    let Some((first, rest)) = path.split_first() else { return text.to_owned() };
    let inner = rest.iter().rev().fold(value.clone(), |inner, key| {
        Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
    });
    let YamlNodeKind::Mapping { entries, .. } = &node.kind else { return text.to_owned() };
    if let Some(entry) = entries.iter().rfind(|entry| entry.key == *first) {
        return spliced(text, vec![(entry.value.start..entry.value.end, inner.to_string())]);
    }
    let comma = if entries.is_empty() { "" } else { ", " };
    let new = format!("{first}: {inner}{comma}");
    spliced(text, vec![(node.start + 1..node.start + 1, new)])
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(line_end(text));
    }
}

/// A key with its value as a block, every line with this indent.
fn block(path: &[&str], value: &Value, indent: usize, line: &str) -> String {
    let Some((key, rest)) = path.split_first() else { return String::new() };
    let blanks = " ".repeat(indent);
    if !rest.is_empty() {
        return format!("{blanks}{}:{line}{}", scalar(key), block(rest, value, indent + 2, line));
    }
    match value {
        Value::Object(map) if !map.is_empty() => {
            let inner = ordered(map)
                .into_iter()
                .map(|(key, value)| block(&[key.as_str()], value, indent + 2, line));
            format!("{blanks}{}:{line}{}", scalar(key), inner.collect::<String>())
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().map(|item| match item {
                Value::String(text) => format!("{blanks}- {}{line}", scalar(text)),
                other => format!("{blanks}- {other}{line}"),
            });
            format!("{blanks}{}:{line}{}", scalar(key), items.collect::<String>())
        }
        Value::String(text) => format!("{blanks}{}: {}{line}", scalar(key), scalar(text)),
        other => format!("{blanks}{}: {other}{line}", scalar(key)),
    }
}

/// A text without quotes where that is safe, else as JSON writes it.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let word = matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    if begins && !word && text.chars().all(plain) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

impl YamlNode {
    fn value(&self) -> Value {
        match &self.kind {
            YamlNodeKind::Scalar { text, bare: true } if is_nothing(text) => Value::Null,
            YamlNodeKind::Scalar { text, .. } => Value::from(text.as_str()),
            YamlNodeKind::Sequence(items) => Value::Array(items.iter().map(Self::value).collect()),
            YamlNodeKind::Mapping { entries, .. } => {
                let entries = entries.iter().map(|e| (e.key.clone(), e.value.value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

type YamlEvents<'t> = Parser<'t, granit_parser::StrInput<'t>>;

/// Reads the one document of a text; `None` if it holds nothing.
fn read(text: &str) -> Result<Option<YamlNode>, ConfigSyntaxError> {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let source = text.get(bom..).unwrap_or_default();
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut events = Parser::new_from_str_with_options(source, options);
    let mut root = None;
    while let Some(next) = events.next() {
        let (event, span) = next.map_err(|error| scan(&error))?;
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) | Event::Scalar(..)
                if root.is_some() =>
            {
                return Err(ConfigSyntaxError {
                    line: span.start.line(),
                    what: "a second document".into(),
                });
            }
            Event::Scalar(text, ..) if text.is_empty() => {}
            Event::MappingStart(..) | Event::SequenceStart(..) | Event::Scalar(..) => {
                root = Some(node(&mut events, event, &span, bom, 0)?);
            }
            _ => {}
        }
    }
    match root {
        Some(YamlNode { kind: YamlNodeKind::Mapping { .. }, .. }) | None => Ok(root),
        Some(other) => Err(ConfigSyntaxError::at(text, other.start, "the file is not a mapping")),
    }
}

fn scan(error: &granit_parser::ScanError) -> ConfigSyntaxError {
    ConfigSyntaxError { line: error.marker().line(), what: error.info().to_string() }
}

fn node(
    events: &mut YamlEvents<'_>,
    event: Event<'_>,
    span: &granit_parser::Span,
    bom: usize,
    depth: usize,
) -> Result<YamlNode, ConfigSyntaxError> {
    if depth > MAX_DEPTH {
        return Err(ConfigSyntaxError {
            line: span.start.line(),
            what: "it is nested too deeply".into(),
        });
    }
    let range = span.byte_range().unwrap_or_default();
    let (start, mut end) = (range.start + bom, range.end + bom);
    let inner = |events: &mut YamlEvents<'_>, end: &mut usize, flow: bool| {
        let (event, span) = match events.next() {
            Some(next) => next.map_err(|error| scan(&error))?,
            None => return Ok(None),
        };
        if let Event::MappingEnd | Event::SequenceEnd = event {
            // The end of a block is only noticed at the next key; a bracket is its own end.
            if flow {
                *end = (*end).max(span.byte_range().unwrap_or_default().end + bom);
            }
            return Ok(None);
        }
        let node = node(events, event, &span, bom, depth + 1)?;
        *end = (*end).max(node.end);
        Ok(Some(node))
    };
    let kind = match event {
        Event::Scalar(text, style, ..) => {
            YamlNodeKind::Scalar { text: text.into_owned(), bare: style == ScalarStyle::Plain }
        }
        Event::Alias(id) => YamlNodeKind::Scalar { text: format!("*{id}"), bare: false },
        Event::SequenceStart(style, ..) => {
            let mut items = Vec::new();
            while let Some(item) = inner(events, &mut end, style == StructureStyle::Flow)? {
                items.push(item);
            }
            YamlNodeKind::Sequence(items)
        }
        Event::MappingStart(style, ..) => {
            let flow = style == StructureStyle::Flow;
            let mut entries = Vec::new();
            while let Some(key) = inner(events, &mut end, flow)? {
                let Some(value) = inner(events, &mut end, flow)? else { break };
                let name = match key.kind {
                    YamlNodeKind::Scalar { text, .. } => text,
                    _ => "?".to_owned(),
                };
                // An empty value has no span of its own.
                let is_empty =
                    matches!(&value.kind, YamlNodeKind::Scalar { text, .. } if text.is_empty());
                let value = if is_empty && value.start >= value.end {
                    YamlNode { start: key.end, end: key.end, kind: value.kind }
                } else {
                    value
                };
                entries.push(YamlEntry { key: name, start: key.start, value });
            }
            YamlNodeKind::Mapping { entries, flow }
        }
        _ => YamlNodeKind::Scalar { text: String::new(), bare: true },
    };
    Ok(YamlNode { start, end, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: [&str; 2] = ["extensions", "memoranda"];
    const BLOCK: &str = "  memoranda:\n    type: stdio\n    cmd: /opt/memoranda\n    args:\n    - mcp\n    enabled: true\n";

    fn entry() -> Value {
        serde_json::json!({ "type": "stdio", "cmd": "/opt/memoranda", "args": ["mcp"], "enabled": true })
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let added = set(text, &PATH, &entry()).unwrap();
        assert_eq!(added, expected);
        assert_eq!(set(&added, &PATH, &entry()).unwrap(), expected, "again");
    }

    #[test]
    fn an_extension_comes_and_goes() {
        let keyed = format!("extensions:\n{BLOCK}");
        check("", &keyed);
        check("# goose\n", &format!("# goose\n{keyed}"));
        check("A: b\n", &format!("A: b\n{keyed}"));
        check("A: b", &format!("A: b\n{keyed}"));
        check("extensions:\nA: b\n", &format!("extensions:\n{BLOCK}A: b\n"));
        let others = "# mine\nextensions:\n  dev: # built in\n    type: builtin\n    \
                      about: |\n      two\n      lines\n\n# the model\nMODEL: x # y\n";
        let (head, tail) = others.split_at(others.find("\n# the model").unwrap());
        check(others, &format!("{head}{BLOCK}{tail}"));
        let added = set(others, &PATH, &entry()).unwrap();
        assert_eq!(remove(&added, &PATH).unwrap(), others);
        assert_eq!(remove(&format!("A: b\n{keyed}"), &PATH).unwrap(), "A: b\n");
        let dos = others.replace('\n', "\r\n");
        let added = set(&dos, &PATH, &entry()).unwrap();
        assert!(!added.replace("\r\n", "").contains('\n'), "{added:?}");
        assert_eq!(remove(&added, &PATH).unwrap(), dos);
    }

    #[test]
    fn braces_are_kept() {
        let added = set("extensions: {}\nA: b\n", &PATH, &entry()).unwrap();
        assert_eq!(value(&added).unwrap()["extensions"]["memoranda"]["cmd"], "/opt/memoranda");
        assert!(added.ends_with("}\nA: b\n"), "{added}");
        let added = set("extensions: {dev: {type: x}}\n", &PATH, &entry()).unwrap();
        assert_eq!(value(&added).unwrap()["extensions"]["dev"]["type"], "x");
        assert_eq!(remove(&added, &PATH).unwrap(), "extensions: {dev: {type: x}}\n");
        for (text, expected) in [
            ("extensions: {a: 1, memoranda: {cmd: x}}\n", "extensions: {a: 1}\n"),
            ("extensions: {a: 1, memoranda: {cmd: x} , b: 2}\n", "extensions: {a: 1, b: 2}\n"),
            ("extensions: {\n  a: 1,\n  memoranda: x\n}\n", "extensions: {\n  a: 1\n}\n"),
            ("{extensions: {memoranda: {}}}\n", "{}\n"),
            ("A: b\nextensions: {memoranda: {cmd: x}}\n", "A: b\n"),
        ] {
            assert_eq!(remove(text, &PATH).unwrap(), expected);
        }
    }

    #[test]
    fn nothing_is_filled() {
        for nothing in ["", " ~", " null", " Null # none yet", " NULL"] {
            let text = format!("extensions:{nothing}\nA: b\n");
            let added = set(&text, &PATH, &entry()).unwrap();
            let read = value(&added).unwrap();
            assert_eq!(read["extensions"]["memoranda"]["cmd"], "/opt/memoranda", "{added}");
            assert_eq!(read["A"], "b", "{added}");
            assert_eq!(value(&text).unwrap()["extensions"], Value::Null, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let broken = set("a: b\n\tc: d\n", &PATH, &entry()).unwrap_err();
        assert!(broken.line <= 2 && !broken.what.is_empty(), "{broken}");
        assert!(set("- a\n- b\n", &PATH, &entry()).unwrap_err().what.contains("not a mapping"));
        assert!(set("extensions: 5\n", &PATH, &entry()).unwrap_err().what.contains("extensions"));
    }
}
