//! A thread at an earlier time. Unchanged notes come from the index, changed ones from the history.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use memoranda_core::path::NotePath;
use memoranda_store::{PastFile, PointInTime, exact_key, link_key};

use super::entity::{EntityObservation, GraphEntity};
use super::error::{GraphError, GraphResult};
use super::observation_history;
use super::query::IncomingRelation;
use super::read::read_entity;
use super::thread::GraphThread;
use crate::Memory;

/// Returns the notes of a thread at a time, by path.
pub fn thread_files_at(
    memory: &Memory,
    thread: &GraphThread,
    time: Timestamp,
) -> GraphResult<Vec<PastFile>> {
    let moment = PointInTime::Time(time);
    let mut files = memory.snapshot()?.files_as_of(&thread.project, &thread.folder, moment)?;
    files.retain(|file| thread.owns(&file.path));
    Ok(files)
}

/// Reads the entity of a note at a time; `None` if the note was not text.
pub fn entity_at(
    memory: &Memory,
    thread: &GraphThread,
    file: &PastFile,
    time: Timestamp,
) -> GraphResult<Option<GraphEntity>> {
    let Ok(text) = String::from_utf8(memory.store().content(file.hash)?) else { return Ok(None) };
    let mut entity = GraphEntity::parse(&file.path, &text);
    // Observations that a person had reworded by then have higher versions than their comments.
    let folder = thread.folder_graph(memory)?;
    let reworded = folder.reworded(&file.path, time)?;
    let version_of =
        |fact: &EntityObservation| reworded.get(&fact.id).copied().filter(|_| fact.has_comment);
    let place = thread.place(file.path.clone());
    entity.times = Some((file.created, file.updated));
    observation_history::fill_times(memory, &place, Some(time), &mut entity, version_of)?;
    Ok(Some(entity))
}

/// The differences between a thread at an earlier time and now.
pub struct GraphAt<'t> {
    thread: &'t GraphThread,
    /// The earlier entity of each changed file; `None` if the file did not exist.
    changed: BTreeMap<NotePath, Option<GraphEntity>>,
}

impl<'t> GraphAt<'t> {
    /// Reads the changed notes of a thread. `progress` gets the number of read and of all changed
    /// files, and cancels by returning false.
    pub fn load(
        memory: &Memory,
        thread: &'t GraphThread,
        time: Timestamp,
        progress: &dyn Fn(u64, u64) -> bool,
    ) -> GraphResult<Self> {
        let mut changed = BTreeMap::new();
        let since = memory.versions_at([thread.project.clone()], PointInTime::Time(time))?.files;
        let total = since.len() as u64;
        let own = since.into_iter().filter(|file| thread.owns(&file.place.path));
        for (n, file) in own.enumerate() {
            if !progress(n as u64, total) {
                return Err(GraphError::Cancelled);
            }
            let mut earlier = None;
            if let Some(then) = &file.then {
                earlier = entity_at(memory, thread, then, time)?;
            }
            changed.insert(file.place.path, earlier);
        }
        Ok(Self { thread, changed })
    }

    /// Returns true if a file was different or did not exist.
    pub fn is_changed(&self, path: &NotePath) -> bool {
        self.changed.contains_key(path)
    }

    /// Returns the earlier versions of changed entities.
    pub fn changed(&self) -> impl Iterator<Item = &GraphEntity> {
        self.changed.values().flatten()
    }

    /// Returns the entities that had a name.
    pub fn named(&self, memory: &Memory, name: &str) -> GraphResult<Vec<GraphEntity>> {
        let mut entities = Vec::new();
        for found in self.thread.folder_graph(memory)?.titled(name)? {
            if self.is_changed(&found.path) {
                continue;
            }
            let Some(file) = memory.snapshot()?.file_by_id(found.id)? else { continue };
            entities.extend(read_entity(memory, &file)?.filter(|entity| entity.name == name));
        }
        entities.extend(self.changed().filter(|entity| entity.name == name).cloned());
        Ok(entities)
    }

    /// Returns the relations to an entity from entities other than `without`.
    pub fn incoming(
        &self,
        memory: &Memory,
        entity: &GraphEntity,
        without: &HashSet<String>,
    ) -> GraphResult<Vec<IncomingRelation>> {
        let (store, thread) = (memory.store(), self.thread);
        let mut keys = [exact_key(&thread.folder, &entity.name), link_key(&entity.name)];
        keys.sort_unstable();
        let target = store.snapshot()?.file(&thread.project, &entity.path)?.map(|file| file.id);
        let mut found = Vec::new();
        for row in store.snapshot()?.relations_concerning(&thread.project, &[], &keys)? {
            let is_target = match &row.exact_name {
                Some(name) => *name == entity.name,
                None => row.target_file.is_some() && row.target_file == target,
            };
            if !is_target || !row.is_stated {
                continue;
            }
            let Some(from) = store.snapshot()?.file_by_id(row.file)? else { continue };
            let is_own = from.project == thread.project && thread.owns(&from.path);
            if is_own && !self.is_changed(&from.path) && !without.contains(&from.title) {
                let relation_type = row.relation_type;
                found.push(IncomingRelation { from: from.title, relation_type });
            }
        }
        for from in self.changed().filter(|from| !without.contains(&from.name)) {
            let to = from.relations.iter().filter(|relation| relation.target == entity.name);
            found.extend(to.map(|relation| IncomingRelation {
                from: from.name.clone(),
                relation_type: relation.relation_type.clone(),
            }));
        }
        Ok(found)
    }
}
