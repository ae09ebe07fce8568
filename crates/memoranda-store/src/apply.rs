//! Doing one file's part of a change, so that it can be taken back.

use memoranda_core::id::{CommitId, ContentHash};
use memoranda_core::path::NotePath;

use crate::error::{Result, StoreError};
use crate::files::{FileStat, Folder, Found, HardLinks, Root, Swapped};

/// An editor that saves more often than this while a change is taken back is let win.
const MAX_EXCHANGES: usize = 100;

/// What is to become of a file.
pub(crate) enum Placing<'a> {
    /// It holds these bytes.
    Put { content: &'a [u8], hash: ContentHash, mode: u32 },
    /// It comes from another place of the project.
    Move {
        from: &'a NotePath,
        source: ContentHash,
        content: &'a [u8],
        hash: ContentHash,
        mode: u32,
    },
    /// It is gone.
    Remove,
}

/// Whether a file was as it had been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Applied {
    /// It was, and now is as it should be.
    Yes,
    /// Somebody had changed it in between; this step is to be undone.
    Raced,
}

/// How far a file's part has been done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Nothing,
    /// The new file has the name; there was none before.
    Placed,
    /// The new file has the name, and the old one the temporary name.
    Swapped,
    /// The new file has the name, and the old one is gone: the file system can only replace.
    Replaced,
    /// The file has the temporary name.
    SetAside,
    /// The file is at its new place.
    Moved,
    /// The new file is at the new place, and the old one has the temporary name.
    MovedAndSetAside,
}

/// One file's part of a change.
pub(crate) struct Apply<'a> {
    root: &'a Root,
    path: &'a NotePath,
    before: Option<&'a Found>,
    placing: Placing<'a>,
    temporary: String,
    folder: Option<Folder>,
    source_folder: Option<Folder>,
    done: Done,
}

/// The temporary name of the n-th file of a commit: known again after a crash.
pub(crate) fn temporary_name(id: CommitId, n: usize) -> String {
    format!(".memoranda-{id}-{n}")
}

impl<'a> Apply<'a> {
    pub(crate) fn new(
        root: &'a Root,
        path: &'a NotePath,
        id: CommitId,
        n: usize,
        before: Option<&'a Found>,
        placing: Placing<'a>,
    ) -> Self {
        let temporary = temporary_name(id, n);
        Self {
            root,
            path,
            before,
            placing,
            temporary,
            folder: None,
            source_folder: None,
            done: Done::Nothing,
        }
    }

    pub(crate) fn path(&self) -> &NotePath {
        self.path
    }

    /// Where the file comes from, if it is moved.
    pub(crate) fn from(&self) -> Option<&NotePath> {
        match &self.placing {
            Placing::Move { from, .. } => Some(from),
            Placing::Put { .. } | Placing::Remove => None,
        }
    }

    /// What the file holds afterwards.
    pub(crate) fn content(&self) -> Option<(&[u8], ContentHash)> {
        match &self.placing {
            Placing::Put { content, hash, .. } | Placing::Move { content, hash, .. } => {
                Some((content, *hash))
            }
            Placing::Remove => None,
        }
    }

    /// Whether the project's rules leave the file out of the search.
    pub(crate) fn is_ignored(&self) -> bool {
        self.root.ignores(self.path)
    }

    /// What the system says of the file afterwards.
    pub(crate) fn stat(&self) -> Result<Option<FileStat>> {
        match &self.folder {
            Some(folder) => folder.stat(self.path.file_name()).map_err(|e| self.failed(e)),
            None => Ok(None),
        }
    }

    /// Writes what is new under the temporary name; makes the folder if need be.
    pub(crate) fn write_beside(&mut self) -> Result<()> {
        self.folder = Some(match &self.placing {
            Placing::Put { .. } | Placing::Move { .. } => self.root.make_folder(self.path)?,
            Placing::Remove => match self.root.folder(self.path)? {
                Some(folder) => folder,
                None => return Ok(()),
            },
        });
        if let Placing::Move { from, .. } = &self.placing {
            self.source_folder = self.root.folder(from)?;
        }
        let Some(folder) = &self.folder else { return Ok(()) };
        let written = match &self.placing {
            Placing::Put { content, mode, .. } => {
                folder.write_temporary(&self.temporary, content, *mode)
            }
            Placing::Move { source, content, hash, mode, .. } if source != hash => {
                folder.write_temporary(&self.temporary, content, *mode)
            }
            Placing::Move { .. } | Placing::Remove => Ok(()),
        };
        written.map_err(|e| self.failed(e))
    }

    /// Lets the change be seen.
    pub(crate) fn apply(&mut self) -> Result<Applied> {
        let Some(folder) = &self.folder else { return Ok(Applied::Raced) };
        let name = self.path.file_name();
        let done = match &self.placing {
            Placing::Put { .. } if self.before.is_none() => {
                folder.place(&self.temporary, name).map(|()| Done::Placed)
            }
            Placing::Put { .. } => {
                folder.swap(&self.temporary, name).map(|swapped| match swapped {
                    Swapped::Displaced => Done::Swapped,
                    Swapped::Replaced => Done::Replaced,
                })
            }
            Placing::Remove => folder.take(folder, name, &self.temporary).map(|()| Done::SetAside),
            Placing::Move { from, source, hash, .. } => match &self.source_folder {
                None => return Ok(Applied::Raced),
                Some(source_folder) if source == hash => {
                    folder.take(source_folder, from.file_name(), name).map(|()| Done::Moved)
                }
                Some(source_folder) => folder
                    .place(&self.temporary, name)
                    .inspect(|()| self.done = Done::Placed)
                    .and_then(|()| {
                        source_folder.take(source_folder, from.file_name(), &self.temporary)
                    })
                    .map(|()| Done::MovedAndSetAside),
            },
        };
        match done {
            Ok(done) => self.done = done,
            Err(e) if is_race(&e) => return Ok(Applied::Raced),
            Err(e) => return Err(self.failed(e)),
        }
        Ok(if self.displaced_as_read()? { Applied::Yes } else { Applied::Raced })
    }

    /// Whether what is no longer under its name is what had been read.
    fn displaced_as_read(&self) -> Result<bool> {
        let (folder, name, expected) = match (&self.done, &self.placing) {
            (Done::Swapped | Done::SetAside, _) => {
                (&self.folder, self.temporary.as_str(), self.before.map(|found| found.hash))
            }
            (Done::Moved, Placing::Move { source, .. }) => {
                (&self.folder, self.path.file_name(), Some(*source))
            }
            (Done::MovedAndSetAside, Placing::Move { source, .. }) => {
                (&self.source_folder, self.temporary.as_str(), Some(*source))
            }
            _ => return Ok(true),
        };
        let Some(folder) = folder else { return Ok(false) };
        let found = folder.read(name, HardLinks::Allow).map_err(|e| self.failed(e))?;
        Ok(found.map(|found| found.hash) == expected)
    }

    /// Puts everything back as it was.
    pub(crate) fn undo(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let name = self.path.file_name();
        let from = self.from().map(NotePath::file_name);
        let undone = match (self.done, &self.source_folder, from) {
            (Done::Nothing, _, _) => Ok(()),
            (Done::Placed, _, _) => self.withdraw(folder),
            (Done::Swapped, _, _) => self.swap_back(folder),
            (Done::Replaced, _, _) => self.write_again(folder),
            (Done::SetAside, _, _) => self.give_back(folder, folder, name),
            (Done::Moved, Some(source), Some(from)) => {
                // Where somebody has made another file since, this one stays at its new place.
                source.take(folder, name, from).or_else(ignore_race)
            }
            (Done::MovedAndSetAside, Some(source), Some(from)) => {
                self.give_back(source, source, from).and_then(|()| self.withdraw(folder))
            }
            (Done::Moved | Done::MovedAndSetAside, _, _) => Ok(()),
        };
        undone.map_err(|e| self.failed(e))
    }

    /// Takes the new file away from its name, unless somebody has saved there since.
    fn withdraw(&self, folder: &Folder) -> std::io::Result<()> {
        let name = self.path.file_name();
        folder.take(folder, name, &self.temporary).or_else(ignore_race)?;
        let taken = folder.read(&self.temporary, HardLinks::Allow)?.map(|found| found.hash);
        if taken.is_some() && taken != self.content().map(|(_, hash)| hash) {
            folder.place(&self.temporary, name).or_else(ignore_race)?;
        }
        Ok(())
    }

    /// Gives the old file its name back. Whoever saves between two looks has the newest text, and
    /// that one has the name in the end.
    fn swap_back(&self, folder: &Folder) -> std::io::Result<()> {
        let name = self.path.file_name();
        let aside = || {
            let found = folder.read(&self.temporary, HardLinks::Allow)?;
            Ok::<_, std::io::Error>(found.map(|found| found.hash))
        };
        let mut there = self.content().map(|(_, hash)| hash);
        for _ in 0..MAX_EXCHANGES {
            let given = aside()?;
            match folder.swap(&self.temporary, name) {
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                    return folder.place(&self.temporary, name).or_else(ignore_race);
                }
                Err(e) => return Err(e),
            }
            if aside()? == there {
                return Ok(());
            }
            there = given;
        }
        Ok(())
    }

    /// Writes what was replaced anew, unless somebody has saved there since.
    fn write_again(&self, folder: &Folder) -> std::io::Result<()> {
        let name = self.path.file_name();
        let there = folder.read(name, HardLinks::Allow)?.map(|found| found.hash);
        match self.before {
            Some(before) if there == self.content().map(|(_, hash)| hash) => {
                folder.write_temporary(&self.temporary, &before.bytes, before.mode)?;
                folder.swap(&self.temporary, name).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Gives a file that was set aside its name back, unless somebody has saved there since.
    fn give_back(&self, aside: &Folder, to: &Folder, name: &str) -> std::io::Result<()> {
        to.take(aside, &self.temporary, name).or_else(ignore_race)?;
        aside.remove_quietly(&self.temporary);
        Ok(())
    }

    /// Lets go of what was displaced: the log has it.
    pub(crate) fn finish(&self) {
        let folder = match self.done {
            Done::Swapped | Done::SetAside => &self.folder,
            Done::MovedAndSetAside => &self.source_folder,
            Done::Nothing | Done::Placed | Done::Replaced | Done::Moved => &None,
        };
        if let Some(folder) = folder {
            folder.remove_quietly(&self.temporary);
        }
    }

    /// Removes what was written beside, after nothing was changed or everything was put back.
    pub(crate) fn discard(&self) {
        if let (Some(folder), Placing::Put { .. } | Placing::Move { .. }) =
            (&self.folder, &self.placing)
        {
            folder.remove_quietly(&self.temporary);
        }
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
