//! Computes missing vectors in small batches. Each batch is stored at once, so that an interrupted
//! run continues where it stopped.

use std::sync::Arc;
use std::time::Duration;

use memoranda_core::embed::{BASELINE_SENTENCES, QuantizedVector, baseline_similarity};
use memoranda_store::{PendingText, Store, StoreError, TextKey, VectorForm};

use super::EmbeddingModel;
use crate::model::ModelError;

/// Number of texts that are read ahead, so that texts of similar length share a batch.
const TEXTS_AHEAD: usize = 128;
/// Number of texts in a batch.
const BATCH_TEXTS: usize = 32;
/// Maximum duration of a batch.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);
/// A model that refuses this many single texts in a row refuses everything.
const MAX_REFUSED: usize = 5;

/// Outcome of computing vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmbedOutcome {
    /// All vectors that can be computed are computed.
    Done(EmbedReport),
    /// Another process computes vectors.
    Elsewhere,
    /// The vault was closed.
    Closed,
}

/// Result of computing vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EmbedReport {
    /// Texts that have a vector now.
    pub made: usize,
    /// Texts that the model rejected; searches compare them by the table.
    pub refused: usize,
}

/// Reason why vectors could not be computed. Earlier vectors stay.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// No model was chosen.
    #[error("no model is chosen; the one that is built in needs nothing to be made")]
    NoModel,
    /// The model failed.
    #[error("{model}: {error}")]
    Model {
        /// Name of the model.
        model: String,
        /// Error of the model.
        error: ModelError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl EmbedError {
    pub(super) fn of(chosen: &EmbeddingModel, error: ModelError) -> Self {
        Self::Model { model: chosen.name().to_owned(), error }
    }
}

/// Computes missing vectors. The store is borrowed briefly and never while the model works.
pub(super) fn make(
    store: &dyn Fn() -> Option<Arc<Store>>,
    chosen: &EmbeddingModel,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<EmbedOutcome, EmbedError> {
    let id = chosen.id().map_err(|error| EmbedError::of(chosen, error))?;
    let Some(vault) = store() else { return Ok(EmbedOutcome::Closed) };
    if vault.pending_texts(&id, 1, &[])?.is_empty() {
        return Ok(EmbedOutcome::Done(EmbedReport::default()));
    }
    let Some(_claim) = vault.claim_meanings(&id)? else { return Ok(EmbedOutcome::Elsewhere) };
    let known = vault.coverage(&id)?.form;
    drop(vault);
    let form = match known {
        Some(form) => form,
        None => form(chosen).map_err(|error| EmbedError::of(chosen, error))?,
    };
    let mut making = EmbedRun { chosen, form, refused: Vec::new(), made: 0 };
    loop {
        let Some(vault) = store() else { return Ok(EmbedOutcome::Closed) };
        let mut pending = vault.pending_texts(&id, TEXTS_AHEAD, &making.refused)?;
        if pending.is_empty() {
            vault.tidy_meanings(&id)?;
            let refused = making.refused.len();
            return Ok(EmbedOutcome::Done(EmbedReport { made: making.made, refused }));
        }
        drop(vault);
        pending.sort_by_key(|pending| pending.text.len());
        for batch in pending.chunks(BATCH_TEXTS) {
            let vectors = making.vectors(batch)?;
            let Some(vault) = store() else { return Ok(EmbedOutcome::Closed) };
            vault.keep_meanings(&id, form, &vectors)?;
            let coverage = vault.coverage(&id)?;
            progress(coverage.covered, coverage.passages);
        }
    }
}

/// Determines the vector format of a model from unrelated sentences.
fn form(chosen: &EmbeddingModel) -> Result<VectorForm, ModelError> {
    let vectors = chosen.passages(&BASELINE_SENTENCES, BATCH_TIMEOUT)?;
    let wide: Vec<QuantizedVector> =
        vectors.iter().filter_map(|vector| QuantizedVector::from_floats(vector)).collect();
    match wide.first() {
        Some(first) if wide.len() == BASELINE_SENTENCES.len() => {
            Ok(VectorForm { dims: first.numbers.len(), zero: baseline_similarity(&wide) })
        }
        _ => Err(ModelError::Malformed { reason: "some of its vectors are empty".to_owned() }),
    }
}

struct EmbedRun<'m> {
    chosen: &'m EmbeddingModel,
    form: VectorForm,
    refused: Vec<TextKey>,
    made: usize,
}

impl EmbedRun<'_> {
    /// Returns the vectors of some texts. If the model rejects the batch, the texts are sent one by
    /// one, and those that the model rejects are left out.
    fn vectors(
        &mut self,
        batch: &[PendingText],
    ) -> Result<Vec<(TextKey, Option<QuantizedVector>)>, EmbedError> {
        let together = match self.ask(batch) {
            Err(error) if is_about_texts(&error) => None,
            other => Some(other.map_err(|error| EmbedError::of(self.chosen, error))?),
        };
        let vectors = match together {
            Some(vectors) => vectors,
            None => self.one_by_one(batch)?,
        };
        self.made += vectors.len();
        Ok(vectors)
    }

    fn one_by_one(
        &mut self,
        batch: &[PendingText],
    ) -> Result<Vec<(TextKey, Option<QuantizedVector>)>, EmbedError> {
        let mut vectors = Vec::with_capacity(batch.len());
        let mut in_a_row = 0;
        for pending in batch {
            match self.ask(std::slice::from_ref(pending)) {
                Ok(made) => {
                    vectors.extend(made);
                    in_a_row = 0;
                }
                Err(error) if is_about_texts(&error) && in_a_row < MAX_REFUSED => {
                    self.refused.push(pending.key);
                    in_a_row += 1;
                }
                Err(error) => return Err(EmbedError::of(self.chosen, error)),
            }
        }
        Ok(vectors)
    }

    fn ask(
        &self,
        batch: &[PendingText],
    ) -> Result<Vec<(TextKey, Option<QuantizedVector>)>, ModelError> {
        let texts: Vec<&str> = batch.iter().map(|pending| pending.text.as_str()).collect();
        let vectors = self.chosen.passages(&texts, BATCH_TIMEOUT)?;
        let dims = self.form.dims;
        match vectors.iter().find(|vector| vector.len() != dims) {
            _ if vectors.len() != texts.len() => Err(ModelError::Malformed {
                reason: format!("{} vectors for {} texts", vectors.len(), texts.len()),
            }),
            Some(other) => Err(ModelError::Unusable {
                reason: format!(
                    "its vectors have {} numbers now, and had {dims}; if another model goes by \
                     the same name, `memoranda embed --rebuild` makes all of them again",
                    other.len()
                ),
            }),
            None => {
                let wide = vectors.iter().map(|vector| QuantizedVector::from_floats(vector));
                Ok(batch.iter().map(|pending| pending.key).zip(wide).collect())
            }
        }
    }
}

/// Returns true if the error concerns these texts only, so that other texts may succeed.
fn is_about_texts(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::Refused { status: 400 | 413 | 422, .. } | ModelError::TooLarge { .. }
    )
}
