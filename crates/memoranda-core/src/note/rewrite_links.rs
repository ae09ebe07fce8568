//! Rewrites the targets of links and leaves every other byte unchanged.

use std::borrow::Cow;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::blocks::blocks;
use super::lines::LineIndex;
use super::{frontmatter, one_line, parse, relation};
use crate::abbreviate::join_words;
use crate::percent;
use crate::problem::ParseProblem;

/// HTML attributes that contain paths.
const PATH_ATTRIBUTES: [&str; 2] = ["href=", "src="];

/// New target of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkReplacement {
    /// New name.
    pub name: String,
    /// Alternative for links that cannot contain the name, for example because of a `#`.
    pub plain: Option<String>,
}

impl From<String> for LinkReplacement {
    fn from(name: String) -> Self {
        Self { name, plain: None }
    }
}

impl LinkReplacement {
    /// Returns true if a name is valid in every link.
    pub fn is_plain(name: &str) -> bool {
        !name.contains(['#', '^', '|', '[', ']'])
    }

    /// Returns the name to write before a heading, block reference or alias; `None` if no name
    /// would parse back.
    fn before(&self, rest: &str) -> Option<&str> {
        let is_read = |name: &&str| {
            let inner = format!("{name}{rest}");
            let is_closed = !name.contains("[[") && !name.contains("]]");
            let ends = name.starts_with('[') || name.ends_with(']');
            is_closed && !ends && relation::link_name(&inner).trim_end() == *name
        };
        [Some(self.name.as_str()), self.plain.as_deref()].into_iter().flatten().find(is_read)
    }
}

/// Rewrites every link for which `rename` returns a new name, and returns the number of changes.
/// Aliases, headings and block references stay; links in code and escaped links are left out.
///
/// If a heading may be part of the name, `rename` is called with the whole text first, then with
/// the part before the heading. A link whose name stays the same is left unchanged.
pub fn rewrite_links<N: Into<LinkReplacement>>(
    text: &str,
    mut rename: impl FnMut(&str) -> Option<N>,
) -> (String, usize) {
    let lines = LineIndex::new(text);
    let mut problems: Vec<ParseProblem> = Vec::new();
    let top = frontmatter::read(text, &lines, &mut problems);
    let start = top.span.map_or(frontmatter::text_start(text), |span| span.end);
    let blocks = blocks(text, &(start..text.len()));
    let mut out = String::with_capacity(text.len());
    let (mut at, mut renamed) = (0, 0);
    let mut sites = parse::sites(text, &lines, &blocks);
    sites.sort_by_key(|site| site.relation.span.start);
    for site in sites {
        let span = site.relation.span;
        let inner = text.get(span.start + 2..span.end.saturating_sub(2)).unwrap_or_default();
        let before = text.get(..span.start).unwrap_or_default();
        let is_escaped = (before.len() - before.trim_end_matches('\\').len()) % 2 == 1;
        // A link within a link was rewritten with the outer one.
        if span.start < at || is_escaped {
            continue;
        }
        let Some((name, new)) = replacement_of(inner, &mut rename) else { continue };
        let name_start = span.start + 2 + (name.len() - name.trim_start().len());
        let name_end = span.start + 2 + name.trim_end().len();
        out.push_str(text.get(at..name_start).unwrap_or_default());
        out.push_str(&new);
        at = name_end;
        renamed += 1;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (out, renamed)
}

/// Returns the byte range of a link to replace, and its replacement.
fn replacement_of<N: Into<LinkReplacement>>(
    inner: &str,
    mut rename: impl FnMut(&str) -> Option<N>,
) -> Option<(&str, String)> {
    let (name, whole) = (relation::link_name(inner), relation::whole_part(inner));
    if name.trim().is_empty() {
        return None;
    }
    let whole = Some(whole).filter(|whole| whole.len() > name.len());
    for bytes in whole.into_iter().chain([name]) {
        let said = join_words(bytes);
        let said = one_line(&said);
        if let Some(new) = rename(&said) {
            let new: LinkReplacement = new.into();
            let rest = inner.get(bytes.trim_end().len()..).unwrap_or_default();
            let written = new.before(rest).filter(|_| new.name != said);
            return written.map(|written| (bytes, written.to_owned()));
        }
    }
    None
}

/// Rewrites every link in the frontmatter for which `rename` returns a new name, and returns the
/// number of changes. Nothing is changed if the frontmatter would become unreadable.
pub fn rewrite_property_links<N: Into<LinkReplacement>>(
    text: &str,
    mut rename: impl FnMut(&str) -> Option<N>,
) -> (String, usize) {
    let Some(span) = parse::parse(text).frontmatter.span else { return (text.to_owned(), 0) };
    let mut out = text.get(..span.start).unwrap_or_default().to_owned();
    let mut rest = text.get(span.clone()).unwrap_or_default();
    let mut renamed = 0;
    while let Some((before, after)) = rest.split_once("[[") {
        let Some((inner, behind)) = after.split_once("]]") else { break };
        out.push_str(&format!("{before}[["));
        match replacement_of(inner, &mut rename) {
            Some((name, new)) => {
                out.push_str(&new);
                out.push_str(inner.get(name.trim_end().len()..).unwrap_or_default());
                renamed += 1;
            }
            None => out.push_str(inner),
        }
        out.push_str("]]");
        rest = behind;
    }
    out.push_str(rest);
    out.push_str(text.get(span.end..).unwrap_or_default());
    match parse::parse(&out).frontmatter.span {
        Some(_) => (out, renamed),
        None => (text.to_owned(), 0),
    }
}

/// Rewrites every path in a Markdown link (`[text](path)`, `[name]: path`) or HTML attribute (`<a
/// href="path">`) for which `rename` returns a new one, and returns the number of changes. `rename`
/// receives decoded paths without a heading.
pub fn rewrite_paths(
    text: &str,
    mut rename: impl FnMut(&str) -> Option<String>,
) -> (String, usize) {
    let start = parse::parse(text).body.start;
    let body = text.get(start..).unwrap_or_default();
    let mut events = Parser::new_ext(body, Options::empty()).into_offset_iter();
    // Offsets of link destinations.
    let mut places: Vec<(usize, PathForm)> = Vec::new();
    for (event, range) in events.by_ref() {
        let raw = body.get(range.clone()).unwrap_or_default();
        match event {
            Event::Start(Tag::Link { link_type, .. } | Tag::Image { link_type, .. }) => {
                let opens = raw.rfind("](").filter(|_| link_type == LinkType::Inline);
                places.extend(opens.map(|opens| (range.start + opens + 2, PathForm::Markdown)));
            }
            Event::Html(_) | Event::InlineHtml(_) if !raw.starts_with("<!--") => {
                let attributes = attributes(raw).into_iter();
                places.extend(
                    attributes.map(|(at, quote)| (range.start + at, PathForm::Html(quote))),
                );
            }
            _ => {}
        }
    }
    for (_, definition) in events.reference_definitions().iter() {
        let raw = body.get(definition.span.clone()).unwrap_or_default();
        let Some((name, behind)) = raw.split_once("]:") else { continue };
        let blank = behind.len() - behind.trim_start().len();
        places.push((definition.span.start + name.len() + 2 + blank, PathForm::Markdown));
    }
    places.sort_unstable();
    let mut out = text.get(..start).unwrap_or_default().to_owned();
    let (mut at, mut renamed) = (0, 0);
    for (place, written) in places {
        let behind = body.get(place..).unwrap_or_default();
        let (place, written, path) = match (written, behind.strip_prefix('<')) {
            (PathForm::Html(quote), _) => (place, written, text_before(behind, quote)),
            (_, Some(angled)) => (place + 1, PathForm::Angled, text_before(angled, '>')),
            (_, None) => (place, written, bare_destination(behind)),
        };
        let path = text_before(path, '#');
        if path.is_empty() || path.contains(':') || place < at {
            continue;
        }
        let Some(new) = rename(&written.read(path)) else { continue };
        out.push_str(body.get(at..place).unwrap_or_default());
        out.push_str(&written.write(&new));
        at = place + path.len();
        renamed += 1;
    }
    out.push_str(body.get(at..).unwrap_or_default());
    (out, renamed)
}

/// Syntax of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PathForm {
    Markdown,
    /// Between `<` and `>`, unencoded.
    Angled,
    /// In an attribute with these quotes.
    Html(char),
}

impl PathForm {
    fn read(self, path: &str) -> String {
        match self {
            Self::Html(_) => decode_percent(&path.replace("&amp;", "&")),
            Self::Markdown | Self::Angled => decode_percent(path),
        }
    }

    fn write(self, path: &str) -> String {
        match self {
            Self::Angled => encode_angled(path),
            Self::Markdown => encode_markdown(path),
            Self::Html(_) => {
                encode_markdown(path).replace('&', "&amp;").replace('"', "%22").replace('\'', "%27")
            }
        }
    }
}

/// Returns the offsets of path attribute values, with their quotes.
fn attributes(html: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    for name in PATH_ATTRIBUTES {
        for (at, _) in html.match_indices(name) {
            let is_whole =
                html.get(..at).is_some_and(|before| before.ends_with(char::is_whitespace));
            let value = at + name.len();
            let quote = html.get(value..).and_then(|value| value.chars().next());
            let quote = quote.filter(|quote| is_whole && matches!(quote, '"' | '\''));
            found.extend(quote.map(|quote| (value + 1, quote)));
        }
    }
    found
}

/// Returns the text before a character, or all of it.
fn text_before(text: &str, end: char) -> &str {
    text.split(end).next().unwrap_or_default()
}

/// Returns the link destination at the start of a text: up to a blank or an unbalanced closing
/// parenthesis.
fn bare_destination(text: &str) -> &str {
    let mut open = 0;
    let end = text.find(|c: char| {
        open += i32::from(c == '(') - i32::from(c == ')');
        c.is_whitespace() || open < 0
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

/// First private-use character that stands for a byte of invalid UTF-8.
const FIRST_BYTE_CHAR: u32 = 0x10_FF00;

/// Decodes a file's bytes, with a private-use character for each byte of invalid UTF-8;
/// [`encode_text`] reverses it exactly. `None` if the text contains such characters itself.
pub fn decode_text(bytes: &[u8]) -> Option<String> {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().chars().any(|c| u32::from(c) >= FIRST_BYTE_CHAR) {
            return None;
        }
        out.push_str(chunk.valid());
        let sign = |byte: &u8| char::from_u32(FIRST_BYTE_CHAR + u32::from(*byte));
        out.extend(chunk.invalid().iter().filter_map(sign));
    }
    Some(out)
}

/// Encodes a text from [`decode_text`].
pub fn encode_text(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c).checked_sub(FIRST_BYTE_CHAR).map(u8::try_from) {
            Some(Ok(byte)) => out.push(byte),
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// Encodes a path for a Markdown link.
fn encode_markdown(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '%' | '(' | ')' | '<' | '>' | '#' => out.push_str(&format!("%{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    without_wikilinks(out)
}

/// Encodes a path for `<…>`: escapes `%` and the characters with a meaning there.
fn encode_angled(path: &str) -> String {
    let signs = [('%', "%25"), ('#', "%23"), ('<', "%3C"), ('>', "%3E")];
    let written =
        signs.iter().fold(path.to_owned(), |path, (sign, code)| path.replace(*sign, code));
    without_wikilinks(written)
}

fn without_wikilinks(path: String) -> String {
    if path.contains("[[") || path.contains("]]") {
        path.replace('[', "%5B").replace(']', "%5D")
    } else {
        path
    }
}

/// Returns all common encodings of a path in links; the path itself is the first.
pub fn path_spellings(path: &str) -> Vec<String> {
    let with_codes = |kept: &str| {
        let signs = path.bytes().map(|byte| match char::from(byte) {
            c if c.is_ascii_alphanumeric() || kept.contains(c) => c.to_string(),
            _ => format!("%{byte:02X}"),
        });
        signs.collect::<String>()
    };
    // Characters left unencoded by JavaScript's `encodeURI` and `encodeURIComponent`, and by RFC
    // 3986.
    let by_program = ["-_.!~*'();,/?:@&=+$", "-_.!~*'()/", "-_.~/"].map(with_codes);
    let coded = [encode_markdown(path), encode_ascii(path), encode_angled(path)]
        .into_iter()
        .chain(by_program);
    let mut all = vec![path.to_owned(), path.replace(' ', "%20")];
    for text in coded {
        let small = lowercase_codes(&text);
        all.extend([text, small]);
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|text| seen.insert(text.clone()));
    all
}

/// Converts percent codes to lower case.
fn lowercase_codes(text: &str) -> String {
    let mut parts = text.split('%');
    let mut small = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        small.push_str(&format!("%{}{rest}", code.to_ascii_lowercase()));
    }
    small
}

/// Encodes a path for a Markdown link, with non-ASCII characters percent-encoded.
fn encode_ascii(path: &str) -> String {
    let written = encode_markdown(path);
    let signs = written.bytes().map(|byte| {
        if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    });
    signs.collect()
}

/// Decodes percent codes; returns the path unchanged if the result is not UTF-8.
fn decode_percent(path: &str) -> String {
    percent::decode(path).map_or_else(|| path.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_links_and_html_are_rewritten() {
        let new = |name: &str| (name == "a/Old One.md").then(|| "b (x)/New.md".to_owned());
        let check = |found: (String, usize), expected: &str, count: usize| {
            assert_eq!(found, (expected.to_owned(), count));
        };
        let text = "[x](a/Old%20One.md#Part \"t\") ![y](<a/Old One.md>) [z](http://a/Old%20One.md)\n\
                    `[x](a/Old%20One.md)` [[Old]] [q](other.md)\n";
        let expected = "[x](b%20%28x%29/New.md#Part \"t\") ![y](<b (x)/New.md>) \
                        [z](http://a/Old%20One.md)\n`[x](a/Old%20One.md)` [[Old]] [q](other.md)\n";
        check(rewrite_paths(text, new), expected, 2);
        let named = |name: &str| (name == "Old").then(|| "New".to_owned());
        let text = "[a][r] [b](a/Old%20One.md)\n\n[r]: a/Old%20One.md#h 'T'\n[s]:\n  <a/Old One.md> \"t\"\n[t]: x.md\n";
        let expected = "[a][r] [b](b%20%28x%29/New.md)\n\n[r]: b%20%28x%29/New.md#h 'T'\n[s]:\n  <b (x)/New.md> \"t\"\n[t]: x.md\n";
        check(rewrite_paths(text, new), expected, 3);
        let text = "<p><a class=\"q\" href='a/Old%20One.md#h'>x</a> <b data-href=\"a/Old One.md\">\n</p>\n\n\
                    t <img src=\"a/Old One.md\"> `<img src=\"a/Old One.md\">`\n";
        let expected = "<p><a class=\"q\" href='b%20%28x%29/New.md#h'>x</a> <b data-href=\"a/Old One.md\">\n</p>\n\n\
                        t <img src=\"b%20%28x%29/New.md\"> `<img src=\"a/Old One.md\">`\n";
        check(rewrite_paths(text, new), expected, 2);
        let marked = |name: &str| (name == "Q.md").then(|| "a/Q #1 ^[50%].md".to_owned());
        let text = "[a](Q.md#h) [b](<Q.md#h>)\n";
        let expected = "[a](a/Q%20%231%20^[50%25].md#h) [b](<a/Q %231 ^[50%25].md#h>)\n";
        check(rewrite_paths(text, marked), expected, 2);
        let quoted = |name: &str| (name == "Q & A.md").then(|| "a/Bob's \"Q\" & A.md".to_owned());
        let text = "<a href=\"Q &amp; A.md\">\n";
        check(rewrite_paths(text, quoted), "<a href=\"a/Bob%27s%20%22Q%22%20&amp;%20A.md\">\n", 1);
        let text = "---\nup: \"[[Old#x|y]]\"\nl:\n  - '[[Old]]'\n  - '[[Other]]'\n---\n[[Old]]\n";
        let expected =
            "---\nup: \"[[New#x|y]]\"\nl:\n  - '[[New]]'\n  - '[[Other]]'\n---\n[[Old]]\n";
        check(rewrite_property_links(text, named), expected, 2);
        let breaking = |_: &str| Some("Bob's".to_owned());
        let text = "---\nup: '[[Old]]'\n---\n";
        check(rewrite_property_links(text, breaking), text, 0);
        check(rewrite_property_links("[[Old]]", named), "[[Old]]", 0);
    }

    #[test]
    fn invalid_utf8_round_trips() {
        let bytes = b"caf\xe9 [[A]]\0 \xff\xc3".to_vec();
        let text = decode_text(&bytes).unwrap();
        assert!(text.contains("[[A]]"));
        assert_eq!(encode_text(&text), bytes);
        assert_eq!(
            encode_text(&decode_text("caf\u{e9}".as_bytes()).unwrap()),
            "caf\u{e9}".as_bytes()
        );
        assert_eq!(decode_text("\u{10ffe9}".as_bytes()), None);
    }

    #[test]
    fn only_the_link_target_changes() {
        let check = |text: &str, expected: &str, count: usize| {
            let found = rewrite_links(text, |name| (name == "Old").then(|| "New Name".to_owned()));
            assert_eq!(found, (expected.to_owned(), count), "{text:?}");
        };
        check("- uses [[Old]] (why)\n", "- uses [[New Name]] (why)\n", 1);
        check(
            "See [[Old|it]] and [[ Old#Part ]].",
            "See [[New Name|it]] and [[ New Name#Part ]].",
            2,
        );
        check(
            "[[Old]] [[Old]]\r\n> [[Old]]\r\n",
            "[[New Name]] [[New Name]]\r\n> [[New Name]]\r\n",
            3,
        );
        let marked = LinkReplacement { name: "C #1".into(), plain: Some("old/c-1".into()) };
        let trailing = LinkReplacement { name: "C#".into(), plain: Some("c".into()) };
        for (new, text, expected, count) in [
            (&marked, "[[Old]] [[Old#h|x]]", "[[old/c-1]] [[old/c-1#h|x]]", 2),
            (&trailing, "[[Old]] [[Old#h]] [[Old|x]]", "[[C#]] [[c#h]] [[C#|x]]", 3),
            (&LinkReplacement::from("a ]] b".to_owned()), "- x [[Old]]", "- x [[Old]]", 0),
            (&LinkReplacement::from("a [b] c".to_owned()), "- x [[Old#h]]", "- x [[a [b] c#h]]", 1),
        ] {
            let found = rewrite_links(text, |name| (name == "Old").then(|| new.clone()));
            assert_eq!(found, (expected.to_owned(), count), "{text:?}");
        }
        let settled = |name: &str| match name {
            "Old #1" => Some("Old #1".to_owned()),
            "Old #2" => Some("Two".to_owned()),
            "Old" => Some("New".to_owned()),
            _ => None,
        };
        let text = "[[Old #1]] [[Old #2|x]] [[Old #3]] [[Old#1]]";
        let expected = "[[Old #1]] [[Two|x]] [[New #3]] [[New#1]]";
        assert_eq!(rewrite_links(text, settled), (expected.to_owned(), 3));
        let text = format!("---\na: \"{text}\"\n---\n");
        let expected = format!("---\na: \"{expected}\"\n---\n");
        assert_eq!(rewrite_property_links(&text, settled), (expected, 3));
        check("[[Older]] `[[x]]`\n", "[[Older]] `[[x]]`\n", 0);
        check("\\[[Old]] \\\\[[Old]]\n", "\\[[Old]] \\\\[[New Name]]\n", 1);
        check("```\n[[Old]]\n```\n", "```\n[[Old]]\n```\n", 0);
        check("---\na: \"[[Old]]\"\n---\n[[Old]]", "---\na: \"[[Old]]\"\n---\n[[New Name]]", 1);
    }
}
