//! `query_nodes`.

use memoranda_engine::graph::{EntityFilter, filter_entities, resolve_typed_links};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::graph;
use super::params::{PRESENT, share};
use super::read_options::{ReadOptions, time, time_until};
use super::render::{AnswerLayout, entity_json, relations_json};
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "query_nodes",
    title: "Query nodes",
    description: "Entities by ranges of last change, confidence and importance.",
    tier: ToolTier::Default,
    hints: READ,
    output: graph,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[
    &[
        Param::text("timestampStart", "Changed since, ISO 8601"),
        Param::text("timestampEnd", "Changed until, ISO 8601"),
        share("confidenceMin", "0-1").default_decimal(0.0),
        share("confidenceMax", "0-1").default_decimal(1.0),
        share("importanceMin", "0-1").default_decimal(0.0),
        share("importanceMax", "0-1").default_decimal(1.0),
    ],
    PRESENT,
]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let options = ReadOptions::read(args, call)?;
    let times = (time(args, "timestampStart")?, time_until(args, "timestampEnd")?);
    let confidence = (args.decimal("confidenceMin")?, args.decimal("confidenceMax")?);
    let importance = (args.decimal("importanceMin")?, args.decimal("importanceMax")?);
    let filter = EntityFilter { times, confidence, importance };
    let (memory, thread) = (call.memory, &options.thread);
    let found = filter_entities(memory, thread, &filter)?;
    let total = Some(found.len());
    let mut layout = AnswerLayout::new(&options);
    for (n, id) in found.iter().enumerate().skip(options.offset) {
        let Some(mut entity) = id.read(memory)? else { continue };
        resolve_typed_links(memory, thread, &mut entity)?;
        let relations = relations_json(&entity, thread);
        let json = entity_json(&entity, thread, options.superseded);
        if layout.entities.len() == options.limit || !layout.add(Some(json), relations) {
            return Ok(layout.answer(Some(n), total));
        }
    }
    Ok(layout.answer(None, total))
}
