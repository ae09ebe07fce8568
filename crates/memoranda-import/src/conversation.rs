//! A conversation as a note: who said what, when, each turn quoted.
//!
//! What was said is quoted text, not knowledge: in a quote, nothing that looks like a fact is
//! taken for one, and a heading in an answer does not cut the note in two.

use std::fmt::Write as _;

use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;

use crate::item::{
    ImportItem, ItemBody, ItemNaming, NoteDraft, link_safe_title, note_path, title_from_text,
};
use crate::time;

/// One turn.
pub(crate) struct ConversationTurn {
    /// Who spoke.
    pub(crate) who: String,
    /// When.
    pub(crate) at: Option<Timestamp>,
    /// What was said.
    pub(crate) text: String,
}

/// A conversation.
pub(crate) struct Conversation {
    /// What its source calls it.
    pub(crate) id: String,
    /// Its title, if it has one.
    pub(crate) title: String,
    /// When it began.
    pub(crate) created: Option<Timestamp>,
    /// When it last went on.
    pub(crate) modified: Option<Timestamp>,
    /// What else the note's frontmatter says.
    pub(crate) keys: Vec<(&'static str, String)>,
    /// What was said.
    pub(crate) turns: Vec<ConversationTurn>,
}

impl Conversation {
    /// The conversation as a note in a folder.
    pub(crate) fn into_item(self, project: &ProjectName, folder: &str) -> ImportItem {
        let begun = self.created.or_else(|| self.turns.iter().find_map(|turn| turn.at));
        let title = match link_safe_title(&self.title) {
            title if title.is_empty() => {
                title_from_text(self.turns.first().map_or("", |turn| &turn.text), "Conversation")
            }
            title => title,
        };
        let name = match begun {
            Some(begun) => format!("{} {title}", time::utc_day(begun)),
            None => title.clone(),
        };
        let mut body = format!("# {title}\n");
        for turn in &self.turns {
            let when = turn.at.map(|at| format!(" ({})", time::display(at))).unwrap_or_default();
            let _ = write!(body, "\n## {}{when}\n\n{}", turn.who, block_quote(&turn.text));
        }
        let mut draft = NoteDraft::new(body)
            .key("title", title)
            .key("type", "conversation")
            .key("created", time::frontmatter(begun))
            .key("modified", time::frontmatter(self.modified));
        for (key, value) in self.keys {
            draft = draft.key(key, value);
        }
        ImportItem {
            id: self.id,
            project: project.clone(),
            path: note_path(folder, &name),
            naming: ItemNaming::Title,
            body: ItemBody::Note(draft.text()),
        }
    }
}

/// A text as a Markdown quote.
pub(crate) fn block_quote(text: &str) -> String {
    let mut quote = String::with_capacity(text.len() + 64);
    for line in text.trim_end().lines() {
        let line = line.trim_end_matches('\r');
        quote.push_str(if line.is_empty() { ">" } else { "> " });
        quote.push_str(line);
        quote.push('\n');
    }
    quote
}

/// A text as a block of code that nothing in it can end.
pub(crate) fn code_block(text: &str, language: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    let language: String = language.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use memoranda_engine::core::note::parse;

    use super::*;

    #[test]
    fn what_was_said_is_quoted_and_no_fact() {
        let conversation = Conversation {
            id: "1".into(),
            title: "A #talk".into(),
            created: "2026-01-02T03:04:05Z".parse().ok(),
            modified: None,
            keys: vec![("model", "x".into()), ("empty", String::new())],
            turns: vec![ConversationTurn {
                who: "You".into(),
                at: None,
                text: "# Not a heading\n\n- [idea] not a fact #tag\n".into(),
            }],
        };
        let item = conversation.into_item(&ProjectName::parse("main").unwrap(), "claude");
        assert_eq!(item.path.as_str(), "claude/2026-01-02 A talk.md");
        let ItemBody::Note(text) = item.body else { panic!("a note") };
        let note = parse(&text);
        assert_eq!(note.observations, []);
        let titles: Vec<_> = note.sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["A talk", "You"]);
        assert_eq!(note.frontmatter.text("created").as_deref(), Some("2026-01-02T03:04:05Z"));
        assert_eq!(note.frontmatter.get("empty"), None);
        assert!(text.ends_with("> # Not a heading\n>\n> - [idea] not a fact #tag\n"), "{text}");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(code_block("a", "c++"), "```c\na\n```\n");
        assert_eq!(code_block("```\nx\n```", ""), "````\n```\nx\n```\n````\n");
    }
}
