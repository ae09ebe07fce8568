//! Taking a whole vault along as one plain archive, history included, and bringing it back.

use std::io::{Read, Write};

use crate::Memory;
use crate::error::Result;

pub use memoranda_store::{ExportReport, ImportReport};

impl Memory {
    /// Writes every project and the history as a tar archive.
    pub fn export(&self, to: &mut dyn Write) -> Result<ExportReport> {
        Ok(self.store().export(to)?)
    }

    /// Reads an archive into this vault, which must be empty.
    pub fn import(&self, from: &mut dyn Read) -> Result<ImportReport> {
        Ok(self.store().import(from)?)
    }
}
