//! What no text in the repository holds: stray white space, paths of somebody's machine,
//! unfinished code, tests that are switched off.

use super::{Findings, Tree};
use crate::workspace::TextFile;

/// Kinds of files that people write, and that are therefore kept clean.
const WRITTEN: &[&str] =
    &["css", "html", "js", "md", "rs", "sh", "sql", "toml", "ts", "yml", "yaml"];

/// Kinds of files that hold no tabs. The others may need one.
const WITHOUT_TABS: &[&str] = &["md", "rs", "toml"];

/// Folders whose files are as they are on purpose, such as notes with Windows line ends.
const AS_THEY_ARE: &[&str] = &["fixtures", "snapshots", "corpus", "regressions"];

// What is looked for is spelt in two parts, so that this file does not find itself.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/wo", "rk/"), concat!("/tmp/", "wt")];
const UNFINISHED: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")];
const SWITCHED_OFF: &[&str] = &[concat!("#[ign", "ore]"), concat!("#[ign", "ore =")];

pub(super) fn check(tree: &Tree) -> Findings {
    let problems = tree.files.iter().flat_map(problems_of).collect();
    Findings { problems, ..Findings::default() }
}

fn problems_of(file: &TextFile) -> Vec<String> {
    let mut problems = Vec::new();
    let mut tell = |line: usize, what: &str| {
        problems.push(format!("{}:{}: {what}", file.path, line + 1));
    };
    let is_rust = file.extension() == "rs";
    let is_kept_clean = WRITTEN.contains(&file.extension()) && !is_as_it_is(&file.path);
    let has_no_tabs = WITHOUT_TABS.contains(&file.extension()) && !is_as_it_is(&file.path);
    for (n, line) in file.text.split('\n').enumerate() {
        if is_kept_clean && line.ends_with([' ', '\t', '\r']) {
            tell(n, "white space at the end of the line");
        }
        if has_no_tabs && line.contains('\t') {
            tell(n, "a tab");
        }
        for path in MACHINE_PATHS.iter().filter(|path| has_absolute(line, path)) {
            tell(n, &format!("`{path}` is a path of somebody's machine"));
        }
        if is_rust {
            for code in UNFINISHED.iter().filter(|code| has_word(line, code)) {
                tell(n, &format!("`{code}` is unfinished code"));
            }
            if SWITCHED_OFF.iter().any(|off| line.contains(off)) {
                tell(n, "a test that never runs; mend it or delete it");
            }
        }
    }
    if is_kept_clean && !file.text.is_empty() {
        let end = file.text.lines().count().saturating_sub(1);
        if !file.text.ends_with('\n') {
            tell(end, "no line feed at the end of the file");
        } else if file.text.ends_with("\n\n") {
            tell(end, "empty lines at the end of the file");
        }
    }
    problems
}

fn is_as_it_is(path: &str) -> bool {
    path.split('/').any(|part| AS_THEY_ARE.contains(&part))
}

/// Whether a path begins here, rather than goes on: `notes/…` before it makes it relative.
fn has_absolute(line: &str, path: &str) -> bool {
    preceding(line, path)
        .any(|before| before.is_none_or(|c| !(c.is_alphanumeric() || "_-.~*/})]>$".contains(c))))
}

/// Whether a name begins here, rather than being the end of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    preceding(line, word).any(|before| before.is_none_or(|c| !c.is_alphanumeric() && c != '_'))
}

/// What stands before each place where `wanted` occurs.
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
        check("a.txt", &format!("open {home}ada/notes\n"), &["somebody's machine"]);
        check("a.rs", &format!("\"{home}ada\"\n"), &["somebody's machine"]);
        check("a.rs", &format!("\"projects{home}ada\"\n"), &[]);
        check("a.rs", &format!("\"~{home}\"\n"), &[]);
    }

    #[test]
    fn unfinished_code() {
        let [todo, _, dbg] = UNFINISHED else { panic!("three of them") };
        check("a.rs", &format!("    {todo})\n"), &["unfinished"]);
        check("a.rs", &format!("    std::{dbg}x)\n"), &["unfinished"]);
        check("a.rs", &format!("    my_{dbg}x)\n"), &[]);
        check("a.md", &format!("`{todo})`\n"), &[]);
        check("a.rs", &format!("    {}\n", SWITCHED_OFF[0]), &["never runs"]);
    }
}
