//! Which notes an address meant at a moment, for `build_context` with `as_of`.
//!
//! The index knows the facts and relations of the present alone. Of the past a note is read, and what it
//! held is in its text: so an address of a part leads to its note, and a pattern that names no note
//! cannot be looked up.

use memoranda_core::id::ProjectName;
use memoranda_core::note::permalink::slug;
use memoranda_engine::{
    ContextNote, ContextRequest, ContextTarget, EngineError, Place, PointInTime,
    Result as EngineResult,
};

use super::context::Target;
use super::pattern::fits;
use super::scope;
use crate::registry::{CallContext, ToolArgs, ToolError};

/// Which notes an address meant, and in which project.
pub(super) fn target(
    call: &CallContext<'_>,
    args: &ToolArgs,
    url: &str,
    address: &str,
    moment: PointInTime,
) -> Result<Target, ToolError> {
    if address.contains('*') {
        return pattern(call, args, address, moment);
    }
    // What went by the name in the call's own project comes first, whatever goes by it now.
    let project = scope::project(call, args)?;
    let name = ContextTarget::Name(address.to_owned());
    match first(call, &project, &name, moment) {
        Ok(Some(note)) => {
            call.memory.check_noted(&note.place)?;
            return Ok(Target::new(project, name));
        }
        Ok(None) | Err(EngineError::NotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let place = match scope::place_then(call, args, url, moment)? {
        None => holder(call, args, address, moment)?,
        found => found,
    };
    Ok(place.map_or_else(|| Target::new(project, name), |place| Target::note(&place)))
}

fn pattern(
    call: &CallContext<'_>,
    args: &ToolArgs,
    address: &str,
    moment: PointInTime,
) -> Result<Target, ToolError> {
    let (project, pattern) = scope::addressed(call, args, address)?;
    let notes = ContextTarget::Pattern(pattern.clone());
    if first(call, &project, &notes, moment)?.is_some() {
        return Ok(Target::new(project, notes));
    }
    if let Some(place) = holder(call, args, address, moment)? {
        return Ok(Target::note(&place));
    }
    if is_of_parts(&pattern) {
        let text = format!(
            "{address:?} means facts or relations of notes that it does not name, and those of the \
             past are not listed anywhere. Name their note, as in memory://folder/note with the \
             same as_of: its facts and relations of then come with it. Without as_of the pattern \
             finds those of the present."
        );
        return Err(ToolError::new("INVALID_URL", text));
    }
    Ok(Target::new(project, notes))
}

/// Whether a pattern means facts or relations by its form: `*/observations/fact/*`, `*/uses/*`.
fn is_of_parts(pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let kind = parts.iter().skip(1).rev().skip(1).find(|part| !part.contains('*'));
    kind.is_some() && parts.first().is_some_and(|first| first.contains('*'))
}

/// The first of the notes that were meant.
fn first(
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

/// The note whose fact or relation an address meant: `note/observations/category/text`,
/// `note/type/target`, either with `*` behind the note.
fn holder(
    call: &CallContext<'_>,
    args: &ToolArgs,
    address: &str,
    moment: PointInTime,
) -> Result<Option<Place>, ToolError> {
    let fixed = address.split('*').next().unwrap_or_default();
    for (end, _) in fixed.rmatch_indices('/') {
        let (note, part) = address.split_at(end);
        let mut names = part.split('/').skip(1);
        let (Some(kind), name) = (names.next(), names.next()) else { continue };
        if name.is_none() && !kind.contains('*') {
            continue;
        }
        let Ok(Some(place)) = scope::place_then(call, args, note, moment) else { continue };
        let target = ContextTarget::Name(format!("/{}", place.path));
        let Ok(Some(found)) = first(call, &place.project, &target, moment) else { continue };
        let holds_facts = !found.note.observations.is_empty() && fits(kind, "observations");
        let mut types = found.note.relations.iter().map(|relation| slug(&relation.relation_type));
        if holds_facts || types.any(|name| fits(kind, &name)) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}
