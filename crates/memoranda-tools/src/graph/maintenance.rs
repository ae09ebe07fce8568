//! `flag_for_review`, `get_flagged_entities`, `bulk_update`, `prune_memory` and `detect_conflicts`.

use memoranda_engine::graph::{
    BulkUpdate, PruneRequest, bulk_update as update_entities, find_conflicts, flag_for_review,
    flagged_entities, normalize_name, prune_entities, require_entity, review_reasons,
};
use serde_json::{Value, json};

use super::error::{GraphToolError, GraphToolResult};
use super::input::{check_observation, read_observations};
use super::observations::{missing_thread, weight};
use super::problem::{ValidationProblem, collect_problem, refuse_if_any};
use super::read_options::{ReadOptions, fields, time};
use super::render::{
    AnswerLayout, SupersededDisplay, answer, entity_json, observation_json, with_commit,
};
use super::save::screen_secrets;
use super::thread::CallThread;
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// Maximum number of names in the answer of a pruning.
const MAX_SHOWN: usize = 200;

pub(super) fn flag(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("flag_for_review", arguments)?;
    let thread = CallThread::from_args(&mut args, call.settings)?;
    args.only(&["threadId", "entityName", "reason", "reviewer"])?;
    let name = normalize_name(&args.text("entityName")?);
    let mut reason = args.text("reason")?.trim().to_owned();
    if reason.is_empty() {
        return Err(args.wrong("reason", "what a person should look at", &json!(reason)).into());
    }
    let reviewer = args.optional_text("reviewer")?;
    require_entity(call.memory, &thread, &name).map_err(|error| thread.explain(error))?;
    if let Some(reviewer) = reviewer {
        reason.push_str(&format!(" (reviewer: {})", reviewer.trim()));
    }
    let (observation, commit) = flag_for_review(call.memory, &call.who, &thread, &name, &reason)?;
    let observation = observation.map(|fact| observation_json(&fact, &thread));
    let structured = json!({ "success": true, "entityName": name, "observation": observation });
    Ok(with_commit(&thread, structured, commit.as_ref()))
}

pub(super) fn flagged(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("get_flagged_entities", arguments)?;
    let mut options = ReadOptions::read(&mut args, call)?;
    options.thread = options.thread.with_thread_shape();
    args.only(ReadOptions::PRESENT)?;
    let found = flagged_entities(call.memory, &options.thread)?;
    let total = found.len();
    let mut layout = AnswerLayout::new(&options);
    let mut next = None;
    for (n, id) in found.into_iter().enumerate().skip(options.offset) {
        let Some(entity) = id.read(call.memory)? else { continue };
        let mut json = entity_json(&entity, &options.thread, SupersededDisplay::Hide);
        json["flags"] = json!(review_reasons(&entity));
        if layout.entities.len() == options.limit || !layout.add(Some(json), Vec::new()) {
            next = Some(n);
            break;
        }
    }
    Ok(layout.answer(next, Some(total)))
}

pub(super) fn bulk_update(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("bulk_update", arguments)?;
    let mut problems = Vec::new();
    let thread = CallThread::from_args(&mut args, call.settings);
    let thread = collect_problem(thread, "", &mut problems);
    let known = ["threadId", "updates", "thread_id", "agentThreadId"];
    collect_problem(args.only(&known), "", &mut problems);
    let objects = args
        .objects("updates")
        .and_then(|objects| objects.ok_or_else(|| args.missing("updates", "a list of updates")));
    let objects = collect_problem(objects, "", &mut problems).unwrap_or_default();
    let mut updates = Vec::with_capacity(objects.len());
    for object in objects {
        let args = fields("an update of bulk_update", object)?;
        let name = collect_problem(args.text("entityName"), "", &mut problems).unwrap_or_default();
        let name = normalize_name(&name);
        let known = ["entityName", "confidence", "importance", "addObservations"];
        collect_problem(args.only(&known), &name, &mut problems);
        let weight = weight(&args, &name, &mut problems);
        let read = read_observations(&args, "addObservations", thread.as_ref());
        let wrong = read.problems.into_iter();
        let suggestion = "addObservations is a list of short texts";
        problems.extend(wrong.map(|wrong| ValidationProblem::of_entity(&name, wrong, suggestion)));
        for fact in &read.facts {
            let wrong = check_observation(&fact.content, call.settings.graph.limits);
            let problem =
                wrong.map(|wrong| ValidationProblem::of_fact(&name, &fact.content, wrong));
            problems.extend(problem);
        }
        updates.push(BulkUpdate { name, weight, observations: read.facts });
    }
    refuse_if_any(&problems)?;
    let Some(thread) = thread else { return Err(missing_thread()) };
    let mut warnings = Vec::new();
    for update in &mut updates {
        warnings.extend(screen_secrets(call, &update.name, &mut update.observations)?);
    }
    let report = update_entities(call.memory, &call.who, &thread, &updates)?;
    let mut structured = json!({ "updated": report.updated, "notFound": report.missing });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(with_commit(&thread, structured, report.commit.as_ref()))
}

pub(super) fn prune(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("prune_memory", arguments)?;
    let thread = CallThread::from_args(&mut args, call.settings)?;
    args.rename(&[("dryRun", &["dry_run"])]);
    args.only(&["threadId", "olderThan", "importanceLessThan", "keepMinEntities", "dryRun"])?;
    let older_than = time(&args, "olderThan")?;
    let importance_below = args.float("importanceLessThan", 0.0, 1.0)?;
    let keep = args.number("keepMinEntities", 0, 10_000_000)?.unwrap_or(0) as usize;
    let is_dry_run = args.flag("dryRun")?.unwrap_or(false);
    if older_than.is_none() && importance_below.is_none() {
        return Err(GraphToolError::Refused(
            "prune_memory needs olderThan (a time), importanceLessThan (0 to 1), or both: an entity \
             goes if it fits all that are given. Nothing was removed."
                .into(),
        ));
    }
    let request = PruneRequest { older_than, importance_below, keep, is_dry_run };
    let report = prune_entities(call.memory, &call.who, &thread, &request)?;
    let shown: Vec<&String> = report.names.iter().take(MAX_SHOWN).collect();
    let mut structured = json!({
        "removedEntities": report.names.len(),
        "removedRelations": report.relations,
        "entityNames": shown,
        "remainingEntities": report.remaining,
        "dryRun": is_dry_run,
    });
    if is_dry_run {
        structured["next"] =
            json!("Nothing was removed. Call again with dryRun: false to remove these.");
    } else if let Some(commit) = &report.commit {
        structured["restore"] = json!(format!("memoranda undo {}", commit.id));
    }
    Ok(with_commit(&thread, structured, report.commit.as_ref()))
}

pub(super) fn conflicts(call: &CallContext<'_>, arguments: Value) -> GraphToolResult<ToolResult> {
    let mut args = ToolArgs::new("detect_conflicts", arguments)?;
    let thread = CallThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "limit"])?;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(50) as usize;
    let (found, left_out) = find_conflicts(call.memory, &thread, limit)?;
    let pair = |(first, second, reason): &(String, String, String)| json!({ "obs1": first, "obs2": second, "reason": reason });
    let found = found.iter().map(|entity| {
        let pairs: Vec<Value> = entity.pairs.iter().map(pair).collect();
        json!({ "entityName": entity.name, "conflicts": pairs })
    });
    let found: Vec<Value> = found.collect();
    let mut structured = json!({ "conflicts": found, "thread": thread.id });
    if left_out > 0 {
        structured["truncated"] =
            json!(format!("{left_out} more entities have conflicts; raise limit to see them."));
    }
    Ok(answer(&thread.with_thread_shape(), structured))
}
