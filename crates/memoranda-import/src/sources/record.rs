//! Small memories of one statement each, as the records dialect keeps them.

use jiff::Timestamp;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::hash;

use super::Target;
use crate::error::{ImportError, Result};
use crate::piece::{Body, Draft, Naming, Piece, tidy_folder};
use crate::time;

/// The types that records have.
const TYPES: [&str; 5] = ["rule", "decision", "fact", "note", "skill"];
/// Longer ids are nothing to type.
const LONGEST_ID: usize = 24;

/// A record on its way in.
#[derive(Default)]
pub(super) struct Record {
    /// What its source calls it.
    pub(super) id: String,
    /// Its type; what is none becomes a note.
    pub(super) kind: String,
    /// The repository that it belongs to, as `host/owner/repo`; empty if to none.
    pub(super) repository: String,
    /// What it says.
    pub(super) text: String,
    pub(super) tags: Vec<String>,
    /// The files that it is about, as globs.
    pub(super) paths: Vec<String>,
    pub(super) category: String,
    pub(super) created: Option<Timestamp>,
    pub(super) modified: Option<Timestamp>,
    /// What else its frontmatter says.
    pub(super) keys: Vec<(String, String)>,
}

impl Record {
    pub(super) fn piece(self, target: &Target) -> Result<Piece> {
        let project = target.project("records")?;
        let kind = if TYPES.contains(&self.kind.as_str()) { self.kind.as_str() } else { "note" };
        let scope = match self.repository.is_empty() {
            true => "global".to_owned(),
            false => format!("projects/{}", tidy_folder(&self.repository.replace('/', "-"))),
        };
        let folder = target.folder(&scope);
        let path = format!("{folder}/{kind}/{}.md", short(&self.id));
        let path = NotePath::parse(path.trim_start_matches('/'))
            .map_err(|e| ImportError::Engine(e.into()))?;
        let mut draft = Draft::new(self.text.trim())
            .key("type", kind)
            .key("project_id", self.repository)
            .list("tags", self.tags)
            .list("paths", self.paths)
            .key("category", self.category)
            .key("created", time::stated(self.created))
            .key("modified", time::stated(self.modified));
        for (key, value) in &self.keys {
            draft = draft.key(key, value);
        }
        let body = Body::Note(draft.text());
        Ok(Piece { id: self.id, project, path, naming: Naming::Fixed, body })
    }
}

/// An id that can be typed and be a file's name: its own, or one made from it.
fn short(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(plain) {
        return id.to_owned();
    }
    hash(id.as_bytes()).to_string().chars().take(12).collect()
}
