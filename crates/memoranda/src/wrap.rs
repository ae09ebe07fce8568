//! Line breaks and shortened paths, for terminals of any width.

use std::path::Path;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Additional indentation of the continuation of a list item.
const ITEM_INDENT: usize = 2;
/// Columns of the widest character.
const WIDEST_CHARACTER: usize = 2;

/// Breaks a line with colours into lines of at most this width. Continuation lines are indented.
///
/// Lines are broken between words. A command in backquotes stays on one line if it fits on one, so
/// that it can be copied. A word that is wider than a line is broken after a slash or anywhere.
pub(crate) fn wrap(line: &str, width: Option<usize>, indent: usize) -> Vec<String> {
    let Some(width) = width.filter(|width| *width > indent) else { return vec![line.to_owned()] };
    if display_width(line) <= width {
        return vec![line.to_owned()];
    }
    let room = width - indent;
    let lead = leading_spaces(line).min(room.saturating_sub(WIDEST_CHARACTER));
    let mut lines = WrappedLines { lines: Vec::new(), current: " ".repeat(lead), used: lead };
    let mut is_at_start = true;
    for word in words(line.trim_start_matches(' '), room) {
        let wide = display_width(&word);
        let left = width.saturating_sub(lines.used + 1);
        // A word that must be broken anyway begins here if there is room for a good part of it.
        let is_begun_here = wide > room && left * 2 >= room && left >= WIDEST_CHARACTER;
        if !is_at_start && lines.used + 1 + wide > width && !is_begun_here {
            lines.break_line(indent);
            is_at_start = true;
        }
        // Further spaces between two words are dropped with the line break.
        if is_at_start && word.is_empty() && !lines.lines.is_empty() {
            continue;
        }
        if !is_at_start {
            lines.push(" ", 1);
        }
        is_at_start = false;
        let mut rest = word.as_str();
        while display_width(rest) > width - lines.used {
            let (piece, left) = rest.split_at(break_position(rest, width - lines.used));
            lines.push(piece, display_width(piece));
            lines.break_line(indent);
            rest = left;
        }
        lines.push(rest, display_width(rest));
    }
    lines.finish()
}

/// Breaks every line of a text. Continuation lines have the indentation of their line, and those of
/// list items that of the item's text.
pub(crate) fn wrap_text(text: &str, width: Option<usize>) -> Vec<String> {
    text.lines().flat_map(|line| wrap(line, width, text_indent(line))).collect()
}

/// Returns the column at which the text of a line begins.
fn text_indent(line: &str) -> usize {
    let spaces = leading_spaces(line);
    let is_item = line.trim_start_matches(' ').starts_with("- ");
    if is_item { spaces + ITEM_INDENT } else { spaces }
}

/// Returns the width of a text on a terminal. Colours take no room.
pub(crate) fn display_width(text: &str) -> usize {
    if !text.contains('\u{1b}') {
        return text.width();
    }
    anstream::adapter::strip_str(text).to_string().width()
}

/// Shortens a path in its middle, so that its beginning and its file name stay readable.
pub(crate) fn shorten_path(path: &str, width: usize) -> String {
    if path.width() <= width {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split_inclusive('/').collect();
    // The fewest folders are left out that make room. The last part names the file or folder.
    let last = parts.len().saturating_sub(1);
    let candidates = (1..last)
        .flat_map(|left_out| (1..=last - left_out).rev().map(move |kept| (kept, kept + left_out)));
    for (kept, resumed) in candidates {
        let begin: String = parts.iter().take(kept).copied().collect();
        let end: String = parts.iter().skip(resumed).copied().collect();
        let shortened = format!("{begin}…/{end}");
        if shortened.width() <= width {
            return shortened;
        }
    }
    // The first word stays if it is short: in the log it says what happened to the file.
    match path.split_once(' ') {
        Some((first, rest)) if first.width() * 3 < width && !first.contains('/') => {
            format!("{first} {}", truncate_start(rest, width - first.width() - 1))
        }
        _ => truncate_start(path, width),
    }
}

/// Cuts the beginning of a text and marks the cut with `…`.
fn truncate_start(text: &str, width: usize) -> String {
    let mut kept: Vec<char> = Vec::new();
    let mut used = 1;
    for c in text.chars().rev() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

/// Writes a path with `~` for the home folder of the user.
pub(crate) fn with_tilde(path: &Path, user: &Path) -> String {
    match path.strip_prefix(user) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

struct WrappedLines {
    lines: Vec<String>,
    current: String,
    /// Width of the current line.
    used: usize,
}

impl WrappedLines {
    fn push(&mut self, text: &str, width: usize) {
        self.current.push_str(text);
        self.used += width;
    }

    fn break_line(&mut self, indent: usize) {
        let line = std::mem::replace(&mut self.current, " ".repeat(indent));
        self.lines.push(line.trim_end_matches(' ').to_owned());
        self.used = indent;
    }

    fn finish(mut self) -> Vec<String> {
        self.lines.push(self.current);
        self.lines
    }
}

fn leading_spaces(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Splits a line at its spaces, except in backquotes if the quoted text fits into the room.
fn words(line: &str, room: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut quoted: Option<String> = None;
    for part in line.split(' ') {
        let is_mark = part.matches('`').count() % 2 == 1;
        match quoted.take() {
            None if is_mark => quoted = Some(part.to_owned()),
            None => words.push(part.to_owned()),
            Some(begun) => {
                let whole = format!("{begun} {part}");
                if !is_mark {
                    quoted = Some(whole);
                } else if display_width(&whole) <= room {
                    words.push(whole);
                } else {
                    words.extend(whole.split(' ').map(str::to_owned));
                }
            }
        }
    }
    words.extend(quoted.iter().flat_map(|open| open.split(' ')).map(str::to_owned));
    words
}

/// Returns the byte at which a word that is too wide is broken: after the last slash that fits, or
/// after the last character that fits. At least one character is kept, so that the rest gets shorter.
fn break_position(word: &str, room: usize) -> usize {
    let (mut used, mut slash, mut fitting) = (0, None, 0);
    let mut is_escape = false;
    for (at, c) in word.char_indices() {
        let end = at + c.len_utf8();
        if is_escape || c == '\u{1b}' {
            is_escape = c == '\u{1b}' || !c.is_ascii_alphabetic();
            continue;
        }
        used += c.width().unwrap_or(0);
        if used > room && fitting > 0 {
            break;
        }
        fitting = end;
        if c == '/' {
            slash = Some(end);
        }
    }
    slash.unwrap_or(if fitting == 0 { word.len() } else { fitting })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        for (text, width, indent, expected) in [
            ("the warranty lapses", 12, 0, &["the warranty", "lapses"][..]),
            (
                "hint: use `memoranda redo` now",
                20,
                2,
                &["hint: use", "  `memoranda redo`", "  now"],
            ),
            ("unbreakable", 5, 0, &["unbre", "akabl", "e"]),
            ("in main/house/heating/a.md", 14, 2, &["in main/house/", "  heating/a.md"]),
            ("given main/house/a.md", 14, 2, &["given main/", "  house/a.md"]),
            ("for given main/house/a.md", 14, 2, &["for given", "  main/house/", "  a.md"]),
            ("a \u{1b}[1mbold\u{1b}[0m word", 7, 0, &["a \u{1b}[1mbold\u{1b}[0m", "word"]),
            ("日本語 日本語", 7, 0, &["日本語", "日本語"]),
            ("  /", 2, 0, &["/"]),
            ("short", 60, 0, &["short"]),
            ("", 5, 0, &[""]),
        ] {
            assert_eq!(wrap(text, Some(width), indent), expected, "{text}");
        }
        assert_eq!(wrap("no limit at all", None, 0), ["no limit at all"]);
    }

    #[test]
    fn continuations_follow_the_indentation_of_their_line() {
        let text = "Two fit:\n- the first of two\n  its command line";
        let expected = ["Two fit:", "- the first", "  of two", "  its", "  command", "  line"];
        assert_eq!(wrap_text(text, Some(11)), expected);
    }

    #[test]
    fn paths_are_shortened_in_the_middle() {
        for (path, width, expected) in [
            ("~/memoranda/main", 20, "~/memoranda/main"),
            ("~/Documents/Obsidian/Vaults/Work", 26, "~/Documents/…/Vaults/Work"),
            ("~/Documents/Obsidian/Vaults/Work", 20, "~/Documents/…/Work"),
            ("~/Documents/Obsidian/Vaults/Work", 12, "~/…/Work"),
            ("~/a/A very long name of a folder", 12, "…of a folder"),
            ("moved main/heating/Plan.md", 20, "moved main/…/Plan.md"),
            ("moved main/a/A very long plan.md", 20, "moved … long plan.md"),
        ] {
            let shortened = shorten_path(path, width);
            assert_eq!(shortened, expected, "{path} in {width}");
            assert!(shortened.width() <= width, "{shortened}");
        }
    }

    proptest! {
        #[test]
        fn every_line_fits_and_no_character_is_lost(
            text in "[a-z `/\u{65e5}\u{1f600}]{0,80}", width in 2_usize..40, indent in 0_usize..6,
        ) {
            let lines = wrap(&text, Some(width), indent);
            if width > indent + 1 {
                for line in &lines {
                    prop_assert!(display_width(line) <= width, "{line:?} at {width}");
                }
            }
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
