//! How a question was read, where that is not how it was written: every search tool says so alike.

use memoranda_core::query::When;
use memoranda_engine::{Correction, SearchPage};
use serde_json::{Value, json};

/// More words than this that were read as others are not told one by one.
const MOST_TOLD: usize = 10;

/// So much of a question stands in its answer.
const REPEATED_CHARS: usize = 100;

/// A question as its answer repeats it: no longer than a reader needs to know it again.
pub(crate) fn repeated(question: &str) -> String {
    match question.char_indices().nth(REPEATED_CHARS) {
        Some((end, _)) => format!("{}…", question.get(..end).unwrap_or_default()),
        None => question.to_owned(),
    }
}

/// Words that were read as others, and the time that was understood.
#[derive(Default)]
pub(crate) struct Reading {
    corrections: Vec<Correction>,
    when: Option<When>,
}

impl Reading {
    pub(crate) fn of(page: &SearchPage) -> Self {
        let corrections = page.corrections.iter().take(MOST_TOLD).cloned().collect();
        Self { corrections, when: page.when }
    }

    /// For a model: a line for each; empty if all was read as it was written.
    pub(crate) fn said(&self) -> String {
        let mut said = String::new();
        for Correction { typed, meant, .. } in &self.corrections {
            let instead = match meant.strip_suffix('*') {
                Some(begin) => format!("words that begin with {begin:?}"),
                None => format!("{meant:?}"),
            };
            said.push_str(&format!("[nothing holds {typed:?}; looked for {instead} instead]\n"));
        }
        if let Some(When { from, to, .. }) = self.when {
            said.push_str(&format!("[read as a time: {from} to {to}]\n"));
        }
        said
    }

    /// For programs: `corrections` and `when`, where there are any.
    pub(crate) fn add_to(&self, structured: &mut Value) {
        let corrections = self.corrections.iter();
        let corrections: Vec<_> =
            corrections.map(|c| json!({ "typed": c.typed, "meant": c.meant })).collect();
        if !corrections.is_empty() {
            structured["corrections"] = json!(corrections);
        }
        if let Some(When { from, to, .. }) = self.when {
            structured["when"] = json!({ "from": from.to_string(), "to": to.to_string() });
        }
    }
}
