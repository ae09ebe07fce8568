//! `save_memory` and `validate_memory`: everything is right, or nothing is saved.

use std::collections::HashSet;

use memoranda_core::note::NewRelation;
use memoranda_core::path::NotePath;
use memoranda_core::secrets;
use memoranda_engine::{ListFilter, ListOrder, ReviseOutcome};
use serde_json::{Value, json};

use super::entity::RELATION_IMPORTANCE;
use super::error::{GraphError, Result};
use super::input::{EntityInput, ObservationInput, RelationInput, items};
use super::load::is_thread_note;
use super::problem::ValidationProblem;
use super::request::SaveRequest;
use super::thread::GraphThread;
use super::transaction::{EntityKind, GraphTransaction, NewEntity, RelationOutcome};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};
use crate::settings::SecretPolicy;

/// Names that near ones are looked for among.
const MAX_NAMES: usize = 5000;
/// So many entities are told of by a check, each with so many problems.
const MAX_CHECKED: usize = 100;
const MAX_ERRORS: usize = 20;

/// What a save came to.
#[derive(Default)]
struct SaveReport {
    entities: Vec<String>,
    relations: usize,
    observations: usize,
    merged: Vec<Value>,
    permalinks: Vec<Value>,
    warnings: Vec<String>,
}

pub(super) fn save(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("save_memory", arguments)?;
    let thread = GraphThread::from_args(&mut args, call.settings);
    let (thread, mut request) = read(call, &args, thread)?;
    if !request.problems.is_empty() {
        return Err(request.refused());
    }
    let screen_secrets = screen_entities(call, &mut request.entities)?;
    let quality = request.quality(call.settings.graph.limits);
    let mut saved = SaveReport::default();
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        saved = apply_request(&mut graph, &request)?;
        Ok::<_, GraphError>(graph.steps())
    })?;
    let mut warnings = request.warnings();
    warnings.extend(screen_secrets);
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
    thread: Result<GraphThread, ArgsError>,
) -> Result<(GraphThread, SaveRequest)> {
    let mut wrong = Vec::new();
    let thread = thread.map_err(|error| {
        let suggestion = "Give the conversation or project, e.g. threadId: 'portfolio-2026'";
        wrong.push(ValidationProblem::of_request(error, suggestion));
    });
    let known = ["entities", "threadId", "thread_id", "agentThreadId"];
    if let Err(error) = args.only(&known) {
        wrong.push(ValidationProblem::of_request(error, "Leave it out"));
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
            wrong.push(ValidationProblem::of_request(error, suggestion));
            Vec::new()
        }
    };
    let thread = thread.ok();
    let folder = thread.as_ref().map(|thread| thread.folder_graph(call.memory));
    let limits = call.settings.graph.limits;
    let mut request = SaveRequest::read(entities, thread.as_ref(), limits, |name| {
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
pub(super) fn names(call: &CallContext<'_>, thread: &GraphThread) -> Result<Vec<String>> {
    let filter = ListFilter {
        project: Some(thread.project.clone()),
        folder: NotePath::parse(&thread.folder).ok(),
        ..ListFilter::default()
    };
    let found = call.memory.store().list(&filter, ListOrder::Newest, MAX_NAMES, 0)?;
    let own = found.into_iter().filter(|file| is_thread_note(thread, &file.path));
    Ok(own.map(|file| file.title).collect())
}

/// Lays a request onto the bench. Asked again if an editor saved in between, so it starts anew.
fn apply_request(
    graph: &mut GraphTransaction<'_, '_>,
    request: &SaveRequest,
) -> Result<SaveReport> {
    let mut saved = SaveReport::default();
    // Targets are looked for once more: another process may have removed one.
    let mut there: HashSet<&str> = request.entities.iter().map(|e| e.name.as_str()).collect();
    for entity in &request.entities {
        for relation in &entity.relations {
            if there.insert(&relation.target) && !graph.has(&relation.target)? {
                return Err(GraphError::Refused(format!(
                    "Target entity '{}' of '{}' was removed just now. Nothing was saved; send the \
                     request again without it or with its description.",
                    relation.target, entity.name
                )));
            }
        }
    }
    for entity in &request.entities {
        if graph.open(&entity.name)? {
            merge(graph, entity, &mut saved)?;
        } else {
            create(graph, entity, &mut saved)?;
        }
        let permalink = graph.permalink(&entity.name);
        saved.permalinks.push(json!({ "name": entity.name, "permalink": permalink }));
    }
    Ok(saved)
}

fn relations(graph: &GraphTransaction<'_, '_>, entity: &EntityInput) -> Vec<NewRelation> {
    let relation = |wanted: &RelationInput| NewRelation {
        relation_type: wanted.relation_type.clone(),
        target: wanted.target.clone(),
        time: Some(entity.time.unwrap_or(graph.now)),
        confidence: entity.weight.confidence.filter(|confidence| *confidence < 1.0),
        importance: Some(wanted.importance.unwrap_or(RELATION_IMPORTANCE)),
    };
    entity.relations.iter().map(relation).collect()
}

fn create(
    graph: &mut GraphTransaction<'_, '_>,
    entity: &EntityInput,
    saved: &mut SaveReport,
) -> Result<()> {
    let relations = relations(graph, entity);
    saved.relations += relations.len();
    saved.observations += entity.observations.len();
    saved.entities.push(entity.name.clone());
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

/// Adds to an entity that is there what it does not say yet.
fn merge(
    graph: &mut GraphTransaction<'_, '_>,
    entity: &EntityInput,
    saved: &mut SaveReport,
) -> Result<()> {
    let name = entity.name.as_str();
    let Some(found) = graph.entity(name) else { return Ok(()) };
    if found.is_placeholder {
        describe(graph, name, &entity.entity_type)?;
        saved.entities.push(name.to_owned());
    } else if found.entity_type != entity.entity_type {
        saved.warnings.push(format!(
            "Entity '{name}' already exists as {}; its type was kept, not changed to {}",
            found.entity_type, entity.entity_type
        ));
    }
    if entity.is_root && !found.is_root {
        graph.set(name, "root", "true")?;
    }
    let mut added = 0;
    let mut known = Vec::new();
    for said in &entity.observations {
        if found.current().any(|fact| fact.content == said.content) {
            known.push(said.content.clone());
        } else {
            graph.add_observation(name, said, entity.weight, entity.time)?;
            added += 1;
        }
    }
    let (mut related, mut rated) = (0, 0);
    for (mut relation, wanted) in relations(graph, entity).into_iter().zip(&entity.relations) {
        // What nobody said does not count against what is known.
        relation.importance = wanted.importance;
        match graph.add_relation(name, relation)? {
            RelationOutcome::New => related += 1,
            RelationOutcome::Rated => rated += 1,
            RelationOutcome::Known => {}
        }
    }
    graph.raise_weight(name, entity.weight)?;
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
pub(super) fn describe(
    graph: &mut GraphTransaction<'_, '_>,
    name: &str,
    entity_type: &str,
) -> Result<()> {
    use memoranda_core::note::edit::NoteEdit;
    graph.edit(name, &NoteEdit::RemoveKey { key: "placeholder".into() })?;
    graph.set(name, "type", entity_type)
}

fn screen_entities(call: &CallContext<'_>, entities: &mut [EntityInput]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for entity in entities {
        let about = entity.name.clone();
        warnings.extend(screen_secrets(call, &about, &mut entity.observations)?);
    }
    Ok(warnings)
}

/// Looks for secrets in facts, and does with them what the person wants.
pub(super) fn screen_secrets(
    call: &CallContext<'_>,
    about: &str,
    facts: &mut [ObservationInput],
) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for ObservationInput { content: fact, .. } in facts {
        let Some(secret) = secrets::find_secrets(fact).into_iter().next() else { continue };
        warnings.push(match call.settings.secrets {
            SecretPolicy::Refuse => {
                return Err(GraphError::Refused(format!(
                    "Nothing was saved: an observation of '{about}' looks like a secret ({}). Leave \
                     it out.",
                    secret.kind
                )));
            }
            SecretPolicy::Redact => {
                *fact = secrets::redact_all(fact);
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
    let thread = GraphThread::from_args_or_default(&mut args, call.settings);
    let (thread, request) = read(call, &args, thread)?;
    if request.problems.iter().any(|problem| problem.index.is_none()) {
        return Err(request.refused());
    }
    let mut results = Vec::with_capacity(request.entities.len());
    let mut text = format!("Checked against thread '{}'; nothing was saved.", thread.id);
    for (index, entity) in request.entities.iter().enumerate().take(MAX_CHECKED) {
        let problems = request.problems.iter().filter(|problem| problem.index == Some(index));
        let errors: Vec<String> = problems
            .take(MAX_ERRORS)
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
    if request.entities.len() > MAX_CHECKED {
        let more = format!(
            "Only the first {MAX_CHECKED} of {} entities are listed; all were checked.",
            request.entities.len()
        );
        text.push_str(&format!("\n{more}"));
        structured["truncated"] = json!(more);
    }
    Ok(ToolResult::ok(text, structured))
}
