//! `delete_observations` of the reference server.

use memoranda_engine::graph::{EntityDeletion, delete_observations};
use serde_json::json;

use super::base::{BASE, DELETE};
use super::error::GraphToolResult;
use super::input::{read_observations, required_name};
use super::output_schema::deletion;
use super::params::{ENTITY_NAME, OPTIONAL_THREAD};
use super::render::deletion_result;
use super::thread::CallThread;
use crate::registry::{
    CallContext, ItemTable, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier,
};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "delete_observations",
    title: "Delete observations",
    description: "Deletes facts of entities, by their text or id. The commit can be undone.",
    tier: ToolTier::Extra,
    hints: DELETE,
    output: deletion,
    params: PARAMS,
    run,
    ..BASE
};

const DELETION: ParamTable = ParamTable::new(&[&[
    ENTITY_NAME.required(),
    Param::texts("observations", "Texts or ids of facts").required(),
]]);

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::items(
        "deletions",
        &ItemTable::new("a deletion of delete_observations", DELETION),
        "Deletions",
    )
    .required(),
    OPTIONAL_THREAD,
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let items = args.required_items("deletions", "a list of deletions")?;
    let mut deletions = Vec::with_capacity(items.len());
    for args in &items {
        args.reject_unknown()?;
        let facts = read_observations(args, "observations", None).all()?;
        let observations = facts.into_iter().map(|fact| fact.content).collect();
        deletions.push(EntityDeletion { name: required_name(args, "entityName")?, observations });
    }
    let result = delete_observations(call.memory, &call.who, &thread, &deletions)?;
    let about = json!({ "deleted": result.deleted, "notFound": result.missing });
    Ok(deletion_result(&thread, "Observations deleted successfully", about, result.commit))
}
