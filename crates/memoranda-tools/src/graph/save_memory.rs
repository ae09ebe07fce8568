//! `save_memory`: a request is saved completely or not at all.

use memoranda_core::fact::FactLimits;
use memoranda_engine::graph::{
    EntityInput, MergedEntity, SaveCallOutcome, SaveWarning, record_save_call, save_entities,
};
use serde_json::{Value, json};

use super::base::{ADD, BASE};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::{ENTITIES, THREAD};
use super::render::plural;
use super::request::SaveRequest;
use super::secrets::screen_secrets;
use super::settings::GraphSettings;
use super::thread::CallThread;
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "save_memory",
    describe: Some(|settings| describe(settings.graph.limits)),
    title: "Save memory",
    description: DESCRIPTION,
    tier: ToolTier::Default,
    hints: ADD,
    output: || {
        output(&[
            ("success", "boolean"),
            ("created", "object"),
            ("merged", "array"),
            ("warnings", "array"),
            ("quality_score", "number"),
            ("validation_errors", "array"),
            ("problems", "array"),
            ("commit", "string"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[ENTITIES, THREAD.required()]]).defer_unknown();

const DESCRIPTION: &str = "Save entities and their relations to the memory graph, atomically. RULES: 1) Each observation max 150 chars (atomic facts only). 2) Each entity MUST have at least 1 relation, to an entity of this request or of the thread. Everything is checked; if anything is wrong, nothing is saved and every problem comes with a suggestion. Existing entities are merged.";

/// Returns the description with the configured length of an observation.
fn describe(limits: FactLimits) -> String {
    let default = format!("max {} chars", GraphSettings::standard().limits.chars);
    DESCRIPTION.replace(&default, &format!("max {} chars", limits.chars))
}

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args(args, call.settings);
    let (thread, mut request) = SaveRequest::read(call, args, thread)?;
    let record = |outcome| {
        // The statistics must not fail a call.
        if let Err(error) = record_save_call(call.memory, &thread, outcome) {
            tracing::debug!(%error, "a call was not counted");
        }
    };
    if !request.problems.is_empty() {
        record(SaveCallOutcome::Rejected);
        return Err(request.refused());
    }
    let screened = screen_entities(call, &mut request.entities)?;
    let quality = request.quality(call.settings.graph.limits);
    let (saved, commit) = save_entities(call.memory, &call.who, &thread, &request.entities)?;
    record(SaveCallOutcome::Saved);
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
