//! Finding one fact by its id.

use crate::error::Result;
use crate::{FileSummary, ObservationRow, Store, index};

impl Store {
    /// Returns the fact with an id and its file; `None` if no file or several have it.
    pub fn observation(&self, id: &str) -> Result<Option<(FileSummary, ObservationRow)>> {
        self.inner.ask(|db| index::observation(db, id))
    }
}
