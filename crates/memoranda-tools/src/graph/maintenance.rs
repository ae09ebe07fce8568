//! Keeping a graph in order: review marks, many entities at once, and letting go of what does not
//! matter any more. Everything here can be taken back.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::entity::{IMPORTANCE, SupersededDisplay, normalize_name};
use super::error::{GraphError, Result};
use super::input::{ObservationInput, check_observation, read_observations};
use super::load::{AnswerLayout, ReadOptions, answer, entity, fields, require_entity, time};
use super::observations::{missing_thread, weight};
use super::problem::{ValidationProblem, collect_problem, refuse_if_any};
use super::reference::with_commit;
use super::save::{commit_id, screen_secrets};
use super::thread::GraphThread;
use super::transaction::{GraphTransaction, ObservationWeight, format_number};
use crate::registry::{CallContext, ToolArgs, ToolResult};

/// The category of facts that ask a person to look.
const REVIEW: &str = "review";
/// How other servers marked them.
const FLAGGED: &str = "[FLAGGED FOR REVIEW";
/// No more entities go in one call.
const MAX_PRUNED: usize = 10_000;

pub(super) fn flag(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("flag_for_review", arguments)?;
    let thread = GraphThread::from_args(&mut args, call.settings)?;
    args.only(&["threadId", "entityName", "reason", "reviewer"])?;
    let name = normalize_name(&args.text("entityName")?);
    let reason = args.text("reason")?.trim().to_owned();
    if reason.is_empty() {
        return Err(args.wrong("reason", "what a person should look at", &json!(reason)).into());
    }
    let reviewer = args.optional_text("reviewer")?;
    require_entity(call, &thread, &name)?;
    let reviewer = reviewer.map(|who| format!(" (reviewer: {})", who.trim())).unwrap_or_default();
    let content = format!("[{REVIEW}] {reason}{reviewer}");
    let flag = ObservationInput { content, weight: ObservationWeight::default(), time: None };
    let mut rendered = Value::Null;
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        graph.require(&name)?;
        let id = graph.add_observation(&name, &flag, ObservationWeight::default(), None)?;
        let entity = graph.require(&name)?;
        rendered =
            json!(entity.facts.iter().find(|fact| fact.id == id).map(|fact| fact.to_json(&thread)));
        Ok::<_, GraphError>(graph.steps())
    })?;
    let structured = json!({ "success": true, "entityName": name, "observation": rendered });
    Ok(with_commit(&thread, structured, commit_id(&outcome)))
}

pub(super) fn flagged(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("get_flagged_entities", arguments)?;
    let mut options = ReadOptions::read(&mut args, call)?;
    options.thread.shape = super::thread::AnswerShape::Thread;
    args.only(ReadOptions::PRESENT)?;
    let folder = options.thread.folder_graph(call.memory);
    let mut files: Vec<i64> =
        folder.facts(Some(REVIEW))?.into_iter().map(|fact| fact.file).collect();
    files.extend(folder.holding(FLAGGED, usize::MAX)?);
    files.sort_unstable();
    files.dedup();
    let total = files.len();
    let mut layout = AnswerLayout::new(&options);
    let mut next = None;
    for (n, file) in files.into_iter().enumerate().skip(options.offset) {
        let Some(file) = call.memory.store().file_by_id(file)? else { continue };
        let Some(entity) = entity(call, &file)? else { continue };
        let reasons: Vec<&str> = entity
            .current()
            .filter(|fact| {
                fact.category.as_deref() == Some(REVIEW) || fact.content.starts_with(FLAGGED)
            })
            .map(|fact| fact.content.as_str())
            .collect();
        let mut rendered = entity.to_json(&options.thread, SupersededDisplay::Hide);
        rendered["flags"] = json!(reasons);
        if layout.entities.len() == options.limit || !layout.add(Some(rendered), Vec::new()) {
            next = Some(n);
            break;
        }
    }
    Ok(layout.answer(next, Some(total)))
}

pub(super) fn bulk_update(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("bulk_update", arguments)?;
    let mut problems = Vec::new();
    let thread =
        collect_problem(GraphThread::from_args(&mut args, call.settings), "", &mut problems);
    collect_problem(
        args.only(&["threadId", "updates", "thread_id", "agentThreadId"]),
        "",
        &mut problems,
    );
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
        let said = read_observations(&args, "addObservations", thread.as_ref());
        let wrong = said.problems.into_iter();
        let suggestion = "addObservations is a list of short texts";
        problems.extend(wrong.map(|wrong| ValidationProblem::of_entity(&name, wrong, suggestion)));
        for fact in &said.facts {
            let wrong = check_observation(&fact.content, call.settings.graph.limits);
            problems
                .extend(wrong.map(|wrong| ValidationProblem::of_fact(&name, &fact.content, wrong)));
        }
        updates.push((name, weight, said.facts));
    }
    refuse_if_any(&problems)?;
    let Some(thread) = thread else { return Err(missing_thread()) };
    let mut warnings = Vec::new();
    for (name, _, facts) in &mut updates {
        warnings.extend(screen_secrets(call, name, facts)?);
    }
    let (mut updated, mut missing) = (0, Vec::new());
    let outcome = call.memory.revise(&call.who, None, |desk| {
        let mut graph = GraphTransaction::new(desk, &thread);
        (updated, missing) = (0, Vec::new());
        for (name, weight, facts) in &updates {
            let found = if graph.open(name)? { graph.entity(name) } else { None };
            let Some(entity) = found.filter(|entity| !entity.is_placeholder) else {
                missing.push(name.clone());
                continue;
            };
            for (key, value) in
                [("confidence", weight.confidence), ("importance", weight.importance)]
            {
                if let Some(value) = value {
                    graph.set(name, key, &format_number(value))?;
                }
            }
            let is_new =
                |said: &&ObservationInput| entity.current().all(|f| f.content != said.content);
            for said in facts.iter().filter(is_new) {
                graph.add_observation(name, said, *weight, None)?;
            }
            updated += 1;
        }
        Ok::<_, GraphError>(graph.steps())
    })?;
    let mut structured = json!({ "updated": updated, "notFound": missing });
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
    }
    Ok(with_commit(&thread, structured, commit_id(&outcome)))
}

pub(super) fn prune(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("prune_memory", arguments)?;
    let thread = GraphThread::from_args(&mut args, call.settings)?;
    args.rename(&[("dryRun", &["dry_run"])]);
    args.only(&["threadId", "olderThan", "importanceLessThan", "keepMinEntities", "dryRun"])?;
    let older = time(&args, "olderThan")?;
    let less = args.float("importanceLessThan", 0.0, 1.0)?;
    let keep = args.number("keepMinEntities", 0, 10_000_000)?.unwrap_or(0) as usize;
    let is_dry = args.flag("dryRun")?.unwrap_or(false);
    if older.is_none() && less.is_none() {
        return Err(GraphError::Refused(
            "prune_memory needs olderThan (a time), importanceLessThan (0 to 1), or both: an entity \
             goes if it fits all that are given. Nothing was removed."
                .into(),
        ));
    }
    let (mut names, mut relations, mut left) = (Vec::new(), 0, 0);
    let mut decide = |desk: &memoranda_engine::Desk<'_>| {
        (names, relations) = (Vec::new(), 0);
        let mut nodes = desk.nodes(&thread.project, &thread.folder)?;
        nodes.retain(|node| !node.is_placeholder);
        left = nodes.len();
        let fits = |node: &memoranda_engine::NodeRow| {
            less.is_none_or(|less| node.importance.unwrap_or(IMPORTANCE) < less)
        };
        nodes.retain(fits);
        let mut files = Vec::new();
        for node in nodes {
            let Some(file) = desk.by_id(node.file)? else { continue };
            if older.is_none_or(|older| file.updated < older) {
                files.push((node.importance.unwrap_or(IMPORTANCE), file));
            }
        }
        // The least important and oldest go first.
        files.sort_by(|a, b| {
            let importance = a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal);
            importance.then_with(|| a.1.updated.cmp(&b.1.updated))
        });
        files.truncate(left.saturating_sub(keep).min(MAX_PRUNED));
        let mut graph = GraphTransaction::new(desk, &thread);
        for (_, file) in files {
            let removal = graph.remove(&file.title)?;
            relations += removal.relations;
            if removal.is_entity {
                names.push(file.title);
            }
        }
        left -= names.len();
        Ok::<_, GraphError>(if is_dry { Vec::new() } else { graph.steps() })
    };
    let outcome = call.memory.revise(&call.who, None, &mut decide)?;
    let shown: Vec<&String> = names.iter().take(200).collect();
    let mut structured = json!({
        "removedEntities": names.len(),
        "removedRelations": relations,
        "entityNames": shown,
        "remainingEntities": left,
        "dryRun": is_dry,
    });
    if is_dry {
        structured["next"] =
            json!("Nothing was removed. Call again with dryRun: false to remove these.");
    } else if let Some(commit) = commit_id(&outcome) {
        structured["restore"] = json!(format!("memoranda undo {commit}"));
    }
    Ok(with_commit(&thread, structured, commit_id(&outcome)))
}

/// Facts of one entity that contradict each other, over a whole thread.
pub(super) fn conflicts(call: &CallContext<'_>, arguments: Value) -> Result<ToolResult> {
    let mut args = ToolArgs::new("detect_conflicts", arguments)?;
    let thread = GraphThread::from_args_or_default(&mut args, call.settings)?;
    args.only(&["threadId", "limit"])?;
    let limit = args.number("limit", 1, 1000)?.unwrap_or(50) as usize;
    let facts = thread.folder_graph(call.memory).facts(None)?;
    let mut found = Vec::new();
    let mut left_out = 0;
    for facts in facts.chunk_by(|a, b| a.file == b.file) {
        let texts: Vec<&str> = facts.iter().map(|fact| fact.text.as_str()).collect();
        let pairs = memoranda_core::fact::find_contradictions(&texts);
        if pairs.is_empty() {
            continue;
        }
        if found.len() == limit {
            left_out += 1;
            continue;
        }
        let file = facts.first().map(|fact| call.memory.store().file_by_id(fact.file));
        let Some(file) = file.transpose()?.flatten() else { continue };
        let rendered: Vec<Value> = pairs
            .iter()
            .map(|pair| {
                json!({ "obs1": texts[pair.first], "obs2": texts[pair.second], "reason": pair.reason })
            })
            .collect();
        found.push(json!({ "entityName": file.title, "conflicts": rendered }));
    }
    let mut structured = json!({ "conflicts": found, "thread": thread.id });
    if left_out > 0 {
        structured["truncated"] =
            json!(format!("{left_out} more entities have conflicts; raise limit to see them."));
    }
    Ok(answer(&GraphThread { shape: super::thread::AnswerShape::Thread, ..thread }, structured))
}
