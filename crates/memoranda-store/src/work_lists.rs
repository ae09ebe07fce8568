//! Lists of notes and facts that a person may want to look after.

use memoranda_core::id::ProjectName;

use crate::Store;
use crate::error::Result;
use crate::index::work_lists::{self, FactFilter, WorkItem, WorkList};

impl Store {
    /// Returns a part of a list, and the number of all its items.
    pub fn work_list(
        &self,
        list: WorkList,
        project: Option<&ProjectName>,
        page: (usize, usize),
    ) -> Result<(Vec<WorkItem>, u64)> {
        self.inner.ask(|db| work_lists::work_list(db, list, project, page))
    }

    /// Returns facts in force, the last written first.
    pub fn fact_list(&self, filter: &FactFilter, page: (usize, usize)) -> Result<Vec<WorkItem>> {
        self.inner.ask(|db| work_lists::fact_list(db, filter, page))
    }
}
