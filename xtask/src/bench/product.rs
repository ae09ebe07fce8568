//! The one file of the bench that knows the engine: how to open a vault, bring its index up to
//! date, write a note and search.
//!
//! Until the engine has `Memory` there is no value of [`Product`], so nothing is measured and
//! nothing can be made up. To wire it: make it a struct that holds the engine's `Memory`.

use std::path::Path;

use crate::Result;

/// An open vault.
pub(super) enum Product {}

impl Product {
    /// Opens the vault at `home`, whose project `main` holds the notes, with its index in `cache`.
    pub(super) fn open(_home: &Path, _cache: &Path) -> Result<Self> {
        Err("memoranda-engine has no `Memory` to open yet".into())
    }

    /// Brings the index up to date with the files.
    pub(super) fn sync(&mut self) -> Result<()> {
        match *self {}
    }

    /// Writes a note to the project `main`, durably, so that the next search finds it.
    pub(super) fn write(&mut self, _path: &str, _text: &str) -> Result<()> {
        match *self {}
    }

    /// Searches the project `main` as a caller would; yields the number of hits, at most
    /// [`HITS`](super::fulltext::HITS).
    pub(super) fn search(&mut self, _typed: &str) -> Result<usize> {
        match *self {}
    }
}
