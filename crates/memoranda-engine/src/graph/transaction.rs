//! Changes of entities under the lock: notes are opened, edited and written in one commit.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::graph::LinkCandidate;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{
    EditError, NoteEdit, ObservationRef, apply_edit, render_frontmatter,
};
use memoranda_core::note::permalink::{file_name_from_title, permalink_of};
use memoranda_core::note::{
    self, MetaValue, NewRelation, ObservationMeta, observation_from_text, render_observation,
    render_relation,
};
use memoranda_core::path::NotePath;
use memoranda_store::{ObservationRow, RelationRow, clock};

use super::entity::{
    DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, DEFAULT_RELATION_IMPORTANCE, EntityRelation,
    GraphEntity,
};
use super::error::{GraphError, GraphResult};
use super::input::{ObservationInput, ObservationWeight};
use super::thread::{GraphThread, WeightPolicy};
use crate::links::handwritten::typed_links;
use crate::{EngineError, FileOperation, NoteTransaction};

/// The notes of one thread while the lock is held.
pub(super) struct GraphTransaction<'a, 'd> {
    desk: &'a NoteTransaction<'d>,
    thread: &'a GraphThread,
    pub(super) now: Timestamp,
    notes: BTreeMap<String, OpenNote>,
    /// Free paths for the notes of new entities, by name.
    free_paths: HashMap<String, NotePath>,
    /// Keys of the paths of new notes, for file systems that ignore case.
    reserved_paths: HashSet<String>,
    /// Further notes to remove that have the title of a removed entity.
    removed: Vec<NotePath>,
    is_checked: bool,
}

/// An opened note.
struct OpenNote {
    path: NotePath,
    text: String,
    before: Option<String>,
    file: Option<i64>,
    is_removed: bool,
}

/// An entity to create.
pub(super) struct NewEntity<'e> {
    pub(super) name: &'e str,
    pub(super) entity_type: &'e str,
    pub(super) facts: &'e [ObservationInput],
    pub(super) relations: Vec<NewRelation>,
    pub(super) weight: ObservationWeight,
    pub(super) time: Option<Timestamp>,
    pub(super) kind: EntityKind,
}

/// The kind of a new entity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EntityKind {
    Described,
    /// The root of a graph, which needs no relations.
    Root,
    /// The source of a relation that was not described yet.
    Placeholder,
}

/// The result of adding a relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RelationOutcome {
    New,
    Known,
    /// The relation existed and got the given importance.
    Rated,
}

/// The result of removing an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EntityRemoval {
    /// True if the entity existed.
    pub(super) is_entity: bool,
    /// Number of removed relations.
    pub(super) relations: usize,
}

/// Maximum number of entities with nearly the same name.
const MAX_NAME_COLLISIONS: usize = 10_000;

impl<'a, 'd> GraphTransaction<'a, 'd> {
    pub(super) fn new(desk: &'a NoteTransaction<'d>, thread: &'a GraphThread) -> Self {
        let now = clock::now();
        let (notes, free_paths, reserved_paths, removed) = Default::default();
        Self { desk, thread, now, notes, free_paths, reserved_paths, removed, is_checked: false }
    }

    /// Returns the notes of the thread with exactly this title.
    fn titled(&self, name: &str) -> GraphResult<Vec<LinkCandidate<i64>>> {
        Ok(self.desk.folder(&self.thread.project, &self.thread.folder).titled(name)?)
    }

    /// Opens the note of an entity. Returns false if the entity does not exist.
    pub(super) fn open(&mut self, name: &str) -> GraphResult<bool> {
        if let Some(note) = self.notes.get(name) {
            return Ok(!note.is_removed);
        }
        for found in self.titled(name)? {
            let place = self.thread.place(found.path.clone());
            let Some((text, _)) = self.desk.text(&place)? else { continue };
            // A person may have changed the title since the last scan.
            if GraphEntity::parse(&found.path, &text).name != name {
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

    /// Returns true if an entity of a name exists. Its note is read only if it is not indexed.
    pub(super) fn has(&mut self, name: &str) -> GraphResult<bool> {
        if let Some(note) = self.notes.get(name) {
            return Ok(!note.is_removed);
        }
        let found = self.titled(name)?;
        self.is_checked |= !found.is_empty();
        Ok(!found.is_empty() || self.open_unindexed(name)?)
    }

    /// Opens a note that is not indexed yet, at the path where the entity would be created.
    fn open_unindexed(&mut self, name: &str) -> GraphResult<bool> {
        for number in 1..MAX_NAME_COLLISIONS {
            let path = self.path(name, number)?;
            let Some((text, _)) = self.desk.text(&self.thread.place(path.clone()))? else {
                self.free_paths.insert(name.to_owned(), path);
                return Ok(false);
            };
            if GraphEntity::parse(&path, &text).name == name {
                let before = Some(text.clone());
                let note = OpenNote { path, text, before, file: None, is_removed: false };
                self.notes.insert(name.to_owned(), note);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Raises the versions of observations that a person reworded, before or after the last scan.
    fn bump_reworded_versions(
        &self,
        file: i64,
        path: &NotePath,
        mut text: String,
    ) -> GraphResult<String> {
        let rows = self.desk.observations(file)?;
        let noticed = self.desk.file_by_id(file)?.map(|file| file.updated);
        let note = note::parse(&text);
        for observation in &note.observations {
            let Some(fact) = &observation.meta else { continue };
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
                // The observation was reworded at the last known change, or since.
                let time = noticed
                    .filter(|_| is_noticed)
                    .unwrap_or(self.now)
                    .max(fact.time.unwrap_or_default());
                let fact = ObservationMeta { version, time: Some(time), ..fact.clone() };
                let edit = NoteEdit::SetObservationMeta { observation, meta: fact };
                text = apply_edit(&text, &edit)
                    .map_err(|error| GraphError::Edit { name: path.stem().to_owned(), error })?;
            }
        }
        Ok(text)
    }

    /// Returns the entity of an opened note.
    pub(super) fn entity(&self, name: &str) -> Option<GraphEntity> {
        let note = self.notes.get(name).filter(|note| !note.is_removed)?;
        Some(GraphEntity::parse(&note.path, &note.text))
    }

    /// Opens a described entity; an error if it does not exist.
    pub(super) fn require(&mut self, name: &str) -> GraphResult<GraphEntity> {
        let found = if self.open(name)? { self.entity(name) } else { None };
        found.filter(|entity| !entity.is_placeholder).ok_or_else(|| GraphError::UnknownEntity {
            name: name.to_owned(),
            near: Vec::new(),
            is_searched: false,
        })
    }

    /// Applies an edit to an opened note.
    pub(super) fn edit(&mut self, name: &str, edit: &NoteEdit) -> GraphResult<()> {
        if let Some(note) = self.notes.get_mut(name) {
            note.text = apply_edit(&note.text, edit)
                .map_err(|error| GraphError::Edit { name: name.to_owned(), error })?;
        }
        Ok(())
    }

    /// Creates the note of an entity.
    pub(super) fn create(&mut self, new: &NewEntity<'_>) -> GraphResult<Vec<ObservationId>> {
        self.check_thread_name()?;
        let path = self.free_path(new.name)?;
        let (text, ids) = self.new_text(new)?;
        let file = None;
        let note = OpenNote { path, text, before: None, file, is_removed: false };
        self.notes.insert(new.name.to_owned(), note);
        Ok(ids)
    }

    fn new_text(&self, new: &NewEntity<'_>) -> GraphResult<(String, Vec<ObservationId>)> {
        let failed = |error| GraphError::Edit { name: new.name.to_owned(), error };
        let mut keys = vec![("title", new.name.to_owned()), ("type", new.entity_type.to_owned())];
        let given = |value: Option<f64>, usual| value.filter(|value| *value != usual);
        keys.extend(
            given(new.weight.importance, DEFAULT_IMPORTANCE)
                .map(|v| ("importance", format_number(v))),
        );
        keys.extend(
            given(new.weight.confidence, DEFAULT_CONFIDENCE)
                .map(|v| ("confidence", format_number(v))),
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
                meta: Some(comment),
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
        // The rendered text parses differently, so each part is added by an edit that escapes it.
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

    /// Returns the metadata of a new observation.
    pub(super) fn observation_meta(
        &self,
        weight: ObservationWeight,
        time: Option<Timestamp>,
    ) -> ObservationMeta {
        let with_default = |value: Option<f64>, usual| match self.thread.weights {
            WeightPolicy::Complete => Some(value.unwrap_or(usual)),
            WeightPolicy::Given => value,
        };
        ObservationMeta {
            time: Some(time.unwrap_or(self.now)),
            confidence: with_default(weight.confidence, DEFAULT_CONFIDENCE),
            importance: with_default(weight.importance, DEFAULT_IMPORTANCE),
            thread: Some(self.thread.id.clone()),
            ..ObservationMeta::new(clock::new_observation_id())
        }
    }

    /// Adds an observation to an opened note, with default weights and a default time.
    pub(super) fn add_observation(
        &mut self,
        name: &str,
        fact: &ObservationInput,
        weight: ObservationWeight,
        time: Option<Timestamp>,
    ) -> GraphResult<ObservationId> {
        let comment = self.observation_meta(fact.weight.or(weight), fact.time.or(time));
        let id = comment.id.clone();
        let observation =
            note::NewObservation { meta: Some(comment), ..observation_from_text(&fact.content) };
        self.edit(name, &NoteEdit::AddObservation { section: None, observation })?;
        Ok(id)
    }

    /// Raises the weights of an opened entity. Lower weights are ignored.
    pub(super) fn raise_weight(
        &mut self,
        name: &str,
        weight: ObservationWeight,
    ) -> GraphResult<()> {
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

    /// Sets a frontmatter key of an opened note.
    pub(super) fn set(&mut self, name: &str, key: &str, value: &str) -> GraphResult<()> {
        if let Some(note) = self.notes.get_mut(name) {
            note.text = with_key(&note.text, key, value)
                .map_err(|error| GraphError::Edit { name: name.to_owned(), error })?;
        }
        Ok(())
    }

    /// Adds a relation to an opened note. A relation that exists gets the given importance, if any.
    pub(super) fn add_relation(
        &mut self,
        name: &str,
        mut relation: NewRelation,
    ) -> GraphResult<RelationOutcome> {
        let known = self
            .matching_relations(name, &relation.relation_type, &relation.target)?
            .into_iter()
            .next();
        let Some(known) = known else {
            if self.thread.weights == WeightPolicy::Complete {
                relation.importance.get_or_insert(DEFAULT_RELATION_IMPORTANCE);
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
            // The context that a person wrote would be lost.
            return Ok(RelationOutcome::Known);
        } else {
            // A typed link has no metadata, so its line is replaced.
            let (relation_type, target) = (known.relation_type, known.written);
            self.edit(name, &NoteEdit::RemoveRelation { relation_type, target })?;
            self.edit(name, &NoteEdit::AddRatedRelation { relation })?;
        }
        Ok(RelationOutcome::Rated)
    }

    /// Returns the relations of an opened note by type and target, those of tools first.
    fn matching_relations(
        &self,
        name: &str,
        relation_type: &str,
        to: &str,
    ) -> GraphResult<Vec<EntityRelation>> {
        let Some(mut entity) = self.entity(name) else { return Ok(Vec::new()) };
        let file = self.notes.get(name).and_then(|note| note.file);
        if let Some(file) = file.filter(|_| entity.has_typed_links())
            && let Some(from) = self.desk.file_by_id(file)?
        {
            entity.resolve(&typed_links(self.desk, &from)?);
        }
        let is_meant = |r: &EntityRelation| {
            r.relation_type == relation_type && (r.target == to || r.written == to)
        };
        let mut found: Vec<EntityRelation> =
            entity.relations.into_iter().filter(is_meant).collect();
        found.sort_by_key(|relation| !relation.is_exact);
        Ok(found)
    }

    /// Removes a relation from an opened note. Returns false if it does not exist. A placeholder is removed
    /// with its last relation.
    pub(super) fn remove_relation(
        &mut self,
        name: &str,
        relation_type: &str,
        to: &str,
    ) -> GraphResult<bool> {
        let mut written: Vec<String> = self
            .matching_relations(name, relation_type, to)?
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

    /// Removes an entity and every relation to its name. If several notes have the name as their title,
    /// all of them are removed.
    pub(super) fn remove(&mut self, name: &str) -> GraphResult<EntityRemoval> {
        let is_there = self.open(name)?;
        let own = self.entity(name).map_or(0, |entity| entity.relations.len());
        let note = self.notes.get(name);
        let mut files: Vec<i64> = note.and_then(|note| note.file).into_iter().collect();
        let path = note.map(|note| note.path.clone());
        let mut relations = own;
        for twin in self.titled(name)? {
            if Some(&twin.path) == path.as_ref() {
                continue;
            }
            let Some((text, _)) = self.desk.text(&self.thread.place(twin.path.clone()))? else {
                continue;
            };
            let entity = GraphEntity::parse(&twin.path, &text);
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
            let Some(summary) = self.desk.file_by_id(holder)? else { continue };
            let here = summary.path.parent() == Some(self.thread.folder.as_str());
            if summary.project != self.thread.project || !here || !self.open(&summary.title)? {
                continue;
            }
            let Some(entity) = self.entity(&summary.title) else { continue };
            for relation in &entity.relations {
                let typed =
                    |row: &&RelationRow| row.file == holder && row.target == relation.target;
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

    /// Returns the operations on files.
    pub(super) fn steps(self) -> Vec<FileOperation> {
        let place = |path| self.thread.place(path);
        let mut steps: Vec<FileOperation> =
            self.removed.into_iter().map(|path| FileOperation::remove(place(path))).collect();
        for note in self.notes.into_values() {
            let place = self.thread.place(note.path);
            match (note.is_removed, note.before) {
                (true, None) => {}
                (true, Some(_)) => steps.push(FileOperation::remove(place)),
                (false, None) => steps.push(FileOperation::create(place, note.text)),
                (false, Some(before)) if before == note.text => {}
                (false, Some(_)) => steps.push(FileOperation::put(place, note.text)),
            }
        }
        steps
    }

    /// Returns the permalink of an opened note.
    pub(super) fn permalink(&self, name: &str) -> Option<String> {
        self.notes.get(name).map(|note| permalink_of(&note.path).0)
    }

    /// Rejects a new thread whose folder some file systems would confuse with another.
    fn check_thread_name(&mut self) -> GraphResult<()> {
        if self.is_checked {
            return Ok(());
        }
        let folder = NotePath::parse(&self.thread.folder).map_err(EngineError::from)?;
        if !self.desk.folder(&self.thread.project, &self.thread.folder).had_notes()? {
            for other in self.desk.folders(&self.thread.project)? {
                let twin = NotePath::parse(&other.folder)
                    .is_ok_and(|other| other != folder && other.key() == folder.key());
                if twin {
                    let existing = memoranda_core::fact::thread_of_folder(&other.folder);
                    return Err(GraphError::ThreadNameTaken {
                        id: self.thread.id.clone(),
                        existing: existing.unwrap_or(other.folder),
                    });
                }
            }
        }
        self.is_checked = true;
        Ok(())
    }

    /// Returns a free path for a new note, also on file systems that ignore case.
    fn free_path(&mut self, name: &str) -> GraphResult<NotePath> {
        let mut free_paths = self.free_paths.remove(name);
        for number in 1..MAX_NAME_COLLISIONS {
            // The path was free when the note was looked up.
            let (path, is_vacant) = match free_paths.take() {
                Some(path) => (path, true),
                None => (self.path(name, number)?, false),
            };
            let key = path.key();
            let place = self.thread.place(path);
            if !self.reserved_paths.contains(&key)
                && self.desk.twins(&place.project, &place.path)?.is_empty()
                && (is_vacant || self.desk.text(&place)?.is_none())
            {
                self.reserved_paths.insert(key);
                return Ok(place.path);
            }
        }
        Err(GraphError::TooManyNames { name: name.to_owned() })
    }

    /// Returns the path of an entity's note, with a number after the first of nearly the same name.
    fn path(&self, name: &str, number: usize) -> GraphResult<NotePath> {
        let file = file_name_from_title(name);
        let stem = file.strip_suffix(".md").unwrap_or(&file);
        // Leaves room for the number.
        let stem = &stem[..stem.floor_char_boundary(200)];
        let file = match number {
            1 => format!("{}/{stem}.md", self.thread.folder),
            _ => format!("{}/{stem} {number}.md", self.thread.folder),
        };
        Ok(NotePath::parse(&file).map_err(EngineError::from)?)
    }
}

/// Sets a frontmatter key of a text.
fn with_key(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    apply_edit(text, &NoteEdit::SetKey { key: key.to_owned(), value: value_of(key, value) })
}

/// Returns the value of a key. Numbers and flags are not quoted.
fn value_of(key: &str, value: &str) -> MetaValue {
    match key {
        "importance" | "confidence" | "placeholder" | "root" => MetaValue::Plain(value.to_owned()),
        _ => MetaValue::Text(value.to_owned()),
    }
}

/// Formats a number for a note.
pub(super) fn format_number(value: f64) -> String {
    format!("{value:?}")
}
