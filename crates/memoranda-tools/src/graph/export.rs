//! A whole graph in the reference server's terms.

use memoranda_engine::{EngineError, Memory};

use super::entity::GraphEntity;
use super::thread::{AnswerShape, DEFAULT_THREAD, GraphThread};
use crate::settings::ToolSettings;

/// An entity in the reference server's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ExportedEntity {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) entity_type: String,
    /// Its facts.
    pub(crate) observations: Vec<String>,
}

/// A relation in the reference server's terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ExportedRelation {
    /// Where it begins.
    pub(crate) from: String,
    /// Where it ends.
    pub(crate) to: String,
    /// What it says.
    pub(crate) relation_type: String,
}

/// The whole thread that the reference server's tools speak to.
pub(crate) fn whole_graph(
    memory: &Memory,
    settings: &ToolSettings,
) -> Result<(Vec<ExportedEntity>, Vec<ExportedRelation>), EngineError> {
    let thread = GraphThread::new(DEFAULT_THREAD, settings, AnswerShape::Reference)
        .ok_or_else(|| EngineError::Invalid(format!("{DEFAULT_THREAD:?} cannot name a thread")))?;
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    let filter = memoranda_engine::ListFilter {
        project: Some(thread.project.clone()),
        folder: memoranda_core::path::NotePath::parse(&thread.folder).ok(),
        ..Default::default()
    };
    let order = memoranda_engine::ListOrder::Path;
    for file in memory.store().list(&filter, order, usize::MAX, 0)? {
        if !super::load::is_thread_note(&thread, &file.path) {
            continue;
        }
        let Some(found) = memory.store().read(&file.project, &file.path)? else { continue };
        let Ok(text) = String::from_utf8(found.bytes) else { continue };
        let mut entity = GraphEntity::read(&file.path, &text);
        super::load::resolve_typed(memory, &thread, &mut entity)?;
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
