//! Items of an import: location and content of one memory.

use jiff::Timestamp;
use memoranda_engine::core::abbreviate::{cut_at_word, join_words};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::edit::{NoteEdit, apply_edit};
use memoranda_engine::core::note::permalink::{file_name_from_title, title_from_line};
use memoranda_engine::core::note::{MetaValue, parse};
use memoranda_engine::core::path::NotePath;

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// One memory to be imported as a note.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportItem {
    /// Id at the source, stable between runs.
    pub id: String,
    /// Target project.
    pub project: ProjectName,
    /// Path in the project.
    pub path: NotePath,
    /// Treatment of a path that another note has.
    pub naming: ItemNaming,
    /// Content.
    pub body: ItemBody,
}

/// Treatment of an item whose path is used by another note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ItemNaming {
    /// The file name is a title and may be extended.
    Title,
    /// The file name identifies the item and cannot change.
    Fixed,
}

/// Content of an item.
#[derive(Clone, PartialEq, Debug)]
pub enum ItemBody {
    /// A note that receives provenance in its frontmatter.
    Note(String),
    /// A note from an export that omits fields. A note with the same body stays unchanged.
    Abridged(String),
    /// A new note, and its facts as edits that are merged into an existing or edited note.
    Facts(String, Vec<NoteEdit>),
    /// Exact bytes, and the modification time to keep.
    Exact(Vec<u8>, Option<Timestamp>),
}

/// Builds a note from frontmatter keys and a body; the YAML editor quotes the values.
pub(crate) struct NoteDraft {
    head: String,
    body: String,
}

impl NoteDraft {
    /// Starts a note with a body.
    pub(crate) fn new(body: impl Into<String>) -> Self {
        Self { head: String::new(), body: body.into() }
    }

    /// Adds a frontmatter key; an empty value is omitted.
    pub(crate) fn key(self, key: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        if value.is_empty() {
            return self;
        }
        // The frontmatter was written by this function, so the edit cannot fail.
        let edit = NoteEdit::SetKey { key: key.to_owned(), value: MetaValue::Text(value) };
        let head = apply_edit(&self.head, &edit).unwrap_or(self.head);
        Self { head, ..self }
    }

    /// Returns the text of the note.
    pub(crate) fn text(self) -> String {
        let Self { head, body } = self;
        let mut text = if head.is_empty() || body.starts_with('\n') || body.is_empty() {
            head + &body
        } else {
            format!("{head}\n{body}")
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Adds a frontmatter key, unless the text has the key or its frontmatter cannot be edited.
pub(crate) fn with_key(text: String, key: &str, value: &str) -> String {
    if value.is_empty() || parse(&text).frontmatter.get(key).is_some() {
        return text;
    }
    let value = MetaValue::Text(value.to_owned());
    apply_edit(&text, &NoteEdit::SetKey { key: key.to_owned(), value }).unwrap_or(text)
}

/// Returns the path of a note by folder and title, without invalid characters.
pub(crate) fn note_path(folder: &str, title: &str) -> NotePath {
    let name = file_name_from_title(&link_safe_title(title));
    let folder = sanitize_folder(folder);
    let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
    // If the folder is too deep, the note is placed at the top.
    NotePath::parse(&path)
        .or_else(|_| NotePath::parse(&file_name_from_title(title)))
        .unwrap_or_else(|_| untitled())
}

fn untitled() -> NotePath {
    #[allow(clippy::expect_used, reason = "a constant that a test reads")]
    NotePath::parse("untitled.md").expect("a plain name")
}

/// Returns a valid folder path: characters that a file system rejects become `-`, and `.` and `..`
/// are removed.
pub(crate) fn sanitize_folder(folder: &str) -> String {
    let part = |part: &str| {
        let name = file_name_from_title(part);
        name.strip_suffix(".md").unwrap_or(&name).to_owned()
    };
    let parts = folder.split('/').filter(|part| !part.trim().is_empty() && !is_dots(part));
    parts.map(part).collect::<Vec<_>>().join("/")
}

fn is_dots(part: &str) -> bool {
    part.trim().chars().all(|c| c == '.')
}

/// Returns a title without link syntax, cut to a readable length.
pub(crate) fn link_safe_title(title: &str) -> String {
    let plain: String = title
        .replace("[[", "")
        .replace("]]", "")
        .chars()
        .map(|c| if c.is_control() || "#^|".contains(c) { ' ' } else { c })
        .collect();
    cut_at_word(&join_words(&plain), MAX_TITLE_CHARS).to_owned()
}

/// Returns the first words of a text as a title.
pub(crate) fn title_from_text(text: &str, otherwise: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| line.contains(char::is_alphanumeric));
    let line = line.unwrap_or(otherwise).trim_start_matches(['#', '-', '>', '*', ' ']);
    title_from_line(&link_safe_title(line)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_of_any_title() {
        for (folder, title, expected) in [
            ("claude/conversations", "Plan: a/b", "claude/conversations/Plan- a-b.md"),
            ("", "", "untitled.md"),
            ("../../etc", "passwd", "etc/passwd.md"),
            ("a//b/./c", "x", "a/b/c/x.md"),
            ("a", "See [[Other]] #tag | more", "a/See Other tag more.md"),
            ("a\\b", "\u{0}", "a-b/untitled.md"),
        ] {
            assert_eq!(note_path(folder, title).as_str(), expected);
        }
        let long = "word ".repeat(100);
        assert!(note_path("a", &long).as_str().len() < 110);
        assert_eq!(untitled().as_str(), "untitled.md");
    }

    #[test]
    fn a_draft_quotes_what_needs_it() {
        let check = |draft: NoteDraft, expected: &str| assert_eq!(draft.text(), expected);
        check(NoteDraft::new("text"), "text\n");
        check(
            NoteDraft::new("# T\n").key("title", "a: b").key("empty", "").key("no", "x"),
            "---\ntitle: \"a: b\"\n\"no\": x\n---\n\n# T\n",
        );
        check(NoteDraft::new("").key("type", "note"), "---\ntype: note\n---\n");
    }

    #[test]
    fn a_text_is_called_by_its_title_from_line() {
        for (text, expected) in [
            ("\n\n## Heading\n", "Heading"),
            ("- an item", "an item"),
            ("```\n", "Note"),
            ("", "Note"),
            (
                "Twelve words, which are far more than any title of a note should ever have",
                "Twelve words, which are far more than any title of a note",
            ),
        ] {
            assert_eq!(title_from_text(text, "Note"), expected);
        }
    }
}
