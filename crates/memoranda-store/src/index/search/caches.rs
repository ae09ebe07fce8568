//! Meanings in memory: by the table always, by a model that was chosen as far as it has come.

use std::sync::Arc;

use memoranda_core::embed::{Meant, Sense};
use rusqlite::Connection;

use super::condition::Condition;
use crate::error::Result;
use crate::index::meaning::ModelCache;
use crate::index::vectors::{self, VectorCache};
use crate::index::write::first_passage;

/// So many passages that are near are looked at for notes.
const PASSAGES_BY_MEANING: usize = 1000;

/// What is known of meanings, in memory.
pub(crate) struct Caches<'c> {
    /// By the table in the program.
    pub(crate) table: &'c VectorCache,
    /// By the model that was chosen.
    pub(crate) chosen: Option<Arc<ModelCache>>,
    /// The index that they are of.
    pub(crate) index: Option<(u64, u64)>,
}

impl Caches<'_> {
    /// The passages nearest to a question by the model that was chosen, and by the table those
    /// that it has not come to yet; beside that, what this thread does while others look.
    pub(super) fn nearest_beside<T>(
        &self,
        db: &Connection,
        asked: &Meant,
        condition: &Condition,
        work: impl FnOnce() -> T,
    ) -> Result<(Vec<(i64, f32)>, T)> {
        let table = (&asked.table, PASSAGES_BY_MEANING);
        let (Some(cache), Some(chosen)) = (&self.chosen, &asked.chosen) else {
            return self.table.nearest_beside(db, self.index, table, condition, work);
        };
        let done = work();
        let mut near = cache.nearest(db, self.index, &chosen.vector, PASSAGES_BY_MEANING)?;
        near.iter_mut().for_each(|(_, cosine)| *cosine = chosen.on_scale(*cosine));
        let coverage = cache.coverage(db, self.index)?;
        if coverage.covered < coverage.passages {
            let (by_table, ()) =
                self.table.nearest_beside(db, self.index, table, condition, || ())?;
            near.extend(by_table.into_iter().filter(|&(passage, _)| !cache.has(passage)));
        }
        near.retain(|&(_, similarity)| similarity > 0.0);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok((near, done))
    }

    /// The passages nearest to a question in the place that a condition asks for, if there may be
    /// nearer ones than these elsewhere that leave no room for them.
    pub(super) fn nearest_there(
        &self,
        db: &Connection,
        asked: &Meant,
        condition: &Condition,
        near: &[(i64, f32)],
    ) -> Result<Vec<(i64, f32)>> {
        if near.len() < PASSAGES_BY_MEANING || self.chosen.is_some() || !condition.is_place() {
            return Ok(Vec::new());
        }
        vectors::nearest_that_fit(db, (&asked.table, PASSAGES_BY_MEANING), condition)
    }

    /// What the passages of a file mean.
    pub(super) fn senses(
        &self,
        db: &Connection,
        kept: vectors::Kept,
        file: i64,
    ) -> Result<Vec<Option<Sense>>> {
        let table = self.table.of_file(db, kept, file)?.into_iter().zip(first_passage(file)..);
        let chosen = |passage| self.chosen.as_ref().and_then(|cache| cache.sense(passage));
        Ok(table.map(|(vector, passage)| chosen(passage).or(vector.map(Sense::Table))).collect())
    }
}
