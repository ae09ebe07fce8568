//! Records folders created for clients' files, so that removal deletes only those: an empty folder
//! may belong to the user.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files;
use crate::setup::locations::BaseDirs;

/// Records the missing folders of a file.
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

/// Removes the recorded folders of a file that are empty.
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
    let text = files::read_text(&dirs.created_list)?.unwrap_or_default();
    Ok(text.lines().map(PathBuf::from).collect())
}

/// Writes the list, and deletes it if it is empty.
fn write_list(dirs: &BaseDirs, mut made: Vec<PathBuf>) -> Result<()> {
    made.sort();
    made.dedup();
    let lines: Vec<String> = made.iter().map(|folder| format!("{}\n", folder.display())).collect();
    if lines.is_empty() {
        files::remove(&dirs.created_list)?;
        dirs.created_list.parent().map(files::remove_empty_folder);
        Ok(())
    } else {
        files::replace(&dirs.created_list, lines.concat().as_bytes())
    }
}
