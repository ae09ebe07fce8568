//! Walks a project: lists notes, ignored files and unreadable ones.
//!
//! The walk uses folder handles and never follows a link. Hidden names, files named by
//! `.gitignore`, `.memorandaignore` or `.bmignore`, and names that are not portable are left out. A
//! folder that cannot be read is reported, so that its files are not treated as deleted.
//!
//! Several threads ask the system about the files of a large project. The result is the same for any
//! number of threads.

use std::io::{self, Read as _};
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirEntry};
use memoranda_core::path::NotePath;

use super::ignore_rules::{IgnoreRules, join};
use super::temp_names;
use super::walk_queue::WalkQueue;
use super::{DirEntryKind, FilePrint, FileStat, ProjectRoot, stat_of};
use crate::machine;

/// Number of files that a thread asks about at a time.
const FILES_PER_TASK: usize = 512;
/// Minimum number of known tasks at which further threads are started.
const MIN_SHARED_TASKS: usize = 4;
/// Maximum number of threads of one walk.
const MAX_THREADS: usize = 4;

/// Result of a walk.
#[derive(Default)]
pub(crate) struct DirWalk {
    /// Files that count, with their metadata.
    pub(crate) files: Vec<WalkedFile>,
    /// Number of files that count and were passed over.
    pub(crate) passed_over: usize,
    /// Folders and files that could not be read: their known state stays.
    pub(crate) unreadable: Vec<(String, io::Error)>,
    /// Names that were left out for a reason worth telling.
    pub(crate) skipped: Vec<(String, &'static str)>,
    /// Temporary files of writes that never finished.
    pub(crate) leftovers: Vec<NotePath>,
}

/// One file of a walk.
pub(crate) struct WalkedFile {
    pub(crate) path: NotePath,
    pub(crate) stat: FileStat,
    /// Print of both, computed by the thread that read the metadata.
    pub(crate) print: FilePrint,
}

/// Walks the whole project.
pub(crate) fn walk(root: &ProjectRoot) -> DirWalk {
    walk_passing_over(root, &|_| false)
}

/// Walks the whole project without keeping the files that need no further look. Several threads ask
/// for them.
pub(crate) fn walk_passing_over(root: &ProjectRoot, is_passed_over: &FileTest<'_>) -> DirWalk {
    let mut found = DirWalk::default();
    match root.dir.try_clone() {
        Ok(dir) => look_below(dir, "", &IgnoreRules::default(), is_passed_over, &mut found),
        Err(e) => found.unreadable.push((String::new(), e)),
    }
    found
}

/// Walks one folder of the project. One that the rules leave out, or that is not there, holds
/// nothing.
pub(crate) fn walk_subfolder(root: &ProjectRoot, folder: &NotePath) -> DirWalk {
    let mut found = DirWalk::default();
    let mut rules = IgnoreRules::default();
    let mut place = String::new();
    let mut dir = root.dir.try_clone();
    for name in folder.as_str().split('/') {
        let Ok(above) = &dir else { break };
        rules = rules_within(&rules, above, &place);
        place = join(&place, name);
        if name.starts_with('.') || rules.ignoring(&place, DirEntryKind::Folder).is_some() {
            return found;
        }
        dir = above.open_dir_nofollow(name);
    }
    match dir {
        Ok(dir) => look_below(dir, &place, &rules, &|_| false, &mut found),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => found.unreadable.push((place, e)),
    }
    found
}

/// Test of a file by path and metadata.
pub(crate) type FileTest<'t> = dyn Fn(&WalkedFile) -> bool + Sync + 't;

/// A part of a walk that one thread does.
enum WalkTask {
    /// Lists a folder.
    Folder(PendingDir),
    /// Asks about some files of a folder.
    Files(PendingFiles),
}

/// A folder that is still to be looked into, by way of the one above it.
struct PendingDir {
    above: Arc<Dir>,
    place: String,
    rules: IgnoreRules,
}

/// Files of a folder whose metadata is still to be read.
struct PendingFiles {
    dir: Arc<Dir>,
    place: Arc<str>,
    /// Number of files of the folder before these.
    from: usize,
    files: Vec<(NotePath, DirEntry)>,
}

/// Result of one task.
struct WalkPart {
    place: Arc<str>,
    from: usize,
    found: DirWalk,
}

fn look_below(
    dir: Dir,
    place: &str,
    rules: &IgnoreRules,
    is_passed_over: &FileTest<'_>,
    found: &mut DirWalk,
) {
    let queue = WalkQueue::default();
    let threads = WalkThreads { queue, is_passed_over };
    let WalkThreads { queue, .. } = &threads;
    let mut parts = vec![threads.look_into(&Arc::new(dir), place, rules)];
    // Most projects are small: a thread would take longer than the walk.
    queue.run_until(MIN_SHARED_TASKS, |task| parts.push(threads.run(task)));
    if queue.len() > 0 {
        let work = || {
            let mut parts = Vec::new();
            queue.run_until(usize::MAX, |task| parts.push(threads.run(task)));
            parts
        };
        std::thread::scope(|scope| {
            let helpers = 1..crate::threads::available().min(MAX_THREADS);
            // What the system refuses is done here.
            let helpers: Vec<_> =
                helpers.map_while(|_| crate::threads::start(scope, work).ok()).collect();
            parts.extend(work());
            for helper in helpers {
                parts.extend(crate::threads::join(helper));
            }
        });
    }
    // Each thread takes the next task: the order of the parts depends on chance.
    parts.sort_unstable_by(|a, b| (&*a.place, a.from).cmp(&(&*b.place, b.from)));
    for part in parts {
        found.add(part.found);
    }
}

/// Data that the threads of a walk share.
struct WalkThreads<'w> {
    queue: WalkQueue<WalkTask>,
    is_passed_over: &'w FileTest<'w>,
}

impl DirWalk {
    /// Returns the number of files that count.
    pub(crate) fn seen(&self) -> usize {
        self.files.len() + self.passed_over
    }

    fn add(&mut self, part: Self) {
        let Self { files, passed_over, unreadable, skipped, leftovers } = part;
        if self.files.is_empty() {
            self.files = files;
        } else {
            self.files.extend(files);
        }
        self.passed_over += passed_over;
        self.unreadable.extend(unreadable);
        self.skipped.extend(skipped);
        self.leftovers.extend(leftovers);
    }

    /// Returns true if the state of a path is unknown because the file or a folder above it is
    /// unreadable.
    pub(crate) fn is_unknown(&self, path: &NotePath) -> bool {
        self.unreadable.iter().any(|(place, _)| path.as_str() == place || path.is_within(place))
    }
}

impl ProjectRoot {
    /// Returns true if the rules of this project ignore the path.
    pub(crate) fn ignores(&self, path: &NotePath) -> bool {
        self.ignored_by(path).is_some()
    }

    /// Returns the rules that apply to a folder, without its own; `None` if the folder is ignored.
    pub(super) fn rules_above(&self, folder: &NotePath) -> io::Result<Option<IgnoreRules>> {
        let mut rules = IgnoreRules::default();
        let mut place = String::new();
        let mut dir = self.dir.try_clone()?;
        for name in folder.as_str().split('/') {
            rules = rules_within(&rules, &dir, &place);
            place = join(&place, name);
            if name.starts_with('.') || rules.ignoring(&place, DirEntryKind::Folder).is_some() {
                return Ok(None);
            }
            dir = dir.open_dir_nofollow(name)?;
        }
        Ok(Some(rules))
    }

    /// The rule of this project that leaves the path out, if one does. The file and its folders
    /// need not exist.
    pub(crate) fn ignored_by(&self, path: &NotePath) -> Option<String> {
        if let Some(name) = path.as_str().split('/').find(|name| name.starts_with('.')) {
            return Some(format!("{name:?} is hidden, as its name begins with a dot"));
        }
        let mut rules = IgnoreRules::default();
        let mut dir = self.dir.try_clone().ok();
        let mut prefix = String::new();
        for name in path.as_str().split('/') {
            if let Some(dir) = &dir {
                rules = rules_within(&rules, dir, &prefix);
            }
            if !prefix.is_empty() {
                prefix.push('/');
            }
            prefix.push_str(name);
            let is_file = prefix.len() == path.as_str().len();
            let kind = if is_file { DirEntryKind::File } else { DirEntryKind::Folder };
            if let Some(rule) = rules.ignoring(&prefix, kind) {
                return Some(rule);
            }
            dir = dir.and_then(|dir| dir.open_dir_nofollow(name).ok());
        }
        None
    }
}

impl WalkThreads<'_> {
    fn run(&self, task: WalkTask) -> WalkPart {
        let PendingDir { above, place, rules } = match task {
            WalkTask::Files(files) => return self.look_at(files),
            WalkTask::Folder(folder) => folder,
        };
        let name = place.rsplit('/').next().unwrap_or(&place);
        match above.open_dir_nofollow(name) {
            Ok(dir) => self.look_into(&Arc::new(dir), &place, &rules),
            Err(e) => {
                let mut found = DirWalk::default();
                if e.kind() != io::ErrorKind::NotFound {
                    found.unreadable.push((place.clone(), e));
                }
                WalkPart { place: place.into(), from: 0, found }
            }
        }
    }

    /// Lists a folder. Folders within, and the files beyond the first ones, become further tasks.
    fn look_into(&self, dir: &Arc<Dir>, prefix: &str, outer_rules: &IgnoreRules) -> WalkPart {
        let place: Arc<str> = prefix.into();
        let mut found = DirWalk::default();
        let entries =
            machine::turn().and_then(|()| machine::reach(&**dir)).and_then(|()| dir.entries());
        let entries = match entries {
            Ok(entries) => entries,
            Err(e) => {
                found.unreadable.push((prefix.to_owned(), e));
                return WalkPart { place, from: 0, found };
            }
        };
        let rules = rules_within(outer_rules, dir, prefix);
        let mut files = Vec::new();
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) => {
                    found.unreadable.push((prefix.to_owned(), e));
                    continue;
                }
            };
            let Some((path, kind)) = kind_of(&entry, prefix, &mut found) else { continue };
            if rules.ignoring(path.as_str(), kind).is_some() {
                continue;
            }
            match kind {
                DirEntryKind::File => files.push((path, entry)),
                DirEntryKind::Folder => {
                    let place = path.as_str().to_owned();
                    let folder = PendingDir { above: dir.clone(), place, rules: rules.clone() };
                    self.queue.add(WalkTask::Folder(folder));
                }
            }
        }
        sort_for_disk(&mut files);
        let mut from = 0;
        let mut own = None;
        while !files.is_empty() {
            let rest = files.split_off(files.len().min(FILES_PER_TASK));
            let files = std::mem::replace(&mut files, rest);
            let count = files.len();
            let task = PendingFiles { dir: dir.clone(), place: place.clone(), from, files };
            // The first ones are looked at by this thread.
            match own {
                None => own = Some(task),
                Some(_) => self.queue.add(WalkTask::Files(task)),
            }
            from += count;
        }
        if let Some(own) = own {
            found.add(self.look_at(own).found);
        }
        WalkPart { place, from: 0, found }
    }

    fn look_at(&self, pending: PendingFiles) -> WalkPart {
        let PendingFiles { dir, place, from, files } = pending;
        let mut found = DirWalk::default();
        for (path, entry) in files {
            match file_metadata(&dir, &entry) {
                Ok(metadata) => {
                    let stat = stat_of(&metadata);
                    let print = FilePrint::of(&path, stat);
                    let file = WalkedFile { path, stat, print };
                    if (self.is_passed_over)(&file) {
                        found.passed_over += 1;
                    } else {
                        found.files.push(file);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => found.unreadable.push((path.to_string(), e)),
            }
        }
        WalkPart { place, from, found }
    }
}

/// Returns path and kind of a file or folder that counts, unless its own name leaves it out.
fn kind_of(
    entry: &DirEntry,
    prefix: &str,
    found: &mut DirWalk,
) -> Option<(NotePath, DirEntryKind)> {
    let name = match entry.file_name().into_string() {
        Ok(name) => name,
        Err(name) => {
            let shown = name.to_string_lossy().into_owned();
            found.skipped.push((join(prefix, &shown), "its name is not UTF-8"));
            return None;
        }
    };
    let place = join(prefix, &name);
    if name.starts_with('.') {
        if temp_names::is_temporary(&name) {
            found.leftovers.extend(NotePath::parse(&place));
        }
        return None;
    }
    let Ok(path) = NotePath::parse(&place) else {
        found.skipped.push((place, "its name is not one that every system can use"));
        return None;
    };
    match entry.file_type() {
        Ok(kind) if kind.is_file() => Some((path, DirEntryKind::File)),
        Ok(kind) if kind.is_dir() => Some((path, DirEntryKind::Folder)),
        Ok(kind) if kind.is_symlink() => {
            found.skipped.push((place, "it is a symbolic link"));
            None
        }
        Ok(_) => None,
        Err(e) => {
            found.unreadable.push((place, e));
            None
        }
    }
}

/// Sorts files as their inodes lie on the disk, which is how their metadata is read fastest.
#[cfg(unix)]
fn sort_for_disk(files: &mut [(NotePath, DirEntry)]) {
    use std::os::unix::fs::DirEntryExt as _;
    // The inodes of a simulated machine are those of the real one, and depend on chance.
    if !machine::is_simulated() {
        files.sort_by_cached_key(|(_, entry)| entry.ino());
    }
}

#[cfg(not(unix))]
fn sort_for_disk(_: &mut [(NotePath, DirEntry)]) {}

fn file_metadata(dir: &Dir, entry: &DirEntry) -> io::Result<cap_std::fs::Metadata> {
    machine::turn()?;
    machine::reach(dir)?;
    entry.metadata()
}

/// These rules and those of a folder within.
pub(super) fn rules_within(outer: &IgnoreRules, dir: &Dir, place: &str) -> IgnoreRules {
    outer.within(place, |name| {
        let mut text = Vec::new();
        let file = dir.open_with(name, &super::reading()).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        file.take(1 << 20).read_to_end(&mut text).ok()?;
        Some(text)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::files::{FilePrivacy, FileRules, HardLinkPolicy, state_files};

    #[test]
    fn every_file_of_many_folders_is_found_once_in_the_same_order() {
        let folder = tempfile::TempDir::new().unwrap();
        let place = |n: usize| match n % 7 {
            0 => format!("flat/{n}.md"),
            1 => format!("a/{}/b/{n}.md", n % 50),
            2 => format!("{}/left out/{n}.md", n % 30),
            _ => format!("{n}.md"),
        };
        let rules = FileRules { privacy: FilePrivacy::Shared, hard_links: HardLinkPolicy::Refuse };
        let mut expected = Vec::new();
        for n in 0..3 * FILES_PER_TASK {
            let path = folder.path().join(place(n));
            let above = path.parent().unwrap();
            state_files::create_dir(above, FilePrivacy::Shared).unwrap();
            state_files::write_plain(&path, b"text").unwrap();
            expected.extend((n % 7 != 2).then(|| place(n)));
        }
        state_files::write_plain(&folder.path().join(".gitignore"), b"left out/\n").unwrap();
        expected.sort_unstable();
        let root = ProjectRoot::open(folder.path(), rules).unwrap();
        let paths = |walk: &DirWalk| -> Vec<String> {
            walk.files.iter().map(|file| file.path.to_string()).collect()
        };
        let all = walk(&root);
        assert_eq!(paths(&walk(&root)), paths(&all));
        let mut found = paths(&all);
        found.sort_unstable();
        assert_eq!(found, expected);
        assert!(all.files.iter().all(|file| file.print == FilePrint::of(&file.path, file.stat)));
        let asked = AtomicUsize::new(0);
        let few = walk_passing_over(&root, &|file| {
            asked.fetch_add(1, Ordering::Relaxed);
            !file.path.as_str().ends_with("7.md")
        });
        assert_eq!((asked.into_inner(), few.seen()), (expected.len(), expected.len()));
        expected.retain(|path| path.ends_with("7.md"));
        let mut found = paths(&few);
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}
