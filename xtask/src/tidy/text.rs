//! Rejects stray white space, paths of a private machine, unfinished code and ignored tests in all
//! texts of the repository.

use super::{RuleFindings, WorkspaceTree};
use crate::workspace::TextFile;

/// Extensions of files that people write, which are checked for stray white space.
const CLEAN_EXTENSIONS: &[&str] =
    &["css", "html", "js", "md", "rs", "sh", "sql", "toml", "ts", "yml", "yaml"];

/// Extensions of files without tabs. Other files may need a tab.
const TABLESS_EXTENSIONS: &[&str] = &["md", "rs", "toml"];

/// Folders of verbatim test data, such as notes with Windows line ends, and of the built web page.
const VERBATIM_FOLDERS: &[&str] = &["fixtures", "snapshots", "corpus", "regressions", "built"];

// The patterns are split in two parts, so that the rule does not match this file.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/wo", "rk/"), concat!("/tmp/", "wt")];
const UNFINISHED_CODE: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];
const IGNORED_TESTS: &[&str] = &[concat!("#[ign", "ore]"), concat!("#[ign", "ore =")];

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    let problems = tree.files.iter().flat_map(problems_of).collect();
    RuleFindings { problems, ..RuleFindings::default() }
}

fn problems_of(file: &TextFile) -> Vec<String> {
    let mut problems = Vec::new();
    let mut report = |line: usize, what: &str| {
        problems.push(format!("{}:{}: {what}", file.path, line + 1));
    };
    let is_rust = file.extension() == "rs";
    let is_kept_clean = CLEAN_EXTENSIONS.contains(&file.extension()) && !is_verbatim(&file.path);
    let has_no_tabs = TABLESS_EXTENSIONS.contains(&file.extension()) && !is_verbatim(&file.path);
    for (n, line) in file.text.split('\n').enumerate() {
        if is_kept_clean && line.ends_with([' ', '\t', '\r']) {
            report(n, "white space at the end of the line");
        }
        if has_no_tabs && line.contains('\t') {
            report(n, "a tab");
        }
        for path in MACHINE_PATHS.iter().filter(|path| has_absolute(line, path)) {
            report(n, &format!("`{path}` is a path of a private machine"));
        }
        if is_rust {
            for code in UNFINISHED_CODE.iter().filter(|code| has_word(line, code)) {
                report(n, &format!("`{code}` is unfinished code"));
            }
            if IGNORED_TESTS.iter().any(|off| line.contains(off)) {
                report(n, "a test that never runs; fix it or delete it");
            }
        }
    }
    if is_kept_clean && !file.text.is_empty() {
        let end = file.text.lines().count().saturating_sub(1);
        if !file.text.ends_with('\n') {
            report(end, "no line feed at the end of the file");
        } else if file.text.ends_with("\n\n") {
            report(end, "empty lines at the end of the file");
        }
    }
    problems
}

/// Returns true if a file is verbatim test data or was built.
pub(super) fn is_verbatim(path: &str) -> bool {
    path.split('/').any(|part| VERBATIM_FOLDERS.contains(&part))
}

/// Returns true if the line contains the path as an absolute one. A name before it, as in
/// `notes/…`, makes it relative.
fn has_absolute(line: &str, path: &str) -> bool {
    preceding(line, path)
        .any(|before| before.is_none_or(|c| !(c.is_alphanumeric() || "_-.~*/})]>$".contains(c))))
}

/// Returns true if the line contains the word, and not only as the end of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    preceding(line, word).any(|before| before.is_none_or(|c| !c.is_alphanumeric() && c != '_'))
}

/// Returns the character before each occurrence of `wanted`.
fn preceding(line: &str, wanted: &str) -> impl Iterator<Item = Option<char>> {
    line.match_indices(wanted).map(|(at, _)| line[..at].chars().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        let file = TextFile { path: path.into(), text: text.into() };
        let found = problems_of(&file);
        assert_eq!(found.len(), expected.len(), "{path} {text:?}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found} has no {expected}");
        }
    }

    #[test]
    fn white_space() {
        check("a.rs", "a\nb\n", &[]);
        check("a.rs", "", &[]);
        check("a.md", "a \nb\n", &["a.md:1: white space"]);
        check("a.rs", "a\r\n", &["a.rs:1: white space"]);
        check("a.rs", "a\n\tb\n", &["a.rs:2: a tab"]);
        check("a.sql", "a\n\tb\n", &[]);
        check("a.toml", "a", &["a.toml:1: no line feed"]);
        check("a.toml", "a\n\n", &["a.toml:2: empty lines"]);
        check("crates/a/fixtures/a.md", "a \n\tb", &[]);
        check("a.snap", "a \n", &[]);
    }

    #[test]
    fn paths_of_a_machine() {
        let home = MACHINE_PATHS[0];
        check("a.txt", &format!("open {home}ada/notes\n"), &["private machine"]);
        check("a.rs", &format!("\"{home}ada\"\n"), &["private machine"]);
        check("a.rs", &format!("\"projects{home}ada\"\n"), &[]);
        check("a.rs", &format!("\"~{home}\"\n"), &[]);
    }

    #[test]
    fn unfinished_code() {
        let [todo, _, dbg] = UNFINISHED_CODE else { panic!("three of them") };
        check("a.rs", &format!("    {todo})\n"), &["unfinished"]);
        check("a.rs", &format!("    std::{dbg}x)\n"), &["unfinished"]);
        check("a.rs", &format!("    my_{dbg}x)\n"), &[]);
        check("a.md", &format!("`{todo})`\n"), &[]);
        check("a.rs", &format!("    {}\n", IGNORED_TESTS[0]), &["never runs"]);
    }
}
