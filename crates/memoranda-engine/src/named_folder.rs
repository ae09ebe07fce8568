//! The folder that a caller names for a new file: one that is there is meant as it is called.

use memoranda_core::graph::alias_key;
use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::clean_directory;
use memoranda_core::path::NotePath;
use memoranda_store::StoreError;

use crate::Memory;
use crate::error::Result;

/// A folder for a new file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedFolder {
    /// Its path; empty for the top of the project.
    pub path: String,
    /// Whether it is called otherwise than the caller said: some signs are not taken into a new name.
    pub is_changed: bool,
}

impl Memory {
    /// The folder of a name: as it is spelled on disk as far as it is there, and beyond with the
    /// signs that a new name may have. Parts that lead nowhere or up are passed over.
    pub fn folder_named(&self, project: &ProjectName, directory: &str) -> Result<NamedFolder> {
        let mut folder = NamedFolder { path: String::new(), is_changed: false };
        let directory = directory.replace('\\', "/");
        // Most names may be had as they are: one look at the disk is enough.
        let clean = clean_directory(&directory);
        if clean == directory.trim_matches('/') {
            if !clean.is_empty() {
                let path = NotePath::parse(&clean)?;
                folder.path = self.store().spelled(project, &path)?.to_string();
            }
            return Ok(folder);
        }
        for part in directory.split('/').map(str::trim) {
            if part.bytes().all(|byte| byte == b'.') {
                continue;
            }
            let within = |name: &str| match folder.path.is_empty() {
                true => NotePath::parse(name),
                false => NotePath::parse(&format!("{}/{name}", folder.path)),
            };
            let there = within(part).ok().map(|path| self.store().spelled(project, &path));
            if let Some(there) = there.transpose()?.filter(|path| self.is_folder(project, path)) {
                folder.path = there.to_string();
                continue;
            }
            let clean = clean_directory(part);
            folder.is_changed |= alias_key(&clean) != alias_key(part);
            if !clean.is_empty() {
                folder.path = self.store().spelled(project, &within(&clean)?)?.to_string();
            }
        }
        Ok(folder)
    }

    fn is_folder(&self, project: &ProjectName, path: &NotePath) -> bool {
        let found = self.store().stat(project, path);
        matches!(found, Err(StoreError::NotAFile { what: "a folder", .. }))
    }
}
