//! Files beside the notes that are none: diagnostics, and the rules that keep them out of the
//! notes. They are in no history and in no search, so losing one loses nothing.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;

use crate::error::{Doing as _, Result, StoreError};
use crate::files::TEMPORARY_PREFIX;
use crate::{Inner, clock};

impl Inner {
    /// Writes a file that the rules of its project leave out, into a folder that is there; any other
    /// is refused.
    pub(crate) fn put_aside(
        &self,
        project: &ProjectName,
        path: &NotePath,
        bytes: &[u8],
    ) -> Result<()> {
        crate::files::check_owner(path)?;
        let root = self.vault.project(project.as_str())?.root()?;
        if !root.ignores(path) {
            let what = "a note; only what .gitignore names is written without history";
            return Err(StoreError::NotAFile { path: path.to_string(), what });
        }
        let folder = root.folder(path)?.ok_or_else(|| StoreError::NotAFile {
            path: path.to_string(),
            what: "in a folder that does not exist",
        })?;
        let temporary = format!("{TEMPORARY_PREFIX}{:016x}", clock::random_bits());
        folder
            .write_temporary(&temporary, bytes, root.new_file_mode())
            .and_then(|()| folder.replace(&temporary, path.file_name()))
            .inspect_err(|_| folder.remove_quietly(&temporary))
            .doing(|| format!("write {path}"))
    }
}
