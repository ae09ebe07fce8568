//! The entities around some, for `get_context` with `entityNames`.

use memoranda_engine::graph::{entities_around, normalize_name};
use serde_json::json;

use super::error::GraphToolResult;
use super::params::PRESENT;
use super::read_options::ReadOptions;
use super::render::{answer, render_found};
use crate::registry::{CallContext, ParamTable, ToolArgs, ToolResult};

/// Options of a reading tool. `get_context` has few of them; the others have their defaults.
const OPTIONS: ParamTable = ParamTable::new(&[PRESENT]);

/// Maximum number of entities of a neighbourhood.
const MAX_FOUND: usize = 500;

/// Renders the entities around some with the relations among them, for `get_context` with
/// `entityNames`.
pub(super) fn neighbourhood(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> GraphToolResult<ToolResult> {
    let names = args.texts("entityNames")?.unwrap_or_default();
    let depth = args.integer("depth")?;
    let budget = args.optional_integer("budget_tokens")?;
    let own = ["threadId", "offset"].into_iter();
    let own = own.filter_map(|name| Some((name.to_owned(), args.value(name)?.clone())));
    let mut options =
        ReadOptions::read(&ToolArgs::read("get_context", OPTIONS, own.collect())?, call)?;
    options.tokens = budget.unwrap_or(usize::MAX).min(options.tokens);
    let names: Vec<String> = names.iter().map(|name| normalize_name(name)).collect();
    let around = entities_around(call.memory, &options.thread, &names, depth, MAX_FOUND);
    let (entities, has_more) = around.map_err(|error| options.thread.explain(error))?;
    options.thread = options.thread.with_thread_shape();
    let mut result = render_found(call, &options, &entities, None)?;
    if has_more {
        result.structured["partial"] = json!(format!(
            "Only the {MAX_FOUND} nearest entities are told of; a smaller depth, or one of them \
             in entityNames, shows others."
        ));
        result = answer(&options.thread, result.structured);
    }
    Ok(result)
}
