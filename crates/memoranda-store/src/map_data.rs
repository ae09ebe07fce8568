//! The places of the map that were computed once.

use std::path::PathBuf;

use crate::Store;
use crate::error::{ErrorContext as _, Result};
use crate::files::state_files;

impl Store {
    /// Reads the kept places; `None` if there are none.
    pub fn read_map_cache(&self) -> Result<Option<Vec<u8>>> {
        let file = self.map_cache_file();
        state_files::read(&file).doing(|| format!("read {}", file.display()))
    }

    /// Keeps the places next to the index. They can be deleted at any time.
    pub fn write_map_cache(&self, bytes: &[u8]) -> Result<()> {
        let file = self.map_cache_file();
        state_files::replace(&file, bytes).doing(|| format!("write {}", file.display()))
    }

    fn map_cache_file(&self) -> PathBuf {
        self.inner.index.path().with_file_name("map.cache")
    }
}
