//! Data without history: the times of files, diagnostics, and the ignore rules that hide
//! diagnostics from the notes. Losing it loses no note.

use std::time::Duration;

use jiff::Timestamp;
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::StoreInner;
use crate::error::{ErrorContext as _, NotAFileKind, Result, StoreError};
use crate::files::temp_names;
use crate::index::IndexBatch;

impl StoreInner {
    /// Sets the times of files, as far as they hold what the caller wrote.
    pub(crate) fn set_modified(
        &self,
        files: &[(ProjectName, NotePath, ContentHash, Timestamp)],
    ) -> Result<()> {
        self.with_session(|session| {
            let transaction = session.db.unchecked_transaction()?;
            let mut batch = IndexBatch::new(session.db);
            for (project, path, hash, time) in files {
                let at = self.vault.project(project.as_str())?;
                let root = self.root_held(session.db, &at)?;
                let (Some(found), Some(folder)) = (root.read(path)?, root.folder(path)?) else {
                    continue;
                };
                let after = u64::try_from(time.as_millisecond()).ok().map(Duration::from_millis);
                if let (Some(after), true) = (after, found.hash == *hash) {
                    folder
                        .set_modified_at(path.file_name(), after)
                        .doing(|| format!("set the time of {path}"))?;
                    self.refresh(&mut batch, project, path)?;
                }
            }
            batch.finish()?;
            transaction.commit()?;
            Ok(())
        })
    }

    /// Writes a file that the rules of its project leave out, into a folder that is there; any other
    /// is refused.
    pub(crate) fn put_aside(
        &self,
        project: &ProjectName,
        path: &NotePath,
        bytes: &[u8],
    ) -> Result<()> {
        crate::files::check_owner(path)?;
        let root = self.root(&self.vault.project(project.as_str())?)?;
        if !root.ignores(path) {
            let kind = NotAFileKind::Note;
            return Err(StoreError::NotAFile { path: path.to_string(), kind });
        }
        let folder = root.folder(path)?.ok_or_else(|| StoreError::NotAFile {
            path: path.to_string(),
            kind: NotAFileKind::MissingFolder,
        })?;
        let temporary = temp_names::of_copy();
        folder
            .write_temporary(&temporary, bytes, root.new_file_mode())
            .and_then(|()| folder.replace(&temporary, path.file_name()))
            .inspect_err(|_| folder.remove_quietly(&temporary))
            .doing(|| format!("write {path}"))
    }
}
