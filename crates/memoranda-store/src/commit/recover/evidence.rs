//! Evidence of a crash in a file, its folder and its temporary names: which version had its name, and
//! if somebody touched it since.

use std::collections::BTreeSet;

use memoranda_core::path::NotePath;

use super::exchange::swap_back;
use super::{CrashKind, FileHistory, TempFileState, is_in_old_place};
use crate::clock;
use crate::error::{NotAFileKind, Result, StoreError};
use crate::files::{DirHandle, FileContent, HardLinkPolicy, ProjectRoot, temp_names};

/// Files that were found under the temporary names of a change.
#[derive(Default)]
pub(super) struct DisplacedFiles {
    /// The mode of the new file, if one had been written.
    pub(super) mode: Option<u32>,
    /// True if our last version still has its temporary name. Then the exchange did not reach the
    /// disk, and neither did anything that somebody saved in its place afterwards.
    pub(super) has_last_version: bool,
    /// Texts that no log has, whose place a later one has: they go into the history.
    pub(super) overtaken: Vec<(String, FileContent)>,
    /// Temporary names that are to be removed. They stay until the file is repaired: if recovery is
    /// interrupted, they show that a version had not been placed.
    pub(super) known: Vec<String>,
}

/// Puts a displaced file back under its name.
///
/// A crash right after an exchange leaves the old file under its temporary name. If the logs do not
/// know its content, an editor had saved at the last moment, and the change was not acknowledged. It
/// does not go over a file that somebody has saved since. If there may have been a power cut, or a drive
/// was away, it does not go over anything: the change may have been acknowledged, and only the removal of
/// the temporary name lost. Nor does it come back if somebody has deleted the new version since.
pub(super) fn find_displaced(
    root: &ProjectRoot,
    path: &NotePath,
    history: &FileHistory,
    crash: CrashKind,
    may_be_deleted: bool,
    claimed: &BTreeSet<String>,
) -> Result<DisplacedFiles> {
    let mut displaced = DisplacedFiles::default();
    let Some(folder) = root.folder(path)? else { return Ok(displaced) };
    let doing = |source| StoreError::Io { doing: format!("restore {path}"), source };
    // Those of earlier records can hold a version that the file had twice.
    let of_last_record: Vec<&String> = history.last_temporaries().collect();
    let unclaimed = history.temporaries.iter().filter(|(name, _)| !claimed.contains(name));
    let mut left = Vec::new();
    for (temporary, state) in unclaimed.rev() {
        let found = folder.read(temporary, HardLinkPolicy::Allow).map_err(doing)?;
        left.extend(found.map(|found| (temporary, state, found)));
    }
    // The latest save first. An exchange by steps can leave two.
    left.sort_by_key(|(.., found)| std::cmp::Reverse(found.stat.mtime_ns));
    for (temporary, state, found) in left {
        let is_known = history.versions.contains(&Some(found.hash));
        displaced.has_last_version |=
            history.our_last() == Some(found.hash) && of_last_record.contains(&temporary);
        if *state == TempFileState::New && !is_known {
            continue;
        }
        displaced.mode = displaced.mode.or(Some(found.mode));
        let mut earlier = None;
        if !is_known && found.bytes.iter().any(|byte| *byte != 0) {
            let is_overtaken = match folder.read(path.file_name(), HardLinkPolicy::Allow) {
                _ if crash > CrashKind::Remote => true,
                Ok(Some(there)) if history.versions.contains(&Some(there.hash)) => false,
                Ok(Some(there)) => {
                    earlier = is_later(&found, &there).then_some(there.hash);
                    earlier.is_none()
                }
                Ok(None) => may_be_deleted && was_placed(root, &folder, history)?,
                Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => true,
                Err(e) => return Err(doing(e)),
            };
            if is_overtaken {
                displaced.overtaken.push((temporary.clone(), found));
                continue;
            }
            if folder.place(temporary, path.file_name()).is_err() {
                folder.swap(temporary, path.file_name()).map_err(doing)?;
                let replaced = folder.read(temporary, HardLinkPolicy::Allow).map_err(doing)?;
                if let Some(replaced) = replaced.as_ref().filter(|it| earlier == Some(it.hash)) {
                    displaced.overtaken.push((temporary.clone(), replaced.clone()));
                    continue;
                }
                if replaced.is_some_and(|it| !history.versions.contains(&Some(it.hash))) {
                    // Somebody has saved there since the look at it: that text is the newest.
                    let there = Some(found.hash);
                    swap_back(&folder, path.file_name(), temporary, there).map_err(doing)?;
                    displaced.overtaken.push((temporary.clone(), found));
                    continue;
                }
            }
        }
        displaced.known.push(temporary.clone());
    }
    Ok(displaced)
}

/// Returns true if a displaced save was made after the one that has the name: the process died while it
/// put both back. An older file that a person puts in the place has a later change of its metadata.
fn is_later(displaced: &FileContent, there: &FileContent) -> bool {
    let times = |file: &FileContent| (file.stat.mtime_ns, file.stat.ctime_ns);
    let ((written, changed), (other_written, other_changed)) = (times(displaced), times(there));
    written >= other_written && changed >= other_changed && times(displaced) != times(there)
}

/// Returns true if our last version was placed, because it has left its temporary name. While a file is
/// displaced by steps, no file has the name, and nothing was deleted.
fn was_placed(root: &ProjectRoot, folder: &DirHandle, history: &FileHistory) -> Result<bool> {
    let Some(version) = history.our_last() else { return Ok(false) };
    for temporary in history.last_temporaries() {
        let doing = |source| StoreError::Io { doing: format!("look at {temporary}"), source };
        let found = folder.read(temporary, HardLinkPolicy::Allow).map_err(doing)?;
        let is_of_steps = temp_names::commit_of(temporary).is_none();
        if found.is_some_and(|found| is_of_steps || found.hash == version) {
            return Ok(false);
        }
    }
    Ok(!is_in_old_place(root, history)?)
}

/// Reads a version of ours that has two names. Where files cannot be renamed without replacing, a
/// rename is a link and a removal, and a crash lies in between: a temporary name is removed here, the
/// old name of a moved file by its own repair.
pub(super) fn read_second_name(
    root: &ProjectRoot,
    path: &NotePath,
    history: &FileHistory,
) -> Result<Option<FileContent>> {
    let Some(folder) = root.folder(path)? else { return Ok(None) };
    let doing = |source| StoreError::Io { doing: format!("look at {path}"), source };
    let name = path.file_name();
    folder.remove_temporary_links(&folder, name).map_err(doing)?;
    for place in &history.places {
        // It can have the temporary name of the place that it was moved from.
        if let Some(other) = root.folder(place)? {
            other.remove_temporary_links(&folder, name).map_err(doing)?;
        }
    }
    match root.read(path) {
        Err(StoreError::NotAFile { kind: NotAFileKind::HardLink, .. }) => {}
        read => return read,
    }
    let found = folder.read(name, HardLinkPolicy::Allow).map_err(doing)?;
    let Some(found) = found else { return Ok(None) };
    // A power cut may have torn the version, but it still has both names of a move.
    let mut is_moved = false;
    for place in &history.places {
        is_moved |= has_name(root, Some(place), &found)?;
    }
    Ok(Some(found).filter(|found| is_moved || history.versions.contains(&Some(found.hash))))
}

/// Returns true if a file has this name, too.
pub(super) fn has_name(
    root: &ProjectRoot,
    place: Option<&NotePath>,
    found: &FileContent,
) -> Result<bool> {
    let other = match place.map(|place| root.stat(place)) {
        None | Some(Err(StoreError::NotAFile { .. })) => None,
        Some(other) => other?,
    };
    Ok(other.is_some_and(|other| other.inode == found.stat.inode))
}

/// Removes the new name of a moved file that still has its old one, too. Returns false if it has not.
pub(super) fn withdraw_link(
    root: &ProjectRoot,
    path: &NotePath,
    history: &FileHistory,
) -> Result<bool> {
    let Some(source) = &history.moved else { return Ok(false) };
    let (Some(folder), Some(source_folder)) = (root.folder(path)?, root.folder(source)?) else {
        return Ok(false);
    };
    let doing = |source| StoreError::Io { doing: format!("restore {path}"), source };
    folder.remove_link(path.file_name(), &source_folder, source.file_name()).map_err(doing)
}

/// State of a file's folder before temporary names are removed from it, which changes the folder.
pub(super) struct FolderBefore {
    has_file: bool,
    has_temporary: bool,
    /// True if a moved file is still in its old place.
    has_source: bool,
    changed_ms: i64,
}

/// Looks at the folder of a file; `None` if there is no folder. If new versions are forced before the log,
/// one that was not placed is whole under its temporary name. Anything else there was displaced by it.
pub(super) fn look_before_cleaning(
    root: &ProjectRoot,
    path: &NotePath,
    history: &FileHistory,
    is_forced: bool,
) -> Result<Option<FolderBefore>> {
    let Some(folder) = root.folder(path)? else { return Ok(None) };
    let doing = |source| StoreError::Io { doing: format!("look at {path}"), source };
    let changed_ms = folder.modified_ns().map_err(doing)?.div_euclid(1_000_000);
    let mut has_temporary = false;
    // One of an earlier record says nothing about the last write, which may have been placed long ago.
    for temporary in history.last_temporaries().filter(|_| !is_forced) {
        has_temporary |= folder.stat(temporary).map_err(doing)?.is_some();
    }
    let has_file = folder.stat(path.file_name()).map_err(doing)?.is_some();
    let source = match &history.moved {
        Some(source) if !has_file && history.last().is_some() => root.read(source).ok().flatten(),
        _ => None,
    };
    let has_source = source.is_some_and(|source| history.versions.contains(&Some(source.hash)));
    Ok(Some(FolderBefore { has_file, has_temporary, has_source, changed_ms }))
}

/// Returns true if nothing shows that somebody touched the file after our last write.
///
/// Our files have the time of their commit as the time of last modification, which an edit
/// changes. A file that is missing was never placed if its folder was not changed since the
/// commit, or if the temporary file was still there. While the clock is behind the commit it was set back,
/// and an earlier time tells nothing.
pub(super) fn is_untouched(
    root: &ProjectRoot,
    path: &NotePath,
    history: &FileHistory,
    before: &FolderBefore,
) -> Result<bool> {
    let Some(folder) = root.folder(path)? else { return Ok(true) };
    let doing = |source| StoreError::Io { doing: format!("look at {path}"), source };
    let is_set_back = clock::now().as_millisecond() < history.last_ms;
    let Some(stat) = folder.stat(path.file_name()).map_err(doing)? else {
        let is_unplaced = before.has_temporary || before.changed_ms < history.last_ms;
        let is_unplaced =
            is_unplaced && (!is_set_back || before.has_temporary || before.has_source);
        return Ok(!before.has_file && is_unplaced);
    };
    let modified_ms = stat.mtime_ns.div_euclid(1_000_000);
    // Some file systems keep whole seconds, or every second one.
    let is_time_of = |written_ms: &i64| {
        modified_ms == *written_ms
            || (modified_ms % 1_000 == 0 && (0..2_000).contains(&(written_ms - modified_ms)))
    };
    let is_older = history.written_ms.first().is_some_and(|first| modified_ms < *first);
    Ok((is_older && !is_set_back) || history.written_ms.iter().any(is_time_of))
}
