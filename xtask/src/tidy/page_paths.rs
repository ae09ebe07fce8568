//! Links and source paths in pages that lead nowhere.

use std::collections::BTreeSet;

use super::text::is_verbatim;
use super::{RuleFindings, WorkspaceTree};
use crate::workspace::TextFile;

/// The page whose tables name source files, relative to the file named before them.
const MAP: &str = "ARCHITECTURE.md";

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    RuleFindings { problems: check_files(&tree.files), ..RuleFindings::default() }
}

fn check_files(files: &[TextFile]) -> Vec<String> {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let pages = files.iter().filter(|file| file.extension() == "md" && !is_verbatim(&file.path));
    let mut problems = Vec::new();
    for page in pages {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in relative_links(&page.text) {
            // Pictures are not among the text files.
            if !target.ends_with(".png") && !exists(&paths, &join(folder, target)) {
                problems.push(format!("{}:{line}: a link to `{target}`", page.path));
            }
        }
        if page.path == MAP {
            let missing = missing_sources(&page.text, &paths);
            problems.extend(missing.map(|(line, path)| format!("{MAP}:{line}: no file `{path}`")));
        }
    }
    problems
}

/// Relative link targets of a page outside code, with their line numbers.
fn relative_links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().flat_map(move |(n, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let prose = line.split('`').step_by(2).filter(move |_| !is_code);
        let targets = prose
            .flat_map(|prose| prose.split("](").skip(1))
            .filter_map(|rest| rest.split([')', '#']).next());
        targets
            .filter(|target| !target.is_empty() && !target.contains([':', ' ']))
            .map(move |target| (n + 1, target))
    })
}

/// Source files in the tables of the map that do not exist. A path starts with the folder of a crate;
/// a bare name belongs to the folder of the path before it, or to the crate's `src`.
fn missing_sources<'a>(
    text: &'a str,
    paths: &BTreeSet<&str>,
) -> impl Iterator<Item = (usize, &'a str)> {
    text.lines().enumerate().filter(|(_, line)| line.starts_with('|')).flat_map(move |(n, line)| {
        let mut folders: Vec<String> = Vec::new();
        let code = line.split('`').skip(1).step_by(2);
        let sources = code.filter(|code| code.ends_with(".rs") || code.ends_with(".sql"));
        let mut missing = Vec::new();
        for source in sources {
            if let Some((name, rest)) = source.split_once("/src/") {
                let source_folder = format!("crates/{name}/src");
                let folder = rest.rsplit_once('/').map(|(folder, _)| folder);
                folders =
                    folder.map(|folder| format!("{source_folder}/{folder}")).into_iter().collect();
                folders.push(source_folder.clone());
                if !paths.contains(format!("{source_folder}/{rest}").as_str()) {
                    missing.push((n + 1, source));
                }
            } else if !folders
                .iter()
                .any(|folder| paths.contains(format!("{folder}/{source}").as_str()))
            {
                missing.push((n + 1, source));
            }
        }
        missing
    })
}

/// Resolves a relative link against the folder of its page.
fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns true if a path is a file, or a folder with files.
fn exists(paths: &BTreeSet<&str>, path: &str) -> bool {
    let folder = format!("{path}/");
    paths.contains(path)
        || paths.range(folder.as_str()..).next().is_some_and(|next| next.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, text: &str, expected: &[&str]) {
        let file = |path: &str| TextFile { path: path.into(), text: String::new() };
        let files = [
            TextFile { path: page.into(), text: text.into() },
            file("README.md"),
            file("docs/search.md"),
            file("docs/guides/notes.md"),
            file("crates/memoranda-store/src/lib.rs"),
            file("crates/memoranda-store/src/log/mod.rs"),
            file("crates/memoranda-store/src/log/frame.rs"),
        ];
        assert_eq!(check_files(&files), expected, "{text}");
    }

    #[test]
    fn links_lead_to_files_and_folders() {
        check("a.md", "[a](docs/search.md) [b](docs/guides) [c](https://x.y/z)\n", &[]);
        check("a.md", "[a](docs/search.md#limits) [b](#here)\n", &[]);
        check("docs/a.md", "[a](guides/notes.md) [b](../README.md)\n", &[]);
        check("a.md", "x\n[a](docs/gone.md)\n", &["a.md:2: a link to `docs/gone.md`"]);
        check("docs/a.md", "[a](docs/search.md)\n", &["docs/a.md:1: a link to `docs/search.md`"]);
        check("a.md", "```md\n[a](gone.md)\n```\n", &[]);
        check("a.md", "The link `[a](gone.md)`.\n", &[]);
        check("a.md", "[`a`](gone.md)\n", &["a.md:1: a link to `gone.md`"]);
        check("fixtures/a.md", "[a](gone.md)\n", &[]);
    }

    #[test]
    fn the_map_names_existing_files() {
        let row = |files: &str| format!("| Log? | {files} |\n");
        check(MAP, &row("`memoranda-store/src/log/mod.rs`, then `frame.rs`, `lib.rs`"), &[]);
        check(
            MAP,
            &row("`memoranda-store/src/commit.rs`, `apply.rs`"),
            &[
                "ARCHITECTURE.md:1: no file `memoranda-store/src/commit.rs`",
                "ARCHITECTURE.md:1: no file `apply.rs`",
            ],
        );
        check("docs/a.md", &row("`memoranda-store/src/commit.rs`"), &[]);
    }
}
