//! Files of a project as they are on disk, whether they are notes or not.

use jiff::Timestamp;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::Relation;
use memoranda_core::path::NotePath;
use memoranda_store::{DirListing, FileContent, SimilarNote};

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

impl Memory {
    /// Reads a file as it is on disk; `None` if it does not exist.
    pub fn read_file(&self, place: &NoteLocation) -> Result<Option<FileContent>> {
        Ok(self.store().read(&place.project, &place.path)?)
    }

    /// Returns the content of a version from the log.
    pub fn version_content(&self, hash: ContentHash) -> Result<Vec<u8>> {
        Ok(self.store().content(hash)?)
    }

    /// Lists a folder on disk, or the top folder of the project; `None` if it does not exist.
    pub fn list_folder(
        &self,
        project: &ProjectName,
        folder: Option<&NotePath>,
    ) -> Result<Option<DirListing>> {
        Ok(self.store().entries(project, folder)?)
    }

    /// Returns a path as it is spelled on disk. Names that differ only in case or Unicode form are
    /// one file. Looks only into folders that the index contains.
    pub fn canonical_path(&self, project: &ProjectName, path: &NotePath) -> Result<NotePath> {
        Ok(self.store().spelled(project, path)?)
    }

    /// Returns a path as it is spelled on disk, also in folders that the index does not contain:
    /// hidden, ignored and new ones.
    pub fn canonical_path_on_disk(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<NotePath> {
        Ok(self.store().spelled_on_disk(project, path)?)
    }

    /// Returns true if the folder of a path exists with exactly this spelling.
    pub fn has_folder_of(&self, project: &ProjectName, path: &NotePath) -> Result<bool> {
        Ok(self.store().has_folder_of(project, path)?)
    }

    /// Returns the rule of the project that hides a file from the search, if there is one. The file
    /// need not exist.
    pub fn ignored_by(&self, project: &ProjectName, path: &NotePath) -> Result<Option<String>> {
        Ok(self.store().ignored_by(project, path)?)
    }

    /// Sets the modification times of files that were just written. A file whose content has
    /// another hash keeps its time.
    pub fn set_modified(
        &self,
        files: &[(ProjectName, NotePath, ContentHash, Timestamp)],
    ) -> Result<()> {
        Ok(self.store().set_modified(files)?)
    }

    /// Returns title and permalink of a note; `None` if it does not exist.
    pub fn title_and_permalink(&self, place: &NoteLocation) -> Result<Option<(String, String)>> {
        if let Some(names) = self.store().unindexed_names(&place.project, &place.path) {
            return Ok(Some(names));
        }
        let file = self.snapshot()?.file(&place.project, &place.path)?;
        Ok(file.map(|file| (file.title, file.permalink)))
    }

    /// Returns the targets of a note's relations that no note resolves.
    pub fn unresolved_links(
        &self,
        place: &NoteLocation,
        relations: &[Relation],
    ) -> Result<Vec<String>> {
        Ok(self.store().unresolved_links(&place.project, &place.path, relations)?)
    }

    /// Finds the notes of a project whose titles are most similar to a title.
    pub fn similar_notes(
        &self,
        project: &ProjectName,
        title: &str,
        limit: usize,
    ) -> Result<Vec<SimilarNote>> {
        Ok(self.store().similar_notes(project, title, limit)?)
    }
}
