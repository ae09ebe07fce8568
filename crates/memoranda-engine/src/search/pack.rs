//! Packs ranked passages into a token budget: whole passages in rank order, the passages of one
//! note joined in reading order.
//!
//! Packing stops at the first passage that does not fit, which is cut at the end of a sentence if most
//! of it fits. A smaller budget therefore gives a subset of the passages of a larger one, and the notes
//! keep their order.

use jiff::Timestamp;
use memoranda_core::fact::sentences;
use memoranda_core::rank::RankSignal;
use memoranda_core::token_estimate::{estimate_tokens, truncate_to_tokens};

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;
use crate::search::{SearchPage, SearchRequest, SearchResult, SearchUnit};

/// Estimated minimum number of tokens of a passage with its source.
const MIN_PASSAGE_TOKENS: usize = 25;
/// Number of ranked passages that are read at least and at most.
const PASSAGES_READ: (usize, usize) = (40, 200);
/// Text between two passages of one note if lines between them are left out.
const GAP: &str = "\n[…]\n";
/// Text at the end of a passage that is cut.
const CUT: &str = " […]";
/// Part of a passage that must fit for its beginning to be packed, as a fraction.
const LEAST_PART: (usize, usize) = (2, 3);

/// A search whose answer is packed into a token budget.
///
/// ```
/// use memoranda_engine::{PackRequest, SearchRequest};
///
/// let search = SearchRequest { text: "harbour fees".into(), ..SearchRequest::default() };
/// let request = PackRequest { max_tokens: Some(1_000), ..PackRequest::new(search) };
/// assert_eq!(request.max_notes, 10);
/// ```
pub struct PackRequest<'c> {
    /// The search. `min_relevance`, filter and options apply; packing sets limit, offset and length
    /// of quotations. With the unit `Passages`, equal passages of several notes are packed once.
    pub search: SearchRequest,
    /// Token budget of all notes together; no limit if `None`.
    pub max_tokens: Option<usize>,
    /// Maximum number of notes.
    pub max_notes: usize,
    /// Number of notes to skip, for later pages.
    pub skip_notes: usize,
    /// Maximum number of passages of one note.
    pub max_passages_per_note: usize,
    /// Returns the tokens that a note takes in the caller's rendering. The cost must not fall when a
    /// passage is added.
    pub cost: &'c dyn Fn(&PackedNote) -> usize,
}

impl PackRequest<'_> {
    /// Packs at most ten notes without a token budget, measured as [`PackedNote::tokens`].
    pub fn new(search: SearchRequest) -> Self {
        Self {
            search,
            max_tokens: None,
            max_notes: 10,
            skip_notes: 0,
            max_passages_per_note: usize::MAX,
            cost: &PackedNote::tokens,
        }
    }

    /// Returns true if the token budget has no room for further passages.
    fn is_full(&self, results: &[SearchResult]) -> bool {
        let tokens: usize =
            results.iter().map(|result| estimate_tokens(&result.snippet.text)).sum();
        self.skip_notes == 0 && self.max_tokens.is_some_and(|most| tokens > most)
    }

    /// Returns the number of ranked passages that can matter for this request.
    fn passages_read(&self) -> usize {
        let (least, most) = PASSAGES_READ;
        let by_tokens = self.max_tokens.map_or(usize::MAX, |tokens| tokens / MIN_PASSAGE_TOKENS);
        let notes = self.skip_notes.saturating_add(self.max_notes).saturating_add(1);
        let by_notes = notes.saturating_mul(self.max_passages_per_note.min(5)).max(notes);
        // A page behind the first needs as many passages as its notes lie deep.
        by_tokens.min(by_notes).clamp(least, most).max(notes)
    }
}

/// Whole passages of one note, in reading order.
#[derive(Clone, Debug)]
pub struct PackedNote {
    /// File number in the index.
    pub file: i64,
    /// Location of the note.
    pub place: NoteLocation,
    /// Title of the note.
    pub title: String,
    /// Permalink of the note.
    pub permalink: String,
    /// Type of the note.
    pub note_type: String,
    /// Frontmatter, as JSON.
    pub metadata: String,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last change.
    pub updated: Timestamp,
    /// Score of the best passage.
    pub score: f64,
    /// Relevance of the best passage, 0 to 1.
    pub relevance: f64,
    /// Signals of the best passage's score.
    pub why: Vec<RankSignal>,
    /// Headings above the best passage.
    pub heading: String,
    /// Lines of the best passage.
    pub lines: (usize, usize),
    /// Passages in reading order, at least one.
    pub passages: Vec<PackedPassage>,
    /// Other notes that contain the best passage.
    pub also: Vec<NoteLocation>,
}

/// A whole passage of a packed note.
#[derive(Clone, PartialEq, Debug)]
pub struct PackedPassage {
    /// Headings above the passage.
    pub heading: String,
    /// First and last line in the file.
    pub lines: (usize, usize),
    /// Whole text of the passage.
    pub text: String,
    /// Score of the passage.
    pub score: f64,
    /// Relevance of the passage, 0 to 1.
    pub relevance: f64,
}

impl PackedNote {
    fn new(result: SearchResult) -> Self {
        let passage = PackedPassage {
            heading: result.heading.clone(),
            lines: result.lines,
            text: result.snippet.text,
            score: result.score,
            relevance: result.relevance,
        };
        Self {
            file: result.file,
            place: result.place,
            title: result.title,
            permalink: result.permalink,
            note_type: result.note_type,
            metadata: result.metadata,
            created: result.created,
            updated: result.updated,
            score: result.score,
            relevance: result.relevance,
            why: result.why,
            heading: result.heading,
            lines: result.lines,
            passages: vec![passage],
            also: result.also,
        }
    }

    /// Returns the note with the passages that were packed of it before.
    fn joined_to(self, held: Option<&Self>) -> Self {
        let Some(held) = held else { return self };
        let mut joined = held.clone();
        joined.add(self);
        joined
    }

    /// Adds the passages of the same note that another packed note contains.
    fn add(&mut self, other: Self) {
        for passage in other.passages {
            // A quotation across the end of a passage already contains the next one.
            let is_held = |held: &PackedPassage| {
                held.lines.0 <= passage.lines.0
                    && passage.lines.1 <= held.lines.1
                    && held.text.contains(passage.text.trim())
            };
            if !self.passages.iter().any(is_held) {
                let place = self.passages.partition_point(|held| held.lines <= passage.lines);
                self.passages.insert(place, passage);
            }
        }
    }

    /// Returns the passages as one text, in reading order. `[…]` marks omitted lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for passage in &self.passages {
            if let Some(last) = last {
                text.push_str(match passage.lines.0.saturating_sub(last) {
                    0 => " ",
                    1 => "\n",
                    2 => "\n\n",
                    _ => GAP,
                });
            }
            text.push_str(passage.text.trim_end());
            last = Some(passage.lines.1);
        }
        text
    }

    /// Returns the line ranges of the passages, adjacent ones joined.
    pub fn line_ranges(&self) -> Vec<(usize, usize)> {
        self.passages.iter().fold(Vec::new(), |mut ranges: Vec<(usize, usize)>, passage| {
            match ranges.last_mut() {
                Some(open) if passage.lines.0 <= open.1 + 2 => open.1 = open.1.max(passage.lines.1),
                _ => ranges.push(passage.lines),
            }
            ranges
        })
    }

    /// Returns the source in one short line: place, lines and day of the last change.
    pub fn source_line(&self) -> String {
        let day = self.updated.strftime("%Y-%m-%d");
        format!("{}:{} ({day})", self.place, self.lines_text())
    }

    /// Returns the line ranges as text: `12-14, 30`.
    pub fn lines_text(&self) -> String {
        let range = |&(first, last): &(usize, usize)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        self.line_ranges().iter().map(range).collect::<Vec<_>>().join(", ")
    }

    /// Returns the tokens of title, source line and text.
    pub fn tokens(&self) -> usize {
        estimate_tokens(&self.title)
            + estimate_tokens(&self.source_line())
            + estimate_tokens(&self.text())
            + 2
    }

    /// Cuts the text of the only passage until the note fits.
    fn shrink(&mut self, room: usize, cost: &dyn Fn(&Self) -> usize) {
        let Some(passage) = self.passages.first_mut() else { return };
        let whole = std::mem::take(&mut passage.text);
        let mut left = room.saturating_sub(cost(self));
        loop {
            let Some(passage) = self.passages.first_mut() else { return };
            passage.text = truncate_to_tokens(&whole, left).to_owned();
            // Escapes can make a rendering longer than its text.
            if left == 0 || cost(self) <= room {
                return;
            }
            left -= left.div_ceil(8);
        }
    }
}

/// Packed passages, and the rest of the search page that they come from.
#[derive(Clone, Debug)]
pub struct PackedPage {
    /// Notes in the order of their best passages.
    pub notes: Vec<PackedNote>,
    /// Number of passages that the token budget left out, of those that were ranked.
    pub left_out: usize,
    /// Number of notes on this page that the token budget left out.
    pub notes_left_out: usize,
    /// True if there are notes behind this page.
    pub has_more: bool,
    /// The search page: corrections, time, relevance. Its results are moved into `notes`.
    pub page: SearchPage,
}

impl Memory {
    /// Searches passages and packs them into a token budget.
    pub fn search_packed(&self, request: &PackRequest<'_>) -> Result<PackedPage> {
        let needed = request.skip_notes.saturating_add(request.max_notes).saturating_add(1);
        let mut limit = request.passages_read();
        let (page, results, files) = loop {
            let mut page = self.search(&SearchRequest {
                unit: match request.search.unit {
                    SearchUnit::Passages => SearchUnit::Passages,
                    _ => SearchUnit::EveryPassage,
                },
                limit,
                offset: 0,
                snippet_chars: usize::MAX,
                max_tokens: None,
                ..request.search.clone()
            })?;
            let results = std::mem::take(&mut page.results);
            let files = results.iter().fold(Vec::new(), |mut files: Vec<i64>, result| {
                if !files.contains(&result.file) {
                    files.push(result.file);
                }
                files
            });
            // Many passages can belong to few notes.
            if files.len() >= needed || !page.has_more || request.is_full(&results) {
                break (page, results, files);
            }
            limit = limit.saturating_mul(4);
        };
        let behind = request.skip_notes.saturating_add(request.max_notes);
        let has_more = page.has_more || files.len() > behind;
        let shown: Vec<i64> =
            files.into_iter().skip(request.skip_notes).take(request.max_notes).collect();
        let ranked = results.into_iter().filter(|result| shown.contains(&result.file));
        let packed = pack_passages(ranked, request);
        let notes_left_out = shown.len() - packed.notes.len();
        Ok(PackedPage {
            notes: packed.notes,
            left_out: packed.left_out,
            notes_left_out,
            has_more,
            page,
        })
    }
}

struct PackedPassages {
    notes: Vec<PackedNote>,
    left_out: usize,
}

/// Returns the longest beginning of a passage that fits, up to the end of a sentence, joined with the
/// passages of its note; `None` if it lacks too much of the passage.
fn beginning_that_fits(
    passage: &SearchResult,
    open: Option<&PackedNote>,
    fits: &dyn Fn(&PackedNote) -> bool,
) -> Option<PackedNote> {
    let text = passage.snippet.text.trim_end();
    let mut end = 0;
    let mut ends = Vec::new();
    for sentence in sentences(text) {
        end += text.get(end..)?.find(sentence)? + sentence.len();
        ends.push(end);
    }
    let (part, whole) = LEAST_PART;
    let long = |end: &usize| *end < text.len() && end * whole >= text.len() * part;
    ends.into_iter().rev().filter(long).find_map(|end| {
        let mut beginning = passage.clone();
        beginning.snippet.text = format!("{}{CUT}", text.get(..end)?);
        Some(PackedNote::new(beginning).joined_to(open)).filter(fits)
    })
}

/// Packs passages in rank order until one does not fit. The first passage is always packed, cut if
/// necessary.
fn pack_passages(
    ranked: impl Iterator<Item = SearchResult>,
    request: &PackRequest<'_>,
) -> PackedPassages {
    let mut notes: Vec<(PackedNote, usize)> = Vec::new();
    let (mut spent, mut left_out) = (0, 0);
    let mut is_full = false;
    for result in ranked {
        if is_full {
            left_out += 1;
            continue;
        }
        let open = notes.iter().position(|(note, _)| note.file == result.file);
        let (held, before) = match open.and_then(|open| notes.get(open)) {
            Some((note, tokens)) => (Some(note), *tokens),
            None => (None, 0),
        };
        if held.is_some_and(|note| note.passages.len() >= request.max_passages_per_note) {
            continue;
        }
        let mut added = PackedNote::new(result.clone()).joined_to(held);
        let mut tokens = (request.cost)(&added);
        if let Some(most) = request.max_tokens
            && spent - before + tokens > most
        {
            if notes.is_empty() {
                added.shrink(most, request.cost);
            } else {
                is_full = true;
                let fits = |note: &PackedNote| spent - before + (request.cost)(note) <= most;
                let Some(part) = beginning_that_fits(&result, held, &fits) else {
                    left_out += 1;
                    continue;
                };
                added = part;
            }
            tokens = (request.cost)(&added);
        }
        spent = spent - before + tokens;
        match open.and_then(|open| notes.get_mut(open)) {
            Some(note) => *note = (added, tokens),
            None => notes.push((added, tokens)),
        }
    }
    PackedPassages { notes: notes.into_iter().map(|(note, _)| note).collect(), left_out }
}

#[cfg(test)]
mod tests {
    use memoranda_core::id::ProjectName;
    use memoranda_core::path::NotePath;
    use memoranda_core::snippet::Snippet;
    use proptest::prelude::*;

    use super::*;

    /// A ranked passage of note `file` at line `line`.
    fn passage(file: i64, line: usize, text: &str) -> SearchResult {
        SearchResult {
            file,
            place: NoteLocation {
                project: ProjectName::parse("main").unwrap(),
                path: NotePath::parse(&format!("n{file}.md")).unwrap(),
            },
            title: format!("Note {file}"),
            permalink: format!("n{file}"),
            note_type: "note".into(),
            metadata: "{}".into(),
            created: Timestamp::UNIX_EPOCH,
            updated: Timestamp::UNIX_EPOCH,
            score: 1.0,
            relevance: 0.5,
            why: Vec::new(),
            heading: String::new(),
            lines: (line, line + text.matches('\n').count()),
            snippet: Snippet { text: text.into(), highlights: Vec::new(), line_offset: 0 },
            further: Vec::new(),
            also: Vec::new(),
            batch: 0,
            features: Default::default(),
            relevance_values: Default::default(),
        }
    }

    fn pack(ranked: &[SearchResult], max_tokens: Option<usize>) -> PackedPassages {
        let request = PackRequest { max_tokens, ..PackRequest::new(SearchRequest::default()) };
        pack_passages(ranked.iter().cloned(), &request)
    }

    #[test]
    fn passages_of_one_note_are_joined_in_reading_order() {
        let ranked = [
            passage(1, 9, "third\nline"),
            passage(2, 1, "other note"),
            passage(1, 3, "first"),
            passage(1, 4, "second"),
            passage(1, 9, "third\nline"),
        ];
        let packed = pack(&ranked, None);
        let texts: Vec<_> = packed.notes.iter().map(PackedNote::text).collect();
        assert_eq!(texts, ["first\nsecond\n[…]\nthird\nline", "other note"]);
        let first = &packed.notes[0];
        assert_eq!(first.source_line(), "main/n1.md:3-4, 9-10 (1970-01-01)");
        assert_eq!(first.lines, (9, 10), "the best passage stays known");
        assert_eq!(packed.left_out, 0);
    }

    #[test]
    fn parts_of_one_paragraph_are_joined_without_a_gap() {
        let ranked = [passage(1, 3, "begins"), passage(1, 3, "goes on"), passage(1, 5, "next")];
        let packed = pack(&ranked, None);
        assert_eq!(packed.notes[0].text(), "begins goes on\n\nnext");
        assert_eq!(packed.notes[0].line_ranges(), [(3, 5)]);
    }

    #[test]
    fn the_first_passage_is_cut_to_the_budget() {
        let ranked = [passage(1, 1, &"word ".repeat(400)), passage(2, 1, "short")];
        let packed = pack(&ranked, Some(60));
        assert_eq!((packed.notes.len(), packed.left_out), (1, 1));
        assert!(packed.notes[0].tokens() <= 60, "{}", packed.notes[0].tokens());
        assert!(packed.notes[0].text().len() > 100);
    }

    #[test]
    fn the_last_passage_is_cut_at_the_end_of_a_sentence() {
        let sentences = "The ferry is late today because of the fog. Nobody knows why. \
                         The boats wait outside.";
        let ranked = [passage(1, 1, "short"), passage(1, 9, sentences), passage(2, 1, "more")];
        let whole = pack(&ranked[..2], None).notes[0].tokens();
        let packed = pack(&ranked, Some(whole - 3));
        let text = packed.notes[0].text();
        assert_eq!(packed.left_out, 1);
        assert_eq!(
            text,
            "short\n[…]\nThe ferry is late today because of the fog. Nobody knows why. […]"
        );
        // Too little of the passage fits.
        let packed = pack(&ranked, Some(whole - 14));
        assert_eq!((packed.notes[0].text().as_str(), packed.left_out), ("short", 2));
    }

    #[test]
    fn the_number_of_passages_of_a_note_is_limited() {
        let ranked: Vec<_> = (0..9).map(|line| passage(1, line * 5 + 1, "a passage")).collect();
        let search = SearchRequest::default();
        let request = PackRequest { max_passages_per_note: 3, ..PackRequest::new(search) };
        let packed = pack_passages(ranked.into_iter(), &request);
        assert_eq!(packed.notes[0].line_ranges(), [(1, 1), (6, 6), (11, 11)]);
    }

    proptest! {
        #[test]
        fn a_smaller_budget_gives_a_subset_in_the_same_order(
            ranked in prop::collection::vec((1i64..6, 1usize..60, 1usize..60), 1..30),
            budgets in (1usize..900, 1usize..900),
        ) {
            let text = |words: usize| "A passage. ".repeat(words);
            let ranked: Vec<_> =
                ranked.into_iter().map(|(file, line, words)| passage(file, line, &text(words))).collect();
            let [small, large] = [budgets.0.min(budgets.1), budgets.0.max(budgets.1)];
            let [small_pack, large_pack] = [small, large].map(|most| pack(&ranked, Some(most)));
            let files = |packed: &PackedPassages| -> Vec<i64> {
                packed.notes.iter().map(|note| note.file).collect()
            };
            prop_assert!(files(&large_pack).starts_with(&files(&small_pack)));
            for (few, many) in small_pack.notes.iter().zip(&large_pack.notes) {
                let lines = |note: &PackedNote| -> Vec<_> {
                    note.passages.iter().map(|passage| passage.lines).collect()
                };
                let many = lines(many);
                prop_assert!(lines(few).iter().all(|lines| many.contains(lines)));
            }
            for (most, packed) in [(small, &small_pack), (large, &large_pack)] {
                let spent: usize = packed.notes.iter().map(PackedNote::tokens).sum();
                let is_cut = packed.notes.len() == 1 && packed.notes[0].passages.len() == 1;
                prop_assert!(spent <= most || is_cut, "{spent} of {most}");
            }
        }
    }
}
