//! Links, source paths and functions in pages that do not exist, and records missing in their index.

use std::collections::{BTreeMap, BTreeSet};

use super::text::is_verbatim;
use super::{RuleFindings, WorkspaceTree};
use crate::workspace::TextFile;

/// The page whose tables name source files, relative to the file named before them.
const MAP: &str = "ARCHITECTURE.md";

/// The page that lists the records of decisions.
const DESIGN_INDEX: &str = "docs/design/README.md";

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    RuleFindings { problems: check_files(&tree.files), ..RuleFindings::default() }
}

fn check_files(files: &[TextFile]) -> Vec<String> {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let sources: BTreeMap<&str, &str> =
        files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
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
            let missing = missing_sources(&page.text, &sources);
            problems.extend(missing.map(|(line, problem)| format!("{MAP}:{line}: {problem}")));
        }
    }
    problems.extend(design_index(files));
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

/// Source files, and functions and types of these files, that the tables of the map name and that do
/// not exist.
fn missing_sources(
    text: &str,
    sources: &BTreeMap<&str, &str>,
) -> impl Iterator<Item = (usize, String)> {
    let rows = text.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    rows.flat_map(|(n, row)| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let mut missing = Vec::new();
        let mut found = Vec::new();
        for (name, path) in source_paths(row, sources) {
            match sources.get(path.as_str()) {
                Some(text) => found.push(*text),
                None => missing.push((n + 1, format!("no file `{name}`"))),
            }
        }
        // In the tables of calls, the first cell has files and the second cell their functions.
        if let [files, functions] = cells.as_slice()
            && files.contains("/src/")
            && !functions.contains("/src/")
        {
            let names = functions.split('`').skip(1).step_by(2);
            let unknown = names.filter(|name| !found.iter().any(|text| defines(text, name)));
            missing.extend(unknown.map(|name| (n + 1, format!("no function `{name}`"))));
        }
        missing
    })
}

/// Source files that a row names, with their paths. A path starts with the folder of a crate; a bare
/// name belongs to the folder of the path before it, or to the crate's `src`.
fn source_paths<'a>(row: &'a str, sources: &BTreeMap<&str, &str>) -> Vec<(&'a str, String)> {
    let mut folders: Vec<String> = Vec::new();
    let code = row.split('`').skip(1).step_by(2);
    let names = code.filter(|code| code.ends_with(".rs") || code.ends_with(".sql"));
    let path = |name: &'a str| {
        if let Some((krate, rest)) = name.split_once("/src/") {
            let source_folder = format!("crates/{krate}/src");
            let folder = rest.rsplit_once('/').map(|(folder, _)| folder);
            folders =
                folder.map(|folder| format!("{source_folder}/{folder}")).into_iter().collect();
            folders.push(source_folder.clone());
            return (name, format!("{source_folder}/{rest}"));
        }
        let mut paths = folders.iter().map(|folder| format!("{folder}/{name}"));
        let found = paths.find(|path| sources.contains_key(path.as_str()));
        (name, found.unwrap_or_else(|| name.to_owned()))
    };
    names.map(path).collect()
}

/// Returns true if a source file defines a function or type: `run`, `Store::transact`.
fn defines(text: &str, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    ["fn", "struct", "enum", "trait"].iter().any(|keyword| {
        text.match_indices(&format!("{keyword} {name}")).any(|(at, found)| {
            let next = text[at + found.len()..].chars().next();
            !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

/// Records of decisions that the index of the folder lacks or lists out of order.
fn design_index(files: &[TextFile]) -> Vec<String> {
    let Some(index) = files.iter().find(|file| file.path == DESIGN_INDEX) else {
        return Vec::new();
    };
    let listed = index.text.lines().filter_map(|line| line.strip_prefix("| [")?.split(']').next());
    let listed: Vec<&str> = listed.collect();
    let folder = DESIGN_INDEX.trim_end_matches("README.md");
    let numbers = files.iter().filter_map(|file| file.path.strip_prefix(folder)?.get(..4));
    let mut numbers: Vec<&str> =
        numbers.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())).collect();
    numbers.sort_unstable();
    if listed == numbers {
        return Vec::new();
    }
    let lacking: Vec<&str> =
        numbers.into_iter().filter(|number| !listed.contains(number)).collect();
    let problem = if lacking.is_empty() {
        "the records are not in the order of their numbers".to_owned()
    } else {
        format!("the records {} are not listed", lacking.join(", "))
    };
    vec![format!("{DESIGN_INDEX}: {problem}")]
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
            TextFile {
                path: "crates/memoranda-store/src/log/frame.rs".into(),
                text: "pub fn read_last() {}\nimpl LogFrame {\n    fn write(&self) {}\n}\n".into(),
            },
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

    #[test]
    fn the_map_names_existing_functions() {
        let row = |functions: &str| {
            format!("| `memoranda-store/src/log/frame.rs`, `mod.rs` | {functions} |\n")
        };
        check(MAP, &row("`read_last`; `LogFrame::write`: the bytes"), &[]);
        check(MAP, &row("`read`"), &["ARCHITECTURE.md:1: no function `read`"]);
    }

    #[test]
    fn the_index_lists_every_record_in_order() {
        let check = |index: &str, expected: &[&str]| {
            let file = |path: &str| TextFile { path: path.into(), text: String::new() };
            let files = [
                file("docs/design/0007-b.md"),
                file("docs/design/0001-a.md"),
                TextFile { path: DESIGN_INDEX.into(), text: index.into() },
            ];
            assert_eq!(design_index(&files), expected, "{index}");
        };
        check("| [0001](0001-a.md) | A |\n| [0007](0007-b.md) | B |\n", &[]);
        check(
            "| [0007](0007-b.md) | B |\n| [0001](0001-a.md) | A |\n",
            &["docs/design/README.md: the records are not in the order of their numbers"],
        );
        check(
            "| [0001](0001-a.md) | A |\n",
            &["docs/design/README.md: the records 0007 are not listed"],
        );
    }
}
