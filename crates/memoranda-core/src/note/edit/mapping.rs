//! Edits within a frontmatter mapping; its other keys stay as written.

use std::ops::Range;

use super::super::yaml::{self, YamlBlock};
use super::super::{Frontmatter, MetaValue};
use super::EditError;
use super::key::{self, KeyPosition, entry_range, flow, read, scalar, verify};
use super::splice::EditBuffer;

/// Sets a key. A mapping is merged key by key into the existing one. A dot descends into a mapping,
/// unless a key contains that dot.
pub(super) fn merge(
    draft: &EditBuffer<'_>,
    key: &str,
    value: &MetaValue,
) -> Result<String, EditError> {
    let (key, value) = resolve_dotted(&draft.note.frontmatter, key, value);
    let Some(old) = draft.note.frontmatter.get(&key).filter(|old| is_filled(old)) else {
        return key::set(draft, &key, &value);
    };
    if !matches!(value, MetaValue::Map(_)) {
        return key::set(draft, &key, &value);
    }
    let mut changes = Vec::new();
    differing(old, &value, &mut vec![key], &mut changes);
    let mut text = draft.text.to_owned();
    for (path, value) in changes {
        text = set_within(&EditBuffer::new(&text), &path, value)?;
    }
    Ok(text)
}

/// Resolves a dotted key: the existing top-level key, and the value to set there.
fn resolve_dotted(frontmatter: &Frontmatter, key: &str, value: &MetaValue) -> (String, MetaValue) {
    let stays = || (key.to_owned(), value.clone());
    if frontmatter.get(key).is_some() {
        return stays();
    }
    for (dot, _) in key.match_indices('.') {
        let (Some(first), Some(rest)) = (key.get(..dot), key.get(dot + 1..)) else { continue };
        if let Some(inner) = frontmatter.get(first).filter(|inner| is_filled(inner))
            && !rest.is_empty()
        {
            return (first.to_owned(), nested(inner, rest, value));
        }
    }
    stays()
}

/// Nests a value under a dotted key of a mapping.
fn nested(mapping: &MetaValue, key: &str, value: &MetaValue) -> MetaValue {
    let entry = match key.split_once('.') {
        Some((first, rest)) if get(mapping, key).is_none() && !first.is_empty() => {
            let inner = get(mapping, first).cloned().unwrap_or(MetaValue::Map(Vec::new()));
            (first.to_owned(), nested(&inner, rest, value))
        }
        _ => (key.to_owned(), value.clone()),
    };
    MetaValue::Map(vec![entry])
}

fn is_filled(value: &MetaValue) -> bool {
    matches!(value, MetaValue::Map(entries) if !entries.is_empty())
}

fn get<'v>(mapping: &'v MetaValue, key: &str) -> Option<&'v MetaValue> {
    let MetaValue::Map(entries) = mapping else { return None };
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Returns the key paths whose values differ in a new mapping.
fn differing<'v>(
    old: &MetaValue,
    new: &'v MetaValue,
    path: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, &'v MetaValue)>,
) {
    let MetaValue::Map(entries) = new else { return };
    for (name, value) in entries {
        path.push(name.clone());
        match get(old, name) {
            Some(inner) if is_filled(inner) && matches!(value, MetaValue::Map(_)) => {
                differing(inner, value, path, found);
            }
            _ => found.push((path.clone(), value)),
        }
        path.pop();
    }
}

/// Sets a key within existing mappings.
fn set_within(
    draft: &EditBuffer<'_>,
    path: &[String],
    value: &MetaValue,
) -> Result<String, EditError> {
    let [top, way @ .., last] = path else { return Ok(draft.text.to_owned()) };
    let fail = |at: usize| EditError::KeyNotEditable {
        key: path.join("."),
        line: draft.lines.number_at(at),
        message: "the mapping is not written so that one key of it can be changed".to_owned(),
    };
    let (fences, mut block) = read(draft, top)?.ok_or_else(|| fail(0))?;
    let mut inner = fences.inner;
    for name in [top].into_iter().chain(way) {
        let at = inner.start;
        inner = within(draft, &inner, &block, name).ok_or_else(|| fail(at))?;
        block = yaml::read(draft.slice(inner.clone())).map_err(|_| fail(inner.start))?;
    }
    let splice = if block.flow {
        in_flow(&inner, &block, last, value)
    } else {
        key::splice(draft, &inner, &block, last, value)
    };
    let rest = path.get(1..).unwrap_or_default();
    let wanted = draft.note.frontmatter.get(top).map(|old| with(old, rest, value));
    verify(draft, top, wanted.as_ref(), draft.splice(vec![splice]))
}

/// Returns the byte range of the mapping in a key: whole lines, or from brace to brace.
pub(super) fn within(
    draft: &EditBuffer<'_>,
    inner: &Range<usize>,
    block: &YamlBlock,
    name: &str,
) -> Option<Range<usize>> {
    let entry = block.entries.iter().rev().find(|entry| entry.key == name)?;
    let written = inner.start + entry.value_start..inner.start + entry.end;
    if draft.slice(written.clone()).starts_with('{') {
        return Some(written);
    }
    let line = |at: usize| draft.lines.number_at(at);
    let is_below = !block.flow && line(written.start) > line(inner.start + entry.key_end);
    let start = draft.lines.with_ending(line(written.start)).start;
    is_below.then(|| start..entry_range(draft, inner.start, entry).end)
}

/// Returns the replacement within `{…}`.
pub(super) fn in_flow(
    inner: &Range<usize>,
    block: &YamlBlock,
    key: &str,
    value: &MetaValue,
) -> (Range<usize>, String) {
    let (base, value) = (inner.start, flow(value));
    let new = || format!("{}: {value}", scalar(key, KeyPosition::Flow));
    match (block.entries.iter().rev().find(|entry| entry.key == key), block.entries.last()) {
        (Some(entry), _) if entry.value_start > entry.key_end => {
            (base + entry.value_start..base + entry.end, value)
        }
        // A key without a value.
        (Some(entry), _) => (base + entry.start..base + entry.end, new()),
        (None, Some(last)) => (base + last.end..base + last.end, format!(", {}", new())),
        (None, None) => (base + 1..base + 1, new()),
    }
}

/// Returns a mapping with a changed value.
fn with(mapping: &MetaValue, path: &[String], value: &MetaValue) -> MetaValue {
    let Some((name, rest)) = path.split_first() else { return value.clone() };
    let mut entries = match mapping {
        MetaValue::Map(entries) => entries.clone(),
        _ => Vec::new(),
    };
    match entries.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = with(old, rest, value),
        None => entries.push((name.clone(), with(&MetaValue::Map(Vec::new()), rest, value))),
    }
    MetaValue::Map(entries)
}

#[cfg(test)]
mod tests {
    use super::super::{NoteEdit, apply_edit};
    use super::*;

    fn text(text: &str) -> MetaValue {
        MetaValue::Text(text.to_owned())
    }

    fn map(entries: &[(&str, MetaValue)]) -> MetaValue {
        MetaValue::Map(entries.iter().map(|(key, v)| ((*key).to_owned(), v.clone())).collect())
    }

    fn check(before: &str, key: &str, value: MetaValue, after: &str) {
        let edit = NoteEdit::MergeKey { key: key.to_owned(), value };
        let note = |head: &str, end: &str| format!("---\n{head}---\nbody\n").replace('\n', end);
        for end in ["\n", "\r\n"] {
            let edited = apply_edit(&note(before, end), &edit);
            assert_eq!(edited, Ok(note(after, end)), "{before:?} {edit:?}");
        }
    }

    #[test]
    fn mappings_are_merged_key_by_key() {
        let due = || map(&[("due", text("May"))]);
        let head = "a: 1 # one\nreview: # mine\n  due: 'x' # when\n  by: 010\nz: 2\n";
        check(head, "review", due(), &head.replace("'x'", "May"));
        check(head, "review.due", text("May"), &head.replace("'x'", "May"));
        let added = head.replace("by: 010\n", "by: 010\n  of: it\n");
        check(head, "review", map(&[("of", text("it"))]), &added);
        check(head, "review.of", text("it"), &added);
        let both = map(&[("due", text("May")), ("of", text("it"))]);
        check(head, "review", both, &added.replace("'x'", "May"));
        check(head, "review", map(&[]), head);
        // A value other than a mapping is replaced.
        check("review: soon\n", "review", due(), "review:\n  due: May\n");
        check(head, "review", text("soon"), "a: 1 # one\nreview: soon # mine\nz: 2\n");
        check("review:\n", "review", due(), "review:\n  due: May\n");
        check("a: 1\n", "review", due(), "a: 1\nreview:\n  due: May\n");
        // Nested mappings and lists.
        let deep = "m:\n  n:\n    o: 1\n    p: [1, 2]\n  q: 3\n";
        let one = map(&[("n", map(&[("o", text("x"))]))]);
        check(deep, "m", one, &deep.replace("o: 1", "o: x"));
        check(deep, "m.n.o", text("x"), &deep.replace("o: 1", "o: x"));
        let list = MetaValue::List(vec![text("x")]);
        check(deep, "m.n.p", list, &deep.replace(" [1, 2]", "\n      - x"));
        check(deep, "m.r.s", text("x"), &deep.replace("q: 3\n", "q: 3\n  r:\n    s: x\n"));
        // Flow mappings.
        let flow = "review: {due: x, by: 010} # c\nz: 2\n";
        check(flow, "review", due(), &flow.replace("due: x", "due: \"May\""));
        check(flow, "review.of", text("it"), &flow.replace("010", "010, \"of\": \"it\""));
        check("m: {n: {o: 1}}\n", "m.n.o", text("x"), "m: {n: {o: \"x\"}}\n");
    }

    #[test]
    fn a_dotted_key_descends_only_into_mappings() {
        check("a: 1\n", "a.b", text("x"), "a: 1\na.b: x\n");
        check("", "a.b", text("x"), "a.b: x\n");
        check("a.b: 1\na:\n  b: 2\n", "a.b", text("x"), "a.b: x\na:\n  b: 2\n");
        check("a:\n  b.c: 1\n", "a.b.c", text("x"), "a:\n  b.c: x\n");
        check("v1.0:\n  b: 1\n", "v1.0.b", text("x"), "v1.0:\n  b: x\n");
        check("a:\n  b: 1\n", "a.", text("x"), "a:\n  b: 1\na.: x\n");
    }

    #[test]
    fn common_lines_are_not_changed() {
        for head in ["x: &a {k: 1}\nreview: *a\n", "x: &a {k: 1}\nreview:\n  <<: *a\n  l: 2\n"] {
            let value = map(&[("k", text("2"))]);
            let edit = NoteEdit::MergeKey { key: "review".to_owned(), value };
            let edited = apply_edit(&format!("---\n{head}---\n"), &edit);
            assert!(matches!(edited, Err(EditError::KeyNotEditable { .. })), "{head:?} {edited:?}");
        }
    }
}
