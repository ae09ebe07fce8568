//! The context of notes: their texts and the notes around them, now or at an earlier time.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::note::{self, Note};
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, FilteredList, ListOrder, PointInTime, SearchFilter};

use crate::Memory;
use crate::error::Result;
use crate::history::project_at::ProjectAt;
use crate::links::resolve::{NoteLocation, ResolveIntent};
use crate::notes::read::is_text;

/// Maximum number of notes that are read around one note.
const MAX_NOTES_AROUND: usize = 20_000;

/// Request for the context of notes.
#[derive(Clone, Debug)]
pub struct ContextRequest {
    /// The project.
    pub project: ProjectName,
    /// Notes whose context is requested.
    pub target: ContextTarget,
    /// Maximum number of links between a note and a related note.
    pub depth: usize,
    /// Maximum number of related notes in total.
    pub max_related: usize,
    /// Restricts the context to this project, if the caller may not see others.
    pub only: Option<ProjectName>,
    /// Restricts related notes to those changed since this time.
    pub since: Option<Timestamp>,
    /// Moment of the past; `None` for now.
    pub as_of: Option<PointInTime>,
    /// Maximum number of notes that match a pattern.
    pub limit: usize,
    /// Number of notes to skip.
    pub offset: usize,
}

/// Selection of the notes whose context is requested.
#[derive(Clone, Debug)]
pub enum ContextTarget {
    /// The note of this name.
    Name(String),
    /// Every note whose permalink or path matches, with `*` as a wildcard.
    Pattern(String),
    /// These notes.
    Notes(Vec<NotePath>),
}

/// Notes with their contexts.
#[derive(Clone, Debug)]
pub struct ContextPage {
    /// The notes.
    pub notes: Vec<ContextNote>,
    /// True if more notes match the pattern.
    pub has_more: bool,
}

/// A note and the notes around it.
#[derive(Clone, Debug)]
pub struct ContextNote {
    /// Location of the note.
    pub place: NoteLocation,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
    /// Creation time; `None` for an earlier version.
    pub created: Option<Timestamp>,
    /// Time of the last change; `None` for an earlier version.
    pub updated: Option<Timestamp>,
    /// Text, with replacement characters for invalid bytes. `None` for a file that is not text.
    pub text: Option<String>,
    /// The parsed text; empty for files that are not notes.
    pub note: Note,
    /// The notes around it, nearest first.
    pub related: Vec<RelatedNote>,
    /// Relations to neighbours that are not listed with the neighbours.
    pub further: Vec<FurtherLink>,
    /// Links to notes that do not exist: relation type and name.
    pub unresolved: Vec<(String, String)>,
    /// Like `unresolved`, for links to notes of other projects: their earlier state is not read.
    pub elsewhere: Vec<(String, String)>,
    /// True if a limit left neighbours out.
    pub truncated: bool,
}

/// A note near another, and the link by which it was reached.
#[derive(Clone, Debug)]
pub struct RelatedNote {
    /// Location of the note.
    pub place: NoteLocation,
    /// Title.
    pub title: String,
    /// Permalink.
    pub permalink: String,
    /// Time of the last change; `None` for an earlier version.
    pub updated: Option<Timestamp>,
    /// Number of links between the note and the related note.
    pub depth: usize,
    /// Relation type of the link.
    pub relation_type: String,
    /// Title of the note that contains the link.
    pub from: String,
    /// Title of the note to which the link leads.
    pub to: String,
}

/// A relation between two notes of a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FurtherLink {
    /// Relation type.
    pub relation_type: String,
    /// Title of the note that contains the relation.
    pub from: String,
    /// Title of the note to which the relation leads.
    pub to: String,
}

/// Remaining number of related notes in an answer. A note that is already shown takes no room.
#[derive(Clone)]
pub(crate) struct ContextRoom<Id> {
    left: usize,
    /// Titles of all shown notes.
    shown: HashMap<Id, String>,
}

impl<Id: Copy + Eq + Hash> ContextRoom<Id> {
    pub(crate) fn new(most: usize, named: impl Iterator<Item = (Id, String)>) -> Self {
        Self { left: most, shown: named.collect() }
    }

    /// Returns true if a note is shown: it is already, or the limit allows one more.
    pub(crate) fn takes(&mut self, id: Id, title: &str) -> bool {
        if self.shown.contains_key(&id) {
            return true;
        }
        let is_room = self.left > 0;
        if is_room {
            self.left -= 1;
            self.shown.insert(id, title.to_owned());
        }
        is_room
    }

    fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Returns the title of a shown note.
    pub(crate) fn title(&self, id: Id) -> Option<&str> {
        self.shown.get(&id).map(String::as_str)
    }

    /// Returns the number of related notes that are read first.
    pub(crate) fn looked_at(&self) -> usize {
        self.left.saturating_add(self.shown.len()).min(MAX_NOTES_AROUND)
    }
}

/// The notes around one.
#[derive(Default)]
struct NotesAround {
    related: Vec<RelatedNote>,
    further: Vec<FurtherLink>,
    truncated: bool,
}

/// Returns the text of a file, if it is text, and its parsed note.
pub(crate) fn read(path: &NotePath, bytes: &[u8]) -> (Option<String>, Note) {
    let text = is_text(path, bytes).then(|| String::from_utf8_lossy(bytes).into_owned());
    let shown = text.as_deref().unwrap_or_default();
    let note = if path.is_markdown() {
        note::parse(shown)
    } else {
        Note { body: 0..shown.len(), ..note::parse("") }
    };
    (text, note)
}

impl Memory {
    /// Returns notes with their contexts.
    pub fn context(&self, request: &ContextRequest) -> Result<ContextPage> {
        if let Some(moment) = request.as_of {
            return ProjectAt::load(self, &request.project, moment)?.context(request);
        }
        let (files, has_more) = match &request.target {
            ContextTarget::Name(name) => {
                let resolved =
                    self.resolve(Some(request.project.as_str()), name, ResolveIntent::Read)?;
                let place = &resolved.place;
                let file = self.snapshot()?.file(&place.project, &place.path)?;
                let file = file.ok_or_else(|| self.not_indexed(place))?;
                // A single note has only one page.
                (std::iter::once(file).skip(request.offset).collect(), false)
            }
            ContextTarget::Notes(paths) => {
                let mut files = Vec::new();
                for path in paths.iter().skip(request.offset).take(request.limit) {
                    files.extend(self.snapshot()?.file(&request.project, path)?);
                }
                (files, paths.len() > request.offset.saturating_add(request.limit))
            }
            ContextTarget::Pattern(pattern) => {
                let mut files = self.snapshot()?.filtered_list(&FilteredList {
                    filter: SearchFilter {
                        projects: vec![request.project.clone()],
                        after: request.since,
                        ..Default::default()
                    },
                    title: Vec::new(),
                    address: Some(pattern.clone()),
                    order: ListOrder::Path,
                    limit: request.limit.saturating_add(1),
                    offset: request.offset,
                })?;
                let has_more = files.len() > request.limit;
                files.truncate(request.limit);
                (files, has_more)
            }
        };
        let named = files.iter().map(|file: &FileSummary| (file.id, file.title.clone()));
        let mut room = ContextRoom::new(request.max_related, named);
        let notes = files.into_iter().map(|file| self.context_of(file, request, &mut room));
        Ok(ContextPage { notes: notes.collect::<Result<_>>()?, has_more })
    }

    fn context_of(
        &self,
        file: FileSummary,
        request: &ContextRequest,
        room: &mut ContextRoom<i64>,
    ) -> Result<ContextNote> {
        let place = NoteLocation::new(&file.project, file.path.clone());
        let (text, note) = read(&place.path, &self.read_at(&place)?.bytes);
        let around = match request.depth {
            0 => NotesAround::default(),
            _ => self.around(&file, request, room)?,
        };
        let relations = self.snapshot()?.relations_from(file.id)?;
        let shown =
            self.shown(request.only.as_ref(), relations.iter().filter_map(|r| r.target_file))?;
        let is_shown = |target: Option<i64>| target.is_some_and(|target| shown.contains(&target));
        let relations = relations.into_iter();
        let unresolved = relations.filter(|relation| !is_shown(relation.target_file));
        Ok(ContextNote {
            place,
            title: file.title,
            permalink: file.permalink,
            created: Some(file.created),
            updated: Some(file.updated),
            note,
            text,
            related: around.related,
            further: around.further,
            unresolved: unresolved.map(|r| (r.relation_type, r.target)).collect(),
            elsewhere: Vec::new(),
            truncated: around.truncated,
        })
    }

    /// Returns the files that the caller may see; with `only`, those of that project. A link to any
    /// other file is reported as unresolved, so that it reveals nothing.
    pub(crate) fn shown(
        &self,
        only: Option<&ProjectName>,
        files: impl Iterator<Item = i64>,
    ) -> Result<HashSet<i64>> {
        let all: HashSet<i64> = files.collect();
        let Some(only) = only else { return Ok(all) };
        let all: Vec<i64> = all.into_iter().collect();
        let known = self.snapshot()?.files_by_id(&all)?.into_iter();
        Ok(known.filter(|file| file.project == *only).map(|file| file.id).collect())
    }

    /// Returns the notes around one, and true if a limit left some out.
    fn around(
        &self,
        centre: &FileSummary,
        request: &ContextRequest,
        room: &mut ContextRoom<i64>,
    ) -> Result<NotesAround> {
        // With a time filter the number of remaining notes is unknown in advance. The nearest notes
        // are usually enough; otherwise more are read.
        let mut most = room.looked_at();
        loop {
            let near = self.snapshot()?.neighbours(&[centre.id], request.depth, most)?;
            let ends = near.found.iter().flat_map(|near| [near.id, near.via.from, near.via.to]);
            let mut ids: Vec<i64> = ends.collect();
            ids.sort_unstable();
            ids.dedup();
            let files = self.snapshot()?.files_by_id(&ids)?;
            let known: HashMap<i64, &FileSummary> = files.iter().map(|f| (f.id, f)).collect();
            let title = |id: i64| known.get(&id).map(|file| file.title.clone()).unwrap_or_default();
            let is_new =
                |file: &FileSummary| request.since.is_none_or(|since| file.updated >= since);
            // Hidden files are not shown as the other end of a link, either.
            let is_known = |id: i64| {
                let file = known.get(&id);
                file.is_some_and(|file| request.only.as_ref().is_none_or(|p| file.project == *p))
            };
            let mut left = room.clone();
            let (mut related, mut is_short) = (Vec::new(), false);
            let mut shown = vec![(centre.id, centre.title.clone())];
            let mut reached = HashSet::new();
            for near in near.found {
                let Some(file) = known.get(&near.id).filter(|file| is_new(file)) else { continue };
                if !is_known(near.via.from) || !is_known(near.via.to) {
                    continue;
                }
                if !left.takes(near.id, &file.title) {
                    is_short = true;
                    continue;
                }
                shown.push((near.id, file.title.clone()));
                reached.insert((near.via.from, near.via.to, near.via.label.clone()));
                related.push(RelatedNote {
                    from: title(near.via.from),
                    to: title(near.via.to),
                    place: NoteLocation::new(&file.project, file.path.clone()),
                    title: file.title.clone(),
                    permalink: file.permalink.clone(),
                    updated: Some(file.updated),
                    depth: near.depth,
                    relation_type: near.via.label,
                });
            }
            if !near.truncated || left.is_used_up() || most == MAX_NOTES_AROUND {
                let further = self.between(&shown, &left, reached)?;
                *room = left;
                return Ok(NotesAround { related, further, truncated: near.truncated || is_short });
            }
            most = (most.max(1) * 8).min(MAX_NOTES_AROUND);
        }
    }

    /// Returns the relations between a note and its neighbours, and from the note to other shown
    /// notes. Each relation is listed once, and none that is listed already.
    fn between(
        &self,
        notes: &[(i64, String)],
        room: &ContextRoom<i64>,
        mut told: HashSet<(i64, i64, String)>,
    ) -> Result<Vec<FurtherLink>> {
        let near: HashMap<i64, String> = notes.iter().cloned().collect();
        let mut links = Vec::new();
        for (n, (id, from)) in notes.iter().enumerate() {
            let titles = if n == 0 { &room.shown } else { &near };
            for relation in self.snapshot()?.relations_from(*id)? {
                let Some(target) = relation.target_file.filter(|target| target != id) else {
                    continue;
                };
                let Some(to) = titles.get(&target) else { continue };
                if told.insert((*id, target, relation.relation_type.clone())) {
                    links.push(FurtherLink {
                        relation_type: relation.relation_type,
                        from: from.clone(),
                        to: to.clone(),
                    });
                }
            }
        }
        Ok(links)
    }
}
