//! Reads the state of the index that a search stands on: its candidates, and after ranking the texts of
//! the few that are shown.

use memoranda_core::embed::QueryEmbedding;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::rank::RankCandidate;
use rusqlite::Connection;

use super::caches::SearchCaches;
use crate::error::Result;
use crate::index::passages;
use crate::snapshot::{Snapshot, SnapshotRead};

/// Reads candidates and results of one search from one state of the index.
pub struct SearchReader<'r> {
    read: SnapshotRead<'r>,
    pub(super) caches: SearchCaches<'r>,
}

impl Snapshot<'_> {
    /// Begins a search. `model` names the chosen embedding model, if one is used.
    pub fn search_reader(&self, model: Option<&str>) -> Result<SearchReader<'_>> {
        let read = self.read()?;
        let caches = self.inner.index.caches(read.connection()?, model)?;
        Ok(SearchReader { read, caches })
    }
}

/// A note as shown in a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteDisplay {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
    /// Note type.
    pub note_type: String,
    /// Frontmatter as JSON.
    pub metadata: String,
}

/// A passage as shown in a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassageDisplay {
    /// The headings above it.
    pub heading: String,
    /// First and last line.
    pub lines: (usize, usize),
    /// Text.
    pub text: String,
}

impl SearchReader<'_> {
    pub(super) fn connection(&self) -> Result<&Connection> {
        self.read.connection()
    }

    /// Sets the similarity to a query for the passages of some notes.
    pub fn add_similarities(
        &self,
        meant: &QueryEmbedding,
        notes: &mut [RankCandidate<i64>],
    ) -> Result<()> {
        self.caches.add_similarities(self.connection()?, meant, notes)
    }

    /// Returns a note by its row number; `None` if its path is invalid or it is gone.
    pub fn note(&self, file: i64) -> Result<Option<NoteDisplay>> {
        let Some(kept) = self.caches.notes.note(self.connection()?, file)? else { return Ok(None) };
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
        passages::one(self.connection()?, passage as i64, |kept| PassageDisplay {
            heading: kept.heading.to_owned(),
            lines: kept.lines,
            text: kept.text.to_owned(),
        })
    }
}
