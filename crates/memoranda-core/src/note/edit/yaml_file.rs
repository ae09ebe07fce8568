//! Edits of a YAML file, such as a program's settings: one key changes, and every other byte stays.

use std::ops::Range;

use super::super::MetaValue;
use super::super::yaml::{self, YamlBlock, YamlEntry};
use super::key;
use super::mapping::{in_flow, within};
use super::splice::EditBuffer;

/// Syntax error of a YAML file, or a value that is in the way of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct YamlFileError {
    /// Line number, from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

/// Returns the keys and values of a YAML file.
pub fn read_yaml_file(text: &str) -> Result<Vec<(String, MetaValue)>, YamlFileError> {
    let block = read(&EditBuffer::new(text), &whole(text))?;
    Ok(block.entries.into_iter().map(|entry| (entry.key, entry.value)).collect())
}

/// Sets the key at a path of mappings, and creates the mappings that are missing.
pub fn set_yaml_key(text: &str, path: &[&str], value: &MetaValue) -> Result<String, YamlFileError> {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(EditBuffer::new(&text).ending);
    }
    let draft = EditBuffer::new(&text);
    let mut inner = whole(&text);
    for (depth, key) in path.iter().enumerate() {
        let block = read(&draft, &inner)?;
        let (below, rest) = (path.get(..=depth), path.get(depth + 1..).unwrap_or_default());
        match entry_of(&block, key) {
            Some(entry) if !rest.is_empty() && !is_empty(&draft, &inner, entry) => {
                inner = within(&draft, &inner, &block, key).ok_or_else(|| YamlFileError {
                    line: draft.lines.number_at(inner.start + entry.start),
                    message: format!("{:?} is not a mapping", below.unwrap_or_default().join(".")),
                })?;
            }
            _ => {
                let nested = rest.iter().rev().fold(value.clone(), |nested, key| {
                    MetaValue::Map(vec![((*key).to_owned(), nested)])
                });
                let splice = if block.flow {
                    in_flow(&inner, &block, key, &nested)
                } else {
                    key::splice(&draft, &inner, &block, key, &nested)
                };
                return Ok(draft.splice(vec![splice]));
            }
        }
    }
    Ok(text)
}

/// Removes the key at a path of mappings, and the mappings that become empty.
pub fn remove_yaml_key(text: &str, path: &[&str]) -> Result<String, YamlFileError> {
    let draft = EditBuffer::new(text);
    let mut inner = whole(text);
    // The outermost entry that contains nothing but the key.
    let mut removed = None;
    for (depth, key) in path.iter().enumerate() {
        let block = read(&draft, &inner)?;
        let Some(entry) = entry_of(&block, key) else { return Ok(text.to_owned()) };
        if depth == 0 || block.entries.len() > 1 {
            removed = Some(if block.flow {
                flow_item(text, inner.start + entry.start..inner.start + entry.end)
            } else {
                key::entry_range(&draft, inner.start, entry)
            });
        }
        if depth + 1 < path.len() {
            let Some(below) = within(&draft, &inner, &block, key) else {
                return Ok(text.to_owned());
            };
            inner = below;
        }
    }
    Ok(draft.splice(removed.map(|range| (range, String::new())).into_iter().collect()))
}

/// Returns the range of the text behind a byte-order mark.
fn whole(text: &str) -> Range<usize> {
    text.len() - text.trim_start_matches('\u{feff}').len()..text.len()
}

fn read(draft: &EditBuffer<'_>, inner: &Range<usize>) -> Result<YamlBlock, YamlFileError> {
    yaml::read(draft.slice(inner.clone())).map_err(|fault| YamlFileError {
        line: draft.lines.number_at(inner.start) + fault.line - 1,
        message: if fault.prose { "the file is not a mapping".to_owned() } else { fault.message },
    })
}

/// Returns the last entry of a key, which is the one that counts.
fn entry_of<'b>(block: &'b YamlBlock, key: &str) -> Option<&'b YamlEntry> {
    block.entries.iter().rfind(|entry| entry.key == key)
}

/// Returns true for a key without a value, or with one of the words for none.
fn is_empty(draft: &EditBuffer<'_>, inner: &Range<usize>, entry: &YamlEntry) -> bool {
    let written = draft.slice(inner.start + entry.value_start..inner.start + entry.end);
    matches!(written, "" | "~" | "null" | "Null" | "NULL")
}

/// Returns the range of an entry in braces with the comma that goes with it.
fn flow_item(text: &str, entry: Range<usize>) -> Range<usize> {
    let behind = text.get(entry.end..).unwrap_or_default().trim_start();
    if let Some(rest) = behind.strip_prefix(',') {
        return entry.start..text.len() - rest.trim_start_matches(' ').len();
    }
    let before = text.get(..entry.start).unwrap_or_default().trim_end();
    before.strip_suffix(',').map_or(entry.start, str::len)..entry.end
}
