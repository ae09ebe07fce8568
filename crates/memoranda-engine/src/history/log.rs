//! The history: author, time and text differences of each change.

use memoranda_core::change::{Commit, CommitKind, FileChange};
use memoranda_core::diff::{DiffLabels, unified_diff};
use memoranda_core::id::ContentHash;
use memoranda_store::{HistoryFilter, PointInTime};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::{NoteLocation, ResolveIntent};

/// One version of a note.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteRevision {
    /// The commit that made it.
    pub commit: Commit,
    /// Change of the note in this commit.
    pub change: FileChange,
}

/// Changes of a commit, file by file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitDiff {
    /// The commit.
    pub commit: Commit,
    /// The changed files.
    pub files: Vec<FileDiff>,
}

/// Change of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDiff {
    /// The file.
    pub place: NoteLocation,
    /// Location before, if the file was moved.
    pub moved_from: Option<NoteLocation>,
    /// Text before; `None` if the file did not exist or is not text.
    pub before: Option<String>,
    /// Text after; `None` if the file no longer exists or is not text.
    pub after: Option<String>,
    /// The difference as a unified diff; empty if the text did not change.
    pub unified: String,
}

const CONTEXT_LINES: usize = 3;
/// Number of commits that are read at a time.
const PAGE_COMMITS: usize = 50;

impl Memory {
    /// The newest commits that fit, newest first.
    ///
    /// ```
    /// use memoranda_engine::{AddRequest, HistoryFilter, Memory, OpenOptions};
    /// # use memoranda_engine::core::change::{Author, ChangeChannel};
    /// # use memoranda_engine::core::id::ProjectName;
    /// # let folder = tempfile::tempdir()?;
    /// # let memory = Memory::open(OpenOptions::in_folder(folder.path()))?;
    /// # let who = Author::new("example", "example", ChangeChannel::Cli);
    /// memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "First"))?;
    /// memory.add(&who, &AddRequest::new(ProjectName::parse("main")?, "Second"))?;
    /// let newest = &memory.log(&HistoryFilter::default(), 1, 0)?[0];
    /// assert_eq!(newest.files[0].path.as_str(), "Second.md");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log(&self, filter: &HistoryFilter, limit: usize, offset: usize) -> Result<Vec<Commit>> {
        Ok(self.snapshot()?.history(filter, limit, offset)?)
    }

    /// Returns the newest commits that match, newest first, without their files.
    pub(crate) fn log_heads(&self, filter: &HistoryFilter, limit: usize) -> Result<Vec<Commit>> {
        Ok(self.snapshot()?.history_heads(filter, limit, 0)?)
    }

    /// Returns a fresh id for a conversation whose client does not name it.
    pub fn new_conversation_id(&self) -> String {
        memoranda_store::clock::new_commit_id().to_string()
    }

    /// Finds a commit by its id or the beginning of it.
    pub fn commit(&self, id: &str) -> Result<Commit> {
        Ok(self.snapshot()?.find_commit(id)?)
    }

    /// The versions of a note, newest first, through its moves: what others did under a name that
    /// it left, or had not got yet, is not its own.
    pub fn revisions(&self, place: &NoteLocation, limit: usize) -> Result<Vec<NoteRevision>> {
        let mut revisions = Vec::new();
        let mut filter = HistoryFilter {
            project: Some(place.project.clone()),
            path: Some(self.current_location(place)?.path),
            ..Default::default()
        };
        while let Some(path) = filter.path.clone() {
            let commits = self.log(&filter, PAGE_COMMITS, 0)?;
            if commits.len() < PAGE_COMMITS {
                filter.path = None;
            }
            for commit in commits {
                filter.before = Some(commit.id);
                let own = |file: &&FileChange| file.project == place.project;
                let files = || commit.files.iter().filter(own);
                let change = files().find(|file| file.path == path).cloned();
                let left = files().any(|file| file.moved_from.as_ref() == Some(&path));
                let came_from = change.as_ref().and_then(|change| change.moved_from.clone());
                revisions.extend(change.map(|change| NoteRevision { commit, change }));
                if revisions.len() >= limit {
                    return Ok(revisions);
                }
                if left && revisions.is_empty() {
                    // The note left this name and cannot be followed. Its versions under this name
                    // belong to it.
                    continue;
                }
                if left || came_from.is_some() {
                    // Before this commit the note had another name, or another note had this name.
                    filter.path = came_from;
                    break;
                }
            }
        }
        Ok(revisions)
    }

    /// Returns the commit that wrote the present text of a note, perhaps without its files; `None` if
    /// the history does not know it. An undo or a restore brings back the text of an earlier writer.
    pub fn writing_commit(&self, place: &NoteLocation) -> Result<Option<Commit>> {
        let newest = self.snapshot()?.last_commit_of(&place.project, &place.path)?;
        let Some(newest) = newest else { return Ok(None) };
        let is_undone = matches!(newest.kind, Some(CommitKind::Undo(_) | CommitKind::Redo(_)));
        if !is_undone && !newest.author.tool.starts_with("restore") {
            return Ok(Some(newest));
        }
        let mut earlier = self.revisions(place, PAGE_COMMITS)?;
        let present = earlier.first().and_then(|revision| revision.change.after);
        earlier.retain(|revision| revision.change.after == present);
        Ok(Some(earlier.pop().map_or(newest, |first| first.commit)))
    }

    /// Returns the changes of a commit, file by file.
    pub fn show_commit(&self, id: &str) -> Result<CommitDiff> {
        let commit = self.commit(id)?;
        let files = commit.files.iter().map(|file| self.file_diff(file)).collect::<Result<_>>()?;
        Ok(CommitDiff { commit, files })
    }

    /// Compares a note at two moments; the second is now if it is `None`.
    pub fn diff(
        &self,
        project: Option<&str>,
        identifier: &str,
        from: PointInTime,
        to: Option<PointInTime>,
    ) -> Result<FileDiff> {
        let place = self.place_in_history(project, identifier, ResolveIntent::Read)?;
        let text_at = |moment| -> Result<Option<String>> {
            match self.read_as_of(Some(place.project.as_str()), place.path.as_str(), moment) {
                Ok(note) => Ok(Some(note.lossy_text().into_owned())),
                Err(EngineError::NotThen { .. }) => Ok(None),
                Err(e) => Err(e),
            }
        };
        let before = text_at(from)?;
        let after = match to {
            Some(moment) => text_at(moment)?,
            None => {
                let now = self.current_location(&place)?;
                let found = self.store().read(&now.project, &now.path)?;
                found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned())
            }
        };
        Ok(diff_of(place, None, before, after))
    }

    /// Returns how a change of one file differs.
    pub fn file_diff(&self, file: &FileChange) -> Result<FileDiff> {
        let at = |path| NoteLocation::new(&file.project, path);
        let before = self.text_of(file.before)?;
        let after = self.text_of(file.after)?;
        let moved_from = file.moved_from.clone().map(at);
        Ok(diff_of(at(file.path.clone()), moved_from, before, after))
    }

    fn text_of(&self, hash: Option<ContentHash>) -> Result<Option<String>> {
        let Some(hash) = hash else { return Ok(None) };
        let bytes = self.store().content(hash)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn diff_of(
    place: NoteLocation,
    moved_from: Option<NoteLocation>,
    before: Option<String>,
    after: Option<String>,
) -> FileDiff {
    let name = |place: &NoteLocation, text: &Option<String>| match text {
        Some(_) => place.to_string(),
        None => "/dev/null".to_owned(),
    };
    let labels = DiffLabels {
        before: &name(moved_from.as_ref().unwrap_or(&place), &before),
        after: &name(&place, &after),
    };
    let old = before.as_deref().unwrap_or_default();
    let new = after.as_deref().unwrap_or_default();
    let unified = unified_diff(old, new, CONTEXT_LINES, labels);
    FileDiff { place, moved_from, before, after, unified }
}
