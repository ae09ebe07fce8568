//! The door to other systems' files: a file, a folder, a zip, or what was piped in. Nothing here
//! writes, and nothing follows a link out of a folder.

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

/// What a zip begins with.
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// What an SQLite database begins with.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// Deeper folders than anyone makes.
const MAX_DEPTH: usize = 64;

/// Where memories come from.
pub enum ImportInput {
    /// One file.
    File(PathBuf),
    /// A folder of files.
    Folder(PathBuf),
    /// A zip with files in it.
    Zip(PathBuf),
    /// What was piped in.
    Bytes(Vec<u8>),
}

/// A file in a folder.
pub(crate) struct InputFile {
    /// Where, with `/` between names, relative to the folder.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) modified: Option<Timestamp>,
}

impl ImportInput {
    /// Looks at what is there.
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

    /// What to call it.
    pub fn display_name(&self) -> String {
        match self {
            Self::File(path) | Self::Folder(path) | Self::Zip(path) => path.display().to_string(),
            Self::Bytes(_) => "standard input".to_owned(),
        }
    }

    /// The file or folder; `None` for what was piped in.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Folder(path) | Self::Zip(path) => Some(path),
            Self::Bytes(_) => None,
        }
    }

    /// The first bytes of a file or of what was piped in.
    pub(crate) fn first_bytes(&self, length: usize) -> Result<Vec<u8>> {
        match self {
            Self::File(path) => first_bytes(path, length),
            Self::Bytes(bytes) => Ok(bytes.iter().copied().take(length).collect()),
            Self::Folder(_) | Self::Zip(_) => Ok(Vec::new()),
        }
    }

    /// Whether it is an SQLite database.
    pub(crate) fn is_sqlite(&self) -> Result<bool> {
        Ok(self.first_bytes(SQLITE_MAGIC.len())? == SQLITE_MAGIC)
    }

    /// The names of the files at its top, sorted; a single file has its own name.
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

    /// Opens a file by its name, and tells how far it has been read.
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

    /// Tells how much there is in several files, before the first is opened.
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

    /// Where a file of that name lies on the disk.
    fn path_of_file(&self, path: &Path, name: &str) -> PathBuf {
        match self {
            Self::Folder(_) => path.join(name),
            _ => path.to_owned(),
        }
    }

    /// All of a file, as text; bytes that are none are marked.
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

    /// All of a single file.
    pub(crate) fn read_all(&self, sink: &mut ImportSink<'_>) -> Result<String> {
        let name = self.file_names()?.into_iter().next().unwrap_or_default();
        self.read_text(&name, sink)
    }
}

/// Every file below a folder that is not hidden and that no file of rules leaves out, sorted;
/// `general` is one that counts for every folder. Links are not followed, and what cannot be
/// listed is a problem, not an end.
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

/// A single file as an entry.
pub(crate) fn input_file(path: &Path, name: String) -> Result<InputFile> {
    let kind = fs::metadata(path).map_err(ImportError::io(format!("read {}", path.display())))?;
    let modified = kind.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Ok(InputFile { name, path: path.to_owned(), size: kind.len(), modified })
}

/// The names of the folders right below a folder, sorted.
pub(crate) fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// A file's bytes.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(ImportError::io(format!("read {}", path.display())))
}

/// A file's text; `None` if there is no such file, or it is no text.
pub(crate) fn read_text_file(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The beginning of a file, as text.
pub(crate) fn read_prefix(path: &Path, length: usize) -> Option<String> {
    first_bytes(path, length).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The last name of a path.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Writes a file of an export that must not be there yet, and the folders above it.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::create_new(path)?.write_all(bytes)
    };
    write().map_err(ImportError::io(format!("write {}", path.display())))
}

/// Whether a folder is missing or has nothing in it.
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
