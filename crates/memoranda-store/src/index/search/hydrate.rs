//! What there is to show of the notes that were found: few of those that are compared are shown.

use memoranda_core::embed::QueryEmbedding;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::rank::RankCandidate;
use rusqlite::Connection;

use super::caches::SearchCaches;
use crate::error::Result;
use crate::index::passages;

/// The index as it was when notes were found, for whoever compares and shows them.
pub struct ResultReader<'d> {
    pub(crate) db: &'d Connection,
    pub(crate) caches: &'d SearchCaches<'d>,
}

/// A note that is shown.
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

/// A passage that is shown.
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
    /// Tells of the passages of notes how alike they and what was meant are.
    pub fn add_similarities(
        &self,
        meant: &QueryEmbedding,
        notes: &mut [RankCandidate<i64>],
    ) -> Result<()> {
        self.caches.add_similarities(self.db, meant, notes)
    }

    /// A note by its number; `None` if its place can no longer be named.
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

    /// A passage by its number.
    pub fn passage(&self, passage: u64) -> Result<Option<PassageDisplay>> {
        passages::one(self.db, passage as i64, |kept| PassageDisplay {
            heading: kept.heading.to_owned(),
            lines: kept.lines,
            text: kept.text.to_owned(),
        })
    }
}
