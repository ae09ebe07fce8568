//! What is in memory for searches. Meanings: by the table always, by a model that was chosen as far as it has come.

use std::sync::Arc;

use memoranda_core::embed::{QueryEmbedding, StaticQueryVector};
use memoranda_core::rank::RankCandidate;
use rusqlite::Connection;

use super::filter_sql::FilterSql;
use super::note_cache::NoteCacheView;
use crate::error::Result;
use crate::index::connection::IndexVersion;
use crate::index::embeddings::ModelCache;
use crate::index::vectors::{self, VectorCache};
use crate::index::write::first_passage;

/// So many passages that are near are looked at for notes.
const PASSAGES_BY_MEANING: usize = 1000;
/// So many of them are looked for at first, which is most often enough.
const FIRST_BY_MEANING: usize = 200;

/// What is known of notes and meanings, in memory.
pub(crate) struct SearchCaches<'c> {
    /// By the table in the program.
    pub(crate) table: &'c VectorCache,
    /// What notes were compared by lately.
    pub(crate) notes: NoteCacheView<'c>,
    /// By the model that was chosen.
    pub(crate) chosen: Option<Arc<ModelCache>>,
    /// The state of the index that is looked at.
    pub(crate) now: IndexVersion,
}

impl SearchCaches<'_> {
    /// The first passages nearest to a question by the model that was chosen, and by the table
    /// those that it has not come to yet; beside that, what this thread does while others look.
    pub(super) fn nearest_while<T>(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        condition: &FilterSql,
        work: impl FnOnce() -> T,
    ) -> Result<(Vec<(i64, f32)>, T)> {
        let (Some(cache), Some(chosen)) = (&self.chosen, &asked.chosen) else {
            // Who asks for the first time looks at all vectors anyway, and keeps none.
            let is_first = !self.table.is_used();
            let most = if is_first { PASSAGES_BY_MEANING } else { FIRST_BY_MEANING };
            let first = (&asked.table, most);
            return self.table.nearest_while(db, self.now, first, condition, work);
        };
        let table = (&asked.table, PASSAGES_BY_MEANING);
        let done = work();
        let mut near = cache.nearest(db, self.now, &chosen.vector, PASSAGES_BY_MEANING)?;
        near.iter_mut().for_each(|(_, cosine)| *cosine = chosen.on_scale(*cosine));
        let coverage = cache.coverage(db, self.now)?;
        if coverage.covered < coverage.passages {
            let (by_table, ()) = self.table.nearest_while(db, self.now, table, condition, || ())?;
            near.extend(by_table.into_iter().filter(|&(passage, _)| !cache.has(passage)));
        }
        near.retain(|&(_, similarity)| similarity > 0.0);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok((near, done))
    }

    /// All passages that are near to a question, where the first are not enough.
    pub(super) fn all_near(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        condition: &FilterSql,
        first: Vec<(i64, f32)>,
    ) -> Result<Vec<(i64, f32)>> {
        let is_by_table = self.chosen.is_none() || asked.chosen.is_none();
        if !is_by_table || first.len() != FIRST_BY_MEANING {
            return Ok(first);
        }
        let table = (&asked.table, PASSAGES_BY_MEANING);
        Ok(self.table.nearest_while(db, self.now, table, condition, || ())?.0)
    }

    /// The passages nearest to a question among those that a condition asks for, if there may be
    /// nearer ones than these that leave no room for them.
    pub(super) fn nearest_there(
        &self,
        db: &Connection,
        asked: &QueryEmbedding,
        condition: &FilterSql,
        near: &[(i64, f32)],
    ) -> Result<Vec<(i64, f32)>> {
        if near.len() < PASSAGES_BY_MEANING || self.chosen.is_some() || condition.is_unrestricted()
        {
            return Ok(Vec::new());
        }
        vectors::nearest_that_fit(db, (&asked.table, PASSAGES_BY_MEANING), condition)
    }

    /// Tells of the passages of notes how alike they and what was meant are.
    pub(super) fn add_similarities(
        &self,
        db: &Connection,
        meant: &QueryEmbedding,
        notes: &mut [RankCandidate<i64>],
    ) -> Result<()> {
        let kept = self.table.place(self.now);
        let probe = StaticQueryVector::new(&meant.table);
        let mut by_table = Vec::new();
        for note in notes {
            self.table.similarities(db, kept, note.note, &probe, &mut by_table)?;
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
