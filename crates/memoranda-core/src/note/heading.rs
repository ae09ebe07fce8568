//! Comparison of headings with a requested name.

use pulldown_cmark::{Event, Options, Parser};
use unicode_normalization::UnicodeNormalization as _;

use super::blocks::blocks;
use crate::abbreviate::join_words;

/// Form in which titles are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeadingFit {
    /// As written, in NFC.
    Written,
    /// As rendered: without emphasis, code and link marks.
    Read,
}

/// Returns the comparison key of a title.
pub(crate) fn title_key(title: &str, fit: HeadingFit) -> String {
    let text = match fit {
        HeadingFit::Written => title.to_owned(),
        HeadingFit::Read => shown(title),
    };
    join_words(&text.nfc().collect::<String>())
}

/// Renders a heading: `The **bold** [[WikiLink|part]]` becomes `The bold part`.
fn shown(title: &str) -> String {
    // With a `#` mark, the parser never reads a list or a quote.
    let heading = format!("# {}", join_words(title));
    let options = Options::ENABLE_WIKILINKS | Options::ENABLE_STRIKETHROUGH;
    let mut text = String::with_capacity(heading.len());
    for event in Parser::new_ext(&heading, options) {
        if let Event::Text(part) | Event::Code(part) | Event::InlineHtml(part) = event {
            text.push_str(&part);
        }
    }
    text
}

/// Parses a setext heading at the top of a text: level, title and the text below.
pub(crate) fn underlined(text: &str) -> Option<(u8, &str, &str)> {
    let first = blocks(text, &(0..text.len())).into_iter().next()?;
    let heading = first.heading.filter(|heading| heading.top)?;
    let title = text.get(first.range)?;
    let written = text.get(heading.range.clone())?.trim_end();
    let is_first = text.get(..heading.range.start)?.trim().is_empty();
    let is_underlined = written.ends_with(['=', '-']) && !written.starts_with('#');
    let below = text.get(heading.range.start + written.len()..)?;
    (is_first && is_underlined).then_some((heading.level, title, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_compare_rendered() {
        for (title, read) in [
            ("Plain  words", "Plain words"),
            ("The **bold** [[Link]] part", "The bold Link part"),
            ("The [[Link|other]] and [this](https://x.y)", "The other and this"),
            ("`code` and ~~old~~ _new_", "code and old new"),
            ("1. First", "1. First"),
            ("- dash", "- dash"),
            ("snake_case and 2 * 3", "snake_case and 2 * 3"),
            ("Cafe\u{301}", "Caf\u{e9}"),
            ("", ""),
        ] {
            assert_eq!(title_key(title, HeadingFit::Read), read, "{title:?}");
        }
        assert_eq!(title_key("Cafe\u{301} **x**", HeadingFit::Written), "Caf\u{e9} **x**");
    }

    #[test]
    fn underlined_headings_are_found_at_the_top() {
        for (text, expected) in [
            ("A\n---\nnew", Some((2, "A", "\nnew"))),
            ("A\n===", Some((1, "A", ""))),
            ("\nA b\n--- \nnew", Some((2, "A b", " \nnew"))),
            ("A\nB\n---\nnew", Some((2, "A\nB", "\nnew"))),
            ("## A\nnew", None),
            ("text\n\nA\n---\n", None),
            ("- A\n---\n", None),
            ("> A\n> ---\n", None),
            ("", None),
        ] {
            assert_eq!(underlined(text), expected, "{text:?}");
        }
    }
}
