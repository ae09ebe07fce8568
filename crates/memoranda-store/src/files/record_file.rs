//! A file of fixed-size records after a header line, to which any number of processes append.
//!
//! It is a cache: nothing is forced to disk. The next append removes a record that a crash cut off.
//! Readers detect incomplete records by a checksum.

use std::fs::TryLockError;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::state_file::StateFile;
use super::state_files;

/// The longest first line.
const MAX_LINE: usize = 4096;

/// The right of one process to add, until it is dropped or its process ends.
#[derive(Debug)]
pub struct FileLockGuard {
    _lock: StateFile,
}

/// Takes the claim of that name, if nobody has it.
pub(crate) fn claim(path: &Path) -> io::Result<Option<FileLockGuard>> {
    let lock = state_files::open_private(path)?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(FileLockGuard { _lock: lock })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// The first line of a file; `None` if there is no file, or no such line.
pub(crate) fn first_line(path: &Path) -> io::Result<Option<String>> {
    let file = match state_files::open_read(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let mut bytes = Vec::new();
    file.take(MAX_LINE as u64).read_to_end(&mut bytes)?;
    let line = bytes.split(|&byte| byte == b'\n').next().filter(|line| line.len() < bytes.len());
    Ok(line.and_then(|line| String::from_utf8(line.to_vec()).ok()))
}

/// Reads the bytes of a file from an offset on.
pub(crate) fn read_from(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let mut file = state_files::open_read(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Adds records behind the line, which is written first if the file is new.
pub(crate) fn add(path: &Path, line: &str, size: usize, records: &[u8]) -> io::Result<()> {
    let mut file = state_files::open_private(path)?;
    file.lock()?;
    let length = file.metadata()?.len();
    let begin = line.len() as u64 + 1;
    let end = if length < begin {
        file.set_len(0)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        begin
    } else {
        length - (length - begin) % size.max(1) as u64
    };
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    // One call, so that concurrent readers see whole records or nothing.
    file.write_all(records)
}

/// Replaces a file by one with these records alone.
pub(crate) fn rewrite(path: &Path, line: &str, records: &[u8]) -> io::Result<()> {
    let mut bytes = format!("{line}\n").into_bytes();
    bytes.extend_from_slice(records);
    state_files::replace(path, &bytes)
}

/// Removes files of a folder whose names begin so and that nobody has written to since a time, in
/// nanoseconds since 1970; not the one that is in use.
pub(crate) fn remove_older(used: &Path, begin: &str, time_ns: i128) -> io::Result<()> {
    let Some(folder) = used.parent() else { return Ok(()) };
    for name in state_files::names(folder)?.into_iter().filter(|name| name.starts_with(begin)) {
        let path = folder.join(&name);
        let is_old = state_files::size_and_mtime(&path)?.is_some_and(|(_, mtime)| mtime < time_ns);
        // Files of the current one have its name with a suffix.
        let is_used =
            used.file_name().is_some_and(|used| name.starts_with(&*used.to_string_lossy()));
        if is_old && !is_used {
            state_files::remove(&path)?;
        }
    }
    Ok(())
}
