//! Edits of one frontmatter key. Only the lines of the key are replaced, and the result is parsed
//! to verify that nothing else changed.

use std::fmt::Write as _;
use std::ops::Range;

use super::super::frontmatter::{self, FrontmatterBlock, FrontmatterFences};
use super::super::yaml::{self, YamlBlock, YamlEntry};
use super::super::{MetaValue, parse};
use super::EditError;
use super::splice::EditBuffer;

/// Renders the frontmatter of a new note: the same result as setting the keys one by one, without
/// parsing after each.
pub fn render_frontmatter(keys: &[(&str, MetaValue)]) -> String {
    let entry = |(key, value): &(&str, MetaValue)| {
        entry_lines(&scalar(key, KeyPosition::Key), value, "", "\n")
    };
    format!("---\n{}---\n", keys.iter().map(entry).collect::<String>())
}

pub(super) fn set(
    draft: &EditBuffer<'_>,
    key: &str,
    value: &MetaValue,
) -> Result<String, EditError> {
    let (fences, block) = match read(draft, key)? {
        Some(found) => found,
        None => {
            let start = frontmatter::text_start(draft.text);
            let lines = entry_lines(&scalar(key, KeyPosition::Key), value, "", draft.ending);
            let (end, fence) = (draft.ending, "---");
            let new = format!("{fence}{end}{lines}{fence}{end}");
            return verify(draft, key, Some(value), draft.splice(vec![(start..start, new)]));
        }
    };
    let splice = splice(draft, &fences.inner, &block, key, value);
    verify(draft, key, Some(value), draft.splice(vec![splice]))
}

/// Returns the replacement that sets a key of a block.
pub(super) fn splice(
    draft: &EditBuffer<'_>,
    inner: &Range<usize>,
    block: &YamlBlock,
    key: &str,
    value: &MetaValue,
) -> (Range<usize>, String) {
    let indent = indent(draft, inner, block);
    let base = inner.start;
    match block.entries.iter().rev().find(|entry| entry.key == key) {
        None => {
            let at = inner.end;
            (at..at, entry_lines(&scalar(key, KeyPosition::Key), value, &indent, draft.ending))
        }
        Some(entry) => match value {
            // A scalar replaces a scalar: a comment on the same line stays.
            MetaValue::Text(_) | MetaValue::Plain(_) if entry.inline => {
                (base + entry.value_start..base + entry.end, line(value))
            }
            MetaValue::Text(_) | MetaValue::Plain(_)
                if let Some(at) = empty_place(draft, base, entry) =>
            {
                (at..at, format!(" {}", line(value)))
            }
            _ => {
                // The key stays as written.
                let key = draft.slice(base + entry.start..base + entry.key_end);
                let mut lines = entry_lines(key, value, &indent, draft.ending);
                if let Some(comment) = comment(draft, base, entry)
                    && let Some(at) = lines.find(draft.ending)
                {
                    lines.insert_str(at, &format!(" {comment}"));
                }
                (entry_range(draft, base, entry), lines)
            }
        },
    }
}

pub(super) fn remove(draft: &EditBuffer<'_>, key: &str) -> Result<String, EditError> {
    let Some((fences, block)) = read(draft, key)? else { return Ok(draft.text.to_owned()) };
    let entries = block.entries.iter().filter(|entry| entry.key == key);
    let base = fences.inner.start;
    let splices = entries.map(|entry| (entry_range(draft, base, entry), String::new()));
    verify(draft, key, None, draft.splice(splices.collect()))
}

/// Returns the block and its entries; `None` if a block may be created.
pub(super) fn read(
    draft: &EditBuffer<'_>,
    key: &str,
) -> Result<Option<(FrontmatterFences, YamlBlock)>, EditError> {
    let fail = |line: usize, message: &str| EditError::KeyNotEditable {
        key: key.to_owned(),
        line,
        message: message.to_owned(),
    };
    let fences = match frontmatter::find(draft.text, &draft.lines) {
        FrontmatterBlock::Absent | FrontmatterBlock::Unclosed => return Ok(None),
        FrontmatterBlock::Fenced(fences) => fences,
    };
    match yaml::read(draft.slice(fences.inner.clone())) {
        Ok(block) if block.flow => Err(fail(2, "the frontmatter is written as `{…}`")),
        Ok(block) => Ok(Some((fences, block))),
        // Prose between two horizontal rules: frontmatter can be created above it.
        Err(fault) if fault.prose => Ok(None),
        Err(fault) => Err(fail(fault.line + 1, &fault.message)),
    }
}

/// Returns the edited text if it parses to the wanted value and all other entries are unchanged.
pub(super) fn verify(
    draft: &EditBuffer<'_>,
    key: &str,
    value: Option<&MetaValue>,
    edited: String,
) -> Result<String, EditError> {
    let after = parse(&edited);
    let before = draft.note.frontmatter.entries.iter().filter(|(name, _)| name != key);
    let others = after.frontmatter.entries.iter().filter(|(name, _)| name != key);
    let body = draft.slice(draft.note.body.clone());
    let kept = edited.get(after.body.clone()) == Some(body) && others.eq(before);
    if kept && after.frontmatter.get(key) == value.map(as_read).as_ref() {
        return Ok(edited);
    }
    let line = 1 + usize::from(draft.note.frontmatter.span.is_some());
    let message = "the other keys would not be read as before".to_owned();
    Err(EditError::KeyNotEditable { key: key.to_owned(), line, message })
}

/// Returns a value as it parses after being written.
fn as_read(value: &MetaValue) -> MetaValue {
    match value {
        MetaValue::Plain(text) if text == "null" => MetaValue::Text(String::new()),
        MetaValue::Text(text) | MetaValue::Plain(text) => MetaValue::Text(text.clone()),
        MetaValue::List(items) => MetaValue::List(items.iter().map(as_read).collect()),
        MetaValue::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), as_read(value)));
            MetaValue::Map(entries.collect())
        }
    }
}

/// Returns the indentation of a block's keys, usually empty.
fn indent(draft: &EditBuffer<'_>, inner: &Range<usize>, block: &YamlBlock) -> String {
    let Some(first) = block.entries.first() else { return String::new() };
    let at = inner.start + first.start;
    let line = draft.lines.with_ending(draft.lines.number_at(at));
    let before = draft.slice(line.start..at);
    let blanks = before.len() - before.trim_start_matches(' ').len();
    before.get(..blanks).unwrap_or_default().to_owned()
}

/// Returns the offset for the value of an empty key: after its colon.
fn empty_place(draft: &EditBuffer<'_>, base: usize, entry: &YamlEntry) -> Option<usize> {
    let key_end = base + entry.key_end;
    let line = draft.lines.without_ending(draft.lines.number_at(key_end));
    let rest = draft.slice(key_end..line.end);
    let colon = rest.len() - rest.trim_start().strip_prefix(':')?.len();
    (entry.end == entry.key_end).then_some(key_end + colon)
}

/// Returns the comment on the line of a key, after or before its value.
fn comment<'d>(draft: &'d EditBuffer<'_>, base: usize, entry: &YamlEntry) -> Option<&'d str> {
    let (key_end, end) = (base + entry.key_end, base + entry.end);
    let line = draft.lines.without_ending(draft.lines.number_at(key_end));
    let behind = if end <= line.end { end } else { key_end };
    let rest = draft.slice(behind..line.end).trim();
    let rest = rest.strip_prefix(':').map_or(rest, str::trim_start);
    rest.starts_with('#').then_some(rest)
}

/// Returns the whole lines of an entry up to the last line of its value.
pub(super) fn entry_range(draft: &EditBuffer<'_>, base: usize, entry: &YamlEntry) -> Range<usize> {
    let written = draft.slice(base + entry.start..base + entry.end).trim_end().len();
    draft.lines.covering(&(base + entry.start..base + entry.start + written))
}

/// Renders an entry as whole lines, lists and mappings in block style.
fn entry_lines(key: &str, value: &MetaValue, indent: &str, ending: &str) -> String {
    let mut out = String::new();
    write_entry(&mut out, key, value, indent, ending);
    out
}

fn write_entry(out: &mut String, key: &str, value: &MetaValue, indent: &str, ending: &str) {
    // Writing to a string cannot fail.
    let _ = match value {
        MetaValue::Text(_) | MetaValue::Plain(_) => {
            write!(out, "{indent}{key}: {}{ending}", line(value))
        }
        MetaValue::List(items) if !items.is_empty() => {
            let _ = write!(out, "{indent}{key}:{ending}");
            items.iter().try_for_each(|item| write!(out, "{indent}  - {}{ending}", line(item)))
        }
        MetaValue::Map(entries) if !entries.is_empty() => {
            let _ = write!(out, "{indent}{key}:{ending}");
            let deeper = format!("{indent}  ");
            for (key, value) in entries {
                write_entry(out, &scalar(key, KeyPosition::Key), value, &deeper, ending);
            }
            Ok(())
        }
        MetaValue::List(_) | MetaValue::Map(_) => {
            write!(out, "{indent}{key}: {}{ending}", flow(value))
        }
    };
}

/// Renders a value on one line of a block.
fn line(value: &MetaValue) -> String {
    match value {
        MetaValue::Text(text) => scalar(text, KeyPosition::Block),
        MetaValue::Plain(text) => text.clone(),
        MetaValue::List(_) | MetaValue::Map(_) => flow(value),
    }
}

pub(super) fn flow(value: &MetaValue) -> String {
    match value {
        MetaValue::Plain(text) => text.clone(),
        MetaValue::Text(text) => scalar(text, KeyPosition::Flow),
        MetaValue::List(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        MetaValue::Map(entries) => {
            let pair = |(key, value): &(String, MetaValue)| {
                format!("{}: {}", scalar(key, KeyPosition::Flow), flow(value))
            };
            format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Context of a scalar, which decides how it is quoted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPosition {
    Key,
    Block,
    Flow,
}

/// Renders a text as YAML: plain if every parser reads the same text, else in double quotes.
pub(super) fn scalar(text: &str, place: KeyPosition) -> String {
    if reads_as_text(text, place) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns true for characters that YAML does not print or treats as line breaks.
fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn reads_as_text(text: &str, place: KeyPosition) -> bool {
    const WORDS: [&str; 11] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let Some(first) = text.chars().next() else { return false };
    let begins = first.is_alphanumeric() || matches!(first, '_' | '/' | '(');
    // Matches `1`, `0x1f`, `1e5`, `1_000`, `12:30`, `2026-01-01T10:00:00Z` and similar.
    let number = first.is_ascii_digit()
        && text.chars().all(|c| c.is_ascii_hexdigit() || "xXoOtTzZ_:+-., ".contains(c));
    begins
        && !number
        && place != KeyPosition::Flow
        && text.trim() == text
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.chars().any(is_hidden)
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        && !(place == KeyPosition::Key && text.len() > 100)
}
