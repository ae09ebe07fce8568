//! Splits texts into passages, the unit of search and display. Passages are in order, never
//! overlap, and together contain every word.

use std::ops::{Range, RangeInclusive};

use crate::note::{Note, NoteSection};

/// Minimum number of words of a paragraph that is a passage of its own; a chat message can be
/// short.
const MIN_PARAGRAPH_WORDS: usize = 6;
/// Minimum number of words of a passage of list items.
const MIN_LIST_WORDS: usize = 12;
/// Minimum number of words of a passage within a block that is too large.
const MIN_BLOCK_PART_WORDS: usize = 80;
/// Maximum number of words of a passage; the embedding of a longer text is too unspecific.
const MAX_WORDS: usize = 150;
/// Passages with fewer words (a heading, a last line) join a neighbour with room.
const MIN_STANDALONE_WORDS: usize = 4;
/// Number of bytes counted as one word in text without spaces: other scripts, links, encoded data.
const BYTES_PER_WORD: usize = 10;
/// Maximum length of a piece of one line in bytes.
const MAX_PIECE_BYTES: usize = 1500;
/// Maximum number of characters of a heading; headings repeat with each of their passages.
const MAX_TITLE_CHARS: usize = 120;

/// A part of a text that is searched and displayed as one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// Headings above the passage, outermost first, joined by ` › `; empty before the first
    /// heading.
    pub heading: String,
    /// Lines of the passage, from 1.
    pub lines: RangeInclusive<usize>,
    /// Byte range of the passage.
    pub span: Range<usize>,
    /// Position of the passage in its block.
    pub start: PassageStart,
}

/// Position of a passage in its block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PassageStart {
    /// The passage begins a block.
    #[default]
    NewBlock,
    /// The passage continues the paragraph, item or code block of the passage before it.
    ContinuesBlock,
}

impl Passage {
    /// Returns the passage's part of the text it was split from.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.span.clone()).unwrap_or_default()
    }
}

/// Splits a note's body into passages: each section into paragraphs, lists and code of suitable
/// size. The frontmatter is left out.
pub fn split_note_passages(text: &str, note: &Note) -> Vec<Passage> {
    let end = text.floor_char_boundary(note.body.end);
    let mut at = text.floor_char_boundary(note.body.start).min(end);
    let mut cutter = PassageSplitter::new(text, FenceHandling::Whole);
    let mut path = HeadingPath::default();
    let mut above: Option<&NoteSection> = None;
    for section in &note.sections {
        let start = text.floor_char_boundary(section.heading.start.clamp(at, end));
        // A heading directly above a deeper heading joins the passage of the deeper one.
        let is_bare = above.is_some_and(|above| {
            let between = text.get(above.heading.end..start);
            section.level > above.level && between.is_some_and(|text| text.trim().is_empty())
        });
        if !is_bare {
            cutter.split_range(at..start, &path);
            at = start;
        }
        path.enter(section);
        above = Some(section);
    }
    cutter.split_range(at..end, &path);
    cutter.passages
}

/// Splits a text other than Markdown into passages, by paragraphs and lines only.
pub fn split_text_passages(text: &str) -> Vec<Passage> {
    let mut cutter = PassageSplitter::new(text, FenceHandling::Ignored);
    cutter.split_range(0..text.len(), &HeadingPath::default());
    cutter.passages
}

/// Headings above the current position.
#[derive(Default)]
struct HeadingPath {
    open: Vec<(u8, String)>,
}

impl HeadingPath {
    fn enter(&mut self, section: &NoteSection) {
        self.open.retain(|&(level, _)| level < section.level);
        self.open.push((section.level, section.title.chars().take(MAX_TITLE_CHARS).collect()));
    }

    fn joined(&self) -> String {
        let titles: Vec<_> = self.open.iter().map(|(_, title)| title.as_str()).collect();
        titles.join(" › ")
    }
}

/// Treatment of code fences.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FenceHandling {
    Whole,
    Ignored,
}

/// Granularity of the parts that form a passage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Granularity {
    /// A paragraph or a code block.
    Block,
    /// A list item.
    Item,
    /// A fact, which is always a passage of its own.
    Fact,
    Line,
    Piece,
}

impl Granularity {
    /// Returns the number of words at which a passage of such parts is complete.
    fn min_words(self) -> usize {
        match self {
            Self::Fact => 0,
            Self::Block => MIN_PARAGRAPH_WORDS,
            Self::Item => MIN_LIST_WORDS,
            Self::Line | Self::Piece => MIN_BLOCK_PART_WORDS,
        }
    }
}

/// Joins blocks into passages.
struct PassageSplitter<'t> {
    text: &'t str,
    fences: FenceHandling,
    passages: Vec<Passage>,
    /// Parts collected for the next passage.
    group: Range<usize>,
    group_words: usize,
    group_grain: Granularity,
    /// Size of the last passage, if a small passage of the same section may join it.
    last_words: Option<usize>,
    /// Offset up to which lines have been counted.
    counted: usize,
    line: usize,
}

impl<'t> PassageSplitter<'t> {
    fn new(text: &'t str, fences: FenceHandling) -> Self {
        Self {
            text,
            fences,
            passages: Vec::new(),
            group: 0..0,
            group_words: 0,
            group_grain: Granularity::Block,
            last_words: None,
            counted: 0,
            line: 1,
        }
    }

    fn split_range(&mut self, range: Range<usize>, path: &HeadingPath) {
        let Some(text) = self.text.get(range.clone()) else { return };
        if text.trim().is_empty() {
            return;
        }
        let heading = path.joined();
        self.last_words = None;
        for block in blocks(text, self.fences) {
            let grain = match text.get(block.clone()) {
                Some(block) if is_fact(block) => Granularity::Fact,
                Some(block) if is_item(block) => Granularity::Item,
                _ => Granularity::Block,
            };
            self.add(range.start + block.start..range.start + block.end, grain, &heading);
        }
        self.flush(&heading);
    }

    /// Adds a part to the group. Completes the group first if it is full; splits a part that is too
    /// large.
    fn add(&mut self, part: Range<usize>, grain: Granularity, heading: &str) {
        let Some(text) = self.text.get(part.clone()) else { return };
        let size = size(text);
        if size == 0 {
            return;
        }
        let is_small = self.group_words < MIN_STANDALONE_WORDS;
        let is_full = self.group_words + size > MAX_WORDS || grain == Granularity::Fact;
        if is_full && !is_small {
            self.flush(heading);
        }
        if self.group_words + size <= MAX_WORDS {
            self.extend(part, size, grain, heading);
            return;
        }
        match grain {
            Granularity::Block | Granularity::Item | Granularity::Fact => {
                for line in text.split_inclusive('\n') {
                    let start = part.start + offset_in(text, line);
                    self.add(start..start + line.len(), Granularity::Line, heading);
                }
            }
            Granularity::Line => {
                let mut rest = text.trim_start();
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at(piece_end(rest));
                    let start = part.start + offset_in(text, piece);
                    self.add(start..start + piece.len(), Granularity::Piece, heading);
                    rest = after.trim_start();
                }
            }
            Granularity::Piece => self.extend(part, size, grain, heading),
        }
    }

    fn extend(&mut self, part: Range<usize>, size: usize, grain: Granularity, heading: &str) {
        if self.group_words == 0 {
            self.group.start = part.start;
        }
        self.group.end = part.end;
        self.group_words += size;
        self.group_grain = grain;
        if self.group_words >= grain.min_words() {
            self.flush(heading);
        }
    }

    /// Completes the group as a passage.
    fn flush(&mut self, heading: &str) {
        let words = std::mem::take(&mut self.group_words);
        let Some(text) = self.text.get(self.group.clone()).filter(|_| words > 0) else { return };
        let start = self.group.end - text.trim_start().len();
        let end = self.group.start + text.trim_end().len();
        let is_fact = self.group_grain == Granularity::Fact;
        let has_room = self.last_words.is_some_and(|last| last + words <= MAX_WORDS);
        let joins = words < MIN_STANDALONE_WORDS && has_room && !is_fact;
        let first = self.line_of(start);
        let lines = first..=self.line_of(end);
        if joins && let Some(last) = self.passages.last_mut() {
            last.span.end = end;
            last.lines = *last.lines.start()..=*lines.end();
            return;
        }
        let begins = self.start_of(start, heading);
        self.passages.push(Passage {
            heading: heading.to_owned(),
            lines,
            span: start..end,
            start: begins,
        });
        self.last_words = Some(words).filter(|_| !is_fact);
    }

    /// Returns the position of a passage in its block. A new block begins after a blank line, at a
    /// heading or at a list item.
    fn start_of(&self, start: usize, heading: &str) -> PassageStart {
        let Some(before) = self.passages.last() else { return PassageStart::NewBlock };
        let between = self.text.get(before.span.end..start).unwrap_or_default();
        let text = self.text.get(start..).unwrap_or_default();
        let is_line = between.contains('\n');
        let is_new = before.heading != heading
            || between.matches('\n').nth(1).is_some()
            || is_line && (text.starts_with('#') || is_item(text));
        if is_new { PassageStart::NewBlock } else { PassageStart::ContinuesBlock }
    }

    fn line_of(&mut self, offset: usize) -> usize {
        let between = self.text.as_bytes().get(self.counted..offset).unwrap_or_default();
        self.line += between.iter().filter(|&&byte| byte == b'\n').count();
        self.counted = self.counted.max(offset);
        self.line
    }
}

/// Returns the paragraphs, list items and fenced code blocks of a text.
fn blocks(text: &str, fences: FenceHandling) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let content = line.trim();
        if let Some(mark) = fence {
            let closes = content.starts_with(mark)
                && content.bytes().all(|byte| mark.as_bytes().first() == Some(&byte));
            if closes {
                blocks.extend(open.take().map(|open| open..end));
                fence = None;
            }
        } else if content.is_empty() {
            blocks.extend(open.take().map(|open| open..start));
        } else if is_item(line) {
            blocks.extend(open.take().map(|open| open..start));
            open = Some(start);
        } else {
            fence = fence_mark(content).filter(|_| fences == FenceHandling::Whole);
            if fence.is_some() {
                blocks.extend(open.take().map(|open| open..start));
            }
            open.get_or_insert(start);
        }
    }
    blocks.extend(open.map(|open| open..text.len()));
    blocks
}

/// Returns true if a line begins a top-level list item.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(' ');
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = match rest.len() - digits.len() {
        0 => rest.strip_prefix(['-', '*', '+']),
        1..=9 => digits.strip_prefix(['.', ')']),
        _ => None,
    };
    line.len() - rest.len() < 4 && after.is_some_and(|after| after.starts_with([' ', '\t']))
}

/// Returns true if an item is an observation: it has a category or a comment with an id.
fn is_fact(item: &str) -> bool {
    let first = item.lines().next().unwrap_or_default();
    let text = first.trim_start().strip_prefix("- ");
    text.is_some_and(|text| {
        let is_box = ["[ ]", "[x]", "[X]", "[-]"].iter().any(|mark| text.starts_with(mark));
        let has_category = text.starts_with('[') && !text.starts_with("[[") && !is_box;
        has_category || text.contains("<!-- obs_")
    })
}

/// Returns the backticks or tildes that open a code block.
fn fence_mark(line: &str) -> Option<&str> {
    let first = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = line.bytes().take_while(|&byte| byte == first).count();
    line.get(..length).filter(|mark| mark.len() >= 3)
}

/// Returns the number of words that a text counts for; 0 only for a blank text.
fn size(text: &str) -> usize {
    let text = text.trim();
    text.split_whitespace().count().max(text.len() / BYTES_PER_WORD)
}

/// Returns the end of the first piece of an overlong line: after a sentence, else a word, else
/// anywhere.
fn piece_end(line: &str) -> usize {
    let (mut words, mut blank, mut sentence) = (0, None, None);
    let mut previous = ' ';
    for (i, c) in line.char_indices() {
        if i >= MAX_PIECE_BYTES || words >= MIN_BLOCK_PART_WORDS {
            return sentence.or(blank).unwrap_or(i);
        }
        let is_late = i >= MAX_PIECE_BYTES / 2 || words >= MIN_BLOCK_PART_WORDS / 2;
        if c.is_whitespace() && !previous.is_whitespace() {
            words += 1;
            blank = Some(i);
            if is_late && matches!(previous, '.' | '!' | '?' | ';') {
                sentence = blank;
            }
        } else if is_late && matches!(previous, '。' | '！' | '？') {
            sentence = Some(i);
        }
        previous = c;
    }
    line.len()
}

/// Returns the offset of a part in its text.
fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::note::Frontmatter;

    /// Builds a note as the parser would, for texts with `#` headings only.
    fn note(text: &str) -> Note {
        let body = text.strip_prefix("---\n").and_then(|rest| rest.find("\n---\n"));
        let body = body.map_or(0, |end| end + 9);
        let mut sections: Vec<NoteSection> = Vec::new();
        let mut at = body;
        for (i, line) in text[body..].split_inclusive('\n').enumerate() {
            let level = line.bytes().take_while(|&byte| byte == b'#').count();
            if (1..=6).contains(&level) && line[level..].starts_with(' ') {
                sections.push(NoteSection {
                    level: level as u8,
                    title: line[level..].trim().to_owned(),
                    line: i + 1,
                    heading: at..at + line.len(),
                    content: at + line.len()..text.len(),
                });
            }
            at += line.len();
        }
        Note {
            frontmatter: Frontmatter::default(),
            body: body..text.len(),
            sections,
            other_tags: Vec::new(),
            observations: Vec::new(),
            relations: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn check(text: &str, expected: &[(&str, RangeInclusive<usize>, &str)]) {
        let cut = split_note_passages(text, &note(text));
        let found: Vec<_> =
            cut.iter().map(|p| (p.heading.as_str(), p.lines.clone(), p.text(text))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn sections_and_paragraphs_become_passages() {
        check("", &[]);
        check(" \n\n", &[]);
        check("---\ntitle: x\n---\nOne.\n\nTwo.\n", &[("", 4..=6, "One.\n\nTwo.")]);
        check(
            "intro\n# A\n## B\ntext\n### C\n- [x] y\n# D\n# E\nend",
            &[
                ("", 1..=1, "intro"),
                ("A › B", 2..=4, "# A\n## B\ntext"),
                ("A › B › C", 5..=6, "### C\n- [x] y"),
                ("D", 7..=7, "# D"),
                ("E", 8..=9, "# E\nend"),
            ],
        );
    }

    #[test]
    fn long_blocks_split_at_lines_and_sentences() {
        let check = |text: &str, expected: &[usize]| {
            let cut = split_note_passages(text, &note(text));
            let words: Vec<_> =
                cut.iter().map(|p| p.text(text).split_whitespace().count()).collect();
            assert_eq!(words, expected);
        };
        let paragraph = "word ".repeat(60);
        check(&format!("{paragraph}\n\n{paragraph}\n\n{paragraph}\n"), &[60, 60, 60]);
        check("One two.\n\nThree four.\n\nFive six seven eight nine ten eleven.", &[11]);
        check("Ann: are you there now?\n\nBob: yes, I have been here all day.", &[13]);
        check("Ann: are you there, right now?\n\nBob: yes, I have been here all day.", &[6, 8]);
        check(&format!("# Title\n\n{}", "word ".repeat(140)), &[142]);
        check(&format!("{}\n\na few more", "word ".repeat(140)), &[143]);
        let list = "- one of the many things known\n".repeat(6);
        check(&list, &[14, 14, 14]);
        let code = format!("para\n\n```\n{}```\n\npara", "a b c\n\n".repeat(40));
        check(&code, &[124]);
        check(&"line of words\n".repeat(80), &[81, 81, 78]);
        check(&"Eight words make one sentence of this text. ".repeat(30), &[80, 80, 80]);
    }

    #[test]
    fn split_paragraphs_continue_in_the_next_passage() {
        let check = |text: &str, expected: &[PassageStart]| {
            let found: Vec<_> =
                split_note_passages(text, &note(text)).iter().map(|p| p.start).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        use PassageStart::{ContinuesBlock, NewBlock};
        let long = "Eight words make one sentence of this text. ".repeat(30);
        check(&long, &[NewBlock, ContinuesBlock, ContinuesBlock]);
        check(&"line of words\n".repeat(80), &[NewBlock, ContinuesBlock, ContinuesBlock]);
        let item = [NewBlock, ContinuesBlock, ContinuesBlock, ContinuesBlock];
        check(&format!("- {long}\n- {long}"), &[item, item].concat());
        check(
            &format!("{long}\n\nAnother paragraph of some words."),
            &[NewBlock, ContinuesBlock, ContinuesBlock, NewBlock],
        );
        check(&format!("{long}\n# A\nb"), &[NewBlock, ContinuesBlock, ContinuesBlock, NewBlock]);
        check(&"漢字かな".repeat(300), &[NewBlock, ContinuesBlock, ContinuesBlock]);
        check("One of the six words here.\n\nTwo of the six words here.", &[NewBlock, NewBlock]);
    }

    #[test]
    fn each_fact_is_its_own_passage() {
        check(
            "## Facts\n\n- [tip] one\n- [tip] ~~two~~\n- [x] done\n- three <!-- obs_1 -->\n- four\n",
            &[
                ("Facts", 1..=3, "## Facts\n\n- [tip] one"),
                ("Facts", 4..=4, "- [tip] ~~two~~"),
                ("Facts", 5..=6, "- [x] done\n- three <!-- obs_1 -->"),
                ("Facts", 7..=7, "- four"),
            ],
        );
    }

    #[test]
    fn no_text_makes_a_huge_passage() {
        for text in [
            "x".repeat(1 << 20),
            "word ".repeat(200_000),
            "漢字".repeat(150_000),
            "# h\n".repeat(100_000),
            "```\n".repeat(100_000),
            format!("# {}\n{}", "t".repeat(1 << 20), "x\n".repeat(100_000)),
        ] {
            let cut = split_note_passages(&text, &note(&text));
            assert!(!cut.is_empty());
            assert!(cut.iter().all(|p| p.span.len() <= 2500 && p.heading.len() < 1000));
        }
    }

    proptest! {
        #[test]
        fn every_word_is_in_one_passage(
            text in "(\\PC{0,20}|[a-z]{1,9} |# |\n|\n\n|```\n|語|(word ){50}|(line\n){50}){0,30}",
        ) {
            for cut in [split_note_passages(&text, &note(&text)), split_text_passages(&text)] {
                let mut end = if cut == split_text_passages(&text) { 0 } else { note(&text).body.start };
                let mut line = 0;
                for passage in &cut {
                    prop_assert!(text[end..passage.span.start].trim().is_empty());
                    prop_assert!(!passage.text(&text).is_empty());
                    let before = text[..passage.span.start].matches('\n').count();
                    prop_assert_eq!(*passage.lines.start(), before + 1);
                    let inside = passage.text(&text).matches('\n').count();
                    prop_assert_eq!(*passage.lines.end(), before + 1 + inside);
                    prop_assert!(line <= *passage.lines.start());
                    line = *passage.lines.end();
                    end = passage.span.end;
                }
                prop_assert!(text[end..].trim().is_empty());
                for passage in &cut {
                    prop_assert!(passage.text(&text).split_whitespace().count() <= MAX_WORDS);
                }
            }
        }
    }
}
