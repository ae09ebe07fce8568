//! A recalled passage: one statement with all its places.

use jiff::Timestamp;
use memoranda_core::note;
use memoranda_core::statement::StatementKind;
use memoranda_core::token_estimate::{estimate_tokens, truncate_to_tokens};

use super::observations::observation_text;
use crate::records::{MemoryRecord, RecordResult, RecordScope, VisibleScopes};
use crate::remember::statement_kind;
use crate::{Memory, NoteLocation, PackedNote};

/// Estimated tokens of source, age, author and kind of a passage.
const FRAME_TOKENS: usize = 30;
/// Maximum length of a record in an answer, in characters.
const RECORD_CHARS: usize = 1_200;
/// Maximum number of revisions of a note that are read for the author of an earlier version.
const MAX_REVISIONS: usize = 1_000;
/// Project of the entities.
pub(super) const GRAPH_PROJECT: &str = "graph";

/// The subject of a passage in an answer without a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecalledSubject {
    /// The person.
    Person,
    /// All repositories: a choice or a fact that is kept for everywhere, and is not about the person.
    Everywhere,
    /// The repository at hand.
    Repository,
}

/// A passage with all places that contain it.
#[derive(Clone, Debug)]
pub struct RecalledPassage {
    /// The text.
    pub text: String,
    /// The kind.
    pub kind: StatementKind,
    /// Id of the record, or of the only observation of an entity; `None` for another passage.
    pub id: Option<String>,
    /// Title of the note; empty for a record.
    pub title: String,
    /// The places that contain it, the most relevant first.
    pub places: Vec<NoteLocation>,
    /// Lines in the first place; empty for a record.
    pub lines: String,
    /// Name of the repository that it belongs to.
    pub repository: Option<String>,
    /// Name of the space that contains it; `None` unless several are searched.
    pub space: Option<String>,
    /// Score by which passages are ordered; `None` without a question.
    pub score: Option<f64>,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Client that wrote it last; `None` if the history does not contain it.
    pub author: Option<String>,
    /// Relevance, 0 to 1; `None` without a question.
    pub relevance: Option<f64>,
    /// The subject; `None` in an answer to a question.
    pub subject: Option<RecalledSubject>,
}

impl RecalledPassage {
    /// Builds the passage of a record.
    pub(super) fn of_record(record: &MemoryRecord) -> Self {
        let repository = match &record.scope {
            RecordScope::Global => None,
            RecordScope::Project(_) => Some(record.scope.name().to_owned()),
        };
        Self {
            text: clipped(&record.content, RECORD_CHARS),
            kind: statement_kind(record.kind, &record.tags),
            id: Some(record.id.clone()),
            title: String::new(),
            places: vec![record.place.clone()],
            lines: String::new(),
            repository,
            space: None,
            score: None,
            updated: record.updated,
            author: None,
            relevance: None,
            subject: None,
        }
    }

    /// Builds the passage of a note.
    pub(super) fn of_note(packed: &PackedNote) -> Self {
        let mut passage =
            Self::of_text(&packed.place, &packed.title, &packed.text(), packed.updated);
        passage.places.extend(packed.also.iter().cloned());
        passage.lines = packed.lines_text();
        passage.relevance = Some(packed.relevance);
        passage.score = Some(packed.score);
        passage
    }

    /// Builds the passage of a text of a note, without relevance and subject.
    pub(super) fn of_text(
        place: &NoteLocation,
        title: &str,
        text: &str,
        updated: Timestamp,
    ) -> Self {
        let kind = kind_of_place(place);
        let (text, id) = match kind {
            StatementKind::Fact => observation_text(text),
            _ => (text.trim().to_owned(), None),
        };
        Self {
            text,
            kind,
            id,
            title: title.to_owned(),
            places: vec![place.clone()],
            lines: String::new(),
            repository: None,
            space: None,
            score: None,
            updated,
            author: None,
            relevance: None,
            subject: None,
        }
    }

    /// Returns true if the passage holds everywhere or in the repository of a caller.
    pub fn is_of(&self, visible: &VisibleScopes) -> bool {
        let here = visible.project().map(RecordScope::name);
        self.repository.is_none() || self.repository.as_deref() == here
    }

    /// Returns the estimated tokens of the passage with its source.
    pub(super) fn tokens(&self) -> usize {
        let places: usize = self.places.iter().map(|p| estimate_tokens(p.path.as_str()) + 3).sum();
        estimate_tokens(&self.text) + estimate_tokens(&self.title) + places + FRAME_TOKENS
    }

    /// Cuts the text until the passage fits.
    pub(super) fn shrink(&mut self, max_tokens: usize) {
        let frame = self.tokens() - estimate_tokens(&self.text);
        let room = max_tokens.saturating_sub(frame).max(1);
        if estimate_tokens(&self.text) > room {
            self.text = truncate_to_tokens(&self.text, room).trim_end().to_owned() + "…";
        }
    }

    /// Cuts a number of tokens from the end of the text. Returns false if it has no more than a few.
    pub fn cut_by(&mut self, tokens: usize) -> bool {
        let whole = estimate_tokens(&self.text);
        // The mark of the cut takes a token itself.
        let kept = whole.saturating_sub(tokens + 1);
        if kept == 0 {
            return false;
        }
        self.text = truncate_to_tokens(&self.text, kept).trim_end().to_owned() + "…";
        estimate_tokens(&self.text) < whole
    }

    /// Adds the name of who wrote the passage last, up to a time if one is given.
    pub(super) fn add_author(
        &mut self,
        memory: &Memory,
        as_of: Option<Timestamp>,
    ) -> RecordResult<()> {
        let Some(place) = self.places.first() else { return Ok(()) };
        let Some(time) = as_of else {
            let writing = memory.writing_commit(place)?;
            self.author = writing.map(|commit| memory.author_name(&commit.author));
            return Ok(());
        };
        let mut revisions = memory.revisions(place, MAX_REVISIONS)?.into_iter();
        let last = revisions.find(|last| last.commit.time <= time);
        if let Some(last) = last {
            self.updated = last.commit.time;
            self.author = Some(memory.author_name(&last.commit.author));
        }
        Ok(())
    }

    /// Returns the words of the text, by which the same statement in another place is recognised.
    pub(super) fn key(&self) -> String {
        statement_key(&self.text)
    }
}

/// Returns the words of a statement without the marks of its line: bullet, category, tags, comment.
/// Signs that make another word stay: "C++" is not "C", and `*.log` is not `.log`.
pub(crate) fn statement_key(text: &str) -> String {
    let text = text.split("<!--").next().unwrap_or_default().trim();
    let text = text.trim_start_matches(['-', '*', '#', '>', ' ']);
    let text = match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((_, rest)) => rest,
        None => text,
    };
    let words = text.split_whitespace().filter(|word| !word.starts_with('#'));
    let words = words.filter(|word| word.contains(char::is_alphanumeric));
    words.map(|word| plain_word(word).to_lowercase()).collect::<Vec<_>>().join(" ")
}

/// Removes quotes, brackets and ends of clauses from a word, and marks of emphasis next to its letters.
fn plain_word(word: &str) -> &str {
    const EMPHASIS: [char; 3] = ['*', '_', '`'];
    let word = word.trim_end_matches(|c: char| ".,;:!…)]}\"'”’»".contains(c));
    let word = word.trim_start_matches(|c: char| "([{\"'“‘«".contains(c));
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let inner = word.trim_start_matches(EMPHASIS);
    let word = if is_letter(inner.chars().next()) { inner } else { word };
    let inner = word.trim_end_matches(EMPHASIS);
    if is_letter(inner.chars().next_back()) { inner } else { word }
}

/// Merges equal passages: the first gets the places of the others.
pub(super) fn merge_same(passages: Vec<RecalledPassage>) -> Vec<RecalledPassage> {
    let mut merged: Vec<(String, RecalledPassage)> = Vec::new();
    for passage in passages {
        let key = passage.key();
        match merged.iter_mut().find(|(known, _)| !key.is_empty() && *known == key) {
            Some((_, first)) => {
                let further = passage.places.into_iter().filter(|p| !first.places.contains(p));
                let further: Vec<NoteLocation> = further.collect();
                first.places.extend(further);
            }
            None => merged.push((key, passage)),
        }
    }
    merged.into_iter().map(|(_, passage)| passage).collect()
}

/// Returns the kind of a passage that is not a record: entities contain facts.
pub(super) fn kind_of_place(place: &NoteLocation) -> StatementKind {
    if place.project.as_str() == GRAPH_PROJECT { StatementKind::Fact } else { StatementKind::Note }
}

fn clipped(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", note::one_line(text.get(..end).unwrap_or_default())),
        None => text.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_a_line_do_not_make_another_statement() {
        for same in [
            "I prefer tabs",
            "- [preference] I prefer tabs #style <!-- obs_1 v1 -->",
            "# I prefer *tabs*.",
            "  i PREFER   tabs",
        ] {
            assert_eq!(statement_key(same), "i prefer tabs", "{same}");
        }
        for other in ["I prefer spaces", "I prefer tabs?", "I prefer tabs++", "I prefer *.tabs"] {
            assert_ne!(statement_key(other), "i prefer tabs", "{other}");
        }
        assert_eq!(statement_key("I prefer (\"*tabs* and C++*\")."), "i prefer tabs and c++*");
        assert_eq!(statement_key("— use `tabs`, “always” !"), "use tabs always");
    }
}
