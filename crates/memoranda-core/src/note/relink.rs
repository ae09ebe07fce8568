//! Pointing links elsewhere: the name between the brackets changes, and nothing else.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::blocks::blocks;
use super::lines::Lines;
use super::{frontmatter, parse, relation};
use crate::problem::Problem;

/// The text with every link renamed for which `rename` knows a new name, and how many there were.
/// Aliases, headings and block marks stay; links in code are no links.
pub fn relink(text: &str, mut rename: impl FnMut(&str) -> Option<String>) -> (String, usize) {
    let lines = Lines::new(text);
    let mut problems: Vec<Problem> = Vec::new();
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
        let name = relation::name_part(inner);
        // A link within a link was renamed with the one around it.
        if span.start < at || name.is_empty() {
            continue;
        }
        let Some(new) = rename(&site.relation.target) else { continue };
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

/// The text with every link in the frontmatter renamed for which `rename` knows a new name, and how
/// many there were. Nothing is renamed if the frontmatter could not be read any more.
pub fn relink_properties(
    text: &str,
    mut rename: impl FnMut(&str) -> Option<String>,
) -> (String, usize) {
    let Some(span) = parse::parse(text).frontmatter.span else { return (text.to_owned(), 0) };
    let mut out = text.get(..span.start).unwrap_or_default().to_owned();
    let mut rest = text.get(span.clone()).unwrap_or_default();
    let mut renamed = 0;
    while let Some((before, after)) = rest.split_once("[[") {
        let Some((inner, behind)) = after.split_once("]]") else { break };
        let name = relation::name_part(inner);
        out.push_str(&format!("{before}[["));
        match rename(name.trim()) {
            Some(new) => {
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

/// The text with every path in a Markdown link, `[text](path)`, renamed for which `rename` knows a
/// new one, and how many there were. Paths are given decoded and without a heading behind them.
pub fn relink_paths(text: &str, mut rename: impl FnMut(&str) -> Option<String>) -> (String, usize) {
    let start = parse::parse(text).body.start;
    let body = text.get(start..).unwrap_or_default();
    let mut out = text.get(..start).unwrap_or_default().to_owned();
    let (mut at, mut renamed) = (0, 0);
    for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
        let Event::Start(Tag::Link { link_type, .. } | Tag::Image { link_type, .. }) = event else {
            continue;
        };
        let raw = body.get(range.clone()).unwrap_or_default();
        let Some(opens) = raw.rfind("](").filter(|_| link_type == LinkType::Inline) else {
            continue;
        };
        let inside = raw.get(opens + 2..raw.len().saturating_sub(1)).unwrap_or_default();
        let is_angled = inside.starts_with('<');
        let path = match inside.strip_prefix('<') {
            Some(angled) => angled.split('>').next().unwrap_or_default(),
            None => inside.split_whitespace().next().unwrap_or_default(),
        };
        let path = path.split('#').next().unwrap_or_default();
        let place = range.start + opens + 2 + usize::from(is_angled);
        if path.is_empty() || path.contains(':') || place < at {
            continue;
        }
        let Some(new) = rename(&decoded(path)) else { continue };
        out.push_str(body.get(at..place).unwrap_or_default());
        out.push_str(&if is_angled { new } else { encoded(&new) });
        at = place + path.len();
        renamed += 1;
    }
    out.push_str(body.get(at..).unwrap_or_default());
    (out, renamed)
}

/// A drawing with every file in it renamed for which `rename` knows a new path, and how many there
/// were.
pub fn relink_canvas(
    text: &str,
    mut rename: impl FnMut(&str) -> Option<String>,
) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut renamed) = (text, 0);
    while let Some((before, after)) = rest.split_once("\"file\"") {
        out.push_str(before);
        out.push_str("\"file\"");
        rest = after;
        // A path that every system can use needs no escape.
        let value = after.trim_start().strip_prefix(':').map(str::trim_start);
        let value = value.and_then(|value| value.strip_prefix('"')?.split_once('"'));
        if let Some((path, behind)) = value
            && let Some(new) = rename(path).filter(|new| !new.contains(['"', '\\']))
        {
            let start = after.len() - behind.len() - path.len() - 1;
            out.push_str(after.get(..start).unwrap_or_default());
            out.push_str(&new);
            rest = after.get(start + path.len()..).unwrap_or_default();
            renamed += 1;
        }
    }
    out.push_str(rest);
    (out, renamed)
}

/// A path as a Markdown link writes it.
pub fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '%' | '(' | ')' | '<' | '>' | '#' => out.push_str(&format!("%{:02X}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// A path without what a link writes for other signs.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_elsewhere_in_a_file_are_renamed_too() {
        let new = |name: &str| (name == "a/Old One.md").then(|| "b (x)/New.md".to_owned());
        let check = |found: (String, usize), expected: &str, count: usize| {
            assert_eq!(found, (expected.to_owned(), count));
        };
        let text = "[x](a/Old%20One.md#Part \"t\") ![y](<a/Old One.md>) [z](http://a/Old%20One.md)\n\
                    `[x](a/Old%20One.md)` [[Old]] [q](other.md)\n";
        let expected = "[x](b%20%28x%29/New.md#Part \"t\") ![y](<b (x)/New.md>) \
                        [z](http://a/Old%20One.md)\n`[x](a/Old%20One.md)` [[Old]] [q](other.md)\n";
        check(relink_paths(text, new), expected, 2);
        let canvas = "{\"nodes\":[{\"file\": \"a/Old One.md\",\"x\":1},{\"file\":\"c.md\"}]}";
        let expected = "{\"nodes\":[{\"file\": \"b (x)/New.md\",\"x\":1},{\"file\":\"c.md\"}]}";
        check(relink_canvas(canvas, new), expected, 1);
        check(
            relink_canvas("\"file\" no drawing \"file\":", new),
            "\"file\" no drawing \"file\":",
            0,
        );
        let named = |name: &str| (name == "Old").then(|| "New".to_owned());
        let text = "---\nup: \"[[Old#x|y]]\"\nl:\n  - '[[Old]]'\n  - '[[Other]]'\n---\n[[Old]]\n";
        let expected =
            "---\nup: \"[[New#x|y]]\"\nl:\n  - '[[New]]'\n  - '[[Other]]'\n---\n[[Old]]\n";
        check(relink_properties(text, named), expected, 2);
        let breaking = |_: &str| Some("Bob's".to_owned());
        let text = "---\nup: '[[Old]]'\n---\n";
        check(relink_properties(text, breaking), text, 0);
        check(relink_properties("[[Old]]", named), "[[Old]]", 0);
    }

    #[test]
    fn only_the_name_in_the_brackets_changes() {
        let check = |text: &str, expected: &str, count: usize| {
            let found = relink(text, |name| (name == "Old").then(|| "New Name".to_owned()));
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
        check("[[Older]] `[[x]]`\n", "[[Older]] `[[x]]`\n", 0);
        check("```\n[[Old]]\n```\n", "```\n[[Old]]\n```\n", 0);
        check("---\na: \"[[Old]]\"\n---\n[[Old]]", "---\na: \"[[Old]]\"\n---\n[[New Name]]", 1);
    }
}
