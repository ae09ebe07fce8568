//! Handle of one folder: reads, writes, exchanges and removes plain files by name.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, UNIX_EPOCH};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::{Dir, DirBuilder};
use memoranda_core::id::ContentHash;

use super::{
    FileContent, FilePrivacy, FileStat, HardLinkPolicy, MAX_FILE_BYTES, hash, no_follow, reading,
    stat_of,
};
use super::{owner, temp_names};
use crate::faults::{self, Step};
use crate::{clock, machine};

/// Error kind that marks a refused hard link.
pub(super) const HARD_LINK: io::ErrorKind = io::ErrorKind::TooManyLinks;

/// A plain file, open for reading.
pub(crate) struct OpenedFile {
    pub(crate) bytes: Box<dyn io::Read>,
    pub(crate) stat: FileStat,
}

/// The failure of a step that was done in part, and could not be taken back: the drive was pulled.
#[derive(Debug)]
struct PartlyDone(io::Error);

impl PartlyDone {
    fn error(source: io::Error) -> io::Error {
        io::Error::new(source.kind(), Self(source))
    }
}

impl std::fmt::Display for PartlyDone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for PartlyDone {}

/// Returns true if a step failed that has left a file without its name.
pub(crate) fn is_partly_done(error: &io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<PartlyDone>())
}

/// The handle of one folder in a project.
pub(crate) struct DirHandle {
    dir: Dir,
}

impl DirHandle {
    pub(super) fn new(dir: Dir) -> Self {
        Self { dir }
    }

    /// Comes before every call of the system.
    fn call(&self) -> io::Result<()> {
        faults::at(Step::AnyCall)?;
        machine::reach(&self.dir)
    }

    /// Comes before a call whose failure is of no consequence.
    fn turn(&self) -> io::Result<()> {
        machine::turn()?;
        machine::reach(&self.dir)
    }

    /// Reads a plain file; `None` if it does not exist.
    pub(crate) fn read(
        &self,
        name: &str,
        hard_links: HardLinkPolicy,
    ) -> io::Result<Option<FileContent>> {
        self.call()?;
        let checked_ns = clock::now_ns();
        let mut file = match self.dir.open_with(name, &reading()) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if metadata.nlink() > 1 && hard_links == HardLinkPolicy::Refuse {
            return Err(HARD_LINK.into());
        }
        if metadata.len() > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        machine::turn()?;
        let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
        file.read_to_end(&mut bytes)?;
        let hash = hash(&bytes);
        let (stat, mode) = (stat_of(&metadata), mode_of(&metadata));
        Ok(Some(FileContent { bytes, hash, stat, mode, checked_ns }))
    }

    /// Opens a plain file of any size; `None` if it does not exist.
    pub(crate) fn open(
        &self,
        name: &str,
        hard_links: HardLinkPolicy,
    ) -> io::Result<Option<OpenedFile>> {
        self.call()?;
        let file = match self.dir.open_with(name, &reading()) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if metadata.nlink() > 1 && hard_links == HardLinkPolicy::Refuse {
            return Err(HARD_LINK.into());
        }
        Ok(Some(OpenedFile { bytes: Box::new(file), stat: stat_of(&metadata) }))
    }

    /// Returns the metadata of a plain file; `None` if it does not exist.
    pub(crate) fn stat(&self, name: &str) -> io::Result<Option<FileStat>> {
        self.call()?;
        match self.dir.symlink_metadata(name) {
            Ok(metadata) if metadata.is_file() => Ok(Some(stat_of(&metadata))),
            Ok(_) => Err(io::ErrorKind::InvalidInput.into()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Returns when a name in the folder changed last, in nanoseconds since 1970.
    pub(crate) fn modified_ns(&self) -> io::Result<i64> {
        self.call()?;
        Ok(stat_of(&self.dir.dir_metadata()?).mtime_ns)
    }

    /// Writes a new file under a temporary name.
    pub(crate) fn write_temporary(&self, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.call()?;
        self.write_new(name, bytes, mode, None)
    }

    /// Writes a new file under a temporary name, that says it was changed so long after 1970. Where
    /// no time can be set, it has the system's.
    pub(crate) fn write_temporary_of(
        &self,
        name: &str,
        bytes: &[u8],
        mode: u32,
        after: Duration,
    ) -> io::Result<()> {
        self.call()?;
        self.write_new(name, bytes, mode, Some(after))
    }

    fn write_new(
        &self,
        name: &str,
        bytes: &[u8],
        mode: u32,
        modified: Option<Duration>,
    ) -> io::Result<()> {
        faults::at(Step::TempWrite)?;
        let mut options = no_follow();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            options.mode(mode);
        }
        let mut file = self.dir.open_with(name, &options)?;
        owner::give_to_folder_owner(&self.dir, &file);
        machine::names_changed(&[&self.dir]);
        let written =
            self.call().and_then(|()| file.write_all(bytes)).and_then(|()| set_mode(&file, mode));
        machine::written(&file);
        if written.is_err() {
            self.remove_quietly(name);
        }
        if let (Ok(()), Some(after)) = (&written, modified) {
            set_time(&file.into_std(), after).ok();
        }
        written
    }

    /// Says that a file was changed last so many seconds after 1970; 0 leaves it as it is.
    pub(crate) fn set_modified(&self, name: &str, seconds: u64) -> io::Result<()> {
        self.call()?;
        match seconds {
            0 => Ok(()),
            seconds => self.set_modified_at(name, Duration::from_secs(seconds)),
        }
    }

    /// Says that a file was changed last so long after 1970.
    pub(crate) fn set_modified_at(&self, name: &str, after: Duration) -> io::Result<()> {
        self.call()?;
        let mut options = no_follow();
        options.write(true);
        set_time(&self.dir.open_with(name, &options)?.into_std(), after)
    }

    /// Gives the temporary file its name, where no file has it; fails with `AlreadyExists`.
    pub(crate) fn place(&self, temporary: &str, name: &str) -> io::Result<()> {
        self.call()?;
        faults::at(Step::Swap)?;
        place(&self.dir, temporary, name)
    }

    /// Exchanges the temporary file with an existing one, which then has the temporary name.
    pub(crate) fn swap(&self, temporary: &str, name: &str) -> io::Result<()> {
        self.call()?;
        match faults::at(Step::Swap).and_then(|()| exchange(&self.dir, temporary, name)) {
            Err(e) if is_unsupported(&e) => self.swap_by_steps(temporary, name),
            other => other,
        }
    }

    /// Exchanges two files where the file system has no call for it.
    ///
    /// A rename over the old file would lose what an editor saved a moment before. So the old file
    /// is set aside first, and the new one takes the name only if nobody has saved meanwhile: that
    /// is `AlreadyExists`. For a moment no file has the name.
    fn swap_by_steps(&self, temporary: &str, name: &str) -> io::Result<()> {
        let displaced = temp_names::of_displaced(temporary);
        self.call()?;
        rename(&self.dir, name, &self.dir, &displaced)?;
        match self.call().and_then(|()| place(&self.dir, temporary, name)) {
            Ok(()) => {
                // The new file has the name, so that this step must not be left out.
                machine::turn().ok();
                rename(&self.dir, &displaced, &self.dir, temporary).map_err(PartlyDone::error)
            }
            Err(e) => match self.restore_displaced(&displaced, name) {
                Ok(()) => Err(e),
                Err(_) => Err(PartlyDone::error(e)),
            },
        }
    }

    /// Takes back an exchange by steps that failed, and could not be taken back at that moment. The new
    /// file is known by its content: an editor may have saved or deleted it since, and that is the last
    /// word.
    pub(crate) fn undo_swap(
        &self,
        temporary: &str,
        name: &str,
        new: ContentHash,
    ) -> io::Result<()> {
        let displaced = temp_names::of_displaced(temporary);
        if self.stat(&displaced)?.is_none() {
            return Ok(());
        }
        if self.stat(temporary)?.is_none() {
            // The new file got the name.
            let hash_of = |name| {
                let found = self.read(name, HardLinkPolicy::Allow);
                found.map(|found| found.map(|found| found.hash))
            };
            match hash_of(name) {
                Ok(Some(hash)) if hash == new => self.take(self, name, temporary)?,
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.remove_quietly(&displaced);
                    return Ok(());
                }
                // A folder, or more bytes than the new file can have.
                Err(e) if is_other_kind(&e) => {}
                Err(e) => return Err(e),
            }
            if hash_of(temporary)?.is_some_and(|taken| taken != new) {
                // An editor has saved between the two looks.
                self.call()?;
                match place(&self.dir, temporary, name) {
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                    placed => placed?,
                }
            }
        }
        self.call()?;
        self.restore_displaced(&displaced, name)
    }

    /// Gives a file that was set aside its name back, unless an editor has saved there since.
    fn restore_displaced(&self, displaced: &str, name: &str) -> io::Result<()> {
        machine::reach(&self.dir)?;
        match place(&self.dir, displaced, name) {
            // The editor's newer file has the name; the log has what was set aside.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => self.remove_quietly(displaced),
            other => return other,
        }
        Ok(())
    }

    /// Gives the temporary file its name, whatever had it before.
    pub(crate) fn replace(&self, temporary: &str, name: &str) -> io::Result<()> {
        self.call()?;
        rename(&self.dir, temporary, &self.dir, name)
    }

    /// Moves a file here from another folder, where no file has its new name.
    pub(crate) fn take(&self, from: &Self, from_name: &str, name: &str) -> io::Result<()> {
        self.call()?;
        faults::at(Step::Swap)?;
        rename_new(&from.dir, from_name, &self.dir, name)
    }

    /// Removes a file that is known to be ours or kept in the log.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.call()?;
        match remove_file(&self.dir, name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Removes a temporary file; if that fails, the next scan does it.
    pub(crate) fn remove_quietly(&self, name: &str) {
        self.turn().and_then(|()| remove_file(&self.dir, name)).ok();
    }

    /// Removes the temporary names here of a file that has its own name in this or another folder.
    pub(crate) fn remove_temporary_links(&self, of: &Self, name: &str) -> io::Result<()> {
        self.call()?;
        let inode = of.dir.symlink_metadata(name)?.ino();
        for entry in self.dir.entries()? {
            let entry = entry?;
            let Ok(other) = entry.file_name().into_string() else { continue };
            if temp_names::is_temporary(&other) && entry.metadata()?.ino() == inode {
                self.remove_quietly(&other);
            }
        }
        Ok(())
    }

    /// Removes a name of a file that has this other name, too, unless somebody has saved there since.
    /// Returns false if the names are those of two files.
    pub(crate) fn remove_link(
        &self,
        name: &str,
        other: &Self,
        other_name: &str,
    ) -> io::Result<bool> {
        self.call()?;
        let inode = self.dir.symlink_metadata(name)?.ino();
        match other.dir.symlink_metadata(other_name) {
            Ok(metadata) if metadata.ino() == inode => {}
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            Ok(_) | Err(_) => return Ok(false),
        }
        remove_linked(&self.dir, name, inode).map(|()| true)
    }

    /// Removes a folder if nothing is in it.
    pub(super) fn remove_empty_folder(&self, name: &str) {
        if self.turn().and_then(|()| self.dir.remove_dir(name)).is_ok() {
            machine::names_changed(&[&self.dir]);
        }
    }

    /// Forces a file's bytes to disk; a missing file is fine.
    pub(crate) fn sync_file(&self, name: &str) -> io::Result<()> {
        self.call()?;
        faults::at(Step::FileSync)?;
        match self.dir.open_with(name, &reading()) {
            Ok(file) if file.metadata()?.is_file() => {
                file.sync_data()?;
                machine::forced(&file);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Forces the folder's names to disk, where the system can.
    pub(crate) fn sync_names(&self) -> io::Result<()> {
        self.call()?;
        #[cfg(unix)]
        {
            // The handle itself may be one that only finds things; forcing needs one that reads.
            use rustix::fs::{Mode, OFlags, fsync, openat};
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            fsync(openat(&self.dir, ".", flags, Mode::empty())?)?;
            machine::names_forced(&self.dir);
        }
        Ok(())
    }
}

pub(super) fn dir_builder(privacy: FilePrivacy) -> DirBuilder {
    #[allow(unused_mut)]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    if privacy == FilePrivacy::Private {
        use cap_std::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder
}

#[cfg(unix)]
fn mode_of(metadata: &cap_std::fs::Metadata) -> u32 {
    use cap_std::fs::MetadataExt as _;
    metadata.mode() & 0o777
}

#[cfg(not(unix))]
fn mode_of(_: &cap_std::fs::Metadata) -> u32 {
    0o666
}

/// Restores the mode of the file that is being replaced; a new file keeps what the umask left.
#[cfg(unix)]
fn set_mode(file: &cap_std::fs::File, mode: u32) -> io::Result<()> {
    use cap_std::fs::PermissionsExt as _;
    if mode == 0o666 {
        return Ok(());
    }
    file.set_permissions(cap_std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &cap_std::fs::File, _: u32) -> io::Result<()> {
    Ok(())
}

fn set_time(file: &std::fs::File, after: Duration) -> io::Result<()> {
    file.set_modified(UNIX_EPOCH + after)?;
    machine::dated(file, after);
    Ok(())
}

fn remove_file(dir: &Dir, name: &str) -> io::Result<()> {
    dir.remove_file(name)?;
    machine::names_changed(&[dir]);
    Ok(())
}

fn place(dir: &Dir, temporary: &str, name: &str) -> io::Result<()> {
    rename_new(dir, temporary, dir, name)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_new(from_dir: &Dir, from: &str, to_dir: &Dir, to: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    let renamed = faults::at(Step::Exchange)
        .and_then(|()| Ok(renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE)?));
    match renamed {
        Err(e) if is_unsupported(&e) => rename_new_by_linking(from_dir, from, to_dir, to),
        Err(e) => Err(e),
        Ok(()) => {
            machine::names_changed(&[from_dir, to_dir]);
            Ok(())
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_new(from_dir: &Dir, from: &str, to_dir: &Dir, to: &str) -> io::Result<()> {
    rename_new_by_linking(from_dir, from, to_dir, to)
}

/// Renames a file to a name that no file has, where the file system has no call for it: a hard link
/// fails if the name is taken. Without hard links only a look before the rename is left.
fn rename_new_by_linking(from_dir: &Dir, from: &str, to_dir: &Dir, to: &str) -> io::Result<()> {
    if temp_names::is_temporary(to) {
        // Nobody else uses the name, so that a rename cannot replace anything.
        return rename(from_dir, from, to_dir, to);
    }
    match from_dir.hard_link(from, to_dir, to) {
        Ok(()) => {
            machine::names_changed(&[to_dir]);
            let inode = to_dir.symlink_metadata(to)?.ino();
            let removed =
                faults::at(Step::AnyCall).and_then(|()| remove_linked(from_dir, from, inode));
            if removed.is_err() {
                // An editor may have saved under the new name since.
                remove_linked(to_dir, to, inode).ok();
            }
            removed
        }
        Err(e) if matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
            Err(e)
        }
        Err(_) if to_dir.symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => rename(from_dir, from, to_dir, to),
    }
}

/// Removes the old name of a file that has a second one. An editor may have saved under the old name
/// since: that file is not removed, but gets its name back.
fn remove_linked(dir: &Dir, name: &str, inode: u64) -> io::Result<()> {
    if temp_names::is_temporary(name) {
        return remove_file(dir, name);
    }
    let aside = temp_names::of_copy();
    match rename(dir, name, dir, &aside) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        renamed => renamed?,
    }
    if dir.symlink_metadata(&aside)?.ino() == inode {
        return remove_file(dir, &aside);
    }
    dir.hard_link(&aside, dir, name)?;
    machine::names_changed(&[dir]);
    remove_file(dir, &aside)
}

fn rename(from_dir: &Dir, from: &str, to_dir: &Dir, to: &str) -> io::Result<()> {
    from_dir.rename(from, to_dir, to)?;
    machine::names_changed(&[from_dir, to_dir]);
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(dir: &Dir, temporary: &str, name: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    faults::at(Step::Exchange)?;
    renameat_with(dir, temporary, dir, name, RenameFlags::EXCHANGE)?;
    machine::names_changed(&[dir]);
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: &Dir, _: &str, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns true for something that cannot be read as the file of a note.
fn is_other_kind(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge)
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;

    use super::*;

    const TEMPORARY: &str = ".memoranda-0123456789abcdef";

    /// Takes back an exchange by steps that stopped when the new file had the name, after something
    /// happened to that file. Checks what has the name then, and what is left.
    #[track_caller]
    fn check(happens: impl FnOnce(&Dir), expected: Option<&str>, left: &[&str]) {
        let place = tempfile::TempDir::new().unwrap();
        let dir = Dir::open_ambient_dir(place.path(), ambient_authority()).unwrap();
        dir.write("a.md", "new").unwrap();
        dir.write(temp_names::of_displaced(TEMPORARY), "old").unwrap();
        happens(&dir);
        let folder = DirHandle::new(dir.try_clone().unwrap());
        folder.undo_swap(TEMPORARY, "a.md", hash(b"new")).unwrap();
        assert_eq!(dir.read_to_string("a.md").ok().as_deref(), expected);
        let names = dir.entries().unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name != "a.md");
        assert_eq!(names, left);
    }

    #[test]
    fn an_exchange_by_steps_is_taken_back_unless_an_editor_was_there() {
        check(|_| (), Some("old"), &[TEMPORARY]);
        check(|dir| dir.write("a.md", "saved by hand").unwrap(), Some("saved by hand"), &[]);
        check(|dir| dir.remove_file("a.md").unwrap(), None, &[]);
        // The new file has not got the name yet.
        let has_no_name = |dir: &Dir| dir.rename("a.md", dir, TEMPORARY).unwrap();
        check(has_no_name, Some("old"), &[TEMPORARY]);
    }
}
