//! A thread as it was: what has not changed since is as the index knows it, and only the rest is
//! read from the history.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use memoranda_core::fact::inverse_relation_type;
use memoranda_core::id::ContentHash;
use memoranda_core::path::NotePath;
use memoranda_engine::{FileThen, PointInTime, exact_key, link_key};
use serde_json::{Value, json};

use super::entity::{EntityObservation, GraphEntity};
use super::error::{GraphError, Result};
use super::load::{entity, is_thread_note};
use super::observation_history;
use super::thread::{AnswerShape, GraphThread};
use crate::registry::CallContext;

/// The notes of a thread as they were at a time, by path.
pub(super) fn files(
    call: &CallContext<'_>,
    thread: &GraphThread,
    time: Timestamp,
) -> Result<Vec<FileThen>> {
    let mut files = thread.folder_graph(call.memory).as_of(time)?;
    files.retain(|file| is_thread_note(thread, &file.path));
    Ok(files)
}

/// One of them as an entity; `None` if it was no text.
pub(super) fn read(
    call: &CallContext<'_>,
    thread: &GraphThread,
    file: &FileThen,
    time: Timestamp,
) -> Result<Option<GraphEntity>> {
    let then = at(call, thread, &file.path, file.hash, time)?;
    Ok(then.map(|entity| GraphEntity { times: Some((file.created, file.updated)), ..entity }))
}

fn at(
    call: &CallContext<'_>,
    thread: &GraphThread,
    path: &NotePath,
    hash: ContentHash,
    time: Timestamp,
) -> Result<Option<GraphEntity>> {
    let Ok(text) = String::from_utf8(call.memory.store().content(hash)?) else { return Ok(None) };
    let mut entity = GraphEntity::read(path, &text);
    // Facts that a person had reworded by then have higher versions than their comments say.
    let reworded = thread.folder_graph(call.memory).reworded(path, time)?;
    let version_of =
        |fact: &EntityObservation| reworded.get(&fact.id).copied().filter(|_| fact.has_comment);
    let place = thread.place(path.clone());
    entity.times = thread.folder_graph(call.memory).times_then(path, time)?;
    observation_history::fill_times(call.memory, &place, Some(time), &mut entity, version_of)?;
    Ok(Some(entity))
}

/// What differs between a thread as it was and as it is.
pub(super) struct GraphAt<'t> {
    thread: &'t GraphThread,
    /// What each file that differs was; `None` if it was not there.
    changed: BTreeMap<NotePath, Option<GraphEntity>>,
}

impl<'t> GraphAt<'t> {
    pub(super) fn new(
        call: &CallContext<'_>,
        thread: &'t GraphThread,
        time: Timestamp,
    ) -> Result<Self> {
        let mut changed = BTreeMap::new();
        let since = call.memory.store().changed_since(&thread.project, PointInTime::Time(time))?;
        let total = since.len() as u64;
        let own = since.into_iter().filter(|file| is_thread_note(thread, &file.path));
        for (n, file) in own.enumerate() {
            (call.progress)(n as u64, total, "reading the history");
            if call.is_cancelled() {
                return Err(GraphError::Refused("The call was cancelled.".into()));
            }
            let mut was = None;
            if let Some(then) = &file.then {
                was = at(call, thread, &file.path, then.hash, time)?;
            }
            changed.insert(file.path, was);
        }
        Ok(Self { thread, changed })
    }

    /// Whether a file was another then, or none.
    pub(super) fn is_changed(&self, path: &NotePath) -> bool {
        self.changed.contains_key(path)
    }

    /// The entities that were others then, as they were.
    pub(super) fn changed(&self) -> impl Iterator<Item = &GraphEntity> {
        self.changed.values().flatten()
    }

    /// The entities that had a name.
    pub(super) fn named(&self, call: &CallContext<'_>, name: &str) -> Result<Vec<GraphEntity>> {
        let mut entities = Vec::new();
        for found in self.thread.folder_graph(call.memory).titled(name)? {
            if self.is_changed(&found.path) {
                continue;
            }
            let Some(file) = call.memory.store().file_by_id(found.id)? else { continue };
            entities.extend(entity(call, &file)?.filter(|entity| entity.name == name));
        }
        entities.extend(self.changed().filter(|entity| entity.name == name).cloned());
        Ok(entities)
    }

    /// The relations that led to an entity from others than these.
    pub(super) fn incoming(
        &self,
        call: &CallContext<'_>,
        entity: &GraphEntity,
        without: &HashSet<String>,
    ) -> Result<Vec<Value>> {
        let (store, thread) = (call.memory.store(), self.thread);
        let mut keys = [exact_key(&thread.folder, &entity.name), link_key(&entity.name)];
        keys.sort_unstable();
        let target = store.file(&thread.project, &entity.path)?.map(|file| file.id);
        let mut found = Vec::new();
        for row in store.relations_concerning(&thread.project, &[], &keys)? {
            let is_meant = match &row.exact_name {
                Some(name) => *name == entity.name,
                None => row.target_file.is_some() && row.target_file == target,
            };
            if !is_meant || !row.is_stated {
                continue;
            }
            let Some(from) = store.file_by_id(row.file)? else { continue };
            let here = from.project == thread.project && is_thread_note(thread, &from.path);
            if here && !self.is_changed(&from.path) && !without.contains(&from.title) {
                found.push(incoming_relation(
                    thread,
                    &from.title,
                    &entity.name,
                    &row.relation_type,
                ));
            }
        }
        for from in self.changed().filter(|from| !without.contains(&from.name)) {
            let to = from.relations.iter().filter(|relation| relation.target == entity.name);
            found.extend(
                to.map(|r| incoming_relation(thread, &from.name, &entity.name, &r.relation_type)),
            );
        }
        Ok(found)
    }
}

/// A relation as it is told from its far end.
pub(super) fn incoming_relation(
    thread: &GraphThread,
    from: &str,
    to: &str,
    relation_type: &str,
) -> Value {
    let mut rendered = json!({ "from": from, "to": to, "relationType": relation_type });
    if thread.shape == AnswerShape::Thread {
        // Read from this end; only the other end's note states it.
        rendered["inverse"] = json!(inverse_relation_type(relation_type));
    }
    rendered
}
