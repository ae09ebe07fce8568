//! The doors to effects: `clippy.toml` forbids files, clock, environment, processes and SQLite
//! everywhere, and only the files in this table may allow them again.

use super::{RuleFindings, WorkspaceTree, is_test_file, without_inline_tests};

/// The doors. A row that ends in `/` is a folder. A new door is a decision:
/// add a row here and the reason at the top of the file.
const DOORS: &[&str] = &[
    "crates/memoranda-clients/src/files.rs",
    "crates/memoranda-engine/src/repository.rs",
    "crates/memoranda-import/src/input.rs",
    "crates/memoranda-import/src/sqlite.rs",
    "crates/memoranda-model/src/local/folder.rs",
    "crates/memoranda-store/src/clock.rs",
    "crates/memoranda-store/src/files/",
    "crates/memoranda-store/src/index/connection.rs",
    "crates/memoranda-store/src/machine/",
    "crates/memoranda-store/src/vault/platform.rs",
    "crates/memoranda/src/editor.rs",
    "crates/memoranda/src/pager.rs",
    "crates/memoranda/src/env.rs",
    "crates/memoranda/src/files.rs",
    "crates/memoranda/src/main.rs",
    "crates/memoranda/src/output.rs",
    "crates/memoranda/src/programs.rs",
    "fuzz/",
    "xtask/src/",
];

// Split in two parts, so that the rule does not match this file.
const LINTS: &str = concat!("clippy::", "disallowed_");

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| !may_open(&file.path)) {
        for line in lines_that_open(&file.text) {
            problems.push(format!(
                "{}:{line}: opens a door of its own; go through one of DOORS, or add a row",
                file.path
            ));
        }
    }
    RuleFindings { problems, ..RuleFindings::default() }
}

fn may_open(path: &str) -> bool {
    is_test_file(path)
        || path.ends_with("/build.rs")
        || DOORS.iter().any(|door| path == *door || door.ends_with('/') && path.starts_with(door))
}

/// Returns the line numbers, from 1, on which a forbidden effect is allowed again.
fn lines_that_open(text: &str) -> Vec<usize> {
    let lines = without_inline_tests(text).lines().enumerate();
    lines.filter(|(_, line)| line.contains(LINTS)).map(|(n, _)| n + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_doors_open() {
        for path in [
            "crates/memoranda-store/src/files/walk.rs",
            "crates/memoranda-store/src/clock.rs",
            "crates/memoranda-store/tests/crash.rs",
            "crates/memoranda/build.rs",
            "xtask/src/docs.rs",
        ] {
            assert!(may_open(path), "{path}");
        }
        for path in ["crates/memoranda-core/src/clock.rs", "crates/memoranda-store/src/files.rs"] {
            assert!(!may_open(path), "{path}");
        }
    }

    #[test]
    fn an_opened_door_is_found_outside_tests() {
        let allow = format!("#![allow({LINTS}methods)]\n");
        assert_eq!(lines_that_open(&format!("//! Doc.\n{allow}")), [2]);
        assert_eq!(lines_that_open(&format!("#![allow(\n    {LINTS}types,\n)]\n")), [2]);
        let tests = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n    {allow}}}\n");
        assert_eq!(lines_that_open(&tests), Vec::<usize>::new());
    }
}
