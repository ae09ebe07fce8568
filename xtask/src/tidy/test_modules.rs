//! One integration test binary per crate, and no test file that is never run.
//!
//! A crate whose tests are modules of `tests/it/main.rs` links once instead of once per file. A file that
//! is missing from the list would never run: hence this rule.

use std::collections::HashMap;

use super::metadata::WorkspaceMember;
use super::{RuleFindings, WorkspaceTree};

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    let texts = tree.by_path();
    let mut problems = Vec::new();
    for member in &tree.metadata.members {
        let folder = format!("{}/tests/", member.folder);
        if texts.contains_key(format!("{folder}it/main.rs").as_str()) {
            problems.extend(find_unlisted(&folder, &texts));
            problems.extend(extra_binaries(member));
        }
    }
    problems.sort();
    RuleFindings { problems, ..RuleFindings::default() }
}

/// Returns the files of a `tests/` folder that no `mod` line names.
fn find_unlisted(folder: &str, texts: &HashMap<&str, &str>) -> Vec<String> {
    let mut problems = Vec::new();
    for path in texts.keys().filter(|path| path.ends_with(".rs")) {
        let Some(inside) = path.strip_prefix(folder) else { continue };
        let Some((module, parents)) = module_and_parents(inside) else { continue };
        let declared = parents.iter().any(|parent| {
            texts
                .get(format!("{folder}{parent}").as_str())
                .is_some_and(|text| text.lines().any(|line| is_declaration(line, module)))
        });
        if !declared {
            problems
                .push(format!("{path}: never runs; add `mod {module};` to {folder}{}", parents[0]));
        }
    }
    problems
}

/// Returns a file's module name and the files that may declare it; `None` for `it/main.rs` itself.
fn module_and_parents(inside: &str) -> Option<(&str, Vec<String>)> {
    let stem = inside.strip_suffix(".rs")?;
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem.rsplit_once('/') {
        Some(("it", "main")) => None,
        None => Some((stem, vec!["it/main.rs".into()])),
        Some(("it", name)) => Some((name, vec!["it/main.rs".into()])),
        Some((parent, name)) => {
            Some((name, vec![format!("{parent}/mod.rs"), format!("{parent}.rs")]))
        }
    }
}

fn is_declaration(line: &str, module: &str) -> bool {
    let line = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
    line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) == Some(module)
}

fn extra_binaries(member: &WorkspaceMember) -> Vec<String> {
    let extra = member.test_binaries.iter().filter(|name| *name != "it");
    extra
        .map(|name| {
            format!(
                "{}/Cargo.toml: tests/{name} is a binary of its own; set `autotests = false` and \
                 name only `it` in `[[test]]`",
                member.folder
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_files_are_named() {
        let texts = HashMap::from([
            ("c/tests/it/main.rs", "//! Doc.\nmod crash;\nmod story;\n"),
            ("c/tests/it/crash.rs", ""),
            ("c/tests/it/lost.rs", ""),
            ("c/tests/it/story/mod.rs", "pub(crate) mod one;\n"),
            ("c/tests/it/story/one.rs", ""),
            ("c/tests/it/story/two.rs", ""),
            ("c/tests/data/note.md", ""),
            ("d/tests/other.rs", ""),
        ]);
        let mut found = find_unlisted("c/tests/", &texts);
        found.sort();
        assert_eq!(
            found,
            [
                "c/tests/it/lost.rs: never runs; add `mod lost;` to c/tests/it/main.rs",
                "c/tests/it/story/two.rs: never runs; add `mod two;` to c/tests/it/story/mod.rs",
            ]
        );
    }

    #[test]
    fn a_second_binary_is_named() {
        let member = WorkspaceMember {
            folder: "c".into(),
            test_binaries: vec!["it".into(), "crash".into()],
            ..WorkspaceMember::default()
        };
        assert_eq!(extra_binaries(&member).len(), 1);
    }
}
