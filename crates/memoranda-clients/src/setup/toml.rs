//! TOML: our table at the end of the file, found by the byte ranges of its parts.
//!
//! The parser gives only byte ranges. Writing its document back would change Windows line endings,
//! so the text is spliced.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, Table, Value as TomlValue};

use crate::setup::format::{ConfigSyntaxError, line_end, line_start, next_line, spliced};
use crate::setup::json;

/// Parses a text into a value.
pub(crate) fn value(text: &str) -> Result<Value, ConfigSyntaxError> {
    Ok(of_table(parsed(text)?.as_table()))
}

/// Sets a table in its place or at the end.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, ConfigSyntaxError> {
    let document = parsed(text)?;
    if let Some(at) = inline_parent(&document, path) {
        let what = format!("{:?} is written on one line; write it as a table", at.0);
        return Err(ConfigSyntaxError::at(text, at.1, what));
    }
    let line = line_end(text);
    let block = written(path, value, line);
    if let Some(first) = blocks(text, &document, path).first().map(|range| range.start) {
        let shorter = cut(text, blocks(text, &document, path));
        return Ok(spliced(&shorter, vec![(first..first, block)]));
    }
    let mut result = text.to_owned();
    if !result.is_empty() && !result.ends_with('\n') {
        result.push_str(line);
    }
    if !result.trim_start_matches('\u{feff}').is_empty() {
        result.push_str(line);
    }
    result.push_str(&block);
    Ok(result)
}

/// Removes a table, its sub-tables and the blank line before it.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, ConfigSyntaxError> {
    let document = parsed(text)?;
    let mut ranges = blocks(text, &document, path);
    if let Some(first) = ranges.first_mut() {
        let before = &text[..first.start];
        let is_alone = first.end == text.len() || text[first.end..].starts_with(['\n', '\r', '[']);
        for blank in ["\r\n\r\n", "\n\n"] {
            if is_alone && before.ends_with(blank) {
                first.start -= blank.len() / 2;
                break;
            }
        }
    }
    if ranges.is_empty()
        && let Some((_, at)) = inline_parent(&document, path)
        && found(document.as_item(), path).is_some()
    {
        return Err(ConfigSyntaxError::at(
            text,
            at,
            "it is written on one line; take it out by hand",
        ));
    }
    Ok(cut(text, ranges))
}

fn parsed(text: &str) -> Result<Document<&str>, ConfigSyntaxError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        ConfigSyntaxError::at(text, at, error.message().lines().next().unwrap_or("not TOML"))
    })
}

fn cut(text: &str, ranges: Vec<Range<usize>>) -> String {
    spliced(text, ranges.into_iter().map(|range| (range, String::new())).collect())
}

/// Returns a parent that is an inline value, with its offset.
fn inline_parent(document: &Document<&str>, path: &[&str]) -> Option<(String, usize)> {
    let mut item = document.as_item();
    for key in path {
        item = item.get(key)?;
        if !item.is_table() {
            return Some(((*key).to_owned(), item.span().map_or(0, |span| span.start)));
        }
    }
    None
}

fn found<'d>(item: &'d Item, path: &[&str]) -> Option<&'d Item> {
    path.iter().try_fold(item, |item, key| item.get(key))
}

/// The lines of the table at a path and of the tables in it: from each header to its last value.
fn blocks(text: &str, document: &Document<&str>, path: &[&str]) -> Vec<Range<usize>> {
    let Some(Item::Table(table)) = found(document.as_item(), path) else { return Vec::new() };
    let mut ranges = Vec::new();
    collect(text, table, &mut ranges);
    ranges.sort_by_key(|range| range.start);
    // Adjacent parts of the table are one range, with the blank lines between them.
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if text[last.end..range.start].trim().is_empty() => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

fn collect(text: &str, table: &Table, ranges: &mut Vec<Range<usize>>) {
    if let Some(header) = table.span().filter(|span| !span.is_empty()) {
        let values = table.iter().filter_map(|(_, item)| match item {
            Item::Value(value) => value.span(),
            _ => None,
        });
        let last = values.map(|span| span.end).fold(header.end, usize::max);
        let last = last.min(text.len());
        ranges.push(line_start(text, header.start)..next_line(text, last));
    }
    for (_, item) in table.iter() {
        match item {
            Item::Table(inner) => collect(text, inner, ranges),
            Item::ArrayOfTables(tables) => {
                tables.iter().for_each(|inner| collect(text, inner, ranges));
            }
            _ => {}
        }
    }
}

/// Our table as text. Objects in it become tables of their own.
fn written(path: &[&str], value: &Value, line: &str) -> String {
    let name: Vec<String> = path.iter().map(|key| key_text(key)).collect();
    let mut text = format!("[{}]{line}", name.join("."));
    let Value::Object(map) = value else { return text };
    let (tables, values): (Vec<_>, Vec<_>) =
        json::ordered(map).into_iter().partition(|(_, value)| value.is_object());
    for (key, value) in values {
        text.push_str(&format!("{} = {}{line}", key_text(key), to_toml(value)));
    }
    for (key, value) in tables {
        let path = [path, &[key.as_str()]].concat();
        text.push_str(&format!("{line}{}", written(&path, value, line)));
    }
    text
}

fn key_text(key: &str) -> String {
    toml_edit::Key::new(key).to_string()
}

fn to_toml(value: &Value) -> TomlValue {
    match value {
        Value::Bool(value) => TomlValue::from(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => TomlValue::from(whole),
            None => TomlValue::from(number.as_f64().unwrap_or_default()),
        },
        Value::Array(items) => {
            TomlValue::Array(items.iter().map(to_toml).collect::<toml_edit::Array>())
        }
        Value::String(text) => TomlValue::from(text.as_str()),
        Value::Null | Value::Object(_) => TomlValue::from(value.to_string()),
    }
}

fn of_table(table: &dyn toml_edit::TableLike) -> Value {
    let entries = table.iter().map(|(key, item)| (key.to_owned(), of_item(item)));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => {
            Value::Array(tables.iter().map(|table| of_table(table)).collect())
        }
        Item::Value(value) => of_value(value),
    }
}

fn of_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::from(text.value().as_str()),
        TomlValue::Integer(number) => Value::from(*number.value()),
        TomlValue::Float(number) => Value::from(*number.value()),
        TomlValue::Boolean(value) => Value::from(*value.value()),
        TomlValue::Datetime(time) => Value::from(time.value().to_string()),
        TomlValue::Array(items) => Value::Array(items.iter().map(of_value).collect()),
        TomlValue::InlineTable(table) => of_table(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "memoranda"];

    fn entry() -> Value {
        serde_json::json!({ "command": "/opt/memoranda", "args": ["mcp"] })
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let added = set(text, &PATH, &entry()).unwrap();
        assert_eq!(added, expected);
        assert_eq!(set(&added, &PATH, &entry()).unwrap(), expected, "again");
        let removed = remove(&added, &PATH).unwrap();
        assert_eq!(removed.trim_end(), text.trim_end());
    }

    #[test]
    fn a_table_comes_and_goes() {
        const BLOCK: &str =
            "[mcp_servers.memoranda]\ncommand = \"/opt/memoranda\"\nargs = [\"mcp\"]\n";
        check("", BLOCK);
        check("model = \"x\" # mine\n", &format!("model = \"x\" # mine\n\n{BLOCK}"));
        check("model = \"x\"", &format!("model = \"x\"\n\n{BLOCK}"));
        let other = "[mcp_servers.other]\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"1\"\n";
        check(other, &format!("{other}\n{BLOCK}"));
        let dos = "# Codex\r\nmodel = \"x\"\r\n";
        check(dos, &format!("{dos}\r\n{}", BLOCK.replace('\n', "\r\n")));
    }

    #[test]
    fn in_the_middle_only_our_lines_change() {
        let before = "a = 1\n\n[mcp_servers.memoranda]\ncommand = \"old\" # where\n\n\
                      [mcp_servers.memoranda.env]\nX = \"\"\"\n[not.a.table]\n\"\"\"\n\n\
                      # about z\n[z]\nb = 2 # two\n";
        let changed = set(before, &PATH, &entry()).unwrap();
        assert_eq!(
            changed,
            "a = 1\n\n[mcp_servers.memoranda]\ncommand = \"/opt/memoranda\"\nargs = [\"mcp\"]\n\n\
             # about z\n[z]\nb = 2 # two\n"
        );
        assert_eq!(remove(before, &PATH).unwrap(), "a = 1\n\n# about z\n[z]\nb = 2 # two\n");
        assert_eq!(remove("a = 1\n", &PATH).unwrap(), "a = 1\n");
    }

    #[test]
    fn what_cannot_be_edited_is_told() {
        let broken = set("a = 1\nb = \n", &PATH, &entry()).unwrap_err();
        assert_eq!(broken.line, 2);
        let inline = set("mcp_servers = { x = { command = \"y\" } }\n", &PATH, &entry());
        assert!(inline.unwrap_err().what.contains("on one line"));
    }
}
