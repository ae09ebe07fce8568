//! Frontmatter: the YAML block between `---` lines at the top of a note, and accessors for its
//! keys.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

use super::heading::{HeadingFit, title_key};
use super::lines::LineIndex;
use super::permalink::split_words;
use super::yaml::{self, YamlFault};
use super::{Frontmatter, MetaValue, Note, NoteSection};
use crate::problem::ParseProblem;
use crate::tokenize::to_nfc;

/// Byte-order mark, which some editors write at the start of a file.
pub(crate) const BOM: &str = "\u{feff}";

/// Byte ranges of a fenced block.
pub(crate) struct FrontmatterFences {
    /// From the opening `---` to the end of the closing line with its ending.
    pub(crate) span: Range<usize>,
    /// Text between the fences.
    pub(crate) inner: Range<usize>,
}

/// Presence of frontmatter at the top of a text.
pub(crate) enum FrontmatterBlock {
    /// No opening fence.
    Absent,
    /// An opening fence without a closing one.
    Unclosed,
    /// Both fences.
    Fenced(FrontmatterFences),
}

/// Returns the offset after a byte-order mark.
pub(crate) fn text_start(text: &str) -> usize {
    if text.starts_with(BOM) { BOM.len() } else { 0 }
}

/// Finds the fences.
pub(crate) fn find(text: &str, lines: &LineIndex<'_>) -> FrontmatterBlock {
    let start = text_start(text);
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut numbered = lines.iter();
    let first = numbered.next().map(|(_, line)| line.strip_prefix(BOM).unwrap_or(line));
    if !first.is_some_and(is_fence) {
        return FrontmatterBlock::Absent;
    }
    match numbered.find(|(_, line)| is_fence(line)) {
        None => FrontmatterBlock::Unclosed,
        Some((number, _)) => {
            let close = lines.with_ending(number);
            let inner = lines.with_ending(1).end..close.start;
            FrontmatterBlock::Fenced(FrontmatterFences { span: start..close.end, inner })
        }
    }
}

/// Reads the frontmatter of a text; malformed frontmatter belongs to the body.
pub(crate) fn read(
    text: &str,
    lines: &LineIndex<'_>,
    problems: &mut Vec<ParseProblem>,
) -> Frontmatter {
    let mut problem = |line, message| problems.push(ParseProblem { line, message });
    let fences = match find(text, lines) {
        FrontmatterBlock::Absent => return Frontmatter::default(),
        FrontmatterBlock::Unclosed => {
            problem(1, "the frontmatter that `---` opens is not closed".to_owned());
            return Frontmatter::default();
        }
        FrontmatterBlock::Fenced(fences) => fences,
    };
    // YAML rejects NUL.
    let inner = text.get(fences.inner.clone()).unwrap_or_default();
    let block = match yaml::read(&inner.replace('\0', "")) {
        Ok(block) => block,
        Err(YamlFault { line, message, .. }) => {
            problem(line + 1, format!("the frontmatter cannot be read: {message}"));
            return Frontmatter::default();
        }
    };
    let mut entries: Vec<(String, MetaValue)> = Vec::with_capacity(block.entries.len());
    let mut places = std::collections::HashMap::new();
    for entry in block.entries {
        match places.get(&entry.key) {
            // The last duplicate key wins, as in other YAML readers.
            Some(place) => {
                let line = lines.number_at(fences.inner.start + entry.start);
                problem(line, format!("the key {:?} is written twice", entry.key));
                if let Some((_, value)) = entries.get_mut(*place) {
                    *value = entry.value;
                }
            }
            None => {
                places.insert(entry.key.clone(), entries.len());
                entries.push((entry.key, entry.value));
            }
        }
    }
    Frontmatter { span: Some(fences.span), entries: yaml::merged(entries) }
}

impl Frontmatter {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&MetaValue> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value of a key as text, lists joined by `, `; `None` if absent or empty.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(MetaValue::to_text).filter(|text| !text.is_empty())
    }

    /// Returns the value of a key as a one-line name; `None` if absent or empty.
    pub(crate) fn name(&self, key: &str) -> Option<String> {
        let name = self.text(key)?;
        Some(one_line(&name).into_owned()).filter(|name| !name.is_empty())
    }

    /// Returns the value of a key as several texts: a list, a quoted JSON array, or comma-separated
    /// words.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let items = match self.get(key) {
            None => Vec::new(),
            Some(MetaValue::List(items)) => items.iter().map(MetaValue::to_text).collect(),
            Some(MetaValue::Map(_)) => Vec::new(),
            Some(MetaValue::Text(text) | MetaValue::Plain(text)) => match json_array(text) {
                Some(items) => items,
                None => text.split(',').map(str::to_owned).collect(),
            },
        };
        let items = items.iter().map(|item| item.trim().to_owned());
        items.filter(|item| !item.is_empty()).collect()
    }
}

/// Parses `["a", "b"]` as YAML, which includes JSON.
fn json_array(text: &str) -> Option<Vec<String>> {
    if !(text.starts_with('[') && text.ends_with(']')) {
        return None;
    }
    let block = yaml::read(&format!("a: {text}")).ok()?;
    match &block.entries.first()?.value {
        MetaValue::List(items) => Some(items.iter().map(MetaValue::to_text).collect()),
        MetaValue::Text(_) | MetaValue::Plain(_) | MetaValue::Map(_) => None,
    }
}

impl MetaValue {
    /// Returns the value as text: lists joined by `, `, mappings as `key: value`.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) | Self::Plain(text) => text.clone(),
            Self::List(items) => items.iter().map(Self::to_text).collect::<Vec<_>>().join(", "),
            Self::Map(entries) => {
                let pairs =
                    entries.iter().map(|(key, value)| format!("{key}: {}", value.to_text()));
                pairs.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Replaces line breaks and other control characters, with the blanks around them, by one blank, so
/// that a name cannot start a new line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let parts = text.split(breaks).map(str::trim).filter(|part| !part.is_empty());
    Cow::Owned(parts.collect::<Vec<_>>().join(" "))
}

/// Normalizes a note type for lookup: words in snake case, NFC.
pub fn type_key(text: &str) -> String {
    split_words(&to_nfc(text)).join("_")
}

/// Normalizes a tag for comparison: without `#`, lower case, NFC.
pub fn tag_key(tag: &str) -> String {
    tag.trim().trim_start_matches('#').trim().nfc().flat_map(char::to_lowercase).collect()
}

impl Note {
    /// Returns the title from the frontmatter on one line, a list joined by `, `; `None` if absent.
    pub fn title(&self) -> Option<String> {
        self.frontmatter.name("title")
    }

    /// Returns the note type in snake case; `note` if absent.
    pub fn note_type(&self) -> String {
        let words = self.frontmatter.text("type").map(|text| type_key(&text));
        words.filter(|words| !words.is_empty()).unwrap_or_else(|| "note".to_owned())
    }

    /// Returns the permalink from the frontmatter as written, on one line.
    pub fn permalink(&self) -> Option<String> {
        self.frontmatter.name("permalink")
    }

    /// Returns other names of the note (Obsidian's `aliases`).
    pub fn aliases(&self) -> Vec<String> {
        let mut aliases = self.frontmatter.texts("aliases");
        aliases.extend(self.frontmatter.texts("alias"));
        aliases
    }

    /// Returns the distinct tags without `#`: of the frontmatter, of current observations, then of
    /// other text.
    pub fn tags(&self) -> Vec<String> {
        let own = self.frontmatter.texts("tags");
        let current = self.observations.iter().filter(|observation| !observation.struck);
        let inline = current.flat_map(|observation| observation.tags.iter().cloned());
        let mut seen = HashSet::new();
        own.iter()
            .map(|tag| one_line(tag.trim_start_matches('#').trim()).into_owned())
            .chain(inline)
            .chain(self.other_tags.iter().cloned())
            .filter(|tag| !tag.is_empty() && seen.insert(tag.clone()))
            .collect()
    }

    /// Returns the sections that match a name, in order. With `#` marks the level must match.
    /// Without marks, a level-2 heading matches, else a deeper one; the level-1 title matches only
    /// with its mark, because its section is the whole text. If no written heading matches,
    /// rendered headings are compared.
    pub fn sections_named(&self, name: &str) -> Vec<&NoteSection> {
        // A title may begin with `#`: `## #1`.
        let names = [split_heading(name), asked_heading(name)];
        for fit in [HeadingFit::Written, HeadingFit::Read] {
            for name in names {
                let found = self.sections_titled(name, fit);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    fn sections_titled(
        &self,
        (level, title): (Option<u8>, &str),
        fit: HeadingFit,
    ) -> Vec<&NoteSection> {
        let title = title_key(title, fit);
        let titled = |section: &&NoteSection| title_key(&section.title, fit) == title;
        let at = |wanted: u8| -> Vec<&NoteSection> {
            self.sections.iter().filter(titled).filter(|s| s.level == wanted).collect()
        };
        match level {
            Some(level) => at(level),
            None => {
                let second = at(2);
                if !second.is_empty() {
                    return second;
                }
                self.sections.iter().filter(titled).filter(|s| s.level > 2).collect()
            }
        }
    }

    /// Returns the first section that matches a name.
    pub fn section(&self, name: &str) -> Option<&NoteSection> {
        self.sections_named(name).into_iter().next()
    }
}

/// Removes closing marks, as in `## Plan ##`.
fn without_closing(title: &str) -> &str {
    let open = title.trim_end_matches('#');
    if open.is_empty() || open.ends_with(char::is_whitespace) { open.trim_end() } else { title }
}

/// Splits the level and title of a requested heading. Accepts `##Plan`, which is not a heading in
/// CommonMark.
pub(crate) fn asked_heading(name: &str) -> (Option<u8>, &str) {
    let (level, title) = split_heading(name);
    let bare = title.trim_start_matches('#');
    match u8::try_from(title.len() - bare.len()) {
        Ok(marks @ 1..=6) if level.is_none() => (Some(marks), without_closing(bare.trim())),
        _ => (level, title),
    }
}

/// Splits the level and title of a written heading.
pub(crate) fn split_heading(name: &str) -> (Option<u8>, &str) {
    let name = name.trim();
    let title = name.trim_start_matches('#');
    let marks = name.len() - title.len();
    let spaced = title.is_empty() || title.starts_with(char::is_whitespace);
    match u8::try_from(marks) {
        Ok(level @ 1..=6) if spaced => (Some(level), without_closing(title.trim())),
        _ => (None, name),
    }
}
