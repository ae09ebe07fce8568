//! `save_memory` and `validate_memory`: everything is right, or nothing is saved.

use std::collections::HashSet;

use memoranda_core::note::NewRelation;
use memoranda_core::path::NotePath;
use memoranda_core::screen;
use memoranda_engine::{ListFilter, ListOrder, ReviseOutcome};
use serde_json::{Value, json};

use super::bench::{Bench, Kind, NewEntity, Tie};
use super::entity::RELATION_IMPORTANCE;
use super::error::{GraphError, Result};
use super::load::is_own;
use super::problem::Problem;
use super::request::Request;
use super::thread::Thread;
use super::wanted::{SaidFact, Wanted, WantedRelation, items};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};
use crate::settings::SecretPolicy;

/// Names that near ones are looked for among.
const MOST_NAMES: usize = 5000;
/// So many entities are told of by a check, each with so many problems.
const MOST_CHECKED: usize = 100;
const MOST_ERRORS: usize = 20;

/// What a save came to.
#[derive(Default)]
struct Saved {
    entities: Vec<String>,
    relations: usize,
    observations: usize,
    merged: Vec<Value>,
    permalinks: Vec<Value>,
    warnings: Vec<String>,
}

pub(super) fn save(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("save_memory", arguments)?;
    let thread = Thread::named(&mut args, call.settings);
    let (thread, mut request) = read(call, &args, thread)?;
    if !request.problems.is_empty() {
        return Err(request.refused());
    }
    let screened = screen_entities(call, &mut request.entities)?;
    let quality = request.quality(call.settings.graph.limits);
    let mut saved = Saved::default();
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut bench = Bench::new(desk, &thread);
        saved = lay(&mut bench, &request)?;
        Ok::<_, GraphError>(bench.steps())
    })?;
    let mut warnings = request.warnings();
    warnings.extend(screened);
    warnings.append(&mut saved.warnings);
    let created = saved.entities.len();
    let mut structured = json!({
        "success": true,
        "created": {
            "entities": created,
            "relations": saved.relations,
            "observations": saved.observations,
            "entity_names": saved.entities,
        },
        "merged": saved.merged,
        "warnings": warnings,
        "quality_score": quality,
        "thread": thread.id,
        "project": thread.project.as_str(),
        "notes": saved.permalinks,
    });
    let mut text = format!(
        "Saved to thread '{}' ({}): {} new entit{}, {} new relation{}, {} new observation{}. Quality \
         score {quality}.",
        thread.id,
        thread.address(),
        created,
        if created == 1 { "y" } else { "ies" },
        saved.relations,
        plural(saved.relations),
        saved.observations,
        plural(saved.observations),
    );
    if let Some(commit) = commit_id(&outcome) {
        structured["commit"] = json!(commit);
        text.push_str(&format!(" Commit {commit}."));
    }
    for warning in &warnings {
        text.push_str(&format!("\nWarning: {warning}"));
    }
    Ok(ToolResult::ok(text, structured))
}

pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// The commit of a revision, if one was needed.
pub(super) fn commit_id(outcome: &ReviseOutcome) -> Option<String> {
    match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged | ReviseOutcome::Conflict(_) => None,
    }
}

/// Reads and checks a request. What is wrong with the thread or with the parameters hides nothing
/// of what is wrong with the entities.
fn read(
    call: &CallContext<'_>,
    args: &ToolArgs,
    thread: Result<Thread, ArgsError>,
) -> Result<(Thread, Request)> {
    let mut wrong = Vec::new();
    let thread = thread.map_err(|error| {
        let suggestion = "Give the conversation or project, e.g. threadId: 'portfolio-2026'";
        wrong.push(Problem::of_request(error, suggestion));
    });
    let known = ["entities", "threadId", "thread_id", "agentThreadId"];
    if let Err(error) = args.only(&known) {
        wrong.push(Problem::of_request(error, "Leave it out"));
    }
    let entities = match items(args, "entities") {
        Some(entities) if !entities.is_empty() => entities,
        found => {
            let given = args.value("entities").cloned().unwrap_or_default();
            let error = match found {
                Some(_) => args.missing("entities", "a list of at least one entity"),
                None => args.wrong("entities", "a list of entities", &given),
            };
            let suggestion = "An entity is { name, entityType, observations, relations }";
            wrong.push(Problem::of_request(error, suggestion));
            Vec::new()
        }
    };
    let thread = thread.ok();
    let folder = thread.as_ref().map(|thread| thread.within(call.memory));
    let limits = call.settings.graph.limits;
    let mut request = Request::read(entities, thread.as_ref(), limits, |name| {
        // Nobody knows what is in a thread that was not named.
        let Some(folder) = &folder else { return Ok(true) };
        Ok::<_, GraphError>(!folder.titled(name)?.is_empty())
    })?;
    wrong.append(&mut request.problems);
    request.problems = wrong;
    let Some(thread) = thread else { return Err(request.refused()) };
    if request.problems.iter().any(|problem| problem.unknown.is_some()) {
        request.suggest(&names(call, &thread)?);
    }
    Ok((thread, request))
}

/// Names of the thread, the last changed first.
pub(super) fn names(call: &CallContext<'_>, thread: &Thread) -> Result<Vec<String>> {
    let filter = ListFilter {
        project: Some(thread.project.clone()),
        folder: NotePath::parse(&thread.folder).ok(),
        ..ListFilter::default()
    };
    let found = call.memory.store().list(&filter, ListOrder::Newest, MOST_NAMES, 0)?;
    let own = found.into_iter().filter(|file| is_own(thread, &file.path));
    Ok(own.map(|file| file.title).collect())
}

/// Lays a request onto the bench. Asked again if an editor saved in between, so it starts anew.
fn lay(bench: &mut Bench<'_, '_>, request: &Request) -> Result<Saved> {
    let mut saved = Saved::default();
    // Targets are looked for once more: another process may have removed one.
    let mut there: HashSet<&str> = request.entities.iter().map(|e| e.name.as_str()).collect();
    for entity in &request.entities {
        for relation in &entity.relations {
            if there.insert(&relation.target) && !bench.has(&relation.target)? {
                return Err(GraphError::Refused(format!(
                    "Target entity '{}' of '{}' was removed just now. Nothing was saved; send the \
                     request again without it or with its description.",
                    relation.target, entity.name
                )));
            }
        }
    }
    for entity in &request.entities {
        if bench.open(&entity.name)? {
            merge(bench, entity, &mut saved)?;
        } else {
            create(bench, entity, &mut saved)?;
        }
        let permalink = bench.permalink(&entity.name);
        saved.permalinks.push(json!({ "name": entity.name, "permalink": permalink }));
    }
    Ok(saved)
}

fn relations(bench: &Bench<'_, '_>, entity: &Wanted) -> Vec<NewRelation> {
    let relation = |wanted: &WantedRelation| NewRelation {
        relation_type: wanted.relation_type.clone(),
        target: wanted.target.clone(),
        time: Some(entity.time.unwrap_or(bench.now)),
        confidence: entity.weight.confidence.filter(|confidence| *confidence < 1.0),
        importance: Some(wanted.importance.unwrap_or(RELATION_IMPORTANCE)),
    };
    entity.relations.iter().map(relation).collect()
}

fn create(bench: &mut Bench<'_, '_>, entity: &Wanted, saved: &mut Saved) -> Result<()> {
    let relations = relations(bench, entity);
    saved.relations += relations.len();
    saved.observations += entity.observations.len();
    saved.entities.push(entity.name.clone());
    bench.create(&NewEntity {
        name: &entity.name,
        entity_type: &entity.entity_type,
        facts: &entity.observations,
        relations,
        weight: entity.weight,
        time: entity.time,
        kind: if entity.is_root { Kind::Root } else { Kind::Described },
    })?;
    Ok(())
}

/// Adds to an entity that is there what it does not say yet.
fn merge(bench: &mut Bench<'_, '_>, entity: &Wanted, saved: &mut Saved) -> Result<()> {
    let name = entity.name.as_str();
    let Some(found) = bench.entity(name) else { return Ok(()) };
    if found.is_placeholder {
        describe(bench, name, &entity.entity_type)?;
        saved.entities.push(name.to_owned());
    } else if found.entity_type != entity.entity_type {
        saved.warnings.push(format!(
            "Entity '{name}' already exists as {}; its type was kept, not changed to {}",
            found.entity_type, entity.entity_type
        ));
    }
    if entity.is_root && !found.is_root {
        bench.set(name, "root", "true")?;
    }
    let mut added = 0;
    let mut known = Vec::new();
    for said in &entity.observations {
        if found.current().any(|fact| fact.content == said.content) {
            known.push(said.content.clone());
        } else {
            bench.add_fact(name, said, entity.weight, entity.time)?;
            added += 1;
        }
    }
    let (mut related, mut rated) = (0, 0);
    for (mut relation, wanted) in relations(bench, entity).into_iter().zip(&entity.relations) {
        // What nobody said does not count against what is known.
        relation.importance = wanted.importance;
        match bench.tie(name, relation)? {
            Tie::New => related += 1,
            Tie::Rated => rated += 1,
            Tie::Known => {}
        }
    }
    bench.raise(name, entity.weight)?;
    for (what, given, kept) in [
        ("importance", entity.weight.importance, found.importance),
        ("confidence", entity.weight.confidence, found.confidence),
    ] {
        if let Some(given) = given.filter(|given| *given < kept && !found.is_placeholder) {
            saved.warnings.push(format!(
                "Entity '{name}': its {what} stays {kept}, since saving only raises it; \
                 bulk_update sets it to {given}"
            ));
        }
    }
    saved.observations += added;
    saved.relations += related;
    if !found.is_placeholder {
        let mut warning = format!(
            "Entity '{name}' already existed: {added} new observation{} and {related} new relation{} \
             were merged into it",
            plural(added),
            plural(related)
        );
        if rated > 0 {
            let s = plural(rated);
            warning.push_str(&format!("; {rated} known relation{s} got the importance given now"));
        }
        if !known.is_empty() {
            warning.push_str(&format!("; already known: '{}'", known.join("', '")));
        }
        saved.warnings.push(warning);
        saved.merged.push(json!({
            "name": name, "observations": added, "relations": related, "already_known": known,
            "relations_updated": rated,
        }));
    }
    Ok(())
}

/// Turns what was only named into an entity.
pub(super) fn describe(bench: &mut Bench<'_, '_>, name: &str, entity_type: &str) -> Result<()> {
    use memoranda_core::note::edit::Edit;
    bench.edit(name, &Edit::RemoveKey { key: "placeholder".into() })?;
    bench.set(name, "type", entity_type)
}

fn screen_entities(call: &CallContext<'_>, entities: &mut [Wanted]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for entity in entities {
        let about = entity.name.clone();
        warnings.extend(screened(call, &about, &mut entity.observations)?);
    }
    Ok(warnings)
}

/// Looks for secrets in facts, and does with them what the person wants.
pub(super) fn screened(
    call: &CallContext<'_>,
    about: &str,
    facts: &mut [SaidFact],
) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for SaidFact { content: fact, .. } in facts {
        let Some(secret) = screen::secrets(fact).into_iter().next() else { continue };
        warnings.push(match call.settings.secrets {
            SecretPolicy::Refuse => {
                return Err(GraphError::Refused(format!(
                    "Nothing was saved: an observation of '{about}' looks like a secret ({}). Leave \
                     it out.",
                    secret.kind
                )));
            }
            SecretPolicy::Redact => {
                *fact = screen::redact(fact);
                format!("Entity '{about}': what looked like a secret ({}) was replaced", secret.kind)
            }
            SecretPolicy::Warn => {
                format!("Entity '{about}': an observation looks like a secret ({})", secret.kind)
            }
        });
    }
    Ok(warnings)
}

pub(super) fn validate(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("validate_memory", arguments)?;
    let thread = Thread::optional(&mut args, call.settings);
    let (thread, request) = read(call, &args, thread)?;
    if request.problems.iter().any(|problem| problem.index.is_none()) {
        return Err(request.refused());
    }
    let mut results = Vec::with_capacity(request.entities.len());
    let mut text = format!("Checked against thread '{}'; nothing was saved.", thread.id);
    for (index, entity) in request.entities.iter().enumerate().take(MOST_CHECKED) {
        let problems = request.problems.iter().filter(|problem| problem.index == Some(index));
        let errors: Vec<String> = problems
            .take(MOST_ERRORS)
            .map(|p| format!("{}. Suggestion: {}", p.brief.trim_end_matches('.'), p.suggestion))
            .collect();
        let warnings: Vec<&str> = request
            .warnings
            .iter()
            .filter(|(of, _)| *of == index)
            .map(|(_, warning)| warning.as_str())
            .collect();
        let verdict = if errors.is_empty() { "valid" } else { "not valid" };
        text.push_str(&format!("\n{}. '{}': {verdict}", index + 1, entity.name));
        errors.iter().for_each(|error| text.push_str(&format!("\n   {error}")));
        warnings.iter().for_each(|warning| text.push_str(&format!("\n   Warning: {warning}")));
        results.push(json!({
            "index": index,
            "name": entity.name,
            "type": entity.entity_type,
            "valid": errors.is_empty(),
            "errors": errors,
            "warnings": warnings,
        }));
    }
    let mut structured = json!({
        "all_valid": request.problems.is_empty(),
        "problem_count": request.problems.len(),
        "results": results,
        "quality_score": request.quality(call.settings.graph.limits),
        "thread": thread.id,
    });
    if request.entities.len() > MOST_CHECKED {
        let more = format!(
            "Only the first {MOST_CHECKED} of {} entities are listed; all were checked.",
            request.entities.len()
        );
        text.push_str(&format!("\n{more}"));
        structured["truncated"] = json!(more);
    }
    Ok(ToolResult::ok(text, structured))
}
