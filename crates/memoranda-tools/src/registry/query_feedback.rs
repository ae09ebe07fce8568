//! Feedback of every search tool on how a query was interpreted: corrected words and recognised times.

use memoranda_core::query::TimeRange;
use memoranda_engine::{SearchPage, TermCorrection};
use serde_json::{Value, json};

/// Maximum number of reported corrections.
const MAX_CORRECTIONS: usize = 10;

/// Maximum length of a query as its answer repeats it, in characters.
const MAX_QUERY_CHARS: usize = 100;

/// Abbreviates a query for the heading of its answer.
pub(crate) fn abbreviate_query(query: &str) -> String {
    match query.char_indices().nth(MAX_QUERY_CHARS) {
        Some((end, _)) => format!("{}…", query.get(..end).unwrap_or_default()),
        None => query.to_owned(),
    }
}

/// Corrected words and the recognised time range of a query.
#[derive(Default)]
pub(crate) struct QueryFeedback {
    corrections: Vec<TermCorrection>,
    when: Option<TimeRange>,
}

impl QueryFeedback {
    pub(crate) fn from_page(page: &SearchPage) -> Self {
        let corrections = page.corrections.iter().take(MAX_CORRECTIONS).cloned().collect();
        Self { corrections, when: page.when }
    }

    /// Renders one line per correction for a model. Empty if the query was used as written.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for TermCorrection { typed, meant, .. } in &self.corrections {
            let instead = match meant.strip_suffix('*') {
                Some(begin) => format!("words that begin with {begin:?}"),
                None => format!("{meant:?}"),
            };
            text.push_str(&format!("[nothing holds {typed:?}; looked for {instead} instead]\n"));
        }
        if let Some(TimeRange { from, to, .. }) = self.when {
            text.push_str(&format!("[read as a time: {from} to {to}]\n"));
        }
        text
    }

    /// Adds `corrections` and `when` to a structured result, if there are any.
    pub(crate) fn add_to(&self, structured: &mut Value) {
        let corrections = self.corrections.iter();
        let corrections: Vec<_> =
            corrections.map(|c| json!({ "typed": c.typed, "meant": c.meant })).collect();
        if !corrections.is_empty() {
            structured["corrections"] = json!(corrections);
        }
        if let Some(TimeRange { from, to, .. }) = self.when {
            structured["when"] = json!({ "from": from.to_string(), "to": to.to_string() });
        }
    }
}
