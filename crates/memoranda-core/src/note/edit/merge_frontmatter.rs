//! The frontmatter of one text over that of another, as it is written there: values stay what they
//! are, numbers and dates as well, and comments come along.

use std::ops::Range;

use super::super::frontmatter::{self, FrontmatterBlock, FrontmatterFences};
use super::super::lines::LineIndex;
use super::super::yaml::{self, YamlBlock};
use super::super::{Frontmatter, MetaValue, parse};
use super::splice::EditBuffer;
use super::{EditError, key};

/// A text with the frontmatter keys of another. Keys that it has itself give way at their place,
/// others follow the last.
pub fn merge_frontmatter(text: &str, other: &str) -> Result<String, EditError> {
    let stated = parse(other).frontmatter;
    let Some(span) = stated.span.clone() else { return Ok(text.to_owned()) };
    let draft = EditBuffer::new(text);
    if draft.note.frontmatter.span.is_none() {
        let start = frontmatter::text_start(text);
        let head = draft.with_endings(other.get(span).unwrap_or_default());
        return Ok(draft.splice(vec![(start..start, head)]));
    }
    if let Some(written) = as_written(&draft, other)
        && holds(&written, &draft.note.frontmatter, &stated)
    {
        return Ok(written);
    }
    // What cannot be taken line by line still says the same.
    let mut text = text.to_owned();
    for (key, value) in &stated.entries {
        text = key::set(&EditBuffer::new(&text), key, value)?;
    }
    Ok(text)
}

/// Whether a text says what a frontmatter does, and else what it said before.
fn holds(text: &str, before: &Frontmatter, stated: &Frontmatter) -> bool {
    let found = parse(text).frontmatter;
    let is_stated = |entry: &&(String, MetaValue)| stated.get(&entry.0).is_some();
    let kept = before.entries.iter().filter(|entry| !is_stated(entry));
    let others = found.entries.iter().filter(|entry| !is_stated(entry));
    kept.eq(others) && stated.entries.iter().all(|(key, value)| found.get(key) == Some(value))
}

fn as_written(draft: &EditBuffer<'_>, other: &str) -> Option<String> {
    let other = draft.with_endings(other);
    let (old, new) = (FrontmatterSplit::of(draft.text)?, FrontmatterSplit::of(&other)?);
    let (mut splices, mut added) = (Vec::new(), String::new());
    for part in &new.entries {
        let (lead, lines) = (new.slice(&part.lead), new.slice(&part.lines));
        match old.entries.iter().find(|known| known.key == part.key) {
            // What was said above the key stays, unless something is said there now.
            Some(known) if lead.trim().is_empty() => {
                splices.push((known.lines.clone(), lines.to_owned()));
            }
            Some(known) => {
                splices.push((known.lead.start..known.lines.end, format!("{lead}{lines}")));
            }
            None => added.push_str(&format!("{lead}{lines}")),
        }
    }
    let rest = new.slice(&new.rest);
    let head = draft.note.frontmatter.span.clone()?;
    if !draft.slice(head).contains(rest) {
        added.push_str(rest);
    }
    splices.push((old.rest.end..old.rest.end, added));
    splices.sort_by_key(|(range, _)| range.start);
    Some(draft.splice(splices))
}

/// The lines of a frontmatter block.
struct FrontmatterSplit<'t> {
    text: &'t str,
    entries: Vec<SourceEntry>,
    /// What follows the last key.
    rest: Range<usize>,
}

/// The lines of one key, and those above it that belong to no other.
struct SourceEntry {
    key: String,
    lead: Range<usize>,
    lines: Range<usize>,
}

impl<'t> FrontmatterSplit<'t> {
    /// `None` if keys have no lines of their own, or share them.
    fn of(text: &'t str) -> Option<Self> {
        let lines = LineIndex::new(text);
        let FrontmatterBlock::Fenced(FrontmatterFences { inner, .. }) =
            frontmatter::find(text, &lines)
        else {
            return None;
        };
        let block: YamlBlock =
            yaml::read(text.get(inner.clone())?).ok().filter(|block| !block.flow)?;
        let mut entries: Vec<SourceEntry> = Vec::new();
        let mut at = inner.start;
        for entry in block.entries {
            let (start, end) = (inner.start + entry.start, inner.start + entry.end);
            let written = text.get(start..end)?.trim_end().len();
            let covered = lines.covering(&(start..start + written));
            if covered.start < at || entries.iter().any(|part| part.key == entry.key) {
                return None;
            }
            entries.push(SourceEntry {
                key: entry.key,
                lead: at..covered.start,
                lines: covered.clone(),
            });
            at = covered.end;
        }
        Some(Self { text, entries, rest: at..inner.end })
    }

    fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}
