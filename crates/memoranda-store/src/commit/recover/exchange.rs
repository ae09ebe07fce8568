//! Putting a version in the place of a file, or taking the file away, so that no save of that moment is
//! lost.

use memoranda_core::id::ContentHash;

use super::Repair;
use crate::files::{DirHandle, HardLinkPolicy};

/// An editor that saves more often than this while an exchange is taken back is let win.
const MAX_EXCHANGES: usize = 100;

/// Removes a file, unless somebody has saved there since it was looked at.
pub(super) fn set_aside(folder: &DirHandle, name: &str, repair: &Repair) -> std::io::Result<()> {
    // The log has what a crash left under this name.
    folder.remove_quietly(&repair.aside);
    match folder.take(folder, name, &repair.aside) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        taken => taken?,
    }
    if hash_of(folder, &repair.aside)? == repair.current {
        folder.remove_quietly(&repair.aside);
        return Ok(());
    }
    place_unless_saved(folder, &repair.aside, name)
}

/// Gives a file its name, unless somebody has saved there in that moment.
pub(super) fn place_unless_saved(
    folder: &DirHandle,
    temporary: &str,
    name: &str,
) -> std::io::Result<()> {
    folder.place(temporary, name).or_else(ignore_save)
}

/// A name that somebody has given to another file, or taken away, since it was looked at.
fn ignore_save(error: std::io::Error) -> std::io::Result<()> {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// Puts the restored version in the place of a file, unless somebody has saved there since it was
/// looked at.
pub(super) fn swap_found(folder: &DirHandle, name: &str, repair: &Repair) -> std::io::Result<()> {
    if let Err(e) = folder.swap(&repair.aside, name) {
        return ignore_save(e);
    }
    if hash_of(folder, &repair.aside)? == repair.current {
        return Ok(());
    }
    swap_back(folder, name, &repair.aside, repair.last)
}

/// Takes an exchange back. `there` is the version that was given the name; if somebody has written to
/// it since, that text is the newest, and keeps the name.
pub(super) fn swap_back(
    folder: &DirHandle,
    name: &str,
    aside: &str,
    mut there: Option<ContentHash>,
) -> std::io::Result<()> {
    for _ in 0..MAX_EXCHANGES {
        let given = hash_of(folder, aside)?;
        if let Err(e) = folder.swap(aside, name) {
            return ignore_save(e);
        }
        if hash_of(folder, aside)? == there {
            return Ok(());
        }
        there = given;
    }
    Ok(())
}

fn hash_of(folder: &DirHandle, name: &str) -> std::io::Result<Option<ContentHash>> {
    Ok(folder.read(name, HardLinkPolicy::Allow)?.map(|found| found.hash))
}
