//! Extracts the part of a text that best shows a match.
//!
//! The index folds and stems words; here these words must be found in the original text. The
//! comparison is lenient: an extra highlight is harmless, a hit without any highlight is not.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::query::{Query, QueryTerm, TermKind};
use crate::tokenize::{fold, stem, tokenize};

/// Minimum number of characters of a word that matches longer words by prefix.
const MIN_STEM_CHARS: usize = 4;
const ELLIPSIS: &str = "…";

/// An excerpt of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snippet {
    /// The excerpt, with `…` where text is left out.
    pub text: String,
    /// Matching byte ranges of [`text`](Self::text), in order, without overlap.
    pub highlights: Vec<Range<usize>>,
    /// Number of lines before the excerpt.
    pub line_offset: usize,
}

/// Returns the excerpt of at most `max_chars` characters with the most matches; the beginning of
/// the text if nothing matches.
pub fn extract_snippet(text: &str, query: &Query, max_chars: usize) -> Snippet {
    let terms: Vec<_> = query.wanted_terms().map(SnippetTerm::new).collect();
    let hits = hits(text, &terms);
    let window = if text.len() <= max_chars || text.chars().nth(max_chars).is_none() {
        0..text.len()
    } else {
        // Room for two ellipses.
        let room = max_chars.saturating_sub(2 * ELLIPSIS.chars().count());
        extend_window(text, best_window(&hits, terms.len(), room), room)
    };
    render_window(text, window, &hits, max_chars)
}

/// A prepared query term.
struct SnippetTerm {
    kind: TermKind,
    words: Vec<SnippetTermWord>,
}

struct SnippetTermWord {
    folded: String,
    stem: String,
    /// Other forms of the word, folded.
    forms: Vec<String>,
}

impl SnippetTerm {
    fn new(term: &QueryTerm) -> Self {
        let words = term.words.iter().map(|word| {
            let folded = fold(word).into_owned();
            let forms = term.forms.iter().map(|form| fold(form).into_owned()).collect();
            SnippetTermWord { stem: stem(&folded).to_owned(), folded, forms }
        });
        Self { kind: term.kind, words: words.collect() }
    }

    /// Returns the number of the term's words if the text continues with them.
    fn matched_words(&self, found: &[SnippetTextWord<'_>]) -> Option<usize> {
        let last = self.words.len().checked_sub(1)?;
        let found = found.get(..=last)?;
        let all = self.words.iter().zip(found).enumerate().all(|(i, (sought, found))| {
            let is_open = self.kind == TermKind::Prefix && i == last;
            sought.is_similar(&found.folded)
                || (is_open && found.folded.starts_with(&sought.folded))
        });
        all.then_some(self.words.len())
    }
}

impl SnippetTermWord {
    fn is_similar(&self, found: &str) -> bool {
        if self.folded == found {
            return true;
        }
        // Fast rejection: most words differ in their first letter.
        if self.folded.chars().next() != found.chars().next() {
            return false;
        }
        let (short, long) = if self.folded.len() < found.len() {
            (self.folded.as_str(), found)
        } else {
            (found, self.folded.as_str())
        };
        let begins = short.chars().nth(MIN_STEM_CHARS - 1).is_some() && long.starts_with(short);
        let is_form = |form: &String| form == found || stem(form) == stem(found);
        begins || self.stem == stem(found) || self.forms.iter().any(is_form)
    }
}

/// A word of the text.
struct SnippetTextWord<'t> {
    folded: Cow<'t, str>,
    span: Range<usize>,
    /// Character range of the word.
    chars: Range<usize>,
}

/// A match of a term.
struct TermHit {
    term: usize,
    span: Range<usize>,
    chars: Range<usize>,
}

fn hits(text: &str, terms: &[SnippetTerm]) -> Vec<TermHit> {
    let (mut at, mut chars) = (0, 0);
    let mut count = |to: usize| {
        chars += text.get(at..to).unwrap_or_default().chars().count();
        at = to;
        chars
    };
    let found: Vec<_> = tokenize(text)
        .map(|word| {
            let chars = count(word.span.start)..count(word.span.end);
            SnippetTextWord { folded: fold(word.text), span: word.span, chars }
        })
        .collect();
    // Equal words have the same initial, so most words are compared with no term.
    let mut by_initial: HashMap<char, Vec<usize>> = HashMap::new();
    for (term, sought) in terms.iter().enumerate() {
        let initial = sought.words.first().and_then(|word| word.folded.chars().next());
        by_initial.entry(initial.unwrap_or_default()).or_default().push(term);
    }
    let mut hits = Vec::new();
    for (i, first) in found.iter().enumerate() {
        let rest = found.get(i..).unwrap_or_default();
        let initial = first.folded.chars().next().unwrap_or_default();
        for &term in by_initial.get(&initial).map_or(&[][..], Vec::as_slice) {
            let length = terms.get(term).and_then(|sought| sought.matched_words(rest));
            let Some(last) = length.and_then(|length| rest.get(length.checked_sub(1)?)) else {
                continue;
            };
            hits.push(TermHit {
                term,
                span: first.span.start..last.span.end,
                chars: first.chars.start..last.chars.end,
            });
        }
    }
    hits
}

/// Returns the byte range of the best window: most distinct terms, then most matches, then the
/// earliest.
fn best_window(hits: &[TermHit], terms: usize, room: usize) -> Range<usize> {
    let mut held = vec![0usize; terms];
    let mut distinct = 0;
    let mut best = (0, 0, 0..0);
    let mut start = 0;
    for (end, last) in hits.iter().enumerate() {
        if let Some(count) = held.get_mut(last.term) {
            distinct += usize::from(*count == 0);
            *count += 1;
        }
        while let Some(first) = hits.get(start).filter(|_| start < end)
            && last.chars.end.saturating_sub(first.chars.start) > room
        {
            if let Some(count) = held.get_mut(first.term) {
                *count -= 1;
                distinct -= usize::from(*count == 0);
            }
            start += 1;
        }
        let count = end + 1 - start;
        if (distinct, count) > (best.0, best.1)
            && let Some(first) = hits.get(start)
        {
            best = (distinct, count, first.span.start..last.span.end);
        }
    }
    best.2
}

/// Extends the window by surrounding text within the room, cut between words.
fn extend_window(text: &str, core: Range<usize>, room: usize) -> Range<usize> {
    let before = text.get(..core.start).unwrap_or_default();
    let after = text.get(core.end..).unwrap_or_default();
    let core_text = text.get(core.clone()).unwrap_or_default();
    let Some(spare) = room.checked_sub(core_text.chars().count()) else {
        // A phrase longer than the room is cut.
        let end = core_text.char_indices().nth(room).map_or(core_text.len(), |(i, _)| i);
        return core.start..core.start + end;
    };
    // Text after a match explains more than text before it; room unused on one side goes to the
    // other.
    let after_room = spare - before.chars().rev().take(spare / 3).count();
    let after_taken = after.chars().take(after_room).count();
    let before_taken = spare - after_taken;
    let lead = before.char_indices().rev().take(before_taken).last().map_or(core.start, |(i, _)| i);
    let trail = after.char_indices().nth(after_taken).map_or(after.len(), |(i, _)| i);
    // Partial words at the edges are dropped if there is a blank to cut at.
    let start = match before.split_at(lead) {
        (left_out, _) if left_out.is_empty() || left_out.ends_with(char::is_whitespace) => lead,
        (_, kept) => lead + kept.find(char::is_whitespace).unwrap_or(0),
    };
    let end = match after.split_at(trail) {
        (_, left_out) if left_out.is_empty() || left_out.starts_with(char::is_whitespace) => trail,
        (kept, _) => kept.rfind(char::is_whitespace).unwrap_or(trail),
    };
    start..core.end + end
}

/// Renders the window: trimmed, with ellipses, and with shifted highlights.
fn render_window(text: &str, window: Range<usize>, hits: &[TermHit], max_chars: usize) -> Snippet {
    let piece = text.get(window.clone()).unwrap_or_default();
    let start = window.end - piece.trim_start().len();
    let end = window.start + piece.trim_end().len();
    let piece = text.get(start..end).unwrap_or_default();
    let goes_before = text.get(..start).is_some_and(|before| !before.trim().is_empty());
    let goes_on = text.get(end..).is_some_and(|after| !after.trim().is_empty());
    let lead = if goes_before { ELLIPSIS } else { "" };
    let trail = if goes_on { ELLIPSIS } else { "" };
    let shown: String = [lead, piece, trail].concat();
    let mut highlights: Vec<Range<usize>> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.span.start >= start && hit.span.end <= end) {
        let range = hit.span.start - start + lead.len()..hit.span.end - start + lead.len();
        match highlights.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => highlights.push(range),
        }
    }
    let line_offset = text.get(..start).unwrap_or_default().matches('\n').count();
    if shown.chars().nth(max_chars).is_some() {
        // Less room than the ellipses need.
        let text = shown.chars().take(max_chars).collect();
        return Snippet { text, highlights: Vec::new(), line_offset };
    }
    Snippet { text: shown, highlights, line_offset }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares a snippet with highlights written between `<` and `>`.
    fn check(text: &str, query: &str, max_chars: usize, expected: &str) {
        let snippet = extract_snippet(text, &Query::parse(query), max_chars);
        let mut marked = snippet.text;
        for range in snippet.highlights.iter().rev() {
            marked.insert(range.end, '>');
            marked.insert(range.start, '<');
        }
        assert_eq!(marked, expected, "{query:?} in {text:?}");
    }

    #[test]
    fn snippets_show_the_match() {
        check("", "x", 10, "");
        check("all of it", "none", 10, "all of it");
        check("the Café is open", "cafe", 50, "the <Café> is open");
        check("it was cafe\u{301}s", "café", 50, "it was <cafe\u{301}s>");
        check("planned plans", "planning", 50, "<planned> <plans>");
        check("studies of a study", "study", 50, "<studies> of a <study>");
        check("authentication", "auth", 50, "<authentication>");
        check("an art", "are*", 50, "an art");
        check("an area", "ar*", 50, "an <area>");
        check("foo bar, foo-bar", "foo-bar", 50, "<foo bar>, <foo-bar>");
        check("東京都の京都", "京都", 50, "東<京都>の<京都>");
        check("a cat -dog", "cat -dog", 50, "a <cat> -dog");
        check("one two three four five six", "four", 14, "…<four> five…");
        check("one two three four five six", "four", 20, "…<four> five six");
        check("one two three four five six", "six", 14, "…five <six>");
        check("nothing to see in this text", "absent", 12, "nothing to…");
    }

    #[test]
    fn the_window_with_most_distinct_terms_wins() {
        let far = " filler".repeat(50);
        let text = format!("cat cat cat{far} cat and dog{far}");
        let found = extract_snippet(&text, &Query::parse("cat dog"), 40);
        assert!(found.text.contains("cat and dog"), "{found:?}");
        let text = format!("one{far}\nsecond line\nthird target line{far}");
        let found = extract_snippet(&text, &Query::parse("target"), 30);
        assert_eq!((found.line_offset, found.text.lines().count()), (2, 1));
    }

    #[test]
    fn large_texts_take_linear_time() {
        let many: String = (0..60).map(|i| format!("w{i} ")).collect();
        let query = Query::parse(&format!("{many} \"a a a a a a a b\""));
        for text in ["a ".repeat(500_000), "x".repeat(1 << 20), "漢".repeat(300_000)] {
            assert!(extract_snippet(&text, &query, 200).text.chars().count() <= 200);
        }
    }

    proptest! {
        #[test]
        fn any_text_yields_a_valid_snippet(
            text in "\\PC{0,80}|([a-c]{1,3}|[ \n]|語|é|e\u{301}){0,60}",
            query in "\\PC{0,10}|[a-c語é* \"]{0,10}",
            max_chars in 0usize..40,
        ) {
            let found = extract_snippet(&text, &Query::parse(&query), max_chars);
            prop_assert!(found.text.chars().count() <= max_chars);
            let piece = found.text.trim_matches('…');
            prop_assert!(text.contains(piece));
            let mut end = 0;
            for range in &found.highlights {
                prop_assert!(range.start >= end && found.text.get(range.clone()).is_some());
                end = range.end;
            }
        }
    }
}
