//! Purges deleted texts from the history for good, and records the purge in the history.

use memoranda_core::change::{ChangeChannel, ChangeSet, Commit, CommitKind};
use memoranda_store::{CommitOutcome, VacuumReport, VacuumRequest};

use crate::error::{EngineError, Result};
use crate::records::records_project;
use crate::{Author, Memory, NoteLocation};

impl Memory {
    /// Returns what a vacuum would purge.
    pub fn plan_vacuum(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        Ok(self.store().plan_vacuum(vacuum)?)
    }

    /// Purges; what is purged can no longer be restored.
    pub fn vacuum(&self, who: &Author, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        let report = self.store().vacuum(vacuum)?;
        self.record_vacuum(who, &report)?;
        Ok(report)
    }

    /// Purges the copy of a space's log alone, to replace the remote log by it.
    pub fn purge_copy(&self, vacuum: &VacuumRequest) -> Result<VacuumReport> {
        Ok(self.store().purge_copy(vacuum)?)
    }

    /// Adds a line about a vacuum to the history.
    pub fn record_vacuum(&self, who: &Author, report: &VacuumReport) -> Result<()> {
        if report.contents > 0 {
            let versions = counted(report.contents, "version");
            let notes = counted(report.notes.len() as u64, "deleted note");
            self.record_purge(who, &format!("purged {versions} ({notes})"))?;
        }
        Ok(())
    }

    /// Adds a line about a purge to the history.
    pub(crate) fn record_purge(&self, who: &Author, message: &str) -> Result<Option<Commit>> {
        let change = ChangeSet {
            message: Some(message.to_owned()),
            kind: Some(CommitKind::Purge),
            ..ChangeSet::default()
        };
        match self.store().transact(who, |_| Ok::<_, EngineError>(change.clone()))? {
            CommitOutcome::Committed(commit) => Ok(Some(commit)),
            CommitOutcome::Unchanged | CommitOutcome::Conflict(_) => Ok(None),
        }
    }

    /// Returns true if an agent purged a deleted record. Tools do not show it; the person can restore
    /// it until it is vacuumed.
    pub fn is_purged_by_agent(&self, place: &NoteLocation) -> Result<bool> {
        if place.project != records_project() {
            return Ok(false);
        }
        let Some(purge) = self.snapshot()?.last_agent_purge()? else { return Ok(false) };
        let deleted = self.snapshot()?.deleted(&place.project, Some(place.path.as_str()))?;
        Ok(deleted.iter().any(|(path, time)| *path == place.path && *time <= purge))
    }
}

/// Returns true if an author is an agent: a client of the protocol or of the HTTP interface.
pub(crate) fn is_agent(who: &Author) -> bool {
    matches!(who.channel, ChangeChannel::Mcp | ChangeChannel::Http)
}

/// Writes a number with its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
