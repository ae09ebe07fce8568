//! `prune_memory`.

use memoranda_engine::graph::{PruneRequest, prune_entities};
use serde_json::json;

use super::base::{BASE, DELETE};
use super::error::{GraphToolResult, refused};
use super::output_schema::output;
use super::params::{THREAD, share};
use super::read_options::time;
use super::render::with_commit;
use super::thread::CallThread;
use crate::registry::{CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolResult, ToolTier};

pub(super) const TOOL: ToolDef = ToolDef {
    name: "prune_memory",
    title: "Prune memory",
    description: "Removes entities that are old, unimportant, or both, with their relations. With dryRun only says which. The commit can be undone.",
    tier: ToolTier::Extra,
    hints: DELETE,
    output: || {
        output(&[
            ("removedEntities", "integer"),
            ("removedRelations", "integer"),
            ("entityNames", "array"),
            ("commit", "string"),
        ])
    },
    params: PARAMS,
    run,
    ..BASE
};

const PARAMS: ParamTable = ParamTable::new(&[&[
    THREAD.required(),
    Param::text("olderThan", "Not changed since, ISO 8601"),
    share("importanceLessThan", "Less important than"),
    Param::integer("keepMinEntities", 0, 10_000_000, "Keep at least so many").default_integer(0),
    Param::flag("dryRun", "Only say what would go")
        .aliases(&["dry_run"])
        .default_flag(false)
        .show_default(),
]]);

/// Maximum number of names in the answer.
const MAX_SHOWN: usize = 200;

fn run(call: &CallContext<'_>, args: &ToolArgs) -> GraphToolResult<ToolResult> {
    let thread = CallThread::from_args(args, call.settings)?;
    let older_than = time(args, "olderThan")?;
    let importance_below = args.optional_decimal("importanceLessThan")?;
    let keep = args.integer("keepMinEntities")?;
    let is_dry_run = args.is_set("dryRun")?;
    if older_than.is_none() && importance_below.is_none() {
        return Err(refused(
            "prune_memory needs olderThan (a time), importanceLessThan (0 to 1), or both: an entity \
             goes if it fits all that are given. Nothing was removed.",
        ));
    }
    let request = PruneRequest { older_than, importance_below, keep, is_dry_run };
    let report = prune_entities(call.memory, &call.who, &thread, &request)?;
    let shown: Vec<&String> = report.names.iter().take(MAX_SHOWN).collect();
    let mut structured = json!({
        "removedEntities": report.names.len(),
        "removedRelations": report.relations,
        "entityNames": shown,
        "remainingEntities": report.remaining,
        "dryRun": is_dry_run,
    });
    if is_dry_run {
        structured["next"] =
            json!("Nothing was removed. Call again with dryRun: false to remove these.");
    } else if let Some(commit) = &report.commit {
        structured["restore"] = json!(format!("memoranda undo {}", commit.id));
    }
    Ok(with_commit(&thread, structured, report.commit.as_ref()))
}
