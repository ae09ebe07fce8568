//! `list`: every bank with the time of its last use.

use memoranda_engine::banks::{BankType, ListedBank, list_banks};
use serde_json::{Map, Value, json};

use super::activate::format_seconds;
use super::error::{BankErrorCode, render_error};
use super::{bank_type, kind};
use crate::registry::{
    CallContext, ParamTable, ToolArgs, ToolDef, ToolError, ToolHints, ToolReach, ToolResult,
    ToolTier, Toolset,
};

/// Maximum number of listed banks of a type.
const MAX_BANKS: usize = 200;

pub(super) const TOOL: ToolDef = ToolDef {
    name: "list",
    title: "List memory banks",
    description: "List the memory banks with their ids, descriptions and when each was last used.",
    toolset: Toolset::Banks,
    reach: ToolReach::OwnProject,
    tier: ToolTier::Default,
    hints: ToolHints { read_only: true, destructive: false, idempotent: true, open_world: false },
    params: PARAMS,
    run,
    output,
    max_chars: 120_000,
    render_error: |call, error| render_error(call, &error, "list the banks"),
    ..ToolDef::BASE
};

/// Parameters of the tool. The tool rejects unknown ones itself, with its own error code.
const PARAMS: ParamTable = ParamTable::new(&[&[kind("Only banks of this type")]]).defer_unknown();

fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    args.reject_unknown().map_err(|error| BankErrorCode::ListFailed.of_arguments(&error))?;
    let asked = bank_type(args)?;
    let mut answer = Map::new();
    answer.insert("project".into(), json!(call.settings.banks.project.as_str()));
    let banks = list_banks(call.memory, &call.settings.banks.project, asked)
        .map_err(|error| BankErrorCode::ListFailed.of_bank(error))?;
    for kind in BankType::ALL.into_iter().filter(|kind| asked.is_none_or(|asked| asked == *kind)) {
        let of_kind: Vec<Value> =
            banks.iter().filter(|listed| listed.bank.kind == kind).map(listed_json).collect();
        if of_kind.len() > MAX_BANKS {
            let more = format!("{}_more", kind.plural());
            answer.insert(more, json!(of_kind.len() - MAX_BANKS));
        }
        let shown: Vec<Value> = of_kind.into_iter().take(MAX_BANKS).collect();
        answer.insert(kind.plural().into(), json!(shown));
    }
    let structured = Value::Object(answer);
    Ok(ToolResult::ok(structured.to_string(), structured))
}

fn listed_json(listed: &ListedBank) -> Value {
    json!({
        "id": listed.bank.id,
        "last_used": listed.last_used.map(format_seconds),
        "description": listed.description,
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "project": { "type": "string" },
            "global": { "type": "array" },
            "projects": { "type": "array" },
            "code": { "type": ["array", "string"] },
            "error": { "type": "string" }
        }
    })
}
