//! Line diffs between two versions of a text.
//!
//! Only `\n` ends a line, and lines keep their endings, so that a change of endings is visible and
//! a patch applies to the original bytes.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Maximum number of lines that are compared; larger regions are shown as replaced. The limit
/// replaces a timeout, because this crate has no clock.
const MAX_COMPARED_LINES: usize = 20_000;

/// Names of the two versions in the header of a diff.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiffLabels<'t> {
    /// Name of the old version.
    pub before: &'t str,
    /// Name of the new version.
    pub after: &'t str,
}

/// A changed region with its context lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffHunk<'t> {
    /// Lines of the old version, from 0.
    pub before: Range<usize>,
    /// Lines of the new version, from 0.
    pub after: Range<usize>,
    /// Lines in order; removed lines precede their replacements.
    pub lines: Vec<DiffLine<'t>>,
}

/// A line of a diff.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiffLine<'t> {
    /// Change of the line.
    pub kind: DiffLineKind,
    /// Text of the line with its ending, if any.
    pub text: &'t str,
}

/// Change of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiffLineKind {
    /// The line is in both versions.
    Kept,
    /// The line is only in the old version.
    Removed,
    /// The line is only in the new version.
    Added,
}

impl DiffLineKind {
    /// Returns the prefix of the line in a unified diff.
    pub fn mark(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// Returns a unified diff that `patch` accepts; empty if the texts are equal.
pub fn unified_diff(
    before: &str,
    after: &str,
    context_lines: usize,
    labels: DiffLabels<'_>,
) -> String {
    let hunks = diff_hunks(before, after, context_lines);
    let mut out = String::new();
    if hunks.is_empty() {
        return out;
    }
    // A line break in a name would start a new line of the diff.
    let name = |label: &str| label.replace(['\n', '\r'], " ");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "--- {}\n+++ {}", name(labels.before), name(labels.after));
    for hunk in &hunks {
        let _ = writeln!(out, "{}", hunk.header());
        for line in &hunk.lines {
            out.push(line.kind.mark());
            out.push_str(line.text);
            if !line.text.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// Returns the changed regions, for colored output.
pub fn diff_hunks<'t>(before: &'t str, after: &'t str, context_lines: usize) -> Vec<DiffHunk<'t>> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let groups = group_diff_ops(operations(&old, &new), context_lines);
    groups.iter().filter_map(|group| DiffHunk::new(group, &old, &new)).collect()
}

impl<'t> DiffHunk<'t> {
    fn new(group: &[DiffOp], old: &[&'t str], new: &[&'t str]) -> Option<Self> {
        let (first, last) = (group.first()?, group.last()?);
        if group.iter().all(|op| matches!(op, DiffOp::Equal { .. })) {
            return None;
        }
        let mut lines = Vec::new();
        let mut push = |kind, texts: Option<&[&'t str]>| {
            lines.extend(texts.unwrap_or_default().iter().map(|&text| DiffLine { kind, text }));
        };
        for op in group {
            if let DiffOp::Equal { .. } = op {
                push(DiffLineKind::Kept, old.get(op.old_range()));
            } else {
                push(DiffLineKind::Removed, old.get(op.old_range()));
                push(DiffLineKind::Added, new.get(op.new_range()));
            }
        }
        Some(Self {
            before: first.old_range().start..last.old_range().end,
            after: first.new_range().start..last.new_range().end,
            lines,
        })
    }

    /// Returns the header of the region, such as `@@ -3,4 +3,5 @@`.
    pub fn header(&self) -> String {
        // By convention an empty range names the line before it, and a count of 1 is omitted.
        let place = |range: &Range<usize>| match range.len() {
            0 => format!("{},0", range.start),
            1 => format!("{}", range.start + 1),
            count => format!("{},{count}", range.start + 1),
        };
        format!("@@ -{} +{} @@", place(&self.before), place(&self.after))
    }
}

/// Returns the operations that turn the old lines into the new ones.
pub(crate) fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    let old_middle = &old_rest[..old_rest.len() - tail];
    let new_middle = &new_rest[..new_rest.len() - tail];

    let mut operations = Vec::new();
    if head > 0 {
        operations.push(DiffOp::Equal { old_index: 0, new_index: 0, len: head });
    }
    operations
        .extend(compared(old_middle, new_middle).into_iter().map(|op| shift_operation(op, head)));
    if tail > 0 {
        let (old_index, new_index) = (head + old_middle.len(), head + new_middle.len());
        operations.push(DiffOp::Equal { old_index, new_index, len: tail });
    }
    operations
}

fn compared<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<DiffOp> {
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.len() + new.len() > MAX_COMPARED_LINES {
        let (old_len, new_len) = (old.len(), new.len());
        return vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }];
    }
    // Compares numbers instead of lines, so that each long line is hashed once.
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut numbered = |lines: &[&'t str]| -> Vec<usize> {
        let number = |line: &&'t str| {
            let next = known.len();
            *known.entry(*line).or_insert(next)
        };
        lines.iter().map(number).collect()
    };
    let (old, new) = (numbered(old), numbered(new));
    capture_diff_slices(Algorithm::Myers, &old, &new)
}

/// Shifts an operation by the number of lines skipped before it.
fn shift_operation(operation: DiffOp, by: usize) -> DiffOp {
    match operation {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + by, new_index: new_index + by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + by, old_len, new_index: new_index + by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + by, new_index: new_index + by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => DiffOp::Replace {
            old_index: old_index + by,
            old_len,
            new_index: new_index + by,
            new_len,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(before: &str, after: &str, expected: &str) {
        let labels = DiffLabels { before: "a", after: "b" };
        assert_eq!(unified_diff(before, after, 1, labels), expected);
    }

    #[test]
    fn differences_are_unified_diffs() {
        check("same\n", "same\n", "");
        check("", "new\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+new\n");
        check("old\n", "", "--- a\n+++ b\n@@ -1 +0,0 @@\n-old\n");
        check(
            "1\n2\n3\n4\n5\n",
            "1\n2\nx\n4\n5\n",
            "--- a\n+++ b\n@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n",
        );
        check(
            "a\r\nb",
            "a\nb",
            "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n\\ No newline at end of file\n",
        );
        check("x", "x\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
    }

    #[test]
    fn large_texts_take_bounded_time() {
        let odd: String = (0..100_000).map(|i| format!("{i}\n")).collect();
        let even: String = (0..100_000).map(|i| format!("{}\n", i * 2)).collect();
        assert_eq!(diff_hunks(&odd, &even, 3).len(), 1);
        let edited = odd.replace("50000\n", "changed\n");
        assert_eq!(diff_hunks(&odd, &edited, 3)[0].lines.len(), 8);
        let shuffled: String = (0..8_000).map(|i| format!("{}\n", i * 7919 % 8_000)).collect();
        let ordered: String = (0..8_000).map(|i| format!("{i}\n")).collect();
        assert!(!diff_hunks(&ordered, &shuffled, 3).is_empty());
    }

    proptest! {
        #[test]
        fn hunks_reproduce_the_new_text(
            before in "([ab]\n|c\r\n|d){0,20}",
            after in "([ab]\n|c\r\n|d){0,20}",
        ) {
            // With all lines as context, the kept and added lines are the new text.
            let hunks = diff_hunks(&before, &after, 1000);
            let side = |skip: DiffLineKind| -> String {
                let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
                lines.filter(|line| line.kind != skip).map(|line| line.text).collect()
            };
            if before == after {
                prop_assert!(hunks.is_empty());
            } else {
                prop_assert_eq!(side(DiffLineKind::Added), before.as_str());
                prop_assert_eq!(side(DiffLineKind::Removed), after.as_str());
            }
        }
    }
}
