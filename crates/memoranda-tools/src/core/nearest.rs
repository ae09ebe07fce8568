//! The nearest statements of agents, behind an answer that found nothing.

use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::recall::{
    NearestRank, RecallRequest, RecalledPassage, keep_nearest, nearest_statements,
};
use memoranda_engine::records::{RecordResult, single_line};
use serde_json::{Value, json};

use super::recall::{item_text, passage_json};
use crate::registry::CallContext;

/// Heading of the statements.
pub const NEAREST_HEADING: &str = "Nearest of what agents remember; it may not be about this:\n";

/// Field of the statements in a structured result.
const NEAREST_FIELD: &str = "nearest";

/// Statements that may be about something else, as lines and as structures.
#[derive(Default)]
pub(crate) struct NearestSection {
    lines: Vec<String>,
    items: Vec<Value>,
}

impl NearestSection {
    /// Renders statements.
    pub(crate) fn new(passages: &[RecalledPassage]) -> Self {
        Self::of_items(passages.iter().map(passage_json).collect())
    }

    /// Renders structures of statements.
    fn of_items(items: Vec<Value>) -> Self {
        let now = memoranda_engine::clock::now();
        Self { lines: items.iter().map(|item| item_text(item, now)).collect(), items }
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
        keep_nearest(&mut passages, &NearestRank::of);
        Ok(Self::new(&passages))
    }

    /// Removes the last statements that exceed a number of tokens as lines or as structures.
    pub(crate) fn cut_to(&mut self, tokens: usize) {
        while !self.items.is_empty() && self.tokens() > tokens {
            self.pop();
        }
    }

    /// Removes the last statement. Returns false if nothing is left.
    pub(crate) fn pop(&mut self) -> bool {
        self.lines.pop();
        self.items.pop().is_some()
    }

    /// Removes statements that another section of the answer contains, each cut to a number of
    /// characters: there they are known to be about their subject.
    pub(crate) fn leave_out(&mut self, known: &[RecalledPassage], max_chars: usize) {
        let is_same = |item: &Value, known: &RecalledPassage| match (item["id"].as_str(), &known.id)
        {
            (Some(id), Some(known)) => id == known,
            _ => {
                let place = known.places.first().map(ToString::to_string);
                let text = item["text"].as_str().unwrap_or_default();
                let text = single_line(text.trim_end_matches('…'), usize::MAX);
                place.is_some_and(|place| item["places"][0] == place.as_str())
                    && single_line(&known.text, max_chars).contains(&text)
            }
        };
        let mut items = std::mem::take(&mut self.items);
        items.retain(|item| !known.iter().any(|known| is_same(item, known)));
        *self = Self::of_items(items);
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
    pub(crate) fn add_to(&self, structured: &mut Value) {
        if !self.items.is_empty() {
            structured[NEAREST_FIELD] = json!(self.items);
        }
    }
}
