//! Type names that are defined more than once in the product's crates. Readers search for a name
//! and must find one thing.

use std::collections::BTreeMap;

use super::{RuleFindings, WorkspaceTree, is_test_file, without_inline_tests};
use crate::workspace::TextFile;

/// Names that every command or module may define.
const SHARED_NAMES: &[&str] = &["Args", "Error"];

/// Maximum number of names with several definitions. It may only shrink.
const MAX_DUPLICATE_NAMES: usize = 3;

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    check_files(tree.rust_files(), MAX_DUPLICATE_NAMES)
}

fn check_files<'a>(files: impl Iterator<Item = &'a TextFile>, allowed: usize) -> RuleFindings {
    let mut definitions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let product =
        files.filter(|file| file.path.starts_with("crates/") && !is_test_file(&file.path));
    for file in product {
        for name in type_names(without_inline_tests(&file.text)) {
            definitions.entry(name).or_default().push(&file.path);
        }
    }
    definitions.retain(|name, paths| paths.len() > 1 && !SHARED_NAMES.contains(name));
    let mut findings = RuleFindings::default();
    if definitions.len() > allowed {
        let count = definitions.len();
        findings.problems.push(format!("{count} names are defined twice, {allowed} allowed"));
        findings.problems.extend(
            definitions
                .iter()
                .map(|(name, paths)| format!("`{name}` is defined in {}", paths.join(", "))),
        );
    } else if definitions.len() < allowed {
        findings.warnings.push(format!(
            "{} names are defined twice, {allowed} allowed; lower the number in type_names.rs",
            definitions.len()
        ));
    }
    findings
}

/// The types that a file defines. Associated types are indented aliases and do not count.
fn type_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let item = without_visibility(line.trim_start());
        let (keyword, rest) = item.split_once(' ')?;
        let is_definition = match keyword {
            "struct" | "enum" | "trait" => true,
            "type" => !line.starts_with(' '),
            _ => false,
        };
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (is_definition && rest.starts_with(char::is_uppercase)).then(|| &rest[..end])
    })
}

fn without_visibility(item: &str) -> &str {
    let Some(rest) = item.strip_prefix("pub") else { return item };
    match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(") ").map_or(item, |(_, item)| item),
        None => rest.strip_prefix(' ').unwrap_or(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(type_names(text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("struct Note {\n}\n", &["Note"]);
        check(
            "pub enum NoteKind {}\npub(crate) trait NoteStore: Send {}\n",
            &["NoteKind", "NoteStore"],
        );
        check("pub(in crate::note) struct Tuple(u8);\n", &["Tuple"]);
        check("mod a {\n    struct Inner;\n}\n", &["Inner"]);
        check("type Rows<T> = Vec<T>;\nimpl Iterator for A {\n    type Item = u8;\n}\n", &["Rows"]);
        check("// struct Comment\nlet structure = 1;\npublic struct X;\n", &[]);
    }

    #[test]
    fn duplicates_are_counted_outside_tests() {
        let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
        let files = [
            file("crates/a/src/x.rs", "struct Found;\nstruct Args;\n"),
            file("crates/b/src/y.rs", "enum Found {}\nstruct Args;\n"),
            file("crates/b/tests/it/z.rs", "struct Only;\n"),
            file(
                "crates/b/src/w.rs",
                "struct Only;\n#[cfg(test)]\nmod tests {\n    struct Found;\n",
            ),
            file("xtask/src/main.rs", "struct Only;\n"),
        ];
        let findings = check_files(files.iter(), 0);
        assert_eq!(
            findings.problems,
            [
                "1 names are defined twice, 0 allowed",
                "`Found` is defined in crates/a/src/x.rs, crates/b/src/y.rs"
            ]
        );
        assert_eq!(check_files(files.iter(), 1), RuleFindings::default());
        assert_eq!(check_files(files.iter(), 2).warnings.len(), 1);
    }
}
