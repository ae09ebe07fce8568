//! Writing a statement as a record, new or in place of an old one.

use memoranda_core::change::{Commit, ExpectedContent};
use memoranda_core::statement::{
    StatementDifference, StatementKind, StatementScope, compare_statements,
};
use memoranda_store::clock;

use super::scope::{ResolvedStatement, resolve};
use super::similar::{SimilarStatements, find_similar};
use super::{
    PREFERENCE_TAG, RecordReference, RememberEffect, RememberError, RememberRequest,
    RememberResult, RememberedStatement, ScopeOrigin, record_kind, statement_kind,
};
use crate::records::{
    MemoryRecord, NewRecord, RecordChanges, RecordError, RecordScope, create_step, find_record,
    moved_location, records_project, title_of,
};
use crate::{Author, EngineError, FileOperation, Memory, NoteLocation, TransactOutcome};

/// Stores a statement, unless it is known or gives another value of a known subject.
pub(super) fn add(
    memory: &Memory,
    who: &Author,
    request: &RememberRequest,
) -> RememberResult<RememberedStatement> {
    let resolved = resolve(memory, request)?;
    let kind = record_kind(resolved.kind);
    let similar = find_similar(memory, &resolved.scope, kind, &request.content)?;
    if let Some(record) = similar.same {
        return known(memory, record, &resolved);
    }
    // Exactly one old value is replaced; of several, none is.
    if let [record] = similar.values.as_slice() {
        let version = version_of(memory, &record.place)?;
        let reference = RecordReference { id: record.id.clone(), version: Some(version) };
        match replace_record(memory, who, record, &reference, &changes(request, record, None)) {
            Err(RememberError::VersionConflict { .. }) => {}
            replaced => {
                let (place, version, commit) = replaced?;
                return Ok(RememberedStatement {
                    effect: RememberEffect::Replaced { previous: record.content.clone() },
                    id: record.id.clone(),
                    version,
                    place,
                    kind: statement_kind(record.kind, &record.tags),
                    is_kind_guessed: resolved.is_kind_guessed,
                    scope: resolved.scope,
                    scope_origin: resolved.scope_origin,
                    commit,
                    candidates: Vec::new(),
                });
            }
        }
    }
    create(memory, who, request, resolved, similar)
}

/// Creates a record. The check for the same words is repeated under the lock.
fn create(
    memory: &Memory,
    who: &Author,
    request: &RememberRequest,
    resolved: ResolvedStatement,
    similar: SimilarStatements,
) -> RememberResult<RememberedStatement> {
    memory.create_project(records_project().as_str())?;
    let kind = record_kind(resolved.kind);
    let mut record = NewRecord::new(kind, resolved.scope.clone(), request.content.trim());
    record.tags = with_preference_tag(request.tags.clone(), resolved.kind);
    let (added, step) = create_step(&record, clock::now())?;
    let folder = resolved.scope.folder();
    let title = title_of(&record.content);
    let mut twin: Option<NoteLocation> = None;
    let outcome = memory.transact(who, None, |desk| -> RememberResult<Vec<FileOperation>> {
        twin = None;
        for place in desk.named(&records_project(), &title)? {
            if !place.path.is_within(&folder) {
                continue;
            }
            let Some((text, _)) = desk.text(&place)? else { continue };
            let body = text.get(memoranda_core::note::parse(&text).body).unwrap_or_default();
            let is_superseded = text.contains("superseded_by:");
            if !is_superseded
                && compare_statements(body, &record.content) == StatementDifference::Same
            {
                twin = Some(place);
                return Ok(Vec::new());
            }
        }
        Ok(vec![step.clone()])
    })?;
    let commit = match (outcome, twin) {
        (_, Some(place)) => {
            let found = crate::records::record_at(memory, &place)?;
            let vanished = || RecordError::Vanished { id: place.path.stem().to_owned() };
            return known(memory, found.ok_or_else(vanished)?, &resolved);
        }
        (TransactOutcome::Committed(commit), None) => commit,
        (TransactOutcome::Unchanged | TransactOutcome::Conflict(_), None) => {
            return Err(RecordError::IdTaken.into());
        }
    };
    let version = version_in(&commit, &added.place);
    let mut candidates = Vec::new();
    for record in similar.values.into_iter().chain(similar.near) {
        let version = version_of(memory, &record.place)?;
        candidates.push((record, version));
    }
    Ok(RememberedStatement {
        effect: RememberEffect::Stored,
        id: added.id,
        version,
        place: added.place,
        kind: resolved.kind,
        is_kind_guessed: resolved.is_kind_guessed,
        scope: resolved.scope,
        scope_origin: resolved.scope_origin,
        commit: Some(commit),
        candidates,
    })
}

/// Replaces the record that the caller named. Kind and scope stay, unless the caller gives a kind.
pub(super) fn replace(
    memory: &Memory,
    who: &Author,
    request: &RememberRequest,
    reference: &RecordReference,
) -> RememberResult<RememberedStatement> {
    let record = find_record(memory, &reference.id)?;
    let is_other_scope = match (request.scope, &request.project) {
        (Some(StatementScope::Person), _) => record.scope != RecordScope::Global,
        (_, Some(project)) => record.scope != *project,
        (Some(StatementScope::Repository), None) => record.scope == RecordScope::Global,
        (None, None) => false,
    };
    if is_other_scope {
        let scope = Box::new(record.scope);
        return Err(RememberError::OtherScope { id: record.id, scope });
    }
    let changes = changes(request, &record, request.kind);
    let (place, version, commit) = replace_record(memory, who, &record, reference, &changes)?;
    let tags = changes.tags.as_ref().unwrap_or(&record.tags);
    let effect = match commit {
        Some(_) => RememberEffect::Replaced { previous: record.content },
        None => RememberEffect::Known,
    };
    Ok(RememberedStatement {
        effect,
        version,
        kind: statement_kind(changes.kind.unwrap_or(record.kind), tags),
        is_kind_guessed: false,
        scope_origin: ScopeOrigin::Given,
        scope: record.scope,
        id: record.id,
        place,
        commit,
        candidates: Vec::new(),
    })
}

/// Returns the changes that make a record say the statement.
fn changes(
    request: &RememberRequest,
    record: &MemoryRecord,
    kind: Option<StatementKind>,
) -> RecordChanges {
    let kept = statement_kind(record.kind, &record.tags);
    let tags = match (request.tags.is_empty(), kind) {
        (true, None) => None,
        (true, Some(kind)) if kind == kept => None,
        (true, Some(kind)) => {
            let mut tags = record.tags.clone();
            tags.retain(|tag| !tag.eq_ignore_ascii_case(PREFERENCE_TAG));
            Some(with_preference_tag(tags, kind))
        }
        (false, kind) => Some(with_preference_tag(request.tags.clone(), kind.unwrap_or(kept))),
    };
    RecordChanges {
        content: Some(request.content.trim().to_owned()),
        kind: kind.map(record_kind).filter(|kind| *kind != record.kind),
        tags,
        ..RecordChanges::default()
    }
}

/// Changes a record if it is the version that the caller knows. Returns its place, its version and
/// the commit; `None` if nothing changed.
fn replace_record(
    memory: &Memory,
    who: &Author,
    record: &MemoryRecord,
    reference: &RecordReference,
    changes: &RecordChanges,
) -> RememberResult<(NoteLocation, String, Option<Commit>)> {
    let (from, to) = (record.place.clone(), moved_location(record, changes.kind)?);
    let mut version = String::new();
    let outcome = memory.transact(who, None, |desk| -> RememberResult<Vec<FileOperation>> {
        let Some((text, hash)) = desk.text(&from)? else {
            return Err(RecordError::Vanished { id: record.id.clone() }.into());
        };
        version = hash.short();
        let is_known = |known: &String| !known.is_empty() && version.starts_with(known.as_str());
        if let Some(expected) = &reference.version
            && !is_known(expected)
        {
            let body = text.get(memoranda_core::note::parse(&text).body).unwrap_or_default();
            return Err(RememberError::VersionConflict {
                id: record.id.clone(),
                expected: expected.clone(),
                current: version.clone(),
                content: body.trim().to_owned(),
            });
        }
        let text = changes.apply(&text, clock::now())?;
        Ok(vec![if from == to {
            let expect = ExpectedContent::Hash(hash);
            FileOperation { expect, ..FileOperation::put(from.clone(), text) }
        } else {
            FileOperation::move_from(to.clone(), from.path.clone(), text)
        }])
    })?;
    match outcome {
        TransactOutcome::Committed(commit) => {
            let version = version_in(&commit, &to);
            Ok((to, version, Some(commit)))
        }
        TransactOutcome::Unchanged => Ok((from, version, None)),
        TransactOutcome::Conflict(_) => {
            Err(RecordError::RecordChanged { id: record.id.clone() }.into())
        }
    }
}

fn known(
    memory: &Memory,
    record: MemoryRecord,
    resolved: &ResolvedStatement,
) -> RememberResult<RememberedStatement> {
    Ok(RememberedStatement {
        effect: RememberEffect::Known,
        version: version_of(memory, &record.place)?,
        kind: statement_kind(record.kind, &record.tags),
        is_kind_guessed: resolved.is_kind_guessed,
        scope_origin: resolved.scope_origin,
        scope: record.scope,
        id: record.id,
        place: record.place,
        commit: None,
        candidates: Vec::new(),
    })
}

fn with_preference_tag(mut tags: Vec<String>, kind: StatementKind) -> Vec<String> {
    let is_tagged = tags.iter().any(|tag| tag.eq_ignore_ascii_case(PREFERENCE_TAG));
    if kind == StatementKind::Preference && !is_tagged {
        tags.insert(0, PREFERENCE_TAG.to_owned());
    }
    tags
}

/// Returns the version of a stored file; empty if it is unknown.
fn version_of(memory: &Memory, place: &NoteLocation) -> RememberResult<String> {
    let file = memory.snapshot()?.file(&place.project, &place.path).map_err(EngineError::from)?;
    Ok(file.and_then(|file| file.hash).map(|hash| hash.short()).unwrap_or_default())
}

/// Returns the version that a commit wrote.
fn version_in(commit: &Commit, place: &NoteLocation) -> String {
    let written = commit.files.iter().find(|file| file.path == place.path);
    written.and_then(|file| file.after).map(|hash| hash.short()).unwrap_or_default()
}
