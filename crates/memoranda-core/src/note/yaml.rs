//! YAML of a frontmatter block, read from parser events. Scalars keep their written text (`yes`,
//! `010`, `2026-01-01`), and every key has the byte range of its entry, so that an edit can replace
//! only these bytes.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};

use super::MetaValue;

/// Maximum nesting depth; deeper blocks are rejected.
const MAX_DEPTH: usize = 48;
/// Maximum number of values after aliases are expanded.
const MAX_NODES: usize = 20_000;
/// Maximum size of a block in bytes.
const MAX_BYTES: usize = 1 << 20;

/// A parsed block.
#[derive(Default)]
pub(crate) struct YamlBlock {
    /// Entries in order, including duplicate keys.
    pub(crate) entries: Vec<YamlEntry>,
    /// True for `{a: b}`, whose entries share a line.
    pub(crate) flow: bool,
}

/// A key of a block.
pub(crate) struct YamlEntry {
    pub(crate) key: String,
    pub(crate) value: MetaValue,
    /// Offset of the key.
    pub(crate) start: usize,
    /// End of the key.
    pub(crate) key_end: usize,
    /// Offset of the value, if any.
    pub(crate) value_start: usize,
    /// End of the value, or of the key without a value.
    pub(crate) end: usize,
    /// True if the value is an inline scalar: not a list, mapping or `|` block.
    pub(crate) inline: bool,
}

/// Reason why a block is rejected as frontmatter.
pub(crate) struct YamlFault {
    /// Line within the block, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// True if the block may be prose between two horizontal rules.
    pub(crate) prose: bool,
}

/// Parses the text between the fences.
pub(crate) fn read(source: &str) -> Result<YamlBlock, YamlFault> {
    if source.len() > MAX_BYTES {
        return Err(fault(1, "the frontmatter is longer than 1 MB"));
    }
    let options = granit_parser::options! {
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = YamlBuilder { source, nodes: 0, anchors: HashMap::new() };
    let mut events = Parser::new_from_str_with_options(source, options);
    let mut block = None;
    loop {
        let (event, span) = match events.next() {
            Some(Ok(next)) => next,
            Some(Err(error)) => {
                return Err(fault(error.marker().line(), &error.info()));
            }
            None => break,
        };
        match event {
            Event::MappingStart(style, ..) if block.is_none() => {
                let entries = builder.entries(&mut events)?;
                block = Some(YamlBlock { entries, flow: style == StructureStyle::Flow });
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) if block.is_none() && text.is_empty() => {
                block = Some(YamlBlock::default());
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                let message = "the text between the `---` lines is not a list of keys and values";
                return Err(YamlFault { prose: true, ..fault(span.start.line(), message) });
            }
            _ => {}
        }
    }
    Ok(block.unwrap_or_default())
}

/// Applies `<<` merge keys: adds entries of other mappings unless the mapping has its own.
pub(crate) fn merged(entries: Vec<(String, MetaValue)>) -> Vec<(String, MetaValue)> {
    if !entries.iter().any(|(key, _)| key == "<<") {
        return entries;
    }
    let mut known: HashSet<String> = entries.iter().map(|(key, _)| key.clone()).collect();
    let mut all = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let others = match value {
            MetaValue::Map(other) if key == "<<" => vec![MetaValue::Map(other)],
            MetaValue::List(others) if key == "<<" => others,
            value => {
                all.push((key, value));
                continue;
            }
        };
        for other in others {
            let MetaValue::Map(other) = other else { continue };
            all.extend(other.into_iter().filter(|(key, _)| known.insert(key.clone())));
        }
    }
    all
}

fn fault(line: usize, message: &str) -> YamlFault {
    YamlFault { line, message: message.to_owned(), prose: false }
}

struct YamlBuilder<'t> {
    source: &'t str,
    nodes: usize,
    /// Anchored values with their numbers of nodes, so that expansion is limited before copying.
    anchors: HashMap<usize, (MetaValue, usize)>,
}

/// A value and its byte range.
struct YamlNode {
    value: MetaValue,
    start: usize,
    end: usize,
    inline: bool,
}

/// Next event within a collection.
enum NextEvent {
    Node(YamlNode),
    /// End of the collection at this offset.
    Close(usize),
}

type YamlEvents<'t> = Parser<'t, granit_parser::StrInput<'t>>;

impl<'t> YamlBuilder<'t> {
    /// Returns the entries of the outermost mapping.
    fn entries(&mut self, events: &mut YamlEvents<'t>) -> Result<Vec<YamlEntry>, YamlFault> {
        let mut entries = Vec::new();
        while let NextEvent::Node(key) = self.next(events, 1)? {
            let name = self.key_text(&key)?;
            let NextEvent::Node(value) = self.next(events, 1)? else { break };
            let written = value.start < value.end;
            entries.push(YamlEntry {
                key: name,
                start: key.start,
                key_end: key.end,
                value_start: if written { value.start } else { key.end },
                end: if written { value.end.max(key.end) } else { key.end },
                inline: value.inline && written,
                value: value.value,
            });
        }
        Ok(entries)
    }

    fn next(&mut self, events: &mut YamlEvents<'t>, depth: usize) -> Result<NextEvent, YamlFault> {
        let (event, span) = match events.next() {
            Some(Ok(next)) => next,
            Some(Err(error)) => return Err(fault(error.marker().line(), &error.info())),
            None => return Ok(NextEvent::Close(self.source.len())),
        };
        let line = span.start.line();
        let range = span.byte_range().unwrap_or_default();
        let before = self.nodes;
        self.count(1, line)?;
        if depth > MAX_DEPTH {
            return Err(fault(line, "the frontmatter is nested too deeply"));
        }
        let mut node = YamlNode {
            value: MetaValue::Text(String::new()),
            start: range.start,
            end: range.end,
            inline: false,
        };
        let anchor = match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let null = plain && matches!(&*text, "~" | "null" | "Null" | "NULL");
                if !null {
                    node.value = MetaValue::Text(text.into_owned());
                }
                node.inline = !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                anchor
            }
            Event::SequenceStart(style, anchor, _) => {
                let mut items = Vec::new();
                let close = loop {
                    match self.next(events, depth + 1)? {
                        NextEvent::Node(item) => {
                            node.end = node.end.max(item.end);
                            items.push(item.value);
                        }
                        NextEvent::Close(end) => break end,
                    }
                };
                node.close(style, close);
                node.value = MetaValue::List(items);
                anchor
            }
            Event::MappingStart(style, anchor, _) => {
                let mut entries = Vec::new();
                let close = loop {
                    let key = match self.next(events, depth + 1)? {
                        NextEvent::Node(key) => key,
                        NextEvent::Close(end) => break end,
                    };
                    let name = self.key_text(&key)?;
                    match self.next(events, depth + 1)? {
                        NextEvent::Node(value) => {
                            node.end = node.end.max(key.end).max(value.end);
                            entries.push((name, value.value));
                        }
                        NextEvent::Close(end) => break end,
                    }
                };
                node.close(style, close);
                node.value = MetaValue::Map(merged(entries));
                anchor
            }
            Event::Alias(id) => {
                let (value, size) = match self.anchors.get(&id) {
                    Some((value, size)) => (value.clone(), *size),
                    None => return Err(fault(line, "an alias refers to itself")),
                };
                self.count(size, line)?;
                node.value = value;
                node.inline = true;
                0
            }
            _ => return Ok(NextEvent::Close(range.end)),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, (node.value.clone(), self.nodes - before));
        }
        Ok(NextEvent::Node(node))
    }

    fn count(&mut self, nodes: usize, line: usize) -> Result<(), YamlFault> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            return Err(fault(line, "the frontmatter holds too many values"));
        }
        Ok(())
    }

    fn key_text(&self, key: &YamlNode) -> Result<String, YamlFault> {
        match &key.value {
            MetaValue::Text(name) | MetaValue::Plain(name) => Ok(name.clone()),
            MetaValue::List(_) | MetaValue::Map(_) => {
                let before = self.source.get(..key.start).unwrap_or_default();
                let line = 1 + before.matches('\n').count();
                Err(fault(line, "a key is itself a list or a mapping"))
            }
        }
    }
}

impl YamlNode {
    /// A flow collection ends with its bracket; a block collection with its last value, because the
    /// parser reports its end only at the next key.
    fn close(&mut self, style: StructureStyle, end: usize) {
        if style == StructureStyle::Flow {
            self.end = self.end.max(end);
        }
    }
}
