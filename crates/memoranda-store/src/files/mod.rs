//! The only module that reads and writes files of projects. Every file is opened relative to the
//! handle of its project's folder, so that no name can lead elsewhere.
//!
//! Symbolic links are never followed. A file is replaced by exchanging it with a temporary file in
//! its folder. The displaced file is checked before it is removed, so that a save of an editor in
//! between is noticed.

#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod file_print;
mod folder;
pub(crate) mod ignore_rules;
pub(crate) mod name_lookup;
pub(crate) mod owner;
pub(crate) mod record_file;
pub(crate) mod state_file;
pub(crate) mod state_files;
pub(crate) mod temp_names;
mod walk;
mod walk_queue;
pub(crate) mod write_obstacle;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::rc::Rc;

use cap_fs_ext::{DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use memoranda_core::id::ContentHash;
use memoranda_core::path::NotePath;

use crate::error::{ErrorContext as _, NotAFileKind, Result, StoreError};
use crate::faults::{self, Step};
use crate::machine;

pub(crate) use file_print::FilePrint;
pub(crate) use folder::{DirHandle, OpenedFile, is_partly_done};
pub(crate) use walk::{DirWalk, WalkedFile, walk, walk_passing_over, walk_subfolder};

/// The largest file that is read into memory or the log.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Treatment of a project's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileRules {
    /// Readers of new files.
    pub privacy: FilePrivacy,
    /// Treatment of files with further hard links.
    pub hard_links: HardLinkPolicy,
}

/// Readers of created files and folders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilePrivacy {
    /// Access by the system's defaults.
    Shared,
    /// The owner alone: files 0600, folders 0700.
    Private,
}

/// Treatment of a file that has another name, perhaps outside the project.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HardLinkPolicy {
    /// Not read: its other name may be anywhere.
    Refuse,
    /// Read like any file; writing never changes the file under its other name.
    Allow,
}

/// Metadata of a file: cheap to read, and enough to detect a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FileStat {
    /// Bytes.
    pub size: u64,
    /// Time of last modification, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Time of last change of the inode, where the system has one.
    pub ctime_ns: i64,
    /// The inode, or its like.
    pub inode: u64,
}

/// A file as it was read: its bytes, their hash, and what the system said of it.
#[derive(Clone, Debug)]
pub struct FileContent {
    /// The content.
    pub bytes: Vec<u8>,
    /// Hash of the bytes.
    pub hash: ContentHash,
    /// Size and times.
    pub stat: FileStat,
    /// Permission bits, where the system has them.
    pub(crate) mode: u32,
    /// Time when reading began: later changes are not in the bytes.
    pub(crate) checked_ns: i64,
}

/// Content of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirListing {
    /// Bytes of the folder itself, as the system counts them.
    pub size: u64,
    /// Plain files and folders, sorted by name.
    pub entries: Vec<DirEntry>,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: String,
    /// Kind of the entry.
    pub kind: DirEntryKind,
    /// Bytes, as the system counts them.
    pub size: u64,
}

/// Kind of an entry in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirEntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
}

/// Files at or below a path in a project.
#[derive(Clone, Debug, Default)]
pub struct Subtree {
    /// The file itself, or all files in the folder that are not hidden or ignored. If the named
    /// folder is itself hidden or ignored, its files are included.
    pub files: Vec<NotePath>,
    /// The folders they lie in, the deepest first.
    pub folders: Vec<NotePath>,
    /// Files and folders in it that are hidden or ignored: nobody's notes. Folders end in a slash.
    pub passed_over: Vec<String>,
}

/// The hash that names a content everywhere: in the log, the index and in expectations.
pub fn hash(bytes: &[u8]) -> ContentHash {
    ContentHash(*blake3::hash(bytes).as_bytes())
}

/// Refuses what a program keeps for itself within a project.
pub(crate) fn check_owner(path: &NotePath) -> Result<()> {
    if path.is_in_control_dir() {
        Err(StoreError::NotAFile { path: path.to_string(), kind: NotAFileKind::ControlDir })
    } else {
        Ok(())
    }
}

/// State of a folder before it was to be created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderState {
    There,
    Made,
}

/// The handle of a project's folder.
pub(crate) struct ProjectRoot {
    dir: Dir,
    rules: FileRules,
}

impl ProjectRoot {
    /// Opens a folder that exists.
    pub(crate) fn open(path: &Path, rules: FileRules) -> io::Result<Self> {
        faults::at(Step::OpenFolder)?;
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { dir, rules })
    }

    /// Opens a folder of the vault; a link in its place is not followed.
    pub(crate) fn open_in_vault(path: &Path, rules: FileRules) -> io::Result<Self> {
        faults::at(Step::OpenFolder)?;
        let (vault, name) = vault_of(path)?;
        Ok(Self { dir: vault.open_dir_nofollow(name)?, rules })
    }

    /// Makes a folder of the vault, if nothing has its name.
    pub(crate) fn make_in_vault(path: &Path, rules: FileRules) -> io::Result<FolderState> {
        faults::at(Step::AnyCall)?;
        let (vault, name) = vault_of(path)?;
        match vault.create_dir_with(name, &folder::dir_builder(rules.privacy)) {
            Ok(()) => {
                owner::give_folder_to_owner(&vault, name);
                machine::names_changed(&[&vault]);
                Ok(FolderState::Made)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(FolderState::There),
            Err(e) => Err(e),
        }
    }

    /// Returns device and inode, which distinguish this folder from another of the same name.
    pub(crate) fn identity(&self) -> io::Result<(u64, u64)> {
        faults::at(Step::AnyCall)?;
        machine::reach(&self.dir)?;
        let metadata = self.dir.dir_metadata()?;
        Ok(identity_of(&metadata))
    }

    /// Reads a file; `None` if it does not exist.
    pub(crate) fn read(&self, path: &NotePath) -> Result<Option<FileContent>> {
        let Some(folder) = self.folder(path)? else { return Ok(None) };
        folder.read(path.file_name(), self.rules.hard_links).map_err(|e| self.explain(path, e))
    }

    /// Opens a file of any size; `None` if it does not exist.
    pub(crate) fn open_file(&self, path: &NotePath) -> Result<Option<OpenedFile>> {
        let Some(folder) = self.folder(path)? else { return Ok(None) };
        folder.open(path.file_name(), self.rules.hard_links).map_err(|e| self.explain(path, e))
    }

    /// Returns the metadata of a file; `None` if it does not exist.
    pub(crate) fn stat(&self, path: &NotePath) -> Result<Option<FileStat>> {
        let Some(folder) = self.folder(path)? else { return Ok(None) };
        folder.stat(path.file_name()).map_err(|e| self.explain(path, e))
    }

    /// Returns true if anything has this path.
    pub(crate) fn has(&self, path: &NotePath) -> bool {
        self.dir.symlink_metadata(path.as_str()).is_ok()
    }

    /// Returns true if the path names a folder.
    pub(crate) fn is_folder(&self, path: &NotePath) -> bool {
        self.dir.symlink_metadata(path.as_str()).is_ok_and(|m| m.is_dir())
    }

    /// The folder that holds the file; `None` if it does not exist.
    pub(crate) fn folder(&self, path: &NotePath) -> Result<Option<DirHandle>> {
        match self.descend(path.parent().unwrap_or("")) {
            Ok(dir) => Ok(Some(DirHandle::new(dir))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.explain(path, e)),
        }
    }

    /// The folder that holds the file, made if need be.
    pub(crate) fn make_folder(&self, path: &NotePath) -> Result<DirHandle> {
        self.make(path, path.parent().unwrap_or_default(), &mut Vec::new())
    }

    /// Like [`ProjectRoot::make_folder`]; the folders that did not exist are added to `made`.
    pub(crate) fn make_folder_noting(
        &self,
        path: &NotePath,
        made: &mut Vec<String>,
    ) -> Result<DirHandle> {
        self.make(path, path.parent().unwrap_or_default(), made)
    }

    /// The folder itself, made if need be.
    pub(crate) fn make_folder_at(&self, folder: &NotePath) -> Result<DirHandle> {
        self.make(folder, folder.as_str(), &mut Vec::new())
    }

    fn make(&self, path: &NotePath, folder: &str, made: &mut Vec<String>) -> Result<DirHandle> {
        let mut dir = self.dir.try_clone().doing(|| format!("open {path:?}"))?;
        let mut end = 0;
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            end += name.len() + usize::from(end > 0);
            let builder = folder::dir_builder(self.rules.privacy);
            let created = faults::at(Step::AnyCall)
                .and_then(|()| machine::reach(&dir))
                .and_then(|()| dir.create_dir_with(name, &builder));
            match created {
                Ok(()) => {
                    owner::give_folder_to_owner(&dir, name);
                    machine::names_changed(&[&dir]);
                    made.push(folder.get(..end).unwrap_or(folder).to_owned());
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(self.explain(path, e)),
            }
            dir = dir.open_dir_nofollow(name).map_err(|e| self.explain(path, e))?;
        }
        Ok(DirHandle::new(dir))
    }

    /// Forces a file and its name to disk; only the name of one that does not exist.
    pub(crate) fn force(&self, path: &NotePath) -> Result<()> {
        if let Some(folder) = self.folder(path)? {
            folder.sync_file(path.file_name()).doing(|| format!("force {path} to disk"))?;
        }
        self.force_names(path)
    }

    /// Forces the name of a file to disk, and those of the folders above it, which may be as new.
    pub(crate) fn force_names(&self, path: &NotePath) -> Result<()> {
        let mut above = Some(path.clone());
        while let Some(place) = above {
            if let Some(folder) = self.folder(&place)? {
                folder.sync_names().doing(|| format!("force {path} to disk"))?;
            }
            above = place.parent().and_then(|parent| NotePath::parse(parent).ok());
        }
        Ok(())
    }

    /// Removes a folder if nothing is left in it.
    pub(crate) fn prune(&self, folder: &NotePath) {
        let Ok(Some(above)) = self.folder(folder) else { return };
        above.remove_empty_folder(folder.file_name());
    }

    /// Everything at or below a place: files of every kind, and folders, the deepest first.
    pub(crate) fn below(&self, place: &NotePath) -> Result<Subtree> {
        check_owner(place)?;
        let mut below = Subtree::default();
        let Some(parent) = self.folder(place)? else { return Ok(below) };
        match parent.stat(place.file_name()) {
            Ok(Some(_)) => below.files.push(place.clone()),
            Ok(None) => {}
            Err(_) if self.is_folder(place) => {
                let dir = self.descend(place.as_str()).map_err(|e| self.explain(place, e))?;
                self.gather(dir, place, &mut below)?;
            }
            Err(e) => return Err(self.explain(place, e)),
        }
        Ok(below)
    }

    /// The plain files and folders in a folder, sorted by name; `None` if it is no folder. The
    /// top of the project is the folder without a path.
    pub(crate) fn entries(&self, folder: Option<&NotePath>) -> Result<Option<DirListing>> {
        folder.map_or(Ok(()), check_owner)?;
        let place = folder.map_or("", NotePath::as_str);
        if folder.is_some_and(|folder| !self.is_folder(folder)) {
            return Ok(None);
        }
        let doing = || format!("list {place}");
        let dir = self.descend(place).doing(doing)?;
        let mut entries = Vec::new();
        for entry in dir.entries().doing(doing)? {
            // Links, special files and unreadable entries are left out.
            let Ok(entry) = entry else { continue };
            let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata())
            else {
                continue;
            };
            let kind = match () {
                () if metadata.is_symlink() => continue,
                () if metadata.is_file() => DirEntryKind::File,
                () if metadata.is_dir() => DirEntryKind::Folder,
                () => continue,
            };
            entries.push(DirEntry { name, kind, size: metadata.len() });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let size = dir.dir_metadata().doing(doing)?.len();
        Ok(Some(DirListing { size, entries }))
    }

    /// All names in the folder of a file; none if it cannot be listed.
    pub(crate) fn names_beside(&self, path: &NotePath) -> Vec<String> {
        let folder = self.descend(path.parent().unwrap_or_default());
        let Ok(entries) = folder.and_then(|folder| folder.entries()) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.collect()
    }

    /// Every plain file of the project that has a portable name, and how many things are none.
    /// Leftovers of dead writes do not count.
    pub(crate) fn everything(&self) -> Result<(Vec<NotePath>, usize)> {
        let mut files = Vec::new();
        let dir = self.dir.try_clone().doing(|| "list the project".into())?;
        let left_out = gather_plain(dir, &mut files).doing(|| "list the project".into())?;
        files.sort_unstable();
        Ok((files, left_out))
    }

    fn gather(&self, dir: Dir, place: &NotePath, below: &mut Subtree) -> Result<()> {
        let rules = self.rules_above(place).doing(|| format!("list {place}"))?;
        // Folders can lie deeper in each other than a stack of calls could go.
        let mut pending = vec![(None::<Rc<Dir>>, place.clone(), rules)];
        let mut first = Some(dir);
        while let Some((above, place, rules)) = pending.pop() {
            let doing = || format!("list {place}");
            let dir = match (above, first.take()) {
                (Some(above), _) => above.open_dir_nofollow(place.file_name()).doing(doing)?,
                (None, Some(first)) => first,
                (None, None) => break,
            };
            let rules = rules.map(|rules| walk::rules_within(&rules, &dir, place.as_str()));
            let dir = Rc::new(dir);
            for entry in dir.entries().doing(doing)? {
                let entry = entry.doing(doing)?;
                let kind = entry.file_type().doing(doing)?;
                let shown = entry.file_name().to_string_lossy().into_owned();
                let odd =
                    |kind| Err(StoreError::NotAFile { path: format!("{place}/{shown}"), kind });
                let path = NotePath::parse(&format!("{place}/{shown}"));
                path.as_ref().map_or(Ok(()), check_owner)?;
                if let Some(rules) = &rules {
                    let at = format!("{place}/{shown}");
                    let (kind, end) = if kind.is_dir() {
                        (DirEntryKind::Folder, "/")
                    } else {
                        (DirEntryKind::File, "")
                    };
                    if shown.starts_with('.') || rules.ignoring(&at, kind).is_some() {
                        below.passed_over.push(format!("{at}{end}"));
                        continue;
                    }
                }
                if entry.file_name().to_str().is_none() {
                    return odd(NotAFileKind::NonUtf8Name);
                }
                let Ok(path) = path else {
                    return odd(NotAFileKind::UnportableName);
                };
                if kind.is_dir() {
                    pending.push((Some(dir.clone()), path, rules.clone()));
                } else if kind.is_file() {
                    // The history cannot keep a larger file, so no change touches it.
                    if entry.metadata().doing(doing)?.len() > MAX_FILE_BYTES {
                        below.passed_over.push(path.to_string());
                    } else {
                        below.files.push(path);
                    }
                } else if kind.is_symlink() {
                    return odd(NotAFileKind::Symlink);
                } else {
                    return odd(NotAFileKind::SpecialFile);
                }
            }
            below.folders.push(place);
        }
        below.folders.reverse();
        below.passed_over.sort_unstable();
        Ok(())
    }

    /// Permission bits for a file that is new here.
    pub(crate) fn new_file_mode(&self) -> u32 {
        match self.rules.privacy {
            FilePrivacy::Shared => 0o666,
            FilePrivacy::Private => 0o600,
        }
    }

    /// Returns the mode of a rewritten file: its own, or the owner's alone where files are private.
    pub(crate) fn kept_mode(&self, mode: u32) -> u32 {
        match self.rules.privacy {
            FilePrivacy::Shared => mode,
            FilePrivacy::Private => mode & 0o700,
        }
    }

    /// The handle of a folder, reached name by name without following a link.
    fn descend(&self, folder: &str) -> io::Result<Dir> {
        faults::at(Step::AnyCall)?;
        machine::reach(&self.dir)?;
        let mut dir = self.dir.try_clone()?;
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            dir = dir.open_dir_nofollow(name)?;
        }
        Ok(dir)
    }

    /// Says what stood in the way: a link, a folder, or what the system reported.
    fn explain(&self, path: &NotePath, error: io::Error) -> StoreError {
        let mut prefix = String::new();
        for name in path.as_str().split('/') {
            if !prefix.is_empty() {
                prefix.push('/');
            }
            prefix.push_str(name);
            let Ok(metadata) = self.dir.symlink_metadata(&prefix) else { break };
            let kind = match () {
                () if metadata.is_symlink() => NotAFileKind::Symlink,
                () if prefix == path.as_str() && metadata.is_dir() => NotAFileKind::Folder,
                () if prefix != path.as_str() && metadata.is_file() => NotAFileKind::FileNotFolder,
                () if metadata.is_file() && error.kind() == folder::HARD_LINK => {
                    NotAFileKind::HardLink
                }
                () if !metadata.is_file() && !metadata.is_dir() => NotAFileKind::SpecialFile,
                () => continue,
            };
            return StoreError::NotAFile { path: prefix, kind };
        }
        if error.kind() == io::ErrorKind::FileTooLarge {
            let size = self.dir.symlink_metadata(path.as_str()).map_or(0, |m| m.len());
            let limit = MAX_FILE_BYTES;
            return StoreError::TooLarge { path: path.to_string(), size, limit };
        }
        StoreError::Io { doing: format!("use {path}"), source: error }
    }
}

/// The vault's handle, and the name of a folder in it.
fn vault_of(path: &Path) -> io::Result<(Dir, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(vault), Some(name)) => Ok((Dir::open_ambient_dir(vault, ambient_authority())?, name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Gathers the plain files below a folder; says how many names were passed over.
fn gather_plain(dir: Dir, files: &mut Vec<NotePath>) -> io::Result<usize> {
    let mut left_out = 0;
    let mut pending: Vec<(Rc<Dir>, NotePath)> = Vec::new();
    let mut next = Some((dir, String::new()));
    while let Some((dir, prefix)) = next {
        let dir = Rc::new(dir);
        machine::turn()?;
        machine::reach(&*dir)?;
        for entry in dir.entries()? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name().into_string().ok();
            if name.as_ref().is_some_and(|name| temp_names::is_temporary(name)) {
                continue;
            }
            let path = name.and_then(|name| NotePath::parse(&format!("{prefix}{name}")).ok());
            match path {
                Some(path) if kind.is_file() => files.push(path),
                Some(path) if kind.is_dir() => pending.push((dir.clone(), path)),
                _ => left_out += 1,
            }
        }
        next = match pending.pop() {
            Some((above, path)) => {
                Some((above.open_dir_nofollow(path.file_name())?, format!("{path}/")))
            }
            None => None,
        };
    }
    Ok(left_out)
}

fn stat_of(metadata: &Metadata) -> FileStat {
    #[cfg(all(feature = "faults", target_os = "linux"))]
    if let Some(node) = simulated_node(metadata) {
        let (size, inode) = (metadata.len(), node.inode);
        return FileStat { size, mtime_ns: node.mtime_ns, ctime_ns: node.ctime_ns, inode };
    }
    let (mtime_ns, ctime_ns) = times_ns(metadata);
    FileStat { size: metadata.len(), mtime_ns, ctime_ns, inode: metadata.ino() }
}

/// Device and inode.
fn identity_of(metadata: &Metadata) -> (u64, u64) {
    #[cfg(all(feature = "faults", target_os = "linux"))]
    if let Some(node) = simulated_node(metadata) {
        return (node.device, node.inode);
    }
    (metadata.dev(), metadata.ino())
}

#[cfg(all(feature = "faults", target_os = "linux"))]
fn simulated_node(metadata: &Metadata) -> Option<crate::faults::SimulatedNode> {
    machine::simulated(|machine| machine.node(metadata.ino())).flatten()
}

#[cfg(unix)]
fn times_ns(metadata: &Metadata) -> (i64, i64) {
    use cap_std::fs::MetadataExt as _;
    let join = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000) + nanos;
    (join(metadata.mtime(), metadata.mtime_nsec()), join(metadata.ctime(), metadata.ctime_nsec()))
}

#[cfg(not(unix))]
fn times_ns(metadata: &Metadata) -> (i64, i64) {
    let since_1970 = metadata
        .modified()
        .ok()
        .and_then(|time| time.into_std().duration_since(std::time::UNIX_EPOCH).ok());
    (since_1970.map_or(0, |duration| duration.as_nanos() as i64), 0)
}

/// Returns the options for opening a file to read it.
fn reading() -> OpenOptions {
    let mut options = no_follow();
    options.read(true);
    #[cfg(unix)]
    {
        // Opening a pipe that somebody left in the folder must not wait for its other end.
        use cap_std::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options
}

fn no_follow() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.follow(FollowSymlinks::No);
    options
}
