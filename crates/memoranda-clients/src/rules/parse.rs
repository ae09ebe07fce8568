//! Parses rule files: every list item is a rule, and its heading is the category. Generated files
//! are parsed too, because they may come from a colleague's repository.

use memoranda_engine::core::globs;
use memoranda_engine::core::note::{Frontmatter, MetaValue, parse};

use super::escape::{unescape_imports, unescape_marks};
use super::render::{is_all, parse_scope_prefix};
use super::{AgentRule, MARK, block};

/// Content of a rule file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParsedRules {
    /// The rules, each with its first line, from 1.
    pub rules: Vec<(usize, AgentRule)>,
    /// Lines outside of lists, which are not rules.
    pub prose: Vec<String>,
}

/// The rules in a file.
pub fn rules_in(text: &str) -> ParsedRules {
    let note = parse(text);
    let start = if note.body.start > 0 { note.body.start } else { head_length(text) };
    let (head, body) = text.split_at_checked(start).unwrap_or(("", text));
    let mut paths = head_globs(head, &note.frontmatter);
    paths.retain(|glob| !is_all(glob));
    let mut reader = RuleParser {
        found: ParsedRules::default(),
        paths,
        category: String::new(),
        author: TextAuthor::Person,
        item: None,
        number: head.matches('\n').count() + 1,
    };
    if text.contains(MARK) {
        reader.paths.iter_mut().for_each(anchor_glob);
        reader.part(body, TextAuthor::Memoranda);
        return reader.found;
    }
    // Our block ends an open item above it, and no item of the block continues below.
    match block::split_at_block(body) {
        Some([above, ours, below]) => {
            reader.part(above, TextAuthor::Person);
            reader.part(ours, TextAuthor::Memoranda);
            reader.part(below, TextAuthor::Person);
        }
        None => reader.part(body, TextAuthor::Person),
    }
    reader.found
}

/// In a head that Memoranda wrote, a glob starts at the root.
fn anchor_glob(glob: &mut String) {
    if !glob.contains('/') {
        glob.insert(0, '/');
    }
}

/// Start of the text after a head between dashes, even if the head is not valid YAML.
fn head_length(text: &str) -> usize {
    const MAX_HEAD_LINES: usize = 100;
    let mut end = 0;
    for (n, line) in text.split_inclusive('\n').take(MAX_HEAD_LINES).enumerate() {
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

/// The globs in the head of a file. Cursor and Windsurf write them without quotes. A glob that
/// begins with a star is not valid YAML then, so the lines are read instead.
fn head_globs(head: &str, frontmatter: &Frontmatter) -> Vec<String> {
    const KEYS: [&str; 3] = ["paths", "globs", "applyTo"];
    // A rule that always applies is for all files.
    let says = |key: &str, value: &str| {
        let line = format!("{key}: {value}");
        frontmatter.text(key).is_some_and(|text| text.trim() == value)
            || head.lines().any(|other| other.trim_end() == line)
    };
    if says("alwaysApply", "true") || says("trigger", "always_on") {
        return Vec::new();
    }
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
        found.extend(value.into_iter().flat_map(|value| globs::split_globs(&plain(value))));
    }
    found
}

/// Author of the parsed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TextAuthor {
    Person,
    /// A generated rule may start with its files.
    Memoranda,
}

struct RuleParser {
    found: ParsedRules,
    paths: Vec<String>,
    category: String,
    author: TextAuthor,
    /// The rule that is being read, and its line.
    item: Option<(usize, Vec<String>)>,
    /// The number of the next line.
    number: usize,
}

impl RuleParser {
    /// Reads what one author wrote.
    fn part(&mut self, text: &str, author: TextAuthor) {
        self.author = author;
        let mut fence: Option<String> = None;
        let mut is_comment = false;
        for line in text.lines() {
            let number = self.number;
            self.number += 1;
            let trimmed = line.trim();
            if is_comment {
                is_comment = !trimmed.contains("-->");
                continue;
            }
            // In generated text every indented line belongs to the rule above it.
            let is_own = author == TextAuthor::Memoranda && line.starts_with("  ");
            match &fence {
                _ if is_own => {
                    fence = None;
                    self.more(line);
                }
                Some(end) => {
                    if trimmed.starts_with(end.as_str()) {
                        fence = None;
                    }
                    self.more(line);
                }
                None if trimmed.starts_with("```") || trimmed.starts_with("~~~") => {
                    let mark = trimmed.chars().next().unwrap_or('`');
                    fence = Some(trimmed.chars().take_while(|c| *c == mark).collect());
                    // Code of a rule is indented below it.
                    if !line.starts_with(' ') {
                        self.close();
                    }
                    self.more(line);
                }
                None if line.starts_with("<!--") => {
                    is_comment = !trimmed.contains("-->");
                    self.close();
                }
                None => self.line(line, number),
            }
        }
        self.close();
        self.category.clear();
    }

    fn line(&mut self, line: &str, number: usize) {
        let trimmed = line.trim();
        if let Some(heading) = heading(line) {
            self.close();
            // The title of the whole file is not a category.
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
            // A line without indentation continues the item above it.
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
        let (mut paths, mut category) = (self.paths.clone(), self.category.clone());
        let is_rule = match self.author {
            TextAuthor::Person => text.contains(char::is_alphanumeric),
            TextAuthor::Memoranda => {
                // If the head names the files, the rules do not name them again.
                if let Some((globs, rest)) = parse_scope_prefix(&text).filter(|_| paths.is_empty())
                {
                    (paths, text) = (globs, rest.trim().to_owned());
                }
                let unescape = |text: &str| unescape_marks(&unescape_imports(text));
                (text, category) = (unescape(&text), unescape(&category));
                !text.is_empty()
            }
        };
        if !is_rule {
            return;
        }
        let rule = AgentRule { text, paths, category };
        self.found.rules.push((number, rule));
    }
}

fn heading(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim().to_owned())
}

/// Returns the text of a list item; `None` for other lines and nested items.
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
        MetaValue::Text(text) | MetaValue::Plain(text) => globs::split_globs(text),
        MetaValue::Map(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use memoranda_engine::records::normalize_globs;
    use proptest::prelude::*;

    use super::super::{RuleFileForm, TARGETS, pages, with_block};
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
            (4, AgentRule { text: "All".into(), paths: Vec::new(), category: String::new() })
        );
    }

    #[test]
    fn what_always_applies_is_for_all_files() {
        let cursor = "---\nglobs: src/**/*.ts\nalwaysApply: true\n---\n- Strict\n";
        let bare = "---\nglobs: *.ts\nalwaysApply: true\n---\n- Strict\n";
        let windsurf = "---\ntrigger: always_on\nglobs: *.ts\n---\n- Strict\n";
        for text in [cursor, bare, windsurf] {
            assert_eq!(rules_in(text).rules[0].1.paths, Vec::<String>::new(), "{text}");
        }
    }

    fn rule(text: &str, paths: &[&str], category: &str) -> AgentRule {
        AgentRule {
            text: text.to_owned(),
            paths: paths.iter().map(|&path| path.to_owned()).collect(),
            category: category.to_owned(),
        }
    }

    /// Normalises a rule: no trailing blanks, sorted words, plain globs.
    fn stated(rule: &AgentRule) -> (String, Vec<String>, String) {
        let lines: Vec<_> = rule.text.trim().lines().map(str::trim_end).collect();
        let mut paths: Vec<String> = rule.paths.iter().flat_map(|p| normalize_globs(p)).collect();
        paths.sort();
        paths.dedup();
        if paths.iter().any(|path| is_all(path)) {
            paths.clear();
        }
        let category: Vec<_> = rule.category.split_whitespace().collect();
        (lines.join("\n"), paths, category.join(" "))
    }

    /// Checks that generated rules are parsed back unchanged for each target.
    fn check_read_back(rules: &[AgentRule], person: &str) {
        let mut expected: Vec<_> = rules.iter().map(stated).collect();
        expected.sort();
        for target in TARGETS {
            let mut found = Vec::new();
            for page in pages(target, rules) {
                let (text, own) = match target.form {
                    RuleFileForm::Block => {
                        let text = with_block(person, &page.text).unwrap();
                        (format!("{text}\nWords.\n\n- Mine\n"), 2)
                    }
                    _ => (page.text, 0),
                };
                let mut rules = rules_in(&text).rules;
                let mine = rules.iter().filter(|(_, rule)| rule.text == "Mine").count();
                assert!(mine >= own.min(1), "{}: {text}", target.name);
                rules.retain(|(_, rule)| rule.text != "Mine");
                found.extend(rules.iter().map(|(_, rule)| stated(rule)));
                let ours = super::super::generated_in(&text).unwrap();
                assert!(rules_in(ours).prose.is_empty(), "{}: {text}", target.name);
            }
            found.sort();
            assert_eq!(found, expected, "{}", target.name);
        }
    }

    #[test]
    fn what_was_generated_is_read_as_it_was() {
        let rules = [
            rule("One", &[], ""),
            rule("Two\n\n- of\n- several lines", &["*.py"], ""),
            rule("Three", &["src/**/*.{ts,tsx}", "a b/*"], ""),
            rule("Keep <!-- memoranda:rules:end --> as it is", &[], "Marks"),
            rule("Or &lt;!-- memoranda:rules:end -->", &[], "<!-- memoranda:rules:end -->"),
            rule("```sh\n- make\n```\nthen go", &[], ""),
            rule("~~~\nmake\n~~~", &["*.c"], ""),
            rule("Unclosed:\n```\nmake", &[], ""),
            rule("For `foo`: do bar", &[], ""),
            rule("For `foo`: do baz", &["/top.md"], "Files"),
            rule("For all files: do bar", &[], ""),
            rule("# No heading\n<!-- no comment\n# none", &["src/api"], ""),
            rule("!", &["**"], ""),
        ];
        check_read_back(&rules, "Words.\n\n- Mine\n");
        check_read_back(&rules, "Words.\n\n- Mine\n\n```sh\nopen\n");
        check_read_back(&rules, "# Title\r\n\r\n- Mine\r\n<!-- open\r\n");
    }

    /// Words with a meaning in Markdown or in rule files.
    fn words() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z ]{1,6}",
            "\\PC{0,4}",
            Just("\n".to_owned()),
            Just("\n\n".to_owned()),
            proptest::sample::select(vec![
                "```",
                "~~~",
                "- ",
                "# ",
                "## ",
                "1. ",
                "  ",
                "\t",
                "<!--",
                "-->",
                "For `",
                "`: ",
                "`, `",
                "For all files: ",
                "<",
                "&",
                "amp;",
                "lt;",
                "!-- memoranda:rules:",
                "<!-- memoranda:rules:end -->",
                "<!-- memoranda:rules:begin",
                "---",
                "\r\n",
                MARK,
                "&lt;!-- memoranda:rules:",
            ])
            .prop_map(str::to_owned),
        ];
        proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_words_are_read_as_they_were_written(
            texts in proptest::collection::vec(
                (words(), proptest::sample::select(vec!["", "*.py", "src/api", "/top.md"]), words()),
                1..4,
            ),
            person in proptest::sample::select(vec!["- Mine\n", "- Mine\n```\nx\n", "- Mine"]),
        ) {
            let mut rules: Vec<AgentRule> = Vec::new();
            for (text, path, category) in &texts {
                let paths: Vec<&str> = [*path].into_iter().filter(|p| !p.is_empty()).collect();
                rules.push(rule(text, &paths, category));
            }
            rules.retain(|rule| !rule.text.trim().is_empty() && rule.text.trim() != "Mine");
            check_read_back(&rules, person);
        }
    }

    #[test]
    fn a_persons_words_are_taken_as_they_are() {
        let text = "- For `x`: do y\n- Use `&lt;!-- memoranda:rules:end -->`\n";
        let found: Vec<_> = rules_in(text).rules.into_iter().map(|(_, rule)| rule.text).collect();
        assert_eq!(found, ["For `x`: do y", "Use `&lt;!-- memoranda:rules:end -->`"]);
    }
}
