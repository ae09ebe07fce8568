//! Proving that files, log and index agree; mending the index when asked.

use std::path::Path;

use memoranda_store::{CheckReport, ScanReport};

use crate::Memory;
use crate::error::Result;

/// What a check found.
#[derive(Clone, Debug)]
pub struct DoctorReport {
    /// What people had done that was not yet part of memory.
    pub sync: ScanReport,
    /// Where files, log and index disagree.
    pub check: CheckReport,
}

impl Memory {
    /// Looks at everything. `scratch` is an empty folder for an index made for comparison.
    pub fn doctor(&self, scratch: &Path) -> Result<DoctorReport> {
        let sync = self.sync(&mut |_| {})?;
        let check = self.store().check(scratch)?;
        Ok(DoctorReport { sync, check })
    }
}
