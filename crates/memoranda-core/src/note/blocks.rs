//! Byte ranges of inline content: paragraphs, headings and the text of list items.
//!
//! A CommonMark parser determines the block structure (code, HTML, lazy continuation, setext
//! headings). Observations and relations are then parsed from the raw text.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A run of inline content, such as a paragraph or the text of a list item.
pub(crate) struct MarkdownBlock {
    /// Raw bytes without markers and indentation before the first line; empty for a heading without
    /// text.
    pub(crate) range: Range<usize>,
    /// True within a blockquote or callout.
    pub(crate) quoted: bool,
    /// Kind of the enclosing block.
    pub(crate) holder: BlockContainer,
    /// Present for headings.
    pub(crate) heading: Option<BlockHeading>,
}

/// Kind of block that contains the inline content.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BlockContainer {
    /// A list item, which can state a typed relation.
    Item,
    /// A paragraph or heading.
    #[default]
    Other,
}

/// Properties of a heading.
pub(crate) struct BlockHeading {
    /// Level, 1 to 6.
    pub(crate) level: u8,
    /// Byte range with marks and the underline of a setext heading.
    pub(crate) range: Range<usize>,
    /// True outside of every list and quote; such a heading begins a section.
    pub(crate) top: bool,
}

/// Returns the inline content of a body, in order.
pub(crate) fn blocks(text: &str, body: &Range<usize>) -> Vec<MarkdownBlock> {
    let source = text.get(body.clone()).unwrap_or_default();
    let mut scan = BlockScanner { source, base: body.start, ..BlockScanner::default() };
    for (event, range) in Parser::new_ext(source, Options::empty()).into_offset_iter() {
        scan.event(&event, range);
    }
    scan.flush();
    scan.found
}

#[derive(Default)]
struct BlockScanner<'t> {
    source: &'t str,
    base: usize,
    found: Vec<MarkdownBlock>,
    run: Option<Range<usize>>,
    heading: Option<BlockHeading>,
    quotes: usize,
    containers: usize,
    holder: BlockContainer,
    opaque: bool,
}

impl BlockScanner<'_> {
    fn event(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => match tag {
                Tag::BlockQuote(_) => {
                    self.flush();
                    self.quotes += 1;
                    self.containers += 1;
                }
                Tag::Item => {
                    self.flush();
                    self.holder = BlockContainer::Item;
                    self.containers += 1;
                }
                Tag::Heading { level, .. } => {
                    self.flush();
                    let range = range.start + self.base..range.end + self.base;
                    let top = self.containers == 0;
                    self.heading = Some(BlockHeading { level: *level as u8, range, top });
                }
                Tag::CodeBlock(_) | Tag::HtmlBlock => {
                    self.flush();
                    self.opaque = true;
                }
                Tag::Paragraph | Tag::List(_) => self.flush(),
                _ => self.extend(range),
            },
            Event::End(tag) => match tag {
                TagEnd::BlockQuote(_) => {
                    self.flush();
                    self.quotes = self.quotes.saturating_sub(1);
                    self.containers = self.containers.saturating_sub(1);
                }
                TagEnd::Item => {
                    self.flush();
                    // As in Basic Memory, text after a nested list is not item text.
                    self.holder = BlockContainer::Other;
                    self.containers = self.containers.saturating_sub(1);
                }
                TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                    self.flush();
                    self.opaque = false;
                }
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::List(_) => self.flush(),
                _ => {}
            },
            Event::Rule | Event::Html(_) => self.flush(),
            _ => self.extend(range),
        }
    }

    fn extend(&mut self, range: Range<usize>) {
        if self.opaque {
            return;
        }
        match &mut self.run {
            Some(run) => run.end = run.end.max(range.end),
            None => {
                // The parser reports an escaped first character without its backslash.
                let before = range.start.checked_sub(1);
                let escaped = before.and_then(|at| self.source.as_bytes().get(at)) == Some(&b'\\');
                self.run = Some(range.start - usize::from(escaped)..range.end);
            }
        }
    }

    fn flush(&mut self) {
        let (run, heading) = (self.run.take(), self.heading.take());
        let range = match (run, &heading) {
            (Some(run), _) => run.start + self.base..run.end + self.base,
            (None, Some(heading)) => heading.range.end..heading.range.end,
            (None, None) => return,
        };
        self.found.push(MarkdownBlock {
            range,
            quoted: self.quotes > 0,
            holder: self.holder,
            heading,
        });
    }
}
