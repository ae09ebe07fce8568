//! Converts memories of one statement into records.

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

/// Maximum length of an id that is kept as the file name.
const MAX_ID_CHARS: usize = 24;

/// A record to be imported.
#[derive(Default)]
pub(super) struct ImportedRecord {
    /// Id at the source.
    pub(super) id: String,
    /// Type of the record; an unknown type becomes `note`.
    pub(super) kind: String,
    /// Repository as `host/owner/repo`; empty for a global record.
    pub(super) repository: String,
    /// Text of the record.
    pub(super) text: String,
    pub(super) tags: Vec<String>,
    /// Globs of the files that the record applies to.
    pub(super) paths: Vec<String>,
    pub(super) category: String,
    pub(super) created: Option<Timestamp>,
    pub(super) modified: Option<Timestamp>,
    pub(super) expires: Option<Timestamp>,
    /// Further metadata.
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
            // An unknown creation time is omitted.
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

/// Returns the scope of a repository; global if it is empty.
pub(super) fn record_scope(repository: &str) -> RecordScope {
    RecordScope::project(repository).unwrap_or(RecordScope::Global)
}

/// Returns the path of a record.
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

/// Returns the id if it is short and valid as a file name, else a hash of the id.
fn short_id(id: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(plain) {
        return id.to_owned();
    }
    hash(id.as_bytes()).to_string().chars().take(12).collect()
}
