//! `get_flagged_entities`.

use memoranda_engine::graph::{flagged_entities, review_reasons};
use serde_json::json;

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::graph;
use super::params::PRESENT;
use super::read_options::ReadOptions;
use super::render::{AnswerLayout, SupersededDisplay, entity_json};
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "get_flagged_entities",
    title: "Flagged entities",
    description: "Entities that are marked for review, with the reasons.",
    tier: ToolTier::Extra,
    hints: READ,
    output: graph,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[PRESENT]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let mut options = ReadOptions::read(args, call)?;
    options.thread = options.thread.with_thread_shape();
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
