//! Kind and scope of a statement: as requested, else guessed.

use memoranda_core::path::NotePath;
use memoranda_core::statement::{
    StatementGuess, StatementKind, StatementScope, guess_statement, named_repositories,
};

use super::{RememberError, RememberRequest, RememberResult, ScopeOrigin};
use crate::records::{RecordScope, known_scopes, records_project};
use crate::{DirEntryKind, Memory};

/// Folder of the scopes of repositories in the project `records`.
const PROJECTS_FOLDER: &str = "projects";

/// Kind and scope of a statement, and which of them were guessed.
pub(super) struct ResolvedStatement {
    pub(super) kind: StatementKind,
    pub(super) is_kind_guessed: bool,
    pub(super) scope: RecordScope,
    pub(super) scope_origin: ScopeOrigin,
}

/// Resolves kind and scope of a request.
pub(super) fn resolve(
    memory: &Memory,
    request: &RememberRequest,
) -> RememberResult<ResolvedStatement> {
    let known: Vec<&str> =
        request.project.iter().chain(&request.workspace).map(RecordScope::name).collect();
    let guess = guess_statement(&request.content, &known);
    let (scope, scope_origin) = resolve_scope(memory, request, guess)?;
    Ok(ResolvedStatement {
        kind: request.kind.unwrap_or(guess.kind),
        is_kind_guessed: request.kind.is_none(),
        scope,
        scope_origin,
    })
}

/// Returns the scope, and where it comes from.
fn resolve_scope(
    memory: &Memory,
    request: &RememberRequest,
    guess: StatementGuess,
) -> RememberResult<(RecordScope, ScopeOrigin)> {
    let project = request.project.as_ref().filter(|scope| **scope != RecordScope::Global);
    match (request.scope, project) {
        (Some(StatementScope::Person), Some(_)) => return Err(RememberError::ScopeConflict),
        (Some(StatementScope::Person), None) => {
            return Ok((RecordScope::Global, ScopeOrigin::Given));
        }
        (_, Some(project)) => return Ok((project.clone(), ScopeOrigin::Given)),
        // A caller that names the global scope means the person.
        (None, None) if request.project.is_some() => {
            return Ok((RecordScope::Global, ScopeOrigin::Given));
        }
        (_, None) => {}
    }
    let is_guessed = request.scope.is_none();
    if is_guessed && guess.scope == StatementScope::Person {
        return Ok((RecordScope::Global, ScopeOrigin::Guessed));
    }
    let Some(workspace) = &request.workspace else {
        // A statement that only sounds like a repository is kept for the person rather than refused.
        let is_doubtful = is_guessed && !guess.needs_repository;
        return if is_doubtful {
            Ok((RecordScope::Global, ScopeOrigin::RepositoryUnknown))
        } else {
            Err(RememberError::NoRepository)
        };
    };
    if is_guessed && let Some(folder) = other_repository(memory, request, workspace) {
        let named = repository_name(memory, folder)?;
        let workspace = workspace.name().to_owned();
        return Err(RememberError::OtherRepository { named, workspace });
    }
    let origin = if is_guessed { ScopeOrigin::Guessed } else { ScopeOrigin::Given };
    Ok((workspace.clone(), origin))
}

/// Returns the name of the repository of a folder, as its records have it.
fn repository_name(memory: &Memory, folder: String) -> RememberResult<String> {
    let path = format!("{PROJECTS_FOLDER}/{folder}");
    let scopes = known_scopes(memory)?;
    let named = scopes.iter().find(|scope| scope.folder() == path);
    Ok(named.map_or(folder, |scope| scope.name().to_owned()))
}

/// Returns the folder of another known repository that the statement names. Only names that cannot
/// be ordinary words count: `shop-api`, `acme/shop`.
fn other_repository(
    memory: &Memory,
    request: &RememberRequest,
    workspace: &RecordScope,
) -> Option<String> {
    if !named_repositories(&request.content, &[workspace.name()]).is_empty() {
        return None;
    }
    let folder = NotePath::parse(PROJECTS_FOLDER).ok()?;
    let listing = memory.store().entries(&records_project(), Some(&folder)).ok()??;
    let own = workspace.folder();
    let mut folders =
        listing.entries.into_iter().filter(|entry| entry.kind == DirEntryKind::Folder);
    folders.find_map(|entry| {
        let name = entry.name;
        let is_own = own.rsplit('/').next() == Some(name.as_str());
        let words = request.content.split(|c: char| c.is_whitespace() || "`,;:()\"".contains(c));
        let mut compounds = words.filter(|word| word.contains(['-', '_', '/']));
        let is_named = compounds.any(|word| {
            let word = word.trim_end_matches(['.', '!', '?']).to_lowercase().replace('/', "-");
            name == word || name.strip_suffix(&word).is_some_and(|rest| rest.ends_with('-'))
        });
        (is_named && !is_own).then_some(name)
    })
}
