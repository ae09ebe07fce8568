//! `create_relations` of the reference server.

use memoranda_engine::graph::{NamedRelation, create_relations, require_entity};
use serde_json::{Value, json};

use super::base::{ADD, BASE};
use super::error::{GraphToolResult, UNKNOWN_ENTITY};
use super::input::read_relations;
use super::output_schema::output;
use super::params::{OPTIONAL_THREAD, RELATION};
use super::render::{DEPRECATED, list_with_commit, relation_json};
use super::thread::{AnswerShape, CallThread};
use crate::registry::{
    CallContext, ItemTable, Param, ParamTable, ToolAdvice, ToolArgs, ToolDef, ToolResult, ToolTier,
};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "create_relations",
    advice: ToolAdvice::Deprecated,
    title: "Create relations (deprecated)",
    description: "Deprecated in favour of save_memory, which saves entities with their relations. Creates relations between entities; equal ones are skipped, and in a thread those without an end, which are reported.",
    tier: ToolTier::Default,
    hints: ADD,
    output: || {
        output(&[
            ("relations", "array"),
            ("skipped", "array"),
            ("notice", "string"),
            ("commit", "string"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::items(
        "relations",
        &ItemTable::new("a relation of create_relations", RELATION),
        "Relations",
    )
    .required(),
    OPTIONAL_THREAD,
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let mut relations = read_relations(args, &thread)?;
    let mut skipped = Vec::new();
    if thread.shape == AnswerShape::Thread {
        skipped = take_incomplete(call, &thread, &mut relations)?;
    }
    let result = create_relations(call.memory, &call.who, &thread, &relations)?;
    let created = result.created.iter();
    let created: Vec<Value> =
        created.map(|(from, relation)| relation_json(relation, from, &thread)).collect();
    let mut structured = json!({ "relations": created, "notice": DEPRECATED });
    if result.updated > 0 {
        structured["relationsUpdated"] = json!(result.updated);
    }
    if !skipped.is_empty() {
        structured["skipped"] = json!(skipped);
    }
    Ok(list_with_commit(&thread, "relations", structured, result.commit.as_ref()))
}

/// Removes the relations whose source or target does not exist, and returns them with the reason.
fn take_incomplete(
    call: &CallContext<'_>,
    thread: &CallThread,
    relations: &mut Vec<NamedRelation>,
) -> GraphToolResult<Vec<Value>> {
    let mut skipped = Vec::new();
    let mut kept = Vec::with_capacity(relations.len());
    for NamedRelation { from, relation } in relations.drain(..) {
        let mut missing = Vec::new();
        for name in [&from, &relation.target] {
            let required = require_entity(call.memory, thread, name);
            match required.map_err(|error| thread.explain(error)) {
                Ok(_) => {}
                Err(error) if error.code == UNKNOWN_ENTITY => missing.push(error.message),
                Err(other) => return Err(other),
            }
        }
        if missing.is_empty() {
            kept.push(NamedRelation { from, relation });
            continue;
        }
        skipped.push(json!({
            "from": from, "to": relation.target, "relationType": relation.relation_type,
            "reason": missing.join(" "),
        }));
    }
    *relations = kept;
    Ok(skipped)
}
