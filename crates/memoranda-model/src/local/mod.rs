//! Sentence transformers from a folder, run in this process: BERT and models with its
//! architecture, such as all-MiniLM-L6-v2 and bge-small.
//!
//! A folder is read as it is published: `config.json`, `tokenizer.json`, `model.safetensors`, and
//! the files that configure pooling. A model whose configuration is not supported exactly is
//! rejected.

mod bert;
mod folder;
mod weights;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memoranda_engine::{ModelError, TextEmbedder};
use tokenizers::{Tokenizer, TruncationParams};

use bert::BertModel;
use folder::ModelFolder;
use weights::ModelWeights;

/// A model in a folder. It is loaded on first use and then kept.
#[derive(Debug)]
pub struct LocalModel {
    path: PathBuf,
    name: String,
    loaded: Mutex<Option<Arc<LoadedModel>>>,
}

struct LoadedModel {
    id: String,
    tokenizer: Tokenizer,
    bert: BertModel,
}

impl LocalModel {
    /// Names a folder. Nothing is read before the first use.
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { path: path.to_owned(), name, loaded: Mutex::new(None) }
    }

    fn load_once(&self) -> Result<Arc<LoadedModel>, ModelError> {
        // Other threads wait, so that it is loaded once.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = &*loaded {
            return Ok(Arc::clone(loaded));
        }
        let new = Arc::new(LoadedModel::load(&self.name, &self.path)?);
        *loaded = Some(Arc::clone(&new));
        Ok(new)
    }
}

impl TextEmbedder for LocalModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> Result<String, ModelError> {
        Ok(self.load_once()?.id.clone())
    }

    /// Ignores the time limit: the computation is short and cannot be interrupted.
    fn embed(&self, texts: &[&str], _: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let loaded = self.load_once()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(texts.len());
        let share = texts.len().div_ceil(threads.max(1)).max(1);
        let shares: Vec<&[&str]> = texts.chunks(share).collect();
        let made: Vec<Result<Vec<Vec<f32>>, ModelError>> = std::thread::scope(|scope| {
            let loaded = &loaded;
            let run = |texts: &[&str]| texts.iter().map(|text| loaded.embed_text(text)).collect();
            let threads: Vec<_> =
                shares.iter().map(|&texts| scope.spawn(move || run(texts))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(panicked())))
                .collect()
        });
        let made: Result<Vec<Vec<Vec<f32>>>, ModelError> = made.into_iter().collect();
        Ok(made?.into_iter().flatten().collect())
    }
}

impl LoadedModel {
    fn load(name: &str, path: &Path) -> Result<Self, ModelError> {
        let folder = ModelFolder::read(path)?;
        let tokenizer = Tokenizer::from_bytes(&folder.tokenizer);
        let mut tokenizer = tokenizer
            .map_err(|e| unusable(format!("{}: {e}", path.join("tokenizer.json").display())))?;
        let limit = TruncationParams { max_length: folder.max_tokens, ..Default::default() };
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(Some(limit))
            .map_err(|e| unusable(format!("{}: {e}", path.join("tokenizer.json").display())))?;
        let weights = ModelWeights::read(&folder.weights)
            .map_err(|e| unusable(format!("{}: {e}", path.join("model.safetensors").display())))?;
        let bert = BertModel::new(&folder.shape, &weights)
            .map_err(|e| unusable(format!("{}: {e}", path.join("model.safetensors").display())))?;
        Ok(Self { id: format!("{name} {}", folder.fingerprint()), tokenizer, bert })
    }

    fn embed_text(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let encoded = self.tokenizer.encode(text, true);
        let encoded = encoded.map_err(|e| ModelError::Malformed { reason: e.to_string() })?;
        Ok(self.bert.embed(encoded.get_ids()))
    }
}

impl std::fmt::Debug for LoadedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadedModel").field("id", &self.id).finish_non_exhaustive()
    }
}

fn unusable(reason: String) -> ModelError {
    ModelError::Unusable { reason }
}

fn panicked() -> ModelError {
    unusable("the model panicked on a text".to_owned())
}
