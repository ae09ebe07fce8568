//! Overviews of banks for people. Reading an overview does not count as a use.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::token_estimate::estimate_tokens;
use memoranda_store::HistoryFilter;

use super::bank::{BankType, MemoryBank};
use super::cache::BankCache;
use super::error::BankResult;
use super::resolve::{ListedBank, find_bank, list_banks};
use super::update::ordered_files;
use crate::Memory;

/// Maximum number of commits in which decisions are counted.
const MAX_COMMITS: usize = 10_000;

/// An overview of a bank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankOverview {
    /// The type.
    pub kind: BankType,
    /// The id.
    pub id: String,
    /// The subject.
    pub description: String,
    /// Time of the last write or read.
    pub last_used: Option<Timestamp>,
    /// The files, those of the template first.
    pub files: Vec<BankFile>,
    /// Number of placements by the caller, a language model and the rules.
    pub placed_by: [(&'static str, usize); 3],
}

/// A file of a bank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BankFile {
    /// Name within the bank.
    pub name: String,
    /// The text.
    pub text: String,
    /// Estimated number of tokens.
    pub tokens: usize,
}

/// Returns all banks or those of a type, the last used first.
pub fn bank_overviews(
    memory: &Memory,
    project: &ProjectName,
    cache: &BankCache,
    kind: Option<BankType>,
) -> BankResult<Vec<BankOverview>> {
    let banks = list_banks(memory, project, kind)?;
    banks.into_iter().map(|listed| overview(memory, project, cache, listed)).collect()
}

/// Returns one bank; `None` if no bank has that id.
pub fn bank_overview(
    memory: &Memory,
    project: &ProjectName,
    cache: &BankCache,
    kind: BankType,
    id: &str,
) -> BankResult<Option<BankOverview>> {
    let Some(bank) = find_bank(memory, project, kind, id)? else { return Ok(None) };
    let banks = list_banks(memory, project, Some(kind))?;
    let listed = banks.into_iter().find(|listed| listed.bank == bank);
    listed.map(|listed| overview(memory, project, cache, listed)).transpose()
}

fn overview(
    memory: &Memory,
    project: &ProjectName,
    cache: &BankCache,
    listed: ListedBank,
) -> BankResult<BankOverview> {
    let ListedBank { bank, last_used, description } = listed;
    let loaded = cache.load(memory, project, &bank)?;
    let files = loaded.map_or_else(Vec::new, |(loaded, _)| {
        let files = ordered_files(&bank, &loaded).into_iter();
        files
            .map(|(name, text)| BankFile {
                name: name.to_owned(),
                text: text.to_owned(),
                tokens: estimate_tokens(text),
            })
            .collect()
    });
    let placed_by = placed_by(memory, project, &bank)?;
    let MemoryBank { kind, id, .. } = bank;
    Ok(BankOverview { kind, id, description, last_used, files, placed_by })
}

/// Counts the placements by their source, from the messages of the history.
fn placed_by(
    memory: &Memory,
    project: &ProjectName,
    bank: &MemoryBank,
) -> BankResult<[(&'static str, usize); 3]> {
    let filter = HistoryFilter { project: Some(project.clone()), ..HistoryFilter::default() };
    let mut counts = [("caller", 0), ("model", 0), ("rules", 0)];
    let of_bank = format!(" of {}, by ", bank.key());
    for commit in memory.log(&filter, MAX_COMMITS, 0)? {
        let source = commit.message.as_deref().and_then(|message| message.split_once(&of_bank));
        let source = source.map(|(_, source)| source.split(',').next().unwrap_or_default());
        if let Some((_, count)) = counts.iter_mut().find(|(name, _)| Some(*name) == source) {
            *count += 1;
        }
    }
    Ok(counts)
}
