//! Recalling as of an earlier time: the present index is ranked, what is newer is left out, and
//! versions that were changed or deleted since are added from the log.

use std::collections::HashSet;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_store::PointInTime;

use super::passage::{RecalledPassage, kind_of_place, merge_same};
use super::query::{passages, search_packed};
use super::{RecallAnswer, RecallRequest};
use crate::records::RecordResult;
use crate::{EngineError, Memory, NoteFragment, NoteLocation};

/// Maximum number of earlier versions that are read from the log.
const MAX_VERSIONS: usize = 2_000;
/// Maximum length of a part of an earlier version, in characters.
const PART_CHARS: usize = 1_200;

/// Returns the passages that fitted a question at a time.
pub(super) fn search(
    memory: &Memory,
    request: &RecallRequest,
    query: &str,
    time: Timestamp,
) -> RecordResult<RecallAnswer> {
    let packed = search_packed(memory, request, query)?;
    let earlier = earlier_versions(memory, request, time)?;
    let mut present = packed.notes;
    present.retain(|note| note.created <= time && !earlier.changed.contains(&note.file));
    let mut found = passages(memory, request, &present)?;
    for ranked in packed.page.understood.compare(&earlier.parts) {
        let (Some(part), Some(place)) =
            (earlier.parts.get(ranked.note), earlier.places.get(ranked.note))
        else {
            continue;
        };
        let kind = kind_of_place(place);
        if !request.includes(kind) {
            continue;
        }
        found.push(RecalledPassage {
            text: part.text.clone(),
            kind,
            id: None,
            title: part.title.clone(),
            places: vec![place.clone()],
            lines: String::new(),
            repository: None,
            updated: part.updated,
            author: None,
            relevance: Some(ranked.relevance),
            subject: None,
        });
    }
    found.sort_by(|a, b| b.relevance.unwrap_or(0.0).total_cmp(&a.relevance.unwrap_or(0.0)));
    let corrections = packed.page.corrections;
    Ok(RecallAnswer { passages: merge_same(found), left_out: 0, corrections })
}

/// Versions of files that differ from the present ones.
#[derive(Default)]
struct EarlierVersions {
    /// Files of the index that were different or absent.
    changed: HashSet<i64>,
    /// Parts of the earlier versions.
    parts: Vec<NoteFragment>,
    /// Place of each part.
    places: Vec<NoteLocation>,
}

fn earlier_versions(
    memory: &Memory,
    request: &RecallRequest,
    time: Timestamp,
) -> RecordResult<EarlierVersions> {
    let store = memory.store();
    let projects: Vec<ProjectName> = match &request.project {
        Some(project) => vec![project.clone()],
        None => {
            let projects = store.projects().map_err(EngineError::from)?;
            projects.into_iter().map(|project| project.name).collect()
        }
    };
    let mut earlier = EarlierVersions::default();
    let mut read = 0;
    for project in projects {
        let changed = store.changed_since(&project, PointInTime::Time(time));
        for file in changed.map_err(EngineError::from)? {
            earlier.changed.extend(file.now);
            let Some(then) = file.then.filter(|_| read < MAX_VERSIONS) else { continue };
            // What was purged from the log is not known any more.
            let Ok(bytes) = store.content(then.hash) else { continue };
            read += 1;
            let text = String::from_utf8_lossy(&bytes);
            let place = NoteLocation { project: project.clone(), path: file.path };
            add_parts(&mut earlier, &text, &place, time);
        }
    }
    Ok(earlier)
}

/// Adds the paragraphs of an earlier version.
fn add_parts(earlier: &mut EarlierVersions, text: &str, place: &NoteLocation, time: Timestamp) {
    let parsed = note::parse(text);
    let title = parsed.title().unwrap_or_else(|| place.path.stem().to_owned());
    let body = text.get(parsed.body.clone()).unwrap_or_default();
    for part in body.split("\n\n").map(str::trim).filter(|part| !part.is_empty()) {
        let end = part.char_indices().nth(PART_CHARS).map_or(part.len(), |(end, _)| end);
        earlier.parts.push(NoteFragment {
            round: 0,
            path: place.path.clone(),
            title: title.clone(),
            kind: String::new(),
            text: part.get(..end).unwrap_or_default().to_owned(),
            created: time,
            updated: time,
        });
        earlier.places.push(place.clone());
    }
}
