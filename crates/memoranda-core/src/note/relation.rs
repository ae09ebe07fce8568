//! Grammar of relations: `type [[Target]] (context)` in a list item; every other `[[wikilink]]` is
//! a plain link.

use std::ops::Range;

use super::blocks::BlockContainer;
use super::observation::{is_category, without_directive};
use crate::abbreviate::join_words;

/// Relation type of an untyped link.
pub(crate) const UNTYPED_LINK: &str = "links_to";

/// A link in a block, with its byte range in the block.
pub(crate) struct WikiLink<'t> {
    pub(crate) relation_type: &'t str,
    pub(crate) target: String,
    /// Text without the alias, if it may be the name; see
    /// [`Relation::whole`](super::Relation::whole).
    pub(crate) whole: Option<String>,
    pub(crate) context: Option<String>,
    /// From `[[` to `]]`.
    pub(crate) range: Range<usize>,
    /// True if the item consists of this link and a relation type.
    pub(crate) typed: bool,
}

/// Returns all links of a block; only a list item can state a type.
pub(crate) fn links(block: &str, holder: BlockContainer) -> Vec<WikiLink<'_>> {
    if !block.contains("[[") {
        return Vec::new();
    }
    let plain = without_directive(block);
    if holder == BlockContainer::Item
        && plain.len() == block.len()
        && let Some(link) = explicit(block)
    {
        return vec![link];
    }
    wikilinks(plain)
        .filter_map(|range| {
            let (target, whole) = target_of(inner(plain, &range));
            (!target.is_empty()).then_some(WikiLink {
                relation_type: UNTYPED_LINK,
                target,
                whole,
                context: None,
                range,
                typed: false,
            })
        })
        .collect()
}

/// Parses `type [[Target]]` or `type [[Target]] (context)` and nothing else.
fn explicit(block: &str) -> Option<WikiLink<'_>> {
    let start = block.find("[[")?;
    let end = start + block.get(start..)?.find("]]")? + 2;
    let relation_type = type_of(block.get(..start)?.trim())?;
    let (target, whole) = target_of(inner(block, &(start..end)));
    let after = block.get(end..)?.trim();
    let context = match after {
        "" => None,
        _ => Some(single_parenthesis(after)?.trim()).filter(|context| !context.is_empty()),
    };
    let context = context.map(join_words);
    let range = start..end;
    let typed = true;
    (!target.is_empty()).then_some(WikiLink { relation_type, target, whole, context, range, typed })
}

/// Parses one word or a quoted text. An embed mark (`!`) or a task box is not a type.
fn type_of(label: &str) -> Option<&str> {
    let quoted =
        ['"', '\''].iter().find_map(|quote| label.strip_prefix(*quote)?.strip_suffix(*quote));
    if let Some(quoted) = quoted.map(str::trim).filter(|quoted| !quoted.is_empty()) {
        return Some(quoted);
    }
    let boxed = label.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let task = boxed.is_some_and(|word| !is_category(word));
    let words = label.contains(char::is_whitespace);
    (quoted.is_none() && !label.is_empty() && label != "!" && !task && !words).then_some(label)
}

/// Returns the content if the text is a single balanced pair of parentheses.
fn single_parenthesis(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            let inner = text.strip_prefix('(')?.strip_suffix(')')?;
            return (at + 1 == text.len()).then_some(inner);
        }
    }
    None
}

/// Returns the outermost `[[…]]` of a text in one pass, with brackets matched by depth.
pub(super) fn wikilinks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find("[[")?;
        let mut depth = 0usize;
        at = start;
        while let Some(pair) = bytes.get(at..at + 2) {
            match pair {
                b"[[" => depth += 1,
                b"]]" => depth -= 1,
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
            if depth == 0 {
                return Some(start..at);
            }
        }
        // After an unclosed opening there is no further link.
        at = bytes.len();
        None
    })
}

fn inner<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    text.get(range.start + 2..range.end.saturating_sub(2)).unwrap_or_default()
}

/// Returns the target of a link on one line: without alias (also after the escaped pipe of a
/// table), heading or block reference. The second value is the text without the alias, if it
/// contains a `#`; a `#` after a blank belongs to the target, as in `Issue #12`.
fn target_of(inner: &str) -> (String, Option<String>) {
    let (part, whole) = (link_name(inner), whole_part(inner));
    if part.len() == whole.len() || part.trim().is_empty() {
        return (join_words(part), None);
    }
    let whole_name = join_words(whole);
    let target =
        if part.ends_with(char::is_whitespace) { whole_name.clone() } else { join_words(part) };
    (target, Some(whole_name))
}

/// Returns the part of a link before its alias.
pub(crate) fn whole_part(inner: &str) -> &str {
    let name = inner.split('|').next().unwrap_or_default();
    if name.len() < inner.len() { name.strip_suffix('\\').unwrap_or(name) } else { name }
}

/// Returns the name of a link: the part before alias, heading or block reference.
pub fn link_name(inner: &str) -> &str {
    let name = whole_part(inner);
    // A `#` at the end is part of the name, as in `C#`.
    let mark = name.char_indices().find(|(at, c)| {
        matches!(c, '#' | '^') && !name.get(at + 1..).unwrap_or("").trim().is_empty()
    });
    mark.map_or(name, |(at, _)| name.get(..at).unwrap_or_default())
}

/// Returns the displayed text of a link: its alias or its text.
pub(crate) fn shown(link: &str) -> &str {
    let inner = link.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")).unwrap_or(link);
    inner.rsplit_once('|').map_or(inner, |(_, alias)| alias).trim()
}

/// Renders a relation as one line, without list mark or line ending. Characters that the grammar
/// cannot express (brackets in a name, line breaks, quotes) become blanks.
pub(crate) fn render(relation_type: &str, target: &str, context: Option<&str>) -> String {
    let label = join_words(&relation_type.replace(['"', '\''], " ").replace("[[", " "));
    let label = if label.is_empty() { UNTYPED_LINK.to_owned() } else { label };
    let label = if type_of(&label).is_some() { label } else { format!("\"{label}\"") };
    let target = join_words(&target.replace(['[', ']'], " "));
    match context.map(join_words).filter(|context| !context.is_empty()) {
        None => format!("{label} [[{target}]]"),
        Some(context) => {
            let context = context.replace('(', "[").replace(')', "]");
            format!("{label} [[{target}]] ({context})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(block: &str, holder: BlockContainer, expected: &[(&str, &str, Option<&str>)]) {
        let links = links(block, holder);
        let found: Vec<_> = links
            .iter()
            .map(|l| (l.relation_type, l.target.as_str(), l.context.as_deref()))
            .collect();
        assert_eq!(found, expected, "{block:?}");
    }

    #[test]
    fn relation_grammar() {
        use BlockContainer::{Item, Other};
        check("depends_on [[A]]", Item, &[("depends_on", "A", None)]);
        check("depends_on [[A]]", Other, &[("links_to", "A", None)]);
        check("'part of' [[A]]", Item, &[("part of", "A", None)]);
        check("\"part of\" [[A]]", Item, &[("part of", "A", None)]);
        check("part of [[A]]", Item, &[("links_to", "A", None)]);
        check("uses [[A]] (for x)", Item, &[("uses", "A", Some("for x"))]);
        check("uses [[A]] (f(x) y)", Item, &[("uses", "A", Some("f(x) y"))]);
        check("uses [[A]] ()", Item, &[("uses", "A", None)]);
        check("uses [[A]] (x) tail", Item, &[("links_to", "A", None)]);
        check(
            "uses [[A]] (x) and [[B]] (y)",
            Item,
            &[("links_to", "A", None), ("links_to", "B", None)],
        );
        check("uses [[A]] tail", Item, &[("links_to", "A", None)]);
        check("[[A]]", Item, &[("links_to", "A", None)]);
        check("![[A.png]]", Item, &[("links_to", "A.png", None)]);
        check("\"!\" [[A]]", Item, &[("!", "A", None)]);
        check("\"\" [[A]]", Item, &[("links_to", "A", None)]);
        check("see ![[A]] and [[B]]", Other, &[("links_to", "A", None), ("links_to", "B", None)]);
        check("[tech] [[A]]", Item, &[("[tech]", "A", None)]);
        check("[x] [[A]]", Item, &[("links_to", "A", None)]);
        check("[ ] [[A]]", Item, &[("links_to", "A", None)]);
        check("uses [[work::A]]", Item, &[("uses", "work::A", None)]);
        check("uses [[A|the a]]", Item, &[("uses", "A", None)]);
        check("| [[A\\|the a]] | x |", Other, &[("links_to", "A", None)]);
        check(
            "[[A#Part]] [[B#^b1]] [[C^b2]]",
            Other,
            &[("links_to", "A", None), ("links_to", "B", None), ("links_to", "C", None)],
        );
        check(
            "[[Issue #12]] [[PR #45: fix|x]] [[Plan ^ Idea]]",
            Other,
            &[
                ("links_to", "Issue #12", None),
                ("links_to", "PR #45: fix", None),
                ("links_to", "Plan ^ Idea", None),
            ],
        );
        check("[[C#]] [[#Here]] [[]] [[ ]]", Other, &[("links_to", "C#", None)]);
        check("x [[a [[b]] c]] y", Other, &[("links_to", "a [[b]] c", None)]);
        check("x [[open and [[more", Other, &[]);
        check("x ]] [[A]]", Other, &[("links_to", "A", None)]);
        check("`[[A]]`", Other, &[("links_to", "A", None)]);
        check("uses [[A]] #bm:links_to", Item, &[("links_to", "A", None)]);
        check("uses [[two\n  lines]]", Item, &[("uses", "two lines", None)]);
        check("[[[A]]]", Other, &[("links_to", "[A", None)]);
    }

    #[test]
    fn a_possible_heading_may_belong_to_the_name() {
        for (inner, target, whole) in [
            ("A", "A", None),
            ("C#", "C#", None),
            ("A#Part|x", "A", Some("A#Part")),
            ("A  #12\\|x", "A #12", Some("A #12")),
            ("A ^ b", "A ^ b", Some("A ^ b")),
            ("#Here", "", None),
        ] {
            let expected = (target.to_owned(), whole.map(str::to_owned));
            assert_eq!(target_of(inner), expected, "{inner}");
        }
    }

    #[test]
    fn written_relations_are_read_back() {
        for (kind, target, context, line) in [
            ("uses", "A", None, "uses [[A]]"),
            ("part of", "A b", Some("why"), "\"part of\" [[A b]] (why)"),
            ("", "A]]", Some("f(x)"), "links_to [[A]] (f[x])"),
            ("!", "A", None, "\"!\" [[A]]"),
        ] {
            assert_eq!(render(kind, target, context), line);
        }
    }
}
