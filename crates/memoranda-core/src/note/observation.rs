//! Grammar of observations: `[category] text #tag (context)`.
//!
//! The rules are those of Basic Memory, so that its vaults parse the same. In addition, a line with
//! an observation comment is always an observation.

use std::borrow::Cow;

use super::ObservationMeta;
use super::comment::{self, ObservationComment};
use super::{escape, relation};

/// An observation to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct NewObservation {
    /// Word in brackets. If `None` and the text has no tag, the category `note` is written.
    pub category: Option<String>,
    /// Text with its tags; line breaks become blanks.
    pub text: String,
    /// Text in parentheses at the end.
    pub context: Option<String>,
    /// Metadata for the comment at the end of the line; `None` writes no comment.
    pub meta: Option<ObservationMeta>,
}

/// An observation parsed from one block.
pub(crate) struct ParsedObservation {
    pub(crate) category: Option<String>,
    pub(crate) text: String,
    pub(crate) tags: Vec<String>,
    pub(crate) context: Option<String>,
    pub(crate) struck: bool,
    /// Number of bytes parsed: the whole block, or the first line of text.
    pub(crate) length: usize,
}

/// Parses a block. The comment is returned even if the block is not an observation.
pub(crate) fn read(block: &str) -> (Option<ParsedObservation>, Option<ObservationComment>) {
    let head = category_of(block);
    let (category, start) = match head {
        Some((category, start)) => (Some(category), start),
        None => (None, 0),
    };
    let rest = block.get(start..).unwrap_or_default();
    // With a category the observation is one line, otherwise the whole paragraph.
    let line = if category.is_some() { first_line(rest) } else { rest };
    let length = start + line.len();
    let (text, comment) = comment::split(line.trim_end());
    let known = comment.as_ref().is_some_and(|comment| comment.fact.is_some());
    let text = without_directive(text).trim();
    if !known && !is_observation(without_directive(block.trim_end()), category) {
        return (None, comment);
    }
    let text = match category {
        Some(_) => text,
        None => without_empty_brackets(text),
    };
    let whole = escape::unstruck(text);
    let mut struck = whole.is_some();
    let said = whole.as_deref().map_or(text, without_directive);
    let (mut text, mut context) = split_context(said);
    if text.is_empty() && known {
        // A line with an observation comment always has text: then the parentheses are the text.
        (text, context) = (said, None);
    }
    let inner = if struck { None } else { escape::unstruck(text) };
    struck |= inner.is_some();
    let text = inner.as_deref().unwrap_or(text);
    let text: Vec<&str> =
        text.split(['\n', '\r']).map(str::trim).filter(|l| !l.is_empty()).collect();
    let text = text.join("\n");
    if text.is_empty() {
        return (None, comment);
    }
    let reading = ParsedObservation {
        category: category.map(str::to_owned),
        tags: tags_of(&text),
        text,
        context: context.map(str::to_owned),
        struck,
        length,
    };
    (Some(reading), comment)
}

/// Returns true if a block without an observation comment is an observation.
fn is_observation(block: &str, category: Option<&str>) -> bool {
    let task = ["[ ]", "[x]", "[-]"].iter().any(|mark| block.starts_with(mark));
    let one_line = !block.contains(['\n', '\r']);
    let link = block.starts_with('[') && block.ends_with(')') && block.contains("](");
    let wikilink = block.starts_with("[[") && block.ends_with("]]");
    if task || (one_line && (link || wikilink)) {
        return false;
    }
    category.is_some() || has_tag(block)
}

/// Returns true if a text has a tag.
pub(super) fn has_tag(text: &str) -> bool {
    tagged(&without_links(text)).next().is_some()
}

/// Replaces links by blanks: `#` within a link is part of a note's name.
fn without_links(text: &str) -> Cow<'_, str> {
    if !text.contains('#') || !text.contains("[[") {
        return text.into();
    }
    let mut plain = text.to_owned();
    for link in relation::wikilinks(text) {
        plain.replace_range(link.clone(), &" ".repeat(link.len()));
    }
    plain.into()
}

/// Returns the category at the start of a block, and the offset of the text after it.
pub(super) fn category_of(block: &str) -> Option<(&str, usize)> {
    let inner = block.strip_prefix('[')?;
    let end = inner.find(['[', ']', '(', ')'])?;
    let after = inner.get(end..)?.strip_prefix(']')?;
    let category = inner.get(..end)?.trim();
    let text = after.trim_start();
    let spaced = text.len() < after.len() && !text.is_empty();
    (spaced && is_category(category)).then_some((category, block.len() - text.len()))
}

/// Returns true if a word in brackets is a category: not a task box or a time code.
pub(crate) fn is_category(word: &str) -> bool {
    let mut chars = word.chars();
    let single = match (chars.next(), chars.next()) {
        (None, _) => return false,
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => None,
    };
    let task = single.is_some_and(|c| matches!(c, 'x' | 'X') || !c.is_alphanumeric());
    let fits = !word.contains(['[', ']', '(', ')', '\n', '\r']) && word.trim() == word;
    fits && !task && !is_time_code(word)
}

/// Matches `11:22`, `1:02:03.500`, or two of them separated by ` - `.
fn is_time_code(word: &str) -> bool {
    let digits = |part: &str, least: usize, most: usize| {
        (least..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let clock = |value: &str| {
        let (value, fraction) = match value.split_once(['.', ',']) {
            Some((value, fraction)) => (value, Some(fraction)),
            None => (value, None),
        };
        let parts: Vec<&str> = value.split(':').take(4).collect();
        let shaped = match parts.as_slice() {
            [first, second] => digits(first, 1, 3) && digits(second, 2, 2),
            [first, second, third] => {
                digits(first, 1, 3) && digits(second, 2, 2) && digits(third, 2, 2)
            }
            _ => false,
        };
        shaped && fraction.is_none_or(|fraction| digits(fraction, 1, 3))
    };
    match word.split_once(char::is_whitespace) {
        None => clock(word),
        Some((from, rest)) => {
            let rest = rest.trim_start().strip_prefix('-');
            let to = rest.filter(|rest| rest.starts_with(char::is_whitespace)).map(str::trim);
            clock(from) && to.is_some_and(clock)
        }
    }
}

fn first_line(text: &str) -> &str {
    text.split(['\n', '\r']).next().unwrap_or_default()
}

/// Removes Basic Memory's `#bm:links_to` directive, which marks the links of a line as plain.
pub(crate) fn without_directive(text: &str) -> &str {
    match text.trim_end().strip_suffix("#bm:links_to") {
        Some(rest) if rest.ends_with(char::is_whitespace) => rest.trim_end(),
        _ => text,
    }
}

pub(super) fn without_empty_brackets(text: &str) -> &str {
    match text.strip_prefix("[]") {
        Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => text,
    }
}

pub(super) fn split_context(text: &str) -> (&str, Option<&str>) {
    let inner = text.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    match inner {
        Some((text, context)) => {
            (text.trim_end(), Some(context.trim()).filter(|context| !context.is_empty()))
        }
        None => (text, None),
    }
}

/// Returns the words that begin with `#`; skips texts without `#` quickly.
fn tagged(text: &str) -> impl Iterator<Item = &str> {
    let from = text.find('#').map_or(text.len(), |at| {
        let before = text.get(..at).unwrap_or_default();
        before.rfind(char::is_whitespace).unwrap_or_default()
    });
    let words = text.get(from..).unwrap_or_default().split_whitespace();
    words.filter(|word| word.starts_with('#'))
}

/// Returns the tags of a text: words that begin with `#`; `#a#b` is two tags.
fn tags_of(text: &str) -> Vec<String> {
    tagged(&without_links(text))
        .flat_map(|word| word.split('#'))
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the tags of text outside of observations. Trailing punctuation ends a sentence, brackets
/// belong to links, and numbers are counts; none of them is part of a tag.
pub(super) fn plain_tags_of(text: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | '"' | '\'' | '*');
    let tags = tags_of(without_directive(text)).into_iter();
    let tags = tags.map(move |tag| tag.trim_end_matches(ends).to_owned());
    tags.filter(|tag| {
        let is_number = tag.bytes().all(|byte| byte.is_ascii_digit());
        !is_number && !tag.contains(['[', ']'])
    })
}

/// Renders an observation as one line, without list mark or line ending:
/// `[category] text (context) <!-- obs_… -->`.
pub fn render_observation(observation: &NewObservation) -> String {
    let text = one_line(&observation.text);
    let category = observation.category.as_deref().map(clean_category);
    let has_tag = has_tag(&text);
    let category = match category {
        Some(category) if is_category(&category) => Some(category),
        Some(_) => Some("note".to_owned()),
        None if has_tag || observation.meta.is_some() => None,
        None => Some("note".to_owned()),
    };
    let mut parts = Vec::new();
    parts.extend(category.map(|category| format!("[{category}]")));
    parts.push(text);
    let context = observation.context.as_deref().map(one_line).filter(|text| !text.is_empty());
    // The last opening parenthesis begins the context, so the context must not contain one.
    parts.extend(context.map(|text| format!("({})", text.replace('(', "[").replace(')', "]"))));
    parts.extend(observation.meta.as_ref().map(|fact| comment::write(fact, &[])));
    parts.join(" ")
}

fn clean_category(category: &str) -> String {
    one_line(&category.replace(['[', ']', '(', ')'], " "))
}

/// Returns a text on one line without the start of an HTML comment.
fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(['\n', '\r']).map(str::trim).filter(|w| !w.is_empty()).collect();
    words.join(" ").replace("\\<!--", "<!--").replace("<!--", "\\<!--")
}

#[cfg(test)]
mod tests {
    use super::*;

    type ExpectedParts<'a> = Option<(Option<&'a str>, &'a str, &'a [&'a str], Option<&'a str>)>;

    fn check(block: &str, expected: ExpectedParts<'_>) {
        let (reading, _) = read(block);
        let found = reading.as_ref().map(|r| {
            let tags: Vec<&str> = r.tags.iter().map(String::as_str).collect();
            (r.category.as_deref(), r.text.as_str(), tags, r.context.as_deref())
        });
        let expected = expected.map(|(c, t, tags, x)| (c, t, tags.to_vec(), x));
        assert_eq!(found, expected, "{block:?}");
    }

    #[test]
    fn observation_grammar() {
        check("[tech] Uses Rust", Some((Some("tech"), "Uses Rust", &[], None)));
        check("[two words] x", Some((Some("two words"), "x", &[], None)));
        check("[ spaced ] x", Some((Some("spaced"), "x", &[], None)));
        check("[tech]\tx", Some((Some("tech"), "x", &[], None)));
        check("[tech]x", None);
        check("[tech]", None);
        check("[tech] ", None);
        check("[te(ch] x", None);
        check("[te[ch] x", None);
        check("plain text", None);
        check("blocked by [[Issue #12]]", None);
        check(
            "[todo] see [[Issue #12]] #soon",
            Some((Some("todo"), "see [[Issue #12]] #soon", &["soon"], None)),
        );
        check("about #rust", Some((None, "about #rust", &["rust"], None)));
        check("colour=\"#fff\" a#b", None);
        check("[ ] task #a", None);
        check("[x] done #a", None);
        check("[-] dropped #a", None);
        check("[X] done", None);
        check("[/] half", None);
        check("[>] later", None);
        check("[?] ask #q", Some((None, "[?] ask #q", &["q"], None)));
        check("[a] letter", Some((Some("a"), "letter", &[], None)));
        check("[1] digit", Some((Some("1"), "digit", &[], None)));
        check("[00:11] said", None);
        check("[00:00:11] said", None);
        check("[1:02:03.500] said", None);
        check("[00:11 - 00:20] said", None);
        check("[00:11-00:20] said", Some((Some("00:11-00:20"), "said", &[], None)));
        check("[00:11] said #a", Some((None, "[00:11] said #a", &["a"], None)));
        check("[1:2] odd", Some((Some("1:2"), "odd", &[], None)));
        check("[text](https://x.y/#z)", None);
        check("[a](b) and (c)", None);
        check("[[Link]]", None);
        check("[[Link]] #t", Some((None, "[[Link]] #t", &["t"], None)));
        check("[] rest #t", Some((None, "rest #t", &["t"], None)));
        check("[] rest", None);
        check("[a1] t (ctx)", Some((Some("a1"), "t", &[], Some("ctx"))));
        check("[a1] f(x) (one (two)", Some((Some("a1"), "f(x) (one", &[], Some("two"))));
        check("[a1] t (ctx) .", Some((Some("a1"), "t (ctx) .", &[], None)));
        check("[a1] t ()", Some((Some("a1"), "t", &[], None)));
        check("[a1] (only)", None);
        check("[a1] t #x #y#z", Some((Some("a1"), "t #x #y#z", &["x", "y", "z"], None)));
        check("[a1] t (see #x)", Some((Some("a1"), "t", &[], Some("see #x"))));
        check("[a1] first\n  second #no", Some((Some("a1"), "first", &[], None)));
        check("one #t\n   two", Some((None, "one #t\ntwo", &["t"], None)));
        check("[a1] `code` x", Some((Some("a1"), "`code` x", &[], None)));
        check("[a1] x #bm:links_to", Some((Some("a1"), "x", &[], None)));
    }

    #[test]
    fn comments_and_strikes_are_not_text() {
        check("[a1] x #t (c) <!-- obs_A v1 -->", Some((Some("a1"), "x #t", &["t"], Some("c"))));
        check("plain <!-- obs_A v1 -->", Some((None, "plain", &[], None)));
        check("[ ] box <!-- obs_A -->", Some((None, "[ ] box", &[], None)));
        check("[a1] (only) <!-- obs_A -->", Some((Some("a1"), "(only)", &[], None)));
        check("[a1] () <!-- obs_A -->", Some((Some("a1"), "()", &[], None)));
        check("[a1] ~~(only)~~ <!-- obs_A -->", Some((Some("a1"), "(only)", &[], None)));
        check("[a1] ~~a \\~\\~b\\~\\~ c~~", Some((Some("a1"), "a ~~b~~ c", &[], None)));
        check("[a1] x <!-- todo -->", Some((Some("a1"), "x <!-- todo -->", &[], None)));
        check("[a1] x <!-- obs_A --> y", Some((Some("a1"), "x <!-- obs_A --> y", &[], None)));
        check("[a1] ~~old #t~~ (c)", Some((Some("a1"), "old #t", &["t"], Some("c"))));
        check("[a1] ~~old (c)~~", Some((Some("a1"), "old", &[], Some("c"))));
        check("[a1] ~~a~~ b ~~c~~", Some((Some("a1"), "~~a~~ b ~~c~~", &[], None)));
        assert!(read("[a1] ~~old~~").0.unwrap().struck);
        assert!(!read("[a1] ~~a~~ b").0.unwrap().struck);
    }

    #[test]
    fn written_lines_are_safe() {
        let new = |category: Option<&str>, text: &str, context: Option<&str>| NewObservation {
            category: category.map(str::to_owned),
            text: text.to_owned(),
            context: context.map(str::to_owned),
            meta: None,
        };
        let cases = [
            (new(Some("tech"), "Uses Rust #x", Some("now")), "[tech] Uses Rust #x (now)"),
            (new(None, "no tag", None), "[note] no tag"),
            (new(None, "a #tag", None), "a #tag"),
            (new(Some("x"), "task?", None), "[note] task?"),
            (new(Some("a]b"), "t", None), "[a b] t"),
            (new(Some("a1"), "two\r\n lines\n", None), "[a1] two lines"),
            (new(Some("a1"), "t", Some("f(x)")), "[a1] t (f[x])"),
            (new(Some("a1"), "t <!-- obs_A -->", None), "[a1] t \\<!-- obs_A -->"),
        ];
        for (observation, line) in cases {
            assert_eq!(render_observation(&observation), line);
        }
    }
}
