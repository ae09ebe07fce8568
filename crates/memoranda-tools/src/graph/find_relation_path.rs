//! `find_relation_path`.

use memoranda_engine::graph::{normalize_name, relation_path};
use serde_json::json;

use super::base::{BASE, READ};
use super::error::GraphToolResult;
use super::output_schema::output;
use super::params::OPTIONAL_THREAD;
use super::render::answer;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "find_relation_path",
    title: "Find relation path",
    description: "A shortest way between two entities, along relations in either direction.",
    tier: ToolTier::Default,
    hints: READ,
    output: || {
        output(&[
            ("found", "boolean"),
            ("path", "array"),
            ("relations", "array"),
            ("said", "string"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    Param::text("from", "Entity").required(),
    Param::text("to", "Entity").required(),
    Param::integer("maxDepth", 1, 20, "Relations at the most").default_integer(5).show_default(),
    OPTIONAL_THREAD,
]]);

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args_or_default(args, call.settings)?;
    let (from, to) = (normalize_name(&args.text("from")?), normalize_name(&args.text("to")?));
    let depth = args.integer("maxDepth")?;
    let path = relation_path(call.memory, &thread, &from, &to, depth)
        .map_err(|error| thread.explain(error))?;
    let thread = thread.with_thread_shape();
    let Some(path) = path else {
        let structured = json!({
            "found": false, "path": [], "relations": [], "thread": thread.id,
            "message": format!("No path of at most {depth} relations leads from '{from}' to '{to}'."),
        });
        return Ok(answer(&thread, structured));
    };
    let mut said = vec![path.names.first().cloned().unwrap_or_default()];
    let mut relations = Vec::with_capacity(path.steps.len());
    for step in &path.steps {
        said.push(format!("—{}→ {}", step.read_as, step.next));
        relations.push(json!({
            "from": step.from, "to": step.to, "relationType": step.relation_type,
            "readAs": step.read_as,
        }));
    }
    let structured = json!({
        "found": true, "path": path.names, "relations": relations, "said": said.join(" "),
        "thread": thread.id,
    });
    Ok(answer(&thread, structured))
}
