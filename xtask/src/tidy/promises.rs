//! Tests that CONTRIBUTING.md names for the promises and that do not exist.

use super::{RuleFindings, WorkspaceTree};
use crate::workspace::TextFile;

/// The page with the table of promises.
const PAGE: &str = "CONTRIBUTING.md";

/// Heading of the table.
const TABLE: &str = "| Promise | Tests |";

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    let page = tree.files.iter().find(|file| file.path == PAGE);
    let problems = page.map(|page| missing_tests(&page.text, &tree.files)).unwrap_or_default();
    RuleFindings { problems, ..RuleFindings::default() }
}

fn missing_tests(page: &str, files: &[TextFile]) -> Vec<String> {
    let rows = page.lines().enumerate().skip_while(|(_, line)| *line != TABLE);
    let rows = rows.take_while(|(_, line)| line.starts_with('|'));
    rows.flat_map(|(n, row)| row.split('`').skip(1).step_by(2).map(move |name| (n + 1, name)))
        // Scripts are checked as links or run by `.ci/run`.
        .filter(|(_, name)| !name.contains(['.', '/']) && !exists(name, files))
        .map(|(line, name)| format!("{PAGE}:{line}: no test `{name}`"))
        .collect()
}

/// Returns true if a name is a module, or a function of one: `crash::*`, `random::whatever_happens`.
fn exists(name: &str, files: &[TextFile]) -> bool {
    let (module, test) = name.rsplit_once("::").unwrap_or((name, "*"));
    let module = module.rsplit("::").next().unwrap_or(module);
    let is_module = |file: &&TextFile, module: &str| {
        file.path.ends_with(&format!("/{module}.rs")) || file.path.contains(&format!("/{module}/"))
    };
    let mut sources = files.iter().filter(|file| is_module(file, module)).peekable();
    let function = format!("fn {}", test.trim_end_matches('*'));
    sources.peek().is_some()
        && (test == "*"
            || sources.any(|file| is_module(&file, test) || file.text.contains(&function)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_tests_exist() {
        let file = |path: &str, text: &str| TextFile { path: path.into(), text: text.into() };
        let files = [
            file("crates/a/tests/it/crash.rs", "fn files_stay() {}\n"),
            file("crates/a/src/note/edit/properties.rs", ""),
            file("fuzz/fuzz_targets/parse.rs", ""),
        ];
        let check = |names: &str, expected: &[&str]| {
            let page = format!("x\n{TABLE}\n|---|---|\n| 1 | a {names} |\n\n`gone`\n");
            assert_eq!(missing_tests(&page, &files), expected, "{names}");
        };
        check("`crash::*`, `crash::files_stay`, `crash::files_*`; `parse`; `.ci/run`", &[]);
        check("`note::edit::properties`", &[]);
        check("`crash::gone`", &["CONTRIBUTING.md:4: no test `crash::gone`"]);
        check(
            "`lost::*`, `lost`",
            &["CONTRIBUTING.md:4: no test `lost::*`", "CONTRIBUTING.md:4: no test `lost`"],
        );
    }
}
