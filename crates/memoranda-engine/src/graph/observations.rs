//! Adding observations and superseding them.

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{NoteEdit, ObservationRef};
use memoranda_core::note::{NewObservation, observation_from_text};

use super::entity::{EntityObservation, GraphEntity};
use super::error::{GraphError, GraphResult};
use super::input::{ObservationInput, ObservationWeight};
use super::save::committed;
use super::thread::GraphThread;
use super::transaction::GraphTransaction;
use crate::{Author, Memory};

/// Maximum number of observations that an error lists.
const MAX_LISTED: usize = 10;

/// Observations to add to one entity.
#[derive(Clone, Debug)]
pub struct ObservationAddition {
    /// The entity.
    pub name: String,
    /// The observations.
    pub contents: Vec<ObservationInput>,
    /// The observation that the only content supersedes.
    pub supersedes: Option<ObservationId>,
    /// Weights of observations without weights.
    pub weight: ObservationWeight,
    /// Time of observations without a time.
    pub time: Option<Timestamp>,
}

/// Observations that were added to one entity.
#[derive(Clone, Debug)]
pub struct AddedObservations {
    /// The entity.
    pub name: String,
    /// The new observations.
    pub added: Vec<EntityObservation>,
    /// Texts of observations that the entity had already.
    pub skipped: Vec<String>,
}

/// Adds observations in one commit.
pub fn add_observations(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    additions: &[ObservationAddition],
) -> GraphResult<(Vec<AddedObservations>, Option<Commit>)> {
    let mut results = Vec::new();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        results = Vec::new();
        for addition in additions {
            results.push(add(&mut graph, addition)?);
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok((results, committed(outcome)))
}

fn add(
    graph: &mut GraphTransaction<'_, '_>,
    addition: &ObservationAddition,
) -> GraphResult<AddedObservations> {
    let name = addition.name.as_str();
    let entity = graph.require(name)?;
    let (mut added, mut skipped) = (Vec::new(), Vec::new());
    for input in &addition.contents {
        let (weight, time) = (input.weight.or(addition.weight), input.time.or(addition.time));
        if let Some(old) = &addition.supersedes {
            added.push(supersede(graph, name, old, &input.content, weight, time)?);
        } else if entity.current().any(|fact| fact.content == input.content) {
            skipped.push(input.content.clone());
        } else {
            added.push(graph.add_observation(name, input, weight, time)?);
        }
    }
    graph.raise_weight(name, addition.weight)?;
    let facts = graph.require(name)?.facts.into_iter();
    let added = facts.filter(|fact| added.contains(&fact.id)).collect();
    Ok(AddedObservations { name: name.to_owned(), added, skipped })
}

/// Supersedes one observation by another and returns the new one.
pub fn supersede_observation(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    name: &str,
    old: &ObservationId,
    new: &ObservationInput,
) -> GraphResult<(EntityObservation, Option<Commit>)> {
    let mut replacement = None;
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        graph.require(name)?;
        let id = supersede(&mut graph, name, old, &new.content, new.weight, new.time)?;
        replacement = Some(find_observation(&graph.require(name)?, &id)?.clone());
        Ok::<_, GraphError>(graph.steps())
    })?;
    match replacement {
        Some(replacement) => Ok((replacement, committed(outcome))),
        None => Err(GraphError::UnknownObservation {
            name: name.to_owned(),
            id: old.clone(),
            known: Vec::new(),
        }),
    }
}

/// Supersedes an observation and returns the id of the new one.
fn supersede(
    graph: &mut GraphTransaction<'_, '_>,
    name: &str,
    old: &ObservationId,
    content: &str,
    weight: ObservationWeight,
    time: Option<Timestamp>,
) -> GraphResult<ObservationId> {
    let entity = graph.require(name)?;
    let fact = find_observation(&entity, old)?;
    if !fact.is_current {
        let current = current_successor(&entity, fact);
        return Err(GraphError::AlreadySuperseded {
            name: name.to_owned(),
            id: old.clone(),
            current: current.map(|now| (now.id.clone(), now.content.clone())),
        });
    }
    if let Some(same) = entity.current().find(|f| f.content == content && f.id != *old) {
        return Err(GraphError::AlreadyStated {
            name: name.to_owned(),
            content: content.to_owned(),
            same: same.id.clone(),
            old: old.clone(),
        });
    }
    let weight = ObservationWeight {
        confidence: weight.confidence.or(fact.confidence),
        importance: weight.importance.or(fact.importance),
    };
    // The clock may be wrong; a successor is never older than its predecessor.
    let now = graph.now.max(fact.time.unwrap_or(graph.now));
    let mut meta = graph.observation_meta(weight, Some(time.unwrap_or(now)));
    meta.version = fact.version.saturating_add(1);
    meta.supersedes = Some(old.clone());
    let id = meta.id.clone();
    let replacement = NewObservation { meta: Some(meta), ..observation_from_text(content) };
    let observation = observation_ref(fact);
    graph.edit(name, &NoteEdit::SupersedeObservation { observation, replacement })?;
    Ok(id)
}

/// Returns the reference to an observation: its id, or its line if it has no comment.
pub(super) fn observation_ref(fact: &EntityObservation) -> ObservationRef {
    if fact.has_comment {
        ObservationRef::Id(fact.id.clone())
    } else {
        ObservationRef::Line(fact.line)
    }
}

/// Returns the current observation that follows a superseded one.
fn current_successor<'e>(
    entity: &'e GraphEntity,
    fact: &'e EntityObservation,
) -> Option<&'e EntityObservation> {
    let mut now = fact;
    // The number of steps is limited because people can write cycles.
    for _ in 0..=entity.facts.len() {
        if now.is_current {
            return Some(now);
        }
        let by = now.superseded_by.as_ref()?;
        now = entity.facts.iter().find(|fact| fact.id == *by)?;
    }
    None
}

/// Returns an observation of an entity by its id.
pub(super) fn find_observation<'e>(
    entity: &'e GraphEntity,
    id: &ObservationId,
) -> GraphResult<&'e EntityObservation> {
    entity.facts.iter().find(|fact| fact.id == *id).ok_or_else(|| {
        let known = entity.current().take(MAX_LISTED);
        GraphError::UnknownObservation {
            name: entity.name.clone(),
            id: id.clone(),
            known: known.map(|fact| (fact.id.clone(), fact.content.clone())).collect(),
        }
    })
}
