//! A generated vault: any number of realistic notes, for benchmarks and tests.
//!
//! Note `n` depends only on `n`. A vault of a thousand notes is the start of one of ten thousand, and
//! any note can be generated without the others. The code uses only integers, so that every run on
//! every machine yields the same bytes.

#![allow(clippy::disallowed_methods, reason = "it writes a folder of notes, outside any vault")]

mod length;
mod note;
mod queries;
mod random;
mod words;

use std::io;
use std::path::Path;

pub use note::{SampleNote, note};
pub use queries::{QueryFrequency, SampleQuery, query_mix};
pub use words::{VOCABULARY, rare_word, word};

/// Writes the first `notes` notes into a folder and creates its subfolders.
pub fn write(folder: &Path, notes: usize) -> io::Result<()> {
    for number in 0..notes {
        let note = note(number);
        let path = folder.join(&note.path);
        match std::fs::write(&path, &note.text) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                // There are few folders and many notes: create a folder only after a failure.
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
