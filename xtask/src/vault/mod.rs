//! A made-up vault: realistic notes of any number, for measuring and for tests.
//!
//! Note `n` depends on nothing but `n`, so a vault of a thousand notes is the beginning of one of
//! ten thousand, any single note can be made without the others, and every run on every machine
//! yields the same bytes. That is why there are only integers in here.

#![allow(clippy::disallowed_methods, reason = "it writes a folder of notes, outside any vault")]

mod length;
mod note;
mod queries;
mod random;
mod words;

use std::io;
use std::path::Path;

pub use note::{Note, note};
pub use queries::{Kind, Query, query_mix};
pub use words::{VOCABULARY, rare_word, word};

/// Writes the first `notes` notes below a folder, making the folders between.
pub fn write(folder: &Path, notes: usize) -> io::Result<()> {
    for number in 0..notes {
        let note = note(number);
        let path = folder.join(&note.path);
        match std::fs::write(&path, &note.text) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // Folders are few and notes many: made only when one is found missing.
                std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
                std::fs::write(&path, &note.text)?;
            }
            result => result?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_on_every_run() {
        let folder = std::env::temp_dir().join(format!("xtask-vault-{}", std::process::id()));
        write(&folder, 20).unwrap();
        for number in 0..20 {
            let note = note(number);
            assert_eq!(std::fs::read_to_string(folder.join(&note.path)).unwrap(), note.text);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
