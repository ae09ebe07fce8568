//! Resolves the name of a folder: an existing folder keeps its spelling.

use memoranda_core::graph::alias_key;
use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::normalize_directory;
use memoranda_core::path::{NotePath, name_key};
use memoranda_store::{DirEntryKind, NotAFileKind, StoreError};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;

/// A folder for a new file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedFolder {
    /// Path of the folder; empty for the top of the project.
    pub path: String,
    /// True if the name differs from the requested one: a new name omits some characters.
    pub is_changed: bool,
}

impl Memory {
    /// Returns the folder of a path: one with exactly this name, else one whose name looks the
    /// same, else one that differs in case. Several equally good folders are an error that lists
    /// them.
    pub fn folder_at(&self, project: &ProjectName, path: &NotePath) -> Result<Option<NotePath>> {
        if self.store().entries(project, Some(path))?.is_some() {
            return Ok(Some(path.clone()));
        }
        let mut alike: Vec<Option<NotePath>> = vec![None];
        for name in path.as_str().split('/') {
            let key = name_key(name);
            let mut within = Vec::new();
            for above in &alike {
                let listing = self.store().entries(project, above.as_ref())?;
                let entries = listing.into_iter().flat_map(|listing| listing.entries);
                let is_meant = |entry: &memoranda_store::DirEntry| {
                    entry.kind == DirEntryKind::Folder && name_key(&entry.name) == key
                };
                for entry in entries.filter(is_meant) {
                    let place = match above {
                        Some(above) => format!("{above}/{}", entry.name),
                        None => entry.name,
                    };
                    within.extend(NotePath::parse(&place).ok().map(Some));
                }
            }
            alike = within;
        }
        let mut alike: Vec<NotePath> = alike.into_iter().flatten().collect();
        let composed = path.composed();
        if alike.iter().any(|folder| folder.composed() == composed) {
            alike.retain(|folder| folder.composed() == composed);
        }
        match alike.len() {
            0 | 1 => Ok(alike.pop()),
            _ => {
                let place = |path| NoteLocation::new(project, path);
                Err(EngineError::Ambiguous {
                    identifier: path.to_string(),
                    candidates: alike.into_iter().map(place).collect(),
                })
            }
        }
    }

    /// Returns the folder for a new file. Existing parts are spelled as on disk; new parts contain
    /// only allowed characters. The parts `.` and `..` are skipped.
    pub fn folder_named(&self, project: &ProjectName, directory: &str) -> Result<NamedFolder> {
        let mut folder = NamedFolder { path: String::new(), is_changed: false };
        let directory = directory.replace('\\', "/");
        // Most names are allowed unchanged, so one lookup on disk is enough.
        let clean = normalize_directory(&directory);
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
            let within = |name: &str| {
                if folder.path.is_empty() {
                    NotePath::parse(name)
                } else {
                    NotePath::parse(&format!("{}/{name}", folder.path))
                }
            };
            let there = within(part).ok().map(|path| self.store().spelled(project, &path));
            if let Some(there) = there.transpose()?.filter(|path| self.is_folder(project, path)) {
                folder.path = there.to_string();
                continue;
            }
            let clean = normalize_directory(part);
            folder.is_changed |= alias_key(&clean) != alias_key(part);
            if !clean.is_empty() {
                folder.path = self.store().spelled(project, &within(&clean)?)?.to_string();
            }
        }
        Ok(folder)
    }

    fn is_folder(&self, project: &ProjectName, path: &NotePath) -> bool {
        let found = self.store().stat(project, path);
        matches!(found, Err(StoreError::NotAFile { kind: NotAFileKind::Folder, .. }))
    }
}
