//! Deletes a note or a folder from the files; the history keeps the texts.

use std::collections::HashSet;

use memoranda_core::change::{ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction};
use memoranda_core::id::ContentHash;
use memoranda_core::path::NotePath;
use memoranda_store::{CommitOutcome, RelationRow, Transaction};

use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;
use crate::links::untyped::{self, UntypedLinks};
use crate::notes::move_notes::OutdatedLink;
use crate::{Author, Memory};

/// Request to delete a note or a folder.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// A note, or a folder with its files. Hidden and ignored files of a folder stay, unless a tool
    /// wrote them.
    pub place: NoteLocation,
    /// Expected version of the note; `None` for any.
    pub expected: Option<ContentHash>,
}

/// Outcome of a deletion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeleteOutcome {
    /// The note is deleted; the commit can be undone.
    Deleted(DeletedNotes),
    /// The note has another version than the expected one.
    Conflict(NoteLocation, Option<ContentHash>),
}

/// The deleted notes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeletedNotes {
    /// The removed files.
    pub files: Vec<NoteLocation>,
    /// Hidden and ignored files that no tool wrote, which stay where they are because they have no
    /// history. Folders end in a slash.
    pub left: Vec<String>,
    /// Number of links in other files that lead nowhere now, if they were counted.
    pub links: usize,
    /// Links to the deleted notes that lead to other notes of the same name now.
    pub drawn: Vec<OutdatedLink>,
    /// The commit.
    pub commit: Option<Commit>,
}

impl Memory {
    /// Returns the effect of a deletion without deleting.
    pub fn plan_delete(&self, place: &NoteLocation) -> Result<Vec<NoteLocation>> {
        let below = self.snapshot()?.below(&place.project, &place.path)?;
        let at = |path| NoteLocation::new(&place.project, path);
        Ok(below.files.into_iter().map(at).collect())
    }

    /// Deletes a note or a folder with its files.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, DeleteOutcome, DeleteRequest, Memory, OpenOptions};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// let place = memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "For a short time."))?.place;
    /// let request = DeleteRequest { place, expected: None };
    /// assert!(matches!(memory.delete(&who, &request)?, DeleteOutcome::Deleted(_)));
    /// memory.restore(&who, None, "main/For a short time.md", None)?;
    /// assert!(memory.read(None, "For a short time").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn delete(&self, who: &Author, request: &DeleteRequest) -> Result<DeleteOutcome> {
        self.delete_with(who, request, |_, _| Ok(IncomingLinks::default()))
    }

    /// Deletes a note or a folder, and counts the links that become unresolved or lead to another
    /// note. Reads all texts of the project for that.
    pub fn delete_counting_links(
        &self,
        who: &Author,
        request: &DeleteRequest,
    ) -> Result<DeleteOutcome> {
        self.delete_with(who, request, |view, files| links_to(view, &request.place, files))
    }

    fn delete_with(
        &self,
        who: &Author,
        request: &DeleteRequest,
        look: impl Fn(&Transaction<'_>, &[NotePath]) -> Result<IncomingLinks>,
    ) -> Result<DeleteOutcome> {
        let NoteLocation { project, path } = &request.place;
        let (mut files, mut left, mut links) = (Vec::new(), Vec::new(), IncomingLinks::default());
        let outcome = self.store().transact(who, |view| {
            let below = view.below(project, path)?;
            if below.files.is_empty() && below.folders.is_empty() {
                return Err(EngineError::NotFound {
                    identifier: path.to_string(),
                    scope: format!("project {project}"),
                    suggestions: Vec::new(),
                });
            }
            files = below.files.clone();
            left = below.passed_over;
            links = look(view, &files)?;
            let expect = match request.expected {
                Some(hash) => ExpectedContent::Hash(hash),
                None => ExpectedContent::Anything,
            };
            let remove = |path| ChangeOperation {
                project: project.clone(),
                path,
                expect,
                action: FileAction::Remove,
            };
            let emptied = below.folders.into_iter().map(|folder| (project.clone(), folder));
            Ok(ChangeSet {
                operations: below.files.into_iter().map(remove).collect(),
                removed_folders: emptied.collect(),
                ..ChangeSet::default()
            })
        })?;
        let at = |path| NoteLocation::new(project, path);
        Ok(match outcome {
            CommitOutcome::Conflict(conflicts) => {
                let found = conflicts.first().and_then(|conflict| conflict.found);
                DeleteOutcome::Conflict(request.place.clone(), found)
            }
            CommitOutcome::Committed(commit) => {
                let IncomingLinks { relations, mentions } = links;
                let lost = self.lost_links(&relations)?.into_iter().chain(mentions.captured);
                let (mut drawn, lost): (Vec<_>, Vec<_>) =
                    lost.partition(|link| link.means.is_some());
                drawn.sort_unstable();
                DeleteOutcome::Deleted(DeletedNotes {
                    files: files.into_iter().map(at).collect(),
                    left,
                    links: mentions.lost + lost.iter().map(|link| link.count).sum::<usize>(),
                    drawn,
                    commit: Some(commit),
                })
            }
            CommitOutcome::Unchanged => DeleteOutcome::Deleted(DeletedNotes {
                files: Vec::new(),
                left,
                links: 0,
                drawn: Vec::new(),
                commit: None,
            }),
        })
    }
}

/// Returns the links in remaining files to files that are about to be removed.
#[derive(Default)]
struct IncomingLinks {
    relations: Vec<RelationRow>,
    mentions: UntypedLinks,
}

fn links_to(
    view: &Transaction<'_>,
    place: &NoteLocation,
    files: &[NotePath],
) -> Result<IncomingLinks> {
    let mut ids = HashSet::new();
    for file in files {
        ids.extend(view.file(&place.project, file)?.map(|file| file.id));
    }
    let mut relations = Vec::new();
    for id in &ids {
        relations.extend(view.relations_to(*id)?);
    }
    relations.retain(|link| !ids.contains(&link.file));
    Ok(IncomingLinks { relations, mentions: untyped::links_to_removed(view, place, files)? })
}
