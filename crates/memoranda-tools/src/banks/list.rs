//! `list`: every bank with the time of its last use.

use memoranda_engine::banks::{BankType, ListedBank, list_banks};
use serde_json::{Map, Value, json};

use super::activate::format_seconds;
use super::bank_type;
use super::error::{BankErrorCode, BankToolError, BankToolResult};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};

/// Maximum number of listed banks of a type.
const MAX_BANKS: usize = 200;

pub(super) fn handler(call: &CallContext<'_>, arguments: Value) -> ToolResult {
    match list(call, arguments) {
        Ok(structured) => ToolResult::ok(structured.to_string(), structured),
        Err(failure) => failure.answer(call.memory, "", "list the banks"),
    }
}

fn list(call: &CallContext<'_>, arguments: Value) -> BankToolResult<Value> {
    let bad = |e: ArgsError| BankToolError::new(BankErrorCode::ListFailed, e.to_string());
    let args = ToolArgs::new("list", arguments).map_err(bad)?;
    args.only(&["bank_type"]).map_err(bad)?;
    let asked = bank_type(&args)?;
    let mut answer = Map::new();
    answer.insert("project".into(), json!(call.settings.banks.project.as_str()));
    let banks = list_banks(call.memory, &call.settings.banks.project, asked)
        .map_err(|error| BankToolError::from_bank(BankErrorCode::ListFailed, error))?;
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
    Ok(Value::Object(answer))
}

fn listed_json(listed: &ListedBank) -> Value {
    json!({
        "id": listed.bank.id,
        "last_used": listed.last_used.map(format_seconds),
        "description": listed.description,
    })
}
