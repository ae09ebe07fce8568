//! Observations through the versions of their notes: when each wording was written, by which commit,
//! and how it ended.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::Commit;
use memoranda_core::id::ObservationId;
use memoranda_core::note::permalink::file_name_from_title;
use memoranda_core::path::NotePath;
use memoranda_store::HistoryFilter;

use super::entity::{EntityObservation, GraphEntity};
use super::error::{GraphError, GraphResult};
use super::input::ObservationWeight;
use super::observations::find_observation;
use super::read::{entities_named, unknown_entity};
use super::thread::GraphThread;
use crate::{Memory, NoteLocation};

/// Maximum number of revisions that the history of an observation reads.
const MAX_REVISIONS: usize = 2000;
/// Maximum number of revisions that are read for the times of observations.
const MAX_READ_REVISIONS: usize = 200;
/// Maximum number of deleted notes in which a name is looked for.
const MAX_DELETED: usize = 1000;
/// Maximum delay between a time in a note and the commit that wrote it.
const COMMIT_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// One wording of an observation.
struct ObservationVersion {
    id: ObservationId,
    content: String,
    version: u32,
    time: Timestamp,
    weight: ObservationWeight,
    commit: Commit,
}

/// The observations of a note in all its revisions.
#[derive(Default)]
struct ObservationHistory {
    versions: Vec<ObservationVersion>,
    /// Pairs of a superseded observation and its successor.
    links: Vec<(ObservationId, ObservationId)>,
    last: HashMap<ObservationId, String>,
    /// The current observations.
    held: HashSet<ObservationId>,
    /// The end of the other observations: how, and by which commit.
    ended: HashMap<ObservationId, (&'static str, Commit)>,
}

impl ObservationHistory {
    /// Reads the newest revisions of a note, up to a time.
    fn read(
        memory: &Memory,
        place: &NoteLocation,
        most: usize,
        until: Option<Timestamp>,
    ) -> GraphResult<Self> {
        let mut revisions = memory.revisions(place, most)?;
        revisions.reverse();
        let mut history = Self::default();
        for revision in &revisions {
            if until.is_some_and(|until| revision.commit.time > until) {
                break;
            }
            let Some(hash) = revision.change.after else {
                history.end("deleted with the entity", &revision.commit, |_| None);
                continue;
            };
            let Ok(bytes) = memory.store().content(hash) else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let entity = GraphEntity::parse(&revision.change.path, &text);
            let edits = revision.change.fact_edits.iter();
            let edits = edits.map(|edit| (edit.id.clone(), edit.version)).collect();
            history.add(&entity, &revision.commit, &edits);
        }
        Ok(history)
    }

    fn add(&mut self, entity: &GraphEntity, commit: &Commit, edits: &HashMap<ObservationId, u32>) {
        let of = |id: &ObservationId| entity.facts.iter().find(|fact| fact.id == *id);
        self.end("removed", commit, |id| of(id).map(|fact| fact.is_current));
        for fact in &entity.facts {
            if let Some(by) = &fact.superseded_by {
                self.link(&fact.id, by);
            }
            if let Some(old) = &fact.supersedes {
                self.link(old, &fact.id);
            }
            if fact.is_current {
                self.ended.remove(&fact.id);
                self.held.insert(fact.id.clone());
            }
            let known = self.last.get(&fact.id);
            if !fact.is_current && known.is_some() {
                continue;
            }
            if known == Some(&fact.content) {
                continue;
            }
            let before = self.versions.iter().rev().find(|version| version.id == fact.id);
            let version = match before {
                None => fact.version,
                Some(before) => {
                    let rendered = edits.get(&fact.id).copied().unwrap_or(0);
                    rendered.max(fact.version).max(before.version.saturating_add(1))
                }
            };
            self.last.insert(fact.id.clone(), fact.content.clone());
            self.versions.push(ObservationVersion {
                id: fact.id.clone(),
                content: fact.content.clone(),
                version,
                time: match before {
                    None => fact.time.unwrap_or(commit.time),
                    Some(before) => commit.time.max(before.time),
                },
                weight: ObservationWeight {
                    confidence: fact.confidence,
                    importance: fact.importance,
                },
                commit: commit.clone(),
            });
        }
    }

    /// Records the observations that are no longer current. `now` returns `None` for one that is gone.
    fn end(
        &mut self,
        gone: &'static str,
        commit: &Commit,
        now: impl Fn(&ObservationId) -> Option<bool>,
    ) {
        self.held.retain(|id| {
            let how = match now(id) {
                Some(true) => return true,
                Some(false) => "struck out",
                None => gone,
            };
            self.ended.insert(id.clone(), (how, commit.clone()));
            false
        });
    }

    fn link(&mut self, old: &ObservationId, new: &ObservationId) {
        let link = (old.clone(), new.clone());
        if !self.links.contains(&link) {
            self.links.push(link);
        }
    }

    /// Returns all predecessors and successors of an observation, and itself.
    fn chain(&self, id: &ObservationId) -> HashSet<ObservationId> {
        let mut chain = HashSet::from([id.clone()]);
        loop {
            let more: Vec<ObservationId> = self
                .links
                .iter()
                .flat_map(|(old, new)| [(old, new), (new, old)])
                .filter(|(here, there)| chain.contains(*here) && !chain.contains(*there))
                .map(|(_, there)| there.clone())
                .collect();
            if more.is_empty() {
                return chain;
            }
            chain.extend(more);
        }
    }
}

/// Applies known versions to the observations of an entity, and fills missing times from the history.
pub(super) fn fill_times(
    memory: &Memory,
    place: &NoteLocation,
    until: Option<Timestamp>,
    entity: &mut GraphEntity,
    version_of: impl Fn(&EntityObservation) -> Option<u32>,
) -> GraphResult<()> {
    let mut is_traced = false;
    for fact in &mut entity.facts {
        let version = version_of(fact).unwrap_or(0);
        if version > fact.version {
            (fact.version, fact.time) = (version, None);
        }
        is_traced |= fact.time.is_none();
    }
    if !is_traced {
        return Ok(());
    }
    let is_new = match (until, entity.times) {
        (Some(_), Some((first, last))) => first == last,
        _ => {
            let folder = place.path.parent().unwrap_or_default();
            memory.snapshot()?.folder(&place.project, folder).was_just_created(&place.path)?
        }
    };
    // The observations of a note that never changed are as old as the note.
    if let Some((created, _)) = entity.times.filter(|_| is_new) {
        entity.facts.iter_mut().for_each(|fact| fact.time = fact.time.or(Some(created)));
        return Ok(());
    }
    let history = ObservationHistory::read(memory, place, MAX_READ_REVISIONS, until)?;
    for fact in entity.facts.iter_mut().filter(|fact| fact.time.is_none()) {
        let same = |version: &&ObservationVersion| {
            version.id == fact.id && version.content == fact.content
        };
        fact.time = history.versions.iter().rev().find(same).map(|version| version.time);
    }
    Ok(())
}

/// Adjusts a time for an earlier view. Observations and relations have times shortly before their
/// commit; such a time is moved to the commit, so that the view contains them.
pub fn resolve_as_of(
    memory: &Memory,
    thread: &GraphThread,
    time: Timestamp,
) -> GraphResult<Timestamp> {
    const BATCH_SIZE: usize = 50;
    const MAX_COMMITS: usize = 2000;
    let filter = HistoryFilter {
        project: Some(thread.project.clone()),
        path: NotePath::parse(&thread.folder).ok(),
        since: Some(time),
        until: time.checked_add(COMMIT_DELAY).ok(),
        ..HistoryFilter::default()
    };
    let mut commits = Vec::new();
    while commits.len() % BATCH_SIZE == 0 && commits.len() < MAX_COMMITS {
        let before = commits.len();
        commits.extend(memory.log(&filter, BATCH_SIZE, before)?);
        if commits.len() == before {
            break;
        }
    }
    // The time was taken under the lock, so the commit is one of the next.
    for commit in commits.into_iter().rev().take(BATCH_SIZE) {
        let own = commit.files.iter().filter(|file| thread.owns(&file.path));
        for (file, hash) in own.filter_map(|file| Some((file, file.after?))).take(BATCH_SIZE) {
            let Ok(bytes) = memory.store().content(hash) else { continue };
            let entity = GraphEntity::parse(&file.path, &String::from_utf8_lossy(&bytes));
            let relations = entity.relations.iter().map(|relation| relation.time);
            if entity.facts.iter().map(|fact| fact.time).chain(relations).any(|t| t == Some(time)) {
                return Ok(commit.time.max(time));
            }
        }
    }
    Ok(time)
}

/// Returns the location of the deleted note of an entity.
fn deleted_location(
    memory: &Memory,
    thread: &GraphThread,
    name: &str,
) -> GraphResult<Option<NoteLocation>> {
    let file = file_name_from_title(name);
    let stem = file.strip_suffix(".md").unwrap_or(&file);
    let mut gone = memory.snapshot()?.gone(&thread.project, MAX_DELETED)?;
    gone.retain(|file| thread.owns(&file.path));
    // Without a later change of its title, the path of the note follows from the name.
    gone.sort_by_key(|file| !file.path.stem().starts_with(stem));
    for file in gone {
        let Ok(bytes) = memory.store().content(file.hash) else { continue };
        let entity = GraphEntity::parse(&file.path, &String::from_utf8_lossy(&bytes));
        if entity.name == name && !entity.is_placeholder {
            return Ok(Some(thread.place(file.path)));
        }
    }
    Ok(None)
}

/// One wording in the history of an observation.
#[derive(Clone, Debug)]
pub struct HistoryEntry {
    /// The observation.
    pub id: ObservationId,
    /// The text.
    pub content: String,
    /// The version.
    pub version: u32,
    /// Time of the version.
    pub time: Timestamp,
    /// Confidence and importance of the version.
    pub weight: ObservationWeight,
    /// The commit that wrote it.
    pub commit: Commit,
    /// True if the wording holds now.
    pub is_current: bool,
    /// The observation that it supersedes.
    pub supersedes: Option<ObservationId>,
    /// The observation that supersedes it.
    pub superseded_by: Option<ObservationId>,
    /// Kind of the end (struck out or removed) and the commit that made it.
    pub ended: Option<(&'static str, Commit)>,
}

/// The history of an observation.
#[derive(Clone, Debug)]
pub struct ObservationTimeline {
    /// The wordings, the oldest first.
    pub entries: Vec<HistoryEntry>,
    /// True if the entity was deleted.
    pub is_deleted: bool,
}

/// Returns every wording of an observation and of those that it superseded or that superseded it.
pub fn observation_timeline(
    memory: &Memory,
    thread: &GraphThread,
    name: &str,
    id: &ObservationId,
) -> GraphResult<ObservationTimeline> {
    let entities = entities_named(memory, thread, name)?;
    let entity = entities.into_iter().find(|entity| !entity.is_placeholder);
    let place = match &entity {
        Some(entity) => thread.place(entity.path.clone()),
        None => match deleted_location(memory, thread, name)? {
            Some(place) => place,
            None => return Err(unknown_entity(memory, thread, name)?),
        },
    };
    let history = ObservationHistory::read(memory, &place, MAX_REVISIONS, None)?;
    let chain = history.chain(id);
    let facts = entity.iter().flat_map(GraphEntity::current);
    let current: HashSet<&ObservationId> = facts.map(|fact| &fact.id).collect();
    let mut versions: Vec<&ObservationVersion> =
        history.versions.iter().filter(|version| chain.contains(&version.id)).collect();
    // Another program may have written equal numbers; then the time decides.
    versions.sort_by_key(|version| (version.version, version.time));
    if versions.is_empty() {
        let Some(entity) = &entity else {
            let (name, id) = (name.to_owned(), id.clone());
            return Err(GraphError::UnknownDeletedObservation { name, id });
        };
        find_observation(entity, id)?;
    }
    let entry = |(n, version): (usize, &&ObservationVersion)| {
        let is_last = n + 1 == versions.len();
        let links = || history.links.iter();
        let after = links().find(|(old, _)| *old == version.id).map(|(_, new)| new);
        let before = links().find(|(_, new)| *new == version.id).map(|(old, _)| old);
        let is_reworded = versions[..n].iter().any(|earlier| earlier.id == version.id);
        let is_reworded_later = versions[n + 1..].iter().any(|later| later.id == version.id);
        let ended = history.ended.get(&version.id).cloned();
        HistoryEntry {
            id: version.id.clone(),
            content: version.content.clone(),
            version: version.version,
            time: version.time,
            weight: version.weight,
            commit: version.commit.clone(),
            is_current: is_last && current.contains(&version.id),
            supersedes: before.filter(|_| !is_reworded).cloned(),
            superseded_by: after.filter(|_| !is_reworded_later).cloned(),
            // A wording that was neither reworded nor superseded was struck out or removed.
            ended: ended.filter(|_| !is_reworded_later && after.is_none()),
        }
    };
    let entries = versions.iter().enumerate().map(entry).collect();
    Ok(ObservationTimeline { entries, is_deleted: entity.is_none() })
}
