//! Analytics of a thread: recent changes, importance, connectivity and orphans.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use memoranda_core::fact::{DEFAULT_ENTITY_TYPE, thread_of_folder};
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{FileOrder, FileSummary, FilesBelow, ListFilter, ListOrder, NodeRow, clock};

use super::entity::{
    DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, GraphEntity, entity_type_of, is_placeholder, is_root,
};
use super::error::GraphResult;
use super::query::EntityName;
use super::read::read_entity;
use super::thread::GraphThread;
use crate::Memory;

/// Number of entities in each list.
const TOP_ENTITIES: usize = 10;
/// Maximum number of neighbours of one entity in an answer.
pub const MAX_NEIGHBOURS: usize = 20;
/// Maximum number of notes that are looked up one by one.
const MAX_LOOKUPS: usize = 2000;
/// Maximum number of roots of a thread.
const MAX_ROOTS: usize = 1000;
/// Page size for recently changed notes.
const MIN_PAGE: usize = 50;
/// Period of the activity in the statistics.
const ACTIVITY_PERIOD: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The analytics of a thread.
#[derive(Clone, Debug)]
pub struct GraphAnalytics {
    /// The last changed entities.
    pub recent: Vec<EntityActivity>,
    /// The most important entities.
    pub important: Vec<ImportantEntity>,
    /// The entities with the most relations.
    pub connected: Vec<ConnectedEntity>,
    /// The first orphans by path.
    pub orphans: Vec<(EntityName, OrphanReason)>,
    /// Number of orphans.
    pub orphan_count: usize,
    /// Number of described entities.
    pub entity_count: usize,
}

/// An important entity.
#[derive(Clone, Debug)]
pub struct ImportantEntity {
    /// The entity.
    pub entity: EntityName,
    /// Importance from 0 to 1.
    pub importance: f64,
    /// Number of current observations.
    pub observations: u64,
}

/// An entity with many relations.
#[derive(Clone, Debug)]
pub struct ConnectedEntity {
    /// The entity.
    pub entity: EntityName,
    /// Number of relations from and to the entity.
    pub relations: u64,
    /// Names of the first neighbours.
    pub neighbours: Vec<String>,
    /// True if there are more than [`MAX_NEIGHBOURS`].
    pub has_more_neighbours: bool,
}

/// The last change of an entity.
#[derive(Clone, Debug)]
pub struct EntityActivity {
    /// The entity.
    pub entity: EntityName,
    /// Time of the change.
    pub updated: Timestamp,
    file: FileSummary,
}

impl EntityActivity {
    /// Returns true if the change created the entity.
    pub fn is_new(&self, memory: &Memory) -> GraphResult<bool> {
        let FileSummary { project, path, .. } = &self.file;
        let folder = path.parent().unwrap_or_default();
        Ok(memory.snapshot()?.folder(project, folder).was_just_created(path)?)
    }

    /// Reads the entity; `None` if its note is gone.
    pub fn read(&self, memory: &Memory) -> GraphResult<Option<GraphEntity>> {
        read_entity(memory, &self.file)
    }
}

/// Reason why an entity is an orphan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrphanReason {
    /// The entity has no relation.
    NoRelations,
    /// A relation of the entity leads to a name that does not exist.
    BrokenRelation,
}

/// A node with the number of its relations.
type NodeDegree = (NodeRow, u64);

/// Computes the analytics of a thread.
pub fn graph_analytics(memory: &Memory, thread: &GraphThread) -> GraphResult<GraphAnalytics> {
    let folder = thread.folder_graph(memory)?;
    let all = folder.nodes()?;
    let ties = folder.connectivity(&all)?;
    let nodes: Vec<NodeDegree> = all
        .into_iter()
        .zip(ties.incoming)
        .filter(|(node, _)| !node.is_placeholder)
        .map(|(node, incoming)| (node, node.relations + incoming))
        .collect();
    let importance = |node: &NodeRow| node.importance.unwrap_or(DEFAULT_IMPORTANCE);
    // Equal importance is ordered by connectivity, and the other way round.
    let weight = |node: &NodeRow| (importance(node) * 1e9) as u64;
    let important = top(memory, thread, &nodes, |(node, degree)| (weight(node), *degree))?;
    let connected = top(memory, thread, &nodes, |(node, degree)| (*degree, weight(node)))?;
    let is_broken = |node: &NodeRow, degree: u64| degree > 0 && ties.loose.contains(&node.file);
    let isolated = nodes.iter().filter(|(_, degree)| *degree == 0).map(|(node, _)| node.file);
    let isolated = without_roots(memory, thread, isolated.collect())?;
    let broken = nodes.iter().filter(|(node, degree)| is_broken(node, *degree));
    let mut orphans: Vec<i64> = broken.map(|(node, _)| node.file).chain(isolated).collect();
    orphans.sort_unstable();
    let orphan_count = orphans.len();
    let first_orphans = first_by_path(memory, thread, &orphans, TOP_ENTITIES)?.into_iter();
    let orphan = |file: FileSummary| {
        let is_broken = ties.loose.contains(&file.id);
        let reason =
            if is_broken { OrphanReason::BrokenRelation } else { OrphanReason::NoRelations };
        (name_of(&file), reason)
    };
    let important = important.into_iter().map(|((node, _), file)| ImportantEntity {
        entity: name_of(&file),
        importance: importance(node),
        observations: node.facts,
    });
    let mut most_connected = Vec::new();
    for ((node, degree), file) in connected.into_iter().filter(|((_, degree), _)| *degree > 0) {
        let mut neighbours = folder.neighbour_names(node.file, MAX_NEIGHBOURS + 1)?;
        let has_more_neighbours = neighbours.len() > MAX_NEIGHBOURS;
        neighbours.truncate(MAX_NEIGHBOURS);
        let (entity, relations) = (name_of(&file), *degree);
        most_connected.push(ConnectedEntity { entity, relations, neighbours, has_more_neighbours });
    }
    Ok(GraphAnalytics {
        recent: recently_changed(memory, thread, None, TOP_ENTITIES)?,
        important: important.collect(),
        connected: most_connected,
        orphans: first_orphans.map(orphan).collect(),
        orphan_count,
        entity_count: nodes.len(),
    })
}

fn name_of(file: &FileSummary) -> EntityName {
    EntityName { name: file.title.clone(), entity_type: entity_type_of(&file.metadata) }
}

/// Returns the nodes with the highest values. Equal values are ordered by path, because the order of
/// ids depends on the index.
fn top<'n>(
    memory: &Memory,
    thread: &GraphThread,
    nodes: &'n [NodeDegree],
    value: impl Fn(&NodeDegree) -> (u64, u64),
) -> GraphResult<Vec<(&'n NodeDegree, FileSummary)>> {
    let mut values: Vec<(u64, u64)> = nodes.iter().map(&value).collect();
    let least = match values.len() {
        0..=TOP_ENTITIES => (0, 0),
        _ => *values.select_nth_unstable_by_key(TOP_ENTITIES - 1, |value| Reverse(*value)).1,
    };
    let files = |fits: &dyn Fn((u64, u64)) -> bool| -> Vec<i64> {
        nodes.iter().filter(|node| fits(value(node))).map(|(node, _)| node.file).collect()
    };
    let mut found = memory.snapshot()?.files_by_id(&files(&|value| value > least))?;
    let equal = files(&|value| value == least);
    found.extend(first_by_path(memory, thread, &equal, TOP_ENTITIES.saturating_sub(found.len()))?);
    let node = |file: FileSummary| {
        let at = nodes.binary_search_by_key(&file.id, |(node, _)| node.file).ok()?;
        Some((nodes.get(at)?, file))
    };
    let mut top: Vec<_> = found.into_iter().filter_map(node).collect();
    top.sort_by(|(a, a_file), (b, b_file)| {
        value(b).cmp(&value(a)).then_with(|| a_file.path.cmp(&b_file.path))
    });
    Ok(top)
}

/// Returns the first notes by path of a sorted list of ids.
fn first_by_path(
    memory: &Memory,
    thread: &GraphThread,
    files: &[i64],
    count: usize,
) -> GraphResult<Vec<FileSummary>> {
    let store = memory.store();
    let mut found = if files.len() <= MAX_LOOKUPS || count == 0 {
        store.snapshot()?.files_by_id(if count == 0 { &[] } else { files })?
    } else {
        let below = |limit| FilesBelow {
            project: thread.project.clone(),
            folder: NotePath::parse(&thread.folder).ok(),
            depth: usize::MAX,
            order: FileOrder::Path,
            limit,
            offset: 0,
        };
        let mut first = Vec::new();
        // With many ids, the first page of the folder usually contains enough of them.
        for limit in [MAX_LOOKUPS, usize::MAX] {
            let all =
                store.snapshot()?.files_below(&below(limit))?.into_iter().map(|(file, _)| file);
            first = all.filter(|file| files.binary_search(file).is_ok()).take(count).collect();
            if first.len() == count {
                break;
            }
        }
        store.snapshot()?.files_by_id(&first)?
    };
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.truncate(count);
    Ok(found)
}

/// Removes roots from a sorted list of ids.
fn without_roots(memory: &Memory, thread: &GraphThread, files: Vec<i64>) -> GraphResult<Vec<i64>> {
    if files.len() <= MAX_LOOKUPS {
        let found = memory.snapshot()?.files_by_id(&files)?.into_iter();
        return Ok(found.filter(|file| !is_root(&file.metadata)).map(|file| file.id).collect());
    }
    let folder = thread.folder_graph(memory)?;
    let (roots, _) = folder.entries(MAX_ROOTS, 0, |note| is_root(&note.metadata))?;
    let mut known = Vec::with_capacity(roots.len());
    for root in roots {
        known.extend(folder.titled(&root.title)?.into_iter().map(|found| found.id));
    }
    Ok(files.into_iter().filter(|file| !known.contains(file)).collect())
}

/// Returns the described entities that changed last, at most `limit`.
pub fn recently_changed(
    memory: &Memory,
    thread: &GraphThread,
    since: Option<Timestamp>,
    limit: usize,
) -> GraphResult<Vec<EntityActivity>> {
    let filter = ListFilter { since, ..thread.filter() };
    let mut files = Vec::new();
    let (mut offset, page) = (0, limit.max(MIN_PAGE));
    loop {
        let found = memory.snapshot()?.list(&filter, ListOrder::Newest, page, offset)?;
        let read = found.len();
        offset += read;
        let own = found.into_iter().filter(|file| thread.owns(&file.path));
        files.extend(own.filter(|file| !is_placeholder(&file.metadata)));
        if read < page || files.len() >= limit {
            files.truncate(limit);
            break;
        }
    }
    let activity =
        |file: FileSummary| EntityActivity { entity: name_of(&file), updated: file.updated, file };
    Ok(files.into_iter().map(activity).collect())
}

/// The statistics of a thread.
#[derive(Clone, Debug)]
pub struct GraphStatistics {
    /// Number of described entities.
    pub entities: usize,
    /// Number of relations.
    pub relations: u64,
    /// Number of threads in the project.
    pub threads: usize,
    /// Number of entities by type.
    pub types: BTreeMap<String, u64>,
    /// Mean confidence, rounded to three digits.
    pub mean_confidence: f64,
    /// Mean importance, rounded to three digits.
    pub mean_importance: f64,
    /// Number of changed entities by day, for the last week.
    pub activity: Vec<(Timestamp, u64)>,
}

/// Computes the statistics of a thread.
pub fn graph_statistics(memory: &Memory, thread: &GraphThread) -> GraphResult<GraphStatistics> {
    let folder = thread.folder_graph(memory)?;
    let nodes: Vec<NodeRow> =
        folder.nodes()?.into_iter().filter(|node| !node.is_placeholder).collect();
    let mean = |value: fn(&NodeRow) -> f64| match nodes.len() {
        0 => 0.0,
        count => (nodes.iter().map(value).sum::<f64>() / count as f64 * 1000.0).round() / 1000.0,
    };
    let threads = memory.snapshot()?.folders(&thread.project)?;
    let relations = threads.iter().find(|sum| sum.folder == thread.folder);
    let mut types: BTreeMap<String, u64> = BTreeMap::new();
    for (entity_type, count) in folder.types()? {
        *types.entry(entity_type.unwrap_or_else(|| DEFAULT_ENTITY_TYPE.to_owned())).or_default() +=
            count;
    }
    let since = clock::now().checked_sub(ACTIVITY_PERIOD).unwrap_or_default();
    Ok(GraphStatistics {
        entities: nodes.len(),
        relations: relations.map_or(0, |sum| sum.relations),
        threads: threads.iter().filter(|sum| thread_of_folder(&sum.folder).is_some()).count(),
        types,
        mean_confidence: mean(|node| node.confidence.unwrap_or(DEFAULT_CONFIDENCE)),
        mean_importance: mean(|node| node.importance.unwrap_or(DEFAULT_IMPORTANCE)),
        activity: folder.days(since)?,
    })
}

/// A thread in a list.
#[derive(Clone, Debug)]
pub struct ThreadSummary {
    /// The id.
    pub id: String,
    /// Number of described entities.
    pub entities: u64,
    /// Number of relations.
    pub relations: u64,
    /// Time of the first and of the last change.
    pub times: Option<(Timestamp, Timestamp)>,
}

/// Returns the threads of a project, by the page, and their number.
pub fn graph_threads(
    memory: &Memory,
    project: &ProjectName,
    limit: usize,
    offset: usize,
) -> GraphResult<(Vec<ThreadSummary>, usize)> {
    let sums = memory.snapshot()?.folders(project)?.into_iter();
    let threads = sums.filter_map(|sum| Some((thread_of_folder(&sum.folder)?, sum)));
    let threads: Vec<_> = threads.filter(|(id, _)| !id.is_empty()).collect();
    let total = threads.len();
    let mut page = Vec::new();
    for (id, sum) in threads.into_iter().skip(offset).take(limit) {
        let times = memory.snapshot()?.folder(project, &sum.folder).times()?;
        page.push(ThreadSummary { id, entities: sum.notes, relations: sum.relations, times });
    }
    Ok((page, total))
}
