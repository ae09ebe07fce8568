//! Checks that files, log and index agree, and restores lost files.

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
    /// Edits that the check recorded first.
    pub sync: ScanReport,
    /// Differences between files, log and index.
    pub check: CheckReport,
}

impl Memory {
    /// Scans every file, then checks the vault. `scratch` is an empty folder for a second index.
    pub fn doctor(&self, scratch: &Path) -> Result<DoctorReport> {
        let sync = self.sync(&mut |_| {})?;
        let check = self.check(scratch)?;
        Ok(DoctorReport { sync, check })
    }

    /// Compares files, log and index. The index is compared with a second one, built in the empty
    /// folder `scratch`.
    pub fn check(&self, scratch: &Path) -> Result<CheckReport> {
        Ok(self.store().check(scratch)?)
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
