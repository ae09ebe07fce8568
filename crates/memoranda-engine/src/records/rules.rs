//! The active rules by scope, for the files at hand.

use std::path::Path;

use jiff::Zoned;

use super::error::RecordResult;
use super::path_patterns::matches_any;
use super::query::active_rules;
use super::record::MemoryRecord;
use super::scope::{RecordScope, VisibleScopes};
use crate::{Memory, named_from_root};

/// The active rules by scope.
pub struct RuleList {
    /// The rules of each scope, the project first.
    pub by_scope: Vec<(RecordScope, Vec<MemoryRecord>)>,
    /// Number of rules that apply only to other files.
    pub left_out: usize,
}

impl RuleList {
    /// Loads the active rules that apply to some files.
    pub fn load(
        memory: &Memory,
        visible: &VisibleScopes,
        files: &FileSelection,
        now: &Zoned,
    ) -> RecordResult<Self> {
        let mut left_out = 0;
        let mut by_scope = Vec::new();
        for scope in &visible.scopes {
            let mut rules = active_rules(memory, scope, now)?;
            let before = rules.len();
            rules.retain(|rule| files.includes(rule));
            left_out += before - rules.len();
            by_scope.push((scope.clone(), rules));
        }
        Ok(Self { by_scope, left_out })
    }

    /// Returns the number of rules.
    pub fn count(&self) -> usize {
        self.by_scope.iter().map(|(_, rules)| rules.len()).sum()
    }
}

/// The files that a caller works on.
#[derive(Default)]
pub struct FileSelection {
    /// The files relative to the root of their repository, in every notation that patterns may use;
    /// `None` for any file.
    names: Option<Vec<String>>,
}

impl FileSelection {
    /// Selects the given files; all files if there are none.
    pub fn new(workspace: Option<&Path>, files: &[String]) -> Self {
        Self { names: (!files.is_empty()).then(|| named_from_root(workspace, files)) }
    }

    /// Returns true if a rule applies to one of the files.
    fn includes(&self, rule: &MemoryRecord) -> bool {
        match &self.names {
            Some(files) if !rule.paths.is_empty() => matches_any(&rule.paths, files),
            _ => true,
        }
    }
}
