//! Feedback of every search tool on how a query was interpreted: corrected words and recognised times.

use memoranda_core::abbreviate::abbreviate;
use memoranda_core::query::TimeRange;
use memoranda_engine::{EmbeddingSource, SearchPage, TermCorrection};
use serde_json::{Value, json};

/// Maximum number of reported corrections.
const MAX_CORRECTIONS: usize = 10;

/// Maximum length of a query as its answer repeats it, in characters.
const MAX_QUERY_CHARS: usize = 100;

/// Abbreviates a query for the heading of its answer.
pub(crate) fn abbreviate_query(query: &str) -> String {
    abbreviate(query, MAX_QUERY_CHARS).into_owned()
}

/// Line of an answer whose process has not loaded the vectors of a large vault yet.
pub(crate) const BY_WORDS_ALONE: &str = "[found by words alone: this process has just started and still loads the vectors of all notes; \
     ask again in a few seconds for notes of similar meaning]\n";

/// Line of such an answer if a chosen model has compared most passages.
const PARTLY_BY_WORDS: &str = "[passages that the chosen model has not embedded yet were found by words alone: this process \
     has just started; ask again in a few seconds for more of similar meaning]\n";

/// Corrected words and the recognised time range of a query.
#[derive(Default)]
pub(crate) struct QueryFeedback {
    corrections: Vec<TermCorrection>,
    when: Option<TimeRange>,
    /// True if notes were not looked for by their meaning, because the vectors are not loaded yet.
    is_by_words_alone: bool,
    /// True if that is so for the passages that a chosen model has not embedded.
    is_partly_by_words: bool,
}

impl QueryFeedback {
    pub(crate) fn from_page(page: &SearchPage) -> Self {
        let corrections = page.corrections.iter().take(MAX_CORRECTIONS).cloned().collect();
        let is_by_words_alone = page.meaning == EmbeddingSource::Loading;
        let is_partly_by_words = matches!(page.meaning, EmbeddingSource::ChosenLoading { .. });
        Self { corrections, when: page.when, is_by_words_alone, is_partly_by_words }
    }

    /// Adds the feedback of another space on the same query.
    pub(crate) fn join(&mut self, further: Self) {
        for correction in further.corrections {
            let is_known = |known: &TermCorrection| {
                (&known.typed, &known.meant) == (&correction.typed, &correction.meant)
            };
            if !self.corrections.iter().any(is_known) && self.corrections.len() < MAX_CORRECTIONS {
                self.corrections.push(correction);
            }
        }
        self.when = self.when.or(further.when);
        self.is_by_words_alone |= further.is_by_words_alone;
    }

    /// Adds that a further search for the same answer went by words alone.
    pub(crate) fn add_by_words_alone(&mut self, is_by_words_alone: bool) {
        self.is_by_words_alone |= is_by_words_alone;
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
        if self.is_by_words_alone {
            text.push_str(BY_WORDS_ALONE);
        }
        if self.is_partly_by_words {
            text.push_str(PARTLY_BY_WORDS);
        }
        text
    }

    /// Adds `corrections`, `when` and `by_words_alone` to a structured result, if there are any.
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
        if self.is_by_words_alone {
            structured["by_words_alone"] = json!(true);
        }
    }
}
