//! Candidate notes with their ranking data, found by words, meaning or name.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use memoranda_core::embed::QueryEmbedding;
use memoranda_core::query::{Query, TimeRange};
use memoranda_core::rank::RankCandidate;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::caches::SearchCaches;
use super::candidate_loader::{CandidateLoader, NoteLength};
use super::filter_sql::FilterSql;
use super::scope::SearchScope;
use super::term_stats::{TermCorrection, TermStats, look_up_terms};
use super::text_match::{MAX_COMPARED, TextSearch};
use super::{SearchFilter, named, tag_hits};
use crate::error::Result;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// Number of passages that are compared for each wanted note.
const PASSAGES_PER_NOTE: i64 = 25;

/// Maximum offset of a time zone from UTC. A date without time is stored as midnight in some zone.
const MAX_ZONE_OFFSET: Duration = Duration::from_secs(14 * 3600);

/// Input for collecting candidates.
pub struct CandidateQuery<'q> {
    /// The query as typed, which may be the name of a note.
    pub text: &'q str,
    /// The query.
    pub query: &'q Query,
    /// Restricts the notes.
    pub filter: &'q SearchFilter,
    /// The notes within the filter that hold the facts of agents: a corpus of its own for the
    /// relevance of a match. The facts of the most similar meaning are always candidates.
    pub corpus: Option<&'q SearchFilter>,
    /// Embedding of the query; `None` if meaning is not compared.
    pub vector: Option<&'q QueryEmbedding>,
    /// The configured embedding model; `None` if only static embeddings are used.
    pub model: Option<&'q str>,
    /// The time range named in the query. Notes of that time are candidates regardless of their
    /// words.
    pub when: Option<TimeRange>,
    /// Size of a batch: number of notes found by words. Half as many are added by meaning.
    pub round: usize,
    /// Number of notes wanted at first. It determines the number of batches, and does not change
    /// the content of a batch.
    pub wanted: usize,
}

/// Candidates with the statistics that ranking needs.
#[derive(Clone, Debug, Default)]
pub struct CandidateSet {
    /// The query after corrections of words that no text contains.
    pub query: Query,
    /// The corrected words.
    pub corrections: Vec<TermCorrection>,
    /// Number of passages in the scope of the search that contain each term of the query.
    pub holders: Vec<u64>,
    /// Number of passages in the scope.
    pub passages: u64,
    /// The notes, by row number of their file.
    pub notes: Vec<RankCandidate<i64>>,
    /// True if more passages match than were compared.
    pub partial: bool,
    /// True if some passages were not compared by meaning, because the vectors of the built-in table
    /// are not loaded yet.
    pub is_meaning_deferred: bool,
}

/// Candidates found by words and names.
pub(super) struct WordMatches {
    pub(super) known: TermStats,
    pub(super) condition: FilterSql,
    /// Passages that contain the words or belong to notes with the tags, best first.
    pub(super) best: Vec<(i64, f64)>,
    pub(super) partial: bool,
    /// Files of the first batch that were found by words and names.
    pub(super) chosen: SelectedFiles,
    /// Number of files selected by name or time.
    pub(super) named: usize,
    /// The short notes among them, at the position of their selection.
    pub(super) notes: Vec<Option<RankCandidate<i64>>>,
}

/// Matches words and names and loads these notes. This runs while other threads search by meaning.
pub(super) fn match_words(
    db: &Connection,
    caches: &SearchCaches<'_>,
    question: &CandidateQuery<'_>,
    scope: &SearchScope,
    condition: &FilterSql,
) -> Result<WordMatches> {
    let known = look_up_terms(db, question.query, scope)?;
    let condition = condition.with_required_terms(&known.query);
    let most_compared = MAX_COMPARED.min(PASSAGES_PER_NOTE * question.round as i64);
    let search =
        TextSearch { db, caches: Some(caches), known: &known, scope, condition: &condition };
    let compared = search.best_passages(most_compared)?;
    let mut chosen = SelectedFiles::default();
    for file in named(db, question.text, &condition)? {
        chosen.add(first_passage(file), 0);
        chosen.found.entry(file).and_modify(|found| found.by = MatchSource::Name);
    }
    if let Some(when) = question.when {
        for file in files_in_time_range(db, when, &condition, question.round)? {
            chosen.add(first_passage(file), 0);
        }
    }
    let (mut best, partial) = compared.map_or_else(Default::default, |c| (c.best, c.partial));
    if question.query.is_empty() {
        // Whole batches, since every note with the tags is a result.
        let most = question.wanted.next_multiple_of(question.round.max(1));
        let tagged = tag_hits(db, &condition, question.query, question.filter, most)?;
        best = tagged.into_iter().map(|(passage, score, _)| (passage, score)).collect();
    }
    let named = chosen.files.len();
    chosen.add_best(&best, question.round, 0);
    let reader = CandidateLoader::new(db, caches, question, &known.query);
    let mut notes = Vec::with_capacity(chosen.files.len());
    for &file in &chosen.files {
        let found = chosen.found.get(&file);
        let note = found.map(|found| reader.note(file, found, NoteLength::Short)).transpose()?;
        notes.push(note.flatten());
    }
    Ok(WordMatches { known, condition, best, partial, chosen, named, notes })
}

/// Returns the newest notes that were created or changed in a time range, at most `most` of each.
fn files_in_time_range(
    db: &Connection,
    when: TimeRange,
    condition: &FilterSql,
    most: usize,
) -> Result<Vec<i64>> {
    let margin = MAX_ZONE_OFFSET.as_millis() as i64;
    let range = [when.from.as_millisecond() - margin, when.to.as_millisecond() + margin];
    let mut files = Vec::new();
    for column in ["f.updated_ms", "f.created_ms"] {
        let mut select = db.prepare_cached(&format!(
            "SELECT f.id, {column} FROM files f WHERE {} AND {column} >= ? AND {column} < ? \
             ORDER BY {column} DESC",
            condition.sql
        ))?;
        let values = condition.values.iter().cloned().chain(range.map(Value::Integer));
        let rows = select
            .query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
        let mut found = 0;
        for row in rows {
            let (file, ms) = row?;
            if when.contains(Timestamp::from_millisecond(ms).unwrap_or_default()) {
                files.push(file);
                found += 1;
            }
            if found == most {
                break;
            }
        }
    }
    Ok(files)
}

/// The files selected so far, in order.
#[derive(Default)]
pub(super) struct SelectedFiles {
    pub(super) files: Vec<i64>,
    pub(super) found: HashMap<i64, FileMatch>,
}

/// Reason why a file was selected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchSource {
    /// The query is one of its names.
    Name,
    Content,
}

/// Matches in a file.
pub(super) struct FileMatch {
    pub(super) by: MatchSource,
    pub(super) round: usize,
    pub(super) passages: Vec<i64>,
}

impl SelectedFiles {
    /// Adds a passage. Passages of a file that an earlier batch selected are ignored.
    pub(super) fn add(&mut self, passage: i64, round: usize) {
        let file = passage / PASSAGES_PER_FILE;
        let files = &mut self.files;
        let found = self.found.entry(file).or_insert_with(|| {
            files.push(file);
            FileMatch { by: MatchSource::Content, round, passages: Vec::new() }
        });
        if found.round == round {
            found.passages.push(passage);
        }
    }

    /// Adds up to `notes` further files with the words, best first.
    pub(super) fn add_best(&mut self, best: &[(i64, f64)], notes: usize, round: usize) {
        let most = self.files.len() + notes;
        for &(passage, _) in best {
            if self.files.len() < most || self.is_of(passage, round) {
                self.add(passage, round);
            }
        }
    }

    fn is_of(&self, passage: i64, round: usize) -> bool {
        let found = self.found.get(&(passage / PASSAGES_PER_FILE));
        found.is_some_and(|found| found.round == round)
    }
}
