//! Queries about the history as a whole: activity by day, and what is taken back at present.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;

use crate::Store;
use crate::error::Result;
use crate::index::ledger::{self, ActivityRow, ReversalRow};

impl Store {
    /// Returns the number of commits for each day, client and channel since a time.
    pub fn activity(
        &self,
        since: Timestamp,
        project: Option<&ProjectName>,
    ) -> Result<Vec<ActivityRow>> {
        self.inner.ask(|db| ledger::activity(db, since, project))
    }

    /// Returns every undo and redo, newest first.
    pub fn reversals(&self) -> Result<Vec<ReversalRow>> {
        self.inner.ask(ledger::reversals)
    }
}
