//! Which note a name means: a path, a permalink, a title, a `memory://` address.
//!
//! Resolution is strict. A name that fits several notes is an error that lists them; nothing is
//! ever guessed for a change.

use std::fmt;

use memoranda_core::graph::{
    LinkCandidate, LinkResolution, LinkStrictness, alias_key, choose_candidate, is_shadowed,
    link_keys,
};
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::note::permalink::slug;
use memoranda_core::path::NotePath;
use memoranda_core::query::Query;
use memoranda_store::{FileSummary, NotAFileKind, SearchFilter, StoreError, link_key};

use crate::Memory;
use crate::error::{EngineError, Result};

/// Where a note lies: project and path.
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
    /// Its number in the index, if it has been indexed.
    pub file: Option<i64>,
    /// Another note with the same name, reported to disambiguate: the name is the path of one and
    /// the permalink of the other.
    pub other: Option<NoteLocation>,
}

/// Purpose of the resolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResolveIntent {
    /// Shows it: a name that says the same with other signs may mean it, if nothing fits better.
    Read,
    /// The note is changed: the name must be its path, permalink, title or alias. Only case, `_`,
    /// `-` and spaces may differ. `C#` is not `C++`.
    Change,
}

impl Memory {
    /// Finds the note that a name means, in one project or, without one, in the default first
    /// and then wherever a single note goes by it.
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
        // The note may lie in the folder that is away; nothing is guessed for a change.
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
        let place = |path| NoteLocation { project: project.clone(), path };
        let (mut ignored, mut by_path) = (None, None);
        for candidate in [name.to_owned(), format!("{name}.md"), format!("{name}.markdown")] {
            let Ok(path) = NotePath::parse(&candidate) else { continue };
            let Some(path) = self.existing(project, &path)? else { continue };
            if let Err(e) = self.check_noted(&place(path.clone())) {
                ignored = ignored.or(Some(e));
                continue;
            }
            let file = self.snapshot()?.file(project, &path)?.map(|file| file.id);
            let is_note = path.is_markdown();
            let found = ResolvedNote { place: place(path), file, other: None };
            // A file that is no note is called by its path.
            if candidate == name && !is_note {
                return Ok(Some(found));
            }
            by_path = Some((found, candidate == name));
            break;
        }
        let keys = link_keys(name, None, slug);
        let mut candidates = self.snapshot()?.link_candidates(project, &keys.title)?;
        if let Some((named, is_whole)) = by_path {
            let is_literal = named.place.path.as_str() == name;
            // A note keeps its permalink when it moves, and another note may get its old name. A
            // permalink may also look like a path. A name that equals neither exactly may stand for
            // both.
            let goes_by_it = |permalink: &str| {
                if is_whole && !is_literal {
                    alias_key(permalink) == keys.alias
                } else {
                    permalink == name
                }
            };
            let other = |c: &&LinkCandidate<i64>| {
                goes_by_it(&c.permalink) && c.path != named.place.path && c.path.is_markdown()
            };
            let Some(addressed) = candidates.iter().find(other) else { return Ok(Some(named)) };
            let (is_kept, file) = (addressed.is_permalink_kept, Some(addressed.id));
            let addressed = place(addressed.path.clone());
            return match intent {
                ResolveIntent::Change => Err(EngineError::Ambiguous {
                    identifier: name.to_owned(),
                    candidates: vec![addressed, named.place],
                }),
                // A name that a text states is its own, and one that was left behind is not; a whole
                // path is the file's.
                ResolveIntent::Read if is_kept || is_literal => {
                    Ok(Some(ResolvedNote { other: Some(addressed), ..named }))
                }
                ResolveIntent::Read => {
                    Ok(Some(ResolvedNote { place: addressed, file, other: Some(named.place) }))
                }
            };
        }
        let left_behind =
            candidates.iter().find(|c| c.permalink == name && is_shadowed(c, &candidates));
        let left_behind = left_behind.map(|c| (c.id, place(c.path.clone())));
        if intent == ResolveIntent::Change {
            // A permalink omits special characters, so only an exactly equal one counts.
            let said = |permalink: &String| keys.permalinks.first() == Some(permalink);
            candidates.iter_mut().filter(|c| !said(&c.permalink)).for_each(|c| c.permalink.clear());
            candidates.iter_mut().for_each(|c| c.within = c.within.take().filter(said));
        }
        let found = |id: i64| candidates.iter().find(|c: &&LinkCandidate<i64>| c.id == id);
        match choose_candidate(&keys, &candidates, None, LinkStrictness::Strict) {
            LinkResolution::Found(id) => {
                let meant = found(id).map(|c| place(c.path.clone()));
                let other = left_behind.filter(|(left, _)| *left != id).map(|(_, place)| place);
                match (meant, other, intent) {
                    (Some(meant), Some(other), ResolveIntent::Change) => {
                        Err(EngineError::Ambiguous {
                            identifier: name.to_owned(),
                            candidates: vec![other, meant],
                        })
                    }
                    (meant, other, _) => {
                        Ok(meant.map(|place| ResolvedNote { place, file: Some(id), other }))
                    }
                }
            }
            LinkResolution::Ambiguous(ids) => Err(EngineError::Ambiguous {
                identifier: name.to_owned(),
                candidates: ids
                    .into_iter()
                    .filter_map(found)
                    .map(|c| place(c.path.clone()))
                    .collect(),
            }),
            LinkResolution::Missing => {
                let mut meant = candidates;
                if meant.iter().any(|c| c.path.is_markdown()) {
                    meant.retain(|c| c.path.is_markdown());
                }
                if intent == ResolveIntent::Change {
                    let mut called = Vec::new();
                    for candidate in meant {
                        if self.is_alias(&place(candidate.path.clone()), &keys.alias)? {
                            called.push(candidate);
                        }
                    }
                    meant = called;
                }
                match (meant.as_slice(), ignored) {
                    // The name is an alias, or differs in punctuation only.
                    ([only], _) => {
                        let (place, file) = (place(only.path.clone()), Some(only.id));
                        Ok(Some(ResolvedNote { place, file, other: None }))
                    }
                    (_, Some(ignored)) => Err(ignored),
                    // `Plan#Next steps` is a part of a note, and shown with it.
                    (_, None) if intent == ResolveIntent::Read => match name.split_once('#') {
                        Some((note, part)) if !note.trim().is_empty() && !part.is_empty() => {
                            self.resolve_in(project, note.trim(), intent)
                        }
                        _ => Ok(None),
                    },
                    (_, None) => Ok(None),
                }
            }
        }
    }

    /// Refuses a file that is hidden, or that the project's rules leave out.
    pub fn check_noted(&self, place: &NoteLocation) -> Result<()> {
        match self.store().ignored_by(&place.project, &place.path)? {
            None => Ok(()),
            Some(rule) => Err(EngineError::Ignored { place: place.clone(), rule }),
        }
    }

    /// Returns true if a note's frontmatter lists the name as an alias.
    fn is_alias(&self, place: &NoteLocation, alias: &str) -> Result<bool> {
        let Some(found) = self.store().read(&place.project, &place.path)? else { return Ok(false) };
        let note = note::parse(&String::from_utf8_lossy(&found.bytes));
        Ok(note.aliases().iter().any(|name| alias_key(name) == alias))
    }

    /// The file at a path, or the one whose name differs only in case or composition.
    pub(crate) fn existing(
        &self,
        project: &ProjectName,
        path: &NotePath,
    ) -> Result<Option<NotePath>> {
        match self.store().read(project, path) {
            Ok(Some(_)) => return Ok(Some(path.clone())),
            // A folder has this name; the note may have the name with `.md`.
            Ok(None) | Err(StoreError::NotAFile { kind: NotAFileKind::Folder, .. }) => {}
            Err(e) => return Err(e.into()),
        }
        let twins = self.snapshot()?.twins(project, path)?;
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
        let mut near: Vec<NoteLocation> = Vec::new();
        if let Ok(snapshot) = self.snapshot() {
            if let Some(project) = project {
                // Those that a name with other signs would mean.
                let alike = snapshot.link_candidates(project, split(identifier).1);
                let alike = alike.unwrap_or_default().into_iter();
                near.extend(alike.map(|c| NoteLocation { project: project.clone(), path: c.path }));
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

/// The project that a name says itself: `project::name`, `memoranda://project/name`.
pub fn project_said(identifier: &str) -> Option<&str> {
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
