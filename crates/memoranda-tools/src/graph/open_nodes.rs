//! `open_nodes`.

use std::collections::HashSet;

use memoranda_engine::graph::{FoundEntity, GraphEntity, entities_named, normalize_name};
use serde_json::json;

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::graph;
use super::params::{PAST, PRESENT};
use super::read_options::ReadOptions;
use super::render::{answer, render_found};
use super::thread::AnswerShape;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "open_nodes",
    title: "Open nodes",
    description: "Entities by their names, with their relations.",
    tier: ToolTier::Extra,
    hints: READ,
    output: graph,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable =
    ParamTable::new(&[&[Param::texts("names", "Exact names").required()], PRESENT, PAST]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let options = ReadOptions::read(args, call)?;
    let names = args.texts("names")?.ok_or_else(|| args.missing("names", "a list of names"))?;
    let at = options.graph_at(call)?;
    let mut entities: Vec<GraphEntity> = Vec::new();
    for name in &names {
        let name = &normalize_name(name);
        if entities.iter().any(|entity| entity.name == *name) {
            continue;
        }
        // Several notes can have the same title.
        entities.extend(match &at {
            Some(at) => at.named(call.memory, name)?,
            None => entities_named(call.memory, &options.thread, name)?,
        });
    }
    entities.retain(|entity| !entity.is_placeholder);
    let found: HashSet<String> = entities.iter().map(|entity| entity.name.clone()).collect();
    let missing: Vec<String> =
        names.iter().filter(|name| !found.contains(&normalize_name(name))).cloned().collect();
    let entities: Vec<FoundEntity> =
        entities.into_iter().map(|entity| FoundEntity::Read(Box::new(entity))).collect();
    let mut result = render_found(call, &options, &entities, at.as_ref())?;
    if options.thread.shape == AnswerShape::Thread && !missing.is_empty() {
        result.structured["notFound"] = json!(missing);
        result = answer(&options.thread, result.structured);
    }
    Ok(result)
}
