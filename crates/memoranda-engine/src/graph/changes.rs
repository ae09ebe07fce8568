//! Creating and deleting entities, observations and relations, as the reference server does.

use memoranda_core::change::Commit;
use memoranda_core::note::NewRelation;
use memoranda_core::note::edit::NoteEdit;

use super::entity::{EntityObservation, EntityRelation, GraphEntity, normalize_name};
use super::error::{GraphError, GraphResult};
use super::input::{EntityInput, ObservationWeight};
use super::observations::observation_ref;
use super::save::{committed, describe};
use super::thread::GraphThread;
use super::transaction::{EntityKind, GraphTransaction, NewEntity, RelationOutcome};
use crate::{Author, Memory};

/// Type of an entity that only exists as the source of a relation.
const UNKNOWN_TYPE: &str = "Unknown";

/// The result of creating entities.
#[derive(Clone, Debug, Default)]
pub struct CreatedEntities {
    /// The new entities.
    pub created: Vec<GraphEntity>,
    /// Names that existed already.
    pub existing: Vec<String>,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Creates entities that do not exist. Relations of the input are ignored.
pub fn create_entities(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    entities: &[EntityInput],
) -> GraphResult<CreatedEntities> {
    let mut result = CreatedEntities::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        result = CreatedEntities::default();
        for entity in entities {
            if graph.open(&entity.name)? {
                if graph.entity(&entity.name).is_some_and(|found| !found.is_placeholder) {
                    result.existing.push(entity.name.clone());
                    continue;
                }
                describe(&mut graph, &entity.name, &entity.entity_type)?;
                for fact in &entity.observations {
                    graph.add_observation(&entity.name, fact, entity.weight, entity.time)?;
                }
                graph.raise_weight(&entity.name, entity.weight)?;
            } else {
                graph.create(&NewEntity {
                    name: &entity.name,
                    entity_type: &entity.entity_type,
                    facts: &entity.observations,
                    relations: Vec::new(),
                    weight: entity.weight,
                    time: entity.time,
                    kind: EntityKind::Described,
                })?;
            }
            result.created.extend(graph.entity(&entity.name));
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok(CreatedEntities { commit: committed(outcome), ..result })
}

/// A relation with the name of its source.
#[derive(Clone, Debug)]
pub struct NamedRelation {
    /// Name of the source.
    pub from: String,
    /// The relation.
    pub relation: NewRelation,
}

/// The result of creating relations.
#[derive(Clone, Debug, Default)]
pub struct CreatedRelations {
    /// The new relations, each with the name of its source.
    pub created: Vec<(String, EntityRelation)>,
    /// Number of known relations that got the given importance.
    pub updated: usize,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Creates relations. A source that does not exist becomes a placeholder.
pub fn create_relations(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    relations: &[NamedRelation],
) -> GraphResult<CreatedRelations> {
    let mut result = CreatedRelations::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        result = CreatedRelations::default();
        for NamedRelation { from, relation } in relations {
            let mut relation = relation.clone();
            relation.time.get_or_insert(graph.now);
            if !graph.open(from)? {
                graph.create(&NewEntity {
                    name: from,
                    entity_type: UNKNOWN_TYPE,
                    facts: &[],
                    relations: Vec::new(),
                    weight: ObservationWeight::default(),
                    time: None,
                    kind: EntityKind::Placeholder,
                })?;
            }
            let (to, relation_type) = (relation.target.clone(), relation.relation_type.clone());
            match graph.add_relation(from, relation)? {
                RelationOutcome::Known => {}
                RelationOutcome::Rated => result.updated += 1,
                RelationOutcome::New => {
                    let relations = graph.entity(from).into_iter().flat_map(|e| e.relations);
                    let new = relations
                        .filter(|r| r.target == to && r.relation_type == relation_type)
                        .map(|relation| (from.clone(), relation));
                    result.created.extend(new);
                }
            }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok(CreatedRelations { commit: committed(outcome), ..result })
}

/// The result of deleting entities.
#[derive(Clone, Debug, Default)]
pub struct DeletedEntities {
    /// Names of the deleted entities, as given.
    pub deleted: Vec<String>,
    /// Names that no entity has.
    pub missing: Vec<String>,
    /// Number of deleted relations.
    pub relations: usize,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Deletes entities with all relations to and from them.
pub fn delete_entities(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    names: &[String],
) -> GraphResult<DeletedEntities> {
    let mut result = DeletedEntities::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        result = DeletedEntities::default();
        for name in names {
            let removal = graph.remove(&normalize_name(name))?;
            result.relations += removal.relations;
            let list = if removal.is_entity { &mut result.deleted } else { &mut result.missing };
            list.push(name.clone());
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok(DeletedEntities { commit: committed(outcome), ..result })
}

/// Observations to delete from one entity.
#[derive(Clone, Debug)]
pub struct EntityDeletion {
    /// The entity.
    pub name: String,
    /// Ids or texts of the observations.
    pub observations: Vec<String>,
}

/// The result of deleting observations or relations.
#[derive(Clone, Debug, Default)]
pub struct DeletedItems {
    /// Number of deleted items.
    pub deleted: usize,
    /// Descriptions of the items that do not exist.
    pub missing: Vec<String>,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Deletes observations.
pub fn delete_observations(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    deletions: &[EntityDeletion],
) -> GraphResult<DeletedItems> {
    let mut result = DeletedItems::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        result = DeletedItems::default();
        for EntityDeletion { name, observations } in deletions {
            if !graph.open(name)? {
                result.missing.push(name.clone());
                continue;
            }
            for wanted in observations {
                let mut is_found = false;
                // Each deletion moves the lines of later observations, so each is looked up again.
                while let Some(fact) = graph.entity(name).and_then(|entity| {
                    let is_wanted = |fact: &EntityObservation| {
                        fact.id.as_str() == wanted || (fact.is_current && fact.content == *wanted)
                    };
                    entity.facts.into_iter().find(is_wanted)
                }) {
                    let observation = observation_ref(&fact);
                    graph.edit(name, &NoteEdit::RemoveObservation { observation })?;
                    is_found = true;
                    result.deleted += 1;
                }
                if !is_found {
                    result.missing.push(format!("{name}: {wanted}"));
                }
            }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok(DeletedItems { commit: committed(outcome), ..result })
}

/// Deletes relations.
pub fn delete_relations(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    relations: &[NamedRelation],
) -> GraphResult<DeletedItems> {
    let mut result = DeletedItems::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        result = DeletedItems::default();
        for NamedRelation { from, relation } in relations {
            let (relation_type, to) = (&relation.relation_type, &relation.target);
            if graph.open(from)? && graph.remove_relation(from, relation_type, to)? {
                result.deleted += 1;
            } else {
                result.missing.push(format!("{from} {relation_type} {to}"));
            }
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok(DeletedItems { commit: committed(outcome), ..result })
}
