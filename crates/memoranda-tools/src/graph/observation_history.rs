//! Facts traced through the versions of their notes: when each wording came, who wrote it, and how
//! it ended.

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use memoranda_core::change::Commit;
use memoranda_core::id::ObservationId;
use memoranda_core::note::permalink::file_name_from_title;
use memoranda_core::path::NotePath;
use memoranda_engine::{HistoryFilter, Memory, Place};
use serde_json::{Value, json};

use super::entity::{EntityObservation, GraphEntity, normalize_name};
use super::error::{GraphError, Result};
use super::load::{answer, is_thread_note, named, unknown};
use super::observations::{find, observation_id};
use super::thread::{AnswerShape, GraphThread};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// So many versions of a note are looked at for the history of a fact.
const MAX_REVISIONS: usize = 2000;
/// So many are looked at for the times of what is read.
const MAX_READ_REVISIONS: usize = 200;
/// So many deleted notes are looked through for a name.
const MAX_DELETED: usize = 1000;
/// A commit follows the times that it writes within so long.
const COMMIT_DELAY: SignedDuration = SignedDuration::from_secs(2);

/// One wording of a fact.
struct ObservationVersion {
    id: ObservationId,
    content: String,
    version: u32,
    time: Timestamp,
    who: Commit,
}

/// What the revisions of a note tell of its facts.
#[derive(Default)]
struct ObservationHistory {
    versions: Vec<ObservationVersion>,
    /// Which fact took whose place.
    links: Vec<(ObservationId, ObservationId)>,
    last: HashMap<ObservationId, String>,
    /// The facts that hold.
    held: HashSet<ObservationId>,
    /// How and by which commit the others ended.
    ended: HashMap<ObservationId, (&'static str, Commit)>,
}

impl ObservationHistory {
    /// What the newest revisions of a note tell, up to a time.
    fn read(memory: &Memory, place: &Place, most: usize, until: Option<Timestamp>) -> Result<Self> {
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
            let entity = GraphEntity::read(&revision.change.path, &text);
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
                who: commit.clone(),
            });
        }
    }

    /// Notes which facts hold no longer: `now` says of each whether it is current, or that it is
    /// gone.
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

    /// All facts that took each other's place, from this one both ways.
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

/// Gives the facts of an entity the versions that are known of them, and where a person reworded
/// or typed one, the time from the history.
pub(super) fn fill_times(
    memory: &Memory,
    place: &Place,
    until: Option<Timestamp>,
    entity: &mut GraphEntity,
    version_of: impl Fn(&EntityObservation) -> Option<u32>,
) -> Result<()> {
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
            memory.store().folder(&place.project, folder).was_just_made(&place.path)?
        }
    };
    // What has not changed since it was made is as old as its note.
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

/// A time at which the graph is asked for. Facts and relations have their time from before their
/// commit: who asks for that time means the graph with them in it.
pub(super) fn settle_as_of(
    call: &CallContext<'_>,
    thread: &GraphThread,
    time: Timestamp,
) -> Result<Timestamp> {
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
        commits.extend(call.memory.log(&filter, BATCH_SIZE, before)?);
        if commits.len() == before {
            break;
        }
    }
    // The time was read under the lock, so the commit is one of the next.
    for commit in commits.into_iter().rev().take(BATCH_SIZE) {
        let own = commit.files.iter().filter(|file| is_thread_note(thread, &file.path));
        for (file, hash) in own.filter_map(|file| Some((file, file.after?))).take(BATCH_SIZE) {
            let Ok(bytes) = call.memory.store().content(hash) else { continue };
            let entity = GraphEntity::read(&file.path, &String::from_utf8_lossy(&bytes));
            let relations = entity.relations.iter().map(|relation| relation.time);
            if entity.facts.iter().map(|fact| fact.time).chain(relations).any(|t| t == Some(time)) {
                return Ok(commit.time.max(time));
            }
        }
    }
    Ok(time)
}

/// Where the note of an entity lay that was deleted.
fn deleted_location(
    call: &CallContext<'_>,
    thread: &GraphThread,
    name: &str,
) -> Result<Option<Place>> {
    let file = file_name_from_title(name);
    let stem = file.strip_suffix(".md").unwrap_or(&file);
    let mut gone = call.memory.store().gone(&thread.project, MAX_DELETED)?;
    gone.retain(|file| is_thread_note(thread, &file.path));
    // One that was never given another title lay where its name says.
    gone.sort_by_key(|file| !file.path.stem().starts_with(stem));
    for file in gone {
        let Ok(bytes) = call.memory.store().content(file.hash) else { continue };
        let entity = GraphEntity::read(&file.path, &String::from_utf8_lossy(&bytes));
        if entity.name == name && !entity.is_placeholder {
            return Ok(Some(thread.place(file.path)));
        }
    }
    Ok(None)
}

/// Who made a commit, as it is told.
fn author_json(commit: &Commit) -> Value {
    json!({
        "client": commit.author.client,
        "tool": commit.author.tool,
        "channel": commit.author.channel.as_str(),
    })
}

pub(super) fn history(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("get_observation_history", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "entityName", "observationId"])?;
    let name = normalize_name(&args.text("entityName")?);
    let id = observation_id(&args, "observationId")?
        .ok_or_else(|| args.missing("observationId", "the observation's id"))?;
    let entity = named(call, &thread, &name)?.into_iter().find(|entity| !entity.is_placeholder);
    let place = match &entity {
        Some(entity) => thread.place(entity.path.clone()),
        None => match deleted_location(call, &thread, &name)? {
            Some(place) => place,
            None => return Err(unknown(call, &thread, &name)?),
        },
    };
    let thread = GraphThread { shape: AnswerShape::Thread, ..thread };
    let history = ObservationHistory::read(call.memory, &place, MAX_REVISIONS, None)?;
    let chain = history.chain(&id);
    let facts = entity.iter().flat_map(GraphEntity::current);
    let current: HashSet<&ObservationId> = facts.map(|fact| &fact.id).collect();
    let mut versions: Vec<&ObservationVersion> =
        history.versions.iter().filter(|version| chain.contains(&version.id)).collect();
    versions.sort_by_key(|version| version.version);
    if versions.is_empty() {
        let Some(entity) = &entity else {
            let none = format!("Entity '{name}', which was deleted, had no observation {id}.");
            return Err(GraphError::Refused(none));
        };
        find(entity, &id)?;
    }
    let mut rendered = Vec::with_capacity(versions.len());
    for (n, version) in versions.iter().enumerate() {
        let is_last = n + 1 == versions.len();
        let after = history.links.iter().find(|(old, _)| *old == version.id).map(|(_, new)| new);
        let before = history.links.iter().find(|(_, new)| *new == version.id).map(|(old, _)| old);
        let reworded = versions[..n].iter().any(|earlier| earlier.id == version.id);
        let mut item = json!({
            "id": version.id.as_str(),
            "content": version.content,
            "version": version.version,
            "timestamp": version.time.to_string(),
            "agentThreadId": thread.id,
            "current": is_last && current.contains(&version.id),
            "written_by": author_json(&version.who),
            "commit": version.who.id.to_string(),
        });
        if let Some(before) = before.filter(|_| !reworded) {
            item["supersedes"] = json!(before.as_str());
        }
        let is_reworded_later = versions[n + 1..].iter().any(|later| later.id == version.id);
        if let Some(after) = after.filter(|_| !is_reworded_later) {
            item["superseded_by"] = json!(after.as_str());
        }
        // What was neither reworded nor replaced was struck out or removed by somebody.
        let ended = history.ended.get(&version.id);
        if let Some((how, commit)) = ended.filter(|_| !is_reworded_later && after.is_none()) {
            item["ended"] = json!({
                "how": how, "timestamp": commit.time.to_string(), "by": author_json(commit),
                "commit": commit.id.to_string(),
            });
        }
        rendered.push(item);
    }
    let mut structured = json!({
        "entityName": name,
        "observationId": id.as_str(),
        "history": rendered,
        "thread": thread.id,
        "project": thread.project.as_str(),
    });
    if entity.is_none() {
        structured["deleted"] = json!(true);
    }
    Ok(answer(&thread, structured))
}
