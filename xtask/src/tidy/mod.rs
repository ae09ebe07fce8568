//! `cargo xtask tidy`: checks what the compiler cannot. Each rule is a function.
//!
//! The workspace is read once. The rules are pure, so each has its own tests.

mod doors;
mod layers;
mod manifests;
mod metadata;
mod page_paths;
mod promises;
mod prose;
mod sizes;
mod test_modules;
mod text;
mod type_names;

use std::collections::HashMap;

use crate::workspace::{self, TextFile};
use crate::{Result, docs};
use metadata::CargoMetadata;

/// The input of a rule.
struct WorkspaceTree {
    files: Vec<TextFile>,
    metadata: CargoMetadata,
}

impl WorkspaceTree {
    /// Returns the text of every file by its path.
    fn by_path(&self) -> HashMap<&str, &str> {
        self.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect()
    }

    fn rust_files(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.extension() == "rs")
    }
}

/// The result of a rule.
#[derive(Default, PartialEq, Eq, Debug)]
struct RuleFindings {
    /// Problems that must be solved.
    problems: Vec<String>,
    /// Hints that may be ignored.
    warnings: Vec<String>,
}

/// A pure rule, so that it can be tested on constructed trees.
type TidyRule = fn(&WorkspaceTree) -> RuleFindings;

/// The rules, in the order of their output.
const RULES: &[(&str, TidyRule)] = &[
    ("layers", layers::check),
    ("doors", doors::check),
    ("manifests", manifests::check),
    ("test modules", test_modules::check),
    ("file sizes", sizes::check),
    ("text", text::check),
    ("prose", prose::check),
    ("page paths", page_paths::check),
    ("promises", promises::check),
    ("type names", type_names::check),
];

/// Runs every rule and prints all findings.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(format!("takes no arguments, got `{argument}`").into());
    }
    let root = workspace::root()?;
    let tree =
        WorkspaceTree { files: workspace::text_files(&root)?, metadata: metadata::read(&root)? };
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
            println!("tidy: {} files, no problems", tree.files.len());
            Ok(())
        }
        1 => Err("1 problem".into()),
        n => Err(format!("{n} problems").into()),
    }
}

/// Returns true if a file contains only tests, so that rules for product code skip it.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "tests.rs"
        || name.ends_with("_tests.rs")
        || path.split('/').any(|part| part == "tests" || part == "benches")
}

/// Returns the part of a source file before its module of tests.
fn without_inline_tests(text: &str) -> &str {
    let mut start = 0;
    while let Some(found) = text[start..].find("\n#[cfg(test)]\n") {
        let attribute = start + found + 1;
        let rest = &text[attribute..];
        // Further attributes may follow; a module body must come after them.
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
