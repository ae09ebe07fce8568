//! Searches that need not wait until the last commits are indexed.
//!
//! A search for a statement that is known already finds every text, but only texts that say the same
//! matter. Those of pending commits are compared directly. If one of them says the same, or if the
//! index finds a file that a pending commit changed, the search is repeated with all commits.

use memoranda_store::UnindexedText;

use crate::{Memory, NoteLocation};

impl Memory {
    /// Runs a search without pending commits if they cannot matter, else with them. `matters` is true
    /// for a text that belongs to the result, and `places` returns the files of a result.
    pub(crate) fn search_beside_pending<T, E: From<crate::EngineError>>(
        &self,
        matters: impl Fn(&UnindexedText) -> bool,
        places: impl Fn(&T) -> Vec<NoteLocation>,
        search: impl Fn() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let unindexed = self.store().unindexed_texts().unwrap_or_default();
        if unindexed.is_empty() || unindexed.iter().any(matters) {
            return search();
        }
        let held = self.store().snapshot_without_pending().map_err(crate::EngineError::from)?;
        if held.is_none() {
            return search();
        }
        let found = search()?;
        drop(held);
        let is_changed = |place: &NoteLocation| {
            unindexed.iter().any(|file| {
                let mut paths = [Some(&file.path), file.from.as_ref()].into_iter().flatten();
                file.project == place.project && paths.any(|path| *path == place.path)
            })
        };
        if places(&found).iter().any(is_changed) { search() } else { Ok(found) }
    }
}
