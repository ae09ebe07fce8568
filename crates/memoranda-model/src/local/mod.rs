//! Sentence transformers from a folder, run in this process: BERT and those built like it, such
//! as all-MiniLM-L6-v2 and bge-small.
//!
//! A folder is taken as it is published: `config.json`, `tokenizer.json`, `model.safetensors`, and
//! the small files that say how words become one vector. What cannot be done exactly as the
//! model's makers did it is refused, never done somehow.

mod bert;
mod folder;
mod weights;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memoranda_engine::{Embedder, ModelError};
use tokenizers::{Tokenizer, TruncationParams};

use bert::Bert;
use folder::Folder;
use weights::Weights;

/// A model in a folder. It is loaded when it is first needed, and then kept.
#[derive(Debug)]
pub struct Local {
    path: PathBuf,
    name: String,
    loaded: Mutex<Option<Arc<Loaded>>>,
}

struct Loaded {
    id: String,
    tokenizer: Tokenizer,
    bert: Bert,
}

impl Local {
    /// Takes a folder; nothing is read yet.
    pub fn new(path: &Path) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { path: path.to_owned(), name, loaded: Mutex::new(None) }
    }

    fn loaded(&self) -> Result<Arc<Loaded>, ModelError> {
        // Whoever comes meanwhile waits: it is loaded once.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = &*loaded {
            return Ok(Arc::clone(loaded));
        }
        let new = Arc::new(Loaded::load(&self.name, &self.path)?);
        *loaded = Some(Arc::clone(&new));
        Ok(new)
    }
}

impl Embedder for Local {
    fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> Result<String, ModelError> {
        Ok(self.loaded()?.id.clone())
    }

    /// The limit is not looked at: what is computed here cannot be interrupted, and is short.
    fn embed(&self, texts: &[&str], _: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let loaded = self.loaded()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(texts.len());
        let share = texts.len().div_ceil(threads.max(1)).max(1);
        let shares: Vec<&[&str]> = texts.chunks(share).collect();
        let made: Vec<Result<Vec<Vec<f32>>, ModelError>> = std::thread::scope(|scope| {
            let loaded = &loaded;
            let run = |texts: &[&str]| texts.iter().map(|text| loaded.vector(text)).collect();
            let threads: Vec<_> =
                shares.iter().map(|&texts| scope.spawn(move || run(texts))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err(broken())))
                .collect()
        });
        let made: Result<Vec<Vec<Vec<f32>>>, ModelError> = made.into_iter().collect();
        Ok(made?.into_iter().flatten().collect())
    }
}

impl Loaded {
    fn load(name: &str, path: &Path) -> Result<Self, ModelError> {
        let folder = Folder::read(path)?;
        let tokenizer = Tokenizer::from_bytes(&folder.tokenizer);
        let mut tokenizer = tokenizer
            .map_err(|e| unusable(format!("{}: {e}", path.join("tokenizer.json").display())))?;
        let limit = TruncationParams { max_length: folder.max_tokens, ..Default::default() };
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(Some(limit))
            .map_err(|e| unusable(format!("{}: {e}", path.join("tokenizer.json").display())))?;
        let weights = Weights::read(&folder.weights)
            .map_err(|e| unusable(format!("{}: {e}", path.join("model.safetensors").display())))?;
        let bert = Bert::new(&folder.shape, &weights)
            .map_err(|e| unusable(format!("{}: {e}", path.join("model.safetensors").display())))?;
        Ok(Self { id: format!("{name} {}", folder.fingerprint()), tokenizer, bert })
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let encoded = self.tokenizer.encode(text, true);
        let encoded = encoded.map_err(|e| ModelError::Malformed { reason: e.to_string() })?;
        Ok(self.bert.vector(encoded.get_ids()))
    }
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("id", &self.id).finish_non_exhaustive()
    }
}

fn unusable(reason: String) -> ModelError {
    ModelError::Unusable { reason }
}

fn broken() -> ModelError {
    unusable("the model broke down on a text".to_owned())
}
