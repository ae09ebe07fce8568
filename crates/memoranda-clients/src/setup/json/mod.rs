//! JSON as clients and people write it: edits that change only the bytes concerned.

mod read;
mod render;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::{Map, Value};

use crate::setup::format::{ConfigSyntaxError, line_start, spliced};
use read::{JsonNode, JsonNodeKind};
use render::JsonStyle;

pub(crate) use render::ordered;

/// Parses a text into a value; an empty text is an empty object.
pub(crate) fn value(text: &str) -> Result<Value, ConfigSyntaxError> {
    Ok(read::read(text)?.map_or_else(|| Value::Object(Map::new()), |node| node.value()))
}

/// Sets a key and creates missing objects.
pub(crate) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, ConfigSyntaxError> {
    let style = JsonStyle::of(text);
    let Some(root) = read::read(text)? else { return Ok(fresh(text, &style, path, value)) };
    let mut node = &root;
    for (n, key) in path.iter().enumerate() {
        let JsonNodeKind::Object(members) = &node.kind else {
            return Err(ConfigSyntaxError::at(text, node.start, not_an(path, n, "object")));
        };
        // If a key occurs twice, the last one counts.
        match members.iter().rfind(|member| member.key == *key) {
            Some(member) if n + 1 == path.len() => {
                let indent = style.indent_of(text, member.start);
                let new = style.render_beside(text, &member.value, value, &indent);
                return Ok(spliced(text, vec![(member.value.start..member.value.end, new)]));
            }
            Some(member) => node = &member.value,
            None => {
                let value = nested(path.get(n + 1..).unwrap_or_default(), value);
                let items: Vec<_> = members.iter().map(|m| m.start..m.value.end).collect();
                return Ok(inserted(text, node, &items, &style, Some(key), &value));
            }
        }
    }
    Ok(text.to_owned())
}

/// Removes a key and objects that become empty.
pub(crate) fn remove(text: &str, path: &[&str]) -> Result<String, ConfigSyntaxError> {
    let mut text = text.to_owned();
    let mut path = path;
    while let Some((last, parents)) = path.split_last() {
        let Some(root) = read::read(&text)? else { return Ok(text) };
        let Some(parent) = found(&root, parents) else { return Ok(text) };
        let JsonNodeKind::Object(members) = &parent.kind else { return Ok(text) };
        let Some(n) = members.iter().position(|member| member.key == *last) else {
            return Ok(text);
        };
        let items: Vec<_> = members.iter().map(|m| m.start..m.value.end).collect();
        let shorter = without_item(&text, parent, &items, n);
        let is_written_again = members.iter().filter(|member| member.key == *last).count() > 1;
        text = shorter;
        if is_written_again {
            continue;
        }
        let Some(root) = read::read(&text)? else { return Ok(text) };
        match found(&root, parents) {
            Some(node) if is_bare(&text, node) => path = parents,
            _ => return Ok(text),
        }
    }
    Ok(text)
}

/// Appends an item to the list at a path and creates missing parents.
pub(crate) fn append(text: &str, path: &[&str], item: &Value) -> Result<String, ConfigSyntaxError> {
    let style = JsonStyle::of(text);
    let root = read::read(text)?;
    let Some(list) = root.as_ref().and_then(|root| found(root, path)) else {
        return set(text, path, &Value::Array(vec![item.clone()]));
    };
    let JsonNodeKind::Array(items) = &list.kind else {
        return Err(ConfigSyntaxError::at(text, list.start, not_an(path, path.len(), "array")));
    };
    let ranges: Vec<_> = items.iter().map(|item| item.start..item.end).collect();
    Ok(inserted(text, list, &ranges, &style, None, item))
}

/// Removes matching items of a list and parents that become empty.
pub(crate) fn remove_items(
    text: &str,
    path: &[&str],
    fits: impl Fn(&Value) -> bool,
) -> Result<String, ConfigSyntaxError> {
    let mut text = text.to_owned();
    loop {
        let Some(root) = read::read(&text)? else { return Ok(text) };
        let Some(list) = found(&root, path) else { return Ok(text) };
        let JsonNodeKind::Array(items) = &list.kind else { return Ok(text) };
        let Some(n) = items.iter().position(|item| fits(&item.value())) else { return Ok(text) };
        let ranges: Vec<_> = items.iter().map(|item| item.start..item.end).collect();
        let was_last = items.len() == 1;
        text = without_item(&text, list, &ranges, n);
        if was_last {
            let bare = read::read(&text)?;
            let bare = bare.as_ref().and_then(|root| found(root, path));
            return match bare {
                Some(node) if is_bare(&text, node) => remove(&text, path),
                _ => Ok(text),
            };
        }
    }
}

fn not_an(path: &[&str], n: usize, what: &str) -> String {
    match path.get(..n) {
        Some([]) | None => format!("the file is not an {what}"),
        Some(path) => format!("{:?} is not an {what}", path.join(".")),
    }
}

fn found<'n>(root: &'n JsonNode, path: &[&str]) -> Option<&'n JsonNode> {
    path.iter().try_fold(root, |node, key| match &node.kind {
        JsonNodeKind::Object(members) => {
            members.iter().rfind(|member| member.key == *key).map(|member| &member.value)
        }
        _ => None,
    })
}

/// A value nested in the missing objects of a path.
fn nested(path: &[&str], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, key| {
        Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
    })
}

/// A text that held nothing but blanks and comments, with one value in it.
fn fresh(text: &str, style: &JsonStyle, path: &[&str], value: &Value) -> String {
    let mut result = text.trim_end().to_owned();
    if !result.is_empty() && result != "\u{feff}" {
        result.push_str(style.line_end);
    }
    result.push_str(&style.render(&nested(path, value), ""));
    result.push_str(style.line_end);
    result
}

/// Puts an item at the end of an object or list.
fn inserted(
    text: &str,
    node: &JsonNode,
    items: &[Range<usize>],
    style: &JsonStyle,
    key: Option<&str>,
    value: &Value,
) -> String {
    let close = node.end - 1;
    let named = |value: String| match key {
        Some(key) => format!("{}: {value}", Value::from(key)),
        None => value,
    };
    let Some(last) = items.last() else {
        let end = read::end_of_trivia(text, node.start + 1, close);
        let outer = style.indent_of(text, node.start);
        let inner = format!("{outer}{}", style.unit);
        let new = named(style.render(value, &inner));
        let line = style.line_end;
        // A comment inside keeps its place; blanks alone make room.
        return if end == node.start + 1 {
            spliced(text, vec![(end..close, format!("{line}{inner}{new}{line}{outer}"))])
        } else {
            spliced(text, vec![(end..end, format!("{line}{inner}{new}"))])
        };
    };
    let end = read::end_of_trivia(text, last.end, close);
    let comma = comma_after(text, last.end);
    // After a comment to the end of the line nothing else can stand on it.
    let is_on_own_line = style.starts_line(text, last.start) || text[last.end..end].contains("//");
    let lead = if is_on_own_line {
        format!("{}{}", style.line_end, style.indent_of(text, last.start))
    } else {
        " ".to_owned()
    };
    let mut new = if is_on_own_line {
        named(style.render(value, &style.indent_of(text, last.start)))
    } else {
        named(render::compact(value))
    };
    new.insert_str(0, &lead);
    let mut pieces = Vec::new();
    match comma {
        // A comma after the last item is a style that is kept.
        Some(_) => new.push(','),
        None => pieces.push((last.end..last.end, ",".to_owned())),
    }
    match pieces.first_mut() {
        Some((range, comma)) if range.start == end => comma.push_str(&new),
        _ => pieces.push((end..end, new)),
    }
    spliced(text, pieces)
}

/// Takes the item of this number out, with its comma and its line.
fn without_item(text: &str, node: &JsonNode, items: &[Range<usize>], n: usize) -> String {
    let Some(item) = items.get(n) else { return text.to_owned() };
    let own_comma = comma_after(text, item.end);
    let mut end = own_comma.map_or(item.end, |comma| comma + 1);
    let mut start = item.start;
    let mut pieces = Vec::new();
    let is_last = n + 1 == items.len();
    if is_last
        && own_comma.is_none()
        && let Some(before) = n.checked_sub(1).and_then(|n| items.get(n))
        && let Some(comma) = comma_after(text, before.end)
    {
        pieces.push((comma..comma + 1, String::new()));
    }
    let blank = |c: char| c == ' ' || c == '\t';
    let line = line_start(text, start);
    let rest = text.get(end..).unwrap_or_default();
    let after = end + (rest.len() - rest.trim_start_matches(blank).len());
    let is_line_end = text[after..].starts_with(['\n', '\r']) || after == text.len();
    if line > 0 && text[line..start].chars().all(blank) && is_line_end {
        // The line break before it goes too; the one after it stays.
        start = line - 1;
        if text[..start].ends_with('\r') {
            start -= 1;
        }
        end = after;
    } else if items.len() == 1 && text[node.start + 1..start].trim().is_empty() {
        start = node.start + 1;
        if text[end..node.end - 1].trim().is_empty() {
            end = node.end - 1;
        }
    } else if is_last {
        start -= text[..start].len() - text[..start].trim_end_matches(blank).len();
    } else {
        end = after;
    }
    // The comma before the item may be inside the removed range already.
    pieces.retain(|(range, _)| range.end <= start);
    pieces.push((start..end, String::new()));
    let text = spliced(text, pieces);
    emptied(&text, node.start)
}

/// An object or list that lost its last item and holds only blanks is written `{}` again.
fn emptied(text: &str, start: usize) -> String {
    let rest = text.get(start + 1..).unwrap_or_default();
    let inner = rest.len() - rest.trim_start().len();
    if rest.trim_start().starts_with(['}', ']']) && inner > 0 {
        spliced(text, vec![(start + 1..start + 1 + inner, String::new())])
    } else {
        text.to_owned()
    }
}

fn is_bare(text: &str, node: &JsonNode) -> bool {
    text.get(node.start + 1..node.end - 1).is_some_and(|inner| inner.trim().is_empty())
}

/// Returns the offset of the comma after an item; `None` without a comma.
fn comma_after(text: &str, end: usize) -> Option<usize> {
    let at = read::after_trivia(text, end);
    (text.as_bytes().get(at) == Some(&b',')).then_some(at)
}
