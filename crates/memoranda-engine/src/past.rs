//! A project as it was at a moment: its notes, their names, and the links between them.
//!
//! The index knows the present only. What has not changed since is taken from it all the same;
//! only notes that were different are read from the log.

use std::collections::HashMap;

use memoranda_core::graph::{
    Edge, LinkCandidate, Resolution, Strictness, choose, link_keys, neighbours,
};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note;
use memoranda_core::note::permalink::{permalink_of, slug};
use memoranda_core::path::NotePath;
use memoranda_store::Moment;

use crate::Memory;
use crate::context::{
    ContextNote, ContextPage, ContextRequest, ContextTarget, MOST_AROUND, Related,
};
use crate::error::{EngineError, Result};
use crate::resolve::Place;

/// A project as it was.
pub(crate) struct Past {
    project: ProjectName,
    moment: Moment,
    notes: Vec<PastNote>,
    /// Notes by the names that a link can call them by.
    names: HashMap<String, Vec<usize>>,
}

struct PastNote {
    path: NotePath,
    title: String,
    permalink: String,
    hash: ContentHash,
    links: Vec<PastLink>,
}

struct PastLink {
    relation_type: String,
    target: String,
    bound: Option<usize>,
}

impl Past {
    /// Works out how a project was.
    pub(crate) fn load(memory: &Memory, project: &ProjectName, moment: Moment) -> Result<Self> {
        let project = memory.store().project(project.as_str())?.name;
        let files = memory.store().files_as_of(&project, moment)?;
        let present: HashMap<_, _> = memory
            .store()
            .everything(&project, None)?
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        let mut notes = Vec::with_capacity(files.len());
        for file in files {
            let same = present.get(&file.path).filter(|now| now.hash == Some(file.hash));
            if let Some(now) = same {
                let relations = memory.store().relations_from(now.id)?.into_iter();
                let links = relations.map(|r| link(r.relation_type, r.target)).collect();
                notes.push(PastNote {
                    title: now.title.clone(),
                    permalink: now.permalink.clone(),
                    path: file.path,
                    hash: file.hash,
                    links,
                });
            } else if let Ok(bytes) = memory.store().content(file.hash) {
                let text = String::from_utf8_lossy(&bytes);
                let note = note::parse(&text);
                let own = note.permalink().or(file.permalink);
                let relations = note.relations.iter();
                notes.push(PastNote {
                    title: note.title().unwrap_or_else(|| file.path.stem().to_owned()),
                    permalink: own.unwrap_or_else(|| permalink_of(&file.path).0),
                    links: relations
                        .map(|r| link(r.relation_type.clone(), r.target.clone()))
                        .collect(),
                    path: file.path,
                    hash: file.hash,
                });
            }
        }
        let mut past = Self { project, moment, notes, names: HashMap::new() };
        past.bind();
        Ok(past)
    }

    fn bind(&mut self) {
        for (n, note) in self.notes.iter().enumerate() {
            let path = note.path.as_str();
            let cut = path.len() - note.path.extension().len().saturating_add(1).min(path.len());
            let bare = if note.path.extension().is_empty() { path } else { &path[..cut] };
            let mut keys = vec![slug(&note.title), slug(note.path.stem()), slug(bare)];
            keys.extend([slug(&note.permalink), slug(path)]);
            keys.sort_unstable();
            keys.dedup();
            for key in keys.into_iter().filter(|key| !key.is_empty()) {
                self.names.entry(key).or_default().push(n);
            }
        }
        let mut bound = Vec::with_capacity(self.notes.len());
        for note in &self.notes {
            let meant = |link: &PastLink| self.meant(&link.target, Some(&note.path)).ok().flatten();
            bound.push(note.links.iter().map(meant).collect::<Vec<_>>());
        }
        for (note, targets) in self.notes.iter_mut().zip(bound) {
            for (link, target) in note.links.iter_mut().zip(targets) {
                link.bound = target;
            }
        }
    }

    /// The note that a name meant; several are an error if nobody stands near one of them.
    fn meant(&self, name: &str, from: Option<&NotePath>) -> Result<Option<usize>> {
        let keys = link_keys(name, from, slug);
        if keys.project.as_ref().is_some_and(|named| *named != self.project.as_str()) {
            return Ok(None);
        }
        let found = self.names.get(&slug(keys.title.trim_start_matches('/')));
        let candidates: Vec<LinkCandidate<usize>> = found
            .into_iter()
            .flatten()
            .filter_map(|&n| {
                let note = self.notes.get(n)?;
                let (path, permalink) = (note.path.clone(), note.permalink.clone());
                Some(LinkCandidate { id: n, path, permalink, title: note.title.clone() })
            })
            .collect();
        let strictness = match from {
            Some(_) => Strictness::Lenient,
            None => Strictness::Strict,
        };
        match choose(&keys, &candidates, from, strictness) {
            Resolution::Found(n) => Ok(Some(n)),
            Resolution::Missing => Ok(candidates.first().map(|candidate| candidate.id)),
            Resolution::Ambiguous(ns) => Err(EngineError::Ambiguous {
                identifier: name.to_owned(),
                candidates: ns.into_iter().filter_map(|n| self.place(n)).collect(),
            }),
        }
    }

    fn place(&self, n: usize) -> Option<Place> {
        let path = self.notes.get(n)?.path.clone();
        Some(Place { project: self.project.clone(), path })
    }

    /// The context of notes as it was.
    pub(crate) fn context(&self, memory: &Memory, request: &ContextRequest) -> Result<ContextPage> {
        let (found, has_more) = match &request.target {
            ContextTarget::Name(name) => {
                let bare = name.trim().strip_prefix("memory://").unwrap_or(name.trim());
                let own = bare.strip_prefix(&format!("{}/", self.project));
                let meant = match self.meant(bare, None)? {
                    None => own.map(|own| self.meant(own, None)).transpose()?.flatten(),
                    found => found,
                };
                let missing = || EngineError::NotFound {
                    identifier: name.clone(),
                    scope: format!("project {} {}", self.project, when(self.moment)),
                    suggestions: Vec::new(),
                };
                (vec![meant.ok_or_else(missing)?], false)
            }
            ContextTarget::Pattern(pattern) => {
                let fits = |note: &PastNote| {
                    let with_project = format!("{}/{}", self.project, note.permalink);
                    fits(pattern, &note.permalink)
                        || fits(pattern, &with_project)
                        || fits(pattern, note.path.as_str())
                };
                let all = self.notes.iter().enumerate().filter(|(_, note)| fits(note));
                let mut some: Vec<usize> = all
                    .map(|(n, _)| n)
                    .skip(request.offset)
                    .take(request.limit.saturating_add(1))
                    .collect();
                let has_more = some.len() > request.limit;
                some.truncate(request.limit);
                (some, has_more)
            }
        };
        let mut around: HashMap<usize, Vec<Edge<usize, String>>> = HashMap::new();
        for (from, note) in self.notes.iter().enumerate() {
            for link in &note.links {
                let Some(to) = link.bound else { continue };
                let edge = Edge { from, to, label: link.relation_type.clone() };
                around.entry(from).or_default().push(edge.clone());
                around.entry(to).or_default().push(edge);
            }
        }
        let mut room = request.max_related.min(MOST_AROUND);
        let mut notes = Vec::with_capacity(found.len());
        for n in found {
            let note = self.context_of(memory, n, &around, request.depth, room)?;
            room = room.saturating_sub(note.related.len());
            notes.push(note);
        }
        Ok(ContextPage { notes, has_more })
    }

    fn context_of(
        &self,
        memory: &Memory,
        n: usize,
        around: &HashMap<usize, Vec<Edge<usize, String>>>,
        depth: usize,
        room: usize,
    ) -> Result<ContextNote> {
        let (Some(past), Some(place)) = (self.notes.get(n), self.place(n)) else {
            return Err(EngineError::Invalid("the note is not there".into()));
        };
        let text = String::from_utf8_lossy(&memory.store().content(past.hash)?).into_owned();
        let title = |n: usize| self.notes.get(n).map(|note| note.title.clone()).unwrap_or_default();
        let near = neighbours(&[n], depth, room, |level| {
            let edges = level.iter().flat_map(|n| around.get(n).into_iter().flatten());
            Ok::<_, EngineError>(edges.cloned().collect())
        })?;
        let related = near.found.into_iter().filter_map(|near| {
            let note = self.notes.get(near.id)?;
            Some(Related {
                place: self.place(near.id)?,
                title: note.title.clone(),
                permalink: note.permalink.clone(),
                updated: None,
                depth: near.depth,
                from: title(near.via.from),
                to: title(near.via.to),
                relation_type: near.via.label,
            })
        });
        let loose = past.links.iter().filter(|link| link.bound.is_none());
        Ok(ContextNote {
            place,
            title: past.title.clone(),
            permalink: past.permalink.clone(),
            created: None,
            updated: None,
            note: note::parse(&text),
            related: related.collect(),
            unresolved: loose.map(|l| (l.relation_type.clone(), l.target.clone())).collect(),
            truncated: near.truncated,
            text,
        })
    }
}

fn link(relation_type: String, target: String) -> PastLink {
    PastLink { relation_type, target, bound: None }
}

fn when(moment: Moment) -> String {
    match moment {
        Moment::Time(time) => format!("at {time}"),
        Moment::Commit(id) => format!("at commit {id}"),
    }
}

/// Whether a text fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        last = Some(part);
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    // The end of the text must be the end of the pattern, wherever else its last part occurs.
    match last {
        None => rest.is_empty(),
        Some(part) => text.ends_with(part),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("a/*", "a/b/c", true),
            ("a/*", "b/a/c", false),
            ("*/c", "a/c/b/c", true),
            ("*/c", "a/cd", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }
}
