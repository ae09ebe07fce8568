//! Changing many notes at once: read them under the lock, decide, and commit all or nothing.

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::graph::LinkCandidate;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;
use memoranda_store::{
    CommitOutcome, FileSummary, FolderTotals, ListFilter, ListOrder, LockedView, NodeRow,
    ObservationRow, RelationRow, VersionConflict,
};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::{Author, Memory};

/// What a revision does to one note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileOperation {
    /// The note.
    pub place: NoteLocation,
    /// What must be there for anything to be done.
    pub expect: ExpectedContent,
    /// What becomes of it.
    pub action: FileAction,
}

impl FileOperation {
    /// The note holds this text.
    pub fn put(place: NoteLocation, text: impl Into<Vec<u8>>) -> Self {
        Self { place, expect: ExpectedContent::Anything, action: FileAction::Put(text.into()) }
    }

    /// The note is new, and holds this text.
    pub fn create(place: NoteLocation, text: impl Into<Vec<u8>>) -> Self {
        Self { place, expect: ExpectedContent::Absent, action: FileAction::Put(text.into()) }
    }

    /// The note is gone; the history keeps it.
    pub fn remove(place: NoteLocation) -> Self {
        Self { place, expect: ExpectedContent::Anything, action: FileAction::Remove }
    }

    /// The note that was at `from` is here, with this text.
    pub fn move_from(place: NoteLocation, from: NotePath, text: impl Into<Vec<u8>>) -> Self {
        let action = FileAction::MoveFrom { from, content: text.into() };
        Self { place, expect: ExpectedContent::Anything, action }
    }
}

/// What became of a revision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactOutcome {
    /// Everything was done, and is durable.
    Committed(Commit),
    /// Everything was so already.
    Unchanged,
    /// Something else was found than was expected; nothing was done.
    Conflict(Vec<VersionConflict>),
}

/// The notes as they are while the lock is held. Questions to the index go through here too:
/// asking the [`Memory`] from within a decision could wait for the lock that is held.
pub struct NoteTransaction<'a> {
    view: &'a LockedView<'a>,
}

impl NoteTransaction<'_> {
    /// A note's text and version; `None` if there is no such file.
    pub fn text(&self, place: &NoteLocation) -> Result<Option<(String, ContentHash)>> {
        let Some(found) = self.view.read(&place.project, &place.path)? else { return Ok(None) };
        match String::from_utf8(found.bytes) {
            Ok(text) => Ok(Some((text, found.hash))),
            Err(_) => Err(EngineError::NotText(place.clone())),
        }
    }

    /// A file's bytes and version, text or not; `None` if there is no such file.
    pub fn bytes(&self, place: &NoteLocation) -> Result<Option<(Vec<u8>, ContentHash)>> {
        let found = self.view.read(&place.project, &place.path)?;
        Ok(found.map(|found| (found.bytes, found.hash)))
    }

    /// All files at or below a place.
    pub fn below(&self, place: &NoteLocation) -> Result<Vec<NoteLocation>> {
        let below = self.view.below(&place.project, &place.path)?;
        let at = |path| NoteLocation { project: place.project.clone(), path };
        Ok(below.files.into_iter().map(at).collect())
    }

    /// What the index knows of a note.
    pub fn summary(&self, place: &NoteLocation) -> Result<Option<FileSummary>> {
        Ok(self.view.file(&place.project, &place.path)?)
    }

    /// Notes that fit a filter.
    pub fn list(
        &self,
        filter: &ListFilter,
        order: ListOrder,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<FileSummary>> {
        Ok(self.view.list(filter, order, limit, offset)?)
    }

    /// The notes of a project that have this permalink.
    pub fn with_permalink(
        &self,
        project: &ProjectName,
        permalink: &str,
    ) -> Result<Vec<FileSummary>> {
        Ok(self.view.with_permalink(project, permalink)?)
    }

    /// The notes that a name can mean in a project.
    pub fn named(&self, project: &ProjectName, name: &str) -> Result<Vec<NoteLocation>> {
        let at = |path| NoteLocation { project: project.clone(), path };
        let found = self.view.link_candidates(project, name)?;
        Ok(found.into_iter().map(|candidate| at(candidate.path)).collect())
    }

    /// What the index knows of a note, by its number.
    pub fn by_id(&self, id: i64) -> Result<Option<FileSummary>> {
        Ok(self.view.by_id(id)?)
    }

    /// The facts of a note, by its number in the index.
    pub fn observations(&self, file: i64) -> Result<Vec<ObservationRow>> {
        Ok(self.view.observations(file)?)
    }

    /// The notes of exactly this title in a folder, the shortest path first.
    pub fn titled(
        &self,
        project: &ProjectName,
        folder: &str,
        title: &str,
    ) -> Result<Vec<LinkCandidate<i64>>> {
        Ok(self.view.titled(project, folder, title)?)
    }

    /// Notes whose names some systems could not tell from this one.
    pub fn twins(&self, place: &NoteLocation) -> Result<Vec<NotePath>> {
        Ok(self.view.twins(&place.project, &place.path)?)
    }

    /// Every note of a folder, not of those below it.
    pub fn nodes(&self, project: &ProjectName, folder: &str) -> Result<Vec<NodeRow>> {
        Ok(self.view.nodes(project, folder)?)
    }

    /// The folders of a project that hold notes.
    pub fn folders(&self, project: &ProjectName) -> Result<Vec<FolderTotals>> {
        Ok(self.view.folders(project)?)
    }

    /// The relations from a note, by its number in the index.
    pub fn relations_from(&self, file: i64) -> Result<Vec<RelationRow>> {
        Ok(self.view.relations_from(file)?)
    }

    /// The relations to a note, by its number in the index.
    pub fn relations_to(&self, file: i64) -> Result<Vec<RelationRow>> {
        Ok(self.view.relations_to(file)?)
    }

    /// The relations by a name, bound or not.
    pub fn relations_named(&self, project: &ProjectName, name: &str) -> Result<Vec<RelationRow>> {
        Ok(self.view.relations_named(project, name)?)
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
        let outcome = self.store().commit(who, |view| {
            let steps = decide(&NoteTransaction { view }).map_err(TransactError::Caller)?;
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

/// Why nothing was done: the one who decided did not want to, or the store could not.
enum TransactError<E> {
    Caller(E),
    Store(memoranda_store::StoreError),
}

impl<E> From<memoranda_store::StoreError> for TransactError<E> {
    fn from(error: memoranda_store::StoreError) -> Self {
        Self::Store(error)
    }
}
