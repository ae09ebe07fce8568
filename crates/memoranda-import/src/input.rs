//! File access for imports and exports: a file, a folder, a zip archive, or standard input. Inputs
//! are never written, and symlinks in folders are not followed.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door to files of other systems, and to what is exported"
)]

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memoranda_engine::{DirEntryKind, IgnoreRules};

use crate::error::{ImportError, Result};
use crate::sink::ImportSink;

/// First bytes of a zip archive.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// First bytes of an SQLite database.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// Maximum depth of folders that are read.
const MAX_DEPTH: usize = 64;

/// Input of an import.
pub enum ImportInput {
    /// One file.
    File(PathBuf),
    /// A folder of files.
    Folder(PathBuf),
    /// A zip archive of files.
    Zip(PathBuf),
    /// Bytes of standard input.
    Bytes(Vec<u8>),
}

/// A file of a folder.
pub(crate) struct InputFile {
    /// Path relative to the folder, with `/` as the separator.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) modified: Option<Timestamp>,
}

impl ImportInput {
    /// Opens a path and detects whether it is a folder, a zip archive or a file.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = path.display();
        let kind = fs::metadata(path).map_err(ImportError::io(format!("read {shown}")))?;
        if kind.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        Ok(if first_bytes(path, ZIP_MAGIC.len())? == ZIP_MAGIC {
            Self::Zip(path.to_owned())
        } else {
            Self::File(path.to_owned())
        })
    }

    /// Returns a name for messages.
    pub fn display_name(&self) -> String {
        match self {
            Self::File(path) | Self::Folder(path) | Self::Zip(path) => path.display().to_string(),
            Self::Bytes(_) => "standard input".to_owned(),
        }
    }

    /// Returns the path; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Folder(path) | Self::Zip(path) => Some(path),
            Self::Bytes(_) => None,
        }
    }

    /// Returns the first bytes of a file or of standard input.
    pub(crate) fn first_bytes(&self, length: usize) -> Result<Vec<u8>> {
        match self {
            Self::File(path) => first_bytes(path, length),
            Self::Bytes(bytes) => Ok(bytes.iter().copied().take(length).collect()),
            Self::Folder(_) | Self::Zip(_) => Ok(Vec::new()),
        }
    }

    /// Returns true if the input is an SQLite database.
    pub(crate) fn is_sqlite(&self) -> Result<bool> {
        Ok(self.first_bytes(SQLITE_MAGIC.len())? == SQLITE_MAGIC)
    }

    /// Returns the sorted names of the top-level files. A single file has its own name.
    pub(crate) fn file_names(&self) -> Result<Vec<String>> {
        let mut names = match self {
            Self::Bytes(_) => vec!["standard input".to_owned()],
            Self::File(path) => vec![file_name(path)],
            Self::Folder(path) => {
                let shown = path.display();
                let entries =
                    fs::read_dir(path).map_err(ImportError::io(format!("list {shown}")))?;
                entries.flatten().map(|entry| entry.file_name().to_string_lossy().into()).collect()
            }
            Self::Zip(path) => {
                let zip = open_zip(path)?;
                zip.file_names().flatten().map(std::borrow::Cow::into_owned).collect()
            }
        };
        names.sort();
        Ok(names)
    }

    /// Opens a file by name and reports the reading progress.
    pub(crate) fn with_file<R>(
        &self,
        name: &str,
        sink: &mut ImportSink<'_>,
        read: impl FnOnce(&mut dyn Read, &mut ImportSink<'_>) -> Result<R>,
    ) -> Result<R> {
        let doing = || format!("read {name}");
        match self {
            Self::Bytes(bytes) => {
                let from = sink.counting_reader(Cursor::new(bytes), bytes.len() as u64);
                read(&mut BufReader::new(from), sink)
            }
            Self::File(path) | Self::Folder(path) => {
                let path = self.path_of_file(path, name);
                let file = File::open(path).map_err(ImportError::io(doing()))?;
                let size = file.metadata().map_or(0, |file| file.len());
                read(&mut BufReader::new(sink.counting_reader(file, size)), sink)
            }
            Self::Zip(path) => {
                let mut zip = open_zip(path)?;
                let file = zip.by_name(name).map_err(|e| zip_error(path, &e))?;
                let size = file.size();
                read(&mut sink.counting_reader(file, size), sink)
            }
        }
    }

    /// Sets the total size of several files before the first is opened.
    pub(crate) fn expect_files(&self, names: &[String], sink: &ImportSink<'_>) -> Result<()> {
        let sizes: u64 = match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(path) | Self::Folder(path) => {
                let places = names.iter().map(|name| self.path_of_file(path, name));
                places.map(|place| fs::metadata(place).map_or(0, |file| file.len())).sum()
            }
            Self::Zip(path) => {
                let mut zip = open_zip(path)?;
                names.iter().map(|name| zip.by_name(name).map_or(0, |file| file.size())).sum()
            }
        };
        sink.set_total(sizes);
        Ok(())
    }

    /// Returns the path of a file by its name.
    fn path_of_file(&self, path: &Path, name: &str) -> PathBuf {
        match self {
            Self::Folder(_) => path.join(name),
            _ => path.to_owned(),
        }
    }

    /// Reads a file as text. Invalid UTF-8 is replaced.
    pub(crate) fn read_text(&self, name: &str, sink: &mut ImportSink<'_>) -> Result<String> {
        self.with_file(name, sink, |from, _| {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).map_err(ImportError::io(format!("read {name}")))?;
            Ok(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
            })
        })
    }

    /// Reads the only file as text.
    pub(crate) fn read_all(&self, sink: &mut ImportSink<'_>) -> Result<String> {
        let name = self.file_names()?.into_iter().next().unwrap_or_default();
        self.read_text(&name, sink)
    }
}

/// Returns the sorted files of a folder and its subfolders without hidden and ignored files.
/// `general` is an ignore file for every folder. Symlinks are not followed; a folder that cannot be
/// listed is reported as a problem.
pub(crate) fn files_below(
    folder: &Path,
    general: Option<&Path>,
    sink: &mut ImportSink<'_>,
) -> Vec<InputFile> {
    let mut rules = IgnoreRules::default();
    if let Some((place, text)) = general.and_then(|place| Some((place, fs::read(place).ok()?))) {
        rules = rules.with_general(&place.display().to_string(), &text);
    }
    let mut found = Vec::new();
    let mut folders = vec![(folder.to_owned(), String::new(), 0, rules)];
    while let Some((folder, prefix, depth, rules)) = folders.pop() {
        let rules = rules.within(&prefix, |name| fs::read(folder.join(name)).ok());
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) => {
                sink.add_problem(folder.display().to_string(), e.to_string());
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let Ok(kind) = entry.metadata() else { continue };
            let what = if kind.is_dir() { DirEntryKind::Folder } else { DirEntryKind::File };
            if rules.ignoring(&name, what).is_some() {
                sink.skip(match what {
                    DirEntryKind::File => "files that .gitignore or the like names",
                    DirEntryKind::Folder => "folders that .gitignore or the like names",
                });
            } else if kind.is_dir() && depth < MAX_DEPTH {
                folders.push((entry.path(), name, depth + 1, rules.clone()));
            } else if kind.is_file() {
                let modified = kind.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
                found.push(InputFile { name, path: entry.path(), size: kind.len(), modified });
            } else if kind.is_symlink() {
                sink.skip("links to other places");
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Returns a single file.
pub(crate) fn input_file(path: &Path, name: String) -> Result<InputFile> {
    let kind = fs::metadata(path).map_err(ImportError::io(format!("read {}", path.display())))?;
    let modified = kind.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Ok(InputFile { name, path: path.to_owned(), size: kind.len(), modified })
}

/// Returns the sorted direct subfolders of a folder.
pub(crate) fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Reads the bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(ImportError::io(format!("read {}", path.display())))
}

/// Reads a text file; `None` if the file is missing or contains invalid UTF-8.
pub(crate) fn read_text_file(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Reads the first bytes of a file as text.
pub(crate) fn read_prefix(path: &Path, length: usize) -> Option<String> {
    first_bytes(path, length).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the last component of a path.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Creates a file of an export and its folders. Fails if the file exists.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::create_new(path)?.write_all(bytes)
    };
    write().map_err(ImportError::io(format!("write {}", path.display())))
}

/// Returns true if a folder is missing or empty.
pub(crate) fn is_empty_or_missing(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(e) => e.kind() == io::ErrorKind::NotFound,
    }
}

fn first_bytes(path: &Path, length: usize) -> Result<Vec<u8>> {
    let doing = || format!("read {}", path.display());
    let file = File::open(path).map_err(ImportError::io(doing()))?;
    let mut head = Vec::new();
    file.take(length as u64).read_to_end(&mut head).map_err(ImportError::io(doing()))?;
    Ok(head)
}

fn open_zip(path: &Path) -> Result<zip::ZipArchive<impl Read + Seek + use<>>> {
    let file = File::open(path).map_err(ImportError::io(format!("read {}", path.display())))?;
    zip::ZipArchive::new(BufReader::new(file)).map_err(|e| zip_error(path, &e))
}

fn zip_error(path: &Path, error: &zip::result::ZipError) -> ImportError {
    ImportError::NotThat(format!("{} cannot be unpacked: {error}", path.display()))
}
