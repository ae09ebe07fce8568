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

/// A model that failed is left alone for so long, so that searches do not wait for it in vain.
const REST: Duration = Duration::from_secs(30);
/// Of ten passages so many must have a vector before searches go by the model.
const COVERED_OF_TEN: u64 = 9;

/// A model that the person chose, and how it has done so far.
#[derive(Debug)]
pub struct EmbeddingModel {
    embedder: Arc<dyn TextEmbedder>,
    options: EmbeddingOptions,
    id: OnceLock<String>,
    resting: Mutex<Option<(Instant, String)>>,
    /// The last question, which is often asked for another page.
    last: Mutex<Option<(String, QuantizedVector)>>,
}

/// How a model is asked.
#[derive(Clone, Debug)]
pub struct EmbeddingOptions {
    /// How long a question may wait for its vector.
    pub limit: Duration,
    /// Prefix that the model expects before a query.
    pub question_prefix: String,
    /// Prefix that the model expects before a passage.
    pub passage_prefix: String,
}

/// By which model a search compared meanings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum EmbeddingSource {
    /// By none: the question is of words alone.
    #[default]
    Nothing,
    /// By the table in the program.
    BuiltIn,
    /// By the model that was chosen.
    Chosen {
        /// Its name.
        model: String,
        /// How many passages it has not come to yet: they were compared by the table.
        left: u64,
    },
    /// By the table, although a model was chosen.
    FellBack {
        /// The model's name.
        model: String,
        /// Why it was not used.
        reason: String,
    },
}

/// How far the model is that was chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelStatus {
    /// Its name.
    pub model: String,
    /// How many passages have a vector, or why it cannot be used.
    pub coverage: Result<EmbeddingCoverage, String>,
}

/// Embeddings of a query, and their source.
#[derive(Default)]
pub(crate) struct QueryMeaning {
    pub(crate) meant: Option<QueryEmbedding>,
    /// The id of the model, if not the table alone.
    pub(crate) model: Option<String>,
    pub(crate) by: EmbeddingSource,
}

impl EmbeddingModel {
    /// Takes a model; nothing is asked of it yet.
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

    /// Names the model in caches. Waits until it is loaded.
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
        let form = coverage.form.filter(|_| covered * 10 >= passages * COVERED_OF_TEN);
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

    /// The vectors of passages.
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
            // Nobody may wait any more.
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
        *lock(&self.resting) = Some((Instant::now() + REST, reason.clone()));
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

    /// How far the model is that was chosen, if one was.
    pub fn model_status(&self) -> Result<Option<ModelStatus>> {
        let Some(chosen) = &self.chosen else { return Ok(None) };
        let coverage = match chosen.id() {
            Ok(id) => Ok(self.store().coverage(&id)?),
            Err(error) => Err(error.to_string()),
        };
        Ok(Some(ModelStatus { model: chosen.name().to_owned(), coverage }))
    }

    /// Asks the model that was chosen for a vector, to see whether it can.
    pub fn try_model(&self) -> Option<Result<(), ModelError>> {
        let chosen = self.chosen.as_ref()?;
        Some(chosen.id().and_then(|_| chosen.question("a question")).map(|_| ()))
    }

    /// Makes the vectors that the model that was chosen has not made yet.
    pub fn make_meanings(
        &self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<EmbedOutcome, EmbedError> {
        let chosen = self.chosen.as_ref().ok_or(EmbedError::NoModel)?;
        make::make(&|| Some(Arc::clone(&self.store)), chosen, progress)
    }

    /// Throws the vectors of the model that was chosen away.
    pub fn forget_meanings(&self) -> Result<(), EmbedError> {
        let chosen = self.chosen.as_ref().ok_or(EmbedError::NoModel)?;
        let id = chosen.id().map_err(|error| EmbedError::of(chosen, error))?;
        Ok(self.store.forget_meanings(&id)?)
    }
}
