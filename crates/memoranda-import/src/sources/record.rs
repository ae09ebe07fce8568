//! Small memories of one statement each, as the records dialect keeps them.

use jiff::Timestamp;
use memoranda_engine::core::note::edit::{NoteEdit, apply_edit};
use memoranda_engine::core::path::NotePath;
use memoranda_engine::hash;
use memoranda_engine::records::{NewRecord, RecordExpiry, RecordKind, RecordScope};

use super::ImportTarget;
use crate::error::{ImportError, Result};
use crate::item::{ImportItem, ItemBody, ItemNaming, with_key};
use crate::json::JsonObject;
use crate::time;

/// Longer ids are nothing to type.
const MAX_ID_CHARS: usize = 24;

/// A record on its way in.
#[derive(Default)]
pub(super) struct ImportedRecord {
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
    pub(super) expires: Option<Timestamp>,
    /// What else is known of it.
    pub(super) metadata: JsonObject,
}

impl ImportedRecord {
    pub(super) fn into_item(self, target: &ImportTarget) -> Result<ImportItem> {
        let kind = RecordKind::parse(&self.kind).unwrap_or(RecordKind::Note);
        let scope = record_scope(&self.repository);
        let path = record_path(&scope, kind.as_str(), &self.id, target)?;
        let record = NewRecord {
            tags: self.tags,
            paths: self.paths,
            category: Some(self.category).filter(|category| !category.is_empty()),
            metadata: Some(self.metadata).filter(|metadata| !metadata.is_empty()),
            created: self.created,
            expires: self.expires.map(RecordExpiry::from),
            ..NewRecord::new(kind, scope, self.text)
        };
        let failed = |e: String| ImportError::NotThat(format!("{}: {e}", self.id));
        let text = record.to_file_text(Timestamp::UNIX_EPOCH).map_err(|e| failed(e.to_string()))?;
        let text = match self.created {
            Some(_) => text,
            // A time that nobody knows is better not stated.
            None => apply_edit(&text, &NoteEdit::RemoveKey { key: "created".to_owned() })
                .map_err(|e| failed(e.to_string()))?,
        };
        let text = with_key(text, "modified", &time::frontmatter(self.modified));
        let project = target.project("records")?;
        Ok(ImportItem {
            id: self.id,
            project,
            path,
            naming: ItemNaming::Fixed,
            body: ItemBody::Note(text),
        })
    }
}

/// Whom a record concerns.
pub(super) fn record_scope(repository: &str) -> RecordScope {
    RecordScope::project(repository).unwrap_or(RecordScope::Global)
}

/// Where a record of a kind lies.
pub(super) fn record_path(
    scope: &RecordScope,
    kind: &str,
    id: &str,
    target: &ImportTarget,
) -> Result<NotePath> {
    let folder = target.folder(&scope.folder());
    let path = format!("{folder}/{kind}/{}.md", short_id(id));
    NotePath::parse(path.trim_start_matches('/')).map_err(|e| ImportError::Engine(e.into()))
}

/// An id that can be typed and be a file's name: its own, or one made from it.
fn short_id(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(plain) {
        return id.to_owned();
    }
    hash(id.as_bytes()).to_string().chars().take(12).collect()
}
