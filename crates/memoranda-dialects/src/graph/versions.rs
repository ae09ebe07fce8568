//! Facts over time: added, replaced by newer ones, and traced back to who wrote them.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::{Edit, FactRef};
use memoranda_core::note::{NewObservation, plain, stated};
use serde_json::{Value, json};

use super::bench::{Bench, Weight};
use super::entity::{Entity, Fact};
use super::error::{GraphError, Result};
use super::load::{answer, fields, needed, time};
use super::reference::finished;
use super::save::{commit_id, screened};
use super::thread::{Shape, Thread};
use super::wanted::{FactTexts, check_fact, fact_texts};
use crate::args::Args;
use crate::tool::{Call, ToolResult};

/// So many versions of a note are looked at for the history of a fact.
const MOST_REVISIONS: usize = 2000;

struct Addition {
    name: String,
    contents: Vec<String>,
    supersedes: Option<ObservationId>,
    weight: Weight,
    time: Option<Timestamp>,
}

fn observation_id(args: &Args, name: &str) -> Result<Option<ObservationId>> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    match ObservationId::parse(text.trim()) {
        Some(id) => Ok(Some(id)),
        None => Err(args.wrong(name, "an observation id, obs_…", &json!(text)).into()),
    }
}

/// What is wrong with facts. Those of a thread are held to the limits; the reference server has
/// none.
fn check(thread: &Thread, call: &Call<'_>, name: &str, contents: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    for content in contents {
        if content.is_empty() {
            problems.push(format!("An observation of '{name}' is empty."));
        } else if thread.shape == Shape::Thread
            && let Some((problem, suggestion, _)) = check_fact(content, call.settings.graph.limits)
        {
            problems.push(format!(
                "Entity '{name}', observation \"{content}\": {problem} Suggestion: {suggestion}"
            ));
        }
    }
    problems
}

/// Says all problems, if there are any.
fn refuse(problems: &[String]) -> Result<()> {
    const MOST: usize = 30;
    if problems.is_empty() {
        return Ok(());
    }
    let mut text = "Validation failed; nothing was saved.".to_owned();
    problems.iter().take(MOST).for_each(|problem| text.push_str(&format!("\n{problem}")));
    if problems.len() > MOST {
        text.push_str(&format!("\n… and {} more of the kind.", problems.len() - MOST));
    }
    Err(GraphError::Refused(text))
}

pub(super) fn add_observations(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("add_observations", arguments)?;
    let thread = Thread::optional(&mut args, call.settings)?;
    args.only(&["observations", "threadId"])?;
    let objects = args.objects("observations")?;
    let objects = objects.ok_or_else(|| args.missing("observations", "a list of additions"))?;
    let mut additions = Vec::with_capacity(objects.len());
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    for object in objects {
        let args = fields("an addition of add_observations", object)?;
        match addition(call, &thread, args, &mut problems) {
            Ok(addition) => additions.push(addition),
            Err(error) => problems.push(error.to_string()),
        }
    }
    refuse(&problems)?;
    for addition in &mut additions {
        warnings.extend(screened(call, &addition.name, &mut addition.contents)?);
    }
    let mut results = Vec::new();
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut bench = Bench::new(desk, &thread);
        results = Vec::new();
        for addition in &additions {
            results.push(add(&mut bench, &thread, addition)?);
        }
        Ok::<_, GraphError>(bench.steps())
    });
    let outcome = match outcome {
        // Outside of the lock there is time to look for all that are missing, and for near names.
        Err(GraphError::Refused(message)) if message.starts_with("Entity with name") => {
            let mut missing: Vec<String> = Vec::new();
            for addition in &additions {
                match needed(call, &thread, &addition.name) {
                    Err(GraphError::Refused(text)) if !missing.contains(&text) => {
                        missing.push(text);
                    }
                    Err(GraphError::Refused(_)) | Ok(_) => {}
                    Err(other) => return Err(other),
                }
            }
            let told = if missing.is_empty() { message } else { missing.join("\n") };
            return Err(GraphError::Refused(told));
        }
        other => other?,
    };
    let mut structured = json!({ "results": results });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(finished(&thread, structured, commit_id(&outcome)))
}

/// Reads one addition; what is wrong with its facts is added to the problems.
fn addition(
    call: &Call<'_>,
    thread: &Thread,
    mut args: Args,
    problems: &mut Vec<String>,
) -> Result<Addition> {
    args.rename(&[("contents", &["observations", "content"]), ("entityName", &["name"])]);
    let known = ["entityName", "contents", "supersedes", "confidence", "importance"];
    args.only(&[&known[..], &["timestamp", "agentThreadId"]].concat())?;
    let name = args.text("entityName")?.trim().to_owned();
    let FactTexts { texts: contents, problems: wrong } = fact_texts(&args, "contents");
    problems.extend(wrong.into_iter().map(|wrong| format!("Entity '{name}': {wrong}")));
    problems.extend(check(thread, call, &name, &contents));
    let supersedes = observation_id(&args, "supersedes")?;
    if supersedes.is_some() && contents.len() != 1 {
        return Err(GraphError::Refused(format!(
            "Entity '{name}': supersedes replaces one fact by one: give exactly 1 text in contents, \
             not {}.",
            contents.len()
        )));
    }
    let weight = Weight {
        confidence: args.float("confidence", 0.0, 1.0)?,
        importance: args.float("importance", 0.0, 1.0)?,
    };
    let time = time(&args, "timestamp")?;
    Ok(Addition { name, contents, supersedes, weight, time })
}

fn add(bench: &mut Bench<'_, '_>, thread: &Thread, addition: &Addition) -> Result<Value> {
    let name = addition.name.as_str();
    let entity = bench.need(name)?;
    let (mut added, mut skipped) = (Vec::new(), Vec::new());
    for content in &addition.contents {
        if let Some(old) = &addition.supersedes {
            added.push(supersede(bench, name, old, content, addition.weight, addition.time)?);
        } else if entity.current().any(|fact| fact.content == *content) {
            skipped.push(content.clone());
        } else {
            added.push(bench.add_fact(name, content, addition.weight, addition.time)?);
        }
    }
    bench.raise(name, addition.weight)?;
    let entity = bench.need(name)?;
    let new = entity.facts.iter().filter(|fact| added.contains(&fact.id));
    let told: Vec<Value> = match thread.shape {
        Shape::Reference => new.map(|fact| json!(fact.content)).collect(),
        Shape::Thread => new.map(|fact| fact.told(thread)).collect(),
    };
    let mut result = json!({ "entityName": name, "addedObservations": told });
    if thread.shape == Shape::Thread && !skipped.is_empty() {
        result["alreadyKnown"] = json!(skipped);
    }
    Ok(result)
}

/// Puts a fact in the place of another; its id.
fn supersede(
    bench: &mut Bench<'_, '_>,
    name: &str,
    old: &ObservationId,
    content: &str,
    weight: Weight,
    time: Option<Timestamp>,
) -> Result<ObservationId> {
    let entity = bench.need(name)?;
    let fact = find(&entity, old)?;
    if !fact.is_current {
        let by = match current(&entity, fact) {
            Some(now) => format!("; what holds now is {} \"{}\"", now.id, now.content),
            None => String::new(),
        };
        return Err(GraphError::Refused(format!(
            "Observation {old} of '{name}' is already superseded{by}. Nothing was changed."
        )));
    }
    if let Some(same) = entity.current().find(|f| f.content == content && f.id != *old) {
        return Err(GraphError::Refused(format!(
            "Entity '{name}' says so already, in {}: \"{content}\". Nothing was changed; \
             delete_observations removes {old} if it no longer holds.",
            same.id
        )));
    }
    let weight = Weight {
        confidence: weight.confidence.or(fact.confidence),
        importance: weight.importance.or(fact.importance),
    };
    let mut comment = bench.comment(weight, time);
    comment.version = fact.version.saturating_add(1);
    comment.supersedes = Some(old.clone());
    let id = comment.id.clone();
    let replacement = NewObservation { fact: Some(comment), ..stated(content) };
    let observation = match fact.has_comment {
        true => FactRef::Id(old.clone()),
        false => FactRef::Line(fact.line),
    };
    bench.edit(name, &Edit::SupersedeObservation { observation, replacement })?;
    Ok(id)
}

/// The fact that holds in the place of one that was superseded, however often.
fn current<'e>(entity: &'e Entity, fact: &'e Fact) -> Option<&'e Fact> {
    let mut now = fact;
    // A chain is no longer than there are facts; one that people tied into a ring ends here too.
    for _ in 0..=entity.facts.len() {
        if now.is_current {
            return Some(now);
        }
        let by = now.superseded_by.as_ref()?;
        now = entity.facts.iter().find(|fact| fact.id == *by)?;
    }
    None
}

fn find<'e>(entity: &'e Entity, id: &ObservationId) -> Result<&'e Fact> {
    entity.facts.iter().find(|fact| fact.id == *id).ok_or_else(|| {
        let known: Vec<String> = entity
            .current()
            .take(10)
            .map(|fact| format!("{} \"{}\"", fact.id, fact.content))
            .collect();
        GraphError::Refused(format!(
            "Entity '{}' has no observation {id}. Its observations: {}.",
            entity.name,
            known.join("; ")
        ))
    })
}

pub(super) fn update_observation(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("update_observation", arguments)?;
    let thread = Thread::named(&mut args, call.settings)?;
    let known = ["threadId", "entityName", "observationId", "newContent", "timestamp"];
    args.only(&[&known[..], &["confidence", "importance"]].concat())?;
    let name = args.text("entityName")?.trim().to_owned();
    let id = observation_id(&args, "observationId")?
        .ok_or_else(|| args.missing("observationId", "the observation's id"))?;
    let mut content = [plain(&args.text("newContent")?)];
    refuse(&check(&thread, call, &name, &content))?;
    let warnings = screened(call, &name, &mut content)?;
    let weight = Weight {
        confidence: args.float("confidence", 0.0, 1.0)?,
        importance: args.float("importance", 0.0, 1.0)?,
    };
    let time = time(&args, "timestamp")?;
    needed(call, &thread, &name)?;
    let mut told = Value::Null;
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut bench = Bench::new(desk, &thread);
        bench.need(&name)?;
        let new = supersede(&mut bench, &name, &id, &content[0], weight, time)?;
        told = find(&bench.need(&name)?, &new)?.told(&thread);
        Ok::<_, GraphError>(bench.steps())
    })?;
    let mut structured = json!({ "success": true, "entityName": name, "observation": told, "superseded": id.as_str() });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(finished(&thread, structured, commit_id(&outcome)))
}

/// One wording of a fact.
struct Version {
    id: ObservationId,
    content: String,
    version: u32,
    time: Timestamp,
    who: Commit,
}

/// What the revisions of a note tell of its facts.
#[derive(Default)]
struct Trace {
    versions: Vec<Version>,
    /// Which fact took whose place.
    links: Vec<(ObservationId, ObservationId)>,
    last: HashMap<ObservationId, String>,
}

impl Trace {
    fn add(&mut self, entity: &Entity, commit: &Commit, edits: &HashMap<ObservationId, u32>) {
        for fact in &entity.facts {
            if let Some(by) = &fact.superseded_by {
                self.link(&fact.id, by);
            }
            if let Some(old) = &fact.supersedes {
                self.link(old, &fact.id);
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
                    let told = edits.get(&fact.id).copied().unwrap_or(0);
                    told.max(fact.version).max(before.version.saturating_add(1))
                }
            };
            self.last.insert(fact.id.clone(), fact.content.clone());
            self.versions.push(Version {
                id: fact.id.clone(),
                content: fact.content.clone(),
                version,
                time: match before {
                    None => fact.time.unwrap_or(commit.time),
                    Some(_) => commit.time,
                },
                who: commit.clone(),
            });
        }
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

pub(super) fn history(call: &Call<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = Args::new("get_observation_history", arguments)?;
    let thread = Thread::optional(&mut args, call.settings)?;
    args.only(&["threadId", "entityName", "observationId"])?;
    let name = args.text("entityName")?.trim().to_owned();
    let id = observation_id(&args, "observationId")?
        .ok_or_else(|| args.missing("observationId", "the observation's id"))?;
    let entity = needed(call, &thread, &name)?;
    let thread = Thread { shape: Shape::Thread, ..thread };
    let place = thread.place(entity.path.clone());
    let mut revisions = call.memory.revisions(&place, MOST_REVISIONS)?;
    revisions.reverse();
    let mut trace = Trace::default();
    for revision in &revisions {
        let Some(hash) = revision.change.after else { continue };
        let Ok(bytes) = call.memory.store().content(hash) else { continue };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let entity = Entity::read(&revision.change.path, &text);
        let edits = revision.change.fact_edits.iter().map(|e| (e.id.clone(), e.version)).collect();
        trace.add(&entity, &revision.commit, &edits);
    }
    let chain = trace.chain(&id);
    let current: HashSet<&ObservationId> = entity.current().map(|fact| &fact.id).collect();
    let mut versions: Vec<&Version> =
        trace.versions.iter().filter(|version| chain.contains(&version.id)).collect();
    versions.sort_by_key(|version| version.version);
    if versions.is_empty() {
        find(&entity, &id)?;
    }
    let mut told = Vec::with_capacity(versions.len());
    for (n, version) in versions.iter().enumerate() {
        let is_last = n + 1 == versions.len();
        let after = trace.links.iter().find(|(old, _)| *old == version.id).map(|(_, new)| new);
        let before = trace.links.iter().find(|(_, new)| *new == version.id).map(|(old, _)| old);
        let reworded = versions[..n].iter().any(|earlier| earlier.id == version.id);
        let mut item = json!({
            "id": version.id.as_str(),
            "content": version.content,
            "version": version.version,
            "timestamp": version.time.to_string(),
            "agentThreadId": thread.id,
            "current": is_last && current.contains(&version.id),
            "written_by": {
                "client": version.who.author.client,
                "tool": version.who.author.tool,
                "channel": version.who.author.channel.as_str(),
            },
            "commit": version.who.id.to_string(),
        });
        if let Some(before) = before.filter(|_| !reworded) {
            item["supersedes"] = json!(before.as_str());
        }
        let is_reworded_later = versions[n + 1..].iter().any(|later| later.id == version.id);
        if let Some(after) = after.filter(|_| !is_reworded_later) {
            item["superseded_by"] = json!(after.as_str());
        }
        told.push(item);
    }
    let structured = json!({
        "entityName": name,
        "observationId": id.as_str(),
        "history": told,
        "thread": thread.id,
        "project": thread.project.as_str(),
    });
    Ok(answer(&thread, structured))
}
