//! Access to files outside the vault: configuration, archives and files named on the command line.
//! The store accesses notes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door to files that are no notes"
)]

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{CommandError, Result};

/// Reads a text file; `None` if the file is missing.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(failed("read", path, &e)),
    }
}

/// Returns true if other users can read a file. Always false on systems without such permissions.
pub(crate) fn is_readable_by_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Creates a small file that its owner alone can read, unless one exists. It is whole and on disk
/// when this returns; of two processes that create it at once, one wins and both succeed.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let create = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        // A temporary file is readable by its owner alone.
        let mut draft = tempfile::Builder::new().prefix(".memoranda-").tempfile_in(folder)?;
        draft.write_all(bytes)?;
        draft.as_file().sync_all()?;
        match draft.persist_noclobber(path) {
            Err(e) if e.error.kind() != io::ErrorKind::AlreadyExists => return Err(e.error),
            _ => {}
        }
        // The name of the file, and that of a folder which may be new.
        #[cfg(unix)]
        for folder in path.ancestors().skip(1).take(2) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    };
    create().map_err(|e| failed("write", path, &e))
}

/// Rewrites a small text file under an exclusive lock, so that concurrent processes do so one after
/// another. Creates the file and its folder if necessary.
pub(crate) fn update_locked<T>(path: &Path, update: impl FnOnce(&str) -> (String, T)) -> Result<T> {
    let rewrite = || -> io::Result<T> {
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut options = fs::OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (text, outcome) = update(&String::from_utf8_lossy(&bytes));
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)?;
        Ok(outcome)
    };
    rewrite().map_err(|e| failed("write", path, &e))
}

/// Returns a path without links and relative parts.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(|e| failed("find", path, &e))
}

/// Reads the bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| failed("read", path, &e))
}

/// Returns the target of a symlink; `None` if the path is not a symlink.
pub(crate) fn link_target(path: &Path) -> Option<PathBuf> {
    fs::read_link(path).ok()
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| failed("read", path, &e))
}

/// Replaces a file atomically. Creates its folder if necessary and keeps its permissions.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_alike(path, bytes, path)
}

/// Lets the owner, the group and others execute a file.
pub(crate) fn make_executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let allowed = fs::metadata(path).and_then(|found| {
            let mode = found.permissions().mode() | 0o111;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        });
        allowed
            .map_err(|e| CommandError::io(&format!("make {} executable", path.display()), &e))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Returns the sorted names in a folder; empty if the folder is missing.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the first component of a path that is a file where a folder is required.
pub(crate) fn file_on_the_way(root: &Path, below: &str) -> Option<String> {
    let ends = below.char_indices().filter(|(_, c)| *c == '/').map(|(end, _)| end);
    let mut parts = ends.chain([below.len()]).filter_map(|end| below.get(..end));
    parts.find(|part| !part.is_empty() && root.join(part).is_file()).map(str::to_owned)
}

/// Returns the sorted files below a folder up to a depth. Symlinks are not followed, and `enter`
/// selects the folders.
pub(crate) fn files_below(
    folder: &Path,
    depth: usize,
    enter: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in names_in(folder) {
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_file() => found.push(path),
            Ok(about) if about.is_dir() && depth > 0 && enter(&path) => {
                found.extend(files_below(&path, depth - 1, enter));
            }
            _ => {}
        }
    }
    found
}

/// Replaces a file with the permissions of another file, so that no additional user can read it.
pub(crate) fn replace_alike(path: &Path, bytes: &[u8], like: &Path) -> Result<()> {
    let mut draft = temp_file_next_to(path, FilePrivacy::Shared)?;
    draft.write_all(bytes).map_err(|e| failed("write", path, &e))?;
    if let Ok(known) = fs::metadata(like) {
        fs::set_permissions(draft.path(), known.permissions())
            .map_err(|e| failed("write", path, &e))?;
    }
    keep(draft, path)
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed("remove", path, &e)),
        _ => Ok(()),
    }
}

/// Removes an empty folder; returns true if it was removed.
pub(crate) fn remove_empty_folder(path: &Path) -> bool {
    fs::remove_dir(path).is_ok()
}

/// Reads the last bytes of a file.
pub(crate) fn tail(path: &Path, most: u64) -> Result<Vec<u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(io::SeekFrom::Start(length.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|e| failed("read", path, &e))
}

/// Appends bytes to a file, which is made with its folders. `offset` must be the end of the file, so
/// that a part that comes twice or out of order damages nothing.
pub(crate) fn append_part(
    path: &Path,
    offset: u64,
    bytes: &[u8],
    modified_ms: Option<i64>,
) -> Result<()> {
    let append = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
        if file.metadata()?.len() != offset {
            return Err(io::Error::other("a part of it came out of order"));
        }
        file.write_all(bytes)?;
        let since_epoch = modified_ms.and_then(|ms| u64::try_from(ms).ok());
        if let Some(ms) = since_epoch {
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_millis(ms))?;
        }
        Ok(())
    };
    append().map_err(|e| failed("write", path, &e))
}

/// Makes a temporary folder that only this user can open: private notes are copied into it.
pub(crate) fn private_folder(prefix: &str) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

/// Creates a temporary file next to its final path that only the user can read.
pub(crate) fn private_draft(path: &Path) -> Result<tempfile::NamedTempFile> {
    temp_file_next_to(path, FilePrivacy::Private)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FilePrivacy {
    /// Readable as the umask allows.
    Shared,
    /// Readable by the user only.
    Private,
}

fn temp_file_next_to(path: &Path, privacy: FilePrivacy) -> Result<tempfile::NamedTempFile> {
    // A symlink of a dotfile manager is kept; its target is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".memoranda-");
    #[cfg(unix)]
    if privacy == FilePrivacy::Shared {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = privacy;
    fs::create_dir_all(folder)
        .and_then(|()| builder.tempfile_in(folder))
        .map_err(|e| failed("write", &path, &e))
}

/// Moves a temporary file to its final path.
pub(crate) fn keep(draft: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    draft.as_file().sync_all().map_err(|e| failed("write", &path, &e))?;
    draft.persist(&path).map(drop).map_err(|e| failed("write", &path, &e.error))
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::io(&format!("{doing} {}", path.display()), error)
}
