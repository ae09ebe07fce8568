//! Resolves a name in one project: first as a path, then as a permalink or title, then as a similar name.

use memoranda_core::graph::{
    LinkCandidate, LinkKeys, LinkResolution, LinkStrictness, alias_key, choose_candidate,
    is_shadowed, link_keys,
};
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::note::permalink::slug;
use memoranda_core::path::NotePath;
use memoranda_store::{NotAFileKind, StoreError};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::{NoteLocation, ResolveIntent, ResolvedNote};

/// The lookup of a name in one project.
pub(crate) struct NameLookup<'a> {
    memory: &'a Memory,
    project: &'a ProjectName,
    name: &'a str,
    intent: ResolveIntent,
    keys: LinkKeys,
}

/// Result of the lookup by path.
#[derive(Default)]
struct PathLookup {
    /// The file, if one is found and not ignored.
    found: Option<FileByPath>,
    /// Error about the first file that is hidden or ignored.
    ignored: Option<EngineError>,
}

/// A file found by its path.
struct FileByPath {
    note: ResolvedNote,
    /// True if the name is the path with its extension.
    has_extension: bool,
}

impl<'a> NameLookup<'a> {
    pub(crate) fn new(
        memory: &'a Memory,
        project: &'a ProjectName,
        name: &'a str,
        intent: ResolveIntent,
    ) -> Self {
        Self { memory, project, name, intent, keys: link_keys(name, None, slug) }
    }

    /// Finds the note; `None` if no note has the name.
    pub(crate) fn resolve(&self) -> Result<Option<ResolvedNote>> {
        let PathLookup { found, ignored } = self.by_path()?;
        let is_other_file =
            |file: &FileByPath| file.has_extension && !file.note.place.path.is_markdown();
        match found {
            // A file that is not a note is found by its path only.
            Some(file) if is_other_file(&file) => Ok(Some(file.note)),
            Some(file) => self.path_or_permalink(file, &self.candidates()?),
            None => self.by_names(self.candidates()?, ignored),
        }
    }

    fn candidates(&self) -> Result<Vec<LinkCandidate<i64>>> {
        Ok(self.memory.snapshot()?.link_candidates(self.project, &self.keys.title)?)
    }

    fn by_path(&self) -> Result<PathLookup> {
        let mut lookup = PathLookup::default();
        for extension in ["", ".md", ".markdown"] {
            let Ok(path) = NotePath::parse(&format!("{}{extension}", self.name)) else { continue };
            let Some(path) = self.existing(&path)? else { continue };
            let place = self.place(&path);
            if let Err(e) = self.memory.check_noted(&place) {
                lookup.ignored.get_or_insert(e);
                continue;
            }
            let file = self.memory.snapshot()?.file(self.project, &path)?.map(|file| file.id);
            let note = ResolvedNote { place, file, other: None };
            lookup.found = Some(FileByPath { note, has_extension: extension.is_empty() });
            break;
        }
        Ok(lookup)
    }

    /// Chooses between the note at a path and another note whose permalink is the name. A note
    /// keeps its permalink when it moves, so another note may be at its old path; a permalink may
    /// also look like a path.
    fn path_or_permalink(
        &self,
        file: FileByPath,
        candidates: &[LinkCandidate<i64>],
    ) -> Result<Option<ResolvedNote>> {
        let FileByPath { note: named, has_extension } = file;
        let is_literal = named.place.path.as_str() == self.name;
        let has_permalink = |c: &LinkCandidate<i64>| {
            // A name that equals neither exactly may stand for both.
            if has_extension && !is_literal {
                alias_key(&c.permalink) == self.keys.alias
            } else {
                c.permalink == self.name
            }
        };
        let is_other = |c: &&LinkCandidate<i64>| {
            has_permalink(c) && c.path != named.place.path && c.path.is_markdown()
        };
        let Some(addressed) = candidates.iter().find(is_other) else { return Ok(Some(named)) };
        let place = self.place(&addressed.path);
        match self.intent {
            ResolveIntent::Change => Err(self.ambiguous(vec![place, named.place])),
            // A permalink in a note's text counts more than a path without extension, and a kept
            // permalink counts less.
            ResolveIntent::Read if addressed.is_permalink_kept || is_literal => {
                Ok(Some(ResolvedNote { other: Some(place), ..named }))
            }
            ResolveIntent::Read => {
                let (file, other) = (Some(addressed.id), Some(named.place));
                Ok(Some(ResolvedNote { place, file, other }))
            }
        }
    }

    /// Finds the note by its permalink, title or alias.
    fn by_names(
        &self,
        mut candidates: Vec<LinkCandidate<i64>>,
        ignored: Option<EngineError>,
    ) -> Result<Option<ResolvedNote>> {
        let shadowed = candidates
            .iter()
            .find(|c| c.permalink == self.name && is_shadowed(c, &candidates))
            .map(|c| (c.id, self.place(&c.path)));
        if self.intent == ResolveIntent::Change {
            // A permalink omits special characters, so only an exactly equal one counts.
            let is_exact = |permalink: &String| self.keys.permalinks.first() == Some(permalink);
            for candidate in &mut candidates {
                if !is_exact(&candidate.permalink) {
                    candidate.permalink.clear();
                }
                candidate.within = candidate.within.take().filter(is_exact);
            }
        }
        let place_of = |id: i64| {
            let candidate = candidates.iter().find(|c| c.id == id);
            candidate.map(|c| self.place(&c.path))
        };
        match choose_candidate(&self.keys, &candidates, None, LinkStrictness::Strict) {
            LinkResolution::Found(id) => {
                let other = shadowed.filter(|(other, _)| *other != id).map(|(_, place)| place);
                match (place_of(id), other) {
                    (Some(place), Some(other)) if self.intent == ResolveIntent::Change => {
                        Err(self.ambiguous(vec![other, place]))
                    }
                    (place, other) => {
                        Ok(place.map(|place| ResolvedNote { place, file: Some(id), other }))
                    }
                }
            }
            LinkResolution::Ambiguous(ids) => {
                Err(self.ambiguous(ids.into_iter().filter_map(place_of).collect()))
            }
            LinkResolution::Missing => self.by_similar_name(candidates, ignored),
        }
    }

    /// Finds the only note whose name is an alias or differs in punctuation. For a change, only an
    /// alias counts.
    fn by_similar_name(
        &self,
        mut candidates: Vec<LinkCandidate<i64>>,
        ignored: Option<EngineError>,
    ) -> Result<Option<ResolvedNote>> {
        if candidates.iter().any(|c| c.path.is_markdown()) {
            candidates.retain(|c| c.path.is_markdown());
        }
        if self.intent == ResolveIntent::Change {
            let mut with_alias = Vec::new();
            for candidate in candidates {
                if self.has_alias(&candidate.path)? {
                    with_alias.push(candidate);
                }
            }
            candidates = with_alias;
        }
        if let [only] = candidates.as_slice() {
            let place = self.place(&only.path);
            return Ok(Some(ResolvedNote { place, file: Some(only.id), other: None }));
        }
        if let Some(ignored) = ignored {
            return Err(ignored);
        }
        match self.name.split_once('#') {
            // `Plan#Next steps` is a part of a note, and shown with it.
            Some((note, part))
                if self.intent == ResolveIntent::Read
                    && !note.trim().is_empty()
                    && !part.is_empty() =>
            {
                self.memory.resolve_in(self.project, note.trim(), self.intent)
            }
            _ => Ok(None),
        }
    }

    /// Returns true if a note's frontmatter lists the name as an alias.
    fn has_alias(&self, path: &NotePath) -> Result<bool> {
        let Some(found) = self.memory.store().read(self.project, path)? else { return Ok(false) };
        let note = note::parse(&String::from_utf8_lossy(&found.bytes));
        Ok(note.aliases().iter().any(|name| alias_key(name) == self.keys.alias))
    }

    /// Returns the file at a path, or the one whose name differs only in case or composition.
    fn existing(&self, path: &NotePath) -> Result<Option<NotePath>> {
        let store = self.memory.store();
        match store.read(self.project, path) {
            Ok(Some(_)) => return Ok(Some(path.clone())),
            // A folder has this name; the note may have the name with `.md`.
            Ok(None) | Err(StoreError::NotAFile { kind: NotAFileKind::Folder, .. }) => {}
            Err(e) => return Err(e.into()),
        }
        for twin in self.memory.snapshot()?.twins(self.project, path)? {
            if store.read(self.project, &twin)?.is_some() {
                return Ok(Some(twin));
            }
        }
        Ok(None)
    }

    fn place(&self, path: &NotePath) -> NoteLocation {
        NoteLocation::new(self.project, path.clone())
    }

    fn ambiguous(&self, candidates: Vec<NoteLocation>) -> EngineError {
        EngineError::Ambiguous { identifier: self.name.to_owned(), candidates }
    }
}
