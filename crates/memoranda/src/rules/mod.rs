//! Rule files of agents: generated from remembered rules, and parsed back into rules.
//!
//! All functions map text to text; the command `rules` reads and writes the files.

mod block;
mod escape;
mod parse;
mod render;
mod target;

pub(crate) use block::{BlockError, generated_in, with_block, without_block};
pub(crate) use parse::rules_in;
pub(crate) use render::{MARK, pages};
pub(crate) use target::{READ_FROM, RuleFileForm, RuleTarget, TARGETS, find_target};

/// A rule, as a file states it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AgentRule {
    /// Text of the rule.
    pub(crate) text: String,
    /// The files that it is for, as globs; all if empty.
    pub(crate) paths: Vec<String>,
    /// Category; empty without one.
    pub(crate) category: String,
}
