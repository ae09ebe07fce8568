//! Changes many notes at once: reads them under the lock, decides, and commits all or nothing.

use std::ops::Deref;

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, FileSummary, Snapshot, Transaction, VersionConflict};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// Operation on one file in a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileOperation {
    /// The note.
    pub place: NoteLocation,
    /// Required content of the file before the operation.
    pub expect: ExpectedContent,
    /// Action on the file.
    pub action: FileAction,
}

impl FileOperation {
    /// Returns the operation that replaces the text of a note.
    pub fn put(place: NoteLocation, text: impl Into<Vec<u8>>) -> Self {
        Self { place, expect: ExpectedContent::Anything, action: FileAction::Put(text.into()) }
    }

    /// Returns the operation that creates a note.
    pub fn create(place: NoteLocation, text: impl Into<Vec<u8>>) -> Self {
        Self { place, expect: ExpectedContent::Absent, action: FileAction::Put(text.into()) }
    }

    /// Returns the operation that removes a note. The history keeps the note.
    pub fn remove(place: NoteLocation) -> Self {
        Self { place, expect: ExpectedContent::Anything, action: FileAction::Remove }
    }

    /// Returns the operation that moves a note from `from` and replaces its text.
    pub fn move_from(place: NoteLocation, from: NotePath, text: impl Into<Vec<u8>>) -> Self {
        let action = FileAction::MoveFrom { from, content: text.into() };
        Self { place, expect: ExpectedContent::Anything, action }
    }
}

/// Outcome of a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactOutcome {
    /// Everything was written, and is durable.
    Committed(Commit),
    /// The files are already as requested.
    Unchanged,
    /// A file did not have the expected content; nothing was written.
    Conflict(Vec<VersionConflict>),
}

/// The notes while the vault lock is held, with every query of [`Snapshot`]. A decision must not
/// query the [`Memory`]: that could wait for the lock.
pub struct NoteTransaction<'a> {
    store: &'a Transaction<'a>,
}

impl<'a> Deref for NoteTransaction<'a> {
    type Target = Snapshot<'a>;

    fn deref(&self) -> &Snapshot<'a> {
        self.store
    }
}

impl NoteTransaction<'_> {
    /// Returns the text and version of a note; `None` if the file does not exist.
    pub fn text(&self, place: &NoteLocation) -> Result<Option<(String, ContentHash)>> {
        let Some((bytes, hash)) = self.bytes(place)? else { return Ok(None) };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some((text, hash))),
            Err(_) => Err(EngineError::NotText(place.clone())),
        }
    }

    /// Returns the bytes and version of a file, text or not; `None` if the file does not exist.
    pub fn bytes(&self, place: &NoteLocation) -> Result<Option<(Vec<u8>, ContentHash)>> {
        let found = self.store.read(&place.project, &place.path)?;
        Ok(found.map(|found| (found.bytes, found.hash)))
    }

    /// Returns the index row of a note.
    pub fn summary(&self, place: &NoteLocation) -> Result<Option<FileSummary>> {
        Ok(self.store.file(&place.project, &place.path)?)
    }

    /// Returns all files at or below a location.
    pub fn below(&self, place: &NoteLocation) -> Result<Vec<NoteLocation>> {
        let below = self.store.below(&place.project, &place.path)?;
        let at = |path| NoteLocation::new(&place.project, path);
        Ok(below.files.into_iter().map(at).collect())
    }

    /// Returns the notes that a name can refer to in a project.
    pub fn named(&self, project: &ProjectName, name: &str) -> Result<Vec<NoteLocation>> {
        let at = |path| NoteLocation::new(project, path);
        let found = self.store.link_candidates(project, name)?;
        Ok(found.into_iter().map(|candidate| at(candidate.path)).collect())
    }
}

impl Memory {
    /// Decides on a change of any number of notes with the files as they are under the lock, and
    /// makes it in one commit. The decision is asked for again if an editor saved in between.
    pub fn transact<E: From<EngineError>>(
        &self,
        who: &Author,
        message: Option<&str>,
        mut decide: impl FnMut(&NoteTransaction<'_>) -> Result<Vec<FileOperation>, E>,
    ) -> Result<TransactOutcome, E> {
        let outcome = self.store().transact(who, |store| {
            let steps = decide(&NoteTransaction { store }).map_err(TransactError::Caller)?;
            Ok(ChangeSet {
                operations: steps.into_iter().map(operation).collect(),
                message: message.map(str::to_owned),
                ..ChangeSet::default()
            })
        });
        match outcome {
            Ok(CommitOutcome::Committed(commit)) => Ok(TransactOutcome::Committed(commit)),
            Ok(CommitOutcome::Unchanged) => Ok(TransactOutcome::Unchanged),
            Ok(CommitOutcome::Conflict(conflicts)) => Ok(TransactOutcome::Conflict(conflicts)),
            Err(TransactError::Caller(error)) => Err(error),
            Err(TransactError::Store(error)) => Err(EngineError::from(error).into()),
        }
    }
}

fn operation(step: FileOperation) -> ChangeOperation {
    let FileOperation { place: NoteLocation { project, path }, expect, action } = step;
    ChangeOperation { project, path, expect, action }
}

/// Reason why nothing was done: an error of the caller's decision, or of the store.
enum TransactError<E> {
    Caller(E),
    Store(memoranda_store::StoreError),
}

impl<E> From<memoranda_store::StoreError> for TransactError<E> {
    fn from(error: memoranda_store::StoreError) -> Self {
        Self::Store(error)
    }
}
