//! Notes that may answer a question, with all that is needed to compare them: found by their
//! words, by what they mean, and by their names.

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
use super::term_stats::{TermCorrection, TermStats, look_up};
use super::text_match::{MAX_COMPARED, match_text};
use super::{SearchFilter, named, tag_hits};
use crate::error::Result;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// So many passages are compared for each note that is wanted.
const PASSAGES_A_NOTE: i64 = 25;

/// No zone is further from UTC; dates without a time of day lie at midnight there.
const MAX_ZONE: Duration = Duration::from_secs(14 * 3600);

/// What is asked of the index.
pub struct CandidateQuery<'q> {
    /// The words as typed: a note may be called so.
    pub text: &'q str,
    /// The query.
    pub query: &'q Query,
    /// Where to look.
    pub filter: &'q SearchFilter,
    /// What the question means, if meaning counts.
    pub vector: Option<&'q QueryEmbedding>,
    /// The model by which it means something beside the table, if that is not the table alone.
    pub model: Option<&'q str>,
    /// The time that it names, if any: notes of that time may answer whatever they say.
    pub when: Option<TimeRange>,
    /// How many notes a round looks for by their words, and half as many by their meaning.
    pub round: usize,
    /// How many notes are wanted at first: there are as many rounds as that takes, and what one finds
    /// does not depend on how many follow.
    pub wanted: usize,
}

/// What the index yields.
#[derive(Clone, Debug, Default)]
pub struct CandidateSet {
    /// The query as it was answered: words that no text holds may be read as others.
    pub query: Query,
    /// Which words those are.
    pub corrections: Vec<TermCorrection>,
    /// How many passages hold each term of the query.
    pub holders: Vec<u64>,
    /// How many passages there are.
    pub passages: u64,
    /// The notes, each by the number of its file in the index.
    pub notes: Vec<RankCandidate<i64>>,
    /// Whether only a part of what matches was compared.
    pub partial: bool,
}

/// What is found by words and names.
pub(super) struct WordMatches {
    pub(super) known: TermStats,
    pub(super) condition: FilterSql,
    /// The passages that hold the words, or are of notes with the tags, best first.
    pub(super) best: Vec<(i64, f64)>,
    pub(super) partial: bool,
    /// The notes of the first round, as far as words and names tell.
    pub(super) chosen: SelectedFiles,
    /// How many of them were chosen for their names and times.
    pub(super) named: usize,
    /// Those of them that are not long, each in the place in which it was chosen.
    pub(super) notes: Vec<Option<RankCandidate<i64>>>,
}

/// Asks for words and names, and reads the notes that have them: all that can be done while others
/// look for what is near in meaning.
pub(super) fn match_words(
    db: &Connection,
    caches: &SearchCaches<'_>,
    question: &CandidateQuery<'_>,
    condition: &FilterSql,
) -> Result<WordMatches> {
    let known = look_up(db, question.query)?;
    let condition = condition.demanding(&known.query);
    let most_compared = MAX_COMPARED.min(PASSAGES_A_NOTE * question.round as i64);
    let compared = match_text(db, &known, Some(caches), &condition, most_compared)?;
    let mut chosen = SelectedFiles::default();
    for file in named(db, question.text, &condition)? {
        chosen.add(first_passage(file), 0);
        chosen.found.entry(file).and_modify(|found| found.by = MatchSource::Name);
    }
    if let Some(when) = question.when {
        for file in of_time(db, when, &condition, question.round)? {
            chosen.add(first_passage(file), 0);
        }
    }
    let (mut best, partial) = compared.map_or_else(Default::default, |c| (c.best, c.partial));
    if question.query.is_empty() {
        // Whole rounds, all of which answers.
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

/// The newest notes that were made or changed in a span of time, at most so many of each.
fn of_time(
    db: &Connection,
    when: TimeRange,
    condition: &FilterSql,
    most: usize,
) -> Result<Vec<i64>> {
    let margin = MAX_ZONE.as_millis() as i64;
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
            if when.holds(Timestamp::from_millisecond(ms).unwrap_or_default()) {
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

/// The files chosen so far, in the order in which they were found.
#[derive(Default)]
pub(super) struct SelectedFiles {
    pub(super) files: Vec<i64>,
    pub(super) found: HashMap<i64, FileMatch>,
}

/// By what a file was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchSource {
    /// What was asked is one of its names.
    Name,
    Content,
}

/// What was found in a file.
pub(super) struct FileMatch {
    pub(super) by: MatchSource,
    pub(super) round: usize,
    pub(super) passages: Vec<i64>,
}

impl SelectedFiles {
    /// Adds a passage; one of a file that an earlier round has chosen tells nothing new.
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

    /// Adds so many further notes that hold the words, the best first.
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
