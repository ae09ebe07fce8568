//! The words of a statement, and matching of cues against them.

/// A statement as lower-case words. Signs that end a clause are words of their own.
pub(super) struct StatementWords {
    words: Vec<String>,
    /// The words as written.
    originals: Vec<String>,
}

/// Signs that end a clause.
const CLAUSE_ENDS: [char; 4] = [',', ':', ';', '.'];

impl StatementWords {
    /// Splits a statement into words.
    pub(super) fn new(text: &str) -> Self {
        let (mut words, mut originals) = (Vec::new(), Vec::new());
        for token in text.split_whitespace() {
            let bare = token.trim_matches(|c: char| "\"'“”‘’()[]{}!?*<>".contains(c));
            let word = bare.trim_end_matches(CLAUSE_ENDS);
            let end = bare.get(word.len()..).and_then(|rest| rest.chars().next());
            let word = word.trim_matches(|c: char| "\"'“”‘’()[]{}!?*<>".contains(c));
            if !word.is_empty() {
                words.push(word.to_lowercase().replace('’', "'"));
                originals.push(word.to_owned());
            }
            if let Some(end) = end {
                words.push(end.to_string());
                originals.push(end.to_string());
            }
        }
        Self { words, originals }
    }

    /// Returns the words, in lower case.
    pub(super) fn all(&self) -> &[String] {
        &self.words
    }

    /// Returns the words as written.
    pub(super) fn originals(&self) -> &[String] {
        &self.originals
    }

    /// Drops words at the beginning.
    pub(super) fn drop_first(&mut self, count: usize) {
        self.words.drain(..count.min(self.words.len()));
        self.originals.drain(..count.min(self.originals.len()));
    }

    /// Returns the word at a position; empty behind the end.
    pub(super) fn at(&self, position: usize) -> &str {
        self.words.get(position).map_or("", String::as_str)
    }

    /// Returns true if one of the cues occurs. A cue is one word or several in a row; a word that
    /// ends in `*` matches every word with that beginning.
    pub(super) fn has(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.position(cue).is_some())
    }

    /// Returns true if the statement begins with one of the cues.
    pub(super) fn begins(&self, cues: &[&str]) -> bool {
        cues.iter().any(|cue| self.matches_at(0, cue))
    }

    /// Returns the position of the first occurrence of a cue.
    pub(super) fn position(&self, cue: &str) -> Option<usize> {
        (0..self.words.len()).find(|at| self.matches_at(*at, cue))
    }

    /// Returns true if a cue occurs at a position.
    pub(super) fn matches_at(&self, position: usize, cue: &str) -> bool {
        cue.split(' ').enumerate().all(|(n, wanted)| {
            let word = self.at(position + n);
            match wanted.strip_suffix('*') {
                Some(beginning) => word.starts_with(beginning),
                None => word == wanted,
            }
        })
    }
}
