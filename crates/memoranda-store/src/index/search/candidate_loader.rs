//! Loads the ranking data of selected notes.

use std::sync::Arc;

use memoranda_core::path::file_stem;
use memoranda_core::query::Query;
use memoranda_core::rank::{
    CandidatePassage, PassageSource, RankCandidate, TitleMatch, TitleQuery,
};
use rusqlite::Connection;

use super::Superseded;
use super::caches::SearchCaches;
use super::candidates::{CandidateQuery, FileMatch, MatchSource};
use super::note_cache::NoteCacheView;
use crate::error::Result;
use crate::index::extract::PassageStatus;
use crate::index::passage_tokens::{TokenizedPassage, each, in_row};
use crate::index::passages::{self, PASSAGES_PER_ROW, row_of};
use crate::index::vectors;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// Maximum number of passages of a note that is loaded whole. Of a longer one only the surroundings
/// of matches are loaded.
const MAX_WHOLE_PASSAGES: i64 = 400;

/// Maximum length of a note to load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NoteLength {
    /// Only notes whose passages fit in one row.
    Short,
    Any,
}

/// Loads selected notes one after the other.
pub(super) struct CandidateLoader<'r> {
    db: &'r Connection,
    question: &'r CandidateQuery<'r>,
    asked: TitleQuery,
    /// True if the query contains prefixes, which can only be counted in texts.
    needs_texts: bool,
    notes: &'r NoteCacheView<'r>,
}

impl<'r> CandidateLoader<'r> {
    pub(super) fn new(
        db: &'r Connection,
        caches: &'r SearchCaches<'r>,
        question: &'r CandidateQuery<'r>,
        understood: &Query,
    ) -> Self {
        let asked = TitleQuery::new(question.text, question.query);
        let needs_texts = understood.has_prefix_terms();
        Self { db, question, asked, needs_texts, notes: &caches.notes }
    }

    /// Loads a note; `None` if it is too long.
    pub(super) fn note(
        &self,
        file: i64,
        found: &FileMatch,
        length: NoteLength,
    ) -> Result<Option<RankCandidate<i64>>> {
        let Self { db, question, asked, notes, .. } = self;
        let Some(kept) = notes.note(db, file)? else { return Ok(None) };
        let passages = passages(db, question, (file, &kept.words), &found.passages, length)?;
        let Some(mut passages) = passages.filter(|passages| !passages.is_empty()) else {
            return Ok(None);
        };
        if self.needs_texts {
            add_texts(db, &mut passages)?;
        }
        let names = [&kept.title, &kept.permalink, file_stem(&kept.path)];
        let matches = names.map(|name| asked.matches(name)).into_iter().max();
        let title_match = match (found.by, matches.unwrap_or(TitleMatch::None)) {
            // The query matched another name, such as an alias.
            (MatchSource::Name, TitleMatch::None) => TitleMatch::Exact,
            (_, matches) => matches,
        };
        Ok(Some(RankCandidate {
            note: file,
            batch: found.round,
            name: Arc::clone(&kept.name),
            title_match,
            path: Arc::clone(&kept.path),
            created: kept.created,
            updated: kept.updated,
            importance: kept.importance,
            corpus_passages: None,
            passages,
        }))
    }
}

/// Returns the passages of a note, or those around the matches in a long one. The first row has
/// already been read.
fn passages(
    db: &Connection,
    question: &CandidateQuery<'_>,
    (file, row): (i64, &Arc<[u8]>),
    found: &[i64],
    length: NoteLength,
) -> Result<Option<Vec<CandidatePassage>>> {
    let first = first_passage(file);
    let take = |TokenizedPassage { id, age, begins, cut }| {
        let is_wanted =
            age == PassageStatus::Current || question.filter.superseded == Superseded::Include;
        let passage = CandidatePassage {
            id: id as u64,
            tokens: cut,
            source: None,
            similarity: 0.0,
            start: begins,
        };
        is_wanted.then_some(passage)
    };
    let mut count = 0;
    let in_first_row = in_row(first, row).inspect(|_| count += 1);
    let mut passages: Vec<_> = in_first_row.filter_map(take).collect();
    if count < PASSAGES_PER_ROW {
        return Ok(Some(passages));
    }
    if length == NoteLength::Short {
        return Ok(None);
    }
    // Required terms can occur anywhere in a note.
    let is_cut =
        !question.query.has_constraints() && vectors::count_of(db, file)? > MAX_WHOLE_PASSAGES;
    let near = if is_cut {
        let near = found.iter().map(|&hit| (hit.max(first + 1) - 1, hit + 1));
        let mut near: Vec<_> = near.chain([(first, first)]).collect();
        near.sort_unstable();
        near
    } else {
        vec![(first, first + PASSAGES_PER_FILE - 1)]
    };
    let ranges = near.into_iter().fold(Vec::new(), |mut ranges: Vec<(i64, i64)>, (from, to)| {
        match ranges.last_mut() {
            Some(open) if from <= open.1 + 1 => open.1 = open.1.max(to),
            _ => ranges.push((from, to)),
        }
        ranges
    });
    passages.clear();
    for (from, to) in ranges {
        each(db, from..=to, |passage| passages.extend(take(passage)))?;
    }
    Ok(Some(passages))
}

/// Adds the texts of passages.
fn add_texts(db: &Connection, passages: &mut [CandidatePassage]) -> Result<()> {
    let row_of = |passage: &CandidatePassage| row_of(passage.id as i64);
    for row in passages.chunk_by_mut(|a, b| row_of(a) == row_of(b)) {
        let [Some(from), Some(to)] = [row.first(), row.last()].map(|p| p.map(|p| p.id)) else {
            continue;
        };
        passages::each(db, from as i64..=to as i64, |kept| {
            let passage = row.iter_mut().find(|passage| passage.id == kept.id as u64);
            if let Some(passage) = passage {
                let (heading, text) = (kept.heading.to_owned(), kept.text.to_owned());
                passage.source = Some(PassageSource { heading, text }.into());
            }
        })?;
    }
    Ok(())
}
