//! Removes repeated blocks and struck-out items of a text. Only equal blocks are merged, nothing is
//! reworded, and the history keeps the removed text.

use std::collections::HashSet;

use super::bank::BankType;
use super::outline::headings;
use super::template;

/// Minimum length of a block that is merged, in characters. Shorter blocks may repeat on purpose.
const MIN_BLOCK_CHARS: usize = 20;

/// Returns the text of a file without repetitions; `None` if there are none.
pub(super) fn deduplicated_text(kind: BankType, file: &str, text: &str) -> Option<String> {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let plain = text.replace("\r\n", "\n");
    let mut sections = merged(&plain);
    let mut seen = HashSet::new();
    for section in &mut sections {
        let placeholder = template::placeholder(kind, file, &section.title);
        let blocks = std::mem::take(&mut section.blocks);
        let has_text = blocks.iter().any(|block| Some(block.trim()) != placeholder);
        section.blocks = blocks
            .into_iter()
            .filter(|block| !(has_text && Some(block.trim()) == placeholder))
            .filter_map(|block| kept(&block, &mut seen))
            .collect();
    }
    let mut tidy = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        for part in section.heading.iter().chain(&section.blocks) {
            // A first block directly under its heading stays there.
            let close = section.is_close && section.blocks.first() == Some(part);
            if !tidy.is_empty() && !close {
                tidy.push('\n');
            }
            tidy.push_str(part.trim_end());
            tidy.push('\n');
        }
    }
    // A difference in spacing alone is not a repetition.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    (words(&tidy) != words(&plain)).then(|| tidy.replace('\n', ending))
}

struct OutlineSection {
    level: usize,
    title: String,
    heading: Option<String>,
    blocks: Vec<String>,
    is_close: bool,
}

impl OutlineSection {
    fn is_empty(&self) -> bool {
        self.heading.is_none() && self.blocks.is_empty()
    }
}

/// Splits a text into sections and joins sections of the same name. A section with subsections stays
/// separate.
fn merged(text: &str) -> Vec<OutlineSection> {
    let all = headings(text);
    let first = all.first().map_or(text.len(), |heading| heading.start);
    let opening = text.get(..first).unwrap_or_default();
    let mut sections = vec![OutlineSection {
        level: 0,
        title: String::new(),
        heading: None,
        blocks: blocks(opening),
        is_close: false,
    }];
    let mut above = Vec::new();
    let mut places: Vec<(Vec<String>, usize)> = Vec::new();
    for (n, heading) in all.iter().enumerate() {
        let next = all.get(n + 1);
        let body = text.get(heading.end..next.map_or(text.len(), |next| next.start));
        let body = body.unwrap_or_default();
        above.truncate(heading.level - 1);
        above.resize(heading.level - 1, String::new());
        above.push(heading.title.to_lowercase());
        let has_own = next.is_some_and(|next| next.level > heading.level);
        let known = places.iter().find(|(name, _)| *name == above).map(|(_, at)| *at);
        let known = known.and_then(|at| sections.get_mut(at));
        match known {
            Some(known) if !has_own && heading.level == known.level => {
                known.blocks.extend(blocks(body));
            }
            _ => {
                places.push((above.clone(), sections.len()));
                sections.push(OutlineSection {
                    level: heading.level,
                    title: heading.title.clone(),
                    heading: text.get(heading.start..heading.end).map(str::to_owned),
                    blocks: blocks(body),
                    is_close: !body.starts_with('\n'),
                });
            }
        }
    }
    sections
}

/// Splits a text into blocks at blank lines outside of code.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block = String::new();
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
        }
        if line.trim().is_empty() && !is_code {
            if !block.is_empty() {
                blocks.push(std::mem::take(&mut block));
            }
            continue;
        }
        block.push_str(line);
    }
    if !block.is_empty() {
        blocks.push(block);
    }
    blocks
}

/// Removes repetitions from a block; `None` if nothing is left.
fn kept(block: &str, seen: &mut HashSet<String>) -> Option<String> {
    let is_list = block.lines().all(|line| line.starts_with("- ") || line.starts_with("  "));
    if !is_list {
        return is_new(block, seen).then(|| block.to_owned());
    }
    // An item includes the indented lines below it.
    let mut items: Vec<String> = Vec::new();
    for line in block.split_inclusive('\n') {
        match items.last_mut() {
            Some(item) if line.starts_with("  ") => item.push_str(line),
            _ => items.push(line.to_owned()),
        }
    }
    let items = items.into_iter().filter(|item| !is_struck(item) && is_new(item, seen));
    let left: String = items.collect();
    (!left.is_empty()).then_some(left)
}

fn is_new(block: &str, seen: &mut HashSet<String>) -> bool {
    let block = block.trim();
    block.chars().count() < MIN_BLOCK_CHARS || seen.insert(block.to_owned())
}

/// Returns true if the whole item is struck out.
fn is_struck(item: &str) -> bool {
    let text = item.trim().trim_start_matches("- ").trim();
    let inner = text.strip_prefix("~~").and_then(|text| text.strip_suffix("~~"));
    inner.is_some_and(|inner| !inner.contains("~~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let found = deduplicated_text(BankType::Code, "doc/api.md", text);
        assert_eq!(found.as_deref(), expected, "{text:?}");
        if let Some(found) = found {
            assert_eq!(
                deduplicated_text(BankType::Code, "doc/api.md", &found),
                None,
                "twice is once"
            );
        }
    }

    #[test]
    fn repeated_blocks_are_merged() {
        let fact = "The limit is fifty requests per second.";
        check(&format!("# T\n\n## A\n{fact}\n\n## B\nother\n"), None);
        check(&format!("# T\n\n{fact}\n\n{fact}\n"), Some(&format!("# T\n\n{fact}\n")));
        check(
            &format!("## A\n{fact}\n\n## B\nb\n\n## a\nmore of it\n"),
            Some(&format!("## A\n{fact}\n\nmore of it\n\n## B\nb\n")),
        );
        check(
            &format!("- {fact}\n- ~~old and no longer true~~\n- {fact}\n- short\n- short\n"),
            Some(&format!("- {fact}\n- short\n- short\n")),
        );
        check(
            "## Public API\nDocumentation for the public API.\n\nGET /x\n",
            Some("## Public API\nGET /x\n"),
        );
        check("## Public API\nDocumentation for the public API.\n", None);
        let code = "```\nlet a_long_name = 1;\n\nlet a_long_name = 1;\n```\n";
        check(code, None);
        check(&format!("{code}\n{code}"), Some(code));
        check(
            "a\r\n\r\nA line that is said twice.\r\n\r\nA line that is said twice.\r\n",
            Some("a\r\n\r\nA line that is said twice.\r\n"),
        );
    }
}
