//! The expected content of a project, computed in the simplest way: a map from path to bytes.

#![allow(dead_code, reason = "some is for the feature `faults`")]

use std::collections::BTreeMap;
use std::path::Path;

use memoranda_core::change::{ChangeSet, FileAction};

/// Every file of a project, hidden ones too.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, Vec<u8>>);

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = self.0.iter().map(|(path, bytes)| {
            let text = String::from_utf8_lossy(bytes);
            (path, text.chars().take(60).collect::<String>())
        });
        f.debug_map().entries(shown).finish()
    }
}

impl Files {
    /// Reads the content from disk.
    pub(crate) fn on_disk(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        gather(folder, "", &mut files);
        Self(files)
    }

    /// Does what a change says.
    pub(crate) fn make(&mut self, change: &ChangeSet) {
        for operation in &change.operations {
            let path = operation.path.to_string();
            match &operation.action {
                FileAction::Put(content) => {
                    self.0.insert(path, content.clone());
                }
                FileAction::MoveFrom { from, content } => {
                    self.0.remove(from.as_str());
                    self.0.insert(path, content.clone());
                }
                FileAction::Remove => {
                    self.0.remove(&path);
                }
            }
        }
    }

    /// The files after a change.
    pub(crate) fn after(&self, change: &ChangeSet) -> Self {
        let mut after = self.clone();
        after.make(change);
        after
    }
}

fn gather(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            gather(&entry.path(), &format!("{name}/"), files);
        } else if kind.is_file() {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
}
