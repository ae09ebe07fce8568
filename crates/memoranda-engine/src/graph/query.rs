//! Queries of a thread: pages, filters, names, paths and neighbourhoods.

use std::collections::HashSet;

use jiff::Timestamp;
use memoranda_core::fact::inverse_relation_type;
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, NamedNote};

use super::entity::{
    DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, GraphEntity, entity_type_of, is_placeholder,
};
use super::error::GraphResult;
use super::read::{read_entity, require_entity, unknown_entity};
use super::thread::GraphThread;
use crate::Memory;

/// An entity that was found, read or not read yet.
#[derive(Clone, Debug)]
pub enum FoundEntity {
    /// An entity that was read.
    Read(Box<GraphEntity>),
    /// The index entry of a note that is read when it is needed.
    Listed(Box<FileSummary>),
}

impl FoundEntity {
    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Self::Read(entity) => &entity.name,
            Self::Listed(file) => &file.title,
        }
    }

    pub(super) fn path(&self) -> &NotePath {
        match self {
            Self::Read(entity) => &entity.path,
            Self::Listed(file) => &file.path,
        }
    }

    pub(super) fn entity_type(&self) -> String {
        match self {
            Self::Read(entity) => entity.entity_type.clone(),
            Self::Listed(file) => entity_type_of(&file.metadata),
        }
    }

    /// Reads the entity; `None` if its note is gone.
    pub fn read(&self, memory: &Memory) -> GraphResult<Option<GraphEntity>> {
        match self {
            Self::Read(entity) => Ok(Some(GraphEntity::clone(entity))),
            Self::Listed(file) => read_entity(memory, file),
        }
    }
}

/// A relation to an entity.
#[derive(Clone, Debug)]
pub struct IncomingRelation {
    /// Name of the source.
    pub from: String,
    /// The relation type.
    pub relation_type: String,
}

/// Returns the relations to an entity from entities other than `without`.
pub fn incoming_relations(
    memory: &Memory,
    thread: &GraphThread,
    entity: &GraphEntity,
    without: &HashSet<String>,
) -> GraphResult<Vec<IncomingRelation>> {
    let store = memory.store();
    let Some(file) = store.snapshot()?.file(&thread.project, &entity.path)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for row in store.snapshot()?.relations_to(file.id)?.into_iter().filter(|row| row.is_stated) {
        let Some(from) = store.snapshot()?.file_by_id(row.file)? else { continue };
        let is_own = from.project == thread.project && thread.owns(&from.path);
        if is_own && !without.contains(&from.title) {
            let relation_type = row.relation_type;
            found.push(IncomingRelation { from: from.title, relation_type });
        }
    }
    Ok(found)
}

/// Returns the index entries of a thread, by the page.
pub fn thread_page(
    memory: &Memory,
    thread: &GraphThread,
    limit: usize,
    offset: usize,
) -> GraphResult<Vec<FileSummary>> {
    Ok(thread.folder_graph(memory)?.page(limit, offset)?)
}

/// Returns the number of notes of a thread.
pub fn thread_size(memory: &Memory, thread: &GraphThread) -> GraphResult<usize> {
    Ok(thread.folder_graph(memory)?.count()? as usize)
}

/// Ranges of times and weights. All bounds are inclusive.
#[derive(Clone, Debug)]
pub struct EntityFilter {
    /// Earliest and latest time of a change.
    pub times: (Option<Timestamp>, Option<Timestamp>),
    /// Lowest and highest confidence.
    pub confidence: (f64, f64),
    /// Lowest and highest importance.
    pub importance: (f64, f64),
}

/// Returns the described entities that a filter selects.
pub fn filter_entities(
    memory: &Memory,
    thread: &GraphThread,
    filter: &EntityFilter,
) -> GraphResult<Vec<EntityId>> {
    let within = |value: f64, (least, most): (f64, f64)| (least..=most).contains(&value);
    let folder = thread.folder_graph(memory)?;
    let mut nodes = folder.nodes()?;
    let changed = match filter.times {
        (None, None) => None,
        (start, end) => Some(folder.changed_between(start, end)?),
    };
    nodes.retain(|node| {
        !node.is_placeholder
            && changed.as_ref().is_none_or(|changed| changed.contains(&node.file))
            && within(node.confidence.unwrap_or(DEFAULT_CONFIDENCE), filter.confidence)
            && within(node.importance.unwrap_or(DEFAULT_IMPORTANCE), filter.importance)
    });
    Ok(nodes.into_iter().map(|node| EntityId(node.file)).collect())
}

/// The id of an entity's note in the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct EntityId(pub(super) i64);

impl EntityId {
    /// Reads the entity; `None` if its note is gone.
    pub fn read(self, memory: &Memory) -> GraphResult<Option<GraphEntity>> {
        match memory.snapshot()?.file_by_id(self.0)? {
            Some(file) => read_entity(memory, &file),
            None => Ok(None),
        }
    }
}

/// Name and type of an entity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntityName {
    /// The name.
    pub name: String,
    /// The type.
    pub entity_type: String,
}

/// Returns names and types of described entities, and the offset of the next page. `entity_type` must
/// be equal, `pattern` must be contained in the name in lower case.
pub fn entity_names(
    memory: &Memory,
    thread: &GraphThread,
    entity_type: Option<&str>,
    pattern: Option<&str>,
    (limit, offset): (usize, usize),
) -> GraphResult<(Vec<EntityName>, Option<usize>)> {
    let keep = |note: &NamedNote| {
        pattern.is_none_or(|part| note.title.to_lowercase().contains(part))
            && !is_placeholder(&note.metadata)
            && entity_type.is_none_or(|wanted| wanted == entity_type_of(&note.metadata))
    };
    let (found, next) = thread.folder_graph(memory)?.entries(limit, offset, keep)?;
    let name = |note: NamedNote| EntityName {
        entity_type: entity_type_of(&note.metadata),
        name: note.title,
    };
    Ok((found.into_iter().map(name).collect(), next))
}

/// A path between two entities.
#[derive(Clone, Debug)]
pub struct RelationPath {
    /// Names of the entities, in order.
    pub names: Vec<String>,
    /// The relations between them.
    pub steps: Vec<PathStep>,
}

/// One relation of a path.
#[derive(Clone, Debug)]
pub struct PathStep {
    /// Name of the source of the relation.
    pub from: String,
    /// Name of the target of the relation.
    pub to: String,
    /// The relation type.
    pub relation_type: String,
    /// The relation type in the direction of the path.
    pub read_as: String,
    /// Name of the entity that the path continues with.
    pub next: String,
}

/// Returns the shortest path between two entities; `None` if it is longer than `max_depth`.
pub fn relation_path(
    memory: &Memory,
    thread: &GraphThread,
    from: &str,
    to: &str,
    max_depth: usize,
) -> GraphResult<Option<RelationPath>> {
    let folder = thread.folder_graph(memory)?;
    let mut ends = [0; 2];
    for (end, name) in ends.iter_mut().zip([from, to]) {
        match folder.titled(name)?.first() {
            Some(found) => *end = found.id,
            None => return Err(unknown_entity(memory, thread, name)?),
        }
    }
    let Some(route) = folder.path(ends[0], ends[1], max_depth)? else { return Ok(None) };
    let mut names = Vec::with_capacity(route.notes.len());
    for id in &route.notes {
        names.push(memory.snapshot()?.file_by_id(*id)?.map(|file| file.title).unwrap_or_default());
    }
    let name = |id: i64| {
        let at = route.notes.iter().position(|note| *note == id);
        at.and_then(|at| names.get(at)).cloned().unwrap_or_default()
    };
    let steps = route.edges.iter().zip(route.notes.windows(2)).map(|(edge, pair)| {
        let is_forward = pair.first() == Some(&edge.from);
        PathStep {
            from: name(edge.from),
            to: name(edge.to),
            relation_type: edge.label.clone(),
            read_as: if is_forward {
                edge.label.clone()
            } else {
                inverse_relation_type(&edge.label)
            },
            next: name(pair[1]),
        }
    });
    let steps = steps.collect();
    Ok(Some(RelationPath { names, steps }))
}

/// Returns the described entities at most `depth` relations around some, the nearest first, and true
/// if there are more than `max`.
pub fn entities_around(
    memory: &Memory,
    thread: &GraphThread,
    names: &[String],
    depth: usize,
    max: usize,
) -> GraphResult<(Vec<FoundEntity>, bool)> {
    let folder = thread.folder_graph(memory)?;
    let mut start = Vec::with_capacity(names.len());
    for name in names {
        require_entity(memory, thread, name)?;
        let id = folder.titled(name)?.first().map(|found| found.id);
        start.extend(id.filter(|id| !start.contains(id)));
    }
    let near = folder.around(&start, depth, max)?;
    let ids = start.into_iter().chain(near.found.iter().map(|neighbour| neighbour.id));
    let files = memory.snapshot()?.files_by_id(&ids.collect::<Vec<_>>())?.into_iter();
    let described = files.filter(|file| !is_placeholder(&file.metadata));
    let found = described.map(|file| FoundEntity::Listed(Box::new(file))).collect();
    Ok((found, near.truncated))
}
