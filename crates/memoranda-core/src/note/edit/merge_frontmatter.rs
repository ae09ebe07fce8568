//! Merges the frontmatter of one text into another as written: numbers, dates and comments are
//! preserved.

use std::ops::Range;

use super::super::frontmatter::{self, FrontmatterBlock, FrontmatterFences};
use super::super::lines::LineIndex;
use super::super::yaml::{self, YamlBlock};
use super::super::{Frontmatter, MetaValue, parse};
use super::splice::EditBuffer;
use super::{EditError, key};

/// Returns a text with the frontmatter keys of another. Existing keys are replaced in place; new
/// keys follow the last one.
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
    // Fallback when entries do not have lines of their own: set the parsed values.
    let mut text = text.to_owned();
    for (key, value) in &stated.entries {
        text = key::set(&EditBuffer::new(&text), key, value)?;
    }
    Ok(text)
}

/// Returns true if a text has the stated entries, and otherwise its previous ones.
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
            // Comments above a key stay, unless the new entry has its own.
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

/// Lines of a frontmatter block, split by key.
struct FrontmatterSplit<'t> {
    text: &'t str,
    entries: Vec<SourceEntry>,
    /// Text after the last key.
    rest: Range<usize>,
}

/// Lines of a key, and the comment lines above it.
struct SourceEntry {
    key: String,
    lead: Range<usize>,
    lines: Range<usize>,
}

impl<'t> FrontmatterSplit<'t> {
    /// Splits the frontmatter of a text; `None` if keys share lines.
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
