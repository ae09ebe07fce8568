//! Reading rule files back: every item of a list is a rule, and its heading says what kind. What
//! Memoranda wrote there is read too: a colleague's rules come to us by the repository.

use memoranda_engine::core::globs;
use memoranda_engine::core::note::{Frontmatter, MetaValue, parse};

use super::render::{for_files, unescaped};
use super::{MARK, Rule, block};

/// What a file was found to hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    /// Its rules, each with the line that it begins on, from 1.
    pub(crate) rules: Vec<(usize, Rule)>,
    /// Lines outside of lists, and so no rules.
    pub(crate) prose: Vec<String>,
}

/// The rules in a file.
pub(crate) fn rules_in(text: &str) -> Found {
    let note = parse(text);
    let start = if note.body.start > 0 { note.body.start } else { fenced(text) };
    let (head, body) = text.split_at_checked(start).unwrap_or(("", text));
    let mut paths = scope(head, &note.frontmatter);
    paths.retain(|glob| glob != "**" && glob != "**/*");
    let first = head.matches('\n').count() + 1;
    let author = if text.contains(MARK) { Author::Memoranda } else { Author::Person };
    let mut reader =
        Reader { found: Found::default(), paths, category: String::new(), author, item: None };
    let mut fence: Option<String> = None;
    let mut is_comment = false;
    for (n, line) in body.lines().enumerate() {
        let trimmed = line.trim();
        if is_comment {
            is_comment = !trimmed.contains("-->");
            continue;
        }
        match &fence {
            Some(end) => {
                if trimmed.starts_with(end.as_str()) {
                    fence = None;
                }
                reader.more(line);
                continue;
            }
            None if trimmed.starts_with("```") || trimmed.starts_with("~~~") => {
                let mark = trimmed.chars().next().unwrap_or('`');
                fence = Some(trimmed.chars().take_while(|c| *c == mark).collect());
                // Code that belongs to a rule is indented below it.
                if !line.starts_with(' ') {
                    reader.close();
                }
                reader.more(line);
                continue;
            }
            None if line.starts_with("<!--") => {
                is_comment = !trimmed.contains("-->");
                reader.comment(trimmed);
            }
            None => reader.line(line, first + n),
        }
    }
    reader.close();
    reader.found
}

/// Where the text begins after a head between dashes, also one that is no YAML.
fn fenced(text: &str) -> usize {
    const LONGEST: usize = 100;
    let mut end = 0;
    for (n, line) in text.split_inclusive('\n').take(LONGEST).enumerate() {
        end += line.len();
        match (n, line.trim_end()) {
            (0, "---") => {}
            (0, _) => return 0,
            (_, "---") => return end,
            _ => {}
        }
    }
    0
}

/// The globs that a file's head names. Cursor and Windsurf write them without quotes, which is no
/// YAML where they begin with a star; then the lines themselves are read.
fn scope(head: &str, frontmatter: &Frontmatter) -> Vec<String> {
    const KEYS: [&str; 3] = ["paths", "globs", "applyTo"];
    let named: Vec<String> =
        KEYS.iter().filter_map(|key| frontmatter.get(key)).flat_map(globs_of).collect();
    if !named.is_empty() {
        return named;
    }
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let mut found = Vec::new();
    let mut is_list = false;
    for line in head.lines() {
        if let Some(item) = line.trim().strip_prefix("- ").filter(|_| is_list) {
            found.push(plain(item));
            continue;
        }
        let value = KEYS.iter().find_map(|key| line.strip_prefix(key)?.strip_prefix(':'));
        is_list = value.is_some_and(|value| value.trim().is_empty());
        found.extend(value.into_iter().flat_map(|value| globs::split(&plain(value))));
    }
    found
}

/// Who wrote what is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Author {
    Person,
    /// Then a rule can begin with the files that it is for.
    Memoranda,
}

struct Reader {
    found: Found,
    paths: Vec<String>,
    category: String,
    author: Author,
    /// The rule that is being read, and its line.
    item: Option<(usize, Vec<String>)>,
}

impl Reader {
    fn comment(&mut self, text: &str) {
        self.close();
        if text.starts_with(block::BEGIN_SIGN) {
            self.author = Author::Memoranda;
        } else if text.starts_with(block::END) {
            self.author = Author::Person;
            self.category.clear();
        }
    }

    fn line(&mut self, line: &str, number: usize) {
        let trimmed = line.trim();
        if let Some(heading) = heading(line) {
            self.close();
            // The title of the whole file is no category.
            self.category = if line.starts_with("# ") { String::new() } else { heading };
        } else if let Some(text) = item(line) {
            self.close();
            self.item = Some((number, vec![text.to_owned()]));
        } else if trimmed.is_empty() || line.starts_with([' ', '\t']) {
            self.more(line);
        } else if self
            .item
            .as_ref()
            .is_some_and(|(_, lines)| lines.last().is_some_and(|last| !last.trim().is_empty()))
        {
            // A lazy line goes on with the item above it.
            self.more(line);
        } else {
            self.close();
            if !trimmed.starts_with('@') {
                self.found.prose.push(trimmed.to_owned());
            }
        }
    }

    fn more(&mut self, line: &str) {
        if let Some((_, lines)) = &mut self.item {
            let unindented = line.strip_prefix("  ").unwrap_or(line);
            lines.push(unindented.trim_end().to_owned());
        }
    }

    fn close(&mut self) {
        let Some((number, lines)) = self.item.take() else { return };
        let mut text = lines.join("\n").trim().to_owned();
        let mut paths = self.paths.clone();
        if self.author == Author::Memoranda {
            if let Some((globs, rest)) = for_files(&text) {
                (paths, text) = (globs, rest.to_owned());
            }
            text = unescaped(&text);
        }
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let rule = Rule { text, paths, category: self.category.clone() };
        self.found.rules.push((number, rule));
    }
}

fn heading(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim().to_owned())
}

/// What an item of a list says; `None` for other lines and for items within items.
fn item(line: &str) -> Option<&str> {
    if let Some(text) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(text.trim());
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = line.get(digits..).filter(|_| (1..=3).contains(&digits))?;
    let text = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    Some(text.trim())
}

fn globs_of(value: &MetaValue) -> Vec<String> {
    match value {
        MetaValue::List(items) => items.iter().flat_map(globs_of).collect(),
        MetaValue::Text(text) | MetaValue::Plain(text) => globs::split(text),
        MetaValue::Map(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Form, TARGETS, pages, with_block};
    use super::*;

    fn check(text: &str, expected: &[(usize, &str, &str)], prose: usize) {
        let found = rules_in(text);
        let rules: Vec<_> = found
            .rules
            .iter()
            .map(|(line, rule)| (*line, rule.text.as_str(), rule.category.as_str()))
            .collect();
        assert_eq!(rules, expected, "{text}");
        assert_eq!(found.prose.len(), prose, "{text}");
    }

    #[test]
    fn every_item_is_a_rule() {
        check("# Project\n\nIntro.\n\n- One\n* Two\n", &[(5, "One", ""), (6, "Two", "")], 1);
        check(
            "## Style\n1. First\n2) Second\n",
            &[(2, "First", "Style"), (3, "Second", "Style")],
            0,
        );
        check(
            "- Long\n  goes on\n  - nested\n\n- Next\n",
            &[(1, "Long\ngoes on\n- nested", ""), (5, "Next", "")],
            0,
        );
        check(
            "- Run:\n  ```sh\n  - not a rule\n  ```\n",
            &[(1, "Run:\n```sh\n- not a rule\n```", "")],
            0,
        );
        check("```\n- not a rule\n```\n- one\n", &[(4, "one", "")], 0);
        check("@AGENTS.md\n<!-- note -->\n", &[], 0);
        check(
            "- One\n<!-- not yet:\n- Two\n\n- Three -->\n- Four\n",
            &[(1, "One", ""), (6, "Four", "")],
            0,
        );
        check("", &[], 0);
    }

    #[test]
    fn files_and_globs_are_read_from_the_frontmatter() {
        let cursor = "---\nglobs: src/**/*.{ts,tsx}, *.md\nalwaysApply: false\n---\n- Strict\n";
        assert_eq!(rules_in(cursor).rules[0].1.paths, ["src/**/*.{ts,tsx}", "*.md"]);
        for bare in ["globs: *.py, src/*.{ts,tsx}", "globs:\n  - *.py\n  - src/*.{ts,tsx}"] {
            let text = format!("---\ndescription: x\n{bare}\nalwaysApply: false\n---\n- Typed\n");
            assert_eq!(rules_in(&text).rules[0].1.paths, ["*.py", "src/*.{ts,tsx}"], "{bare}");
        }
        let claude = "---\npaths:\n  - \"src/*.rs\"\n---\n- Safe\n";
        assert_eq!(rules_in(claude).rules[0].1.paths, ["src/*.rs"]);
        let copilot = "---\napplyTo: \"**\"\n---\n- All\n";
        assert_eq!(
            rules_in(copilot).rules[0],
            (4, Rule { text: "All".into(), paths: Vec::new(), category: String::new() })
        );
    }

    #[test]
    fn what_was_generated_is_read_as_it_was() {
        let rule = |text: &str, paths: &[&str], category: &str| Rule {
            text: text.to_owned(),
            paths: paths.iter().map(|&path| path.to_owned()).collect(),
            category: category.to_owned(),
        };
        let rules = [
            rule("One", &[], ""),
            rule("Two\n\n- of\n- several lines", &["*.py"], ""),
            rule("Three", &["src/**/*.{ts,tsx}", "a b/*"], ""),
            rule("Keep <!-- memoranda:rules:end --> as it is", &[], "Marks"),
        ];
        for target in TARGETS {
            let mut found = Vec::new();
            for page in pages(target, &rules) {
                let text = match target.form {
                    Form::Block => with_block("Words.\n\n- Mine\n", &page.text).unwrap(),
                    _ => page.text,
                };
                found.extend(rules_in(&text).rules.into_iter().map(|(_, rule)| rule));
            }
            found.retain(|rule| rule.text != "Mine");
            let place = |rule: &Rule| rules.iter().position(|known| known.text == rule.text);
            found.sort_by_key(|rule| place(rule));
            let sorted = |rules: &[Rule]| {
                let mut rules = rules.to_vec();
                rules.iter_mut().for_each(|rule| rule.paths.sort());
                rules
            };
            assert_eq!(sorted(&found), sorted(&rules), "{}", target.name);
        }
    }

    #[test]
    fn a_persons_words_are_taken_as_they_are() {
        let text = "- For `x`: do y\n- Use `&lt;!-- memoranda:rules:end -->`\n";
        let found: Vec<_> = rules_in(text).rules.into_iter().map(|(_, rule)| rule.text).collect();
        assert_eq!(found, ["For `x`: do y", "Use `&lt;!-- memoranda:rules:end -->`"]);
    }
}
