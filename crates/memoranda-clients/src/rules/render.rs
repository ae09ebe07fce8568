//! Renders rules as the pages of a target. Equal rules give equal bytes, independent of their order
//! and of the time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use memoranda_engine::core::abbreviate::join_words;
use memoranda_engine::core::note::permalink::slug;
use memoranda_engine::records::normalize_globs;

use super::AgentRule;
use super::escape::{escape_imports, escape_marks};
use super::target::{RuleFileForm, RuleTarget};

/// Mark in every generated file.
pub const MARK: &str = "<!-- Made by `memoranda rules generate`; edit the rules, not this. -->";

/// Prefix of a listed rule that applies to some files: For `a`, `b`: …
const SCOPE_START: &str = "For `";
const SCOPE_SEPARATOR: &str = "`, `";
const SCOPE_END: &str = "`: ";
/// Prefix of a rule for all files whose text begins like the prefix for some files.
const SCOPE_ALL: &str = "For all files: ";

/// One file of a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulePage {
    /// Path relative to the repository.
    pub path: String,
    /// Text of the whole file, or of the block between the marks.
    pub text: String,
}

/// The files that a target needs for these rules; none without rules.
pub fn pages(target: &RuleTarget, rules: &[AgentRule]) -> Vec<RulePage> {
    if rules.is_empty() {
        return Vec::new();
    }
    // Targets without scopes get one page; each rule names its files.
    if matches!(target.form, RuleFileForm::Block | RuleFileForm::Plain) {
        let list = render_list(&rules.iter().collect::<Vec<_>>(), ScopePlacement::PerRule);
        let text = match target.form {
            RuleFileForm::Block => list,
            _ => format!("{MARK}\n\n{list}"),
        };
        return vec![RulePage { path: target.path.to_owned(), text }];
    }
    let mut by_paths: BTreeMap<Vec<String>, Vec<&AgentRule>> = BTreeMap::new();
    for rule in rules {
        by_paths.entry(globs_of(rule)).or_default().push(rule);
    }
    let mut used: Vec<String> = Vec::new();
    let mut page = |(paths, rules): (Vec<String>, Vec<&AgentRule>)| {
        let mut path = path_for(target, &paths);
        while used.contains(&path) {
            path = path.replacen("memoranda-", "memoranda-x-", 1);
        }
        used.push(path.clone());
        let head = head(target.form, &paths);
        let placement =
            if paths.is_empty() { ScopePlacement::PerRule } else { ScopePlacement::InHead };
        let text = format!("{head}{MARK}\n\n{}", render_list(&rules, placement));
        RulePage { path, text }
    };
    by_paths.into_iter().map(&mut page).collect()
}

/// The files that a rule is for, as every program reads them; none if it is for all.
fn globs_of(rule: &AgentRule) -> Vec<String> {
    let mut globs: Vec<String> = rule.paths.iter().flat_map(|path| normalize_globs(path)).collect();
    globs.sort();
    globs.dedup();
    if globs.iter().any(|glob| is_all(glob)) {
        globs.clear();
    }
    globs
}

/// Returns true if a glob matches all files.
pub(super) fn is_all(glob: &str) -> bool {
    matches!(glob, "**" | "**/*" | "**/**")
}

/// Place of the globs of a rule: in each rule, or once in the head of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopePlacement {
    PerRule,
    InHead,
}

/// Returns the scope prefix of a rule.
fn scope_prefix(rule: &AgentRule, placement: ScopePlacement) -> String {
    let begins_like_scope =
        [SCOPE_START, SCOPE_ALL].iter().any(|sign| rule.text.trim().starts_with(sign));
    // Characters that would end the prefix early are replaced.
    let plain = |path: &String| path.replace(['`', '\n', '\r'], "?");
    match (placement, globs_of(rule).is_empty()) {
        (ScopePlacement::PerRule, false) => {
            let paths: Vec<String> = rule.paths.iter().map(plain).collect();
            format!("{SCOPE_START}{}{SCOPE_END}", paths.join(SCOPE_SEPARATOR))
        }
        (ScopePlacement::PerRule, true) if begins_like_scope => SCOPE_ALL.to_owned(),
        _ => String::new(),
    }
}

/// Rules as a list: those of no category first, then each category under its heading. What
/// `read.rs` makes of it are the same rules: an item begins at the margin, and all of its further
/// lines are indented or empty.
fn render_list(rules: &[&AgentRule], placement: ScopePlacement) -> String {
    let mut by_category: BTreeMap<String, Vec<&AgentRule>> = BTreeMap::new();
    for rule in rules {
        by_category
            .entry(join_words(&escape_imports(&escape_marks(&rule.category))))
            .or_default()
            .push(rule);
    }
    let mut text = String::from("# Rules\n");
    for (category, rules) in by_category {
        if !category.is_empty() {
            let _ = write!(text, "\n## {category}\n");
        }
        text.push('\n');
        for rule in rules {
            let scope = scope_prefix(rule, placement);
            let rule_text = escape_imports(&escape_marks(&rule.text));
            let mut lines = rule_text.trim().lines();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(text, "- {scope}{}", first.trim_end());
            for line in lines {
                match line.trim_end() {
                    "" => text.push('\n'),
                    line => {
                        let _ = writeln!(text, "  {line}");
                    }
                }
            }
        }
    }
    text
}

/// Splits a listed rule into the globs that it applies to and its text.
pub(super) fn parse_scope_prefix(text: &str) -> Option<(Vec<String>, &str)> {
    if let Some(rest) = text.strip_prefix(SCOPE_ALL) {
        return Some((Vec::new(), rest));
    }
    let (named, rest) = text.strip_prefix(SCOPE_START)?.split_once(SCOPE_END)?;
    Some((named.split(SCOPE_SEPARATOR).map(str::to_owned).collect(), rest))
}

fn path_for(target: &RuleTarget, paths: &[String]) -> String {
    let Some(first) = paths.first() else { return target.path.to_owned() };
    let name = slug(&first.replace(['*', '/', '.', '{', '}', ','], " "));
    let name = if name.is_empty() { "files".to_owned() } else { name };
    let name: String = name.chars().take(60).collect();
    target.path.replacen("memoranda", &format!("memoranda-{name}"), 1)
}

/// Returns the frontmatter from which a client knows when the page applies.
fn head(form: RuleFileForm, paths: &[String]) -> String {
    let quoted = |glob: &String| format!("\"{}\"", glob.replace('\\', "\\\\").replace('"', "\\\""));
    let globs = paths.join(",");
    match (form, paths) {
        (RuleFileForm::PathList(_), []) | (RuleFileForm::Block | RuleFileForm::Plain, _) => {
            String::new()
        }
        (RuleFileForm::PathList(key), paths) => {
            let items: String =
                paths.iter().map(|path| format!("  - {}\n", quoted(path))).collect();
            format!("---\n{key}:\n{items}---\n")
        }
        (RuleFileForm::Cursor, []) => {
            "---\ndescription: Rules of this project\nalwaysApply: true\n---\n".to_owned()
        }
        (RuleFileForm::Cursor, _) => format!(
            "---\ndescription: Rules of this project for certain files\nglobs: {globs}\n\
             alwaysApply: false\n---\n"
        ),
        (RuleFileForm::Copilot, []) => "---\napplyTo: \"**\"\n---\n".to_owned(),
        (RuleFileForm::Copilot, _) => format!("---\napplyTo: {}\n---\n", quoted(&globs)),
        (RuleFileForm::Windsurf, []) => "---\ntrigger: always_on\n---\n".to_owned(),
        (RuleFileForm::Windsurf, _) => format!("---\ntrigger: glob\nglobs: {globs}\n---\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::find_target;
    use super::*;

    fn rule(text: &str, paths: &[&str], category: &str) -> AgentRule {
        let paths = paths.iter().map(|&path| path.to_owned()).collect();
        AgentRule { text: text.to_owned(), paths, category: category.to_owned() }
    }

    fn check(name: &str, rules: &[AgentRule], expected: &[(&str, &str)]) {
        let pages = pages(find_target(name).unwrap(), rules);
        let found: Vec<_> = pages.iter().map(|p| (p.path.as_str(), p.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_reader_gets_what_it_reads() {
        let rules = [
            rule("Use pnpm", &[], ""),
            rule("Two\n\nparagraphs", &[], "Style"),
            rule("Strict", &["src/**/*.ts"], ""),
        ];
        check("agents", &[], &[]);
        check(
            "agents",
            &rules,
            &[(
                "AGENTS.md",
                "# Rules\n\n- Use pnpm\n- For `src/**/*.ts`: Strict\n\n## Style\n\n- Two\n\n  paragraphs\n",
            )],
        );
        check(
            "claude",
            &rules[1..],
            &[
                (
                    ".claude/rules/memoranda.md",
                    &format!("{MARK}\n\n# Rules\n\n## Style\n\n- Two\n\n  paragraphs\n"),
                ),
                (
                    ".claude/rules/memoranda-src-ts.md",
                    &format!(
                        "---\npaths:\n  - \"src/**/*.ts\"\n---\n{MARK}\n\n# Rules\n\n- Strict\n"
                    ),
                ),
            ],
        );
        check(
            "cursor",
            &rules[..1],
            &[(
                ".cursor/rules/memoranda.mdc",
                &format!(
                    "---\ndescription: Rules of this project\nalwaysApply: true\n---\n{MARK}\n\n\
                     # Rules\n\n- Use pnpm\n"
                ),
            )],
        );
    }

    #[test]
    fn other_programs_read_globs_as_they_are_meant() {
        let rules = [
            rule("a", &["*.sql", "src/api/"], ""),
            rule("b", &["./src/api/", "**/*.sql"], ""),
            rule("c", &["/top.md"], ""),
            rule("d", &["*", "x"], ""),
        ];
        let head = |paths: &str| {
            format!(
                "---\ndescription: Rules of this project for certain files\nglobs: {paths}\n\
                 alwaysApply: false\n---\n{MARK}\n\n# Rules\n\n"
            )
        };
        check(
            "cursor",
            &rules,
            &[
                (
                    ".cursor/rules/memoranda.mdc",
                    &format!(
                        "---\ndescription: Rules of this project\nalwaysApply: true\n---\n{MARK}\n\n\
                         # Rules\n\n- d\n"
                    ),
                ),
                (
                    ".cursor/rules/memoranda-sql.mdc",
                    &format!("{}- a\n- b\n", head("**/*.sql,src/api/**")),
                ),
                (".cursor/rules/memoranda-top-md.mdc", &format!("{}- c\n", head("top.md"))),
            ],
        );
    }

    #[test]
    fn globs_that_look_alike_get_pages_of_their_own() {
        let rules = [rule("a", &["src/*.ts"], ""), rule("b", &["src/**/*.ts"], "")];
        let pages = pages(find_target("cursor").unwrap(), &rules);
        assert_eq!(pages.len(), 2);
        assert_ne!(pages[0].path, pages[1].path);
    }
}
