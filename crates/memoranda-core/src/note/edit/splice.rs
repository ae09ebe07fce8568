//! The text being edited, with its parsed note and helpers to replace byte ranges.

use std::ops::Range;

use super::super::frontmatter::{self, FrontmatterBlock};
use super::super::lines::{self, LineIndex};
use super::super::{Note, parse};

/// A text to be edited.
pub(super) struct EditBuffer<'t> {
    pub(super) text: &'t str,
    pub(super) note: Note,
    pub(super) lines: LineIndex<'t>,
    /// Line ending of the text.
    pub(super) ending: &'static str,
}

impl<'t> EditBuffer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            note: parse(text),
            lines: LineIndex::new(text),
            ending: lines::ending_of(text),
        }
    }

    /// Returns the offset after the frontmatter. Malformed frontmatter, such as in a template,
    /// counts if its first line looks like a key.
    pub(super) fn top(&self) -> usize {
        match frontmatter::find(self.text, &self.lines) {
            FrontmatterBlock::Fenced(fences) if self.note.frontmatter.span.is_none() => {
                let mut lines = self.slice(fences.inner).lines().map(str::trim);
                let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
                if first.is_some_and(|line| line.contains(':')) {
                    fences.span.end
                } else {
                    self.note.body.start
                }
            }
            _ => self.note.body.start,
        }
    }

    /// Returns the text of a range.
    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// Converts a caller's text to the line ending of this text.
    pub(super) fn with_endings(&self, text: &str) -> String {
        lines::with_endings(text, self.ending)
    }

    /// Replaces ranges, which must be in order and must not overlap.
    pub(super) fn splice(&self, splices: Vec<(Range<usize>, String)>) -> String {
        let added: usize = splices.iter().map(|(_, new)| new.len()).sum();
        let mut out = String::with_capacity(self.text.len() + added);
        let mut done = 0;
        for (range, new) in splices {
            out.push_str(self.slice(done..range.start));
            out.push_str(&new);
            done = range.end;
        }
        out.push_str(self.slice(done..self.text.len()));
        out
    }

    /// Inserts whole lines at an offset.
    pub(super) fn insert_lines(&self, at: usize, added: &str) -> String {
        self.splice(vec![(at..at, self.as_lines(at, added))])
    }

    /// Converts a caller's text to whole lines for an offset. At the end of a text without a final
    /// newline, none is added.
    pub(super) fn as_lines(&self, at: usize, added: &str) -> String {
        let mut added = self.with_endings(added);
        if added.is_empty() {
            return added;
        }
        let before = self.slice(super::super::frontmatter::text_start(self.text)..at);
        let open = !before.is_empty() && !before.ends_with(['\n', '\r']);
        let last = at == self.text.len() && open;
        if !added.ends_with('\n') && !last {
            added.push_str(self.ending);
        }
        if open {
            added.insert_str(0, self.ending);
        }
        added
    }

    /// Returns the end of a range's text without trailing blank lines.
    pub(super) fn content_end(&self, range: &Range<usize>) -> usize {
        let said = self.slice(range.clone()).trim_end();
        if said.is_empty() {
            return range.start;
        }
        let last = self.lines.number_at(range.start + said.len() - 1);
        self.lines.with_ending(last).end.min(range.end)
    }

    /// Returns the start of a range's text without leading blank lines.
    pub(super) fn content_start(&self, range: &Range<usize>) -> usize {
        let slice = self.slice(range.clone());
        let blank = slice.len() - slice.trim_start().len();
        if blank == slice.len() {
            return range.start;
        }
        let line = self.lines.number_at(range.start + blank);
        self.lines.with_ending(line).start.max(range.start)
    }

    /// Returns the separator between the text before an offset and a new block there.
    pub(super) fn gap_before(&self, at: usize) -> String {
        let before = self.slice(self.note.body.start..at);
        let line = before.trim_end_matches([' ', '\t']);
        let kept = line.strip_suffix('\n').or(line.strip_suffix('\r'));
        match kept {
            _ if before.trim().is_empty() => {
                // After the closing fence a line ending suffices.
                let fence = self.slice(0..at);
                let open = !fence.is_empty()
                    && fence != super::super::frontmatter::BOM
                    && !fence.ends_with(['\n', '\r']);
                if open { self.ending.to_owned() } else { String::new() }
            }
            None => self.ending.repeat(2),
            Some(rest) => {
                let rest = rest.strip_suffix('\r').unwrap_or(rest).trim_end_matches([' ', '\t']);
                if rest.ends_with(['\n', '\r']) { String::new() } else { self.ending.to_owned() }
            }
        }
    }

    /// Returns the range's own part: up to its first subsection.
    pub(super) fn own_part(&self, content: &Range<usize>) -> Range<usize> {
        let next = self.note.sections.iter().find(|section| section.heading.start >= content.start);
        content.start..next.map_or(content.end, |next| next.heading.start.min(content.end))
    }
}
