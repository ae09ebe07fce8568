//! Resolves addresses at a point in time, for `build_context` with `as_of`.
//!
//! The index has only the current facts and relations. An address of a part therefore resolves to
//! its note, whose past text is read. A pattern that names no note cannot be resolved.

use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::slug;
use memoranda_engine::{
    ContextNote, ContextRequest, ContextTarget, EngineError, NoteLocation, PointInTime,
    Result as EngineResult,
};

use super::context::ResolvedAddress;
use super::glob::matches_pattern;
use super::scope;
use crate::registry::{CallContext, ToolArgs, ToolError};

/// Resolves an address to notes of a project at a point in time.
pub(super) fn resolve_address(
    call: &CallContext<'_>,
    args: &ToolArgs,
    url: &str,
    address: &str,
    moment: PointInTime,
) -> Result<ResolvedAddress, ToolError> {
    if address.contains('*') {
        return resolve_pattern(call, args, address, moment);
    }
    // A note of the call's project with this name at that time takes precedence.
    let project = scope::call_project(call, args)?;
    let name = ContextTarget::Name(address.to_owned());
    match first_note(call, &project, &name, moment) {
        Ok(Some(note)) => {
            call.memory.check_noted(&note.place)?;
            return Ok(ResolvedAddress::new(project, name));
        }
        Ok(None) | Err(EngineError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let place = match scope::place_at(call, args, url, moment)? {
        None => note_of_part(call, args, address, moment)?,
        found => found,
    };
    Ok(place
        .map_or_else(|| ResolvedAddress::new(project, name), |place| ResolvedAddress::note(&place)))
}

fn resolve_pattern(
    call: &CallContext<'_>,
    args: &ToolArgs,
    address: &str,
    moment: PointInTime,
) -> Result<ResolvedAddress, ToolError> {
    let (project, pattern) = scope::split_address(call, args, address)?;
    let notes = ContextTarget::Pattern(pattern.clone());
    if first_note(call, &project, &notes, moment)?.is_some() {
        return Ok(ResolvedAddress::new(project, notes));
    }
    if let Some(place) = note_of_part(call, args, address, moment)? {
        return Ok(ResolvedAddress::note(&place));
    }
    if names_parts(&pattern) {
        let text = format!(
            "{address:?} means facts or relations of notes that it does not name, and those of the \
             past are not listed anywhere. Name their note, as in memory://folder/note with the \
             same as_of: its facts and relations of then come with it. Without as_of the pattern \
             finds those of the present."
        );
        return Err(ToolError::new("INVALID_URL", text));
    }
    Ok(ResolvedAddress::new(project, notes))
}

/// Returns true if a pattern has the form of facts or relations: `*/observations/fact/*`, `*/uses/*`.
fn names_parts(pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let kind = parts.iter().skip(1).rev().skip(1).find(|part| !part.contains('*'));
    kind.is_some() && parts.first().is_some_and(|first| first.contains('*'))
}

/// Returns the first note of a target at a point in time.
fn first_note(
    call: &CallContext<'_>,
    project: &ProjectName,
    target: &ContextTarget,
    moment: PointInTime,
) -> EngineResult<Option<ContextNote>> {
    let found = call.memory.context(&ContextRequest {
        project: project.clone(),
        target: target.clone(),
        depth: 0,
        max_related: 0,
        only: None,
        since: None,
        as_of: Some(moment),
        limit: 1,
        offset: 0,
    })?;
    Ok(found.notes.into_iter().next())
}

/// Finds the note of the address of a fact or relation: `note/observations/category/text` or
/// `note/type/target`, where the parts after the note may be `*`.
fn note_of_part(
    call: &CallContext<'_>,
    args: &ToolArgs,
    address: &str,
    moment: PointInTime,
) -> Result<Option<NoteLocation>, ToolError> {
    let fixed = address.split('*').next().unwrap_or_default();
    for (end, _) in fixed.rmatch_indices('/') {
        let (note, part) = address.split_at(end);
        let mut names = part.split('/').skip(1);
        let (Some(kind), name) = (names.next(), names.next()) else { continue };
        if name.is_none() && !kind.contains('*') {
            continue;
        }
        let Ok(Some(place)) = scope::place_at(call, args, note, moment) else { continue };
        let target = ContextTarget::Name(format!("/{}", place.path));
        let Ok(Some(found)) = first_note(call, &place.project, &target, moment) else { continue };
        let holds_facts =
            !found.note.observations.is_empty() && matches_pattern(kind, "observations");
        let mut types = found.note.relations.iter().map(|relation| slug(&relation.relation_type));
        if holds_facts || types.any(|name| matches_pattern(kind, &name)) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}
