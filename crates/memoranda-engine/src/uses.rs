//! Times of last use, and lines that processes leave for each other.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::Memory;
use crate::error::Result;
use crate::links::resolve::NoteLocation;

impl Memory {
    /// Records that a note was read now. Unused notes can expire.
    pub fn record_use(&self, place: &NoteLocation) {
        self.store().note_use(&place.project, &place.path);
    }

    /// Returns the time of last use of each note that was used.
    pub fn last_uses(&self) -> Result<HashMap<NoteLocation, Timestamp>> {
        let uses = self.store().last_uses()?;
        Ok(uses
            .into_iter()
            .map(|((project, path), time)| (NoteLocation { project, path }, time))
            .collect())
    }

    /// Appends a line to a register that all processes share. The register keeps at least the
    /// `keep` newest lines.
    pub fn leave_notice(&self, register: &str, line: &str, keep: usize) -> Result<()> {
        Ok(self.store().leave_notice(register, line, keep)?)
    }

    /// Counts a call of a client that only reads.
    pub fn count_read(&self, client: &str) {
        self.store().count_read(client);
    }

    /// Returns the number of reads of each client in the last days, today included.
    pub fn read_counts(&self, days: u32) -> Result<BTreeMap<String, u64>> {
        Ok(self.store().read_counts(days)?)
    }
}
