//! Prose rules that a script can check: banned words in comments and pages, and the first words of
//! doc comments. CONTRIBUTING.md has all rules.

use super::text::is_verbatim;
use super::{RuleFindings, WorkspaceTree};
use crate::workspace::TextFile;

/// Words that make a sentence old-fashioned or ambiguous.
const BANNED_WORDS: &[&str] = &[
    "anew",
    "whoever",
    "whom",
    "beneath",
    "beside",
    "thus",
    "dear",
    "but for",
    "to the letter",
    "is none",
    "of which",
    "meant",
    "told",
];

/// First words that hide the subject of a doc comment.
const BANNED_OPENINGS: &[&str] = &[
    "What", "Whether", "Whose", "Which", "Who", "Where", "When", "Why", "How", "So", "It", "Its",
    "Their", "The same",
];

/// Pages that are generated from the binary's tables, whose sources are checked instead.
const GENERATED_PAGES: &str = "docs/reference/";

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    check_files(&tree.files)
}

fn check_files(files: &[TextFile]) -> RuleFindings {
    let mut findings = RuleFindings::default();
    for file in files {
        let mut add = |line: usize, phrase: String| {
            findings.problems.push(format!("{}:{line}: {phrase}", file.path));
        };
        match file.extension() {
            "md" if !file.path.starts_with(GENERATED_PAGES) && !is_verbatim(&file.path) => {
                page_words(&file.text).for_each(|(line, word)| add(line, format!("`{word}`")));
            }
            "rs" => {
                comment_words(&file.text).for_each(|(line, word)| add(line, format!("`{word}`")));
                let openings = doc_openings_of(&file.text);
                openings.for_each(|(line, opening)| add(line, format!("`{opening} …`")));
            }
            _ => {}
        }
    }
    findings
}

/// Banned words of a page with their line numbers. Code and HTML comments are skipped.
fn page_words(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let mut is_code = false;
    let prose = text.lines().map(move |line| {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_code = !is_code;
            return String::new();
        }
        if is_code || start.starts_with("<!--") { String::new() } else { without_code(line) }
    });
    prose.enumerate().flat_map(|(n, line)| banned_words(&line).map(move |word| (n + 1, word)))
}

/// Banned words of Rust comments with their line numbers.
fn comment_words(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.trim_start().starts_with("//"))
        .flat_map(|(n, line)| banned_words(&without_code(line)).map(move |word| (n + 1, word)))
}

/// Doc comments with a banned opening: line numbers and first words.
fn doc_openings_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut previous = None;
    text.lines().enumerate().filter_map(move |(n, line)| {
        let doc = doc_text(line);
        let is_first = doc.map(|(marker, _)| marker) != previous;
        previous = doc.map(|(marker, _)| marker);
        let (_, text) = doc.filter(|_| is_first)?;
        banned_opening(text).map(|opening| (n + 1, opening))
    })
}

/// The marker and the text of a line of a doc comment; `None` for any other line.
fn doc_text(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (marker, text) = line.split_at_checked(3)?;
    let is_doc = matches!(marker, "///" | "//!") && !text.starts_with('/');
    is_doc.then(|| (marker, text.trim()))
}

/// The opening of a doc comment if it is banned; `None` if the opening is fine.
fn banned_opening(text: &str) -> Option<&str> {
    let phrase = BANNED_OPENINGS.iter().find(|phrase| {
        text.strip_prefix(**phrase).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    });
    let is_lower_case = text.starts_with(char::is_lowercase);
    phrase.copied().or_else(|| is_lower_case.then(|| text.split(' ').next().unwrap_or(text)))
}

/// The line without code spans between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The banned words of a line, each at most once.
fn banned_words(line: &str) -> impl Iterator<Item = &'static str> + use<> {
    let line = line.to_lowercase();
    BANNED_WORDS.iter().copied().filter(move |word| has_whole_word(&line, word))
}

fn has_whole_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn pages_are_checked_outside_code() {
        let check = |text: &str, expected: &[(usize, &str)]| {
            assert_eq!(page_words(text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("Build it again.\n", &[]);
        check("Build it anew.\n", &[(1, "anew")]);
        check("a\nWhoever asks, to the letter.\n", &[(2, "whoever"), (2, "to the letter")]);
        check("```text\nan index made anew\n```\ntold\n", &[(4, "told")]);
        check("  ```sh\n  anew\n  ```\n", &[]);
        check("<!-- before: echo anew -->\n", &[]);
        check("The word `anew`, and `whom`.\n", &[]);
        check("Besides, this none is a toldo.\n", &[]);
    }

    #[test]
    fn comments_are_checked_and_code_is_not() {
        let found = |text: &str| comment_words(text).map(|(_, word)| word).collect::<Vec<_>>();
        assert_eq!(found("    // Made anew.\n"), ["anew"]);
        assert_eq!(found("//! Thus.\n/// Beneath.\n"), ["thus", "beneath"]);
        assert_eq!(found("/// Calls `told`.\nlet told = \"anew\";\n"), [""; 0]);
    }

    #[test]
    fn doc_comments_open_with_a_verb_or_noun() {
        let check = |text: &str, expected: &[(usize, &str)]| {
            assert_eq!(doc_openings_of(text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("/// Returns the note.\n", &[]);
        check("/// What it returns.\n", &[(1, "What")]);
        check("/// How many notes.\n", &[(1, "How")]);
        check("/// Its title.\n", &[(1, "Its")]);
        check("/// Items of a list.\n", &[]);
        check("//! Whether it is.\n", &[(1, "Whether")]);
        check("a\n    /// The same, faster.\n", &[(2, "The same")]);
        check("/// and so on.\n", &[(1, "and")]);
        check("/// Whatever is found.\n", &[]);
        check("/// `None` if absent.\n", &[]);
        check("/// Returns true if\n/// what it says holds.\n", &[]);
        check("//! Notes.\n\n/// lower\n", &[(3, "lower")]);
        check("//// what\n// what\n", &[]);
    }

    #[test]
    fn findings_name_file_and_line() {
        let check = |file: TextFile, problems: &[&str]| {
            let findings = check_files(&[file]);
            assert_eq!(findings.problems, problems);
            assert_eq!(findings.warnings.len(), 0, "{findings:?}");
        };
        check(file("crates/a/src/x.rs", "// again\n"), &[]);
        check(
            file("crates/a/src/x.rs", "// anew\n/// What it is.\n"),
            &["crates/a/src/x.rs:1: `anew`", "crates/a/src/x.rs:2: `What …`"],
        );
        check(file("docs/a.md", "anew\n"), &["docs/a.md:1: `anew`"]);
        check(file("docs/reference/a.md", "anew\n"), &[]);
        check(file("crates/a/tests/fixtures/a.md", "anew\n"), &[]);
    }
}
