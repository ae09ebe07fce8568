//! Doing one file's part of a change, so that it can be taken back.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use memoranda_core::id::{CommitId, ContentHash};
use memoranda_core::path::NotePath;

use crate::clock;
use crate::error::{Result, StoreError};
use crate::files::{
    DirHandle, FileContent, FileStat, HardLinkPolicy, ProjectRoot, is_partly_done, temp_names,
};
use crate::scan::WRITE_BACK_NS;

/// An editor that saves more often than this while a change is taken back is let win.
const MAX_EXCHANGES: usize = 100;

/// A change may concern more folders than a process may have files open.
const MAX_OPEN: usize = 16;

/// The folders of a change: those used last are open, and those that were made for it are known.
#[derive(Default)]
pub(crate) struct FolderHandles<'a> {
    open: RefCell<Vec<(&'a ProjectRoot, String, Rc<DirHandle>)>>,
    made: RefCell<Vec<(&'a ProjectRoot, String)>>,
}

impl<'a> FolderHandles<'a> {
    /// The folder that holds a file; `None` if it does not exist.
    fn of(&self, root: &'a ProjectRoot, path: &NotePath) -> Result<Option<Rc<DirHandle>>> {
        self.opened(root, path, || root.folder(path))
    }

    /// The folder that holds a file, made if need be.
    fn make(&self, root: &'a ProjectRoot, path: &NotePath) -> Result<()> {
        let making = || {
            let mut made = Vec::new();
            let folder = root.make_folder_noting(path, &mut made);
            self.made.borrow_mut().extend(made.into_iter().map(|name| (root, name)));
            folder.map(Some)
        };
        self.opened(root, path, making).map(|_| ())
    }

    fn opened(
        &self,
        root: &'a ProjectRoot,
        path: &NotePath,
        open: impl FnOnce() -> Result<Option<DirHandle>>,
    ) -> Result<Option<Rc<DirHandle>>> {
        let name = path.parent().unwrap_or_default();
        let mut known = self.open.borrow_mut();
        let is_it = |(of, at, _): &(&ProjectRoot, String, _)| std::ptr::eq(*of, root) && at == name;
        if let Some((_, _, folder)) = known.iter().find(|entry| is_it(entry)) {
            return Ok(Some(folder.clone()));
        }
        let Some(folder) = open()?.map(Rc::new) else { return Ok(None) };
        if known.len() == MAX_OPEN {
            known.remove(0);
        }
        known.push((root, name.to_owned(), folder.clone()));
        Ok(Some(folder))
    }

    /// The folders of a project that were made, one above before what is in it.
    pub(crate) fn made_in(&self, root: &ProjectRoot) -> Vec<NotePath> {
        let made = self.made.borrow();
        let own = made.iter().filter(|(of, _)| std::ptr::eq(*of, root));
        own.filter_map(|(_, name)| NotePath::parse(name).ok()).collect()
    }

    /// Removes the folders that were made, if nothing is in them: the change was not made.
    pub(crate) fn unmake(&self) {
        for (root, name) in self.made.borrow().iter().rev() {
            if let Ok(folder) = NotePath::parse(name) {
                root.prune(&folder);
            }
        }
    }
}

/// Kind of a file operation.
pub(crate) enum FileOpKind<'a> {
    /// The file has this content.
    Put { content: &'a [u8], hash: ContentHash, mode: u32 },
    /// The file comes from another path of the project.
    Move {
        from: &'a NotePath,
        source: ContentHash,
        /// Time of the last change of the file.
        changed_ns: i64,
        content: &'a [u8],
        hash: ContentHash,
        mode: u32,
    },
    /// The file is removed.
    Remove,
}

/// Result of comparing a file with the version that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileOpOutcome {
    /// The file was as expected, and is now as it should be.
    Yes,
    /// The file was changed in between; the operation is to be undone.
    Raced,
}

/// Progress of the operation on one file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileOpProgress {
    Nothing,
    /// The exchange by steps failed in the middle, and could not be taken back at once.
    HalfSwapped,
    /// The new file has the name; there was none before.
    LoggedRecord,
    /// The new file has the name, and the old one the temporary name.
    Swapped,
    /// The file has the temporary name.
    SetAside,
    /// The file is at its new place.
    Moved,
    /// The new file is at the new place, and the old one has the temporary name.
    MovedAndSetAside,
}

/// One file's part of a change.
pub(crate) struct FileOp<'a> {
    root: &'a ProjectRoot,
    path: &'a NotePath,
    before: Option<&'a FileContent>,
    placing: FileOpKind<'a>,
    temporary: String,
    done: FileOpProgress,
}

impl<'a> FileOp<'a> {
    /// The project of the file.
    pub(crate) fn root(&self) -> &'a ProjectRoot {
        self.root
    }

    /// Forces the new bytes and their temporary name to disk.
    ///
    /// Once the log has the change, what is left of it must tell how far it was made: a file that has
    /// neither its temporary name nor its own was placed, and removed by somebody since.
    pub(crate) fn force_temporary(&self, folders: &FolderHandles<'a>) -> Result<()> {
        if !self.has_temporary() {
            return Ok(());
        }
        let Some(folder) = folders.of(self.root, self.path)? else { return Ok(()) };
        let doing =
            |source| StoreError::Io { doing: format!("force {} to disk", self.path), source };
        folder.sync_file(&self.temporary).map_err(doing)?;
        self.root.force_names(self.path)
    }

    /// Forces the bytes of a file that is moved as it is, if somebody has written them a moment ago.
    ///
    /// A power cut leaves any mixture of its bytes before and after such an edit. Under its new name nothing
    /// tells that mixture from a later edit.
    pub(crate) fn force_edit(&self, folders: &FolderHandles<'a>, has_edits: bool) -> Result<()> {
        let FileOpKind::Move { from, source, hash, changed_ns, .. } = &self.placing else {
            return Ok(());
        };
        let is_new = has_edits || changed_ns.saturating_add(WRITE_BACK_NS) > clock::now_ns();
        if source != hash || !is_new {
            return Ok(());
        }
        let Some(folder) = folders.of(self.root, from)? else { return Ok(()) };
        let doing = |source| StoreError::Io { doing: format!("force {from} to disk"), source };
        folder.sync_file(from.file_name()).map_err(doing)
    }

    /// Returns true if new bytes are written under a temporary name.
    fn has_temporary(&self) -> bool {
        match &self.placing {
            FileOpKind::Put { .. } => true,
            FileOpKind::Move { source, hash, .. } => source != hash,
            FileOpKind::Remove => false,
        }
    }

    /// Forces the names of the file to disk. A file that was only renamed has bytes that perhaps nobody
    /// has forced yet.
    pub(crate) fn force_names(&self) -> Result<()> {
        match self.done {
            FileOpProgress::Moved => self.root.force(self.path)?,
            _ => self.root.force_names(self.path)?,
        }
        self.from().map_or(Ok(()), |from| self.root.force_names(from))
    }

    /// Forces the names to disk that the file has again.
    pub(crate) fn force_undone(&self) -> Result<()> {
        self.root.force_names(self.path)?;
        self.from().map_or(Ok(()), |from| self.root.force_names(from))
    }

    pub(crate) fn new(
        root: &'a ProjectRoot,
        path: &'a NotePath,
        id: CommitId,
        n: usize,
        before: Option<&'a FileContent>,
        placing: FileOpKind<'a>,
    ) -> Self {
        let temporary = temp_names::of_commit(id, n);
        Self { root, path, before, placing, temporary, done: FileOpProgress::Nothing }
    }

    pub(crate) fn path(&self) -> &NotePath {
        self.path
    }

    /// Returns the previous path of a moved file.
    pub(crate) fn from(&self) -> Option<&NotePath> {
        match &self.placing {
            FileOpKind::Move { from, .. } => Some(from),
            FileOpKind::Put { .. } | FileOpKind::Remove => None,
        }
    }

    /// Returns the content of the file after the operation.
    pub(crate) fn content(&self) -> Option<(&[u8], ContentHash)> {
        match &self.placing {
            FileOpKind::Put { content, hash, .. } | FileOpKind::Move { content, hash, .. } => {
                Some((content, *hash))
            }
            FileOpKind::Remove => None,
        }
    }

    /// Returns true if the project's rules hide the file from the search.
    pub(crate) fn is_ignored(&self) -> bool {
        self.root.ignores(self.path)
    }

    /// Returns the metadata of the file after the operation.
    pub(crate) fn stat(&self, folders: &FolderHandles<'a>) -> Result<Option<FileStat>> {
        match folders.of(self.root, self.path)? {
            Some(folder) => folder.stat(self.path.file_name()).map_err(|e| self.failed(e)),
            None => Ok(None),
        }
    }

    /// Writes what is new under the temporary name; makes the folder if need be. The file has the
    /// time of its commit: the system's clock for files is some milliseconds behind, and who asks
    /// for the note as of the time that the file gives would see the version before.
    pub(crate) fn write_temp(&self, folders: &FolderHandles<'a>, time: Timestamp) -> Result<()> {
        if let FileOpKind::Put { .. } | FileOpKind::Move { .. } = &self.placing {
            folders.make(self.root, self.path)?;
        }
        let Some(folder) = folders.of(self.root, self.path)? else { return Ok(()) };
        let after = Duration::from_millis(u64::try_from(time.as_millisecond()).unwrap_or(0));
        let written = match &self.placing {
            FileOpKind::Put { content, mode, .. } => {
                folder.write_temporary_of(&self.temporary, content, *mode, after)
            }
            FileOpKind::Move { source, content, hash, mode, .. } if source != hash => {
                folder.write_temporary_of(&self.temporary, content, *mode, after)
            }
            FileOpKind::Move { .. } | FileOpKind::Remove => Ok(()),
        };
        written.map_err(|e| self.failed(e))
    }

    /// Lets the change be seen.
    pub(crate) fn apply(&mut self, folders: &FolderHandles<'a>) -> Result<FileOpOutcome> {
        let Some(folder) = folders.of(self.root, self.path)? else {
            return Ok(FileOpOutcome::Raced);
        };
        let source_folder = self.source_folder(folders)?;
        let name = self.path.file_name();
        let done = match &self.placing {
            FileOpKind::Put { .. } if self.before.is_none() => {
                folder.place(&self.temporary, name).map(|()| FileOpProgress::LoggedRecord)
            }
            FileOpKind::Put { .. } => {
                folder.swap(&self.temporary, name).map(|()| FileOpProgress::Swapped)
            }
            FileOpKind::Remove => {
                folder.take(&folder, name, &self.temporary).map(|()| FileOpProgress::SetAside)
            }
            FileOpKind::Move { from, source, hash, .. } => match &source_folder {
                None => return Ok(FileOpOutcome::Raced),
                Some(source_folder) if source == hash => folder
                    .take(source_folder, from.file_name(), name)
                    .map(|()| FileOpProgress::Moved),
                Some(source_folder) => folder
                    .place(&self.temporary, name)
                    .inspect(|()| self.done = FileOpProgress::LoggedRecord)
                    .and_then(|()| {
                        source_folder.take(source_folder, from.file_name(), &self.temporary)
                    })
                    .map(|()| FileOpProgress::MovedAndSetAside),
            },
        };
        match done {
            Ok(done) => self.done = done,
            Err(e) if is_partly_done(&e) => {
                self.done = FileOpProgress::HalfSwapped;
                return Err(self.failed(e));
            }
            Err(e) if is_race(&e) => return Ok(FileOpOutcome::Raced),
            Err(e) => return Err(self.failed(e)),
        }
        Ok(if self.displaced_as_read(folders)? { FileOpOutcome::Yes } else { FileOpOutcome::Raced })
    }

    /// Returns true if the displaced file is the version that was read.
    fn displaced_as_read(&self, folders: &FolderHandles<'a>) -> Result<bool> {
        let (path, name, expected) = match (&self.done, &self.placing) {
            (FileOpProgress::Swapped | FileOpProgress::SetAside, _) => {
                (self.path, self.temporary.as_str(), self.before.map(|found| found.hash))
            }
            (FileOpProgress::Moved, FileOpKind::Move { source, .. }) => {
                (self.path, self.path.file_name(), Some(*source))
            }
            (FileOpProgress::MovedAndSetAside, FileOpKind::Move { from, source, .. }) => {
                (*from, self.temporary.as_str(), Some(*source))
            }
            _ => return Ok(true),
        };
        let Some(folder) = folders.of(self.root, path)? else { return Ok(false) };
        let found = folder.read(name, HardLinkPolicy::Allow).map_err(|e| self.failed(e))?;
        Ok(found.map(|found| found.hash) == expected)
    }

    /// Puts everything back as it was.
    pub(crate) fn undo(&self, folders: &FolderHandles<'a>) -> Result<()> {
        let Some(folder) = folders.of(self.root, self.path)? else { return Ok(()) };
        let (folder, source_folder) = (&*folder, self.source_folder(folders)?);
        let name = self.path.file_name();
        let from = self.from().map(NotePath::file_name);
        let undone = match (self.done, &source_folder, from) {
            (FileOpProgress::Nothing, _, _) => Ok(()),
            (FileOpProgress::HalfSwapped, _, _) => match self.content() {
                Some((_, new)) => folder.undo_swap(&self.temporary, name, new),
                None => Ok(()),
            },
            (FileOpProgress::LoggedRecord, _, _) => self.withdraw(folder),
            (FileOpProgress::Swapped, _, _) => self.swap_back(folder),
            (FileOpProgress::SetAside, _, _) => self.restore(folder, folder, name),
            (FileOpProgress::Moved, Some(source), Some(from)) => {
                // Where somebody has made another file since, this one stays at its new place.
                source.take(folder, name, from).or_else(ignore_race)
            }
            (FileOpProgress::MovedAndSetAside, Some(source), Some(from)) => {
                self.restore(source, source, from).and_then(|()| self.withdraw(folder))
            }
            (FileOpProgress::Moved | FileOpProgress::MovedAndSetAside, _, _) => Ok(()),
        };
        undone.map_err(|e| self.failed(e))
    }

    /// Takes the new file away from its name, unless somebody has saved there since.
    fn withdraw(&self, folder: &DirHandle) -> std::io::Result<()> {
        let name = self.path.file_name();
        folder.take(folder, name, &self.temporary).or_else(ignore_race)?;
        let taken = folder.read(&self.temporary, HardLinkPolicy::Allow)?.map(|found| found.hash);
        if taken.is_some() && taken != self.content().map(|(_, hash)| hash) {
            folder.place(&self.temporary, name).or_else(ignore_race)?;
        }
        Ok(())
    }

    /// Restores the name of the old file. If an editor saves between two checks, its text is the
    /// newest and keeps the name.
    fn swap_back(&self, folder: &DirHandle) -> std::io::Result<()> {
        let name = self.path.file_name();
        let aside = || {
            let found = folder.read(&self.temporary, HardLinkPolicy::Allow)?;
            Ok::<_, std::io::Error>(found.map(|found| found.hash))
        };
        let mut there = self.content().map(|(_, hash)| hash);
        for _ in 0..MAX_EXCHANGES {
            let given = aside()?;
            match folder.swap(&self.temporary, name) {
                Ok(_) => {}
                // Somebody has deleted the file since, whichever version it was: that is the last word.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                // Without an exchange no file has the name for a moment. An editor has saved in that
                // moment: its text is the newest, and stays.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
                Err(e) => return Err(e),
            }
            if aside()? == there {
                return Ok(());
            }
            there = given;
        }
        Ok(())
    }

    /// Gives a file that was set aside its name back, unless somebody has saved there since.
    fn restore(&self, aside: &DirHandle, to: &DirHandle, name: &str) -> std::io::Result<()> {
        to.take(aside, &self.temporary, name).or_else(ignore_race)?;
        aside.remove_quietly(&self.temporary);
        Ok(())
    }

    /// Lets go of what was displaced: the log has it.
    pub(crate) fn finish(&self, folders: &FolderHandles<'a>) {
        let folder = match self.done {
            FileOpProgress::Swapped | FileOpProgress::SetAside => folders.of(self.root, self.path),
            FileOpProgress::MovedAndSetAside => self.source_folder(folders),
            FileOpProgress::Nothing
            | FileOpProgress::HalfSwapped
            | FileOpProgress::LoggedRecord
            | FileOpProgress::Moved => Ok(None),
        };
        if let Ok(Some(folder)) = folder {
            folder.remove_quietly(&self.temporary);
        }
    }

    /// Removes the temporary file, after a change that was not made or was rolled back.
    pub(crate) fn discard(&self, folders: &FolderHandles<'a>) {
        if let (Ok(Some(folder)), FileOpKind::Put { .. } | FileOpKind::Move { .. }) =
            (folders.of(self.root, self.path), &self.placing)
        {
            folder.remove_quietly(&self.temporary);
        }
    }

    fn source_folder(&self, folders: &FolderHandles<'a>) -> Result<Option<Rc<DirHandle>>> {
        self.from().map_or(Ok(None), |from| folders.of(self.root, from))
    }

    fn failed(&self, source: std::io::Error) -> StoreError {
        StoreError::Io { doing: format!("write {}", self.path), source }
    }
}

fn ignore_race(error: std::io::Error) -> std::io::Result<()> {
    if is_race(&error) { Ok(()) } else { Err(error) }
}

/// A name that appeared or vanished between reading and writing.
fn is_race(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotFound)
}
