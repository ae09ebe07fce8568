//! Rule files of agents: generated from remembered rules, and parsed back into rules.
//!
//! The functions map rules and texts to texts; the command `rules` reads and writes the files.

mod block;
mod escape;
mod parse;
mod render;
mod target;

use jiff::Zoned;
use memoranda_engine::Memory;
use memoranda_engine::records::{MemoryRecord, RecordScope, active_rules};

pub use block::{BlockError, generated_in, with_block, without_block};
pub use parse::{ParsedRules, rules_in};
pub use render::{MARK, RulePage, pages};
pub use target::{READ_FROM, RuleFileForm, RuleTarget, TARGETS, find_target};

use crate::error::Result;

/// A rule, as a file states it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentRule {
    /// Text of the rule.
    pub text: String,
    /// The files that it is for, as globs; all if empty.
    pub paths: Vec<String>,
    /// Category; empty without one.
    pub category: String,
}

impl From<MemoryRecord> for AgentRule {
    fn from(record: MemoryRecord) -> Self {
        Self {
            text: record.content,
            paths: record.paths,
            category: record.category.unwrap_or_default(),
        }
    }
}

/// A file that rules become.
pub struct GeneratedRuleFile {
    /// The reader.
    pub target: &'static RuleTarget,
    /// Path in a repository.
    pub path: String,
    /// Text of the file, or of the block between marks.
    pub text: String,
}

/// Returns the files that the rules of a scope become.
pub fn generated_files(
    memory: &Memory,
    scope: &RecordScope,
    now: &Zoned,
) -> Result<Vec<GeneratedRuleFile>> {
    let rules: Vec<AgentRule> =
        active_rules(memory, scope, now)?.into_iter().map(AgentRule::from).collect();
    let pages_of = |target: &'static RuleTarget| {
        let file =
            move |page: RulePage| GeneratedRuleFile { target, path: page.path, text: page.text };
        pages(target, &rules).into_iter().map(file)
    };
    Ok(TARGETS.iter().flat_map(pages_of).collect())
}
