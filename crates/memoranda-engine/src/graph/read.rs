//! Reading entities from their notes.

use std::collections::HashMap;

use memoranda_core::fact::similar_names;
use memoranda_store::{FileSummary, ListOrder};

use super::entity::{EntityObservation, GraphEntity};
use super::error::{GraphError, GraphResult};
use super::observation_history;
use super::thread::GraphThread;
use crate::{Memory, NoteLocation};

/// Maximum number of names among which similar names are looked for.
const MAX_NAMES: usize = 5000;
/// Maximum number of similar names in an error.
const MAX_NEAR_NAMES: usize = 3;

/// Reads the entity of an index entry; `None` if the file is gone or is not text.
pub fn read_entity(memory: &Memory, file: &FileSummary) -> GraphResult<Option<GraphEntity>> {
    let Some(found) = memory.store().read(&file.project, &file.path)? else {
        return Ok(None);
    };
    let Ok(text) = String::from_utf8(found.bytes) else { return Ok(None) };
    let mut entity = GraphEntity::parse(&file.path, &text);
    entity.times = Some((file.created, file.updated));
    apply_versions(memory, file, &mut entity)?;
    Ok(Some(entity))
}

/// Applies the versions of the index. An observation that a person reworded has a higher version
/// than its comment.
fn apply_versions(
    memory: &Memory,
    file: &FileSummary,
    entity: &mut GraphEntity,
) -> GraphResult<()> {
    let rows = memory.snapshot()?.observations(file.id)?.into_iter();
    let versions: HashMap<String, u32> = rows.map(|row| (row.id, row.version)).collect();
    let version_of = |fact: &EntityObservation| versions.get(fact.id.as_str()).copied();
    let place = NoteLocation::new(&file.project, file.path.clone());
    observation_history::fill_times(memory, &place, None, entity, version_of)
}

/// Returns true if a note of the thread has a name as its title.
pub fn entity_exists(memory: &Memory, thread: &GraphThread, name: &str) -> GraphResult<bool> {
    Ok(!thread.folder_graph(memory)?.titled(name)?.is_empty())
}

/// Returns the entities of a name. There are several if people gave the title to several notes.
pub fn entities_named(
    memory: &Memory,
    thread: &GraphThread,
    name: &str,
) -> GraphResult<Vec<GraphEntity>> {
    let mut entities = Vec::new();
    for found in thread.folder_graph(memory)?.titled(name)? {
        let Some(file) = memory.snapshot()?.file_by_id(found.id)? else { continue };
        entities.extend(read_entity(memory, &file)?.filter(|entity| entity.name == name));
    }
    Ok(entities)
}

/// Returns the described entity of a name; an error with similar names if no entity has it.
pub fn require_entity(
    memory: &Memory,
    thread: &GraphThread,
    name: &str,
) -> GraphResult<GraphEntity> {
    let entities = entities_named(memory, thread, name)?;
    match entities.into_iter().find(|entity| !entity.is_placeholder) {
        Some(entity) => Ok(entity),
        None => Err(unknown_entity(memory, thread, name)?),
    }
}

/// Returns the error for a name that no entity has, with similar names.
pub(super) fn unknown_entity(
    memory: &Memory,
    thread: &GraphThread,
    name: &str,
) -> GraphResult<GraphError> {
    let names = thread_names(memory, thread)?;
    let near = similar_names(name, names.iter().map(String::as_str), MAX_NEAR_NAMES);
    let near = near.into_iter().map(str::to_owned).collect();
    Ok(GraphError::UnknownEntity { name: name.to_owned(), near, is_searched: true })
}

/// Returns the names of a thread, the last changed first.
pub fn thread_names(memory: &Memory, thread: &GraphThread) -> GraphResult<Vec<String>> {
    let found = memory.snapshot()?.list(&thread.filter(), ListOrder::Newest, MAX_NAMES, 0)?;
    let own = found.into_iter().filter(|file| thread.owns(&file.path));
    Ok(own.map(|file| file.title).collect())
}

/// Replaces the targets of handwritten links by the titles that the index resolves them to.
pub fn resolve_typed_links(
    memory: &Memory,
    thread: &GraphThread,
    entity: &mut GraphEntity,
) -> GraphResult<()> {
    if entity.has_typed_links() {
        entity.resolve(&memory.typed_links(&thread.place(entity.path.clone()))?);
    }
    Ok(())
}
