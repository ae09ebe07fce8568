//! Origins of lines: which version of a text each line came from.

use similar::DiffOp;

use crate::diff::operations;

/// A text, line by line, with the origin of each line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineOrigins<O> {
    text: String,
    origins: Vec<O>,
}

impl<O: Clone> LineOrigins<O> {
    /// Replaces the text by its next version. A line that stays keeps its origin; a line that is
    /// new gets `origin`.
    pub fn advance(&mut self, next: String, origin: &O) {
        let old: Vec<&str> = self.text.split_inclusive('\n').collect();
        let new: Vec<&str> = next.split_inclusive('\n').collect();
        let mut origins = Vec::with_capacity(new.len());
        for operation in operations(&old, &new) {
            if let DiffOp::Equal { .. } = operation {
                let kept = self.origins.get(operation.old_range()).unwrap_or_default();
                origins.extend_from_slice(kept);
            } else {
                origins.extend(operation.new_range().map(|_| origin.clone()));
            }
        }
        self.origins = origins;
        self.text = next;
    }

    /// Returns the text of the last version.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the origin of each line, in order.
    pub fn origins(&self) -> &[O] {
        &self.origins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_version_that_wrote_it() {
        let cases: [(&[&str], &[u8]); 6] = [
            (&["a\nb\n"], &[0, 0]),
            (&["a\nb\n", "a\nx\nb\n"], &[0, 1, 0]),
            (&["a\nb\n", "b\n", "a\nb\n"], &[2, 0]),
            (&["a\nb\nc\n", "a\nB\nc\n", "a\nB\nC\n"], &[0, 1, 2]),
            (&["a\nb", "a\nb\n"], &[0, 1]),
            (&["a\n", ""], &[]),
        ];
        for (versions, expected) in cases {
            let mut lines = LineOrigins::default();
            for (number, version) in (0u8..).zip(versions) {
                lines.advance((*version).to_owned(), &number);
            }
            assert_eq!(lines.origins(), expected, "{versions:?}");
            assert_eq!(lines.text(), *versions.last().unwrap());
        }
    }
}
