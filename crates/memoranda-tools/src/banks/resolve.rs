//! Which bank is meant: as it was named, or found from where the client works.

use std::path::{Path, PathBuf};

use memoranda_core::path::NotePath;
use memoranda_engine::{DirEntryKind, Repository, StoreError};

use super::bank::{BankType, MemoryBank, bank_id};
use super::error::{BankError, BankErrorCode};
use super::template::repository_of;
use crate::registry::CallContext;

/// How many banks are named to a caller who asked for one that is not there.
const MAX_NAMED_BANKS: usize = 8;
/// What a caller writes to have the bank found.
const AUTO_ID: &str = "auto";
/// The bank that every conversation shares.
pub(crate) const DEFAULT_ID: &str = "default";

/// What a caller said of the bank.
#[derive(Default)]
pub(crate) struct BankSelector {
    /// Nothing means: whichever fits.
    pub(crate) kind: Option<BankType>,
    pub(crate) id: Option<String>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
}

/// The bank that is meant.
#[derive(Debug)]
pub(crate) struct ResolvedBank {
    pub(crate) bank: MemoryBank,
    /// The repository that it belongs to, if that is where the client works.
    pub(crate) repository: Option<Repository>,
    pub(crate) exists: bool,
    /// Whether the caller said enough for it to be made.
    pub(crate) may_be_made: bool,
}

/// Finds the bank that a caller means.
pub(crate) fn resolve_bank(
    call: &CallContext<'_>,
    selector: &BankSelector,
    failed: BankErrorCode,
) -> Result<ResolvedBank, BankError> {
    let id = selector.id.as_deref().map(str::trim).filter(|id| !id.is_empty() && *id != AUTO_ID);
    let folder = selector.path.as_deref().or(call.settings.workspace.as_deref());
    let repository = folder.and_then(Repository::of);
    let named = selector.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let kind = match (selector.kind, &repository, named) {
        (Some(kind), ..) => kind,
        (None, _, Some(_)) => BankType::Project,
        (None, Some(_), None) => BankType::Code,
        (None, None, None) => BankType::Global,
    };
    let (id, found_by_itself) = match (id, kind) {
        (Some(id), _) => (id.to_owned(), false),
        (None, BankType::Global) => (DEFAULT_ID.to_owned(), true),
        (None, BankType::Project) => match named {
            Some(name) => (bank_id(name), true),
            None => return Err(no_project_named(call, failed)?),
        },
        (None, BankType::Code) => match (&repository, named) {
            (Some(repository), _) => (code_id(call, repository)?, true),
            (None, Some(name)) => (bank_id(name), true),
            (None, None) => return Err(no_repository(folder, failed)),
        },
    };
    let existing = find_bank(call, kind, &id)?;
    let exists = existing.is_some();
    let bank = match existing {
        Some(bank) => bank,
        None => MemoryBank::new(kind, &bank_id(&id)).filter(|_| !id.contains(['/', '\\'])).ok_or_else(|| {
            let shown: String = id.chars().take(80).collect();
            let message = format!(
                "{shown:?} is no bank_id; use letters, digits, `-`, `_` and `.`. Nothing was written."
            );
            BankError::new(BankErrorCode::BankNotFound, message)
        })?,
    };
    let repository = repository.filter(|repository| {
        kind == BankType::Code
            && (found_by_itself
                || belongs_to(call, &bank, repository)
                || bank_id(&repository.name) == bank.id)
    });
    let may_be_made = match kind {
        BankType::Global => bank.id == DEFAULT_ID,
        BankType::Project => named.is_some() || selector.description.is_some(),
        BankType::Code => repository.is_some() || named.is_some() || selector.description.is_some(),
    };
    Ok(ResolvedBank { bank, repository, exists, may_be_made })
}

/// The bank of an id, if it is there: called exactly so, or as the id would be written.
pub(crate) fn find_bank(
    call: &CallContext<'_>,
    kind: BankType,
    id: &str,
) -> Result<Option<MemoryBank>, BankError> {
    let ids = bank_ids(call, kind)?;
    let wanted = bank_id(id);
    let found = ids
        .iter()
        .find(|found| *found == id)
        .or_else(|| ids.iter().find(|found| bank_id(found) == wanted && !id.contains(['/', '\\'])));
    Ok(found.and_then(|id| MemoryBank::new(kind, id)))
}

/// The ids of all banks of a type, sorted.
pub(crate) fn bank_ids(call: &CallContext<'_>, kind: BankType) -> Result<Vec<String>, BankError> {
    let Ok(folder) = NotePath::parse(kind.plural()) else { return Ok(Vec::new()) };
    let project = &call.settings.banks.project;
    match call.memory.store().entries(project, Some(&folder)) {
        Ok(Some(listing)) => {
            let folders = listing.entries.into_iter().filter(|e| e.kind == DirEntryKind::Folder);
            let banks = folders.filter_map(|entry| MemoryBank::new(kind, &entry.name));
            Ok(banks.map(|bank| bank.id).collect())
        }
        Ok(None) | Err(StoreError::NoProject { .. }) => Ok(Vec::new()),
        Err(e) => Err(BankError::from_engine(BankErrorCode::CacheLoadFailed, &e.into())),
    }
}

/// Says that a bank is not there, and what to do.
pub(crate) fn not_found(call: &CallContext<'_>, bank: &MemoryBank) -> BankError {
    let (kind, id) = (bank.kind.as_str(), &bank.id);
    let known = bank_ids(call, bank.kind).unwrap_or_default();
    let known = match known.as_slice() {
        [] => format!("There is no {kind} bank yet"),
        ids => format!("The {kind} banks are: {}", first_ids(ids)),
    };
    let make = match bank.kind {
        BankType::Global => "use activate(bank_type=\"global\", bank_id=\"default\")".to_owned(),
        BankType::Project | BankType::Code => {
            format!("activate(bank_type=\"{kind}\", bank_id=\"{id}\", project_name=…) makes it")
        }
    };
    let message = format!("There is no {kind} bank {id:?}. {known}; {make}. Nothing was written.");
    BankError::new(BankErrorCode::BankNotFound, message)
}

fn first_ids(ids: &[String]) -> String {
    ids.iter().take(MAX_NAMED_BANKS).cloned().collect::<Vec<_>>().join(", ")
}

/// The id of a repository's bank: its name, unless that bank belongs to another repository.
fn code_id(call: &CallContext<'_>, repository: &Repository) -> Result<String, BankError> {
    let name = bank_id(&repository.name);
    let folder = repository.root.file_name().map(|name| bank_id(&name.to_string_lossy()));
    let longer = repository.remote.as_deref().map(|remote| {
        let mut parts = remote.rsplit('/');
        let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        bank_id(&format!("{owner}-{name}"))
    });
    let whole = repository.remote.as_deref().map(|remote| bank_id(&remote.replace('/', "-")));
    let candidates = [Some(name.clone()), longer, whole];
    for id in candidates.iter().flatten().filter(|id| !id.is_empty()) {
        match find_bank(call, BankType::Code, id)? {
            Some(bank) if !belongs_to(call, &bank, repository) => {}
            Some(bank) => return Ok(bank.id),
            // A bank from before the repository had a remote goes by the folder's name.
            None => {
                if let Some(folder) = folder.as_deref().filter(|folder| *folder != name)
                    && let Some(bank) = find_bank(call, BankType::Code, folder)?
                    && belongs_to(call, &bank, repository)
                {
                    return Ok(bank.id);
                }
                return Ok(id.clone());
            }
        }
    }
    Ok(name)
}

/// Whether a bank is this repository's: it names the same remote, or none.
fn belongs_to(call: &CallContext<'_>, bank: &MemoryBank, repository: &Repository) -> bool {
    let Some(place) = bank.place(&call.settings.banks.project, "readme.md") else { return false };
    let readme = call.memory.store().read(&place.project, &place.path).ok().flatten();
    let readme = readme.map(|found| String::from_utf8_lossy(&found.bytes).into_owned());
    let named = readme.as_deref().and_then(repository_of);
    named.is_none_or(|named| repository.remote.as_deref().is_none_or(|remote| remote == named))
}

fn no_project_named(call: &CallContext<'_>, failed: BankErrorCode) -> Result<BankError, BankError> {
    let known = bank_ids(call, BankType::Project)?;
    let known = match known.as_slice() {
        [] => "there is none yet".to_owned(),
        ids => format!("there are {}", first_ids(ids)),
    };
    let message = format!(
        "A project bank is found by its name: give project_name, or bank_id ({known}). Nothing was \
         written."
    );
    Ok(BankError::new(failed, message))
}

fn no_repository(folder: Option<&Path>, failed: BankErrorCode) -> BankError {
    let place = match folder {
        Some(folder) => format!("{} lies in no git repository", folder.display()),
        None => "It is not known where you work".to_owned(),
    };
    let message = format!(
        "{place}; give current_path (a folder of the repository) or bank_id, or use \
         bank_type=\"project\". Nothing was written."
    );
    BankError::new(failed, message)
}
