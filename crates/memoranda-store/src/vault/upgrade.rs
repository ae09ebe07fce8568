//! The upgrade of a vault of format 1, in place.
//!
//! Records of format 1 are read as they are; new records go to a new segment of format 2. A process
//! of version 0.1.0 that is still running would take the new segment for damage and cut it off. It
//! is stopped by folders in places where it expects segments.

use crate::StoreInner;
use crate::error::{ErrorContext as _, Result};
use crate::files::state_files;
use crate::vault::lock::VaultLockGuard;
use crate::vault::{FORMAT, processes, read_format};

impl StoreInner {
    /// Marks a vault of format 1 as one of format 2. Each step can be repeated, and the format is
    /// written last. The caller holds the vault's lock.
    pub(crate) fn upgrade_format(&self, held: &VaultLockGuard<'_>) -> Result<()> {
        if !self.vault.is_outdated() {
            return Ok(());
        }
        let path = self.vault.state.join("format");
        if read_format(&path)?.is_some_and(|format| format < FORMAT) {
            let holder = held.last_holder();
            self.log.set_barriers(&self.vault.device)?;
            held.rewrite()?;
            state_files::replace(&path, format!("{FORMAT}\n").as_bytes())
                .doing(|| "write the vault's format".into())?;
            if let Some(process) = holder.filter(|process| processes::is_running(*process)) {
                tracing::warn!(
                    "this vault was upgraded to format {FORMAT}; process {process} of an earlier \
                     version still runs and can no longer write to it: restart it"
                );
            }
        }
        self.vault.note_upgraded();
        Ok(())
    }
}
