//! Changing entities under the lock: notes are opened, edited and laid back in one commit.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{
    EditError, NoteEdit, ObservationRef, apply_edit, render_frontmatter,
};
use memoranda_core::note::permalink::{file_name_from_title, permalink_of};
use memoranda_core::note::{
    self, MetaValue, NewRelation, ObservationMeta as Comment, observation_from_text,
    render_observation, render_relation,
};
use memoranda_core::path::NotePath;
use memoranda_engine::{Desk, ListFilter, ListOrder, ObservationRow, Step, clock};

use super::entity::{CONFIDENCE, EntityRelation, GraphEntity, IMPORTANCE, RELATION_IMPORTANCE};
use super::error::{GraphError, Result};
use super::input::ObservationInput;
use super::thread::{AnswerShape, GraphThread};

/// The notes of one thread while the lock is held.
pub(crate) struct GraphTransaction<'a, 'd> {
    desk: &'a Desk<'d>,
    thread: &'a GraphThread,
    pub(crate) now: Timestamp,
    notes: BTreeMap<String, OpenNote>,
    /// Where the notes of entities that are not there would lie, by name.
    free_paths: HashMap<String, NotePath>,
    /// Where new notes will lie, as systems that know no case see it.
    collect_problem: HashSet<String>,
    /// Notes that go with one of the same title.
    removed: Vec<NotePath>,
    is_known: bool,
}

/// A note that was opened.
struct OpenNote {
    path: NotePath,
    text: String,
    before: Option<String>,
    file: Option<i64>,
    is_removed: bool,
}

/// How much something counts, as far as the caller said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ObservationWeight {
    pub(crate) confidence: Option<f64>,
    pub(crate) importance: Option<f64>,
}

/// An entity to be made.
pub(crate) struct NewEntity<'e> {
    pub(crate) name: &'e str,
    pub(crate) entity_type: &'e str,
    pub(crate) facts: &'e [ObservationInput],
    pub(crate) relations: Vec<NewRelation>,
    pub(crate) weight: ObservationWeight,
    pub(crate) time: Option<Timestamp>,
    pub(crate) kind: EntityKind,
}

/// Whether an entity is described, and how, or only named as the beginning of a relation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntityKind {
    Described,
    /// The root of a graph, which may do without relations.
    Root,
    Placeholder,
}

/// What became of a relation that was to be stated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RelationOutcome {
    New,
    Known,
    /// It was stated, and matters as much as is said now.
    Rated,
}

/// What was removed with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EntityRemoval {
    /// Whether there was an entity of the name.
    pub(crate) is_entity: bool,
    /// How many relations went.
    pub(crate) relations: usize,
}

/// No more entities have nearly the same name.
const MAX_TWINS: usize = 10_000;

impl<'a, 'd> GraphTransaction<'a, 'd> {
    pub(crate) fn new(desk: &'a Desk<'d>, thread: &'a GraphThread) -> Self {
        let now = clock::now();
        let (notes, free_paths, collect_problem, removed) = Default::default();
        Self { desk, thread, now, notes, free_paths, collect_problem, removed, is_known: false }
    }

    /// Opens the note of an entity; `false` if there is none.
    pub(crate) fn open(&mut self, name: &str) -> Result<bool> {
        if let Some(note) = self.notes.get(name) {
            return Ok(!note.is_removed);
        }
        for found in self.desk.titled(&self.thread.project, &self.thread.folder, name)? {
            let place = self.thread.place(found.path.clone());
            let Some((text, _)) = self.desk.text(&place)? else { continue };
            // Somebody may have given the note another title just now.
            if GraphEntity::read(&found.path, &text).name != name {
                continue;
            }
            let text = self.bump_reworded_versions(found.id, &found.path, text)?;
            let before = Some(text.clone());
            let note = OpenNote {
                path: found.path,
                text,
                before,
                file: Some(found.id),
                is_removed: false,
            };
            self.notes.insert(name.to_owned(), note);
            return Ok(true);
        }
        self.open_unindexed(name)
    }

    /// Whether there is an entity of a name. Its note is read only if the index does not know it.
    pub(crate) fn has(&mut self, name: &str) -> Result<bool> {
        if let Some(note) = self.notes.get(name) {
            return Ok(!note.is_removed);
        }
        let found = self.desk.titled(&self.thread.project, &self.thread.folder, name)?;
        self.is_known |= !found.is_empty();
        Ok(!found.is_empty() || self.open_unindexed(name)?)
    }

    /// Opens a note that the index does not know yet, where the note of an entity would be made.
    fn open_unindexed(&mut self, name: &str) -> Result<bool> {
        for number in 1..MAX_TWINS {
            let path = self.path(name, number)?;
            let Some((text, _)) = self.desk.text(&self.thread.place(path.clone()))? else {
                self.free_paths.insert(name.to_owned(), path);
                return Ok(false);
            };
            if GraphEntity::read(&path, &text).name == name {
                let before = Some(text.clone());
                let note = OpenNote { path, text, before, file: None, is_removed: false };
                self.notes.insert(name.to_owned(), note);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where a person reworded a fact, its comment follows now: also where it was reworded since
    /// the index was last told.
    fn bump_reworded_versions(
        &self,
        file: i64,
        path: &NotePath,
        mut text: String,
    ) -> Result<String> {
        let rows = self.desk.observations(file)?;
        let noticed = self.desk.by_id(file)?.map(|file| file.updated);
        let note = note::parse(&text);
        for observation in &note.observations {
            let Some(fact) = &observation.fact else { continue };
            let known = rows.iter().find(|row| row.id == fact.id.as_str());
            let is_same = |row: &ObservationRow| {
                row.text == observation.text
                    && row.category == observation.category
                    && row.context == observation.context
            };
            let is_noticed = known.is_some_and(is_same);
            let version = known.map_or(0, |row| row.version.saturating_add(u32::from(!is_noticed)));
            if version > fact.version {
                let observation = ObservationRef::Id(fact.id.clone());
                // It was reworded when the note was last changed, or since.
                let time = noticed
                    .filter(|_| is_noticed)
                    .unwrap_or(self.now)
                    .max(fact.time.unwrap_or_default());
                let fact = Comment { version, time: Some(time), ..fact.clone() };
                let edit = NoteEdit::SetObservationMeta { observation, fact };
                text = apply_edit(&text, &edit)
                    .map_err(|error| GraphError::Edit { name: path.stem().to_owned(), error })?;
            }
        }
        Ok(text)
    }

    /// What an opened note says.
    pub(crate) fn entity(&self, name: &str) -> Option<GraphEntity> {
        let note = self.notes.get(name).filter(|note| !note.is_removed)?;
        Some(GraphEntity::read(&note.path, &note.text))
    }

    /// Opens an entity that must be there and is described.
    pub(crate) fn require(&mut self, name: &str) -> Result<GraphEntity> {
        let found = if self.open(name)? { self.entity(name) } else { None };
        found
            .filter(|entity| !entity.is_placeholder)
            .ok_or_else(|| GraphError::Refused(format!("Entity with name {name} not found")))
    }

    /// Changes an opened note.
    pub(crate) fn edit(&mut self, name: &str, edit: &NoteEdit) -> Result<()> {
        if let Some(note) = self.notes.get_mut(name) {
            note.text = apply_edit(&note.text, edit)
                .map_err(|error| GraphError::Edit { name: name.to_owned(), error })?;
        }
        Ok(())
    }

    /// Makes the note of an entity that is not there.
    pub(crate) fn create(&mut self, new: &NewEntity<'_>) -> Result<Vec<ObservationId>> {
        self.check_thread_name()?;
        let path = self.free_path(new.name)?;
        let (text, ids) = self.new_text(new)?;
        let file = None;
        let note = OpenNote { path, text, before: None, file, is_removed: false };
        self.notes.insert(new.name.to_owned(), note);
        Ok(ids)
    }

    fn new_text(&self, new: &NewEntity<'_>) -> Result<(String, Vec<ObservationId>)> {
        let failed = |error| GraphError::Edit { name: new.name.to_owned(), error };
        let mut keys = vec![("title", new.name.to_owned()), ("type", new.entity_type.to_owned())];
        let said = |value: Option<f64>, usual| value.filter(|value| *value != usual);
        keys.extend(
            said(new.weight.importance, IMPORTANCE).map(|v| ("importance", format_number(v))),
        );
        keys.extend(
            said(new.weight.confidence, CONFIDENCE).map(|v| ("confidence", format_number(v))),
        );
        match new.kind {
            EntityKind::Placeholder => keys.push(("placeholder", "true".to_owned())),
            EntityKind::Root => keys.push(("root", "true".to_owned())),
            EntityKind::Described => {}
        }
        let keys: Vec<_> =
            keys.into_iter().map(|(key, text)| (key, value_of(key, &text))).collect();
        let mut text = render_frontmatter(&keys);
        let mut ids = Vec::with_capacity(new.facts.len());
        let mut facts = Vec::with_capacity(new.facts.len());
        for fact in new.facts {
            let comment = self.observation_meta(fact.weight.or(new.weight), fact.time.or(new.time));
            ids.push(comment.id.clone());
            facts.push(note::NewObservation {
                fact: Some(comment),
                ..observation_from_text(&fact.content)
            });
        }
        if !facts.is_empty() {
            text.push_str("\n## Observations\n");
            facts
                .iter()
                .for_each(|fact| text.push_str(&format!("- {}\n", render_observation(fact))));
        }
        if !new.relations.is_empty() {
            text.push_str("\n## Relations\n");
            for relation in &new.relations {
                text.push_str(&format!("- {}\n", render_relation(relation)));
            }
        }
        let read = note::parse(&text);
        let wanted = new.relations.iter().all(|wanted| {
            read.relations.iter().any(|relation| {
                relation.relation_type == wanted.relation_type && relation.name() == wanted.target
            })
        });
        let named = read.title().as_deref() == Some(new.name);
        if named && wanted && read.observations.len() == facts.len() {
            return Ok((text, ids));
        }
        // A text that reads as something else in company is added with more care.
        text = String::new();
        for (key, value) in keys {
            let edit = NoteEdit::SetKey { key: key.to_owned(), value };
            text = apply_edit(&text, &edit).map_err(failed)?;
        }
        for observation in facts {
            let edit = NoteEdit::AddObservation { section: None, observation };
            text = apply_edit(&text, &edit).map_err(failed)?;
        }
        for relation in &new.relations {
            let edit = NoteEdit::AddRatedRelation { relation: relation.clone() };
            text = apply_edit(&text, &edit).map_err(failed)?;
        }
        Ok((text, ids))
    }

    /// What is known of a fact that is written now.
    pub(crate) fn observation_meta(
        &self,
        weight: ObservationWeight,
        time: Option<Timestamp>,
    ) -> Comment {
        let usual = |value: Option<f64>, usual| match self.thread.shape {
            AnswerShape::Thread => Some(value.unwrap_or(usual)),
            AnswerShape::Reference => value,
        };
        Comment {
            id: clock::new_observation_id(),
            version: 1,
            time: Some(time.unwrap_or(self.now)),
            confidence: usual(weight.confidence, CONFIDENCE),
            importance: usual(weight.importance, IMPORTANCE),
            thread: Some(self.thread.id.clone()),
            superseded_by: None,
            supersedes: None,
        }
    }

    /// Adds a fact to an opened note; what it does not say of itself is as given.
    pub(crate) fn add_observation(
        &mut self,
        name: &str,
        fact: &ObservationInput,
        weight: ObservationWeight,
        time: Option<Timestamp>,
    ) -> Result<ObservationId> {
        let comment = self.observation_meta(fact.weight.or(weight), fact.time.or(time));
        let id = comment.id.clone();
        let observation =
            note::NewObservation { fact: Some(comment), ..observation_from_text(&fact.content) };
        self.edit(name, &NoteEdit::AddObservation { section: None, observation })?;
        Ok(id)
    }

    /// Raises what an opened entity counts for; nothing is lowered.
    pub(crate) fn raise_weight(&mut self, name: &str, weight: ObservationWeight) -> Result<()> {
        let Some(entity) = self.entity(name) else { return Ok(()) };
        for (key, given, now) in [
            ("importance", weight.importance, entity.importance),
            ("confidence", weight.confidence, entity.confidence),
        ] {
            if let Some(value) = given.filter(|value| *value > now) {
                self.set(name, key, &format_number(value))?;
            }
        }
        Ok(())
    }

    /// Gives an opened note a key.
    pub(crate) fn set(&mut self, name: &str, key: &str, value: &str) -> Result<()> {
        if let Some(note) = self.notes.get_mut(name) {
            note.text = with_key(&note.text, key, value)
                .map_err(|error| GraphError::Edit { name: name.to_owned(), error })?;
        }
        Ok(())
    }

    /// Adds a relation to an opened note; one that is stated already gets the importance that is
    /// given, if any.
    pub(crate) fn add_relation(
        &mut self,
        name: &str,
        mut relation: NewRelation,
    ) -> Result<RelationOutcome> {
        let known =
            self.stated(name, &relation.relation_type, &relation.target)?.into_iter().next();
        let Some(known) = known else {
            if self.thread.shape == AnswerShape::Thread {
                relation.importance.get_or_insert(RELATION_IMPORTANCE);
            }
            self.edit(name, &NoteEdit::AddRatedRelation { relation })?;
            return Ok(RelationOutcome::New);
        };
        if relation.importance.is_none_or(|given| Some(given) == known.importance) {
            return Ok(RelationOutcome::Known);
        }
        if known.is_exact {
            relation.time = None;
            self.edit(name, &NoteEdit::SetRelationMeta { relation })?;
        } else if known.has_context {
            // What a person said more of it would be lost.
            return Ok(RelationOutcome::Known);
        } else {
            // A line that was typed has no place for it, so it is written anew.
            let (relation_type, target) = (known.relation_type, known.written);
            self.edit(name, &NoteEdit::RemoveRelation { relation_type, target })?;
            self.edit(name, &NoteEdit::AddRatedRelation { relation })?;
        }
        Ok(RelationOutcome::Rated)
    }

    /// How an opened note states a relation: as it was written by a tool, and as people typed it.
    fn stated(&self, name: &str, relation_type: &str, to: &str) -> Result<Vec<EntityRelation>> {
        let Some(mut entity) = self.entity(name) else { return Ok(Vec::new()) };
        let file = self.notes.get(name).and_then(|note| note.file);
        if let Some(file) = file.filter(|_| entity.has_typed()) {
            entity.resolve(&self.desk.typed_links(file)?);
        }
        let is_meant = |r: &EntityRelation| {
            r.relation_type == relation_type && (r.target == to || r.written == to)
        };
        let mut found: Vec<EntityRelation> =
            entity.relations.into_iter().filter(is_meant).collect();
        found.sort_by_key(|relation| !relation.is_exact);
        Ok(found)
    }

    /// Removes a relation from an opened note, however it is written; `false` if it was not
    /// stated. A placeholder that holds nothing any more goes with its last relation.
    pub(crate) fn remove_relation(
        &mut self,
        name: &str,
        relation_type: &str,
        to: &str,
    ) -> Result<bool> {
        let mut written: Vec<String> = self
            .stated(name, relation_type, to)?
            .into_iter()
            .map(|relation| relation.written)
            .collect();
        written.dedup();
        if written.is_empty() {
            return Ok(false);
        }
        for target in written {
            let relation_type = relation_type.to_owned();
            self.edit(name, &NoteEdit::RemoveRelation { relation_type, target })?;
        }
        if self.entity(name).is_some_and(|e| e.is_placeholder && e.relations.is_empty()) {
            self.mark_removed(name);
        }
        Ok(true)
    }

    fn mark_removed(&mut self, name: &str) {
        if let Some(note) = self.notes.get_mut(name) {
            note.is_removed = true;
        }
    }

    /// Removes an entity and every relation to its name, which may be all that there is. If people
    /// gave the name to several notes, all of them go.
    pub(crate) fn remove(&mut self, name: &str) -> Result<EntityRemoval> {
        let is_there = self.open(name)?;
        let own = self.entity(name).map_or(0, |entity| entity.relations.len());
        let note = self.notes.get(name);
        let mut files: Vec<i64> = note.and_then(|note| note.file).into_iter().collect();
        let path = note.map(|note| note.path.clone());
        let mut relations = own;
        for twin in self.desk.titled(&self.thread.project, &self.thread.folder, name)? {
            if Some(&twin.path) == path.as_ref() {
                continue;
            }
            let Some((text, _)) = self.desk.text(&self.thread.place(twin.path.clone()))? else {
                continue;
            };
            let entity = GraphEntity::read(&twin.path, &text);
            if entity.name == name && !self.removed.contains(&twin.path) {
                relations += entity.relations.len();
                files.push(twin.id);
                self.removed.push(twin.path);
            }
        }
        let mut rows = Vec::new();
        for file in &files {
            rows.extend(self.desk.relations_to(*file)?);
        }
        let key = format!("{}/{name}", self.thread.folder);
        rows.extend(self.desk.relations_named(&self.thread.project, &key)?);
        rows.retain(|row| row.is_stated);
        let mut holders: Vec<i64> = rows.iter().map(|row| row.file).collect();
        holders.sort_unstable();
        holders.dedup();
        for holder in holders.into_iter().filter(|holder| !files.contains(holder)) {
            let Some(summary) = self.desk.by_id(holder)? else { continue };
            let here = summary.path.parent() == Some(self.thread.folder.as_str());
            if summary.project != self.thread.project || !here || !self.open(&summary.title)? {
                continue;
            }
            let Some(entity) = self.entity(&summary.title) else { continue };
            for relation in &entity.relations {
                let typed = |row: &&memoranda_engine::RelationRow| {
                    row.file == holder && row.target == relation.target
                };
                let is_meant = relation.target == name
                    || (!relation.is_exact && rows.iter().any(|row| typed(&row)));
                if is_meant
                    && self.remove_relation(
                        &summary.title,
                        &relation.relation_type,
                        &relation.target,
                    )?
                {
                    relations += 1;
                }
            }
        }
        self.mark_removed(name);
        Ok(EntityRemoval { is_entity: is_there, relations })
    }

    /// What is to be done to the files.
    pub(crate) fn steps(self) -> Vec<Step> {
        let place = |path| self.thread.place(path);
        let mut steps: Vec<Step> =
            self.removed.into_iter().map(|path| Step::remove(place(path))).collect();
        for note in self.notes.into_values() {
            let place = self.thread.place(note.path);
            match (note.is_removed, note.before) {
                (true, None) => {}
                (true, Some(_)) => steps.push(Step::remove(place)),
                (false, None) => steps.push(Step::create(place, note.text)),
                (false, Some(before)) if before == note.text => {}
                (false, Some(_)) => steps.push(Step::put(place, note.text)),
            }
        }
        steps
    }

    /// The permalink that the note of an entity has by its path.
    pub(crate) fn permalink(&self, name: &str) -> Option<String> {
        self.notes.get(name).map(|note| permalink_of(&note.path).0)
    }

    /// A new thread must not be one that some system takes for another.
    fn check_thread_name(&mut self) -> Result<()> {
        if self.is_known {
            return Ok(());
        }
        let folder =
            NotePath::parse(&self.thread.folder).map_err(memoranda_engine::EngineError::from)?;
        let filter = ListFilter {
            project: Some(self.thread.project.clone()),
            folder: Some(folder.clone()),
            ..ListFilter::default()
        };
        if self.desk.list(&filter, ListOrder::Path, 1, 0)?.is_empty() {
            for other in self.desk.folders(&self.thread.project)? {
                let twin = NotePath::parse(&other.folder)
                    .is_ok_and(|other| other != folder && other.key() == folder.key());
                if twin {
                    return Err(GraphError::Refused(format!(
                        "threadId '{}' differs from the existing thread '{}' only in case or accents, \
                         which some systems cannot tell apart. Use that one, or another name.",
                        self.thread.id,
                        memoranda_core::fact::thread_of_folder(&other.folder)
                            .unwrap_or(other.folder)
                    )));
                }
            }
        }
        self.is_known = true;
        Ok(())
    }

    /// A name for a new file that no file has, also on systems that know no case.
    fn free_path(&mut self, name: &str) -> Result<NotePath> {
        let mut free_paths = self.free_paths.remove(name);
        for number in 1..MAX_TWINS {
            // Where the note was looked for, no file is.
            let (path, is_vacant) = match free_paths.take() {
                Some(path) => (path, true),
                None => (self.path(name, number)?, false),
            };
            let key = path.key();
            let place = self.thread.place(path);
            if !self.collect_problem.contains(&key)
                && self.desk.twins(&place)?.is_empty()
                && (is_vacant || self.desk.text(&place)?.is_none())
            {
                self.collect_problem.insert(key);
                return Ok(place.path);
            }
        }
        Err(GraphError::Refused(format!("too many entities are called nearly '{name}'")))
    }

    /// Where the note of an entity lies, if so many of nearly its name came before it.
    fn path(&self, name: &str, number: usize) -> Result<NotePath> {
        let file = file_name_from_title(name);
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        // Room for a number behind the name.
        let stem = &stem[..stem.floor_char_boundary(200)];
        let file = match number {
            1 => format!("{}/{stem}.md", self.thread.folder),
            _ => format!("{}/{stem} {number}.md", self.thread.folder),
        };
        Ok(NotePath::parse(&file).map_err(memoranda_engine::EngineError::from)?)
    }
}

/// A note with a key.
fn with_key(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    apply_edit(text, &NoteEdit::SetKey { key: key.to_owned(), value: value_of(key, value) })
}

/// What a key says. Numbers and flags stand bare, as people write them.
fn value_of(key: &str, value: &str) -> MetaValue {
    match key {
        "importance" | "confidence" | "placeholder" | "root" => MetaValue::Plain(value.to_owned()),
        _ => MetaValue::Text(value.to_owned()),
    }
}

/// A number as it is written into a note.
pub(crate) fn format_number(value: f64) -> String {
    format!("{value:?}")
}
