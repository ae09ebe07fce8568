//! Embeddings of passages by a model that the user configured.
//!
//! These vectors are slow or expensive to compute, so they are stored by the hash of their text, in
//! one file per model next to the index. A moved or restored text, or a rebuilt index, needs no new
//! vectors. Vectors are added in the background. A search uses those that exist.

mod cache;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use memoranda_core::embed::{Embedding, QuantizedVector};
use rusqlite::Connection;

use super::connection::IndexVersion;
use crate::StoreInner;
use crate::clock;
use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::record_file::{self, FileLockGuard};
use crate::files::state_files;
use cache::{ModelVectors, PurgeThreshold, passages_of, texts_of};

/// Prefix of the file names; a hash of the model's name follows.
const PREFIX: &str = "meanings-";
/// Age in nanoseconds after which the file of an unused model is removed.
const MAX_UNUSED_AGE_NS: i128 = 30 * 24 * 3600 * 1_000_000_000;

/// Key of a text in the cache: a prefix of its hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TextKey([u8; 16]);

impl TextKey {
    fn of(text: &str) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(blake3::hash(text.as_bytes()).as_bytes().split_at(16).0);
        Self(key)
    }
}

/// A text that has no vector yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PendingText {
    /// The key in the cache.
    pub key: TextKey,
    /// The text to embed.
    pub text: String,
}

/// Progress of the embeddings of a model.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct EmbeddingCoverage {
    /// Number of passages.
    pub passages: u64,
    /// Number of passages with a vector.
    pub covered: u64,
    /// The format of the model's vectors; `None` before the first vector.
    pub form: Option<VectorForm>,
}

/// Format of a model's vectors.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VectorForm {
    /// Number of dimensions.
    pub dims: usize,
    /// Similarity that the model gives unrelated texts.
    pub zero: f32,
}

impl VectorForm {
    fn line(self, model: &str) -> String {
        let model: String = model.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("memoranda-meanings 1 {} {} {model}", self.dims, self.zero)
    }

    /// Returns the model named in a header line.
    fn model(line: &str) -> Option<&str> {
        line.strip_prefix("memoranda-meanings 1 ")?.splitn(3, ' ').nth(2)
    }

    fn read(line: &str, model: &str) -> Option<Self> {
        let mut words = line.strip_prefix("memoranda-meanings 1 ")?.splitn(3, ' ');
        let (dims, zero) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let form = Self { dims, zero };
        (dims > 0 && form.zero.is_finite() && form.line(model) == line).then_some(form)
    }
}

/// The embedding caches of all models that this process used.
#[derive(Default)]
pub(crate) struct EmbeddingStore(Mutex<BTreeMap<String, Arc<ModelCache>>>);

impl EmbeddingStore {
    /// Returns the cache of a model.
    pub(crate) fn of(&self, index: &Path, model: &str) -> Arc<ModelCache> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = all.entry(model.to_owned()).or_insert_with(|| {
            let hash = blake3::hash(model.as_bytes()).to_hex();
            Arc::new(ModelCache {
                model: model.to_owned(),
                path: index.with_file_name(format!("{PREFIX}{}", &hash[..16])),
                held: RwLock::default(),
            })
        });
        Arc::clone(cache)
    }
}

/// The vectors of one model: a file, and its content in memory.
pub(crate) struct ModelCache {
    model: String,
    path: PathBuf,
    held: RwLock<ModelVectors>,
}

impl ModelCache {
    /// Returns the progress of the embeddings.
    pub(super) fn coverage(&self, db: &Connection, now: IndexVersion) -> Result<EmbeddingCoverage> {
        self.refresh(db, now)?;
        Ok(self.read().coverage())
    }

    /// Returns true if a passage had a vector at the last refresh.
    pub(super) fn has(&self, passage: i64) -> bool {
        self.read().sense(passage).is_some()
    }

    /// Returns the passages nearest to a vector, nearest first, with their cosines.
    pub(super) fn nearest(
        &self,
        db: &Connection,
        now: IndexVersion,
        vector: &QuantizedVector,
        count: usize,
    ) -> Result<Vec<(i64, f32)>> {
        self.refresh(db, now)?;
        Ok(self.read().nearest(vector, count))
    }

    /// Returns the embedding of a passage as of the last refresh; `None` if it has none.
    pub(super) fn sense(&self, passage: i64) -> Option<Embedding> {
        self.read().sense(passage).map(Embedding::Model)
    }

    /// Returns texts without a vector, those of the newest files first.
    fn pending(
        &self,
        db: &Connection,
        now: IndexVersion,
        count: usize,
        except: &[TextKey],
    ) -> Result<Vec<PendingText>> {
        self.refresh(db, now)?;
        let wanted = self.read().pending(count, except);
        let mut pending = Vec::with_capacity(wanted.len());
        for (passage, key) in wanted {
            let text = texts_of(db, passage, passage)?.into_iter().next();
            // One transaction covers both reads, so the text matches the key.
            pending.extend(text.map(|(_, text)| PendingText { key, text }));
        }
        Ok(pending)
    }

    /// Reads the changes of index and file since the last refresh.
    fn refresh(&self, db: &Connection, now: IndexVersion) -> Result<()> {
        let on_disk = cache::on_disk(&self.path).doing(|| "look at the vectors".into())?;
        if self.read().is_current(now, on_disk) {
            return Ok(());
        }
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if !held.is_of(now.index) {
            held.forget_passages(now.index);
        }
        for (file, keys) in passages_of(db, held.stamp())? {
            held.put(file, keys);
        }
        held.follow(now.stamp);
        let read = held.read_records(&self.path, &self.model, on_disk);
        read.doing(|| "read the vectors".into())
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, ModelVectors> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelCache {
    /// Removes the vectors of deleted texts, as of the last refresh.
    fn keep_used(&self, unused: PurgeThreshold) -> Result<()> {
        let kept = self.read().used(unused);
        let Some((form, bytes)) = kept else { return Ok(()) };
        record_file::rewrite(&self.path, &form.line(&self.model), &bytes)
            .doing(|| "tidy the vectors".into())
    }
}

impl StoreInner {
    fn model_cache(&self, model: &str) -> Arc<ModelCache> {
        self.index.meanings.of(self.index.path(), model)
    }

    /// Returns the progress of a model's embeddings.
    pub(crate) fn coverage(&self, model: &str) -> Result<EmbeddingCoverage> {
        let cache = self.model_cache(model);
        self.ask(|db| cache.coverage(db, IndexVersion::of(db)?))
    }

    /// Returns some texts without a vector of the model.
    pub(crate) fn pending_texts(
        &self,
        model: &str,
        count: usize,
        except: &[TextKey],
    ) -> Result<Vec<PendingText>> {
        let cache = self.model_cache(model);
        self.ask(|db| cache.pending(db, IndexVersion::of(db)?, count, except))
    }

    /// Takes the lock for embedding with a model; `None` if another process holds it.
    pub(crate) fn claim_meanings(&self, model: &str) -> Result<Option<FileLockGuard>> {
        let mut path = self.model_cache(model).path.clone().into_os_string();
        path.push(".claim");
        record_file::claim(Path::new(&path)).doing(|| "claim the vectors".into())
    }

    /// Stores vectors of texts. `None` marks a text that the model cannot embed.
    pub(crate) fn keep_meanings(
        &self,
        model: &str,
        form: VectorForm,
        vectors: &[(TextKey, Option<QuantizedVector>)],
    ) -> Result<()> {
        let cache = self.model_cache(model);
        let line = form.line(model);
        let mut found =
            record_file::first_line(&cache.path).doing(|| "look at the vectors".into())?;
        if found.as_deref().is_some_and(|found| VectorForm::read(found, model).is_none()) {
            // Damaged, or of another version. The file is a cache.
            self.forget_meanings(model)?;
            found = None;
        }
        let other = found.filter(|found| *found != line);
        let has_length = |(_, vector): &(TextKey, Option<QuantizedVector>)| {
            vector.as_ref().is_none_or(|vector| vector.numbers.len() == form.dims)
        };
        if other.is_some() || !vectors.iter().all(has_length) {
            return Err(StoreError::OtherVectors { model: model.to_owned() });
        }
        let mut bytes = Vec::with_capacity(vectors.len() * cache::record_size(form.dims));
        for (key, vector) in vectors {
            cache::write_record(*key, vector.as_ref(), form.dims, &mut bytes);
        }
        record_file::add(&cache.path, &line, cache::record_size(form.dims), &bytes)
            .doing(|| "keep vectors".into())
    }

    /// Removes the vectors of deleted texts for all models, because a vector reveals something of
    /// its text.
    pub(crate) fn purge_meanings(&self) -> Result<()> {
        let folder = self.index.path().parent().unwrap_or(Path::new(""));
        let names = state_files::names(folder).doing(|| "look for vectors".into())?;
        for name in names.iter().filter(|name| name.starts_with(PREFIX)) {
            let line = record_file::first_line(&folder.join(name));
            let line = line.doing(|| "look at the vectors".into())?.unwrap_or_default();
            let Some(model) = VectorForm::model(&line) else { continue };
            self.coverage(model)?;
            self.model_cache(model).keep_used(PurgeThreshold::Any)?;
        }
        Ok(())
    }

    /// Removes the vectors of a model.
    pub(crate) fn forget_meanings(&self, model: &str) -> Result<()> {
        state_files::remove(&self.model_cache(model).path).doing(|| "remove the vectors".into())
    }

    /// Removes what is no longer needed after all passages are embedded: vectors of deleted texts,
    /// if there are many, and files of models unused for long.
    pub(crate) fn tidy_meanings(&self, model: &str) -> Result<()> {
        let cache = self.model_cache(model);
        if self.ask(super::is_complete)? {
            cache.keep_used(PurgeThreshold::Most)?;
        }
        let now = i128::from(clock::now().as_millisecond()) * 1_000_000;
        record_file::remove_older(&cache.path, PREFIX, now - MAX_UNUSED_AGE_NS)
            .doing(|| "remove vectors of old models".into())
    }
}
