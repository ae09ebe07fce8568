//! Which bank is meant: as it was named, or found from where the client works.

use std::path::{Path, PathBuf};

use memoranda_core::path::NotePath;
use memoranda_engine::{EntryKind, Repository, StoreError};

use super::bank::{Bank, BankType, id_of};
use super::failure::{Code, Failure};
use super::template::repository_of;
use crate::registry::CallContext;

/// How many banks are named to a caller who asked for one that is not there.
const NAMED: usize = 8;
/// What a caller writes to have the bank found.
const AUTO: &str = "auto";
/// The bank that every conversation shares.
pub(crate) const DEFAULT_ID: &str = "default";

/// What a caller said of the bank.
#[derive(Default)]
pub(crate) struct Asked {
    /// Nothing means: whichever fits.
    pub(crate) kind: Option<BankType>,
    pub(crate) id: Option<String>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
}

/// The bank that is meant.
#[derive(Debug)]
pub(crate) struct Meant {
    pub(crate) bank: Bank,
    /// The repository that it belongs to, if that is where the client works.
    pub(crate) repository: Option<Repository>,
    pub(crate) exists: bool,
    /// Whether the caller said enough for it to be made.
    pub(crate) may_be_made: bool,
}

/// Finds the bank that a caller means.
pub(crate) fn meant(call: &CallContext<'_>, asked: &Asked, failed: Code) -> Result<Meant, Failure> {
    let id = asked.id.as_deref().map(str::trim).filter(|id| !id.is_empty() && *id != AUTO);
    let folder = asked.path.as_deref().or(call.settings.workspace.as_deref());
    let repository = folder.and_then(Repository::of);
    let named = asked.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let kind = match (asked.kind, &repository, named) {
        (Some(kind), ..) => kind,
        (None, _, Some(_)) => BankType::Project,
        (None, Some(_), None) => BankType::Code,
        (None, None, None) => BankType::Global,
    };
    let (id, found_by_itself) = match (id, kind) {
        (Some(id), _) => (id.to_owned(), false),
        (None, BankType::Global) => (DEFAULT_ID.to_owned(), true),
        (None, BankType::Project) => match named {
            Some(name) => (id_of(name), true),
            None => return Err(no_project_named(call, failed)?),
        },
        (None, BankType::Code) => match (&repository, named) {
            (Some(repository), _) => (code_id(call, repository)?, true),
            (None, Some(name)) => (id_of(name), true),
            (None, None) => return Err(no_repository(folder, failed)),
        },
    };
    let existing = find(call, kind, &id)?;
    let exists = existing.is_some();
    let bank = match existing {
        Some(bank) => bank,
        None => Bank::new(kind, &id_of(&id)).filter(|_| !id.contains(['/', '\\'])).ok_or_else(|| {
            let shown: String = id.chars().take(80).collect();
            let message = format!(
                "{shown:?} is no bank_id; use letters, digits, `-`, `_` and `.`. Nothing was written."
            );
            Failure::new(Code::BankNotFound, message)
        })?,
    };
    let repository = repository.filter(|repository| {
        kind == BankType::Code
            && (found_by_itself
                || belongs(call, &bank, repository)
                || id_of(&repository.name) == bank.id)
    });
    let may_be_made = match kind {
        BankType::Global => bank.id == DEFAULT_ID,
        BankType::Project => named.is_some() || asked.description.is_some(),
        BankType::Code => repository.is_some() || named.is_some() || asked.description.is_some(),
    };
    Ok(Meant { bank, repository, exists, may_be_made })
}

/// The bank of an id, if it is there: called exactly so, or as the id would be written.
pub(crate) fn find(
    call: &CallContext<'_>,
    kind: BankType,
    id: &str,
) -> Result<Option<Bank>, Failure> {
    let ids = ids(call, kind)?;
    let wanted = id_of(id);
    let found = ids
        .iter()
        .find(|found| *found == id)
        .or_else(|| ids.iter().find(|found| id_of(found) == wanted && !id.contains(['/', '\\'])));
    Ok(found.and_then(|id| Bank::new(kind, id)))
}

/// The ids of all banks of a type, sorted.
pub(crate) fn ids(call: &CallContext<'_>, kind: BankType) -> Result<Vec<String>, Failure> {
    let Ok(folder) = NotePath::parse(kind.plural()) else { return Ok(Vec::new()) };
    let project = &call.settings.banks.project;
    match call.memory.store().entries(project, Some(&folder)) {
        Ok(Some(listing)) => {
            let folders = listing.entries.into_iter().filter(|e| e.kind == EntryKind::Folder);
            let banks = folders.filter_map(|entry| Bank::new(kind, &entry.name));
            Ok(banks.map(|bank| bank.id).collect())
        }
        Ok(None) | Err(StoreError::NoProject { .. }) => Ok(Vec::new()),
        Err(e) => Err(Failure::beneath(Code::CacheLoadFailed, &e.into())),
    }
}

/// Says that a bank is not there, and what to do.
pub(crate) fn not_found(call: &CallContext<'_>, bank: &Bank) -> Failure {
    let (kind, id) = (bank.kind.as_str(), &bank.id);
    let known = ids(call, bank.kind).unwrap_or_default();
    let known = match known.as_slice() {
        [] => format!("There is no {kind} bank yet"),
        ids => format!("The {kind} banks are: {}", first(ids)),
    };
    let make = match bank.kind {
        BankType::Global => "use activate(bank_type=\"global\", bank_id=\"default\")".to_owned(),
        BankType::Project | BankType::Code => {
            format!("activate(bank_type=\"{kind}\", bank_id=\"{id}\", project_name=…) makes it")
        }
    };
    let message = format!("There is no {kind} bank {id:?}. {known}; {make}. Nothing was written.");
    Failure::new(Code::BankNotFound, message)
}

fn first(ids: &[String]) -> String {
    ids.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ")
}

/// The id of a repository's bank: its name, unless that bank belongs to another repository.
fn code_id(call: &CallContext<'_>, repository: &Repository) -> Result<String, Failure> {
    let name = id_of(&repository.name);
    let folder = repository.root.file_name().map(|name| id_of(&name.to_string_lossy()));
    let longer = repository.remote.as_deref().map(|remote| {
        let mut parts = remote.rsplit('/');
        let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        id_of(&format!("{owner}-{name}"))
    });
    let whole = repository.remote.as_deref().map(|remote| id_of(&remote.replace('/', "-")));
    let candidates = [Some(name.clone()), longer, whole];
    for id in candidates.iter().flatten().filter(|id| !id.is_empty()) {
        match find(call, BankType::Code, id)? {
            Some(bank) if !belongs(call, &bank, repository) => {}
            Some(bank) => return Ok(bank.id),
            // A bank from before the repository had a remote goes by the folder's name.
            None => {
                if let Some(folder) = folder.as_deref().filter(|folder| *folder != name)
                    && let Some(bank) = find(call, BankType::Code, folder)?
                    && belongs(call, &bank, repository)
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
fn belongs(call: &CallContext<'_>, bank: &Bank, repository: &Repository) -> bool {
    let Some(place) = bank.place(&call.settings.banks.project, "readme.md") else { return false };
    let readme = call.memory.store().read(&place.project, &place.path).ok().flatten();
    let readme = readme.map(|found| String::from_utf8_lossy(&found.bytes).into_owned());
    let named = readme.as_deref().and_then(repository_of);
    named.is_none_or(|named| repository.remote.as_deref().is_none_or(|remote| remote == named))
}

fn no_project_named(call: &CallContext<'_>, failed: Code) -> Result<Failure, Failure> {
    let known = ids(call, BankType::Project)?;
    let known = match known.as_slice() {
        [] => "there is none yet".to_owned(),
        ids => format!("there are {}", first(ids)),
    };
    let message = format!(
        "A project bank is found by its name: give project_name, or bank_id ({known}). Nothing was \
         written."
    );
    Ok(Failure::new(failed, message))
}

fn no_repository(folder: Option<&Path>, failed: Code) -> Failure {
    let place = match folder {
        Some(folder) => format!("{} lies in no git repository", folder.display()),
        None => "It is not known where you work".to_owned(),
    };
    let message = format!(
        "{place}; give current_path (a folder of the repository) or bank_id, or use \
         bank_type=\"project\". Nothing was written."
    );
    Failure::new(failed, message)
}
