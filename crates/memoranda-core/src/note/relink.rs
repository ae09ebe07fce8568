//! Pointing links elsewhere: the name between the brackets changes, and nothing else.

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

#[cfg(test)]
mod tests {
    use super::*;

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
