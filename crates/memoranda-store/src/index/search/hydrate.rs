//! Reads the texts of results, after ranking: few candidates are shown.

use memoranda_core::embed::QueryEmbedding;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::rank::RankCandidate;
use rusqlite::Connection;

use super::caches::SearchCaches;
use crate::error::Result;
use crate::index::passages;

/// Reads results from the state of the index in which they were found.
pub struct ResultReader<'d> {
    pub(crate) db: &'d Connection,
    pub(crate) caches: &'d SearchCaches<'d>,
}

/// A note as shown in a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteDisplay {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Its title.
    pub title: String,
    /// Its permalink.
    pub permalink: String,
    /// Its type.
    pub note_type: String,
    /// Its frontmatter, as JSON.
    pub metadata: String,
}

/// A passage as shown in a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassageDisplay {
    /// The headings above it.
    pub heading: String,
    /// Its first and last line.
    pub lines: (usize, usize),
    /// Its text.
    pub text: String,
}

impl ResultReader<'_> {
    /// Sets the similarity to a query for the passages of some notes.
    pub fn add_similarities(
        &self,
        meant: &QueryEmbedding,
        notes: &mut [RankCandidate<i64>],
    ) -> Result<()> {
        self.caches.add_similarities(self.db, meant, notes)
    }

    /// Returns a note by its row number; `None` if its path is invalid or it is gone.
    pub fn note(&self, file: i64) -> Result<Option<NoteDisplay>> {
        let Some(kept) = self.caches.notes.note(self.db, file)? else { return Ok(None) };
        let (path, project) = (NotePath::parse(&kept.path), ProjectName::parse(&kept.project));
        let (Ok(path), Ok(project)) = (path, project) else { return Ok(None) };
        Ok(Some(NoteDisplay {
            project,
            path,
            title: kept.title.to_string(),
            permalink: kept.permalink.to_string(),
            note_type: kept.note_type.to_string(),
            metadata: kept.metadata.to_string(),
        }))
    }

    /// Returns a passage by its number.
    pub fn passage(&self, passage: u64) -> Result<Option<PassageDisplay>> {
        passages::one(self.db, passage as i64, |kept| PassageDisplay {
            heading: kept.heading.to_owned(),
            lines: kept.lines,
            text: kept.text.to_owned(),
        })
    }
}
