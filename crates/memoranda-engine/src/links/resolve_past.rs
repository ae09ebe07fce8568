//! Resolves names in the history, also of notes that no longer exist.
//!
//! An exact path always stands for its file, even if that was deleted; a similar path is another
//! note. A restore changes a note, so any other name must fit exactly one note, existing or
//! deleted.

use jiff::Timestamp;
use memoranda_core::graph::alias_key;
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::note::permalink::{bare_address, permalink_of, slug};
use memoranda_core::path::NotePath;
use memoranda_store::{CurrentPath, DeletedFile, PointInTime};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::{NoteLocation, ResolveIntent, split};

/// Maximum number of removed notes that are searched for a name.
const MAX_REMOVED_NOTES: usize = 1000;

impl Memory {
    /// The place that a name means, also of a note that exists no more.
    pub fn place_in_history(
        &self,
        project: Option<&str>,
        identifier: &str,
        intent: ResolveIntent,
    ) -> Result<NoteLocation> {
        let (named, name) = split(identifier);
        let projects = self.projects_of(named.or(project))?;
        let mut exact = Vec::new();
        for project in &projects {
            for name in [within(project, name), Some(name)].into_iter().flatten() {
                let Ok(path) = NotePath::parse(name) else { continue };
                let place = NoteLocation::new(project, path);
                if self.is_there(&place) || self.was_there(&place)? {
                    exact.push(place);
                    break;
                }
            }
        }
        if projects.len() > 1 {
            if intent == ResolveIntent::Read && exact.iter().any(|place| self.is_there(place)) {
                exact.retain(|place| self.is_there(place));
            }
            if let Some(default) = exact.iter().position(|place| self.is_default(&place.project)) {
                return Ok(exact.swap_remove(default));
            }
        }
        if !exact.is_empty() {
            return only(identifier, exact);
        }
        let (mut places, missing) = match self.resolve(project, identifier, intent) {
            Ok(resolved) => (vec![resolved.place], None),
            Err(EngineError::Ignored { place, .. }) => (vec![place], None),
            Err(EngineError::Ambiguous { candidates, .. }) if intent == ResolveIntent::Change => {
                (candidates, None)
            }
            Err(e @ EngineError::NotFound { .. }) => (Vec::new(), Some(e)),
            Err(e) => return Err(e),
        };
        if intent == ResolveIntent::Change || places.is_empty() {
            for project in &projects {
                let name = within(project, name).unwrap_or(name);
                places.extend(self.gone_by_name(project, name, intent)?);
            }
        }
        match missing {
            Some(missing) if places.is_empty() => Err(missing),
            _ => only(identifier, places),
        }
    }

    /// Returns true if a file exists now.
    pub(crate) fn is_there(&self, place: &NoteLocation) -> bool {
        matches!(self.store().stat(&place.project, &place.path), Ok(Some(_)))
    }

    /// Returns the current location of a note that was once at a place, unless another note is
    /// there now.
    pub(crate) fn current_location(&self, place: &NoteLocation) -> Result<NoteLocation> {
        let at = |path| NoteLocation::new(&place.project, path);
        let called = self.snapshot()?.current_path(&place.project, &place.path)?;
        Ok(match called.filter(|_| !self.is_there(place)) {
            Some(CurrentPath::There(path)) => at(path),
            Some(CurrentPath::Deleted(path)) if !self.is_there(&at(path.clone())) => at(path),
            Some(CurrentPath::Deleted(_)) | None => place.clone(),
        })
    }

    /// Returns true if the history contains a file.
    fn was_there(&self, place: &NoteLocation) -> Result<bool> {
        let now = PointInTime::Time(Timestamp::MAX);
        Ok(self.snapshot()?.version_as_of(&place.project, &place.path, now)?.is_some())
    }

    /// Returns the removed notes that had this path, permalink, title or alias.
    fn gone_by_name(
        &self,
        project: &ProjectName,
        name: &str,
        intent: ResolveIntent,
    ) -> Result<Vec<NoteLocation>> {
        let alike: fn(&str) -> String = match intent {
            ResolveIntent::Read => slug,
            ResolveIntent::Change => alias_key,
        };
        let wanted = alike(name);
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let gone = self.snapshot()?.gone(project, MAX_REMOVED_NOTES)?;
        let place = |gone: &DeletedFile| NoteLocation::new(project, gone.path.clone());
        let keys: Vec<String> = [name.to_owned(), format!("{name}.md")]
            .iter()
            .filter_map(|name| NotePath::parse(name).ok())
            .map(|path| path.key())
            .collect();
        let is_addressed = |gone: &&DeletedFile| {
            gone.permalink.as_deref().unwrap_or(&permalink_of(&gone.path).0) == name
                || keys.contains(&gone.path.key())
        };
        let mut places: Vec<NoteLocation> = gone.iter().filter(is_addressed).map(place).collect();
        if places.is_empty() {
            // Other files can be named without extension if no note has that name.
            places.extend(gone.iter().filter(|gone| bare_address(&gone.path) == name).map(place));
        }
        if !places.is_empty() {
            return Ok(places);
        }
        let mut places = Vec::new();
        for gone in &gone {
            if alike(gone.path.stem()) == wanted {
                places.push(place(gone));
                continue;
            }
            // Purged content has no title any more.
            let content = gone.path.is_markdown().then(|| self.store().content(gone.hash).ok());
            let Some(bytes) = content.flatten() else { continue };
            let note = note::parse(&String::from_utf8_lossy(&bytes));
            let mut names = note.aliases();
            names.extend(note.title());
            if note.permalink().as_deref() == Some(name)
                || names.iter().any(|name| alike(name) == wanted)
            {
                places.push(place(gone));
            }
        }
        Ok(places)
    }
}

/// A name without the project that it begins with.
fn within<'n>(project: &ProjectName, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(project.as_str()).and_then(|rest| rest.strip_prefix('/'))
}

/// Returns the only candidate. Several candidates are an error that lists them.
fn only(identifier: &str, mut places: Vec<NoteLocation>) -> Result<NoteLocation> {
    places.sort();
    places.dedup();
    match places.len() {
        1 => Ok(places.remove(0)),
        _ => Err(EngineError::Ambiguous { identifier: identifier.to_owned(), candidates: places }),
    }
}
