//! Files whose place a later write of another log has: nothing is completed there, but a save that an
//! interrupted write had displaced is kept.

use memoranda_core::id::ContentHash;

use super::{FileHistory, FileKey, Recovery, TempFileState, TornFile};
use crate::error::{Result, StoreError};
use crate::files::{FileContent, HardLinkPolicy};

/// A file with a later write in another log.
pub(super) struct ReplacedFile {
    history: FileHistory,
    /// Hybrid clock of the latest record of the file.
    clock: u64,
    /// The version of that record.
    last: Option<ContentHash>,
}

impl Recovery<'_> {
    /// Leaves a file out if a record of another log is later than ours.
    pub(super) fn leave_replaced(&mut self, key: FileKey, clock: u64, last: Option<ContentHash>) {
        if let Some(known) = self.replaced.get_mut(&key) {
            if known.clock <= clock {
                (known.clock, known.last) = (clock, last);
            }
        } else if self.files.get(&key).is_some_and(|ours| ours.last_clock <= clock)
            && let Some(history) = self.files.remove(&key)
        {
            self.replaced.insert(key, ReplacedFile { history, clock, last });
        }
    }

    /// Brings saves that were displaced, and that no log has, into the history. Their temporary names are
    /// removed once the log has them.
    pub(super) fn keep_displaced(&mut self) -> Result<()> {
        for ((project, path), ReplacedFile { history, last, .. }) in
            std::mem::take(&mut self.replaced)
        {
            let is_gone = self.inner.vault.project(project.as_str()).is_err();
            if is_gone || !self.open_root(&project, &history)? {
                continue;
            }
            let folder = self.root(&project).map(|root| root.folder(&path)).transpose();
            let folder = match folder {
                Ok(Some(Some(folder))) => folder,
                Ok(_) | Err(StoreError::NotAFile { .. }) => continue,
                Err(e) => return Err(e),
            };
            let displaced = |state: &TempFileState| *state == TempFileState::NewOrDisplaced;
            for (temporary, _) in history.temporaries.iter().filter(|(_, state)| displaced(state)) {
                let doing = |source| StoreError::Io { doing: format!("restore {path}"), source };
                let found = folder.read(temporary, HardLinkPolicy::Allow).map_err(doing)?;
                let Some(found) = found else { continue };
                if self.is_unknown(&found, &history)? {
                    let permalink = history.permalink.clone();
                    let (project, path) = (project.clone(), path.clone());
                    self.leftovers.push((project.clone(), path.clone(), temporary.clone()));
                    self.torn.push(TornFile {
                        project,
                        path,
                        found,
                        acknowledged: last,
                        permalink,
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns true if no log has the bytes, and no power cut can have made them.
    fn is_unknown(&self, found: &FileContent, history: &FileHistory) -> Result<bool> {
        if history.versions.contains(&Some(found.hash)) || self.is_torn(&found.bytes, history)? {
            return Ok(false);
        }
        match self.content(found.hash) {
            Err(StoreError::ContentGone(_)) => Ok(true),
            known => known.map(|_| false),
        }
    }
}
