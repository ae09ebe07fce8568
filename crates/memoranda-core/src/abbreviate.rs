//! Shortens texts and lists for titles, headings and messages.

use std::borrow::Cow;
use std::fmt::Display;

/// Joins the words of a text by single blanks, so that it is one line.
pub fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the first `max_chars` characters of a text, followed by `…` if the text is longer.
pub fn abbreviate(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()).into(),
        None => text.into(),
    }
}

/// Returns the whole words of a text within its first `max_chars` characters. A longer first word is
/// cut.
pub fn cut_at_word(text: &str, max_chars: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return text };
    let head = text.get(..end).unwrap_or_default();
    head.rsplit_once(' ').map_or(head, |(words, _)| words)
}

/// Joins items by commas. Of a longer list the first `max` are named, and the rest is counted.
pub fn shortened_list<T: Display>(items: &[T], max: usize) -> String {
    let named = items.iter().take(max).map(T::to_string).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(max) {
        0 => named,
        more => format!("{named}, … and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined() {
        assert_eq!(join_words("  a\tb\n\nc "), "a b c");
        assert_eq!(join_words(" \n"), "");
    }

    #[test]
    fn long_texts_are_cut() {
        for (text, max, abbreviated, words) in [
            ("one two", 7, "one two", "one two"),
            ("one two", 6, "one tw…", "one"),
            ("one two", 4, "one…", "one"),
            ("one two", 3, "one…", "one"),
            ("größer", 2, "gr…", "gr"),
            ("", 0, "", ""),
        ] {
            assert_eq!(abbreviate(text, max), abbreviated, "{text:?}");
            assert_eq!(cut_at_word(text, max), words, "{text:?}");
        }
    }

    #[test]
    fn a_long_list_is_cut_with_a_count() {
        for (count, expected) in [(0, ""), (1, "0"), (3, "0, 1, 2"), (40, "0, 1, 2, … and 37 more")]
        {
            assert_eq!(shortened_list(&(0..count).collect::<Vec<_>>(), 3), expected);
        }
    }
}
