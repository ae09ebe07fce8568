//! Saving entities with their relations in one commit. Existing entities are merged.

use std::collections::HashSet;

use memoranda_core::change::Commit;
use memoranda_core::note::NewRelation;
use memoranda_core::note::edit::NoteEdit;

use super::entity::DEFAULT_RELATION_IMPORTANCE;
use super::error::{GraphError, GraphResult};
use super::input::{EntityInput, RelationInput};
use super::thread::GraphThread;
use super::transaction::{EntityKind, GraphTransaction, NewEntity, RelationOutcome};
use crate::{Author, Memory, TransactOutcome};

/// The result of a save.
#[derive(Clone, Debug, Default)]
pub struct SaveReport {
    /// Names of the new entities.
    pub created: Vec<String>,
    /// Number of new relations.
    pub relations: usize,
    /// Number of new observations.
    pub observations: usize,
    /// Name and permalink of every entity of the request.
    pub permalinks: Vec<(String, Option<String>)>,
    /// Differences between the request and the saved entities, in order.
    pub warnings: Vec<SaveWarning>,
}

/// A difference between a request and the saved entity.
#[derive(Clone, Debug)]
pub enum SaveWarning {
    /// The entity exists with another type, which was kept.
    TypeKept {
        /// The entity.
        name: String,
        /// The kept type.
        kept: String,
        /// The given type.
        given: String,
    },
    /// The entity has a higher weight, which was kept.
    WeightKept {
        /// The entity.
        name: String,
        /// `importance` or `confidence`.
        weight: &'static str,
        /// The kept value.
        kept: f64,
        /// The given value.
        given: f64,
    },
    /// The entity exists and was merged.
    Merged(MergedEntity),
}

/// An existing entity that was merged with a request.
#[derive(Clone, Debug)]
pub struct MergedEntity {
    /// The entity.
    pub name: String,
    /// Number of new observations.
    pub observations: usize,
    /// Number of new relations.
    pub relations: usize,
    /// Number of known relations that got the given importance.
    pub relations_updated: usize,
    /// Texts of the observations that the entity had already.
    pub already_known: Vec<String>,
}

/// Saves entities in one commit. Every target of a relation must be in the request or in the thread.
pub fn save_entities(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    entities: &[EntityInput],
) -> GraphResult<(SaveReport, Option<Commit>)> {
    let mut report = SaveReport::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        report = apply_request(&mut graph, entities)?;
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok((report, committed(outcome)))
}

/// Returns the commit of a transaction; `None` if nothing changed.
pub(super) fn committed(outcome: TransactOutcome) -> Option<Commit> {
    match outcome {
        TransactOutcome::Committed(commit) => Some(commit),
        TransactOutcome::Unchanged | TransactOutcome::Conflict(_) => None,
    }
}

/// Applies a request. A transaction can be retried, so the report starts empty.
fn apply_request(
    graph: &mut GraphTransaction<'_, '_>,
    entities: &[EntityInput],
) -> GraphResult<SaveReport> {
    let mut report = SaveReport::default();
    // Another process may have removed a target since the request was checked.
    let mut known: HashSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
    for entity in entities {
        for relation in &entity.relations {
            if known.insert(&relation.target) && !graph.has(&relation.target)? {
                return Err(GraphError::TargetRemoved {
                    target: relation.target.clone(),
                    entity: entity.name.clone(),
                });
            }
        }
    }
    for entity in entities {
        if graph.open(&entity.name)? {
            merge(graph, entity, &mut report)?;
        } else {
            create(graph, entity, &mut report)?;
        }
        report.permalinks.push((entity.name.clone(), graph.permalink(&entity.name)));
    }
    Ok(report)
}

fn relations(graph: &GraphTransaction<'_, '_>, entity: &EntityInput) -> Vec<NewRelation> {
    let relation = |input: &RelationInput| NewRelation {
        relation_type: input.relation_type.clone(),
        target: input.target.clone(),
        time: Some(entity.time.unwrap_or(graph.now)),
        confidence: entity.weight.confidence.filter(|confidence| *confidence < 1.0),
        importance: Some(input.importance.unwrap_or(DEFAULT_RELATION_IMPORTANCE)),
    };
    entity.relations.iter().map(relation).collect()
}

fn create(
    graph: &mut GraphTransaction<'_, '_>,
    entity: &EntityInput,
    report: &mut SaveReport,
) -> GraphResult<()> {
    let relations = relations(graph, entity);
    report.relations += relations.len();
    report.observations += entity.observations.len();
    report.created.push(entity.name.clone());
    graph.create(&NewEntity {
        name: &entity.name,
        entity_type: &entity.entity_type,
        facts: &entity.observations,
        relations,
        weight: entity.weight,
        time: entity.time,
        kind: if entity.is_root { EntityKind::Root } else { EntityKind::Described },
    })?;
    Ok(())
}

/// Adds the new observations and relations of a request to an existing entity.
fn merge(
    graph: &mut GraphTransaction<'_, '_>,
    entity: &EntityInput,
    report: &mut SaveReport,
) -> GraphResult<()> {
    let name = entity.name.as_str();
    let Some(found) = graph.entity(name) else { return Ok(()) };
    if found.is_placeholder {
        describe(graph, name, &entity.entity_type)?;
        report.created.push(name.to_owned());
    } else if found.entity_type != entity.entity_type {
        report.warnings.push(SaveWarning::TypeKept {
            name: name.to_owned(),
            kept: found.entity_type.clone(),
            given: entity.entity_type.clone(),
        });
    }
    if entity.is_root && !found.is_root {
        graph.set(name, "root", "true")?;
    }
    let mut merged = MergedEntity {
        name: name.to_owned(),
        observations: 0,
        relations: 0,
        relations_updated: 0,
        already_known: Vec::new(),
    };
    for input in &entity.observations {
        if found.current().any(|fact| fact.content == input.content) {
            merged.already_known.push(input.content.clone());
        } else {
            graph.add_observation(name, input, entity.weight, entity.time)?;
            merged.observations += 1;
        }
    }
    for (mut relation, input) in relations(graph, entity).into_iter().zip(&entity.relations) {
        // A default importance does not change a known relation.
        relation.importance = input.importance;
        match graph.add_relation(name, relation)? {
            RelationOutcome::New => merged.relations += 1,
            RelationOutcome::Rated => merged.relations_updated += 1,
            RelationOutcome::Known => {}
        }
    }
    graph.raise_weight(name, entity.weight)?;
    for (weight, given, kept) in [
        ("importance", entity.weight.importance, found.importance),
        ("confidence", entity.weight.confidence, found.confidence),
    ] {
        if let Some(given) = given.filter(|given| *given < kept && !found.is_placeholder) {
            let name = name.to_owned();
            report.warnings.push(SaveWarning::WeightKept { name, weight, kept, given });
        }
    }
    report.observations += merged.observations;
    report.relations += merged.relations;
    if !found.is_placeholder {
        report.warnings.push(SaveWarning::Merged(merged));
    }
    Ok(())
}

/// Turns a placeholder into a described entity.
pub(super) fn describe(
    graph: &mut GraphTransaction<'_, '_>,
    name: &str,
    entity_type: &str,
) -> GraphResult<()> {
    graph.edit(name, &NoteEdit::RemoveKey { key: "placeholder".into() })?;
    graph.set(name, "type", entity_type)
}
