//! What is wrong with a text, said so that its reader can mend it. Problems never stop anything.

/// One thing wrong with a note, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseProblem {
    /// The line it concerns, counted from 1; 0 when it concerns the whole file.
    pub line: usize,
    /// One sentence: what is wrong, with the offending value.
    pub message: String,
}
