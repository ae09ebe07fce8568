//! Finding the bank of a caller: by its id, or from the folder that the client works in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memoranda_core::change::Commit;
use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_store::{DirEntryKind, ListFilter, ListOrder, StoreError};

use super::bank::{BankType, MemoryBank, bank_id};
use super::error::{BankError, BankResult};
use super::template::{self, NewBank, description_of, repository_of};
use crate::{Author, EngineError, FileOperation, GitRepository, Memory, TransactOutcome};

/// The id for which the bank is found from the context.
const AUTO_ID: &str = "auto";
/// Id of the bank that all conversations share.
const DEFAULT_ID: &str = "default";
/// Maximum number of files whose times are read for a list.
const MAX_FILES: usize = 100_000;

/// The criteria by which a caller selects a bank.
#[derive(Clone, Debug, Default)]
pub struct BankSelector {
    /// The type; `None` for the type that fits.
    pub kind: Option<BankType>,
    /// The id; `None` or `auto` to find it.
    pub id: Option<String>,
    /// Folder that the client works in.
    pub path: Option<PathBuf>,
    /// Name of the project.
    pub name: Option<String>,
    /// Subject of the project.
    pub description: Option<String>,
}

/// The selected bank.
#[derive(Debug)]
pub struct ResolvedBank {
    /// The bank.
    pub bank: MemoryBank,
    /// Repository of the workspace, if the client works in one.
    pub repository: Option<GitRepository>,
    /// True if the bank exists.
    pub exists: bool,
    /// True if the caller gave enough to create it.
    pub may_be_created: bool,
}

/// Finds the bank that a caller selects.
pub fn resolve_bank(
    memory: &Memory,
    project: &ProjectName,
    workspace: Option<&Path>,
    selector: &BankSelector,
) -> BankResult<ResolvedBank> {
    let id = selector.id.as_deref().map(str::trim).filter(|id| !id.is_empty() && *id != AUTO_ID);
    let folder = selector.path.as_deref().or(workspace);
    let repository = folder.and_then(GitRepository::of);
    let named = selector.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let kind = match (selector.kind, &repository, named) {
        (Some(kind), ..) => kind,
        (None, _, Some(_)) => BankType::Project,
        (None, Some(_), None) => BankType::Code,
        (None, None, None) => BankType::Global,
    };
    let (id, is_found_by_context) = match (id, kind) {
        (Some(id), _) => (id.to_owned(), false),
        (None, BankType::Global) => (DEFAULT_ID.to_owned(), true),
        (None, BankType::Project) => match named {
            Some(name) => (bank_id(name), true),
            None => {
                let known = bank_ids(memory, project, BankType::Project)?;
                return Err(BankError::NoProjectName { known });
            }
        },
        (None, BankType::Code) => match (&repository, named) {
            (Some(repository), _) => (code_id(memory, project, repository)?, true),
            (None, Some(name)) => (bank_id(name), true),
            (None, None) => {
                return Err(BankError::NoRepository { folder: folder.map(Path::to_owned) });
            }
        },
    };
    let existing = find_bank(memory, project, kind, &id)?;
    let exists = existing.is_some();
    let bank = match existing {
        Some(bank) => bank,
        None => MemoryBank::new(kind, &bank_id(&id))
            .filter(|_| !id.contains(['/', '\\']))
            .ok_or(BankError::InvalidId(id))?,
    };
    let repository = repository.filter(|repository| {
        kind == BankType::Code
            && (is_found_by_context
                || belongs_to(memory, project, &bank, repository)
                || bank_id(&repository.name) == bank.id)
    });
    let is_described = named.is_some() || selector.description.is_some();
    let may_be_created = match kind {
        BankType::Global => bank.id == DEFAULT_ID,
        BankType::Project => is_described,
        BankType::Code => repository.is_some() || is_described,
    };
    Ok(ResolvedBank { bank, repository, exists, may_be_created })
}

/// Returns the bank of an id, by the exact name of its folder or by its normalised id.
pub fn find_bank(
    memory: &Memory,
    project: &ProjectName,
    kind: BankType,
    id: &str,
) -> BankResult<Option<MemoryBank>> {
    let ids = bank_ids(memory, project, kind)?;
    let wanted = bank_id(id);
    let found = ids
        .iter()
        .find(|found| *found == id)
        .or_else(|| ids.iter().find(|found| bank_id(found) == wanted && !id.contains(['/', '\\'])));
    Ok(found.and_then(|id| MemoryBank::new(kind, id)))
}

/// Returns the ids of all banks of a type, sorted.
pub fn bank_ids(memory: &Memory, project: &ProjectName, kind: BankType) -> BankResult<Vec<String>> {
    let Ok(folder) = NotePath::parse(kind.plural()) else { return Ok(Vec::new()) };
    match memory.store().entries(project, Some(&folder)) {
        Ok(Some(listing)) => {
            let folders = listing.entries.into_iter().filter(|e| e.kind == DirEntryKind::Folder);
            let banks = folders.filter_map(|entry| MemoryBank::new(kind, &entry.name));
            Ok(banks.map(|bank| bank.id).collect())
        }
        Ok(None) | Err(StoreError::NoProject { .. }) => Ok(Vec::new()),
        Err(e) => Err(BankError::Load(e.into())),
    }
}

/// Returns the id of a repository's bank: its name, unless that bank belongs to another repository.
fn code_id(
    memory: &Memory,
    project: &ProjectName,
    repository: &GitRepository,
) -> BankResult<String> {
    let name = bank_id(&repository.name);
    let folder = repository.root.file_name().map(|name| bank_id(&name.to_string_lossy()));
    let with_owner = repository.remote.as_deref().map(|remote| {
        let mut parts = remote.rsplit('/');
        let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        bank_id(&format!("{owner}-{name}"))
    });
    let with_host = repository.remote.as_deref().map(|remote| bank_id(&remote.replace('/', "-")));
    let candidates = [Some(name.clone()), with_owner, with_host];
    let find = |id: &str| find_bank(memory, project, BankType::Code, id);
    for id in candidates.iter().flatten().filter(|id| !id.is_empty()) {
        match find(id)? {
            Some(bank) if !belongs_to(memory, project, &bank, repository) => {}
            Some(bank) => return Ok(bank.id),
            // A bank that is older than the remote has the name of the folder.
            None => {
                if let Some(folder) = folder.as_deref().filter(|folder| *folder != name)
                    && let Some(bank) = find(folder)?
                    && belongs_to(memory, project, &bank, repository)
                {
                    return Ok(bank.id);
                }
                return Ok(id.clone());
            }
        }
    }
    Ok(name)
}

/// Returns true if the readme of a bank names the remote of a repository, or none.
fn belongs_to(
    memory: &Memory,
    project: &ProjectName,
    bank: &MemoryBank,
    repository: &GitRepository,
) -> bool {
    let readme = readme_text(memory, project, bank);
    let named = readme.as_deref().and_then(repository_of);
    named.is_none_or(|named| repository.remote.as_deref().is_none_or(|remote| remote == named))
}

fn readme_text(memory: &Memory, project: &ProjectName, bank: &MemoryBank) -> Option<String> {
    let place = bank.place(project, "readme.md")?;
    let readme = memory.store().read(&place.project, &place.path).ok().flatten()?;
    Some(String::from_utf8_lossy(&readme.bytes).into_owned())
}

/// Creates a bank in one commit: a file with its name and what the caller said about it. `None` if
/// another process just did.
pub fn create_bank(
    memory: &Memory,
    who: &Author,
    project: &ProjectName,
    resolved: &ResolvedBank,
    selector: &BankSelector,
) -> BankResult<Option<Commit>> {
    let bank = &resolved.bank;
    let repository = resolved.repository.as_ref();
    let name = selector.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let name = name.or(repository.map(|repository| repository.name.as_str()));
    let new_bank = NewBank {
        name: name.unwrap_or(&bank.id),
        description: selector.description.as_deref(),
        remote: repository.and_then(|repository| repository.remote.as_deref()),
    };
    let message = format!("banks: make {}", bank.key());
    let outcome = memory.transact(who, Some(&message), |desk| {
        let (file, text) = template::record(bank.kind, &new_bank);
        let Some(place) = bank.place(project, file) else { return Ok(Vec::new()) };
        if desk.text(&place)?.is_some() {
            return Ok(Vec::new());
        }
        Ok::<_, EngineError>(vec![FileOperation::create(place, text)])
    })?;
    match outcome {
        TransactOutcome::Committed(commit) => Ok(Some(commit)),
        TransactOutcome::Unchanged | TransactOutcome::Conflict(_) => Ok(None),
    }
}

/// A bank in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedBank {
    /// The bank.
    pub bank: MemoryBank,
    /// Time of the last write or read.
    pub last_used: Option<Timestamp>,
    /// The subject of the bank.
    pub description: String,
}

/// Returns all banks or those of a type, by type, the last used first.
pub fn list_banks(
    memory: &Memory,
    project: &ProjectName,
    kind: Option<BankType>,
) -> BankResult<Vec<ListedBank>> {
    let filter = ListFilter { project: Some(project.clone()), ..ListFilter::default() };
    let store = memory.store();
    let files = store.snapshot()?.list(&filter, ListOrder::Newest, MAX_FILES, 0)?;
    let uses = store.last_uses()?;
    let written = files.into_iter().map(|file| (file.path, file.updated));
    let read = uses.into_iter().filter(|((of, _), _)| of == project);
    let mut last: HashMap<String, Timestamp> = HashMap::new();
    for (path, time) in written.chain(read.map(|((_, path), time)| (path, time))) {
        let mut names = path.as_str().splitn(3, '/');
        if let (Some(kind), Some(id), Some(_)) = (names.next(), names.next(), names.next()) {
            let known = last.entry(format!("{kind}/{id}")).or_insert(time);
            *known = time.max(*known);
        }
    }
    let mut banks = Vec::new();
    for kind in BankType::ALL.into_iter().filter(|one| kind.is_none_or(|kind| kind == *one)) {
        let ids = bank_ids(memory, project, kind)?;
        for bank in ids.iter().filter_map(|id| MemoryBank::new(kind, id)) {
            let last_used = last.get(bank.folder().as_str()).copied();
            let description = description(memory, project, &bank);
            banks.push(ListedBank { bank, last_used, description });
        }
    }
    banks.sort_by(|a, b| {
        let key = |listed: &ListedBank| (listed.bank.kind, std::cmp::Reverse(listed.last_used));
        key(a).cmp(&key(b)).then_with(|| a.bank.id.cmp(&b.bank.id))
    });
    Ok(banks)
}

fn description(memory: &Memory, project: &ProjectName, bank: &MemoryBank) -> String {
    if bank.kind == BankType::Global {
        return "Global conversation memory".to_owned();
    }
    let readme = readme_text(memory, project, bank);
    readme.and_then(|text| description_of(bank.kind, &text)).unwrap_or_else(|| bank.id.clone())
}
