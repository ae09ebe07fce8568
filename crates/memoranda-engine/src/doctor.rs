//! Checks that files, log and index agree, and restores lost files.

use std::path::Path;

use memoranda_core::change::{
    Author, ChangeOperation, ChangeSet, Commit, ExpectedContent, FileAction,
};
use memoranda_store::{CheckReport, CommitOutcome, HistoryFilter, Project, ScanReport, StoreError};

use crate::Memory;
use crate::error::Result;

/// Maximum number of checks, if the vault changes during each.
const MAX_CHECKS: usize = 3;

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
    ///
    /// A change during the check, such as the removal of a project, looks like damage. The check is
    /// repeated then.
    pub fn doctor(&self, scratch: &Path) -> Result<DoctorReport> {
        let mut number = 1;
        loop {
            let sync = self.sync(&mut |_| {})?;
            let before = self.checked_state()?;
            let check = self.check(&scratch.join(number.to_string()));
            let is_last = number == MAX_CHECKS || self.checked_state()? == before;
            match check {
                Ok(check) if is_last || check.is_ok() => return Ok(DoctorReport { sync, check }),
                Err(error) if is_last => return Err(error),
                _ => number += 1,
            }
        }
    }

    /// Returns the projects and the newest commit: if they are equal before and after a check, nobody
    /// changed anything meanwhile.
    fn checked_state(&self) -> Result<(Vec<Project>, Vec<Commit>)> {
        Ok((self.list_projects()?, self.log_heads(&HistoryFilter::default(), 1)?))
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
