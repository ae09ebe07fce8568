//! A whole thread in the terms of the reference knowledge graph server.

use memoranda_store::ListOrder;

use super::entity::GraphEntity;
use super::error::GraphResult;
use super::read::resolve_typed_links;
use super::thread::GraphThread;
use crate::Memory;

/// An entity with the texts of its observations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportedEntity {
    /// The name.
    pub name: String,
    /// The type.
    pub entity_type: String,
    /// Texts of the current observations.
    pub observations: Vec<String>,
}

/// A relation between two names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportedRelation {
    /// Name of the source.
    pub from: String,
    /// Name of the target.
    pub to: String,
    /// The relation type.
    pub relation_type: String,
}

/// Returns all entities and relations of a thread.
pub fn export_graph(
    memory: &Memory,
    thread: &GraphThread,
) -> GraphResult<(Vec<ExportedEntity>, Vec<ExportedRelation>)> {
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    for file in memory.snapshot()?.list(&thread.filter(), ListOrder::Path, usize::MAX, 0)? {
        if !thread.owns(&file.path) {
            continue;
        }
        let Some(found) = memory.store().read(&file.project, &file.path)? else { continue };
        let Ok(text) = String::from_utf8(found.bytes) else { continue };
        let mut entity = GraphEntity::parse(&file.path, &text);
        resolve_typed_links(memory, thread, &mut entity)?;
        let from = &entity.name;
        relations.extend(entity.relations.iter().map(|relation| ExportedRelation {
            from: from.clone(),
            to: relation.target.clone(),
            relation_type: relation.relation_type.clone(),
        }));
        if !entity.is_placeholder {
            entities.push(ExportedEntity {
                observations: entity.current().map(|fact| fact.content.clone()).collect(),
                entity_type: entity.entity_type,
                name: entity.name,
            });
        }
    }
    Ok((entities, relations))
}
