//! Collects candidate notes in batches. The content of a batch does not depend on the number of
//! batches that follow.

use std::sync::Arc;

use memoranda_core::query::Query;
use memoranda_core::rank::RankCandidate;
use rusqlite::Connection;

use super::caches::SearchCaches;
use super::candidate_loader::{CandidateLoader, NoteLength};
use super::candidates::{CandidateQuery, CandidateSet, SelectedFiles, WordMatches, match_words};
use super::filter_sql::{FileMatcher, FilterSql};
use super::hydrate::SearchReader;
use super::scope::SearchScope;
use crate::error::Result;
use crate::index::vectors::NearestByMeaning;
use crate::index::write::{PASSAGES_PER_FILE, first_passage};

/// Minimum ratio of passages to facts for which the nearest facts are looked up separately.
const FACTS_AMONG_OTHERS: u64 = 2;

/// A list of passages by similarity.
#[derive(Clone, Copy)]
enum NearList {
    /// Those of all notes, from one on.
    Passages(usize),
    /// Those of the facts.
    Facts,
}

/// The candidates collected so far.
pub struct CandidateBatches<'c> {
    /// The candidates.
    pub found: CandidateSet,
    db: &'c Connection,
    caches: &'c SearchCaches<'c>,
    question: &'c CandidateQuery<'c>,
    scope: Arc<SearchScope>,
    /// The files that are a corpus of their own.
    corpus: Option<Arc<SearchScope>>,
    condition: FilterSql,
    /// Passages with the words, best first, and passages with a similar meaning, nearest first.
    best: Vec<(i64, f64)>,
    near: Vec<(i64, f32)>,
    /// The facts nearest to the query, which belong to the first batch.
    facts: Vec<(i64, f32)>,
    check: Option<FileMatcher<'c>>,
    chosen: SelectedFiles,
    /// Number of selected files that were loaded.
    read: usize,
    /// Number of the next batch.
    next: usize,
    /// True if the nearest passages of the matching files were found, not only of the scope.
    has_looked_there: bool,
    /// True if the last batch was empty.
    is_over: bool,
}

impl SearchReader<'_> {
    /// Collects the notes that may answer a question, as many as it wants at first.
    pub fn candidates<'c>(
        &'c self,
        question: &'c CandidateQuery<'c>,
    ) -> Result<CandidateBatches<'c>> {
        CandidateBatches::new(self.connection()?, &self.caches, question)
    }
}

impl<'c> CandidateBatches<'c> {
    /// Collects the number of notes that the query wants at first.
    fn new(
        db: &'c Connection,
        caches: &'c SearchCaches<'c>,
        question: &'c CandidateQuery<'c>,
    ) -> Result<Self> {
        let condition =
            FilterSql::new(question.query, question.filter).without_redundant_projects(db)?;
        let filter = FilterSql::new(&Query::default(), question.filter);
        let filter = filter.without_redundant_projects(db)?;
        let scope = caches.scopes.scope(db, caches.now, &filter)?;
        let (mut corpus, mut facts) = (None, NearestByMeaning::default());
        if let Some(filter) = question.corpus {
            let filter =
                FilterSql::new(&Query::default(), filter).without_redundant_projects(db)?;
            let held = caches.scopes.scope(db, caches.now, &filter)?;
            // Where most passages are facts, the nearest of all are facts.
            if let Some(vector) = question.vector
                && question.query.allows_semantic_match()
                && held.passages() * FACTS_AMONG_OTHERS <= scope.passages()
            {
                facts = caches.nearest_facts(db, vector, (&held, &filter))?;
            }
            corpus = Some(held);
        }
        let match_words = || match_words(db, caches, question, &scope, &condition);
        let (nearest, match_words) = match question.vector {
            Some(vector) if question.query.allows_semantic_match() => {
                caches.nearest_while(db, vector, (&scope, &condition), match_words)?
            }
            _ => (NearestByMeaning::default(), match_words()),
        };
        let WordMatches { known, condition, best, partial, chosen, named, notes } = match_words?;
        let passages = scope.passages();
        // Every passage of the scope fits, and the nearest of them were found.
        let has_looked_there = condition.sql == filter.sql && condition.values == filter.values;
        let found = CandidateSet {
            query: known.query,
            corrections: known.corrections,
            // An estimate can be too high.
            holders: known.holders.into_iter().map(|held| held.min(passages)).collect(),
            passages,
            notes: Vec::new(),
            partial,
            is_meaning_deferred: nearest.is_deferred || facts.is_deferred,
        };
        let mut rounds = Self {
            found,
            db,
            caches,
            question,
            scope,
            corpus,
            condition,
            best,
            near: nearest.passages,
            facts: facts.passages,
            check: None,
            chosen,
            read: 0,
            next: 0,
            has_looked_there,
            is_over: false,
        };
        rounds.look(named)?;
        rounds.look_until(question.wanted)?;
        rounds.read(notes)?;
        Ok(rounds)
    }

    /// Collects at least `more` further notes in whole batches. Returns false if there are none.
    pub fn next_batch(&mut self, more: usize) -> Result<bool> {
        let before = self.chosen.files.len();
        self.look_until(before + more)?;
        self.read(Vec::new())?;
        Ok(self.chosen.files.len() > before)
    }

    fn look_until(&mut self, wanted: usize) -> Result<()> {
        while !self.is_over && self.chosen.files.len() < wanted {
            let before = self.chosen.files.len();
            self.chosen.add_best(&self.best, self.question.round, self.next);
            self.look(before)?;
        }
        Ok(())
    }

    /// Completes a batch by notes of similar meaning; `before` files were selected earlier.
    fn look(&mut self, before: usize) -> Result<()> {
        let most = self.chosen.files.len() + self.question.round.div_ceil(2);
        self.choose_by_meaning(NearList::Passages(0), most)?;
        if let Some(vector) = self.question.vector
            && self.chosen.files.len() < most
        {
            let (db, caches) = (self.db, self.caches);
            let first = self.near.len();
            let near = std::mem::take(&mut self.near);
            self.near = caches.all_near(db, vector, (&self.scope, &self.condition), near)?;
            self.choose_by_meaning(NearList::Passages(first), most)?;
            if !self.has_looked_there && self.chosen.files.len() < most {
                self.has_looked_there = true;
                let first = self.near.len();
                let there = caches.nearest_there(db, vector, &self.condition, &self.near)?;
                self.near.extend(there);
                self.choose_by_meaning(NearList::Passages(first), most)?;
            }
        }
        if self.next == 0 {
            self.choose_by_meaning(NearList::Facts, usize::MAX)?;
        }
        self.next += 1;
        self.is_over = self.chosen.files.len() == before;
        Ok(())
    }

    /// Adds the notes of the nearest matching passages, up to a number of files. The matcher is created on first use, because this is expensive for some conditions.
    fn choose_by_meaning(&mut self, list: NearList, most: usize) -> Result<()> {
        let near = match list {
            NearList::Passages(from) => self.near.get(from..).unwrap_or_default(),
            NearList::Facts => &self.facts,
        };
        if near.is_empty() {
            return Ok(());
        }
        let check = match &mut self.check {
            Some(check) => check,
            none => none.insert(self.condition.check(self.db, Some(self.caches))?),
        };
        for &(passage, _) in near {
            if self.chosen.files.len() >= most {
                break;
            }
            if check.fits(passage / PASSAGES_PER_FILE)? {
                self.chosen.add(passage, self.next);
            }
        }
        Ok(())
    }

    /// Loads the notes that were selected since, except those already loaded.
    fn read(&mut self, known: Vec<Option<RankCandidate<i64>>>) -> Result<()> {
        let reader = CandidateLoader::new(self.db, self.caches, self.question, &self.found.query);
        let mut known = known.into_iter();
        for file in self.chosen.files.iter().skip(self.read) {
            let note = match (known.next().flatten(), self.chosen.found.get(file)) {
                (None, Some(found)) => reader.note(*file, found, NoteLength::Any)?,
                (known, _) => known,
            };
            let corpus = self.corpus.as_ref();
            let corpus = corpus.filter(|corpus| corpus.covers(first_passage(*file)));
            let corpus_passages = corpus.map(|corpus| corpus.passages());
            let note = note.map(|note| RankCandidate { corpus_passages, ..note });
            self.found.notes.extend(note);
        }
        self.read = self.chosen.files.len();
        Ok(())
    }
}
