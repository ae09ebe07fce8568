//! Memoranda's own files: the log, the lock, the checkpoint, the list of projects. They lie in
//! places that the person chose, so they are opened by their paths.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::state_file::StateFile;
use super::{FilePrivacy, folder, no_follow, owner};
use crate::faults::{self, Step};
use crate::machine;

/// Makes a folder and those above it.
pub(crate) fn create_dir(path: &Path, privacy: FilePrivacy) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let created = create_missing(path, privacy);
    machine::names_changed_at(&[path]);
    created
}

fn create_missing(path: &Path, privacy: FilePrivacy) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    for folder in missing.into_iter().rev() {
        let (above, name) = folder_of(folder)?;
        match above.create_dir_with(name, &folder::dir_builder(privacy)) {
            Ok(()) => {
                owner::give_folder_to_owner(&above, name);
                if privacy == FilePrivacy::Private && is_in_vault_state(folder) {
                    owner::share_folder_with_group(&above, name);
                }
            }
            // Another process made it meanwhile.
            Err(_) if folder.is_dir() => {}
            Err(e) => return Err(e),
        }
    }
    if path.is_dir() { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
}

/// Returns the handle of the folder that contains a path, and the name in it.
fn folder_of(path: &Path) -> io::Result<(Dir, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or_else(|| Path::new("."));
    Ok((Dir::open_ambient_dir(above, ambient_authority())?, name))
}

/// Returns true for a path below the folder of a vault that has its log. Groups can share only that:
/// tokens and other files of one account lie elsewhere.
fn is_in_vault_state(path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.any(|folder| folder.file_name().is_some_and(|name| name == ".memoranda"))
}

/// Access to an opened file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileAccess {
    ReadWrite,
    Append,
    /// The file is emptied.
    Replace,
}

/// Opens a file, made if need be.
fn open_or_make(path: &Path, access: FileAccess, privacy: FilePrivacy) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match access {
        FileAccess::ReadWrite => options.read(true).write(true),
        FileAccess::Append => options.append(true),
        FileAccess::Replace => options.write(true).truncate(true),
    };
    #[cfg(unix)]
    if privacy == FilePrivacy::Private {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    match options.open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    match make_file(path, access, privacy) {
        // Another process made it meanwhile, or a link leads to a file that is missing.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => options.create(true).open(path),
        made => made,
    }
}

/// Makes a file that does not exist.
fn make_file(path: &Path, access: FileAccess, privacy: FilePrivacy) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    let mut options = no_follow();
    match access {
        FileAccess::ReadWrite => options.read(true).write(true),
        FileAccess::Append => options.append(true),
        FileAccess::Replace => options.write(true),
    };
    options.create_new(true);
    #[cfg(unix)]
    if privacy == FilePrivacy::Private {
        use cap_std::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let file = folder.open_with(name, &options)?;
    owner::give_to_folder_owner(&folder, &file);
    if privacy == FilePrivacy::Private && is_in_vault_state(path) {
        owner::share_with_group(&folder, &file);
    }
    Ok(file.into_std())
}

/// Opens a file for reading and writing, made if need be, readable by its owner alone.
pub(crate) fn open_private(path: &Path) -> io::Result<StateFile> {
    faults::at(Step::AnyCall)?;
    let file = open_or_make(path, FileAccess::ReadWrite, FilePrivacy::Private)?;
    machine::names_changed_at(&[path]);
    Ok(StateFile::new(file))
}

/// Opens a file for adding at its end, made if need be, readable by its owner alone.
pub(crate) fn open_append(path: &Path) -> io::Result<StateFile> {
    faults::at(Step::AnyCall)?;
    let file = open_or_make(path, FileAccess::Append, FilePrivacy::Private)?;
    machine::names_changed_at(&[path]);
    Ok(StateFile::new(file))
}

/// Opens a file for reading.
pub(crate) fn open_read(path: &Path) -> io::Result<StateFile> {
    faults::at(Step::AnyCall)?;
    let file = File::open(path)?;
    machine::reach(&file)?;
    Ok(StateFile::new(file))
}

/// Reads a small file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    faults::at(Step::AnyCall)?;
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(mut file) => {
            machine::reach(&file)?;
            file.read_to_end(&mut bytes).map(|_| Some(bytes))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Replaces a small file so that a crash leaves either the old or the new bytes.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    faults::at(Step::Checkpoint)?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", machine::process_id()));
    let temporary = Path::new(&temporary);
    let written = (|| {
        let mut file = open_private(temporary)?;
        file.set_len(0)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        rename(temporary, path)
    })();
    if written.is_err() {
        remove(temporary).ok();
    }
    written?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// Makes a small file whole and durable, unless there is one already.
pub(crate) fn create_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", machine::process_id()));
    let temporary = Path::new(&temporary);
    let made = open_private(temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| faults::at(Step::AnyCall))
        .and_then(|()| fs::hard_link(temporary, path));
    machine::names_changed_at(&[path]);
    remove(temporary).ok();
    match made {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    // The folder may be as new as the file, and so may the one above it.
    for folder in path.ancestors().skip(1).take(2) {
        sync_dir(folder)?;
    }
    Ok(())
}

/// Forces a folder's names to disk, where the system can.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    if cfg!(unix) {
        let folder = File::open(path)?;
        machine::reach(&folder)?;
        folder.sync_all()?;
        machine::names_forced(&folder);
    }
    Ok(())
}

/// Forces everything on a folder's file system to disk with one call. Returns false where the
/// system has no such call, and nothing was done.
pub(crate) fn sync_file_system(path: &Path) -> io::Result<bool> {
    faults::at(Step::AnyCall)?;
    faults::at(Step::FileSync)?;
    #[cfg(target_os = "linux")]
    {
        let folder = File::open(path)?;
        machine::reach(&folder)?;
        // A simulated disk is forced by its machine; the real one would make others wait.
        if !machine::is_simulated() {
            rustix::fs::syncfs(&folder)?;
        }
        machine::all_forced(&folder);
        Ok(true)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        Ok(false)
    }
}

/// The names of a folder's entries; none if there is no such folder.
pub(crate) fn names(path: &Path) -> io::Result<Vec<String>> {
    faults::at(Step::AnyCall)?;
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Removes a folder if nothing is in it.
pub(crate) fn remove_empty_dir(path: &Path) {
    machine::turn().and_then(|()| fs::remove_dir(path)).ok();
    machine::names_changed_at(&[path]);
}

/// Returns true if the path is a real folder, not a link to one.
pub(crate) fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Kind of a file system entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathKind {
    Folder,
    Link,
    Other,
}

/// Returns the kind of an entry; `None` if nothing has this name.
pub(crate) fn kind(path: &Path) -> io::Result<Option<PathKind>> {
    faults::at(Step::AnyCall)?;
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(Some(PathKind::Folder)),
        Ok(metadata) if metadata.is_symlink() => Ok(Some(PathKind::Link)),
        Ok(_) => Ok(Some(PathKind::Other)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Returns true if a symbolic link has this name.
pub(crate) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Lets a file that is there be seen as written to; it is empty then.
pub(crate) fn touch(path: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    OpenOptions::new().write(true).truncate(true).open(path)?;
    machine::written_at(path);
    Ok(())
}

/// Removes a file; a missing one is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let removed = fs::remove_file(path);
    machine::names_changed_at(&[path]);
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a file so that no power cut brings it back; a missing file is fine.
pub(crate) fn remove_durably(path: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let removed = fs::remove_file(path);
    machine::names_changed_at(&[path]);
    match removed {
        // An earlier removal may have failed before the folder was forced.
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    match path.parent().map_or(Ok(()), sync_dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}

/// Removes an empty folder; a missing one is fine.
pub(crate) fn remove_dir(path: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let removed = fs::remove_dir(path);
    machine::names_changed_at(&[path]);
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Removes a folder of our own with everything in it; a missing one is fine.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let removed = fs::remove_dir_all(path);
    machine::names_changed_at(&[path]);
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Renames one of our own files.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    fs::rename(from, to)?;
    machine::names_changed_at(&[from, to]);
    Ok(())
}

/// Size and time of last modification in nanoseconds; `None` if there is no such file.
pub(crate) fn size_and_mtime(path: &Path) -> io::Result<Option<(u64, i128)>> {
    faults::at(Step::AnyCall)?;
    match fs::metadata(path) {
        Ok(metadata) => {
            #[cfg(all(feature = "faults", target_os = "linux"))]
            if let Some(node) = simulated_node(&metadata) {
                return Ok(Some((metadata.len(), node.mtime_ns.into())));
            }
            let modified = metadata.modified()?;
            let since_1970 = modified
                .duration_since(std::time::UNIX_EPOCH)
                .map_or_else(|e| -(e.duration().as_nanos() as i128), |d| d.as_nanos() as i128);
            Ok(Some((metadata.len(), since_1970)))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Writes a small file that only a running machine needs, without force.
pub(crate) fn write_plain(path: &Path, bytes: &[u8]) -> io::Result<()> {
    faults::at(Step::AnyCall)?;
    let written = open_or_make(path, FileAccess::Replace, FilePrivacy::Shared)
        .and_then(|mut file| file.write_all(bytes));
    machine::written_at(path);
    written
}

/// Device and inode; `None` if there is no such file, or the system has no such numbers.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs::metadata(path).ok()?;
        #[cfg(all(feature = "faults", target_os = "linux"))]
        if let Some(node) = simulated_node(&metadata) {
            return Some((node.device, node.inode));
        }
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        fs::metadata(path).ok().map(|_| (0, 0))
    }
}

/// Device and inode of an open file.
pub(crate) fn identity_of(file: &StateFile) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = file.metadata().ok()?;
        #[cfg(all(feature = "faults", target_os = "linux"))]
        if let Some(node) = simulated_node(&metadata) {
            return Some((node.device, node.inode));
        }
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        file.metadata().ok().map(|_| (0, 0))
    }
}

/// Identifies a folder on its file system, the same on every machine to which the drive is attached.
/// `None` if the file system has no identity.
pub(crate) fn place(folder: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let (_, inode) = identity(folder)?;
        let file_system = rustix::fs::statvfs(folder).ok()?.f_fsid;
        (file_system != 0).then(|| format!("{file_system:016x}-{inode:x}"))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

#[cfg(all(feature = "faults", target_os = "linux"))]
fn simulated_node(metadata: &fs::Metadata) -> Option<crate::faults::SimulatedNode> {
    use std::os::unix::fs::MetadataExt as _;
    machine::simulated(|machine| machine.node(metadata.ino())).flatten()
}

/// Returns true if an open file no longer has a name.
pub(crate) fn is_unlinked(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        metadata.nlink() == 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}
