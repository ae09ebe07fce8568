//! `cargo xtask tidy`: what the compiler cannot check, each rule a function that can fail.
//!
//! The rules read the workspace once and are pure after that, so each has tests of its own.

mod doors;
mod layers;
mod manifests;
mod metadata;
mod sizes;
mod test_modules;
mod text;

use std::collections::HashMap;

use crate::workspace::{self, TextFile};
use crate::{Result, docs};
use metadata::Metadata;

/// What a rule looks at.
struct Tree {
    files: Vec<TextFile>,
    metadata: Metadata,
}

impl Tree {
    /// The text of every file by its path.
    fn by_path(&self) -> HashMap<&str, &str> {
        self.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect()
    }

    fn rust_files(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.extension() == "rs")
    }
}

/// What a rule has to say.
#[derive(Default, PartialEq, Eq, Debug)]
struct Findings {
    /// What must change.
    problems: Vec<String>,
    /// What deserves a thought.
    warnings: Vec<String>,
}

/// A rule: pure, so that it can be tested on made-up trees.
type Rule = fn(&Tree) -> Findings;

/// The rules, in the order in which they are told.
const RULES: &[(&str, Rule)] = &[
    ("layers", layers::check),
    ("doors", doors::check),
    ("manifests", manifests::check),
    ("test modules", test_modules::check),
    ("file sizes", sizes::check),
    ("text", text::check),
];

/// Runs every rule and tells all that they find.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(format!("takes no arguments, got `{argument}`").into());
    }
    let root = workspace::root()?;
    let tree = Tree { files: workspace::text_files(&root)?, metadata: metadata::read(&root)? };
    let mut problems = 0;
    for (rule, check) in RULES {
        let findings = check(&tree);
        for warning in &findings.warnings {
            println!("tidy: {rule}: warning: {warning}");
        }
        for problem in &findings.problems {
            println!("tidy: {rule}: {problem}");
        }
        problems += findings.problems.len();
    }
    if let Err(e) = docs::check(&root) {
        println!("tidy: docs: {e}");
        problems += 1;
    }
    match problems {
        0 => {
            println!("tidy: {} files, nothing to mend", tree.files.len());
            Ok(())
        }
        1 => Err("1 thing to mend".into()),
        n => Err(format!("{n} things to mend").into()),
    }
}

/// Whether a file holds only tests, so that the rules for product code pass it by.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "tests.rs"
        || name.ends_with("_tests.rs")
        || path.split('/').any(|part| part == "tests" || part == "benches")
}

/// The part of a source file before its own module of tests.
fn without_inline_tests(text: &str) -> &str {
    let mut start = 0;
    while let Some(found) = text[start..].find("\n#[cfg(test)]\n") {
        let attribute = start + found + 1;
        let rest = &text[attribute..];
        // Further attributes may stand between; what counts is that a module body follows.
        let item = rest.lines().find(|line| !line.starts_with("#["));
        if item.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{')) {
            return &text[..attribute];
        }
        start = attribute;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_their_names() {
        for path in [
            "crates/a/tests/it/main.rs",
            "crates/a/src/note/parse_tests.rs",
            "crates/a/src/tests.rs",
        ] {
            assert!(is_test_file(path), "{path}");
        }
        for path in ["crates/a/src/contests.rs", "crates/a/src/attest.rs"] {
            assert!(!is_test_file(path), "{path}");
        }
    }

    #[test]
    fn inline_tests_are_cut_off() {
        let check = |text: &str, expected: &str| assert_eq!(without_inline_tests(text), expected);
        check("a\n#[cfg(test)]\nmod tests {\n}\n", "a\n");
        check("a\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n", "a\n");
        check("a\n#[cfg(test)]\nmod tests;\nb\n", "a\n#[cfg(test)]\nmod tests;\nb\n");
        check(
            "a\n#[cfg(test)]\nfn f() {}\n#[cfg(test)]\nmod t {\n",
            "a\n#[cfg(test)]\nfn f() {}\n",
        );
    }
}
