//! Proving that files, log and index agree; mending the index when asked.

use std::path::Path;

use memoranda_core::change::{
    Author, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
};
use memoranda_store::{CheckReport, CommitOutcome, ScanReport, StoreError};

use crate::Memory;
use crate::error::Result;

/// Findings of a check.
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

    /// Writes every version that was lost without an edit back to its file, in one commit; `None` if
    /// nothing is lost, or if the files were changed meanwhile.
    pub fn restore_lost(&self, author: &Author) -> Result<Option<Commit>> {
        let lost = self.store().lost_files()?;
        if lost.is_empty() {
            return Ok(None);
        }
        let mut change = ChangeSet {
            message: Some("restored what was lost without an edit".to_owned()),
            ..ChangeSet::default()
        };
        for file in lost {
            change.operations.push(ChangeOperation {
                project: file.project,
                path: file.path,
                expect: file.found.map_or(ExpectedContent::Absent, ExpectedContent::Hash),
                action: FileAction::Put(self.store().content(file.version)?),
            });
        }
        let outcome = self.store().transact(author, |_| Ok::<_, StoreError>(change.clone()))?;
        Ok(match outcome {
            CommitOutcome::Committed(commit) => Some(commit),
            CommitOutcome::Unchanged | CommitOutcome::Conflict(_) => None,
        })
    }
}
