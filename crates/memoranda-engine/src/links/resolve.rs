//! Resolves a name to a note: a path, a permalink, a title or a `memory://` address.
//!
//! Resolution is strict. A name that fits several notes is an error that lists them; nothing is
//! ever guessed for a change.

use std::fmt;

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_store::{FileSummary, SearchFilter, StoreError, link_key};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::name_lookup::NameLookup;

/// Location of a note: project and path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NoteLocation {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
}

impl NoteLocation {
    /// Returns the location of a path in a project.
    pub fn new(project: &ProjectName, path: NotePath) -> Self {
        Self { project: project.clone(), path }
    }
}

impl From<&FileSummary> for NoteLocation {
    fn from(file: &FileSummary) -> Self {
        Self::new(&file.project, file.path.clone())
    }
}

impl fmt::Display for NoteLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.path)
    }
}

/// The note to which a name was resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedNote {
    /// The note.
    pub place: NoteLocation,
    /// Id in the index, if the note is indexed.
    pub file: Option<i64>,
    /// Another note with the same name, reported to disambiguate: the name is the path of one and
    /// the permalink of the other.
    pub other: Option<NoteLocation>,
}

/// Purpose of the resolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResolveIntent {
    /// For display: without an exact match, a note with a similar name is found.
    Read,
    /// The note is changed: the name must be its path, permalink, title or alias. Only case, `_`,
    /// `-` and spaces may differ. `C#` is not `C++`.
    Change,
}

impl Memory {
    /// Finds the note of a name, in one project or, without one, first in the default project and
    /// then in all others, if only one note there has the name.
    pub fn resolve(
        &self,
        project: Option<&str>,
        identifier: &str,
        intent: ResolveIntent,
    ) -> Result<ResolvedNote> {
        let (named, name) = split(identifier);
        if name.is_empty() {
            return Err(EngineError::Invalid("the name of the note is empty".into()));
        }
        if let Some(project) = named.or(project) {
            let project = self.store().project(project)?.name;
            return self
                .resolve_in(&project, name, intent)?
                .ok_or_else(|| self.not_found(identifier, Some(&project)));
        }
        let projects = self.store().projects()?;
        let (mut ignored, mut away) = (None, None);
        if let Some(default) = projects.iter().find(|p| self.is_default(&p.name)) {
            match self.resolve_in(&default.name, name, intent) {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                Err(e @ EngineError::Ignored { .. }) => ignored = Some(e),
                Err(e @ EngineError::Store(StoreError::ProjectUnavailable { .. })) => {
                    away = Some(e);
                }
                Err(e) => return Err(e),
            }
        }
        // `work/plans/q3` names the project first.
        if let Some((first, rest)) = name.split_once('/')
            && let Ok(project) = self.store().project(first)
            && let Some(found) = self.resolve_in(&project.name, rest, intent)?
        {
            return Ok(found);
        }
        // The note may be in a folder that is away, so a change does not guess.
        if intent != ResolveIntent::Read
            && let Some(e) = away
        {
            return Err(e);
        }
        let mut found = Vec::new();
        for project in projects.iter().filter(|p| !self.is_default(&p.name)) {
            match self.resolve_in(&project.name, name, intent) {
                Ok(resolved) => found.extend(resolved),
                Err(EngineError::Store(StoreError::ProjectUnavailable { .. })) => {}
                Err(e @ EngineError::Ignored { .. }) => ignored = ignored.or(Some(e)),
                Err(e) => return Err(e),
            }
        }
        match found.len() {
            0 => Err(ignored.or(away).unwrap_or_else(|| self.not_found(identifier, None))),
            1 => Ok(found.remove(0)),
            _ => Err(EngineError::Ambiguous {
                identifier: identifier.to_owned(),
                candidates: found.into_iter().map(|resolved| resolved.place).collect(),
            }),
        }
    }

    /// Returns true for the project of names without a project.
    pub(crate) fn is_default(&self, project: &ProjectName) -> bool {
        project.as_str() == self.default_project
    }

    /// Finds a note in one project; `None` if no note has the name. Hidden and ignored files are
    /// not notes.
    pub fn resolve_in(
        &self,
        project: &ProjectName,
        name: &str,
        intent: ResolveIntent,
    ) -> Result<Option<ResolvedNote>> {
        NameLookup::new(self, project, name, intent).resolve()
    }

    /// Rejects a file that is hidden, or that the rules of the project ignore.
    pub fn check_noted(&self, place: &NoteLocation) -> Result<()> {
        match self.store().ignored_by(&place.project, &place.path)? {
            None => Ok(()),
            Some(rule) => Err(EngineError::Ignored { place: place.clone(), rule }),
        }
    }

    fn not_found(&self, identifier: &str, project: Option<&ProjectName>) -> EngineError {
        let filter =
            SearchFilter { projects: project.into_iter().cloned().collect(), ..Default::default() };
        let words = identifier.replace(['/', '-', '_', '.'], " ");
        let mut near: Vec<NoteLocation> = Vec::new();
        if let Ok(snapshot) = self.snapshot() {
            if let Some(project) = project {
                let alike = snapshot.link_candidates(project, split(identifier).1);
                let alike = alike.unwrap_or_default().into_iter();
                near.extend(alike.map(|c| NoteLocation::new(project, c.path)));
            }
            let hits = snapshot.search(&words, &Query::parse(&words), &filter, 20);
            let hits = hits.map(|found| found.hits).unwrap_or_default().into_iter();
            near.extend(hits.map(|hit| NoteLocation { project: hit.project, path: hit.path }));
        }
        let mut suggestions: Vec<NoteLocation> = Vec::new();
        for place in near {
            if !suggestions.contains(&place) && suggestions.len() < 3 {
                suggestions.push(place);
            }
        }
        EngineError::NotFound {
            identifier: identifier.to_owned(),
            scope: project.map_or("any project".into(), |project| format!("project {project}")),
            suggestions,
        }
    }
}

/// Returns the project that a name contains: `project::name`, `memoranda://project/name`.
pub fn explicit_project(identifier: &str) -> Option<&str> {
    split(identifier).0
}

/// Returns the rest of a name that starts with the project, in any spelling; `None` if it does not.
pub fn name_in_project<'n>(project: &str, name: &'n str) -> Option<&'n str> {
    let (first, rest) = name.split_once('/')?;
    (link_key(first) == link_key(project)).then_some(rest)
}

/// Takes `memory://…`, `memoranda://project/…`, `project::name` and `[[name]]` apart.
pub(crate) fn split(identifier: &str) -> (Option<&str>, &str) {
    let text = identifier.trim();
    let text = text.strip_prefix("[[").and_then(|t| t.strip_suffix("]]")).unwrap_or(text);
    if let Some(rest) = text.strip_prefix("memoranda://") {
        return match rest.split_once('/') {
            Some((project, name)) if !project.is_empty() => (Some(project), name),
            _ => (None, rest),
        };
    }
    let text = text.strip_prefix("memory://").unwrap_or(text);
    match text.split_once("::") {
        Some((project, name)) if !project.is_empty() => (Some(project.trim()), name.trim()),
        _ => (None, text.trim_start_matches('/')),
    }
}
