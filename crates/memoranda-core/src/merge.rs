//! Three-way merge of texts by lines. Changes of different lines are combined; changes of the same
//! or neighbouring lines are a conflict, with a proposal where their words do not collide.

use std::ops::Range;

use similar::DiffOp;

use crate::diff::operations;
use crate::word_diff::split_words;

/// Result of a merge, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextMerge {
    /// Regions of the merged text.
    pub regions: Vec<MergeRegion>,
}

/// A region of a merged text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MergeRegion {
    /// Both versions have the text of the base.
    Same(String),
    /// Only your version differs from the base.
    Yours(String),
    /// Only their version differs from the base.
    Theirs(String),
    /// Both versions have the same new text.
    Both(String),
    /// Both versions differ from the base, and from each other.
    Conflict {
        /// Text of the base.
        base: String,
        /// Your text.
        yours: String,
        /// The other version of the text.
        theirs: String,
        /// Both changes combined word by word; `None` if they change the same words.
        proposal: Option<String>,
    },
}

impl TextMerge {
    /// Returns true if no region is a conflict.
    pub fn is_clean(&self) -> bool {
        !self.regions.iter().any(|region| matches!(region, MergeRegion::Conflict { .. }))
    }

    /// Returns the merged text; `None` if a region is a conflict without a proposal.
    pub fn proposal(&self) -> Option<String> {
        self.regions
            .iter()
            .map(|region| match region {
                MergeRegion::Same(text)
                | MergeRegion::Yours(text)
                | MergeRegion::Theirs(text)
                | MergeRegion::Both(text) => Some(text.as_str()),
                MergeRegion::Conflict { proposal, .. } => proposal.as_deref(),
            })
            .collect()
    }
}

/// Merges two versions of a text that both began as `base`.
pub fn merge_texts(base: &str, yours: &str, theirs: &str) -> TextMerge {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (base, yours, theirs) = (lines(base), lines(yours), lines(theirs));
    let mut merge = TextMerge { regions: Vec::new() };
    for part in merge_parts(&base, &yours, &theirs) {
        let base_text = joined(&base, &part.base);
        let (your_text, their_text) = (joined(&yours, &part.yours), joined(&theirs, &part.theirs));
        let region = match (your_text == base_text, their_text == base_text) {
            (true, true) if base_text.is_empty() => continue,
            (true, true) => MergeRegion::Same(base_text),
            (false, true) => MergeRegion::Yours(your_text),
            (true, false) => MergeRegion::Theirs(their_text),
            (false, false) if your_text == their_text => MergeRegion::Both(your_text),
            (false, false) => {
                let proposal = merge_words(&base_text, &your_text, &their_text);
                let (base, yours, theirs) = (base_text, your_text, their_text);
                MergeRegion::Conflict { base, yours, theirs, proposal }
            }
        };
        merge.regions.push(region);
    }
    merge
}

/// Combines two changes of the same lines word by word; `None` if they change the same words.
fn merge_words(base: &str, yours: &str, theirs: &str) -> Option<String> {
    if base.is_empty() {
        return None;
    }
    let (base, yours, theirs) = (split_words(base), split_words(yours), split_words(theirs));
    let mut merged = String::new();
    for part in merge_parts(&base, &yours, &theirs) {
        let base_text = joined(&base, &part.base);
        let (your_text, their_text) = (joined(&yours, &part.yours), joined(&theirs, &part.theirs));
        if your_text == base_text || your_text == their_text {
            merged.push_str(&their_text);
        } else if their_text == base_text {
            merged.push_str(&your_text);
        } else {
            return None;
        }
    }
    Some(merged)
}

/// Ranges of the three versions that belong together.
struct MergePart {
    base: Range<usize>,
    yours: Range<usize>,
    theirs: Range<usize>,
}

/// Splits three versions into parts: those that both versions keep, and those between them.
fn merge_parts(base: &[&str], yours: &[&str], theirs: &[&str]) -> Vec<MergePart> {
    let (your_match, their_match) = (kept(base, yours), kept(base, theirs));
    let at = |matches: &[Option<usize>], line: usize| matches.get(line).copied().flatten();
    let mut parts = Vec::new();
    let (mut b, mut y, mut t) = (0, 0, 0);
    loop {
        // Lines that both versions keep, in step.
        let start = (b, y, t);
        while b < base.len() && at(&your_match, b) == Some(y) && at(&their_match, b) == Some(t) {
            (b, y, t) = (b + 1, y + 1, t + 1);
        }
        if b > start.0 {
            parts.push(MergePart { base: start.0..b, yours: start.1..y, theirs: start.2..t });
        }
        // Up to the next line that both versions keep.
        let next = (b..base.len())
            .find_map(|line| Some((line, at(&your_match, line)?, at(&their_match, line)?)));
        let (next_b, next_y, next_t) = next.unwrap_or((base.len(), yours.len(), theirs.len()));
        if (next_b, next_y, next_t) != (b, y, t) {
            parts.push(MergePart { base: b..next_b, yours: y..next_y, theirs: t..next_t });
        }
        (b, y, t) = (next_b, next_y, next_t);
        if next.is_none() {
            return parts;
        }
    }
}

/// Returns for each part of the base its place in a version; `None` if the version lacks it.
fn kept(base: &[&str], version: &[&str]) -> Vec<Option<usize>> {
    let mut places = vec![None; base.len()];
    for operation in operations(base, version) {
        if let DiffOp::Equal { .. } = operation {
            for (old, new) in operation.old_range().zip(operation.new_range()) {
                if let Some(place) = places.get_mut(old) {
                    *place = Some(new);
                }
            }
        }
    }
    places
}

fn joined(parts: &[&str], range: &Range<usize>) -> String {
    parts.get(range.clone()).unwrap_or_default().concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changes_of_different_lines_are_combined() {
        let base = "1\n2\n3\n4\n5\n";
        let merge = merge_texts(base, "1\nX\n3\n4\n5\n", "1\n2\n3\n4\nY\n");
        assert!(merge.is_clean());
        assert_eq!(merge.proposal().as_deref(), Some("1\nX\n3\n4\nY\n"));
        let merge = merge_texts(base, "0\n1\n2\n3\n4\n5\n", "1\n2\n4\n5\n6\n");
        assert_eq!(merge.proposal().as_deref(), Some("0\n1\n2\n4\n5\n6\n"));
        let same = merge_texts(base, "1\n2\nZ\n4\n5\n", "1\n2\nZ\n4\n5\n");
        assert!(same.is_clean() && same.regions.contains(&MergeRegion::Both("Z\n".to_owned())));
    }

    #[test]
    fn changes_of_one_line_are_a_conflict_with_a_proposal_if_words_differ() {
        let base = "deploy on Fridays at noon\n";
        let merge =
            merge_texts(base, "deploy on Tuesdays at noon\n", "deploy on Fridays at night\n");
        assert!(!merge.is_clean());
        assert_eq!(merge.proposal().as_deref(), Some("deploy on Tuesdays at night\n"));
        let merge =
            merge_texts(base, "deploy on Tuesdays at noon\n", "deploy on Mondays at noon\n");
        assert!(!merge.is_clean());
        assert_eq!(merge.proposal(), None);
    }

    #[test]
    fn new_files_of_both_are_a_conflict() {
        let merge = merge_texts("", "yours\n", "theirs\n");
        assert!(!merge.is_clean() && merge.proposal().is_none());
        assert!(merge_texts("", "", "").regions.is_empty());
    }

    proptest! {
        #[test]
        fn one_changed_version_wins_and_nothing_is_lost(
            base in "([a-c]\n){0,8}", yours in "([a-d]\n){0,8}", theirs in "([a-d]\n){0,8}",
        ) {
            prop_assert_eq!(merge_texts(&base, &yours, &base).proposal(), Some(yours.clone()));
            prop_assert_eq!(merge_texts(&base, &base, &theirs).proposal(), Some(theirs.clone()));
            prop_assert_eq!(merge_texts(&base, &yours, &yours).proposal(), Some(yours.clone()));
            let of = |pick: fn(&MergeRegion) -> &str| -> String {
                merge_texts(&base, &yours, &theirs).regions.iter().map(pick).collect()
            };
            // Every line of either version is in a region.
            let all = of(|region| match region {
                MergeRegion::Same(text) | MergeRegion::Yours(text)
                | MergeRegion::Theirs(text) | MergeRegion::Both(text) => text,
                MergeRegion::Conflict { yours, .. } => yours,
            });
            for line in yours.lines().filter(|line| *line == "d") {
                prop_assert!(all.contains(line));
            }
        }
    }
}
