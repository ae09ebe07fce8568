//! Which note a name means: a path, a permalink, a title, a `memory://` address.
//!
//! Resolution is strict. A name that fits several notes is an error that lists them; nothing is
//! ever guessed for a change.

use std::fmt;

use memoranda_core::graph::{LinkCandidate, Resolution, Strictness, choose, link_keys};
use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::slug;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_store::{SearchFilter, StoreError};

use crate::error::{EngineError, Result};
use crate::{DEFAULT_PROJECT, Memory};

/// Where a note lies: project and path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The project.
    pub project: ProjectName,
    /// The file.
    pub path: NotePath,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.path)
    }
}

/// What a name turned out to mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolved {
    /// The note.
    pub place: Place,
    /// Its number in the index, if it has been indexed.
    pub file: Option<i64>,
}

impl Memory {
    /// Finds the note that a name means, in one project or, without one, in `main` first and
    /// then wherever a single note goes by it.
    pub fn resolve(&self, project: Option<&str>, identifier: &str) -> Result<Resolved> {
        let (named, name) = split(identifier);
        if name.is_empty() {
            return Err(EngineError::Invalid("the name of the note is empty".into()));
        }
        if let Some(project) = named.or(project) {
            let project = self.store().project(project)?.name;
            return self
                .resolve_in(&project, name)?
                .ok_or_else(|| self.not_found(identifier, Some(&project)));
        }
        let projects = self.store().projects()?;
        if let Some(default) = projects.iter().find(|p| p.name.as_str() == DEFAULT_PROJECT)
            && let Some(found) = self.resolve_in(&default.name, name)?
        {
            return Ok(found);
        }
        // `work/plans/q3` names the project first.
        if let Some((first, rest)) = name.split_once('/')
            && let Some(project) = projects.iter().find(|p| p.name.as_str() == first)
            && let Some(found) = self.resolve_in(&project.name, rest)?
        {
            return Ok(found);
        }
        let mut found = Vec::new();
        for project in projects.iter().filter(|p| p.name.as_str() != DEFAULT_PROJECT) {
            match self.resolve_in(&project.name, name) {
                Ok(resolved) => found.extend(resolved),
                Err(EngineError::Store(StoreError::ProjectUnavailable { .. })) => {}
                Err(e) => return Err(e),
            }
        }
        match found.len() {
            0 => Err(self.not_found(identifier, None)),
            1 => Ok(found.remove(0)),
            _ => Err(EngineError::Ambiguous {
                identifier: identifier.to_owned(),
                candidates: found.into_iter().map(|resolved| resolved.place).collect(),
            }),
        }
    }

    /// Finds a note in one project; `None` if no note goes by that name.
    pub fn resolve_in(&self, project: &ProjectName, name: &str) -> Result<Option<Resolved>> {
        let place = |path| Place { project: project.clone(), path };
        for candidate in [name.to_owned(), format!("{name}.md")] {
            let Ok(path) = NotePath::parse(&candidate) else { continue };
            if let Some(path) = self.existing(project, &path)? {
                let file = self.store().file(project, &path)?.map(|file| file.id);
                return Ok(Some(Resolved { place: place(path), file }));
            }
        }
        let keys = link_keys(name, None, slug);
        let candidates = self.store().link_candidates(project, &keys.title)?;
        let found = |id: i64| candidates.iter().find(|c: &&LinkCandidate<i64>| c.id == id);
        match choose(&keys, &candidates, None, Strictness::Strict) {
            Resolution::Found(id) => {
                Ok(found(id).map(|c| Resolved { place: place(c.path.clone()), file: Some(id) }))
            }
            Resolution::Ambiguous(ids) => Err(EngineError::Ambiguous {
                identifier: name.to_owned(),
                candidates: ids
                    .into_iter()
                    .filter_map(found)
                    .map(|c| place(c.path.clone()))
                    .collect(),
            }),
            Resolution::Missing => match candidates.as_slice() {
                // The name is an alias, or differs in punctuation only.
                [only] => {
                    Ok(Some(Resolved { place: place(only.path.clone()), file: Some(only.id) }))
                }
                _ => Ok(None),
            },
        }
    }

    /// The file at a path, or the one whose name differs only in case or composition.
    pub(crate) fn existing(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<Option<NotePath>> {
        match self.store().read(project, path) {
            Ok(Some(_)) => return Ok(Some(path.clone())),
            // A folder of that name is not the note that is meant; `.md` may follow.
            Ok(None) | Err(StoreError::NotAFile { what: "a folder", .. }) => {}
            Err(e) => return Err(e.into()),
        }
        let twins = self.store().twins(project, path)?;
        for twin in twins {
            if self.store().read(project, &twin)?.is_some() {
                return Ok(Some(twin));
            }
        }
        Ok(None)
    }

    fn not_found(&self, identifier: &str, project: Option<&ProjectName>) -> EngineError {
        let filter =
            SearchFilter { projects: project.into_iter().cloned().collect(), ..Default::default() };
        let words = identifier.replace(['/', '-', '_', '.'], " ");
        let hits = self.store().search(&words, &Query::parse(&words), &filter, 20);
        let mut suggestions: Vec<Place> = Vec::new();
        for hit in hits.map(|found| found.hits).unwrap_or_default() {
            let place = Place { project: hit.project, path: hit.path };
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

/// Takes `memory://…`, `memoranda://project/…`, `project::name` and `[[name]]` apart.
fn split(identifier: &str) -> (Option<&str>, &str) {
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
