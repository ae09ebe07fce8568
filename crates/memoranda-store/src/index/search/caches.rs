//! In-memory caches for searches: static embeddings of all passages, embeddings of a configured
//! model as far as computed, and ranking data of notes.

use std::sync::Arc;

use memoranda_core::embed::{QueryEmbedding, StaticQueryVector};
use memoranda_core::rank::RankCandidate;
use rusqlite::Connection;

use super::filter_sql::FilterSql;
use super::note_cache::NoteCacheView;
use super::scope::{ScopeCache, SearchScope};
use crate::error::Result;
use crate::index::connection::IndexVersion;
use crate::index::embeddings::ModelCache;
use crate::index::vectors::{self, NearestByMeaning, VectorCache};
use crate::index::write::first_passage;

/// Maximum number of similar passages examined for notes.
const MAX_SIMILAR_PASSAGES: usize = 1000;
/// Number of similar passages searched at first, which is usually enough.
const FIRST_SIMILAR_PASSAGES: usize = 200;
/// Number of nearest facts that are always candidates.
const NEAREST_FACTS: usize = 10;

/// In-memory caches for one search.
pub(crate) struct SearchCaches<'c> {
    /// Static embeddings.
    pub(crate) table: &'c VectorCache,
    /// Ranking data of notes.
    pub(crate) notes: NoteCacheView<'c>,
    /// Files of the latest filters.
    pub(crate) scopes: &'c ScopeCache,
    /// Embeddings of the configured model.
    pub(crate) chosen: Option<Arc<ModelCache>>,
    /// The state of the index that is searched.
    pub(crate) now: IndexVersion,
}

impl SearchCaches<'_> {
    /// Returns the passages of a scope most similar to a query, by the configured model if it has
    /// embedded them, otherwise by static embeddings. Runs `work` on this thread while others search.
    pub(super) fn nearest_while<T>(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        (scope, condition): (&SearchScope, &FilterSql),
        work: impl FnOnce() -> T,
    ) -> Result<(NearestByMeaning, T)> {
        let (Some(cache), Some(chosen)) = (&self.chosen, &asked.model) else {
            // The first search of a process reads all vectors anyway and caches none.
            let is_first = !self.table.is_used();
            let most = if is_first { MAX_SIMILAR_PASSAGES } else { FIRST_SIMILAR_PASSAGES };
            let first = (&asked.static_vector, most);
            return self.table.nearest_while(db, self.now, first, (scope, condition), work);
        };
        let table = (&asked.static_vector, MAX_SIMILAR_PASSAGES);
        let done = work();
        let mut near = cache.nearest(db, self.now, &chosen.vector, MAX_SIMILAR_PASSAGES)?;
        near.iter_mut().for_each(|(_, cosine)| *cosine = chosen.rescale(*cosine));
        let coverage = cache.coverage(db, self.now)?;
        let mut is_deferred = false;
        if coverage.covered < coverage.passages {
            let there = (scope, condition);
            let by_table = self.table.nearest(db, self.now, table, there)?;
            is_deferred = by_table.is_deferred;
            let others = by_table.passages.into_iter().filter(|&(passage, _)| !cache.has(passage));
            near.extend(others);
        }
        near.retain(|&(_, similarity)| similarity > 0.0);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok((NearestByMeaning { passages: near, is_deferred }, done))
    }

    /// Returns all similar passages, if the first ones are not enough.
    pub(super) fn all_near(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        there: (&SearchScope, &FilterSql),
        first: Vec<(i64, f32)>,
    ) -> Result<Vec<(i64, f32)>> {
        let is_by_table = self.chosen.is_none() || asked.model.is_none();
        if !is_by_table || first.len() != FIRST_SIMILAR_PASSAGES {
            return Ok(first);
        }
        let table = (&asked.static_vector, MAX_SIMILAR_PASSAGES);
        let all = self.table.nearest(db, self.now, table, there)?;
        Ok(if all.is_deferred { first } else { all.passages })
    }

    /// Returns the most similar passages that match a condition, if passages outside of it may have
    /// displaced them.
    pub(super) fn nearest_there(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        condition: &FilterSql,
        near: &[(i64, f32)],
    ) -> Result<Vec<(i64, f32)>> {
        if near.len() < MAX_SIMILAR_PASSAGES || self.chosen.is_some() || condition.is_unrestricted()
        {
            return Ok(Vec::new());
        }
        vectors::nearest_that_fit(db, (&asked.static_vector, MAX_SIMILAR_PASSAGES), condition)
    }

    /// Returns the facts of a corpus nearest to the subject of a query, by static embeddings.
    pub(super) fn nearest_facts(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        (corpus, condition): (&SearchScope, &FilterSql),
    ) -> Result<NearestByMeaning> {
        let subject = asked.subject();
        let asked = (&subject, NEAREST_FACTS);
        // A process that answers one search reads only the vectors that it compares.
        if !self.table.is_used() && !self.table.is_deferred(self.now, corpus) {
            let passages = vectors::nearest_that_fit(db, asked, condition)?;
            return Ok(NearestByMeaning { passages, is_deferred: false });
        }
        self.table.nearest(db, self.now, asked, (corpus, condition))
    }

    /// Sets the similarity to a query for the passages of some notes.
    pub(super) fn add_similarities(
        &self,
        db: &Connection,
        meant: &QueryEmbedding,
        notes: &mut [RankCandidate<i64>],
    ) -> Result<()> {
        let probe = StaticQueryVector::new(&meant.static_vector);
        let subject = StaticQueryVector::new(&meant.subject());
        let mut by_table = Vec::new();
        for note in notes {
            let probe = if note.corpus_passages.is_some() { &subject } else { &probe };
            self.table.similarities(db, self.now, note.note, probe, &mut by_table)?;
            let first = first_passage(note.note) as u64;
            for passage in &mut note.passages {
                let chosen = self.chosen.as_ref().and_then(|cache| cache.sense(passage.id as i64));
                let by_table = by_table.get((passage.id - first) as usize).copied();
                passage.similarity = match chosen {
                    Some(sense) => meant.similarity(&sense),
                    None => by_table.unwrap_or_default(),
                };
            }
        }
        Ok(())
    }
}
