//! Inserts a blank line between inserted and existing text when Markdown would otherwise merge
//! them.
//!
//! A list item absorbs the paragraph below it, `---` turns the paragraph above into a heading, and
//! a table takes any line as a row. Both texts are therefore parsed separately and joined: the
//! joined text must have the same blocks.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::blocks::blocks;
use super::super::frontmatter::{self, FrontmatterBlock, FrontmatterFences};
use super::super::lines::{LineIndex, without_ending};
use super::super::parse::{observations, sites};
use super::splice::EditBuffer;

/// Relation of inserted text to the text above.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attachment {
    /// A new line, which may continue a paragraph, as in a list or log.
    Line,
    /// A new block.
    Block,
}

/// Inserts whole lines at an offset between two blocks.
pub(super) fn insert(draft: &EditBuffer<'_>, at: usize, added: &str, above: Attachment) -> String {
    let mut lines = draft.as_lines(at, added);
    if !added.trim().is_empty() {
        let around = part_around(draft, at);
        let before = draft.slice(around.start..at);
        lines.insert_str(0, gap(draft, before, &lines, above));
        let after = draft.slice(at..around.end);
        lines.push_str(gap(draft, &format!("{before}{lines}"), after, Attachment::Block));
    }
    let end = at + lines.len();
    let edited = draft.splice(vec![(at..at, lines)]);
    // A horizontal rule inserted at the top must not turn the text below into frontmatter.
    let is_drawn_in = |fences: &FrontmatterFences| fences.span.end > end;
    match (frontmatter::find(draft.text, &draft.lines), top_of(&edited)) {
        (FrontmatterBlock::Absent, FrontmatterBlock::Fenced(fences)) if is_drawn_in(&fences) => {
            let (before, after) = edited.split_at(at);
            format!("{before}{}{after}", draft.ending)
        }
        _ => edited,
    }
}

fn top_of(text: &str) -> FrontmatterBlock {
    frontmatter::find(text, &LineIndex::new(text))
}

/// Returns the part of a text that decides how an offset is parsed: from a preceding ATX heading to
/// a following one after a blank line. Limits the cost of an insertion into a long note.
pub(super) fn part_around(draft: &EditBuffer<'_>, at: usize) -> Range<usize> {
    let (mut start, mut end) = (draft.note.body.start.min(at), draft.text.len());
    for section in &draft.note.sections {
        let heading = section.heading.start;
        let above = draft.slice(0..heading);
        let is_apart = || ["\n\n", "\n\r\n"].iter().any(|blank| above.ends_with(blank));
        if !draft.slice(heading..draft.text.len()).starts_with('#') {
            continue;
        }
        if heading < at {
            start = heading.max(start);
        } else if heading > at && is_apart() {
            // Only a heading after a blank line ends the part: HTML continues over other headings.
            end = heading;
            break;
        }
    }
    start..end
}

/// Returns the separator between two texts that meet at a line boundary.
pub(super) fn gap<'d>(
    draft: &'d EditBuffer<'_>,
    upper: &str,
    lower: &str,
    above: Attachment,
) -> &'d str {
    if upper.trim().is_empty() || lower.trim().is_empty() || is_apart(upper, lower) {
        return "";
    }
    let wanted = ParsedMeaning::of(upper).followed_by(ParsedMeaning::of(lower));
    let tight = ParsedMeaning::of(&format!("{upper}{lower}"));
    if !wanted.has_text_before_table && tight.parses_like(&wanted, above) {
        return "";
    }
    // If a blank line does not help, as after an unclosed code block, the texts stay adjacent.
    let loose = ParsedMeaning::of(&format!("{upper}{}{lower}", draft.ending));
    let is_better = wanted.has_text_before_table || !loose.parses_like(&tight, above);
    if is_better { draft.ending } else { "" }
}

/// Returns true if a blank line already separates the two texts.
fn is_apart(upper: &str, lower: &str) -> bool {
    let (ends, begins) = (upper.ends_with(['\n', '\r']), lower.starts_with(['\n', '\r']));
    let last = LineIndex::new(without_ending(upper));
    let last = last.iter().last().is_some_and(|(_, line)| line.trim().is_empty());
    let first =
        |text: &str| LineIndex::new(text).iter().next().is_some_and(|(_, l)| l.trim().is_empty());
    match (ends, begins) {
        (true, _) => last || first(lower),
        // The first line ending belongs to the last line above.
        (false, _) => {
            let rest = lower.strip_prefix("\r\n").or_else(|| lower.strip_prefix(['\n', '\r']));
            rest.is_some_and(first)
        }
    }
}

/// Parse result of a text: the block of each line, and the facts, relations and headings.
struct ParsedMeaning {
    lines: Vec<BlockShape>,
    facts: Vec<String>,
    begins_with_table: bool,
    has_text_before_table: bool,
}

/// Block of a line.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct BlockShape {
    kind: BlockKind,
    within: EnclosingBlocks,
    /// True if the line begins a paragraph.
    begins: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum BlockKind {
    /// Not rendered, such as a link definition.
    #[default]
    Hidden,
    /// The mark of an empty list item or quote.
    Mark,
    Text,
    /// A row of a table, or a line that would be one.
    Row,
    Table,
    Heading(u8),
    Code,
    Html,
    Rule,
}

/// Nesting depth of a line.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct EnclosingBlocks {
    quotes: usize,
    items: usize,
    footnotes: usize,
}

impl ParsedMeaning {
    /// Parses a text without frontmatter.
    fn of(text: &str) -> Self {
        let lines = LineIndex::new(text);
        let mut scan = ShapeScanner::new(text, &lines);
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            scan.event(&event, range);
        }
        let begins_with_table = scan
            .tables
            .first()
            .is_some_and(|table| text.get(..*table).is_some_and(|before| before.trim().is_empty()));
        let said = lines.iter().zip(scan.shapes).filter(|((_, line), _)| !line.trim().is_empty());
        let shapes = said.map(|((_, line), shape)| match shape.kind {
            // Rows are added to a table line by line.
            BlockKind::Text | BlockKind::Table if line.trim_start().starts_with('|') => {
                BlockShape { kind: BlockKind::Row, begins: false, ..shape }
            }
            _ => shape,
        });
        Self {
            lines: shapes.collect(),
            facts: facts(text, &lines),
            begins_with_table,
            has_text_before_table: false,
        }
    }

    fn followed_by(mut self, other: Self) -> Self {
        let is_text = |shape: &BlockShape| matches!(shape.kind, BlockKind::Text | BlockKind::Row);
        // Some Markdown parsers do not recognize a table there.
        let has_text_before_table =
            other.begins_with_table && self.lines.last().is_some_and(is_text);
        self.lines.extend(other.lines);
        self.facts.extend(other.facts);
        self.facts.sort_unstable();
        Self { has_text_before_table, ..self }
    }

    /// Returns true if two texts with the same lines parse the same.
    fn parses_like(&self, other: &Self, above: Attachment) -> bool {
        let same = |(one, other): (&BlockShape, &BlockShape)| {
            let begins = above == Attachment::Line || one.begins == other.begins;
            one.kind == other.kind && one.within == other.within && begins
        };
        self.facts == other.facts
            && self.lines.len() == other.lines.len()
            && self.lines.iter().zip(&other.lines).all(same)
    }
}

/// Returns the headings, observations and relations of a text in a comparable form.
fn facts(text: &str, lines: &LineIndex<'_>) -> Vec<String> {
    let blocks = blocks(text, &(0..text.len()));
    let (observations, _) = observations(text, lines, &blocks, &mut Vec::new());
    let observations = observations.into_iter().map(|fact| {
        format!("{:?}", (fact.category, fact.text, fact.tags, fact.context, fact.struck))
    });
    let relations = sites(text, lines, &blocks).into_iter().map(|site| {
        let relation = site.relation;
        format!("{:?}", (relation.relation_type, relation.target, relation.context))
    });
    let headings = blocks.iter().filter_map(|block| {
        let heading = block.heading.as_ref()?;
        Some(format!("{:?}", (heading.level, heading.top, text.get(block.range.clone()))))
    });
    // Sorted, so that the facts of two joined texts compare equal.
    let mut facts: Vec<String> = observations.chain(relations).chain(headings).collect();
    facts.sort_unstable();
    facts
}

/// Determines the block of each line.
struct ShapeScanner<'l, 't> {
    text: &'t str,
    lines: &'l LineIndex<'t>,
    shapes: Vec<BlockShape>,
    within: EnclosingBlocks,
    /// Offsets of tables.
    tables: Vec<usize>,
    /// True if the next text continues a paragraph.
    goes_on: bool,
    /// True within a block whose lines were already set.
    is_inner: bool,
}

impl<'l, 't> ShapeScanner<'l, 't> {
    fn new(text: &'t str, lines: &'l LineIndex<'t>) -> Self {
        Self {
            text,
            lines,
            shapes: vec![BlockShape::default(); lines.iter().count()],
            within: EnclosingBlocks::default(),
            tables: Vec::new(),
            goes_on: false,
            is_inner: false,
        }
    }

    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Rule => self.block(BlockKind::Rule, range),
            _ if self.is_inner => {}
            _ => self.inline(range),
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::BlockQuote(_) => self.within.quotes += 1,
            Tag::Item => self.within.items += 1,
            Tag::FootnoteDefinition(_) => self.within.footnotes += 1,
            Tag::Heading { level, .. } => {
                return self.set_whole_block(BlockKind::Heading(*level as u8), range);
            }
            Tag::CodeBlock(_) => return self.set_whole_block(BlockKind::Code, range),
            Tag::HtmlBlock => return self.set_whole_block(BlockKind::Html, range),
            Tag::Table(_) => {
                self.tables.push(range.start);
                return self.set_whole_block(BlockKind::Table, range);
            }
            Tag::Paragraph | Tag::List(_) => {
                self.goes_on = false;
                return;
            }
            _ if self.is_inner => return,
            _ => return self.inline(range),
        }
        self.goes_on = false;
        let line = self.lines.number_at(range.start);
        self.set(line, BlockShape { kind: BlockKind::Mark, within: self.within, begins: false });
    }

    fn end(&mut self, tag: &TagEnd) {
        let depth = match tag {
            TagEnd::BlockQuote(_) => &mut self.within.quotes,
            TagEnd::Item => &mut self.within.items,
            TagEnd::FootnoteDefinition => &mut self.within.footnotes,
            TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Table => {
                self.is_inner = false;
                self.goes_on = false;
                return;
            }
            TagEnd::Paragraph | TagEnd::List(_) => {
                self.goes_on = false;
                return;
            }
            _ => return,
        };
        *depth = depth.saturating_sub(1);
        self.goes_on = false;
    }

    /// Sets all lines of a block, whatever it contains.
    fn set_whole_block(&mut self, kind: BlockKind, range: Range<usize>) {
        self.block(kind, range);
        self.is_inner = true;
    }

    fn block(&mut self, kind: BlockKind, range: Range<usize>) {
        self.goes_on = false;
        for line in self.line_range(range) {
            self.set(line, BlockShape { kind, within: self.within, begins: false });
        }
    }

    fn inline(&mut self, range: Range<usize>) {
        for line in self.line_range(range) {
            let begins = !self.goes_on;
            self.goes_on = true;
            self.set(line, BlockShape { kind: BlockKind::Text, within: self.within, begins });
        }
    }

    /// Returns the line numbers of a range.
    fn line_range(&self, range: Range<usize>) -> Range<usize> {
        let said = self.text.get(range.clone()).unwrap_or_default().trim_end().len();
        let first = self.lines.number_at(range.start);
        first..self.lines.number_at(range.start + said.saturating_sub(1)) + 1
    }

    /// Sets the block of a line, unless a block other than an empty mark is already set.
    fn set(&mut self, line: usize, shape: BlockShape) {
        if let Some(known) = self.shapes.get_mut(line.saturating_sub(1))
            && matches!(known.kind, BlockKind::Hidden | BlockKind::Mark)
        {
            *known = shape;
        }
    }
}

#[cfg(test)]
#[path = "block_separation_tests.rs"]
mod tests;
