//! Addresses of parts of notes: of a fact, `note/observations/category/text`, or of a relation,
//! `note/type/target`. `*` matches anything.

use memoranda_core::note::permalink::slug;
use memoranda_engine::{FileSummary, FilteredList, ListOrder, SearchFilter, name_in_project};

use super::glob::matches_pattern;
use super::search_hit::NoteHit;
use crate::registry::{CallContext, ToolError};

/// Number of notes read at once for a pattern that names no note.
const BATCH_NOTES: usize = 1000;

/// Finds the facts and relations whose address matches, in the notes that match a filter.
pub(super) fn parts(
    call: &CallContext<'_>,
    filter: &SearchFilter,
    address: &str,
) -> Result<Vec<NoteHit>, ToolError> {
    let address = address.trim_start_matches('/');
    let named = named(call, filter, address)?;
    let is_named = !named.is_empty();
    let said = address.split('/').filter(|part| !part.contains('*'));
    // Addresses have the form of permalinks: `depends_on` is written `depends-on`.
    let said: Vec<String> = said.map(slug).collect();
    let dashed = address.replace('_', "-");
    // A pattern of wildcards alone names no part in particular.
    if !is_named && (said.is_empty() || !address.contains('*')) {
        return Ok(Vec::new());
    }
    // The project may precede the note, the target, or both.
    let fits = |hit: &NoteHit| {
        let project = hit.place.project.as_str();
        let bare = |text: &str| name_in_project(project, text).unwrap_or(text).to_owned();
        matches_pattern(address, &hit.permalink)
            || matches_pattern(&bare(address), &bare(&hit.permalink))
            || matches_pattern(&bare(&dashed), &bare(&hit.permalink).replace('_', "-"))
    };
    let snapshot = call.memory.snapshot()?;
    let mut hits = Vec::new();
    let mut look = |note: NoteHit| -> Result<(), ToolError> {
        if is_named || said.iter().any(|part| part == "observations") {
            let facts = snapshot.observations(note.file)?;
            let facts = facts.into_iter().filter(|fact| fact.is_current);
            hits.extend(facts.map(|fact| note.fact(&fact)).filter(fits));
        }
        for link in snapshot.relations_from(note.file)? {
            if is_named || said.contains(&slug(&link.relation_type)) {
                hits.extend(Some(note.relation(call, &link)?).filter(fits));
            }
        }
        Ok(())
    };
    if is_named {
        named.into_iter().map(NoteHit::note).try_for_each(look)?;
        return Ok(hits);
    }
    for offset in (0..).step_by(BATCH_NOTES) {
        if call.is_cancelled() {
            return Err(ToolError::new("CANCELLED", "The call was cancelled."));
        }
        let notes = notes(call, filter, None, BATCH_NOTES, offset)?;
        let is_last = notes.len() < BATCH_NOTES;
        notes.into_iter().map(NoteHit::note).try_for_each(&mut look)?;
        if is_last {
            break;
        }
    }
    Ok(hits)
}

/// Returns the notes whose whole permalink begins the address.
fn named(
    call: &CallContext<'_>,
    filter: &SearchFilter,
    address: &str,
) -> Result<Vec<FileSummary>, ToolError> {
    let fixed = address.split('*').next().unwrap_or_default();
    let mut named = Vec::new();
    for (end, _) in fixed.match_indices('/') {
        named.extend(notes(call, filter, fixed.get(..end).map(str::to_owned), 10, 0)?);
    }
    Ok(named)
}

fn notes(
    call: &CallContext<'_>,
    filter: &SearchFilter,
    address: Option<String>,
    limit: usize,
    offset: usize,
) -> Result<Vec<FileSummary>, ToolError> {
    let browse = FilteredList {
        filter: filter.clone(),
        title: Vec::new(),
        address,
        order: ListOrder::Path,
        limit,
        offset,
    };
    Ok(call.memory.snapshot()?.filtered_list(&browse)?)
}
