//! Data of the map: rows of all notes, and the places that were computed once.

use std::collections::HashMap;
use std::path::PathBuf;

use memoranda_core::embed::STATIC_VECTOR_DIMS;

use crate::Store;
use crate::error::{ErrorContext as _, Result};
use crate::files::state_files;
use crate::index::map_rows::{self, MapRow};

impl Store {
    /// Returns every note with the values that the map shows, by its number.
    pub fn map_rows(&self) -> Result<Vec<MapRow>> {
        self.inner.ask(map_rows::map_rows)
    }

    /// Returns the mean vector of some notes, by their numbers.
    pub fn mean_vectors(&self, files: &[i64]) -> Result<HashMap<i64, [i8; STATIC_VECTOR_DIMS]>> {
        self.inner.ask(|db| map_rows::mean_vectors(db, files))
    }

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
