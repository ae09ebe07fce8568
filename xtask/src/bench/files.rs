//! The raw limits of the disk: a durable write, and a stat of every file.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::Result;

/// A log file with forced appends of one kilobyte.
pub(super) struct AppendLog(File);

impl AppendLog {
    pub(super) fn create(folder: &Path) -> Result<Self> {
        Ok(Self(OpenOptions::new().create(true).append(true).open(folder.join("log"))?))
    }

    /// Appends a kilobyte and forces it to disk.
    pub(super) fn append(&mut self) -> Result<()> {
        self.0.write_all(&[b'm'; 1024])?;
        Ok(self.0.sync_data()?)
    }
}

/// A folder whose files are replaced by a temporary file and a rename.
pub(super) struct ReplacedFiles {
    folder: PathBuf,
    written: usize,
}

impl ReplacedFiles {
    pub(super) fn create(folder: &Path) -> Result<Self> {
        let folder = folder.join("replaced");
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, written: 0 })
    }

    /// Writes a text to a temporary file and renames it into place. Only the log is synced.
    pub(super) fn write(&mut self, text: &str) -> Result<()> {
        let temporary = self.folder.join(".temporary");
        fs::write(&temporary, text)?;
        self.written += 1;
        Ok(fs::rename(&temporary, self.folder.join(format!("{}.md", self.written)))?)
    }
}

/// Walks a folder and stats every file; returns their number and bytes.
pub(super) fn walk(folder: &Path) -> Result<(usize, u64)> {
    let (mut files, mut bytes) = (0, 0);
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files += 1;
                bytes += entry.metadata()?.len();
            }
        }
    }
    Ok((files, bytes))
}
