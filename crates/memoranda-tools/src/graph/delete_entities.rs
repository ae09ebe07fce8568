//! `delete_entities` of the reference server.

use memoranda_engine::graph::delete_entities;
use serde_json::json;

use super::base::{BASE, DELETE};
use super::error::GraphToolResult;
use super::output_schema::deletion;
use super::params::OPTIONAL_THREAD;
use super::render::deletion_result;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "delete_entities",
    title: "Delete entities",
    description: "Deletes entities and every relation from and to them. The commit can be undone.",
    tier: ToolTier::Extra,
    hints: DELETE,
    output: deletion,
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable =
    ParamTable::new(&[&[Param::texts("entityNames", "Exact names").required(), OPTIONAL_THREAD]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let names = args.texts("entityNames")?;
    let names = names.ok_or_else(|| args.missing("entityNames", "a list of names"))?;
    let result = delete_entities(call.memory, &call.who, &thread, &names)?;
    let about = json!({
        "deleted": result.deleted, "relationsDeleted": result.relations, "notFound": result.missing,
    });
    Ok(deletion_result(&thread, "Entities deleted successfully", about, result.commit))
}
