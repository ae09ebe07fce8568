//! Walks a project: lists notes, ignored files and unreadable ones.
//!
//! The walk uses folder handles and never follows a link. Hidden names, files named by
//! `.gitignore`, `.memorandaignore` or `.bmignore`, and names that are not portable are left out. A
//! folder that cannot be read is reported, so that its files are not treated as deleted.

use std::io::{self, Read as _};
use std::rc::Rc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use memoranda_core::path::NotePath;

use super::ignore_rules::{IgnoreRules, join};
use super::temp_names;
use super::{DirEntryKind, FileStat, ProjectRoot, stat_of};
use crate::machine;

/// Result of a walk.
#[derive(Default)]
pub(crate) struct DirWalk {
    /// Files that count, with what the system says of them.
    pub(crate) files: Vec<WalkedFile>,
    /// Folders and files that could not be looked at: what is known of them stays.
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
}

/// Walks the whole project.
pub(crate) fn walk(root: &ProjectRoot) -> DirWalk {
    let mut found = DirWalk::default();
    match root.dir.try_clone() {
        Ok(dir) => look_below(dir, "", &IgnoreRules::default(), &mut found),
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
        Ok(dir) => look_below(dir, &place, &rules, &mut found),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => found.unreadable.push((place, e)),
    }
    found
}

fn look_below(dir: Dir, place: &str, rules: &IgnoreRules, found: &mut DirWalk) {
    // Folders can lie deeper in each other than a stack of calls could go.
    let mut pending = Vec::new();
    look_into(&Rc::new(dir), place, rules, found, &mut pending);
    while let Some(PendingDir { above, place, rules }) = pending.pop() {
        let name = place.rsplit('/').next().unwrap_or(&place);
        match above.open_dir_nofollow(name) {
            Ok(dir) => look_into(&Rc::new(dir), &place, &rules, found, &mut pending),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => found.unreadable.push((place, e)),
        }
    }
}

/// A folder that is still to be looked into, by way of the one above it.
struct PendingDir {
    above: Rc<Dir>,
    place: String,
    rules: IgnoreRules,
}

impl DirWalk {
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

fn look_into(
    dir: &Rc<Dir>,
    prefix: &str,
    outer_rules: &IgnoreRules,
    found: &mut DirWalk,
    pending: &mut Vec<PendingDir>,
) {
    let entries =
        machine::turn().and_then(|()| machine::reach(&**dir)).and_then(|()| dir.entries());
    let entries = match entries {
        Ok(entries) => entries,
        Err(e) => return found.unreadable.push((prefix.to_owned(), e)),
    };
    let rules = rules_within(outer_rules, dir, prefix);
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) => {
                found.unreadable.push((prefix.to_owned(), e));
                continue;
            }
        };
        let Ok(name) = entry.file_name().into_string() else {
            let shown = entry.file_name().to_string_lossy().into_owned();
            found.skipped.push((join(prefix, &shown), "its name is not UTF-8"));
            continue;
        };
        let place = join(prefix, &name);
        if name.starts_with('.') {
            if temp_names::is_temporary(&name) {
                found.leftovers.extend(NotePath::parse(&place));
            }
            continue;
        }
        let Ok(path) = NotePath::parse(&place) else {
            found.skipped.push((place, "its name is not one that every system can use"));
            continue;
        };
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_file() => DirEntryKind::File,
            Ok(kind) if kind.is_dir() => DirEntryKind::Folder,
            Ok(kind) if kind.is_symlink() => {
                found.skipped.push((place, "it is a symbolic link"));
                continue;
            }
            Ok(_) => continue,
            Err(e) => {
                found.unreadable.push((place, e));
                continue;
            }
        };
        if rules.ignoring(&place, kind).is_some() {
            continue;
        }
        match kind {
            DirEntryKind::File => match file_metadata(dir, &entry) {
                Ok(metadata) => found.files.push(WalkedFile { path, stat: stat_of(&metadata) }),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => found.unreadable.push((place, e)),
            },
            DirEntryKind::Folder => {
                pending.push(PendingDir { above: dir.clone(), place, rules: rules.clone() });
            }
        }
    }
}

fn file_metadata(dir: &Dir, entry: &cap_std::fs::DirEntry) -> io::Result<cap_std::fs::Metadata> {
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
