//! A conversation as a note: who said what, when, each turn quoted.
//!
//! What was said is quoted text, not knowledge: in a quote, nothing that looks like a fact is
//! taken for one, and a heading in an answer does not cut the note in two.

use std::fmt::Write as _;

use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;

use crate::piece::{Body, Draft, Naming, Piece, linkable, path_of, title_of};
use crate::time;

/// One turn.
pub(crate) struct Turn {
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
    pub(crate) turns: Vec<Turn>,
}

impl Conversation {
    /// The conversation as a note in a folder.
    pub(crate) fn piece(self, project: &ProjectName, folder: &str) -> Piece {
        let begun = self.created.or_else(|| self.turns.iter().find_map(|turn| turn.at));
        let title = match linkable(&self.title) {
            title if title.is_empty() => {
                title_of(self.turns.first().map_or("", |turn| &turn.text), "Conversation")
            }
            title => title,
        };
        let name = match begun {
            Some(begun) => format!("{} {title}", time::day(begun)),
            None => title.clone(),
        };
        let mut body = format!("# {title}\n");
        for turn in &self.turns {
            let when = turn.at.map(|at| format!(" ({})", time::shown(at))).unwrap_or_default();
            let _ = write!(body, "\n## {}{when}\n\n{}", turn.who, quoted(&turn.text));
        }
        let mut draft = Draft::new(body)
            .key("title", title)
            .key("type", "conversation")
            .key("created", time::stated(begun))
            .key("modified", time::stated(self.modified));
        for (key, value) in self.keys {
            draft = draft.key(key, value);
        }
        Piece {
            id: self.id,
            project: project.clone(),
            path: path_of(folder, &name),
            naming: Naming::Title,
            body: Body::Note(draft.text()),
        }
    }
}

/// A text as a Markdown quote.
pub(crate) fn quoted(text: &str) -> String {
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
pub(crate) fn fenced(text: &str, language: &str) -> String {
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
            turns: vec![Turn {
                who: "You".into(),
                at: None,
                text: "# Not a heading\n\n- [idea] not a fact #tag\n".into(),
            }],
        };
        let piece = conversation.piece(&ProjectName::parse("main").unwrap(), "claude");
        assert_eq!(piece.path.as_str(), "claude/2026-01-02 A talk.md");
        let Body::Note(text) = piece.body else { panic!("a note") };
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
        assert_eq!(fenced("a", "c++"), "```c\na\n```\n");
        assert_eq!(fenced("```\nx\n```", ""), "````\n```\nx\n```\n````\n");
    }
}
