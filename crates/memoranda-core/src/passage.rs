//! The unit of search: a passage, so that a long note is found by any of its parts and the part
//! is what is shown. Passages lie in order, never overlap, and together hold every word.

use std::ops::{Range, RangeInclusive};

use crate::note::{Note, Section};

/// A passage is closed once it holds this many words, and not opened to more than the next.
const ENOUGH_WORDS: usize = 100;
const WANTED_WORDS: usize = 150;
/// No passage is larger, and no block is cut that is not.
const MAX_WORDS: usize = 200;
/// What counts as one word where no blanks are: other scripts, links, encoded data.
const BYTES_PER_WORD: usize = 10;
/// A heading is repeated with each of its passages, so a huge one is cut.
const MAX_TITLE_CHARS: usize = 120;

/// A part of a text that is searched and shown as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The headings that govern it, outermost first, joined by ` › `; empty above the first.
    pub heading: String,
    /// Its lines in the whole text, from 1.
    pub lines: RangeInclusive<usize>,
    /// Its bytes in the whole text.
    pub span: Range<usize>,
}

impl Passage {
    /// The words themselves, out of the text that was cut.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.span.clone()).unwrap_or_default()
    }
}

/// Cuts a note into passages: its sections, each into paragraphs and lists of a handy size.
pub fn passages(text: &str, note: &Note) -> Vec<Passage> {
    let body = note.body.start.min(text.len())..note.body.end.min(text.len());
    let mut cutter = Cutter::new(text, Fences::Whole);
    let mut path = HeadingPath::default();
    let mut at = body.start;
    let mut sections = note.sections.iter().peekable();
    while let Some(section) = sections.next() {
        let start = section.heading.start.clamp(at, body.end);
        let bare = text.get(section.heading.end..section.content.end);
        let content_start = sections.peek().map(|next| next.heading.start);
        let is_bare = sections.peek().is_some_and(|next| next.level > section.level)
            && bare.is_some()
            && content_start
                .and_then(|next| text.get(section.heading.end..next))
                .is_some_and(|between| between.trim().is_empty());
        if start > at {
            cutter.cut(at..start, &path.0);
            at = start;
        }
        path.enter(section);
        // A heading with nothing but deeper headings below begins the first of those.
        if !is_bare && let Some(next) = content_start {
            let end = next.clamp(at, body.end);
            cutter.cut(at..end, &path.0);
            at = end;
        }
    }
    cutter.cut(at..body.end, &path.0);
    cutter.passages
}
