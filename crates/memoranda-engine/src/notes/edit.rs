//! Edits a note: changes only the bytes concerned, of the text as it is under the lock.

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::ContentHash;
use memoranda_core::note::edit::{NoteEdit, apply_edit};
use memoranda_core::note::{self, MetaValue};
use memoranda_store::{CommitOutcome, clock};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// Length of a date without a time, as in `2026-11-17`.
const DATE_LENGTH: usize = 10;

/// One or several edits of one note, in one commit.
#[derive(Clone, Debug)]
pub struct EditRequest {
    /// The note.
    pub place: NoteLocation,
    /// Edits, applied one after another.
    pub edits: Vec<NoteEdit>,
    /// Expected version of the note; `None` for any.
    pub expected: Option<ContentHash>,
    /// Message for the history.
    pub message: Option<String>,
}

/// Outcome of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EditOutcome {
    /// The note is changed, and durable.
    Edited(EditReport),
    /// The text already has this form.
    Unchanged(NoteLocation, ContentHash),
    /// The note has another version than the expected one.
    Conflict(NoteLocation, Option<ContentHash>),
}

/// A note that was edited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditReport {
    /// Location of the note.
    pub place: NoteLocation,
    /// Hash of the version before.
    pub before: ContentHash,
    /// Hash of the version after.
    pub after: ContentHash,
    /// The commit.
    pub commit: Commit,
}

impl Memory {
    /// Edits a note.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, EditOutcome, EditRequest, Memory, OpenOptions};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// use memoranda_engine::core::note::edit::NoteEdit;
    ///
    /// let place = memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "One line."))?.place;
    /// let append = NoteEdit::Append { text: "Another line.".to_owned() };
    /// let request = EditRequest { place, edits: vec![append], expected: None, message: None };
    /// assert!(matches!(memory.edit(&who, &request)?, EditOutcome::Edited(_)));
    /// assert!(memory.read(None, "One line")?.bytes.ends_with(b"Another line.\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit(&self, who: &Author, request: &EditRequest) -> Result<EditOutcome> {
        let place = &request.place;
        self.rewrite(who, place, request.expected, request.message.as_deref(), |text| {
            let before = text;
            let mut text = text.to_owned();
            for edit in &request.edits {
                text = apply_edit(&text, edit)
                    .map_err(|error| EngineError::Edit { place: place.clone(), error })?;
            }
            Ok(with_current_modified(before, text))
        })
    }

    /// Replaces a note's text by the result of a function.
    pub fn rewrite(
        &self,
        who: &Author,
        place: &NoteLocation,
        expected: Option<ContentHash>,
        message: Option<&str>,
        mut make: impl FnMut(&str) -> Result<String>,
    ) -> Result<EditOutcome> {
        let mut before = None;
        let outcome = self.store().transact(who, |view| {
            let found = view.read(&place.project, &place.path)?;
            let Some(found) = found else {
                return Err(EngineError::NotFound {
                    identifier: place.path.to_string(),
                    scope: format!("project {}", place.project),
                    suggestions: Vec::new(),
                });
            };
            before = Some(found.hash);
            let text = std::str::from_utf8(&found.bytes)
                .map_err(|_| EngineError::NotText(place.clone()))?;
            let text = make(text)?;
            Ok(ChangeSet {
                operations: vec![ChangeOperation {
                    project: place.project.clone(),
                    path: place.path.clone(),
                    expect: ExpectedContent::Hash(expected.unwrap_or(found.hash)),
                    action: FileAction::Put(text.into_bytes()),
                }],
                message: message.map(str::to_owned),
                ..ChangeSet::default()
            })
        })?;
        let before = before.unwrap_or(memoranda_store::hash(b""));
        Ok(match outcome {
            CommitOutcome::Committed(commit) => {
                let after = commit.files.iter().find_map(|file| file.after).unwrap_or(before);
                EditOutcome::Edited(EditReport { place: place.clone(), before, after, commit })
            }
            CommitOutcome::Unchanged => {
                self.store().note_use(&place.project, &place.path);
                EditOutcome::Unchanged(place.clone(), before)
            }
            CommitOutcome::Conflict(conflicts) => {
                let found = conflicts.first().and_then(|conflict| conflict.found);
                EditOutcome::Conflict(place.clone(), found)
            }
        })
    }
}

/// Sets `modified` in the frontmatter to now if the note states one and its text changed, because it
/// is the time of the last change. A time that the change itself sets is kept.
fn with_current_modified(before: &str, after: String) -> String {
    let stated = |text: &str| note::parse(text).frontmatter.text("modified");
    if after == before || !after.contains("modified") {
        return after;
    }
    let Some(modified) = stated(&after).filter(|after| stated(before).as_ref() == Some(after))
    else {
        return after;
    };
    let now = clock::now();
    let now = now.to_string();
    // A date stays a date.
    let value = now.get(..modified.len()).filter(|_| modified.len() == DATE_LENGTH);
    let value = MetaValue::Plain(value.unwrap_or(&now).to_owned());
    let edit = NoteEdit::SetKey { key: "modified".to_owned(), value };
    apply_edit(&after, &edit).unwrap_or(after)
}
