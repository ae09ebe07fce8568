//! Provisional stores: they answer for a space before this machine has the whole of it.
//!
//! A server that starts with an empty cache has to fetch the log, write the files and build the index.
//! Until then, an index image that another server left with the log answers. A provisional store has
//! no files: it fetches a content by its hash when somebody reads it. It is never written to and never
//! scanned, and its folder goes with it.

mod image;
mod named;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::path::NotePath;

use crate::error::{ErrorContext as _, Result, StoreError};
use crate::files::{FileContent, FilePrivacy, state_files};
use crate::index::{self, IndexFile};
use crate::space::prepare_folder;
use crate::vault::OpenOptions;
use crate::{SpaceOptions, StoreInner, clock};

/// Folder of the provisional stores, in that of the caches.
const FOLDER: &str = "provisional";
/// Permissions of a file that is on no disk.
const FILE_MODE: u32 = 0o600;

/// The part of a store that makes it a provisional one.
pub(crate) struct Provisional {
    #[expect(dead_code, reason = "removed when it is dropped")]
    folder: ScratchFolder,
    /// Contents that were fetched with the store.
    contents: HashMap<ContentHash, Vec<u8>>,
}

/// A folder that is removed when it is dropped.
struct ScratchFolder(PathBuf);

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        state_files::remove_tree(&self.0).ok();
    }
}

/// Returns the folder of the provisional stores.
pub(crate) fn folder_of(root: &Path) -> PathBuf {
    root.join(FOLDER)
}

impl Provisional {
    /// Makes the folder of a store.
    fn new(options: &SpaceOptions, device: &str, epoch: u32) -> Result<(Self, OpenOptions)> {
        let name = format!("{device}-{epoch}-{}", clock::new_commit_id());
        let folder = ScratchFolder(folder_of(&options.root).join(name));
        let open = OpenOptions {
            home: folder.0.join("home"),
            cache: folder.0.join("cache"),
            state: folder.0.join("state"),
            file_sync: Duration::from_secs(3600),
            lock_patience: options.lock_patience,
        };
        prepare_folder(&open, device)?;
        Ok((Self { folder, contents: HashMap::new() }, open))
    }

    /// Makes the folders of projects, by which a vault knows them.
    fn make_projects<'p>(
        &self,
        home: &Path,
        projects: impl IntoIterator<Item = &'p str>,
    ) -> Result<()> {
        for name in projects {
            let Ok(name) = ProjectName::parse(name) else { continue };
            state_files::create_dir(&home.join(name.as_str()), FilePrivacy::Shared)
                .doing(|| "make the folder of a provisional store".into())?;
        }
        Ok(())
    }

    fn index(open: &OpenOptions) -> Result<IndexFile> {
        Ok(IndexFile::new(&open.cache, &open.home)?.unforced())
    }
}

impl StoreInner {
    /// Returns true if this store answers only until the whole space is here.
    pub(crate) fn is_provisional(&self) -> bool {
        self.provisional.is_some()
    }

    /// Refuses a change: a provisional store cannot decide on one.
    pub(crate) fn refuse_provisional(&self) -> Result<()> {
        if self.is_provisional() {
            return Err(StoreError::NotInSpace { doing: "be changed before it is whole" });
        }
        Ok(())
    }

    /// Returns a file that the index knows and that is not on disk.
    pub(crate) fn read_provisional(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<Option<FileContent>> {
        let row = self.ask(|db| index::row(db, index::project_id_of(db, project)?, path))?;
        let Some(row) = row else { return Ok(None) };
        let Some(hash) = row.hash else { return Ok(None) };
        let bytes = self.provisional_content(hash)?;
        let (stat, checked_ns) = (row.stat, row.checked_ns);
        Ok(Some(FileContent { bytes, hash, stat, mode: FILE_MODE, checked_ns }))
    }

    fn provisional_content(&self, hash: ContentHash) -> Result<Vec<u8>> {
        match self.provisional.as_ref().and_then(|own| own.contents.get(&hash)) {
            Some(bytes) => Ok(bytes.clone()),
            None => self.content_of_space(hash),
        }
    }
}
