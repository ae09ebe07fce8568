//! Reading rule files back: every item of a list is a rule, and its heading says what kind.

use memoranda_engine::core::note::{MetaValue, parse};

use super::{MARK, Rule, without_block};

/// What a file was found to hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    /// Its rules, each with the line that it begins on, from 1.
    pub(crate) rules: Vec<(usize, Rule)>,
    /// How many paragraphs are no list, and so no rules.
    pub(crate) prose: usize,
}

/// The rules in a file. What Memoranda wrote there itself is none.
pub(crate) fn rules_in(text: &str) -> Found {
    if text.contains(MARK) {
        return Found::default();
    }
    // Marks that are damaged are read like any other text.
    let own = without_block(text).unwrap_or_else(|_| text.to_owned());
    let note = parse(&own);
    let paths = ["paths", "globs", "applyTo"]
        .iter()
        .filter_map(|key| note.frontmatter.get(key))
        .flat_map(globs)
        .filter(|glob| glob != "**" && glob != "**/*")
        .collect();
    let body = own.get(note.body.clone()).unwrap_or_default();
    let first = own.get(..note.body.start).unwrap_or_default().matches('\n').count() + 1;
    let mut reader = Reader { found: Found::default(), paths, category: String::new(), item: None };
    let mut fence: Option<String> = None;
    for (n, line) in body.lines().enumerate() {
        let trimmed = line.trim();
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
            None => reader.line(line, first + n),
        }
    }
    reader.close();
    reader.found
}

struct Reader {
    found: Found,
    paths: Vec<String>,
    category: String,
    /// The rule that is being read, and its line.
    item: Option<(usize, Vec<String>)>,
}

impl Reader {
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
            if !trimmed.starts_with("<!--") && !trimmed.starts_with('@') {
                self.found.prose += 1;
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
        let text = lines.join("\n").trim().to_owned();
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let rule = Rule { text, paths: self.paths.clone(), category: self.category.clone() };
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

fn globs(value: &MetaValue) -> Vec<String> {
    match value {
        MetaValue::List(items) => items.iter().flat_map(globs).collect(),
        MetaValue::Text(text) => {
            // A comma within braces is part of a glob.
            let mut parts = vec![String::new()];
            let mut depth = 0;
            for c in text.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        parts.push(String::new());
                        continue;
                    }
                    _ => {}
                }
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
            let parts = parts.into_iter().map(|part| part.trim().to_owned());
            parts.filter(|part| !part.is_empty()).collect()
        }
        MetaValue::Map(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{pages, target, with_block};
    use super::*;

    fn check(text: &str, expected: &[(usize, &str, &str)], prose: usize) {
        let found = rules_in(text);
        let rules: Vec<_> = found
            .rules
            .iter()
            .map(|(line, rule)| (*line, rule.text.as_str(), rule.category.as_str()))
            .collect();
        assert_eq!(rules, expected, "{text}");
        assert_eq!(found.prose, prose, "{text}");
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
        check("", &[], 0);
    }

    #[test]
    fn files_and_globs_are_read_from_the_frontmatter() {
        let cursor = "---\nglobs: src/**/*.{ts,tsx}, *.md\nalwaysApply: false\n---\n- Strict\n";
        assert_eq!(rules_in(cursor).rules[0].1.paths, ["src/**/*.{ts,tsx}", "*.md"]);
        let claude = "---\npaths:\n  - \"src/*.rs\"\n---\n- Safe\n";
        assert_eq!(rules_in(claude).rules[0].1.paths, ["src/*.rs"]);
        let copilot = "---\napplyTo: \"**\"\n---\n- All\n";
        assert_eq!(
            rules_in(copilot).rules[0],
            (4, Rule { text: "All".into(), paths: Vec::new(), category: String::new() })
        );
    }

    #[test]
    fn what_was_generated_is_not_read_back() {
        let rules = [Rule { text: "One".into(), paths: vec![], category: String::new() }];
        for name in ["claude", "cursor", "copilot", "cline"] {
            let page = pages(target(name).unwrap(), &rules).remove(0);
            assert_eq!(rules_in(&page.text), Found::default(), "{name}");
        }
        let block = pages(target("agents").unwrap(), &rules).remove(0).text;
        let text = with_block("- Mine\n", &block).unwrap();
        check(&text, &[(1, "Mine", "")], 0);
    }
}
