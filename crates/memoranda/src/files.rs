//! Access to files outside the vault: configuration, archives and files named on the command line.
//! The store accesses notes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door to files that are no notes"
)]

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub(crate) use memoranda_clients::files::{
    keep, private_draft, private_folder, read_text, remove, replace,
};

use crate::error::{CommandError, Result};

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

fn failed(doing: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::io(&format!("{doing} {}", path.display()), error)
}
