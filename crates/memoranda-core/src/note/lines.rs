//! Index of lines: offsets, endings and line numbers.
//!
//! A line ends at `\n`, `\r\n` or a lone `\r`, as in CommonMark, so that positions agree with the
//! block structure.

use std::ops::Range;

/// Start offset of every line of a text.
pub(crate) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    /// Indexes the lines of a text; even the empty text has one.
    pub(crate) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (i, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(i + 1) != Some(&b'\n')) {
                starts.push(i + 1);
            }
        }
        Self { text, starts }
    }

    /// Returns the number of the line that contains an offset, from 1.
    pub(crate) fn number_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Returns the number of lines; a final line ending does not start another line.
    pub(crate) fn count(&self) -> usize {
        match self.starts.last() {
            Some(last) if *last == self.text.len() => self.starts.len() - 1,
            _ => self.starts.len(),
        }
    }

    /// Returns the byte range of a line with its ending; empty after the last line.
    pub(crate) fn with_ending(&self, number: usize) -> Range<usize> {
        let at = |index: usize| self.starts.get(index).copied().unwrap_or(self.text.len());
        at(number.saturating_sub(1))..at(number)
    }

    /// Returns the byte range of a line without its ending.
    pub(crate) fn without_ending(&self, number: usize) -> Range<usize> {
        let range = self.with_ending(number);
        let line = self.text.get(range.clone()).unwrap_or_default();
        range.start..range.start + without_ending(line).len()
    }

    /// Returns the whole lines that overlap a range, with the last ending.
    pub(crate) fn covering(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.number_at(range.start);
        let last = self.number_at(range.end.max(range.start + 1) - 1).max(first);
        self.with_ending(first).start..self.with_ending(last).end
    }

    /// Returns all lines with their numbers, without endings.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &'t str)> {
        (1..=self.starts.len())
            .map(|number| (number, self.text.get(self.without_ending(number)).unwrap_or_default()))
    }
}

/// Removes the `\n`, `\r\n` or `\r` at the end of a line.
pub(crate) fn without_ending(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
        None => line.strip_suffix('\r').unwrap_or(line),
    }
}

/// Returns the most frequent line ending; `\n` by default.
pub(crate) fn ending_of(text: &str) -> &'static str {
    let feeds = text.bytes().filter(|byte| *byte == b'\n').count();
    let pairs = text.as_bytes().windows(2).filter(|pair| *pair == b"\r\n").count();
    if pairs * 2 > feeds { "\r\n" } else { "\n" }
}

/// Replaces every `\n` and `\r\n` by the given ending.
pub(crate) fn with_endings(text: &str, ending: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(rest) => {
                out.push_str(rest.strip_suffix('\r').unwrap_or(rest));
                out.push_str(ending);
            }
            None => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways() {
        let text = "a\nb\r\nc\rd";
        let lines = LineIndex::new(text);
        let found: Vec<_> = lines.iter().collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (3, "c"), (4, "d")]);
        assert_eq!(lines.number_at(text.len()), 4);
        assert_eq!(lines.with_ending(2), 2..5);
        assert_eq!(lines.without_ending(2), 2..3);
        assert_eq!(lines.with_ending(9), 8..8);
        for (text, count) in [("", 0), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\nb", 2)] {
            assert_eq!(LineIndex::new(text).count(), count, "{text:?}");
        }
    }

    #[test]
    fn the_most_frequent_line_ending_wins() {
        for (text, ending) in
            [("", "\n"), ("a", "\n"), ("a\r\nb\nc\r\n", "\r\n"), ("a\nb\r\n", "\n")]
        {
            assert_eq!(ending_of(text), ending, "{text:?}");
        }
        assert_eq!(with_endings("a\nb\r\nc", "\r\n"), "a\r\nb\r\nc");
        assert_eq!(with_endings("a\r\n", "\n"), "a\n");
    }
}
