//! Problems found while parsing a note. A problem never stops an operation.

/// A problem of a note and its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseProblem {
    /// Line of the problem, from 1; 0 for the whole file.
    pub line: usize,
    /// One sentence that names the problem and the offending value.
    pub message: String,
}
