//! In-memory cache of banks, shared by every call of the process. Each use checks the files, so changes
//! on disk or by other processes are never missed.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::token_estimate::estimate_tokens;
use serde_json::Value;

use super::bank::{DUMP_FILE, MemoryBank};
use super::template;
use crate::{CachedText, Memory, NoteLocation, Result, hash};

/// Maximum number of cached banks. The least recently used is evicted.
const MAX_BANKS: usize = 64;
/// Maximum number of recorded operations.
const MAX_OPERATIONS: usize = 50;

/// The cached banks. Clones share their content.
#[derive(Clone, Default)]
pub struct BankCache(Arc<Mutex<CachedBanks>>);

#[derive(Default)]
struct CachedBanks {
    /// Banks by `{type}:{id}`, each with its last use.
    banks: HashMap<String, (u64, Arc<LoadedBank>)>,
    uses: u64,
    operations: VecDeque<Value>,
}

/// The files of a bank.
#[derive(Debug)]
pub struct LoadedBank {
    /// The texts as they are shown, sorted by path: the stored ones, and the placeholders of template
    /// files that have no content yet.
    pub files: Vec<CachedText>,
    /// The texts on disk, sorted by path.
    stored: Vec<CachedText>,
    /// Files that could not be read, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

impl LoadedBank {
    /// Returns the estimated number of tokens.
    pub fn tokens(&self) -> usize {
        self.files.iter().map(|file| estimate_tokens(&file.text)).sum()
    }

    /// Records a use of the bank, for the order of lists.
    pub fn note_use(&self, memory: &Memory, project: &ProjectName) {
        for file in &self.stored {
            memory.store().note_use(project, &file.path);
        }
    }

    /// Returns the number of bytes.
    pub fn bytes(&self) -> usize {
        self.files.iter().map(|file| file.text.len()).sum()
    }

    /// Returns a file by its name within the bank.
    pub fn file(&self, bank: &MemoryBank, name: &str) -> Option<&CachedText> {
        self.files.iter().find(|file| bank.name_of(&file.path) == name)
    }
}

/// Result of a cache lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheHit {
    /// The cached bank is up to date.
    Yes,
    /// The bank was loaded.
    No,
}

impl BankCache {
    /// Returns the current files of a bank; `None` if it has none.
    pub fn load(
        &self,
        memory: &Memory,
        project: &ProjectName,
        bank: &MemoryBank,
    ) -> Result<Option<(Arc<LoadedBank>, CacheHit)>> {
        let key = bank.key();
        let known = self.shared().banks.get(&key).map(|(_, known)| Arc::clone(known));
        let folder = NoteLocation::new(project, bank.folder().clone());
        let kept = known.as_ref().map_or(&[][..], |known| &known.stored);
        let texts = memory.folder_texts(&folder, kept, |path| path.file_name() != DUMP_FILE)?;
        let Some(texts) =
            texts.filter(|texts| !texts.files.is_empty() || !texts.unreadable.is_empty())
        else {
            self.evict(bank);
            return Ok(None);
        };
        let versions = |files: &[CachedText]| -> Vec<_> {
            files.iter().map(|file| (file.path.clone(), file.hash)).collect()
        };
        let same = versions(&texts.files) == versions(kept);
        let hit = if same && !kept.is_empty() { CacheHit::Yes } else { CacheHit::No };
        // A file that was read again may have equal content and a newer check time.
        let as_kept = texts.reused == kept.len() && texts.reused == texts.files.len();
        let loaded = match known.clone() {
            Some(known) if as_kept && texts.unreadable.is_empty() => known,
            _ => {
                let name = |(path, why)| (bank.name_of(&path).to_owned(), why);
                let unreadable: Vec<(String, String)> =
                    texts.unreadable.into_iter().map(name).collect();
                let files = shown_files(bank, &texts.files, &unreadable);
                Arc::new(LoadedBank { files, stored: texts.files, unreadable })
            }
        };
        let mut shared = self.shared();
        shared.uses += 1;
        let uses = shared.uses;
        shared.banks.insert(key, (uses, Arc::clone(&loaded)));
        if shared.banks.len() > MAX_BANKS {
            let oldest = shared.banks.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                shared.banks.remove(&key);
            }
        }
        Ok(Some((loaded, hit)))
    }

    /// Evicts a bank.
    pub fn evict(&self, bank: &MemoryBank) {
        self.shared().banks.remove(&bank.key());
    }

    /// Records an operation for diagnostics.
    pub fn note_operation(&self, operation: Value) {
        let mut shared = self.shared();
        shared.operations.push_back(operation);
        if shared.operations.len() > MAX_OPERATIONS {
            shared.operations.pop_front();
        }
    }

    /// Returns the recorded operations, the oldest first.
    pub fn operations(&self) -> Vec<Value> {
        self.shared().operations.iter().cloned().collect()
    }

    fn shared(&self) -> MutexGuard<'_, CachedBanks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the placeholders of template files without content to the stored files.
fn shown_files(
    bank: &MemoryBank,
    stored: &[CachedText],
    unreadable: &[(String, String)],
) -> Vec<CachedText> {
    let mut files = stored.to_vec();
    let mut show = |like: &CachedText, path: NotePath, text: String| {
        let mut shown = like.clone();
        (shown.hash, shown.path, shown.text) = (hash(text.as_bytes()), path, text.into());
        match files.iter_mut().find(|file| file.path == shown.path) {
            Some(file) => *file = shown,
            None => files.push(shown),
        }
    };
    for template in template::files(bank.kind) {
        let path = NotePath::parse(&format!("{}/{}", bank.folder(), template.path));
        let (Ok(path), Some(first)) = (path, stored.first()) else { continue };
        let is_unreadable = unreadable.iter().any(|(name, _)| name == template.path);
        let file = stored.iter().find(|file| file.path == path);
        let text = file.map(|file| &*file.text);
        if let Some(text) = template::completed(bank.kind, template.path, text)
            && !is_unreadable
        {
            show(file.unwrap_or(first), path, text);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

impl fmt::Debug for BankCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BankCache({} banks)", self.shared().banks.len())
    }
}
