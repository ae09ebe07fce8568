//! Banks in memory, shared by every call of this process: loaded on first use, and looked at again
//! on every use, so that a change on disk or by another process is never missed.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memoranda_core::id::ProjectName;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::{KeptText, Memory, Place, Result};
use serde_json::Value;

use super::bank::{DUMP_FILE, MemoryBank};

/// How many banks are kept; one that was not used for longest goes first.
const MAX_BANKS: usize = 64;
/// How many operations diagnostics remember.
const MAX_OPERATIONS: usize = 50;

/// The banks of this process. Cheap to clone; clones share.
#[derive(Clone, Default)]
pub struct BankCache(Arc<Mutex<CachedBanks>>);

#[derive(Default)]
struct CachedBanks {
    /// By `{type}:{id}`.
    banks: HashMap<String, (u64, Arc<LoadedBank>)>,
    uses: u64,
    operations: VecDeque<Value>,
}

/// A bank as it is on disk.
#[derive(Debug)]
pub(crate) struct LoadedBank {
    /// Its texts, sorted by path.
    pub(crate) files: Vec<KeptText>,
    /// Files that could not be read, and why.
    pub(crate) unreadable: Vec<(String, String)>,
}

impl LoadedBank {
    /// About how many tokens it takes.
    pub(crate) fn tokens(&self) -> usize {
        self.files.iter().map(|file| estimate_tokens(&file.text)).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(|file| file.text.len()).sum()
    }

    /// One of its files by its name within the bank.
    pub(crate) fn file(&self, bank: &MemoryBank, name: &str) -> Option<&KeptText> {
        self.files.iter().find(|file| bank.name_of(&file.path) == name)
    }
}

/// Whether a bank was in memory and still right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CacheHit {
    Yes,
    No,
}

impl BankCache {
    /// A bank as it is on disk now; `None` if it has no file.
    pub(crate) fn load(
        &self,
        memory: &Memory,
        project: &ProjectName,
        bank: &MemoryBank,
    ) -> Result<Option<(Arc<LoadedBank>, CacheHit)>> {
        let key = bank.key();
        let known = self.shared().banks.get(&key).map(|(_, known)| Arc::clone(known));
        let folder = Place { project: project.clone(), path: bank.folder().clone() };
        let kept = known.as_ref().map_or(&[][..], |known| &known.files);
        let texts = memory.folder_texts(&folder, kept, |path| path.file_name() != DUMP_FILE)?;
        let Some(texts) =
            texts.filter(|texts| !texts.files.is_empty() || !texts.unreadable.is_empty())
        else {
            self.forget(bank);
            return Ok(None);
        };
        let versions = |files: &[KeptText]| -> Vec<_> {
            files.iter().map(|file| (file.path.clone(), file.hash)).collect()
        };
        let same = versions(&texts.files) == versions(kept);
        let hit = if same && !kept.is_empty() { CacheHit::Yes } else { CacheHit::No };
        // A file that was read once more is the same, at a time that proves more.
        let as_kept = texts.reused == kept.len() && texts.reused == texts.files.len();
        let loaded = match known.clone() {
            Some(known) if as_kept && texts.unreadable.is_empty() => known,
            _ => {
                let name = |(path, why)| (bank.name_of(&path).to_owned(), why);
                let unreadable = texts.unreadable.into_iter().map(name).collect();
                Arc::new(LoadedBank { files: texts.files, unreadable })
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

    /// Lets go of a bank.
    pub(crate) fn forget(&self, bank: &MemoryBank) {
        self.shared().banks.remove(&bank.key());
    }

    /// Remembers what was done, for diagnostics.
    pub(crate) fn note_operation(&self, operation: Value) {
        let mut shared = self.shared();
        shared.operations.push_back(operation);
        if shared.operations.len() > MAX_OPERATIONS {
            shared.operations.pop_front();
        }
    }

    /// What was done lately, the oldest first.
    pub(crate) fn operations(&self) -> Vec<Value> {
        self.shared().operations.iter().cloned().collect()
    }

    fn shared(&self) -> MutexGuard<'_, CachedBanks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BankCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BankCache({} banks)", self.shared().banks.len())
    }
}
