//! Ranking over several vaults: words are as rare as they are in all of them together.

use std::sync::{Arc, Mutex};

use memoranda_core::query::QueryTerm;
use memoranda_store::{CandidateQuery, CandidateSet, Result as StoreResult};

use crate::Memory;

impl Memory {
    /// Returns a handle of this vault whose searches count the passages of other vaults too, so that
    /// results of all of them can be put in one order.
    pub fn ranked_with(&self, others: Vec<Arc<Self>>) -> Self {
        Self {
            store: Arc::clone(&self.store),
            chosen: self.chosen.clone(),
            maker: Mutex::new(None),
            first_look: Arc::clone(&self.first_look),
            zone: self.zone,
            default_project: self.default_project.clone(),
            person: self.person.clone(),
            corpus: others,
        }
    }

    /// Adds the counts of the other vaults to those of the candidates.
    pub(super) fn add_corpus(
        &self,
        question: &CandidateQuery<'_>,
        found: &mut CandidateSet,
    ) -> StoreResult<()> {
        for other in &self.corpus {
            let counted = CandidateQuery { vector: None, wanted: 1, round: 1, ..*question };
            let snapshot = other.store.snapshot()?;
            let reader = snapshot.search_reader(counted.model)?;
            let CandidateSet { query, holders, passages, .. } = reader.candidates(&counted)?.found;
            // A word that is corrected in one vault may be another term in the other.
            let is_same = |a: &QueryTerm, b: &QueryTerm| a.kind == b.kind && a.words == b.words;
            for (term, held) in found.query.terms.iter().zip(&mut found.holders) {
                let at = query.terms.iter().position(|other| is_same(term, other));
                *held += at.and_then(|at| holders.get(at)).copied().unwrap_or(0);
            }
            found.passages += passages;
        }
        Ok(())
    }
}
