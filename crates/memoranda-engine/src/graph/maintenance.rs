//! Maintenance of a thread: review flags, bulk updates, pruning and contradictions.

use std::cmp::Ordering;

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::fact::{FactContradiction, find_contradictions};
use memoranda_store::NodeRow;

use super::entity::{DEFAULT_IMPORTANCE, EntityObservation, GraphEntity};
use super::error::{GraphError, GraphResult};
use super::input::{ObservationInput, ObservationWeight};
use super::query::EntityId;
use super::save::committed;
use super::thread::GraphThread;
use super::transaction::{GraphTransaction, format_number};
use crate::{Author, FileOperation, Memory, NoteTransaction};

/// Category of observations that ask a person to review an entity.
const REVIEW_CATEGORY: &str = "review";
/// Prefix of review flags that other servers wrote.
const FLAG_PREFIX: &str = "[FLAGGED FOR REVIEW";
/// Maximum number of entities that one call prunes.
const MAX_PRUNED: usize = 10_000;

/// Adds an observation that asks a person to review an entity, and returns it.
pub fn flag_for_review(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    name: &str,
    reason: &str,
) -> GraphResult<(Option<EntityObservation>, Option<Commit>)> {
    let content = format!("[{REVIEW_CATEGORY}] {reason}");
    let flag = ObservationInput { content, weight: ObservationWeight::default(), time: None };
    let mut observation = None;
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        graph.require(name)?;
        let id = graph.add_observation(name, &flag, ObservationWeight::default(), None)?;
        let entity = graph.require(name)?;
        observation = entity.facts.into_iter().find(|fact| fact.id == id);
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok((observation, committed(outcome)))
}

/// Returns the entities that have a review flag.
pub fn flagged_entities(memory: &Memory, thread: &GraphThread) -> GraphResult<Vec<EntityId>> {
    let folder = thread.folder_graph(memory)?;
    let flags = folder.facts(Some(REVIEW_CATEGORY))?.into_iter();
    let mut files: Vec<EntityId> = flags.map(|fact| EntityId(fact.file)).collect();
    files.extend(folder.holding(FLAG_PREFIX, usize::MAX)?.into_iter().map(EntityId));
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// Returns the texts of the review flags of an entity.
pub fn review_reasons(entity: &GraphEntity) -> Vec<&str> {
    let is_flag = |fact: &&EntityObservation| {
        fact.category.as_deref() == Some(REVIEW_CATEGORY) || fact.content.starts_with(FLAG_PREFIX)
    };
    entity.current().filter(is_flag).map(|fact| fact.content.as_str()).collect()
}

/// A change of one entity in a bulk update.
#[derive(Clone, Debug)]
pub struct BulkUpdate {
    /// The entity.
    pub name: String,
    /// New weights of the entity.
    pub weight: ObservationWeight,
    /// Observations to add.
    pub observations: Vec<ObservationInput>,
}

/// The result of a bulk update.
#[derive(Clone, Debug, Default)]
pub struct BulkUpdateReport {
    /// Number of updated entities.
    pub updated: usize,
    /// Names that no entity has.
    pub missing: Vec<String>,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Updates several entities in one commit.
pub fn bulk_update(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    updates: &[BulkUpdate],
) -> GraphResult<BulkUpdateReport> {
    let mut report = BulkUpdateReport::default();
    let outcome = memory.transact(who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, thread);
        report = BulkUpdateReport::default();
        for BulkUpdate { name, weight, observations } in updates {
            let found = if graph.open(name)? { graph.entity(name) } else { None };
            let Some(entity) = found.filter(|entity| !entity.is_placeholder) else {
                report.missing.push(name.clone());
                continue;
            };
            let weights = [("confidence", weight.confidence), ("importance", weight.importance)];
            for (key, value) in weights {
                if let Some(value) = value {
                    graph.set(name, key, &format_number(value))?;
                }
            }
            let is_new =
                |input: &&ObservationInput| entity.current().all(|f| f.content != input.content);
            for input in observations.iter().filter(is_new) {
                graph.add_observation(name, input, *weight, None)?;
            }
            report.updated += 1;
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    Ok(BulkUpdateReport { commit: committed(outcome), ..report })
}

/// Selects the entities to prune. An entity must match all given bounds.
#[derive(Clone, Copy, Debug)]
pub struct PruneRequest {
    /// Latest time of the last change, exclusive.
    pub older_than: Option<Timestamp>,
    /// Highest importance, exclusive.
    pub importance_below: Option<f64>,
    /// Number of entities that stay in any case.
    pub keep: usize,
    /// True if nothing is removed.
    pub is_dry_run: bool,
}

/// The result of pruning.
#[derive(Clone, Debug, Default)]
pub struct PruneReport {
    /// Names of the removed entities.
    pub names: Vec<String>,
    /// Number of removed relations.
    pub relations: usize,
    /// Number of entities that are left.
    pub remaining: usize,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Commit>,
}

/// Removes entities, the least important and oldest first.
pub fn prune_entities(
    memory: &Memory,
    who: &Author,
    thread: &GraphThread,
    request: &PruneRequest,
) -> GraphResult<PruneReport> {
    let mut report = PruneReport::default();
    let outcome = memory.transact(who, None, |desk| {
        let (pruned, steps) = decide_pruning(desk, thread, request)?;
        report = pruned;
        Ok::<_, GraphError>(if request.is_dry_run { Vec::new() } else { steps })
    })?;
    Ok(PruneReport { commit: committed(outcome), ..report })
}

fn decide_pruning(
    desk: &NoteTransaction<'_>,
    thread: &GraphThread,
    request: &PruneRequest,
) -> GraphResult<(PruneReport, Vec<FileOperation>)> {
    let mut nodes = desk.folder(&thread.project, &thread.folder).nodes()?;
    nodes.retain(|node| !node.is_placeholder);
    let total = nodes.len();
    let importance = |node: &NodeRow| node.importance.unwrap_or(DEFAULT_IMPORTANCE);
    nodes.retain(|node| request.importance_below.is_none_or(|below| importance(node) < below));
    let mut files = Vec::new();
    for node in nodes {
        let Some(file) = desk.file_by_id(node.file)? else { continue };
        if request.older_than.is_none_or(|older| file.updated < older) {
            files.push((importance(&node), file));
        }
    }
    files.sort_by(|a, b| {
        let importance = a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal);
        importance.then_with(|| a.1.updated.cmp(&b.1.updated))
    });
    files.truncate(total.saturating_sub(request.keep).min(MAX_PRUNED));
    let mut graph = GraphTransaction::new(desk, thread);
    let mut report = PruneReport::default();
    for (_, file) in files {
        let removal = graph.remove(&file.title)?;
        report.relations += removal.relations;
        if removal.is_entity {
            report.names.push(file.title);
        }
    }
    report.remaining = total - report.names.len();
    Ok((report, graph.steps()))
}

/// Observations of one entity that contradict each other.
#[derive(Clone, Debug)]
pub struct EntityConflicts {
    /// The entity.
    pub name: String,
    /// Pairs of contradicting texts, each with the reason.
    pub pairs: Vec<(String, String, String)>,
}

/// Finds contradicting observations of entities. Returns at most `limit` entities and the number of
/// the others.
pub fn find_conflicts(
    memory: &Memory,
    thread: &GraphThread,
    limit: usize,
) -> GraphResult<(Vec<EntityConflicts>, usize)> {
    let facts = thread.folder_graph(memory)?.facts(None)?;
    let (mut found, mut left_out) = (Vec::new(), 0);
    for facts in facts.chunk_by(|a, b| a.file == b.file) {
        let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        let pairs = find_contradictions(&texts);
        if pairs.is_empty() {
            continue;
        }
        if found.len() == limit {
            left_out += 1;
            continue;
        }
        let Some(fact) = facts.first() else { continue };
        let Some(file) = memory.snapshot()?.file_by_id(fact.file)? else { continue };
        let pair = |pair: &FactContradiction| {
            let text = |n: usize| texts.get(n).copied().unwrap_or_default().to_owned();
            (text(pair.first), text(pair.second), pair.reason.clone())
        };
        found.push(EntityConflicts { name: file.title, pairs: pairs.iter().map(pair).collect() });
    }
    Ok((found, left_out))
}
