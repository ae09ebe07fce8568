//! `get_observation_history`.

use memoranda_core::change::Commit;
use memoranda_engine::graph::{
    DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, HistoryEntry, normalize_name, observation_timeline,
};
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::input::observation_id;
use super::output_schema::output;
use super::params::{ENTITY_NAME, OPTIONAL_THREAD};
use super::render::answer;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "get_observation_history",
    title: "Observation history",
    description: "The versions of one fact, oldest first, with who wrote each (people's edits in the file too), what superseded it, or who struck it out or removed it; of deleted entities too.",
    tier: ToolTier::Default,
    hints: READ,
    output: || {
        output(&[("history", "array"), ("entityName", "string"), ("observationId", "string")])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    ENTITY_NAME.required(),
    Param::text("observationId", "Any id of the chain, obs_…").required(),
    OPTIONAL_THREAD,
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let name = normalize_name(&args.text("entityName")?);
    let id = observation_id(args, "observationId")?
        .ok_or_else(|| args.missing("observationId", "the observation's id"))?;
    let timeline = observation_timeline(call.memory, &thread, &name, &id)
        .map_err(|error| thread.explain(error))?;
    let thread = thread.with_thread_shape();
    let entries: Vec<Value> =
        timeline.entries.iter().map(|entry| entry_json(entry, &thread)).collect();
    let mut structured = json!({
        "entityName": name,
        "observationId": id.as_str(),
        "history": entries,
        "thread": thread.id,
        "project": thread.project.as_str(),
    });
    if timeline.is_deleted {
        structured["deleted"] = json!(true);
    }
    Ok(answer(&thread, structured))
}

fn entry_json(entry: &HistoryEntry, thread: &CallThread) -> Value {
    let mut json = json!({
        "id": entry.id.as_str(),
        "content": entry.content,
        "version": entry.version,
        "timestamp": entry.time.to_string(),
        "confidence": entry.weight.confidence.unwrap_or(DEFAULT_CONFIDENCE),
        "importance": entry.weight.importance.unwrap_or(DEFAULT_IMPORTANCE),
        "agentThreadId": thread.id,
        "current": entry.is_current,
        "written_by": author_json(&entry.commit),
        "commit": entry.commit.id.to_string(),
    });
    if let Some(before) = &entry.supersedes {
        json["supersedes"] = json!(before.as_str());
    }
    if let Some(after) = &entry.superseded_by {
        json["superseded_by"] = json!(after.as_str());
    }
    if let Some((how, commit)) = &entry.ended {
        json["ended"] = json!({
            "how": how, "timestamp": commit.time.to_string(), "by": author_json(commit),
            "commit": commit.id.to_string(),
        });
    }
    json
}

fn author_json(commit: &Commit) -> Value {
    json!({
        "client": commit.author.client,
        "tool": commit.author.tool,
        "channel": commit.author.channel.as_str(),
    })
}
