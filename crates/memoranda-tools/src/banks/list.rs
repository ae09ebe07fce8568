//! `list`: every bank, and when it was last used.

use std::collections::HashMap;

use jiff::Timestamp;
use memoranda_engine::{ListFilter, ListOrder, StoreError};
use serde_json::{Map, Value, json};

use super::activate::format_seconds;
use super::bank::{BankType, MemoryBank};
use super::error::{BankError, BankErrorCode};
use super::template::description_of;
use super::{bank_type, resolve};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};

/// How many banks of a type are listed.
const MAX_BANKS: usize = 200;
/// More files than this are not asked for their times.
const MAX_FILES: usize = 100_000;

/// A bank in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedBank {
    pub(crate) bank: MemoryBank,
    pub(crate) last_used: Option<Timestamp>,
    pub(crate) description: String,
}

pub(super) fn handler(call: &CallContext<'_>, arguments: Value) -> ToolResult {
    match list(call, arguments) {
        Ok(structured) => ToolResult::ok(structured.to_string(), structured),
        Err(failure) => failure.answer(call.memory, "", "list the banks"),
    }
}

fn list(call: &CallContext<'_>, arguments: Value) -> Result<Value, BankError> {
    let bad = |e: ArgsError| BankError::new(BankErrorCode::ListFailed, e.to_string());
    let args = ToolArgs::new("list", arguments).map_err(bad)?;
    args.only(&["bank_type"]).map_err(bad)?;
    let asked = bank_type(&args)?;
    let mut answer = Map::new();
    answer.insert("project".into(), json!(call.settings.banks.project.as_str()));
    let banks = list_banks(call, asked)?;
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

/// All banks, or those of a type; the last used first.
pub(crate) fn list_banks(
    call: &CallContext<'_>,
    asked: Option<BankType>,
) -> Result<Vec<ListedBank>, BankError> {
    let failed = |e: StoreError| BankError::from_engine(BankErrorCode::ListFailed, &e.into());
    let project = &call.settings.banks.project;
    let filter = ListFilter { project: Some(project.clone()), ..ListFilter::default() };
    let store = call.memory.store();
    let files = store.list(&filter, ListOrder::Newest, MAX_FILES, 0).map_err(failed)?;
    let uses = store.last_uses().map_err(failed)?;
    let written = files.into_iter().map(|file| (file.path, file.updated));
    let looked_at = uses.into_iter().filter(|((of, _), _)| of == project);
    let mut last: HashMap<String, Timestamp> = HashMap::new();
    for (path, time) in written.chain(looked_at.map(|((_, path), time)| (path, time))) {
        let mut names = path.as_str().splitn(3, '/');
        if let (Some(kind), Some(id), Some(_)) = (names.next(), names.next(), names.next()) {
            let known = last.entry(format!("{kind}/{id}")).or_insert(time);
            *known = time.max(*known);
        }
    }
    let mut banks = Vec::new();
    for kind in BankType::ALL.into_iter().filter(|kind| asked.is_none_or(|asked| asked == *kind)) {
        for bank in resolve::bank_ids(call, kind)?.iter().filter_map(|id| MemoryBank::new(kind, id))
        {
            let last_used = last.get(bank.folder().as_str()).copied();
            let description = description(call, &bank);
            banks.push(ListedBank { bank, last_used, description });
        }
    }
    banks.sort_by(|a, b| {
        let key = |listed: &ListedBank| (listed.bank.kind, std::cmp::Reverse(listed.last_used));
        key(a).cmp(&key(b)).then_with(|| a.bank.id.cmp(&b.bank.id))
    });
    Ok(banks)
}

fn description(call: &CallContext<'_>, bank: &MemoryBank) -> String {
    if bank.kind == BankType::Global {
        return "Global conversation memory".to_owned();
    }
    let place = bank.place(&call.settings.banks.project, "readme.md");
    let readme = place
        .and_then(|place| call.memory.store().read(&place.project, &place.path).ok().flatten());
    let text = readme.map(|found| String::from_utf8_lossy(&found.bytes).into_owned());
    text.and_then(|text| description_of(bank.kind, &text)).unwrap_or_else(|| bank.id.clone())
}
