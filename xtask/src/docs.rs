//! `cargo xtask docs`: writes the reference pages. The binary prints them from its own tables, so
//! that they contain every flag, variable and exit code.

use std::path::Path;

use crate::{Result, statements, workspace};

/// The pages, and the arguments of the binary for each.
const PAGES: &[(&str, &[&str])] = &[
    ("docs/reference/commands.md", &["reference", "commands"]),
    ("docs/reference/environment.md", &["reference", "environment"]),
    ("docs/reference/config.md", &["reference", "config"]),
    ("docs/reference/exit-codes.md", &["reference", "exit-codes"]),
    ("docs/reference/tools.md", &["reference", "tools"]),
    ("docs/reference/http-api.md", &["reference", "http-api"]),
    ("docs/reference/openapi.json", &["reference", "openapi"]),
];

/// The page that is computed here, because the binary does not contain the labelled sentences.
const GUESSES_PAGE: &str = "docs/reference/guessing.md";

/// Writes the pages, or only compares them.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let root = workspace::root()?;
    match arguments {
        [] => write(&root),
        [flag] if flag == "--check" => {
            check(&root)?;
            println!("docs: {} pages are current", PAGES.len() + 1);
            Ok(())
        }
        _ => Err("takes nothing, or `--check`".into()),
    }
}

/// Returns the paths of all pages with their current text.
fn render_pages(root: &Path) -> impl Iterator<Item = Result<(&'static str, String)>> {
    let printed = PAGES.iter().map(|(path, question)| Ok((*path, print_page(root, question)?)));
    let computed = std::iter::once_with(|| Ok((GUESSES_PAGE, statements::render_page(root)?)));
    printed.chain(computed)
}

fn write(root: &Path) -> Result<()> {
    for rendered in render_pages(root) {
        let (path, text) = rendered?;
        let page = root.join(path);
        if std::fs::read_to_string(&page).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::create_dir_all(page.parent().unwrap_or(root))?;
        std::fs::write(&page, text)?;
        println!("docs: wrote {path}");
    }
    Ok(())
}

/// Fails with the first line of the first page that differs from the output of the binary.
pub(crate) fn check(root: &Path) -> Result<()> {
    for rendered in render_pages(root) {
        let (path, produced) = rendered?;
        let Ok(written) = std::fs::read_to_string(root.join(path)) else {
            return Err(format!("{path} is missing; run `cargo xtask docs`").into());
        };
        if let Some(difference) = first_difference(&written, &produced) {
            return Err(format!("{path}:{difference}\nrun `cargo xtask docs`").into());
        }
    }
    Ok(())
}

fn print_page(root: &Path, question: &[&str]) -> Result<String> {
    let mut command = workspace::memoranda(root);
    command.args(question);
    // The page must not depend on the settings of the person who makes it.
    command.env("NO_COLOR", "1").env("COLUMNS", "100");
    let text = workspace::output(&mut command).map_err(|e| {
        format!("the binary does not answer `memoranda {}`: {e}", question.join(" "))
    })?;
    if text.trim().is_empty() {
        let question = question.join(" ");
        return Err(format!("`memoranda {question}` prints nothing; is it implemented?").into());
    }
    Ok(text)
}

/// Returns the first difference of two texts; `None` if they are equal.
fn first_difference(written: &str, produced: &str) -> Option<String> {
    if written == produced {
        return None;
    }
    let (mut old, mut new) = (written.split('\n'), produced.split('\n'));
    let mut number = 0;
    loop {
        number += 1;
        match (old.next(), new.next()) {
            (None, None) => return None,
            (old, new) if old == new => {}
            (old, new) => {
                let shown =
                    |line: Option<&str>| line.map_or("nothing".into(), |l| format!("{l:?}"));
                return Some(format!("{number}: says {}, should say {}", shown(old), shown(new)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_line_is_returned() {
        let check = |written: &str, produced: &str, expected: Option<&str>| {
            assert_eq!(first_difference(written, produced).as_deref(), expected);
        };
        check("a\nb\n", "a\nb\n", None);
        check("a\nb\nc\n", "a\nx\ny\n", Some("2: says \"b\", should say \"x\""));
        check("a\n", "a\nb\n", Some("2: says \"\", should say \"b\""));
        check("a\nb", "a", Some("2: says \"b\", should say nothing"));
    }

    #[test]
    fn pages_are_listed_once() {
        let paths: std::collections::HashSet<_> = PAGES.iter().map(|(path, _)| path).collect();
        assert_eq!(paths.len(), PAGES.len());
    }
}
