//! The nearest statements of agents, behind an answer that found nothing.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::recall::{RecallRequest, RecalledPassage, nearest_statements};
use memoranda_engine::records::RecordResult;
use serde_json::{Value, json};

use super::recall::{passage_json, passage_text};
use crate::registry::CallContext;

/// Heading of the statements.
pub const NEAREST_HEADING: &str = "Nearest of what agents remember; it may not be about this:\n";

/// Statements that may be about something else, as lines and as structures.
#[derive(Default)]
pub(crate) struct NearestSection {
    lines: Vec<String>,
    items: Vec<Value>,
}

impl NearestSection {
    /// Renders statements.
    pub(crate) fn new(passages: &[RecalledPassage]) -> Self {
        let now = memoranda_engine::clock::now();
        Self {
            lines: passages.iter().map(|passage| passage_text(passage, now)).collect(),
            items: passages.iter().map(passage_json).collect(),
        }
    }

    /// Searches the statements that match a condition, in every space of the call.
    pub(crate) fn search(
        call: &CallContext<'_>,
        request: &RecallRequest,
        matches: &dyn Fn(&RecalledPassage) -> bool,
    ) -> RecordResult<Self> {
        let mut passages = Vec::new();
        for (space, single) in call.in_each_space() {
            let found = nearest_statements(single.memory, request, matches)?;
            passages.extend(found.into_iter().map(|passage| RecalledPassage {
                space: space.map(str::to_owned).or(passage.space),
                ..passage
            }));
        }
        Ok(Self::new(&passages))
    }

    /// Returns the ids of the statements.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| item["id"].as_str())
    }

    /// Removes the last statements that exceed a number of tokens as lines or as structures.
    pub(crate) fn cut_to(&mut self, tokens: usize) {
        while !self.items.is_empty() && self.tokens() > tokens {
            self.lines.pop();
            self.items.pop();
        }
    }

    /// Returns the tokens of the section, of the longer of text and structure.
    pub(crate) fn tokens(&self) -> usize {
        let items: usize =
            self.items.iter().map(|item| estimate_tokens(&item.to_string()) + 1).sum();
        estimate_tokens(&self.text()).max(items)
    }

    /// Renders the section. Empty without statements.
    pub(crate) fn text(&self) -> String {
        if self.items.is_empty() {
            return String::new();
        }
        format!("{NEAREST_HEADING}{}", self.lines.concat())
    }

    /// Adds `nearest` to a structured result, if there are any.
    pub(crate) fn add_to(self, structured: &mut Value) {
        if !self.items.is_empty() {
            structured["nearest"] = json!(self.items);
        }
    }
}
