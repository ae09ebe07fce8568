//! `delete_relations` of the reference server.

use memoranda_engine::graph::delete_relations;
use serde_json::json;

use super::base::{BASE, DELETE};
use super::error::GraphToolResult;
use super::input::read_relations;
use super::output_schema::deletion;
use super::params::{OPTIONAL_THREAD, RELATION};
use super::render::deletion_result;
use super::thread::CallThread;
use crate::registry::{
    CallContext, ItemTable, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier,
};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "delete_relations",
    title: "Delete relations",
    description: "Deletes relations between entities. The commit can be undone.",
    tier: ToolTier::Extra,
    hints: DELETE,
    output: deletion,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::items(
        "relations",
        &ItemTable::new("a relation of delete_relations", RELATION),
        "Relations",
    )
    .required(),
    OPTIONAL_THREAD,
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let relations = read_relations(args, &thread)?;
    let result = delete_relations(call.memory, &call.who, &thread, &relations)?;
    let about = json!({ "deleted": result.deleted, "notFound": result.missing });
    Ok(deletion_result(&thread, "Relations deleted successfully", about, result.commit))
}
