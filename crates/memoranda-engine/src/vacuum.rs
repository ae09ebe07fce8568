//! Really removing what was deleted.

use memoranda_store::{VacuumReport, VacuumRequest};

use crate::Memory;
use crate::error::Result;

impl Memory {
    /// Says what a vacuum would purge.
    pub fn plan_vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        Ok(self.store().plan_vacuum(vacuum)?)
    }

    /// Purges; what is purged can no longer be restored.
    pub fn vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        Ok(self.store().vacuum(vacuum)?)
    }
}
