//! Search by an embedding model that the person chose, in addition to the built-in table.
//!
//! A search waits for the model no longer than its timeout and does not depend on it: if the model
//! fails, is slow, or has embedded too few passages, the search uses the table and reports it.

mod background;
mod make;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use memoranda_core::embed::{ModelQueryEmbedding, QuantizedVector, QueryEmbedding, StaticVector};
use memoranda_store::{EmbeddingCoverage, Store};

use crate::Memory;
use crate::error::Result;
use crate::model::{ModelError, TextEmbedder};

pub(crate) use background::EmbeddingWorker;
pub use make::{EmbedError, EmbedOutcome, EmbedReport};

/// Time for which a failed model is not used, so that searches do not wait for it in vain.
const FAILURE_PAUSE: Duration = Duration::from_secs(30);
/// Of ten passages this many must have a vector before searches use the model.
const MIN_COVERED_OF_TEN: u64 = 9;

/// Reason why passages without a vector of the chosen model were compared by words alone.
pub const TABLE_LOADING_REASON: &str = "the vectors of the built-in model are not loaded yet";

/// A model that the person chose, with its recent failures.
#[derive(Debug)]
pub struct EmbeddingModel {
    embedder: Arc<dyn TextEmbedder>,
    options: EmbeddingOptions,
    id: OnceLock<String>,
    resting: Mutex<Option<(Instant, String)>>,
    /// The last query, which is often repeated for another page.
    last: Mutex<Option<(String, QuantizedVector)>>,
}

/// Limits of the calls of a model.
#[derive(Clone, Debug)]
pub struct EmbeddingOptions {
    /// Maximum time that a query waits for its vector.
    pub limit: Duration,
    /// Prefix that the model expects before a query.
    pub question_prefix: String,
    /// Prefix that the model expects before a passage.
    pub passage_prefix: String,
}

/// Source of the embeddings that a search compared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum EmbeddingSource {
    /// No embeddings: the search compared words only.
    #[default]
    Nothing,
    /// The table in the program.
    BuiltIn,
    /// No embeddings yet: the process has just started, and the vectors of a large vault are still
    /// being read into memory. Notes with the words of the question were found.
    Loading,
    /// The chosen model.
    Chosen {
        /// Name of the model.
        model: String,
        /// Number of passages without a vector of the model; the table compared them.
        left: u64,
    },
    /// The chosen model. The passages without a vector of the model were compared by words alone,
    /// because the vectors of the table are still being read into memory.
    ChosenLoading {
        /// Name of the model.
        model: String,
        /// Number of passages without a vector of the model.
        left: u64,
    },
    /// The table, although a model was chosen.
    FellBack {
        /// Name of the model.
        model: String,
        /// Reason why the model was not used.
        reason: String,
    },
}

impl EmbeddingSource {
    /// Returns the source of a search for which the vectors of the table were not loaded yet.
    pub(crate) fn while_loading(self) -> Self {
        match self {
            // The model compared every passage.
            Self::Chosen { left: 0, .. } => self,
            Self::Chosen { model, left } => Self::ChosenLoading { model, left },
            _ => Self::Loading,
        }
    }
}

/// State of the chosen model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelStatus {
    /// Name of the model.
    pub model: String,
    /// Number of passages with a vector, or the reason why the model cannot be used.
    pub coverage: Result<EmbeddingCoverage, String>,
}

/// Embeddings of a query, and their source.
#[derive(Default)]
pub(crate) struct QueryMeaning {
    pub(crate) meant: Option<QueryEmbedding>,
    /// Id of the model; `None` if only the table was used.
    pub(crate) model: Option<String>,
    pub(crate) by: EmbeddingSource,
}

impl EmbeddingModel {
    /// Wraps a model without asking it.
    pub fn new(embedder: Arc<dyn TextEmbedder>, options: EmbeddingOptions) -> Self {
        Self {
            embedder,
            options,
            id: OnceLock::new(),
            resting: Mutex::new(None),
            last: Mutex::new(None),
        }
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        self.embedder.name()
    }

    /// Returns the name of the model in caches. Waits until the model is loaded.
    fn id(&self) -> Result<String, ModelError> {
        if let Some(id) = self.id.get() {
            return Ok(id.clone());
        }
        let mut id = self.embedder.id()?;
        if !self.options.passage_prefix.is_empty() {
            id.push_str(&format!(" {:?}", self.options.passage_prefix));
        }
        Ok(self.id.get_or_init(|| id).clone())
    }

    /// Embeds a query with the model, or returns the reason why that took too long.
    fn meant(
        self: &Arc<Self>,
        store: &Store,
        said: &str,
    ) -> Result<(ModelQueryEmbedding, String, u64), String> {
        if let Some((until, reason)) = &*lock(&self.resting)
            && Instant::now() < *until
        {
            return Err(reason.clone());
        }
        let deadline = Instant::now() + self.options.limit;
        let id = match self.id.get() {
            Some(id) => id.clone(),
            None => self.within(deadline, Self::id)?,
        };
        let coverage = store.coverage(&id).map_err(|e| e.to_string())?;
        let EmbeddingCoverage { passages, covered, .. } = coverage;
        let form = coverage.form.filter(|_| covered * 10 >= passages * MIN_COVERED_OF_TEN);
        let form = form
            .ok_or_else(|| format!("{covered} of {passages} passages have their vectors so far"))?;
        let last = lock(&self.last).clone().filter(|(asked, _)| asked == said);
        let vector = match last {
            Some((_, vector)) => vector,
            None => {
                let text = said.to_owned();
                let vector = self.within(deadline, move |model| model.question(&text))?;
                *lock(&self.last) = Some((said.to_owned(), vector.clone()));
                vector
            }
        };
        if vector.numbers.len() != form.dims {
            return Err(format!(
                "its vector of the question has {} numbers, and those of the passages have {}",
                vector.numbers.len(),
                form.dims
            ));
        }
        Ok((ModelQueryEmbedding { vector, baseline: form.zero }, id, passages - covered))
    }

    fn question(&self, text: &str) -> Result<QuantizedVector, ModelError> {
        let text = format!("{}{text}", self.options.question_prefix);
        let vectors = self.embedder.embed(&[&text], self.options.limit)?;
        let vector = vectors.first().and_then(|vector| QuantizedVector::from_floats(vector));
        vector.ok_or_else(|| ModelError::Malformed { reason: "it holds no vector".to_owned() })
    }

    /// Returns the vectors of passages.
    fn passages(&self, texts: &[&str], limit: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let prefix = &self.options.passage_prefix;
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.embedder.embed(&texts, limit)
    }

    /// Runs slow work of the model and waits for it until the deadline. A model that fails or is
    /// late is not used for a while; late results are kept.
    fn within<T: Send + 'static>(
        self: &Arc<Self>,
        deadline: Instant,
        work: impl FnOnce(&Self) -> Result<T, ModelError> + Send + 'static,
    ) -> Result<T, String> {
        let (sender, receiver) = channel();
        let model = Arc::clone(self);
        let run = move || {
            // The receiver may have timed out.
            sender.send(work(&model)).ok();
        };
        let thread = std::thread::Builder::new().name("memoranda-ask".into()).spawn(run);
        let left = deadline.saturating_duration_since(Instant::now());
        let reason = match thread.map(|_| receiver.recv_timeout(left)) {
            Ok(Ok(Ok(found))) => return Ok(found),
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => ModelError::TimedOut { limit: self.options.limit }.to_string(),
            Err(error) => format!("no thread can be started: {error}"),
        };
        *lock(&self.resting) = Some((Instant::now() + FAILURE_PAUSE, reason.clone()));
        Err(reason)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// Embeds a query with the chosen model if it answers in time, else with the table.
    pub(crate) fn meant(&self, said: &str, table: StaticVector) -> QueryMeaning {
        let Some(chosen) = &self.chosen else {
            let meant = Some(QueryEmbedding::from_static(table));
            return QueryMeaning { meant, model: None, by: EmbeddingSource::BuiltIn };
        };
        let name = chosen.name().to_owned();
        match chosen.meant(self.store(), said) {
            Ok((by_choice, id, left)) => QueryMeaning {
                meant: Some(QueryEmbedding { static_vector: table, model: Some(by_choice) }),
                model: Some(id),
                by: EmbeddingSource::Chosen { model: name, left },
            },
            Err(reason) => QueryMeaning {
                meant: Some(QueryEmbedding::from_static(table)),
                model: None,
                by: EmbeddingSource::FellBack { model: name, reason },
            },
        }
    }

    /// Returns the state of the chosen model, if one was chosen.
    pub fn model_status(&self) -> Result<Option<ModelStatus>> {
        let Some(chosen) = &self.chosen else { return Ok(None) };
        let coverage = match chosen.id() {
            Ok(id) => Ok(self.store().coverage(&id)?),
            Err(error) => Err(error.to_string()),
        };
        Ok(Some(ModelStatus { model: chosen.name().to_owned(), coverage }))
    }

    /// Asks the chosen model for a vector, to test it.
    pub fn try_model(&self) -> Option<Result<(), ModelError>> {
        let chosen = self.chosen.as_ref()?;
        Some(chosen.id().and_then(|_| chosen.question("a question")).map(|_| ()))
    }

    /// Computes the missing vectors of the chosen model.
    pub fn make_meanings(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EmbedOutcome, EmbedError> {
        let chosen = self.chosen.as_ref().ok_or(EmbedError::NoModel)?;
        make::make(&|| Some(Arc::clone(&self.store)), chosen, progress)
    }

    /// Deletes the vectors of the chosen model.
    pub fn forget_meanings(&self) -> Result<(), EmbedError> {
        let chosen = self.chosen.as_ref().ok_or(EmbedError::NoModel)?;
        let id = chosen.id().map_err(|error| EmbedError::of(chosen, error))?;
        Ok(self.store.forget_meanings(&id)?)
    }
}
