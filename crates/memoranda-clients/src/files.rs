//! Access to files outside the vault: clients' files, transcripts and the lists that set-up keeps.
//! The store accesses notes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door to files that are no notes"
)]

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use crate::error::{ClientsError, Result};

/// Reads a text file; `None` if the file is missing.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ClientsError::io("read", path)(e)),
    }
}

/// Rewrites a small text file under an exclusive lock, so that concurrent processes do so one after
/// another. Creates the file and its folder if necessary.
pub fn update_locked<T>(path: &Path, update: impl FnOnce(&str) -> (String, T)) -> Result<T> {
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
    rewrite().map_err(ClientsError::io("write", path))
}

/// Replaces a file atomically. Creates its folder if necessary and keeps its permissions.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_alike(path, bytes, path)
}

/// Replaces a file atomically. A new file can be read by the user alone; an existing file keeps its
/// permissions.
pub fn replace_private(path: &Path, bytes: &[u8]) -> Result<()> {
    if path.exists() {
        return replace(path, bytes);
    }
    let mut draft = private_draft(path)?;
    draft.write_all(bytes).map_err(ClientsError::io("write", path))?;
    keep(draft, path)
}

/// Replaces a file with the permissions of another file, so that no additional user can read it.
pub fn replace_alike(path: &Path, bytes: &[u8], like: &Path) -> Result<()> {
    let mut draft = temp_file_next_to(path, FilePrivacy::Shared)?;
    draft.write_all(bytes).map_err(ClientsError::io("write", path))?;
    if let Ok(known) = fs::metadata(like) {
        fs::set_permissions(draft.path(), known.permissions())
            .map_err(ClientsError::io("write", path))?;
    }
    keep(draft, path)
}

/// Lets the owner, the group and others execute a file.
pub fn make_executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let allowed = fs::metadata(path).and_then(|found| {
            let mode = found.permissions().mode() | 0o111;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        });
        allowed.map_err(ClientsError::io("make executable", path))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Removes a file if it exists.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(ClientsError::io("remove", path)(e)),
        _ => Ok(()),
    }
}

/// Removes an empty folder; returns true if it was removed.
pub fn remove_empty_folder(path: &Path) -> bool {
    fs::remove_dir(path).is_ok()
}

/// Reads the last bytes of a file.
pub fn tail(path: &Path, most: u64) -> Result<Vec<u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(io::SeekFrom::Start(length.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(ClientsError::io("read", path))
}

/// Makes a temporary folder that only this user can open: private notes are copied into it.
pub fn private_folder(prefix: &str) -> io::Result<tempfile::TempDir> {
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
pub fn private_draft(path: &Path) -> Result<tempfile::NamedTempFile> {
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
        .map_err(ClientsError::io("write", &path))
}

/// Moves a temporary file to its final path.
pub fn keep(draft: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    draft.as_file().sync_all().map_err(ClientsError::io("write", &path))?;
    draft.persist(&path).map(drop).map_err(|e| ClientsError::io("write", &path)(e.error))
}
