//! Adds content to a text: at its end, as a replacement, or under a heading. Other bytes stay.

use memoranda_core::abbreviate::join_words;

use super::outline::{OutlineHeading, headings};

/// The way in which content is added to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextOperation {
    /// At the end.
    Append,
    /// Instead of the old text.
    Replace,
    /// Under a heading.
    Insert,
}

impl TextOperation {
    const ALL: [Self; 3] = [Self::Append, Self::Replace, Self::Insert];

    /// Parses the name of an operation.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|operation| operation.as_str() == text)
    }

    /// Returns the name of the operation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Replace => "replace",
            Self::Insert => "insert",
        }
    }
}

/// Appends content after a blank line.
pub(super) fn appended(old: &str, content: &str) -> String {
    let ending = line_ending(old);
    let content = with_line_endings(content.trim_matches(['\n', '\r']), ending);
    if old.trim().is_empty() {
        return format!("{content}{ending}");
    }
    let gap = match old.strip_suffix('\n') {
        None => ending.repeat(2),
        Some(rest) if rest.ends_with('\n') || rest.ends_with("\n\r") => String::new(),
        Some(_) => ending.to_owned(),
    };
    format!("{old}{gap}{content}{ending}")
}

/// Returns content as the whole text of a file.
pub(super) fn replaced(content: &str) -> String {
    if content.ends_with('\n') || content.is_empty() {
        content.to_owned()
    } else {
        format!("{content}\n")
    }
}

/// A text after an insertion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InsertedText {
    pub(super) text: String,
    /// True if the section was added.
    pub(super) is_new_section: bool,
}

/// Inserts content directly under a `## ` heading. A missing heading is added at the end. A
/// placeholder sentence is removed.
pub(super) fn inserted(
    old: &str,
    section: &str,
    content: &str,
    placeholder: Option<&str>,
) -> InsertedText {
    let ending = line_ending(old);
    let title = section_title(section);
    let content = without_own_heading(content.trim_matches(['\n', '\r']), &title);
    let all = headings(old);
    let Some(n) = all.iter().position(|heading| is_section(heading, &title)) else {
        let section = format!("## {title}\n{content}");
        return InsertedText { text: appended(old, &section), is_new_section: true };
    };
    let heading = &all[n];
    let next = all[n + 1..].iter().find(|next| next.level <= heading.level);
    let body = heading.end..next.map_or(old.len(), |next| next.start);
    let content = with_line_endings(content, ending);
    let before = old.get(..heading.end).unwrap_or_default();
    let line_end = if before.ends_with('\n') { "" } else { ending };
    let body_text = old.get(body.clone()).unwrap_or_default();
    let first_line = body_text.split_inclusive('\n').next().unwrap_or_default();
    let mut rest = body_text;
    let mut gap = "";
    if placeholder.is_some_and(|sentence| first_line.trim() == sentence) {
        rest = body_text.get(first_line.len()..).unwrap_or_default();
    } else if !(first_line.trim().is_empty() || is_item(first_line) && ends_in_item(&content)) {
        gap = ending;
    }
    let after = old.get(body.end..).unwrap_or_default();
    if gap.is_empty() && rest.is_empty() && !after.is_empty() {
        // A blank line separates the content from the next heading.
        gap = ending;
    }
    let text = format!("{before}{line_end}{content}{ending}{gap}{rest}{after}");
    InsertedText { text, is_new_section: false }
}

/// Returns true if a text contains all lines of the content in sequence.
pub(super) fn contains_block(old: &str, content: &str) -> bool {
    let wanted: Vec<&str> = content.trim().lines().map(str::trim_end).collect();
    let lines: Vec<&str> = old.lines().map(str::trim_end).collect();
    !wanted.is_empty() && lines.windows(wanted.len()).any(|window| window == wanted)
}

/// Normalises the title of a section: `## Goals`, `Goals` and `goals:` are the same.
pub(super) fn section_title(position: &str) -> String {
    let line = join_words(position);
    line.trim_start_matches('#').trim().trim_end_matches(':').trim_end().to_owned()
}

fn is_section(heading: &OutlineHeading, title: &str) -> bool {
    heading.level == 2 && heading.title.to_lowercase() == title.to_lowercase()
}

/// Removes a first line that repeats the heading.
fn without_own_heading<'c>(content: &'c str, title: &str) -> &'c str {
    let (first, rest) = content.split_once('\n').unwrap_or((content, ""));
    let repeats = first.trim_start().starts_with("##")
        && section_title(first).to_lowercase() == title.to_lowercase()
        && !rest.trim().is_empty();
    if repeats { rest.trim_start_matches(['\n', '\r']) } else { content }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || number.len() < line.len() && number.starts_with(". ")
}

fn ends_in_item(text: &str) -> bool {
    text.lines().next_back().is_some_and(|line| is_item(line) || line.starts_with("  "))
        && text.lines().next().is_some_and(is_item)
}

fn line_ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn with_line_endings(text: &str, ending: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_appended_after_a_blank_line() {
        for (old, content, expected) in [
            ("", "x", "x\n"),
            ("a", "x\n", "a\n\nx\n"),
            ("a\n", "x\n\n", "a\n\nx\n"),
            ("a\n\n", "x", "a\n\nx\n"),
            ("a\n\n\n", "\nx", "a\n\n\nx\n"),
            ("a\r\n", "x\ny", "a\r\n\r\nx\r\ny\r\n"),
        ] {
            assert_eq!(appended(old, content), expected, "{old:?}");
        }
    }

    #[track_caller]
    fn check(old: &str, section: &str, content: &str, expected: &str) {
        let found = inserted(old, section, content, Some("Here it goes."));
        assert_eq!(found.text, expected, "{old:?}");
    }

    #[test]
    fn content_is_inserted_under_its_heading() {
        let old = "# T\n\n## A\nold\n\n## B\n- one\n";
        check(old, "A", "new", "# T\n\n## A\nnew\n\nold\n\n## B\n- one\n");
        check(old, "## a", "new", "# T\n\n## A\nnew\n\nold\n\n## B\n- one\n");
        check(old, "B", "- two", "# T\n\n## A\nold\n\n## B\n- two\n- one\n");
        check(old, "B", "two", "# T\n\n## A\nold\n\n## B\ntwo\n\n- one\n");
        check(old, "C", "new", "# T\n\n## A\nold\n\n## B\n- one\n\n## C\nnew\n");
        check("# C\n### C\n", "C", "new", "# C\n### C\n\n## C\nnew\n");
        check("## A\nHere it goes.\n\n## B\n", "A", "new", "## A\nnew\n\n## B\n");
        check("## A\nHere it goes.\n## B\n", "A", "new", "## A\nnew\n\n## B\n");
        check("## A", "A", "new", "## A\nnew\n");
        check("## A\n## B\n", "A", "new", "## A\nnew\n\n## B\n");
        check("## A\r\nold\r\n", "A", "x\ny", "## A\r\nx\r\ny\r\n\r\nold\r\n");
        check("```\n## A\n```\n", "A", "new", "```\n## A\n```\n\n## A\nnew\n");
        check("## A\n", "A", "## A\n\nnew", "## A\nnew\n");
        assert!(inserted("", "A", "x", None).is_new_section);
    }

    #[test]
    fn existing_blocks_are_found() {
        assert!(contains_block("a\nb  \nc\n", "b\nc\n"));
        assert!(!contains_block("a\nbb\n", "b") && !contains_block("a\n", "  "));
    }
}
