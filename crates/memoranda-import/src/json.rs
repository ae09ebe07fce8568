//! Streams JSON one element at a time, so that memory use is bounded by the largest element. An
//! invalid line is reported and skipped.

use std::io::{BufRead, BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::sink::ImportSink;

/// Maximum length of a line in bytes.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// A JSON object.
pub(crate) type JsonObject = Map<String, Value>;

/// Calls `each` with every element of a JSON array, or with every value of a file of several
/// values.
pub(crate) fn for_each_element(
    from: &mut dyn Read,
    name: &str,
    sink: &mut ImportSink<'_>,
    each: &mut dyn FnMut(usize, Value, &mut ImportSink<'_>) -> Result<()>,
) -> Result<()> {
    let mut from = BufReader::new(from);
    let mut failed = None;
    let first = first_byte(&mut from);
    if first == Some(b'[') {
        let mut reader = serde_json::Deserializer::from_reader(from);
        let elements = ElementVisitor { each, sink, failed: &mut failed };
        let end = elements.deserialize(&mut reader);
        if let (Err(e), None) = (end, &failed) {
            sink.add_problem(name, format!("{e}; what follows could not be read"));
        }
        return failed.map_or(Ok(()), Err);
    }
    for (n, value) in serde_json::Deserializer::from_reader(from).into_iter().enumerate() {
        match value {
            Ok(value) => each(n, value, sink)?,
            Err(e) => {
                sink.add_problem(name, format!("{e}; what follows could not be read"));
                break;
            }
        }
    }
    Ok(())
}

/// Calls `each` with every valid JSON line and its number, and reports the others as problems.
pub(crate) fn for_each_line(
    from: &mut dyn Read,
    name: &str,
    sink: &mut ImportSink<'_>,
    each: &mut dyn FnMut(usize, Value, &mut ImportSink<'_>) -> Result<()>,
) -> Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = (&mut from).take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        match read {
            Ok(0) => break,
            Ok(_) => {}
            Err(e) => {
                sink.add_problem(format!("{name} line {number}"), e.to_string());
                break;
            }
        }
        let text =
            if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        // Trimming makes the error position of a truncated line its end.
        match serde_json::from_slice(text.trim_ascii_end()) {
            Ok(value) => each(number, value, sink)?,
            Err(e) => {
                let text = e.to_string();
                let reason = text.split(" at line ").next().unwrap_or(&text);
                sink.add_problem(format!("{name} line {number}"), format!("not JSON: {reason}"));
            }
        }
    }
    Ok(())
}

/// Returns the first byte after white space and the byte order mark, without consuming it.
fn first_byte(from: &mut impl BufRead) -> Option<u8> {
    loop {
        let buffer = from.fill_buf().ok()?;
        let blank = |byte: &u8| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte);
        let passed = buffer.iter().take_while(|byte| blank(byte)).count();
        let (found, ended) = (buffer.get(passed).copied(), buffer.is_empty());
        from.consume(passed);
        if found.is_some() || ended {
            return found;
        }
    }
}

struct ElementVisitor<'e, 'i> {
    each: &'e mut dyn FnMut(usize, Value, &mut ImportSink<'_>) -> Result<()>,
    sink: &'e mut ImportSink<'i>,
    failed: &'e mut Option<crate::error::ImportError>,
}

impl<'de> DeserializeSeed<'de> for ElementVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ElementVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(value) = list.next_element::<Value>()? {
            if let Err(e) = (self.each)(number, value, self.sink) {
                *self.failed = Some(e);
                return Err(serde::de::Error::custom("stopped"));
            }
            number += 1;
        }
        Ok(())
    }
}

/// Returns a text field; empty if the field is missing.
pub(crate) fn text_field<'o>(object: &'o JsonObject, key: &str) -> &'o str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the first non-empty text field of several keys.
pub(crate) fn first_text_field<'o>(object: &'o JsonObject, keys: &[&str]) -> &'o str {
    keys.iter().map(|key| text_field(object, key)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns a list field; empty if the field is missing.
pub(crate) fn list_field<'o>(object: &'o JsonObject, key: &str) -> &'o [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Parses tags from a list, a list in a string, or comma-separated words.
pub(crate) fn tag_list(value: Option<&Value>) -> Vec<String> {
    let clean = |tag: &str| tag.trim().trim_start_matches('#').trim().to_owned();
    let tags: Vec<String> = match value {
        Some(Value::Array(tags)) => tags.iter().filter_map(Value::as_str).map(clean).collect(),
        Some(Value::String(text)) => match serde_json::from_str::<Vec<String>>(text) {
            Ok(tags) => tags.iter().map(|tag| clean(tag)).collect(),
            Err(_) => text.split(',').map(clean).collect(),
        },
        _ => Vec::new(),
    };
    distinct(tags)
}

/// Parses globs from a list, a list in a string, or a comma-separated text.
pub(crate) fn glob_list(value: Option<&Value>) -> Vec<String> {
    let clean = |glob: &str| glob.trim().to_owned();
    distinct(match value {
        Some(Value::Array(globs)) => globs.iter().filter_map(Value::as_str).map(clean).collect(),
        Some(Value::String(text)) => match serde_json::from_str::<Vec<String>>(text) {
            Ok(globs) => globs.iter().map(|glob| clean(glob)).collect(),
            Err(_) => memoranda_engine::core::globs::split_globs(text),
        },
        _ => Vec::new(),
    })
}

fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut seen = Vec::new();
    for text in texts {
        if !text.is_empty() && !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

/// Parses an object, also from a JSON text.
pub(crate) fn object_value(value: Option<&Value>) -> JsonObject {
    match value {
        Some(Value::Object(object)) => object.clone(),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &[Value], problems: &[&str]) {
        let mut found = Vec::new();
        let mut keep = |_, _| Ok(());
        let mut sink = ImportSink::new(&mut keep);
        for_each_element(&mut text.as_bytes(), "x.json", &mut sink, &mut |_, value, _| {
            found.push(value);
            Ok(())
        })
        .unwrap();
        assert_eq!(found, expected, "{text}");
        let said: Vec<_> = sink.problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(said.len(), problems.len(), "{said:?}");
        assert!(said.iter().zip(problems).all(|(said, part)| said.contains(part)), "{said:?}");
    }

    #[test]
    fn elements_come_one_by_one_and_damage_costs_only_what_follows() {
        check("\u{feff} [1, {\"a\": 2}]", &[json!(1), json!({"a": 2})], &[]);
        check("{\"a\": 1}\n{\"a\": 2}\n", &[json!({"a": 1}), json!({"a": 2})], &[]);
        check("[1, 2, oops, 4]", &[json!(1), json!(2)], &["line 1 column 8; what follows"]);
        check("[1, 2", &[json!(1), json!(2)], &["EOF"]);
        check("", &[], &[]);
        check("nothing", &[], &["expected ident"]);
    }

    #[test]
    fn a_bad_line_costs_itself_alone() {
        let mut found = Vec::new();
        let mut keep = |_, _| Ok(());
        let mut sink = ImportSink::new(&mut keep);
        let text = "\u{feff}{\"a\":1}\r\n\n{\"brok\n[2]\nlast";
        for_each_line(&mut text.as_bytes(), "f", &mut sink, &mut |number, value, _| {
            found.push((number, value));
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [(1, json!({"a": 1})), (4, json!([2]))]);
        let at: Vec<_> = sink.problems.iter().map(|problem| problem.at.as_str()).collect();
        assert_eq!(at, ["f line 3", "f line 5"]);
        assert_eq!(sink.problems[0].message, "not JSON: EOF while parsing a string");
    }

    #[test]
    fn tags_are_read_however_they_are_written() {
        for (value, expected) in [
            (json!(["a", "#b", "a", 3]), vec!["a", "b"]),
            (json!("a, b,,a"), vec!["a", "b"]),
            (json!("[\"x\",\"y\"]"), vec!["x", "y"]),
            (json!(null), vec![]),
        ] {
            assert_eq!(tag_list(Some(&value)), expected);
        }
    }
}
