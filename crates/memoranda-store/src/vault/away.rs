//! A vault on a drive that is not mounted.
//!
//! Without its drive, the place of a vault is an empty folder or nothing at all. A program that made
//! a new vault there would acknowledge writes that nobody finds again once the drive is back.
//!
//! Invariant of a mark in the state folder: the vault that it names was last opened on another drive
//! than that folder.

use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::files::{FilePrivacy, state_files};

/// Refuses to make a vault in a place whose drive is away.
pub(crate) fn refuse_if_away(home: &Path, state: &Path) -> Result<()> {
    let has = |path: &Path| !matches!(state_files::kind(path), Ok(None));
    let mark = mark_path(home, state);
    let is_away = !has(&home.join(".memoranda").join("format"))
        && matches!(state_files::kind(&mark), Ok(Some(_)))
        && drive_number(home) == drive_number(state);
    if is_away { Err(StoreError::VaultAway { home: home.to_owned(), mark }) } else { Ok(()) }
}

/// Records that a vault lies on a drive of its own, or no longer does.
pub(crate) fn note_drive(home: &Path, state: &Path) {
    let mark = mark_path(home, state);
    let is_marked = matches!(state_files::kind(&mark), Ok(Some(_)));
    let is_elsewhere = drive_number(home) != drive_number(state);
    // Without the mark only the refusal is missing.
    if is_elsewhere && !is_marked {
        let text = format!("{}\n", home.display());
        state_files::create_dir(&state.join("vaults"), FilePrivacy::Private)
            .and_then(|()| state_files::replace(&mark, text.as_bytes()))
            .ok();
    } else if is_marked && !is_elsewhere {
        state_files::remove(&mark).ok();
    }
}

fn mark_path(home: &Path, state: &Path) -> PathBuf {
    let hash = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
    state.join("vaults").join(hash.get(..16).unwrap_or_default())
}

/// Returns the number of the drive on which a place lies, or would lie if it was made.
fn drive_number(place: &Path) -> Option<u64> {
    place.ancestors().find_map(state_files::identity).map(|(device, _)| device)
}
