//! `get_recent_changes`.

use memoranda_engine::graph::recently_changed;
use serde_json::json;

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::graph;
use super::params::PRESENT;
use super::read_options::{ReadOptions, time};
use super::render::{AnswerLayout, SupersededDisplay, change_type, entity_json, relation_json};
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "get_recent_changes",
    title: "Recent changes",
    description: "Entities and relations that changed since a time, newest first.",
    tier: ToolTier::Extra,
    hints: READ,
    output: graph,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable =
    ParamTable::new(&[&[Param::text("since", "ISO 8601").required()], PRESENT]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let mut options = ReadOptions::read(args, call)?;
    options.thread = options.thread.with_thread_shape();
    let since = time(args, "since")?
        .ok_or_else(|| args.missing("since", "a time such as 2026-01-20T15:30:00Z"))?;
    let limit = options.offset + options.limit + 1;
    let changed = recently_changed(call.memory, &options.thread, Some(since), limit)?;
    let mut layout = AnswerLayout::new(&options);
    let mut next = None;
    for (n, activity) in changed.iter().enumerate().skip(options.offset) {
        let Some(entity) = activity.read(call.memory)? else { continue };
        let mut json = entity_json(&entity, &options.thread, SupersededDisplay::Hide);
        json["changeType"] = json!(change_type(call, activity)?);
        let new = entity.relations.iter().filter(|r| r.time.is_some_and(|time| time >= since));
        let relations = new.map(|relation| relation_json(relation, &entity.name, &options.thread));
        let relations = relations.collect();
        if layout.entities.len() == options.limit || !layout.add(Some(json), relations) {
            next = Some(n);
            break;
        }
    }
    Ok(layout.answer(next, None))
}
