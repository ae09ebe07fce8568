//! Adding and editing records.

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::note::{self, MetaValue};
use memoranda_store::clock;
use serde_json::{Map, Value};

use super::error::{RecordError, RecordResult};
use super::expiry::RecordExpiry;
use super::kind::RecordKind;
use super::query::{find_record, kind_folder};
use super::record::{
    MemoryRecord, NewRecord, list_value, metadata_value, record_location, records_project,
    remove_key, set_key, title_of,
};
use crate::{Author, FileOperation, Memory, NoteLocation, TransactOutcome};

/// Maximum length of the text of a record, in characters.
pub const MAX_CONTENT_CHARS: usize = 100_000;

/// A record that was added.
#[derive(Clone, Debug)]
pub struct AddedRecord {
    /// The id.
    pub id: String,
    /// The file.
    pub place: NoteLocation,
}

/// Adds records in one commit. Returns ids and files in the given order.
pub fn add_records(
    memory: &Memory,
    who: &Author,
    records: &[NewRecord],
    message: Option<&str>,
) -> RecordResult<(Vec<AddedRecord>, Option<Commit>)> {
    memory.create_project(records_project().as_str())?;
    let now = clock::now();
    let mut steps = Vec::with_capacity(records.len());
    let mut added = Vec::with_capacity(records.len());
    let mut replaced: Vec<(NoteLocation, String)> = Vec::new();
    for record in records {
        if record.content.trim().is_empty() {
            return Err(RecordError::EmptyContent);
        }
        let (new, step) = create_step(record, now)?;
        for old in &record.supersedes {
            let old = find_record(memory, old)?;
            if !record.scope.covers(&old.scope) {
                return Err(RecordError::OtherScope {
                    id: old.id,
                    scope: Box::new(old.scope),
                    new_scope: Box::new(record.scope.clone()),
                });
            }
            replaced.push((old.place, new.id.clone()));
        }
        steps.push(step);
        added.push(new);
    }
    let outcome = memory.transact(who, message, |desk| -> RecordResult<Vec<FileOperation>> {
        let mut all = steps.clone();
        for (old, by) in &replaced {
            if let Some((text, _)) = desk.text(old)? {
                let text = set_key(&text, "superseded_by", MetaValue::Text(by.clone()))?;
                all.push(FileOperation::put(old.clone(), text));
            }
        }
        Ok(all)
    })?;
    match outcome {
        TransactOutcome::Committed(commit) => Ok((added, Some(commit))),
        TransactOutcome::Unchanged => Ok((added, None)),
        TransactOutcome::Conflict(_) => Err(RecordError::IdTaken),
    }
}

/// Generates the id of a new record and the step that creates its file.
pub(crate) fn create_step(
    record: &NewRecord,
    now: Timestamp,
) -> RecordResult<(AddedRecord, FileOperation)> {
    let id = clock::new_name();
    let folder = kind_folder(&record.scope, record.kind.as_str())?;
    let place = record_location(&format!("{folder}/{id}.md"))?;
    let step = FileOperation::create(place.clone(), record.to_file_text(now)?);
    Ok((AddedRecord { id, place }, step))
}

/// Changes of a record. `None` keeps an attribute, `Some(None)` clears it.
#[derive(Clone, Debug, Default)]
pub struct RecordChanges {
    /// New text.
    pub content: Option<String>,
    /// New kind.
    pub kind: Option<RecordKind>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New path patterns.
    pub paths: Option<Vec<String>>,
    /// New grouping key.
    pub category: Option<Option<String>>,
    /// New attributes.
    pub metadata: Option<Option<Map<String, Value>>>,
    /// New expiry.
    pub expires: Option<Option<RecordExpiry>>,
}

impl RecordChanges {
    /// Returns true if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.content.is_none()
            && self.kind.is_none()
            && self.tags.is_none()
            && self.paths.is_none()
            && self.category.is_none()
            && self.metadata.is_none()
            && self.expires.is_none()
    }

    /// Returns a record after the changes, from the record before and that of the new text.
    fn edited(&self, before: MemoryRecord, text: MemoryRecord) -> MemoryRecord {
        MemoryRecord {
            id: text.id,
            kind: text.kind,
            content: text.content,
            updated: text.updated,
            place: text.place,
            tags: if self.tags.is_some() { text.tags } else { before.tags },
            paths: if self.paths.is_some() { text.paths } else { before.paths },
            category: if self.category.is_some() { text.category } else { before.category },
            metadata: if self.metadata.is_some() { text.metadata } else { before.metadata },
            expires: if self.expires.is_some() { text.expires } else { before.expires },
            ..before
        }
    }

    /// Applies the changes to the text of a file.
    pub(crate) fn apply(&self, text: &str, now: Timestamp) -> RecordResult<String> {
        let mut text = text.to_owned();
        // An explicit time of the last change must stay correct.
        if note::parse(&text).frontmatter.get("modified").is_some() {
            text = set_key(&text, "modified", MetaValue::Text(now.to_string()))?;
        }
        if let Some(content) = &self.content {
            text = with_content(&text, content)?;
        }
        if let Some(kind) = self.kind {
            text = set_key(&text, "type", MetaValue::Text(kind.as_str().to_owned()))?;
        }
        for (key, list) in [("tags", &self.tags), ("paths", &self.paths)] {
            text = match list {
                None => text,
                Some(list) if list.is_empty() => remove_key(&text, key)?,
                Some(list) => set_key(&text, key, list_value(list))?,
            };
        }
        text = change_key(text, "category", self.category.as_ref(), |category| {
            MetaValue::Text(category.clone())
        })?;
        text = change_key(text, "metadata", self.metadata.as_ref(), metadata_value)?;
        change_key(text, "expires", self.expires.as_ref(), |expires: &RecordExpiry| {
            MetaValue::Text(expires.to_stored_text())
        })
    }
}

/// Replaces the body of a file. The title is updated if it was derived from the old body.
fn with_content(text: &str, content: &str) -> RecordResult<String> {
    let note = note::parse(text);
    let old = text.get(note.body.clone()).unwrap_or_default();
    let is_derived_title = note.title().is_some_and(|title| title == title_of(old));
    let head = text.get(..note.body.start).unwrap_or_default();
    let gap = if head.is_empty() { "" } else { "\n" };
    let mut body = format!("{gap}{}\n", content.trim());
    // The line endings of the file are kept.
    if text.contains("\r\n") {
        body = body.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let text = format!("{head}{body}");
    if is_derived_title {
        return set_key(&text, "title", MetaValue::Text(title_of(content)));
    }
    Ok(text)
}

fn change_key<T>(
    text: String,
    key: &str,
    change: Option<&Option<T>>,
    value: impl Fn(&T) -> MetaValue,
) -> RecordResult<String> {
    match change {
        None => Ok(text),
        Some(None) => remove_key(&text, key),
        Some(Some(new)) => set_key(&text, key, value(new)),
    }
}

/// A record that was edited.
#[derive(Clone, Debug)]
pub struct EditedRecord {
    /// The record after the change.
    pub record: MemoryRecord,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Edits a record. A new kind moves its file.
pub fn edit_record(
    memory: &Memory,
    who: &Author,
    id: &str,
    changes: &RecordChanges,
) -> RecordResult<EditedRecord> {
    let record = find_record(memory, id)?;
    let (from, to) = (record.place.clone(), moved_location(&record, changes.kind)?);
    let mut written = String::new();
    let outcome = memory.transact(who, None, |desk| -> RecordResult<Vec<FileOperation>> {
        let Some((text, _)) = desk.text(&from)? else {
            return Err(RecordError::Vanished { id: id.to_owned() });
        };
        let text = changes.apply(&text, clock::now())?;
        written.clone_from(&text);
        if from == to {
            return Ok(vec![FileOperation::put(from.clone(), text)]);
        }
        if desk.bytes(&to)?.is_some() {
            let location = Box::new(to.clone());
            return Err(RecordError::LocationTaken { id: id.to_owned(), location });
        }
        Ok(vec![FileOperation::move_from(to.clone(), from.path.clone(), text)])
    })?;
    let commit = match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged => None,
        TransactOutcome::Conflict(_) => {
            return Err(RecordError::RecordChanged { id: id.to_owned() });
        }
    };
    let time = commit.as_ref().map(|commit| commit.time);
    let edited = time.and_then(|time| MemoryRecord::of_version(&to, &written, time));
    let record = match edited {
        Some(edited) => changes.edited(record, edited),
        None => record,
    };
    Ok(EditedRecord { record, commit })
}

/// Returns the location of a record with another kind, whose folder is another.
pub(crate) fn moved_location(
    record: &MemoryRecord,
    kind: Option<RecordKind>,
) -> RecordResult<NoteLocation> {
    match kind.filter(|kind| *kind != record.kind) {
        None => Ok(record.place.clone()),
        Some(kind) => {
            let folder = kind_folder(&record.scope, kind.as_str())?;
            record_location(&format!("{folder}/{}", record.place.path.file_name()))
        }
    }
}
