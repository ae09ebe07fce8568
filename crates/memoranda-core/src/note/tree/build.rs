//! Builds the tree from the events of the CommonMark parser.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{
    Alignment, BlockQuoteKind, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd,
};

use super::inline::{InlineText, is_vault_path, link_host};
use super::{BlockContent, LinkReference, TreeBlock, TreeInline, TreeItem, parse};
use crate::note::lines::LineIndex;
use crate::note::{Observation, Relation};
use crate::secrets::find_secrets;

/// Maximum depth of nested blocks and inline parts; deeper ones are shown as text of the outer one.
const MAX_DEPTH: usize = 40;

/// Visibility of secrets in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecretDisplay {
    /// Secrets are replaced.
    Masked,
    /// Secrets are shown.
    Shown,
}

/// Returns the body of a note as a tree. Never fails: what is not understood is text.
pub fn markdown_tree(text: &str, secrets: SecretDisplay) -> Vec<TreeBlock> {
    let note = parse(text);
    let lines = LineIndex::new(text);
    let source = text.get(note.body.clone()).unwrap_or_default();
    let masked = match secrets {
        SecretDisplay::Masked => find_secrets(text),
        SecretDisplay::Shown => Vec::new(),
    };
    let secret_texts = masked.iter().filter_map(|secret| text.get(secret.span.clone()));
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_WIKILINKS;
    let mut builder = TreeBuilder {
        base: note.body.start,
        lines,
        facts: note.observations.into_iter().map(|fact| (fact.line, fact)).collect(),
        relations: note
            .relations
            .into_iter()
            .filter(|relation| relation.is_stated)
            .map(|relation| (relation.line, relation))
            .collect(),
        inline: InlineText { secrets: secret_texts.map(str::to_owned).collect() },
        events: Parser::new_ext(source, options).into_offset_iter().peekable(),
        source,
    };
    builder.blocks(&|_| false, 0)
}

type OffsetEvents<'t> =
    std::iter::Peekable<pulldown_cmark::OffsetIter<'t, pulldown_cmark::DefaultBrokenLinkCallback>>;

struct TreeBuilder<'t> {
    source: &'t str,
    base: usize,
    lines: LineIndex<'t>,
    facts: HashMap<usize, Observation>,
    relations: HashMap<usize, Relation>,
    inline: InlineText,
    events: OffsetEvents<'t>,
}

impl TreeBuilder<'_> {
    /// Reads blocks up to and including the end tag. Inline parts between blocks are a paragraph.
    fn blocks(&mut self, is_end: &dyn Fn(&TagEnd) -> bool, depth: usize) -> Vec<TreeBlock> {
        let mut blocks = Vec::new();
        while let Some((event, range)) = self.events.peek().cloned() {
            match event {
                Event::End(tag) => {
                    self.events.next();
                    if is_end(&tag) {
                        break;
                    }
                }
                Event::Start(tag) if is_block(&tag) => {
                    self.events.next();
                    blocks.extend(self.block(tag, range, depth));
                }
                Event::Rule => {
                    self.events.next();
                    blocks.push(self.at(&range, BlockContent::Rule));
                }
                Event::Html(html) => {
                    self.events.next();
                    let html = self.inline.mask(&html);
                    blocks.push(self.at(&range, BlockContent::Html(html)));
                }
                _ => {
                    // Text of a tight list item.
                    let start = range.start;
                    let (inlines, end) = self.inlines(depth);
                    if !inlines.is_empty() {
                        blocks.push(self.at(&(start..end), BlockContent::Paragraph(inlines)));
                    }
                }
            }
        }
        blocks
    }

    fn block(&mut self, tag: Tag<'_>, range: Range<usize>, depth: usize) -> Option<TreeBlock> {
        let end = tag.to_end();
        let is_end = move |found: &TagEnd| *found == end;
        let content = match tag {
            Tag::Paragraph => {
                let inlines = self.inlines_until(&is_end, depth);
                BlockContent::Paragraph(inlines)
            }
            Tag::Heading { level, .. } => {
                let inlines = self.inlines_until(&is_end, depth);
                BlockContent::Heading { level: level as u8, inlines }
            }
            Tag::BlockQuote(kind) => {
                let callout = kind.map(|kind| match kind {
                    BlockQuoteKind::Note => "note",
                    BlockQuoteKind::Tip => "tip",
                    BlockQuoteKind::Important => "important",
                    BlockQuoteKind::Warning => "warning",
                    BlockQuoteKind::Caution => "caution",
                });
                BlockContent::Quote { callout, blocks: self.nested(&is_end, &range, depth) }
            }
            Tag::CodeBlock(kind) => {
                let text = self.text_until(&is_end);
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next(),
                    CodeBlockKind::Indented => None,
                };
                let language = language.unwrap_or_default().to_owned();
                BlockContent::Code { language, text: self.inline.mask(&text) }
            }
            Tag::HtmlBlock => {
                let text = self.text_until(&is_end);
                BlockContent::Html(self.inline.mask(&text))
            }
            Tag::List(start) => BlockContent::List { start, items: self.items(depth) },
            Tag::Table(align) => self.table(&align, depth),
            // A footnote's definition is shown where it stands.
            _ => BlockContent::Quote { callout: None, blocks: self.nested(&is_end, &range, depth) },
        };
        Some(self.at(&range, content))
    }

    /// Reads nested blocks, or their source as text if they are too deep.
    fn nested(
        &mut self,
        is_end: &dyn Fn(&TagEnd) -> bool,
        range: &Range<usize>,
        depth: usize,
    ) -> Vec<TreeBlock> {
        if depth < MAX_DEPTH {
            return self.blocks(is_end, depth + 1);
        }
        self.skip();
        let text = self.source.get(range.clone()).unwrap_or_default();
        vec![self.at(range, BlockContent::Html(self.inline.mask(text)))]
    }

    /// Skips all events up to the end of the open tag.
    fn skip(&mut self) {
        let mut open = 1usize;
        for (event, _) in self.events.by_ref() {
            match event {
                Event::Start(_) => open += 1,
                Event::End(_) => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
    }

    fn items(&mut self, depth: usize) -> Vec<TreeItem> {
        let mut items = Vec::new();
        while let Some((event, range)) = self.events.next() {
            match event {
                Event::Start(Tag::Item) => {
                    let is_end = |end: &TagEnd| *end == TagEnd::Item;
                    let blocks = self.nested(&is_end, &range, depth);
                    let (line, end_line) = self.line_range(&range);
                    let blocks = self.typed_item(line, blocks);
                    items.push(TreeItem { line, end_line, blocks });
                }
                Event::End(TagEnd::List(_)) => break,
                _ => {}
            }
        }
        items
    }

    /// Replaces the text of an item by the fact, relation or task that it is.
    fn typed_item(&mut self, line: usize, mut blocks: Vec<TreeBlock>) -> Vec<TreeBlock> {
        let Some(first) = blocks.first_mut() else { return blocks };
        let BlockContent::Paragraph(inlines) = &mut first.content else { return blocks };
        if let Some(fact) = self.facts.remove(&line) {
            let mut inlines = without_metadata(std::mem::take(inlines));
            if let Some(category) = &fact.category {
                strip_prefix(&mut inlines, &format!("[{category}]"));
            }
            first.content = BlockContent::Fact { fact: Box::new(fact), inlines };
        } else if let Some(relation) = self.relations.remove(&line) {
            let name = relation.name().to_owned();
            let target = LinkReference { name, heading: None };
            let (relation_type, context) = (relation.relation_type, relation.context);
            first.content = BlockContent::Relation { relation_type, target, context };
        } else if let Some(mark) = task_mark(inlines) {
            let mut inlines = std::mem::take(inlines);
            strip_prefix(&mut inlines, &format!("[{mark}]"));
            first.content = BlockContent::Task { mark, inlines };
        }
        blocks
    }

    fn table(&mut self, align: &[Alignment], depth: usize) -> BlockContent {
        let align = align.iter().map(|align| match align {
            Alignment::None => "none",
            Alignment::Left => "left",
            Alignment::Center => "center",
            Alignment::Right => "right",
        });
        let align = align.collect();
        let (mut head, mut rows, mut row) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((event, _)) = self.events.next() {
            match event {
                Event::Start(Tag::TableCell) => {
                    row.push(self.inlines_until(&|end| *end == TagEnd::TableCell, depth));
                }
                Event::End(TagEnd::TableHead) => head = std::mem::take(&mut row),
                Event::End(TagEnd::TableRow) => rows.push(std::mem::take(&mut row)),
                Event::End(TagEnd::Table) => break,
                _ => {}
            }
        }
        BlockContent::Table { align, head, rows }
    }

    /// Reads inline parts up to the next block or end of a block, which stays unread.
    fn inlines(&mut self, depth: usize) -> (Vec<TreeInline>, usize) {
        let mut parts = Vec::new();
        let mut end = 0;
        while let Some((event, range)) = self.events.peek().cloned() {
            let is_over = match &event {
                Event::End(_) | Event::Rule | Event::Html(_) => true,
                Event::Start(tag) => is_block(tag),
                _ => false,
            };
            if is_over {
                break;
            }
            self.events.next();
            end = end.max(range.end);
            self.inline_part(event, &range, depth, &mut parts);
        }
        (self.finish(parts), end)
    }

    /// Reads inline parts up to and including the end tag.
    fn inlines_until(&mut self, is_end: &dyn Fn(&TagEnd) -> bool, depth: usize) -> Vec<TreeInline> {
        let mut parts = Vec::new();
        while let Some((event, range)) = self.events.next() {
            match event {
                Event::End(end) if is_end(&end) => break,
                event => self.inline_part(event, &range, depth, &mut parts),
            }
        }
        self.finish(parts)
    }

    fn inline_part(
        &mut self,
        event: Event<'_>,
        range: &Range<usize>,
        depth: usize,
        parts: &mut Vec<TreeInline>,
    ) {
        match event {
            Event::Text(text) => parts.push(TreeInline::Text(text.into_string())),
            Event::Code(code) => parts.push(TreeInline::Code(self.inline.mask(&code))),
            Event::SoftBreak => parts.push(TreeInline::SoftBreak),
            Event::HardBreak => parts.push(TreeInline::HardBreak),
            Event::InlineHtml(html) | Event::Html(html) => {
                parts.push(TreeInline::Html(self.inline.mask(&html)));
            }
            Event::FootnoteReference(label) => {
                parts.push(TreeInline::Footnote(label.into_string()));
            }
            Event::Start(tag) => {
                if depth >= MAX_DEPTH {
                    self.skip();
                    let text = self.source.get(range.clone()).unwrap_or_default();
                    parts.push(TreeInline::Text(text.to_owned()));
                } else {
                    let part = self.inline_tag(tag, range, depth + 1);
                    parts.extend(part);
                }
            }
            _ => {}
        }
    }

    fn inline_tag(
        &mut self,
        tag: Tag<'_>,
        range: &Range<usize>,
        depth: usize,
    ) -> Option<TreeInline> {
        let end = tag.to_end();
        let inlines = self.inlines_until(&move |found| *found == end, depth);
        Some(match tag {
            Tag::Emphasis => TreeInline::Emphasis(inlines),
            Tag::Strong => TreeInline::Strong(inlines),
            Tag::Strikethrough => TreeInline::Strike(inlines),
            Tag::Link { link_type: LinkType::WikiLink { has_pothole }, dest_url, .. } => {
                let target = LinkReference::parse(&dest_url);
                let label = if has_pothole { plain(&inlines) } else { dest_url.into_string() };
                TreeInline::WikiLink { target, label }
            }
            Tag::Link { dest_url, .. } => {
                let href = match link_host(&dest_url) {
                    Some(_) => dest_url.into_string(),
                    // An address of a mail in angle brackets has no scheme.
                    None if is_mail_address(&dest_url) => format!("mailto:{dest_url}"),
                    None if is_vault_path(&dest_url) => {
                        let target = LinkReference::parse(&decoded_path(&dest_url));
                        return Some(TreeInline::WikiLink { target, label: plain(&inlines) });
                    }
                    None => return Some(self.source_text(range)),
                };
                let host = link_host(&href).unwrap_or_default();
                TreeInline::Link { href, host, inlines }
            }
            Tag::Image { dest_url, .. } => {
                let alt = plain(&inlines);
                let host = link_host(&dest_url);
                let is_shown = host.is_some() || is_vault_path(&dest_url);
                if !is_shown {
                    return Some(self.source_text(range));
                }
                TreeInline::Image { href: Some(decoded_path(&dest_url)), host, alt }
            }
            _ => TreeInline::Text(plain(&inlines)),
        })
    }

    /// Returns the source of a range as text.
    fn source_text(&self, range: &Range<usize>) -> TreeInline {
        TreeInline::Text(self.source.get(range.clone()).unwrap_or_default().to_owned())
    }

    /// Joins neighbouring texts, then splits them into their parts.
    fn finish(&self, parts: Vec<TreeInline>) -> Vec<TreeInline> {
        let mut joined: Vec<TreeInline> = Vec::with_capacity(parts.len());
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(TreeInline::Text(last)), TreeInline::Text(text)) => last.push_str(&text),
                (_, part) => joined.push(part),
            }
        }
        let split = |part| match part {
            TreeInline::Text(text) => self.inline.split(&text),
            other => vec![other],
        };
        joined.into_iter().flat_map(split).collect()
    }

    /// Reads the text up to and including the end tag.
    fn text_until(&mut self, is_end: &dyn Fn(&TagEnd) -> bool) -> String {
        let mut text = String::new();
        for (event, _) in self.events.by_ref() {
            match event {
                Event::End(end) if is_end(&end) => break,
                Event::Text(part) | Event::Html(part) => text.push_str(&part),
                _ => {}
            }
        }
        text
    }

    fn at(&self, range: &Range<usize>, content: BlockContent) -> TreeBlock {
        let (line, end_line) = self.line_range(range);
        TreeBlock { line, end_line, content }
    }

    fn line_range(&self, range: &Range<usize>) -> (usize, usize) {
        let text = self.source.get(range.clone()).unwrap_or_default();
        let length = text.trim_end_matches(['\n', '\r', ' ', '\t']).len();
        let start = range.start + (text.len() - text.trim_start().len()).min(length);
        let end = range.start + length.max(1) - 1;
        let number = |at: usize| self.lines.number_at(self.base + at);
        (number(start), number(end.max(start)))
    }
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

/// Returns the text of inline parts.
fn plain(inlines: &[TreeInline]) -> String {
    let text = |part: &TreeInline| match part {
        TreeInline::Text(text) | TreeInline::Code(text) | TreeInline::Html(text) => text.clone(),
        TreeInline::Tag(text) => text.clone(),
        TreeInline::Emphasis(inner) | TreeInline::Strong(inner) | TreeInline::Strike(inner) => {
            plain(inner)
        }
        TreeInline::Link { inlines, .. } => plain(inlines),
        TreeInline::WikiLink { label, .. } => label.clone(),
        TreeInline::Image { alt, .. } => alt.clone(),
        TreeInline::SoftBreak | TreeInline::HardBreak => " ".to_owned(),
        TreeInline::Secret => "••••••••".to_owned(),
        TreeInline::Footnote(label) => format!("[^{label}]"),
        TreeInline::Invisible(_) => String::new(),
    };
    inlines.iter().map(text).collect()
}

/// Removes the comment with the metadata of a fact.
fn without_metadata(inlines: Vec<TreeInline>) -> Vec<TreeInline> {
    let is_metadata = |part: &TreeInline| match part {
        TreeInline::Html(html) => {
            let inner = html.strip_prefix("<!--").unwrap_or_default().trim_start();
            inner.starts_with("obs_") || inner.starts_with("rel ")
        }
        _ => false,
    };
    inlines.into_iter().filter(|part| !is_metadata(part)).collect()
}

/// Returns the character in the brackets of a task.
fn task_mark(inlines: &[TreeInline]) -> Option<char> {
    let TreeInline::Text(text) = inlines.first()? else { return None };
    let mut chars = text.strip_prefix('[')?.chars();
    let mark = chars.next()?;
    (chars.next() == Some(']') && chars.next().is_none_or(char::is_whitespace)).then_some(mark)
}

/// Removes the beginning of the first text, and the blanks behind it.
fn strip_prefix(inlines: &mut Vec<TreeInline>, prefix: &str) {
    if let Some(TreeInline::Text(text)) = inlines.first_mut()
        && let Some(rest) = text.strip_prefix(prefix)
    {
        *text = rest.trim_start().to_owned();
        if text.is_empty() {
            inlines.remove(0);
        }
    }
}

fn is_mail_address(text: &str) -> bool {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "@._+-".contains(c));
    is_plain && text.split('@').filter(|part| !part.is_empty()).count() == 2
}

/// Decodes the percent escapes of a path.
fn decoded_path(path: &str) -> String {
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}
