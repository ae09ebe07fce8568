//! Reads all texts of a folder and keeps them, so that unchanged texts are not read again.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use memoranda_core::id::ContentHash;
use memoranda_core::path::NotePath;
use memoranda_store::{DirEntryKind, FileStat, StoreError, clock};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::NoteLocation;

/// Time after a change in which a file may change again without new times: some file systems count
/// in steps of two seconds.
const TIME_GRANULARITY: SignedDuration = SignedDuration::from_secs(2);
/// Maximum depth of folders, more than people use.
const MAX_DEPTH: usize = 8;

/// A cached text, with the data that shows if the file still contains it.
#[derive(Clone, Debug)]
pub struct CachedText {
    /// The file.
    pub path: NotePath,
    /// Content of the file.
    pub text: Arc<str>,
    /// Hash of the text.
    pub hash: ContentHash,
    /// Modification time of the file.
    pub modified: Timestamp,
    stat: FileStat,
    read: Timestamp,
}

impl CachedText {
    fn still_is(&self, stat: FileStat) -> bool {
        self.stat == stat && self.read.duration_since(self.modified) > TIME_GRANULARITY
    }
}

/// The texts of a folder.
#[derive(Clone, Debug, Default)]
pub struct FolderTexts {
    /// The files that are texts, sorted by path.
    pub files: Vec<CachedText>,
    /// Files that could not be read, with the reason.
    pub unreadable: Vec<(NotePath, String)>,
    /// Number of texts that were reused from the cache.
    pub reused: usize,
}

impl Memory {
    /// Returns all texts at or below a folder for which `wanted` is true. A text in `known` that is
    /// still current is not read from disk. `None` if the folder does not exist. Hidden names are
    /// skipped.
    pub fn folder_texts(
        &self,
        folder: &NoteLocation,
        known: &[CachedText],
        wanted: impl Fn(&NotePath) -> bool,
    ) -> Result<Option<FolderTexts>> {
        let mut paths = Vec::new();
        if !self.gather(folder, MAX_DEPTH, &mut paths)? {
            return Ok(None);
        }
        paths.retain(|path| wanted(path));
        paths.sort_unstable();
        let mut texts = FolderTexts::default();
        for path in paths {
            let place = NoteLocation::new(&folder.project, path);
            match self.kept_text(&place, known) {
                Ok(Some((text, is_reused))) => {
                    texts.reused += usize::from(is_reused);
                    texts.files.push(text);
                }
                Ok(None) => {}
                Err(e) => texts.unreadable.push((place.path, e.to_string())),
            }
        }
        Ok(Some(texts))
    }

    fn kept_text(
        &self,
        place: &NoteLocation,
        known: &[CachedText],
    ) -> Result<Option<(CachedText, bool)>> {
        let Some(stat) = self.store().stat(&place.project, &place.path)? else { return Ok(None) };
        if let Some(kept) = known.iter().find(|kept| kept.path == place.path)
            && kept.still_is(stat)
        {
            return Ok(Some((kept.clone(), true)));
        }
        let read = clock::now();
        let Some(found) = self.store().read(&place.project, &place.path)? else { return Ok(None) };
        let text = String::from_utf8(found.bytes);
        let text = text.map_err(|_| EngineError::NotText(place.clone()))?;
        let modified = Timestamp::from_nanosecond(i128::from(found.stat.mtime_ns));
        let kept = CachedText {
            path: place.path.clone(),
            text: text.into(),
            hash: found.hash,
            modified: modified.unwrap_or_default(),
            stat: found.stat,
            read,
        };
        Ok(Some((kept, false)))
    }

    /// Returns the files at or below a folder; `None` if the folder does not exist.
    fn gather(
        &self,
        folder: &NoteLocation,
        levels: usize,
        files: &mut Vec<NotePath>,
    ) -> Result<bool> {
        let listing = match self.store().entries(&folder.project, Some(&folder.path)) {
            Ok(Some(listing)) => listing,
            Ok(None) | Err(StoreError::NoProject { .. }) => return Ok(false),
            Err(e) => return Err(e.into()),
        };
        for entry in listing.entries.iter().filter(|entry| !entry.name.starts_with('.')) {
            let Ok(path) = NotePath::parse(&format!("{}/{}", folder.path, entry.name)) else {
                continue;
            };
            match entry.kind {
                DirEntryKind::File => files.push(path),
                DirEntryKind::Folder if levels == 0 => {}
                DirEntryKind::Folder => {
                    let below = NoteLocation::new(&folder.project, path);
                    self.gather(&below, levels - 1, files)?;
                }
            }
        }
        Ok(true)
    }
}
