//! Rule files: what agents read at the start of a task, made from the rules that are remembered,
//! and read back as rules.
//!
//! Everything here is text in, text out; the command beside it reads and writes the files.

mod block;
mod escape;
mod parse;
mod render;
mod target;

pub(crate) use block::{BlockError, generated_in, with_block};
pub(crate) use parse::rules_in;
pub(crate) use render::{MARK, pages};
pub(crate) use target::{READ_FROM, RuleFileForm, RuleTarget, TARGETS, find_target};

/// A rule, as a file states it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AgentRule {
    /// What it says.
    pub(crate) text: String,
    /// The files that it is for, as globs; all if empty.
    pub(crate) paths: Vec<String>,
    /// What it is grouped by; empty if by nothing.
    pub(crate) category: String,
}
