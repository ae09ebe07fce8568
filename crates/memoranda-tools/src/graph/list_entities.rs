//! `list_entities`.

use memoranda_engine::graph::{EntityName, entity_names};
use serde_json::{Value, json};

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::{OPTIONAL_THREAD, offset};
use super::render::answer;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "list_entities",
    title: "List entities",
    description: "Names and types of a thread's entities.",
    tier: ToolTier::Extra,
    hints: READ,
    output: || output(&[("entities", "array"), ("nextOffset", "integer"), ("thread", "string")]),
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    OPTIONAL_THREAD,
    Param::text("entityType", "Exactly this type"),
    Param::text("namePattern", "Part of the name"),
    offset("Notes to pass over"),
    Param::integer("limit", 1, 1000, "Entities at the most (200)").default_integer(200),
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let entity_type = args.optional_text("entityType")?;
    let pattern = args.optional_text("namePattern")?.map(|pattern| pattern.to_lowercase());
    let offset = args.integer("offset")?;
    let limit = args.integer("limit")?;
    let (entity_type, pattern) = (entity_type.as_deref(), pattern.as_deref());
    let (found, next) = entity_names(call.memory, &thread, entity_type, pattern, (limit, offset))?;
    let entity =
        |entity: &EntityName| json!({ "name": entity.name, "entityType": entity.entity_type });
    let entities: Vec<Value> = found.iter().map(entity).collect();
    let mut structured = json!({ "entities": entities, "thread": thread.id });
    if let Some(next) = next {
        structured["nextOffset"] = json!(next);
    }
    Ok(answer(&thread.with_thread_shape(), structured))
}
