//! The folders that were made for a client's file. They are written down, so that taking the file
//! out again removes them and no other: an empty folder can be the person's own.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files;
use crate::setup::locations::BaseDirs;

/// Notes the folders that a file needs and that are not there yet.
pub(super) fn record_missing(dirs: &BaseDirs, path: &Path) -> Result<()> {
    let missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|f| !f.exists()).map(Path::to_owned).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut made = read_list(dirs)?;
    made.extend(missing);
    write_list(dirs, made)
}

/// Removes the folders that were made for a file, as far as nothing else is in them.
pub(super) fn remove_created(dirs: &BaseDirs, path: &Path) -> Result<()> {
    let mut made = read_list(dirs)?;
    for folder in path.ancestors().skip(1) {
        let is_ours = made.iter().any(|made| made == folder);
        if !is_ours || !files::remove_empty_folder(folder) {
            break;
        }
    }
    made.retain(|folder| folder.exists());
    write_list(dirs, made)
}

fn read_list(dirs: &BaseDirs) -> Result<Vec<PathBuf>> {
    let text = files::read_text(&dirs.made)?.unwrap_or_default();
    Ok(text.lines().map(PathBuf::from).collect())
}

/// Writes the list; with the last of its folders it goes.
fn write_list(dirs: &BaseDirs, mut made: Vec<PathBuf>) -> Result<()> {
    made.sort();
    made.dedup();
    let lines: Vec<String> = made.iter().map(|folder| format!("{}\n", folder.display())).collect();
    if lines.is_empty() {
        files::remove(&dirs.made)?;
        dirs.made.parent().map(files::remove_empty_folder);
        Ok(())
    } else {
        files::replace(&dirs.made, lines.concat().as_bytes())
    }
}
