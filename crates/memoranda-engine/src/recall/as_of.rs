//! Recalling as of an earlier time: the present index is ranked, what is newer is left out, and
//! versions that were changed or deleted since are added from the log.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_store::PointInTime;

use super::passage::{RecalledPassage, merge_same};
use super::query::{answer_of, filter, passages, search_packed};
use super::{RecallAnswer, RecallRequest};
use crate::records::{MemoryRecord, RecordResult};
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
    let packed = search_packed(memory, request, query, filter(request))?;
    let projects: Vec<ProjectName> = match &request.project {
        Some(project) => vec![project.clone()],
        None => {
            let projects = memory.store().projects().map_err(EngineError::from)?;
            projects.into_iter().map(|project| project.name).collect()
        }
    };
    let earlier = memory.versions_at(projects, PointInTime::Time(time))?;
    let mut present = packed.notes;
    present.retain(|note| note.created <= time && !earlier.hidden.contains(&note.file));
    let mut found = passages(memory, request, &present)?;
    let then = time.to_zoned(memory.local_now().time_zone().clone());
    let (mut fragments, mut parts) = (Vec::new(), Vec::new());
    let texts = earlier.files.iter().filter_map(|file| Some((&file.place, file.text(memory)?)));
    for (place, text) in texts.take(MAX_VERSIONS) {
        for passage in version_passages(place, &text, time) {
            if !passage.record.as_ref().is_none_or(|record| record.is_active(&then)) {
                continue;
            }
            fragments.push(NoteFragment {
                round: 0,
                path: place.path.clone(),
                title: passage.recalled.title.clone(),
                kind: String::new(),
                text: passage.recalled.text.clone(),
                created: time,
                updated: time,
            });
            parts.push(passage.recalled);
        }
    }
    for ranked in packed.page.understood.compare(&fragments) {
        let Some(part) = parts.get(ranked.note).filter(|part| request.includes(part.kind)) else {
            continue;
        };
        let relevance = Some(ranked.relevance);
        found.push(RecalledPassage { relevance, score: relevance, ..part.clone() });
    }
    found.sort_by(|a, b| b.relevance.unwrap_or(0.0).total_cmp(&a.relevance.unwrap_or(0.0)));
    Ok(answer_of(merge_same(found), packed.page))
}

/// A passage of an earlier version, with its record if it is one.
struct EarlierPassage {
    record: Option<MemoryRecord>,
    recalled: RecalledPassage,
}

/// Returns the passages of an earlier version: the record, or each paragraph of a note.
fn version_passages(place: &NoteLocation, text: &str, time: Timestamp) -> Vec<EarlierPassage> {
    if let Some(record) = MemoryRecord::of_version(place, text, time) {
        let recalled = RecalledPassage::of_record(&record);
        return vec![EarlierPassage { record: Some(record), recalled }];
    }
    let parsed = note::parse(text);
    let title = parsed.title().unwrap_or_else(|| place.path.stem().to_owned());
    let body = text.get(parsed.body.clone()).unwrap_or_default();
    let paragraphs = body.split("\n\n").map(str::trim).filter(|part| !part.is_empty());
    paragraphs
        .map(|part| {
            let end = part.char_indices().nth(PART_CHARS).map_or(part.len(), |(end, _)| end);
            let part = part.get(..end).unwrap_or_default();
            let recalled = RecalledPassage::of_text(place, &title, part, time);
            EarlierPassage { record: None, recalled }
        })
        .collect()
}
