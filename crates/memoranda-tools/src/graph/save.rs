//! `save_memory` and `validate_memory`: a request is saved completely or not at all.

use memoranda_core::secrets;
use memoranda_engine::graph::{
    EntityInput, MergedEntity, ObservationInput, SaveWarning, entity_exists, save_entities,
    thread_names,
};
use serde_json::{Value, json};

use super::error::{GraphToolError, GraphToolResult};
use super::input::items;
use super::problem::ValidationProblem;
use super::render::plural;
use super::request::SaveRequest;
use super::thread::CallThread;
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};
use crate::settings::SecretPolicy;

/// Maximum number of entities in the answer of a check.
const MAX_CHECKED: usize = 100;
/// Maximum number of problems per entity in the answer of a check.
const MAX_ERRORS: usize = 20;

pub(super) fn save(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("save_memory", arguments)?;
    let thread = CallThread::from_args(&mut args, call.settings);
    let (thread, mut request) = read(call, &args, thread)?;
    if !request.problems.is_empty() {
        return Err(request.refused());
    }
    let screened = screen_entities(call, &mut request.entities)?;
    let quality = request.quality(call.settings.graph.limits);
    let (saved, commit) = save_entities(call.memory, &call.who, &thread, &request.entities)?;
    let mut warnings = request.warnings();
    warnings.extend(screened);
    warnings.extend(saved.warnings.iter().map(warning_text));
    let merged = saved.warnings.iter().filter_map(|warning| match warning {
        SaveWarning::Merged(merged) => Some(merged_json(merged)),
        _ => None,
    });
    let merged: Vec<Value> = merged.collect();
    let permalinks = saved.permalinks.iter();
    let permalinks: Vec<Value> = permalinks
        .map(|(name, permalink)| json!({ "name": name, "permalink": permalink }))
        .collect();
    let created = saved.created.len();
    let mut structured = json!({
        "success": true,
        "created": {
            "entities": created,
            "relations": saved.relations,
            "observations": saved.observations,
            "entity_names": saved.created,
        },
        "merged": merged,
        "warnings": warnings,
        "quality_score": quality,
        "thread": thread.id,
        "project": thread.project.as_str(),
        "notes": permalinks,
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
    if let Some(commit) = commit {
        let commit = commit.id.to_string();
        structured["commit"] = json!(commit);
        text.push_str(&format!(" Commit {commit}."));
    }
    for warning in &warnings {
        text.push_str(&format!("\nWarning: {warning}"));
    }
    Ok(ToolResult::ok(text, structured))
}

fn warning_text(warning: &SaveWarning) -> String {
    match warning {
        SaveWarning::TypeKept { name, kept, given } => format!(
            "Entity '{name}' already exists as {kept}; its type was kept, not changed to {given}"
        ),
        SaveWarning::WeightKept { name, weight, kept, given } => format!(
            "Entity '{name}': its {weight} stays {kept}, since saving only raises it; \
             bulk_update sets it to {given}"
        ),
        SaveWarning::Merged(merged) => merged_text(merged),
    }
}

fn merged_text(merged: &MergedEntity) -> String {
    let MergedEntity { name, observations, relations, relations_updated, already_known } = merged;
    let mut text = format!(
        "Entity '{name}' already existed: {observations} new observation{} and {relations} new \
         relation{} were merged into it",
        plural(*observations),
        plural(*relations)
    );
    if *relations_updated > 0 {
        let s = plural(*relations_updated);
        text.push_str(&format!(
            "; {relations_updated} known relation{s} got the importance given now"
        ));
    }
    if !already_known.is_empty() {
        text.push_str(&format!("; already known: '{}'", already_known.join("', '")));
    }
    text
}

fn merged_json(merged: &MergedEntity) -> Value {
    json!({
        "name": merged.name, "observations": merged.observations, "relations": merged.relations,
        "already_known": merged.already_known, "relations_updated": merged.relations_updated,
    })
}

/// Reads and checks a request. Problems of the thread or of parameters do not hide problems of
/// entities.
fn read(
    call: &CallContext<'_>,
    args: &ToolArgs,
    thread: Result<CallThread, ArgsError>,
) -> GraphToolResult<(CallThread, SaveRequest)> {
    let mut problems = Vec::new();
    let thread = thread.map_err(|error| {
        let suggestion = "Give the conversation or project, e.g. threadId: 'portfolio-2026'";
        problems.push(ValidationProblem::of_request(error, suggestion));
    });
    let known = ["entities", "threadId", "thread_id", "agentThreadId"];
    if let Err(error) = args.only(&known) {
        problems.push(ValidationProblem::of_request(error, "Leave it out"));
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
            problems.push(ValidationProblem::of_request(error, suggestion));
            Vec::new()
        }
    };
    let thread = thread.ok();
    let limits = call.settings.graph.limits;
    let mut request = SaveRequest::read(entities, thread.as_ref(), limits, |name| {
        // Without a thread, targets cannot be checked.
        let Some(thread) = &thread else { return Ok(true) };
        entity_exists(call.memory, thread, name)
    })?;
    problems.append(&mut request.problems);
    request.problems = problems;
    let Some(thread) = thread else { return Err(request.refused()) };
    if request.problems.iter().any(|problem| problem.unknown.is_some()) {
        request.suggest(&thread_names(call.memory, &thread)?);
    }
    Ok((thread, request))
}

fn screen_entities(
    call: &CallContext<'_>,
    entities: &mut [EntityInput],
) -> GraphToolResult<Vec<String>> {
    let mut warnings = Vec::new();
    for entity in entities {
        let about = entity.name.clone();
        warnings.extend(screen_secrets(call, &about, &mut entity.observations)?);
    }
    Ok(warnings)
}

/// Screens observations for secrets by the configured policy. Returns the warnings.
pub(super) fn screen_secrets(
    call: &CallContext<'_>,
    about: &str,
    facts: &mut [ObservationInput],
) -> GraphToolResult<Vec<String>> {
    let mut warnings = Vec::new();
    for ObservationInput { content: fact, .. } in facts {
        let Some(secret) = secrets::find_secrets(fact).into_iter().next() else { continue };
        warnings.push(match call.settings.secrets {
            SecretPolicy::Refuse => {
                return Err(GraphToolError::Refused(format!(
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

pub(super) fn validate(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("validate_memory", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings);
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
