//! Line diffs with the changed words of each line.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::diff::{DiffLineKind, diff_hunks};

/// Maximum number of characters of a line whose words are compared.
const MAX_LINE_CHARS: usize = 10_000;
/// Minimum share of equal text, in percent, for which words are marked; less is a new line.
const MIN_EQUAL_PERCENT: usize = 30;

/// A changed region with its context lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordDiffHunk {
    /// Lines of the old version, from 0.
    pub before: Range<usize>,
    /// Lines of the new version, from 0.
    pub after: Range<usize>,
    /// Lines in order; removed lines precede their replacements.
    pub lines: Vec<WordDiffLine>,
}

/// A line of a diff.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordDiffLine {
    /// Change of the line.
    pub kind: DiffLineKind,
    /// Number in the old version, from 1.
    pub before: Option<usize>,
    /// Number in the new version, from 1.
    pub after: Option<usize>,
    /// Text of the line without its ending, in parts.
    pub words: Vec<DiffWord>,
}

/// A part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffWord {
    /// Text.
    pub text: String,
    /// True if the other version of the line does not have it.
    pub is_changed: bool,
}

/// Returns the changed regions of two texts, with changed words marked.
pub fn word_diff(before: &str, after: &str, context_lines: usize) -> Vec<WordDiffHunk> {
    let hunks = diff_hunks(before, after, context_lines);
    hunks
        .into_iter()
        .map(|hunk| {
            let (mut old, mut new) = (hunk.before.start, hunk.after.start);
            let mut lines = Vec::with_capacity(hunk.lines.len());
            let mut rest = hunk.lines.as_slice();
            while let Some(first) = rest.first() {
                let run = |kind| move |line: &&crate::diff::DiffLine<'_>| line.kind == kind;
                if first.kind == DiffLineKind::Kept {
                    (old, new) = (old + 1, new + 1);
                    let words = vec![DiffWord::new(first.text, false)];
                    lines.push(WordDiffLine {
                        kind: first.kind,
                        before: Some(old),
                        after: Some(new),
                        words,
                    });
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                let removed = rest.iter().take_while(run(DiffLineKind::Removed)).count();
                let (gone, tail) = rest.split_at(removed);
                let added = tail.iter().take_while(run(DiffLineKind::Added)).count();
                let (come, tail) = tail.split_at(added);
                rest = tail;
                let pairs: Vec<_> = gone
                    .iter()
                    .zip(come)
                    .map(|(gone, come)| changed_words(gone.text, come.text))
                    .collect();
                for (n, line) in gone.iter().enumerate() {
                    old += 1;
                    let words = pairs.get(n).map(|(words, _)| words.clone());
                    let words = words.unwrap_or_else(|| vec![DiffWord::new(line.text, true)]);
                    let kind = DiffLineKind::Removed;
                    lines.push(WordDiffLine { kind, before: Some(old), after: None, words });
                }
                for (n, line) in come.iter().enumerate() {
                    new += 1;
                    let words = pairs.get(n).map(|(_, words)| words.clone());
                    let words = words.unwrap_or_else(|| vec![DiffWord::new(line.text, true)]);
                    let kind = DiffLineKind::Added;
                    lines.push(WordDiffLine { kind, before: None, after: Some(new), words });
                }
            }
            WordDiffHunk { before: hunk.before, after: hunk.after, lines }
        })
        .collect()
}

impl DiffWord {
    fn new(text: &str, is_changed: bool) -> Self {
        Self { text: text.trim_end_matches(['\n', '\r']).to_owned(), is_changed }
    }
}

/// Returns the parts of both lines.
fn changed_words(before: &str, after: &str) -> (Vec<DiffWord>, Vec<DiffWord>) {
    let bare = |text: &str| text.trim_end_matches(['\n', '\r']).to_owned();
    let (old_line, new_line) = (bare(before), bare(after));
    let whole = |line: &str| vec![DiffWord::new(line, true)];
    if old_line.len().max(new_line.len()) > MAX_LINE_CHARS {
        return (whole(&old_line), whole(&new_line));
    }
    let (old, new) = (split_words(&old_line), split_words(&new_line));
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let (mut old_words, mut new_words) = (Vec::new(), Vec::new());
    let mut equal = 0;
    for operation in operations {
        let is_changed = !matches!(operation, DiffOp::Equal { .. });
        let joined =
            |words: &[&str], range: Range<usize>| words.get(range).unwrap_or_default().concat();
        let (old_text, new_text) =
            (joined(&old, operation.old_range()), joined(&new, operation.new_range()));
        if !is_changed {
            equal += old_text.trim().len();
        }
        for (words, text) in [(&mut old_words, old_text), (&mut new_words, new_text)] {
            if !text.is_empty() {
                words.push(DiffWord { text, is_changed });
            }
        }
    }
    if equal * 100 < old_line.len().max(new_line.len()) * MIN_EQUAL_PERCENT {
        return (whole(&old_line), whole(&new_line));
    }
    (old_words, new_words)
}

/// Splits a line into words, runs of blanks, and single other characters.
pub(crate) fn split_words(line: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        let is_same = last == Some(class(c)) && class(c) != 2;
        if last.is_some() && !is_same {
            words.extend(line.get(start..at));
            start = at;
        }
        last = Some(class(c));
    }
    words.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(before: &str, after: &str) -> Vec<String> {
        let mark = |word: &DiffWord| {
            if word.is_changed { format!("<{}>", word.text) } else { word.text.clone() }
        };
        let lines = word_diff(before, after, 0).into_iter().flat_map(|hunk| hunk.lines);
        lines
            .map(|line| {
                let words: String = line.words.iter().map(mark).collect();
                format!("{}{words}", line.kind.mark())
            })
            .collect()
    }

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(
            shown("Use PostgreSQL 14 for it\n", "Use PostgreSQL 16 for it\n"),
            ["-Use PostgreSQL <14> for it", "+Use PostgreSQL <16> for it"]
        );
        assert_eq!(shown("a\n", "something else entirely\n").len(), 2);
        assert_eq!(shown("", "new\n"), ["+<new>"]);
        assert_eq!(shown("x\r\n", "x\n"), ["-x", "+x"]);
    }

    #[test]
    fn words_are_runs_of_letters() {
        assert_eq!(
            split_words("a-b  c_d, 東京!"),
            ["a", "-", "b", "  ", "c_d", ",", " ", "東京", "!"]
        );
        assert!(split_words("").is_empty());
    }

    proptest! {
        #[test]
        fn lines_are_whole_and_numbered(a in "([a-c ]{0,5}\n){0,8}", b in "([a-c ]{0,5}\n){0,8}") {
            let old: Vec<&str> = a.lines().collect();
            let new: Vec<&str> = b.lines().collect();
            for line in word_diff(&a, &b, 1).into_iter().flat_map(|hunk| hunk.lines) {
                let text: String = line.words.iter().map(|word| word.text.as_str()).collect();
                if let Some(before) = line.before {
                    prop_assert_eq!(&text, old[before - 1]);
                }
                if let Some(after) = line.after {
                    prop_assert_eq!(&text, new[after - 1]);
                }
            }
        }
    }
}
