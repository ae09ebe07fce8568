//! The nearest statements of agents, behind an answer that found nothing.

use std::ops::Range;

use jiff::Timestamp;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::recall::{
    NearestRank, RecallRequest, RecalledPassage, keep_nearest, nearest_statements,
};
use memoranda_engine::records::{RecordResult, single_line};
use serde_json::{Value, json};

use super::recall::{item_text, passage_json};
use crate::registry::{CallContext, ToolResult};

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

/// Removes the nearest statements from the text and the structure of an answer, and returns their
/// structures.
pub fn take_nearest(result: &mut ToolResult) -> Vec<Value> {
    let fields = result.structured.as_object_mut();
    let taken = fields.and_then(|fields| fields.remove(NEAREST_FIELD));
    let Some(Value::Array(items)) = taken else { return Vec::new() };
    if let Some(range) = range_in(&result.text, &items) {
        result.text.replace_range(range, "");
    }
    items
}

/// Returns the range of the section with these statements in a text.
fn range_in(text: &str, items: &[Value]) -> Option<Range<usize>> {
    // The age in the last line of a statement may have changed since.
    let mut expected = Vec::new();
    for item in items {
        let whole = item_text(item, Timestamp::UNIX_EPOCH);
        let lines = whole.lines().count();
        expected.extend(whole.lines().take(lines - 1).map(|line| (line.to_owned(), false)));
        expected.push(("  (".to_owned(), true));
    }
    text.match_indices(NEAREST_HEADING).find_map(|(start, heading)| {
        let mut end = start + heading.len();
        let mut lines = text.get(end..)?.split_inclusive('\n');
        for (line, is_source) in &expected {
            let found = lines.next()?;
            let fits = if *is_source {
                found.starts_with(line)
            } else {
                found.trim_end_matches('\n') == line
            };
            if !fits {
                return None;
            }
            end += found.len();
        }
        let is_apart = text.get(..start)?.ends_with("\n\n");
        Some(start - usize::from(is_apart)..end)
    })
}

/// Adds the nearest statements of the answers of several spaces to a joined answer, the most relevant
/// first and as many as of one answer.
pub fn add_nearest(result: &mut ToolResult, mut items: Vec<Value>) {
    keep_nearest(&mut items, &|item: &Value| {
        let place = item["places"][0].as_str().unwrap_or_default();
        let project = place.split('/').next().unwrap_or_default();
        NearestRank::new(item["relevance"].as_f64(), project)
    });
    let section = NearestSection::of_items(items);
    if !section.items.is_empty() {
        result.text.push_str(&format!("\n\n{}", section.text().trim_end()));
        section.add_to(&mut result.structured);
    }
}
