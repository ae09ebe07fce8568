//! A project at an earlier time: its notes, their names, and the links between them.
//!
//! Unchanged notes are read from the index, which contains the present state. Only notes that were
//! different are read from the log, and only links that involve them are resolved again.

use std::collections::{HashMap, HashSet};

use memoranda_core::graph::{
    GraphEdge, GraphNeighbour, LinkCandidate, LinkResolution, LinkStrictness, choose_candidate,
    fallback_match, find_neighbours, link_keys, resolve_exact_title, resolve_link,
    resolve_relative_link,
};
use memoranda_core::id::{ContentHash, ProjectName};
use memoranda_core::note::permalink::{permalink_of, slug, strip_project};
use memoranda_core::note::{self, Note};
use memoranda_core::path::{NotePath, name_key};
use memoranda_store::{
    FileKind, FileSummary, FilteredList, ListOrder, PointInTime, RelationRow, SearchFilter,
    WholeLink, exact_key, keys_of, link_key, target_key,
};

use crate::Memory;
use crate::error::{EngineError, Result};
use crate::links::resolve::{NoteLocation, name_in_project};
use crate::notes::context::{
    self, ContextNote, ContextPage, ContextRequest, ContextRoom, ContextTarget, FurtherLink,
    RelatedNote,
};
use crate::wildcard::matches_wildcard;

/// A project at an earlier time.
pub(crate) struct ProjectAt<'m> {
    memory: &'m Memory,
    project: ProjectName,
    /// Name of the project as a link key.
    own_key: String,
    moment: PointInTime,
    /// Files of the index that had another content then, or did not exist.
    hidden: HashSet<i64>,
    /// Earlier versions of the notes that have changed since, sorted by path.
    notes: Vec<NoteVersion>,
    /// Indices of the notes that each key can resolve to.
    names: HashMap<String, Vec<usize>>,
    /// Current notes to which the keys of affected links can resolve.
    present: HashMap<String, Vec<LinkCandidate<i64>>>,
    /// Links that differ from the index, by either end.
    links: HashMap<NoteRef, Vec<GraphEdge<NoteRef, String>>>,
}

/// A note at that time: unchanged since, or with another version now.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum NoteRef {
    Now(i64),
    Then(usize),
}

struct NoteVersion {
    path: NotePath,
    title: String,
    permalink: String,
    is_permalink_kept: bool,
    hash: ContentHash,
    links: Vec<LinkVersion>,
}

struct LinkVersion {
    relation_type: String,
    target: String,
    key: String,
    whole: Option<WholeLink>,
    exact_name: Option<String>,
}

/// Returns the key of a path without a leading slash.
fn without_leading_slash(key: &str) -> &str {
    key.strip_prefix('/').unwrap_or(key)
}

impl NoteVersion {
    fn read(path: NotePath, text: &str, hash: ContentHash, given: Option<String>) -> (Self, Note) {
        // Only notes have titles, permalinks and aliases in their text.
        let is_note = path.is_markdown();
        let note = note::parse(if is_note { text } else { "" });
        let links = note.relations.iter().map(|relation| {
            let folder = path.parent().filter(|_| relation.meta.is_some());
            let key_of = |name: &str| {
                let bare = name.split_once("::").map_or(name, |(_, bare)| bare);
                target_key(&resolve_relative_link(&path, bare.trim()))
            };
            let whole = relation.whole.as_ref().filter(|_| folder.is_none());
            LinkVersion {
                relation_type: relation.relation_type.clone(),
                target: relation.target.clone(),
                key: match folder {
                    Some(folder) => exact_key(folder, relation.name()),
                    None => key_of(note::link_name(&relation.target)),
                },
                whole: whole.map(|text| WholeLink { text: text.clone(), key: key_of(text) }),
                exact_name: folder.map(|_| relation.name().to_owned()),
            }
        });
        let links = links.collect();
        let (stated, derived) = (note.permalink(), permalink_of(&path).0);
        let is_stated = stated.is_some();
        let permalink = stated.or(given).unwrap_or_else(|| derived.clone());
        let is_permalink_kept = !is_stated && permalink != derived;
        let called = if is_note { path.stem() } else { path.file_name() };
        let title = note.title().unwrap_or_else(|| called.to_owned());
        (Self { path, title, permalink, is_permalink_kept, hash, links }, note)
    }

    fn candidate<Id>(&self, id: Id, project: &ProjectName) -> LinkCandidate<Id> {
        let (path, permalink) = (self.path.clone(), self.permalink.clone());
        let within = strip_project(&permalink, project.as_str()).map(str::to_owned);
        let (title, is_permalink_kept) = (self.title.clone(), self.is_permalink_kept);
        LinkCandidate { id, path, permalink, within, title, is_permalink_kept }
    }
}

impl<'m> ProjectAt<'m> {
    /// Reads the state of a project at a moment.
    pub(crate) fn load(
        memory: &'m Memory,
        project: &ProjectName,
        moment: PointInTime,
    ) -> Result<Self> {
        let store = memory.store();
        let project = store.project(project.as_str())?.name;
        let mut past = Self {
            memory,
            moment,
            hidden: HashSet::new(),
            notes: Vec::new(),
            names: HashMap::new(),
            present: HashMap::new(),
            links: HashMap::new(),
            own_key: link_key(project.as_str()),
            project,
        };
        let versions = memory.versions_at([past.project.clone()], moment)?;
        past.hidden = versions.hidden;
        for version in versions.files {
            // A file that is ignored today is not shown at an earlier time either.
            let ignored = || store.ignored_by(&past.project, &version.place.path);
            if version.now.is_none() && matches!(ignored(), Ok(Some(_))) {
                continue;
            }
            let text = version.text(memory);
            let (Some(text), Some(then)) = (text, version.then) else { continue };
            let (past_note, note) =
                NoteVersion::read(version.place.path, &text, then.hash, then.permalink);
            let NoteVersion { path, title, permalink, .. } = &past_note;
            let keys = keys_of(past.project.as_str(), path, &note, title, permalink);
            for key in keys {
                past.names.entry(key).or_default().push(past.notes.len());
            }
            past.notes.push(past_note);
        }
        past.resolve_links()?;
        Ok(past)
    }

    /// Resolves the links that may differ from the index: links in and to notes that were different.
    fn resolve_links(&mut self) -> Result<()> {
        let store = self.memory.store();
        let mut names: Vec<String> = self.names.keys().cloned().collect();
        names.extend(self.names.keys().map(|name| format!("{}/{name}", self.own_key)));
        names.extend(self.names.keys().map(|name| format!("/{name}")));
        names.sort_unstable();
        names.dedup();
        let hidden: Vec<i64> = self.hidden.iter().copied().collect();
        let mut affected =
            store.snapshot()?.relations_concerning(&self.project, &hidden, &names)?;
        affected.retain(|relation| !self.hidden.contains(&relation.file));
        let mut keys: Vec<String> = self
            .notes
            .iter()
            .flat_map(|note| &note.links)
            .flat_map(|link| link.whole.iter().map(|whole| &whole.key).chain([&link.key]))
            .chain(affected.iter().flat_map(|relation| {
                relation.whole.iter().map(|whole| &whole.key).chain([&relation.key])
            }))
            .map(|key| without_leading_slash(key).to_owned())
            .collect();
        let rests: Vec<&str> = keys.iter().filter_map(|key| self.after_own(key)).collect();
        let rests: Vec<String> = rests.into_iter().map(str::to_owned).collect();
        keys.extend(rests);
        keys.sort_unstable();
        keys.dedup();
        self.present = store.snapshot()?.named(&self.project, &keys)?;
        let mut from: Vec<i64> = affected.iter().map(|relation| relation.file).collect();
        from.sort_unstable();
        from.dedup();
        let from: HashMap<i64, FileSummary> =
            store.snapshot()?.files_by_id(&from)?.into_iter().map(|file| (file.id, file)).collect();
        let mut edges = Vec::new();
        for relation in affected {
            let own = from.get(&relation.file).filter(|file| file.project == self.project);
            let Some(file) = own else { continue };
            let label = relation.relation_type.clone();
            let to = self.target_of_relation(&relation, &file.path);
            edges.extend(to.map(|to| GraphEdge { from: NoteRef::Now(relation.file), to, label }));
        }
        for (n, note) in self.notes.iter().enumerate() {
            for link in &note.links {
                let label = link.relation_type.clone();
                let to = self.target_of_version(link, &note.path);
                edges.extend(to.map(|to| GraphEdge { from: NoteRef::Then(n), to, label }));
            }
        }
        for edge in edges {
            self.links.entry(edge.from).or_default().push(edge.clone());
            self.links.entry(edge.to).or_default().push(edge);
        }
        Ok(())
    }

    /// Returns the note to which a relation of an unchanged note led then.
    fn target_of_relation(&self, relation: &RelationRow, from: &NotePath) -> Option<NoteRef> {
        if self.may_differ(relation) {
            let exact = relation.exact_name.as_deref();
            let whole = relation.whole.as_ref();
            return self.resolve(whole, (&relation.key, &relation.target), exact, from);
        }
        relation.target_file.map(NoteRef::Now)
    }

    /// Returns the note to which a link of a changed note led then.
    fn target_of_version(&self, link: &LinkVersion, from: &NotePath) -> Option<NoteRef> {
        let exact = link.exact_name.as_deref();
        self.resolve(link.whole.as_ref(), (&link.key, &link.target), exact, from)
    }

    /// Resolves the whole link text, else the part before a heading.
    fn resolve(
        &self,
        whole: Option<&WholeLink>,
        (key, target): (&str, &str),
        exact: Option<&str>,
        from: &NotePath,
    ) -> Option<NoteRef> {
        let wholly = whole.and_then(|whole| self.resolve_name(&whole.key, &whole.text, None, from));
        let part = if whole.is_some() { note::link_name(target).trim_end() } else { target };
        wholly.or_else(|| self.resolve_name(key, part, exact, from))
    }

    /// Returns true if a relation may have led to another note then.
    fn may_differ(&self, relation: &RelationRow) -> bool {
        let whole = relation.whole.as_ref().map(|whole| without_leading_slash(&whole.key));
        self.names.contains_key(without_leading_slash(&relation.key))
            || whole.is_some_and(|whole| self.names.contains_key(whole))
            || self.after_own(&relation.key).is_some_and(|rest| self.names.contains_key(rest))
            || relation.target_file.is_some_and(|file| self.hidden.contains(&file))
    }

    fn resolve_name(
        &self,
        key: &str,
        target: &str,
        exact: Option<&str>,
        from: &NotePath,
    ) -> Option<NoteRef> {
        let project = link_keys(target, None, slug).project;
        if project.is_some_and(|named| link_key(&named) != self.own_key) {
            return None;
        }
        let candidates = |key: &str| {
            let key = without_leading_slash(key);
            let present = self.present.get(key).map_or(&[][..], Vec::as_slice);
            self.candidates(present, key)
        };
        // The first folder of a link may be the name of the project.
        if let (Some(rest), Some((_, name))) = (self.after_own(key), target.split_once('/'))
            && exact.is_none()
            && candidates(key).is_empty()
        {
            return resolve_link(name, None, &candidates(rest));
        }
        let candidates = candidates(key);
        match exact {
            Some(title) => {
                resolve_exact_title(title, from.parent().unwrap_or_default(), &candidates)
            }
            None => resolve_link(target, Some(from), &candidates),
        }
    }

    /// Returns the rest of a key that starts with the name of this project.
    fn after_own<'k>(&self, key: &'k str) -> Option<&'k str> {
        key.strip_prefix(&self.own_key)?.strip_prefix('/')
    }

    /// Returns the notes to which a key could resolve then, the shortest path first.
    fn candidates(&self, present: &[LinkCandidate<i64>], key: &str) -> Vec<LinkCandidate<NoteRef>> {
        let same = present.iter().filter(|candidate| !self.hidden.contains(&candidate.id));
        let same = same.map(|candidate| LinkCandidate {
            id: NoteRef::Now(candidate.id),
            path: candidate.path.clone(),
            permalink: candidate.permalink.clone(),
            within: candidate.within.clone(),
            title: candidate.title.clone(),
            is_permalink_kept: candidate.is_permalink_kept,
        });
        let other = self.names.get(key).into_iter().flatten();
        let other = other
            .filter_map(|&n| Some(self.notes.get(n)?.candidate(NoteRef::Then(n), &self.project)));
        let mut candidates: Vec<_> = same.chain(other).collect();
        candidates.sort_by(|a, b| {
            let length = |c: &LinkCandidate<NoteRef>| c.path.as_str().len();
            length(a).cmp(&length(b)).then_with(|| a.path.cmp(&b.path))
        });
        candidates
    }

    /// Finds the note of a name as a caller writes it; an ambiguous name is an error.
    fn find(&self, name: &str) -> Result<Option<NoteRef>> {
        let mut keys = link_keys(name, None, slug);
        keys.title = keys.title.trim_start_matches('/').to_owned();
        if keys.project.as_ref().is_some_and(|named| *named != self.project.as_str()) {
            return Ok(None);
        }
        let mut candidates = Vec::new();
        for name in [Some(keys.title.as_str()), keys.title.strip_suffix(".md")] {
            let Some(key) = name.map(link_key) else { continue };
            let present =
                self.memory.snapshot()?.named(&self.project, std::slice::from_ref(&key))?;
            let present = present.get(&key).map_or(&[][..], Vec::as_slice);
            for candidate in self.candidates(present, &key) {
                if candidates.iter().all(|other: &LinkCandidate<NoteRef>| other.id != candidate.id)
                {
                    candidates.push(candidate);
                }
            }
        }
        match choose_candidate(&keys, &candidates, None, LinkStrictness::Strict) {
            LinkResolution::Found(note) => Ok(Some(note)),
            LinkResolution::Missing => Ok(fallback_match(&candidates)),
            LinkResolution::Ambiguous(several) => {
                let candidates = candidates.into_iter().filter(|c| several.contains(&c.id));
                Err(EngineError::Ambiguous {
                    identifier: name.to_owned(),
                    candidates: candidates.map(|c| self.place(c.path)).collect(),
                })
            }
        }
    }

    /// Returns the location and the version that the note of this name had.
    pub(crate) fn version_of(&self, name: &str) -> Result<Option<(NoteLocation, ContentHash)>> {
        let Some(at) = self.find(name)? else { return Ok(None) };
        let known = self.known(std::iter::once(at))?.remove(&at);
        Ok(known.and_then(|known| Some((self.place(known.path), known.hash?))))
    }

    fn place(&self, path: NotePath) -> NoteLocation {
        NoteLocation::new(&self.project, path)
    }

    /// Returns the context of notes at that time.
    pub(crate) fn context(&self, request: &ContextRequest) -> Result<ContextPage> {
        let (found, has_more) = match &request.target {
            ContextTarget::Name(name) => {
                let bare = name.trim().strip_prefix("memory://").unwrap_or(name.trim());
                let own = name_in_project(self.project.as_str(), bare);
                let note = match self.find(bare)? {
                    None => own.map(|own| self.find(own)).transpose()?.flatten(),
                    found => found,
                };
                let Some(note) = note else {
                    let when = self.memory.when(&self.project, self.moment)?;
                    return Err(EngineError::NotFound {
                        identifier: name.clone(),
                        scope: format!("project {} {when}", self.project),
                        suggestions: Vec::new(),
                    });
                };
                (std::iter::once(note).skip(request.offset).collect(), false)
            }
            ContextTarget::Notes(paths) => {
                let mut found = Vec::new();
                for path in paths.iter().skip(request.offset).take(request.limit) {
                    found.extend(self.find(path.as_str())?);
                }
                (found, paths.len() > request.offset.saturating_add(request.limit))
            }
            ContextTarget::Pattern(pattern) => self.matching(pattern, request)?,
        };
        let named = self.known(found.iter().copied())?.into_iter();
        let mut room =
            ContextRoom::new(request.max_related, named.map(|(at, known)| (at, known.title)));
        let notes = found.into_iter().map(|at| self.context_of(at, request, &mut room));
        Ok(ContextPage { notes: notes.collect::<Result<_>>()?, has_more })
    }

    /// Returns the notes whose address matched the pattern, sorted by path, and true if there are
    /// more.
    fn matching(&self, pattern: &str, request: &ContextRequest) -> Result<(Vec<NoteRef>, bool)> {
        let enough = request.offset.saturating_add(request.limit).saturating_add(1);
        let present = self.memory.snapshot()?.filtered_list(&FilteredList {
            filter: SearchFilter { projects: vec![self.project.clone()], ..Default::default() },
            title: Vec::new(),
            address: Some(pattern.to_owned()),
            order: ListOrder::Path,
            limit: enough.saturating_add(self.hidden.len()),
            offset: 0,
        })?;
        let present = present.into_iter().filter(|file| !self.hidden.contains(&file.id));
        let past = self.notes.iter().enumerate().filter(|(_, note)| {
            let own = self.project.as_str();
            matches_wildcard(pattern, &note.permalink)
                || matches_wildcard(&format!("{own}/{pattern}"), &note.permalink)
                || name_in_project(own, pattern)
                    .is_some_and(|rest| matches_wildcard(rest, &note.permalink))
                || matches_wildcard(&name_key(pattern), &note.path.key())
        });
        let past = past.map(|(n, note)| (note.path.clone(), NoteRef::Then(n)));
        let mut all: Vec<_> = present.map(|f| (f.path, NoteRef::Now(f.id))).chain(past).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let has_more = all.len() >= enough;
        let some = all.into_iter().skip(request.offset).take(request.limit);
        Ok((some.map(|(_, at)| at).collect(), has_more))
    }

    /// The links from and to notes, as they were.
    fn edges(&self, level: &[NoteRef]) -> Result<Vec<GraphEdge<NoteRef, String>>> {
        let now: Vec<i64> = level
            .iter()
            .filter_map(|at| match at {
                NoteRef::Now(id) => Some(*id),
                NoteRef::Then(_) => None,
            })
            .collect();
        let present = self.memory.snapshot()?.relations_around(&self.project, &now)?.into_iter();
        let same = present.filter(|r| !self.hidden.contains(&r.file) && !self.may_differ(r));
        let same = same.filter_map(|relation| {
            let (from, to) = (NoteRef::Now(relation.file), NoteRef::Now(relation.target_file?));
            Some(GraphEdge { from, to, label: relation.relation_type })
        });
        let other = level.iter().filter_map(|at| self.links.get(at)).flatten().cloned();
        Ok(same.chain(other).collect())
    }

    fn context_of(
        &self,
        at: NoteRef,
        request: &ContextRequest,
        room: &mut ContextRoom<NoteRef>,
    ) -> Result<ContextNote> {
        let most = room.looked_at();
        let near = find_neighbours(&[at], request.depth, most, |level| self.edges(level))?;
        let ends = near.found.iter().flat_map(|near| [near.id, near.via.from, near.via.to]);
        let known = self.known(std::iter::once(at).chain(ends))?;
        let gone = || EngineError::Invalid("the note is gone; ask again".into());
        let own = known.get(&at).ok_or_else(gone)?;
        let (text, note) = match own.kind {
            // The log need not keep the bytes of such a file, and none of them are shown.
            FileKind::Other if !own.path.is_markdown() => (None, note::parse("")),
            _ => {
                let bytes = self.memory.store().content(own.hash.ok_or_else(gone)?)?;
                context::read(&own.path, &bytes)
            }
        };
        let mut truncated = near.truncated;
        let mut found = near.found;
        found.retain(|near| {
            let is_shown = known.get(&near.id).is_some_and(|note| room.takes(near.id, &note.title));
            truncated |= !is_shown;
            is_shown
        });
        let title = |at: NoteRef| {
            let known = known.get(&at).map(|known| known.title.as_str());
            known.or_else(|| room.title(at)).unwrap_or_default().to_owned()
        };
        let further = self.between(at, &found, room)?.into_iter().map(|edge| FurtherLink {
            from: title(edge.from),
            to: title(edge.to),
            relation_type: edge.label,
        });
        let further = further.collect();
        let related = found.into_iter().filter_map(|near| {
            let note = known.get(&near.id)?;
            Some(RelatedNote {
                place: self.place(note.path.clone()),
                title: note.title.clone(),
                permalink: note.permalink.clone(),
                updated: None,
                depth: near.depth,
                from: title(near.via.from),
                to: title(near.via.to),
                relation_type: near.via.label,
            })
        });
        let loose = self.loose(at, &own.path, request.only.as_ref())?;
        Ok(ContextNote {
            place: self.place(own.path.clone()),
            title: own.title.clone(),
            permalink: own.permalink.clone(),
            created: None,
            updated: None,
            note,
            related: related.collect(),
            further,
            unresolved: loose.unresolved,
            elsewhere: loose.elsewhere,
            truncated,
            text,
        })
    }

    /// Returns the links between a note and its neighbours, and from the note to other shown notes.
    /// Links by which a neighbour was reached are left out.
    fn between(
        &self,
        centre: NoteRef,
        found: &[GraphNeighbour<NoteRef, String>],
        room: &ContextRoom<NoteRef>,
    ) -> Result<Vec<GraphEdge<NoteRef, String>>> {
        let shown: Vec<NoteRef> =
            std::iter::once(centre).chain(found.iter().map(|near| near.id)).collect();
        let mut told: Vec<&GraphEdge<NoteRef, String>> =
            found.iter().map(|near| &near.via).collect();
        let edges = self.edges(&shown)?;
        let mut further = Vec::new();
        for edge in &edges {
            let ends = [edge.from, edge.to];
            let is_near = ends.iter().all(|end| shown.contains(end));
            let is_shown = is_near || edge.from == centre && room.title(edge.to).is_some();
            if is_shown && edge.from != edge.to && !told.contains(&edge) {
                told.push(edge);
                further.push(edge.clone());
            }
        }
        Ok(further)
    }

    /// Returns the links of a note that resolved to no note then, and those to notes of other
    /// projects.
    fn loose(
        &self,
        at: NoteRef,
        path: &NotePath,
        only: Option<&ProjectName>,
    ) -> Result<UnboundLinks> {
        let mut loose = UnboundLinks::default();
        match at {
            NoteRef::Now(id) => {
                let relations = self.memory.snapshot()?.relations_from(id)?;
                let now = |relation: &RelationRow| match self.target_of_relation(relation, path) {
                    Some(NoteRef::Now(target)) => Some(target),
                    Some(NoteRef::Then(_)) | None => None,
                };
                let targets = relations.iter().filter_map(now);
                let own = self.memory.shown(Some(&self.project), targets)?;
                for relation in relations {
                    let list = match self.target_of_relation(&relation, path) {
                        Some(NoteRef::Now(target)) if own.contains(&target) => continue,
                        Some(NoteRef::Then(_)) => continue,
                        Some(NoteRef::Now(_)) if only.is_none() => &mut loose.elsewhere,
                        _ => &mut loose.unresolved,
                    };
                    list.push((relation.relation_type, relation.target));
                }
            }
            NoteRef::Then(n) => {
                for link in self.notes.get(n).into_iter().flat_map(|note| &note.links) {
                    if self.target_of_version(link, path).is_some() {
                        continue;
                    }
                    let list = if self.is_elsewhere(&link.target) && only.is_none() {
                        &mut loose.elsewhere
                    } else {
                        &mut loose.unresolved
                    };
                    list.push((link.relation_type.clone(), link.target.clone()));
                }
            }
        }
        Ok(loose)
    }

    /// Returns true if a link names another existing project.
    fn is_elsewhere(&self, target: &str) -> bool {
        let named = link_keys(target, None, slug).project;
        named.is_some_and(|named| {
            link_key(&named) != self.own_key && self.memory.store().project(&named).is_ok()
        })
    }

    /// Loads the displayed data of notes.
    fn known(
        &self,
        all: impl Iterator<Item = NoteRef>,
    ) -> Result<HashMap<NoteRef, NoteDisplayData>> {
        let mut known = HashMap::new();
        let mut now = Vec::new();
        for at in all {
            match at {
                NoteRef::Now(id) => now.push(id),
                NoteRef::Then(n) => known.extend(self.notes.get(n).map(|note| {
                    let (path, title) = (note.path.clone(), note.title.clone());
                    let (permalink, hash) = (note.permalink.clone(), Some(note.hash));
                    (at, NoteDisplayData { path, title, permalink, hash, kind: FileKind::Known })
                })),
            }
        }
        now.sort_unstable();
        now.dedup();
        for file in self.memory.snapshot()?.files_by_id(&now)? {
            let FileSummary { id, path, title, permalink, hash, kind, .. } = file;
            known.insert(NoteRef::Now(id), NoteDisplayData { path, title, permalink, hash, kind });
        }
        Ok(known)
    }
}

/// Links of a note that lead to no note of its project: relation type and name.
#[derive(Default)]
struct UnboundLinks {
    unresolved: Vec<(String, String)>,
    elsewhere: Vec<(String, String)>,
}

/// Displayed data of a note.
struct NoteDisplayData {
    path: NotePath,
    title: String,
    permalink: String,
    hash: Option<ContentHash>,
    kind: FileKind,
}
