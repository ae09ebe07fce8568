//! Renders a conversation as a note: speaker, time and text of each turn.
//!
//! The text of a turn is a block quote. Markdown in it creates no facts and no headings in the
//! note.

use std::fmt::Write as _;

use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;

use crate::item::{
    ImportItem, ItemBody, ItemNaming, NoteDraft, link_safe_title, note_path, title_from_text,
};
use crate::time;

/// One turn of a conversation.
pub(crate) struct ConversationTurn {
    /// Name of the speaker.
    pub(crate) who: String,
    /// Time of the turn; `None` if the source has none.
    pub(crate) at: Option<Timestamp>,
    /// Text of the turn.
    pub(crate) text: String,
}

/// A conversation read from an export.
pub(crate) struct Conversation {
    /// Id of the conversation at its source.
    pub(crate) id: String,
    /// Title; empty if the conversation has none.
    pub(crate) title: String,
    /// Time of the first turn.
    pub(crate) created: Option<Timestamp>,
    /// Time of the last change.
    pub(crate) modified: Option<Timestamp>,
    /// Further frontmatter keys of the note.
    pub(crate) keys: Vec<(&'static str, String)>,
    /// Turns in order.
    pub(crate) turns: Vec<ConversationTurn>,
}

impl Conversation {
    /// Converts the conversation into a note of a folder.
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

/// Renders a text as a Markdown block quote.
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

/// Renders a text as a code block. The fence is longer than any run of backticks in the text.
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
