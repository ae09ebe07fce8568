//! Looking at banks without using them: for people at a command line.

use jiff::Timestamp;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_engine::{EngineError, HistoryFilter, Result};

use super::activate::in_order;
use super::bank::{BankType, MemoryBank};
use super::error::BankError;
use super::{diagnostics, list, resolve};
use crate::registry::CallContext;

/// How far back operations are counted.
const MAX_COMMITS: usize = 10_000;

/// A bank, from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankOverview {
    /// Its type.
    pub kind: BankType,
    /// Its id.
    pub id: String,
    /// What it is about.
    pub description: String,
    /// When it was last written or looked at.
    pub last_used: Option<Timestamp>,
    /// Its files, those of the template first.
    pub files: Vec<BankFile>,
    /// How often the caller, a language model, or the rules placed a text.
    pub placed_by: [(&'static str, usize); 3],
}

/// A file of a bank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankFile {
    /// Its name within the bank.
    pub name: String,
    /// What it holds.
    pub text: String,
    /// About how many tokens it takes.
    pub tokens: usize,
}

/// Something that went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankDiagnostic {
    /// When.
    pub time: String,
    /// With which bank, as `type:id`; empty if with none.
    pub bank: String,
    /// How bad it was.
    pub severity: String,
    /// What it was.
    pub description: String,
}

/// All banks, the last used first.
pub fn bank_overviews(call: &CallContext<'_>, kind: Option<BankType>) -> Result<Vec<BankOverview>> {
    let banks = list::list_banks(call, kind).map_err(failed)?;
    banks.into_iter().map(|listed| overview(call, listed)).collect()
}

/// One bank; `None` if there is none of that name.
pub fn bank_overview(
    call: &CallContext<'_>,
    kind: BankType,
    id: &str,
) -> Result<Option<BankOverview>> {
    let Some(bank) = resolve::find_bank(call, kind, id).map_err(failed)? else { return Ok(None) };
    let banks = list::list_banks(call, Some(kind)).map_err(failed)?;
    let listed = banks.into_iter().find(|listed| listed.bank == bank);
    listed.map(|listed| overview(call, listed)).transpose()
}

/// What went wrong lately, the newest first.
pub fn bank_diagnostics(call: &CallContext<'_>) -> Vec<BankDiagnostic> {
    let word = |entry: &serde_json::Value, key: &str| {
        entry.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let entries = diagnostics::all(call.memory).into_iter();
    entries
        .map(|entry| BankDiagnostic {
            time: word(&entry, "timestamp"),
            bank: word(&entry, "bank"),
            severity: word(&entry, "severity"),
            description: word(&entry, "description"),
        })
        .collect()
}

fn overview(call: &CallContext<'_>, listed: list::ListedBank) -> Result<BankOverview> {
    let banks = &call.settings.banks;
    let list::ListedBank { bank, last_used, description } = listed;
    let loaded = banks.cache.load(call.memory, &banks.project, &bank)?;
    let files = loaded.map_or_else(Vec::new, |(loaded, _)| {
        let files = in_order(&bank, &loaded).into_iter();
        files
            .map(|(name, text)| BankFile {
                name: name.to_owned(),
                text: text.to_owned(),
                tokens: estimate_tokens(text),
            })
            .collect()
    });
    let placed_by = placed_by(call, &bank)?;
    let MemoryBank { kind, id, .. } = bank;
    Ok(BankOverview { kind, id, description, last_used, files, placed_by })
}

/// Counts by the history who decided where texts went.
fn placed_by(call: &CallContext<'_>, bank: &MemoryBank) -> Result<[(&'static str, usize); 3]> {
    let filter = HistoryFilter {
        project: Some(call.settings.banks.project.clone()),
        ..HistoryFilter::default()
    };
    let mut counts = [("caller", 0), ("model", 0), ("rules", 0)];
    let of_bank = format!(" of {}, by ", bank.key());
    for commit in call.memory.log(&filter, MAX_COMMITS, 0)? {
        let who = commit.message.as_deref().and_then(|message| message.split_once(&of_bank));
        let who = who.map(|(_, who)| who.split(',').next().unwrap_or_default());
        if let Some((_, count)) = counts.iter_mut().find(|(name, _)| Some(*name) == who) {
            *count += 1;
        }
    }
    Ok(counts)
}

fn failed(failure: BankError) -> EngineError {
    EngineError::Invalid(failure.message)
}
