//! Recalling without a question: what is known about the person and the repository.

use memoranda_core::id::ProjectName;
use memoranda_core::path::NotePath;
use memoranda_core::statement::StatementKind;
use memoranda_store::{ListFilter, ListOrder};

use super::passage::{RecalledPassage, RecalledSubject, kind_of_place, merge_same};
use super::{RecallAnswer, RecallRequest};
use crate::records::{
    MemoryRecord, RecordKind, RecordResult, RecordScope, VisibleScopes, newest_records,
};
use crate::{EngineError, Memory, NoteLocation};

/// Maximum number of records of one scope.
const MAX_RECORDS: usize = 40;
/// Maximum number of memory files about the person.
const MAX_FILES: usize = 5;
/// Maximum length of a memory file, in characters.
const FILE_CHARS: usize = 600;
/// Project and folder of the memory files about the person.
const PERSON_FILES: (&str, &str) = ("memories", "user");
/// The order of kinds in an answer.
const KIND_ORDER: [StatementKind; 6] = [
    StatementKind::Preference,
    StatementKind::Rule,
    StatementKind::Fact,
    StatementKind::Decision,
    StatementKind::Skill,
    StatementKind::Note,
];

/// Returns what is known about the person and about the repository of the caller. Each takes at
/// most the half of the budget that the other one leaves.
pub(super) fn about_person_and_repository(
    memory: &Memory,
    request: &RecallRequest,
) -> RecordResult<RecallAnswer> {
    let mut person = about_person(memory, request)?;
    let repository = match request.visible.project() {
        Some(project) => records_of(memory, request, project, RecalledSubject::Repository)?,
        None => Vec::new(),
    };
    let needed: usize = repository.iter().map(RecalledPassage::tokens).sum();
    let room = request.max_tokens.saturating_sub(needed.min(request.max_tokens / 2));
    let mut spent = 0;
    let fitting = person.iter().take_while(|passage| {
        spent += passage.tokens();
        spent <= room
    });
    let kept = fitting.count();
    let mut left_out = person.len() - kept;
    person.truncate(kept);
    let room = request.max_tokens.saturating_sub(person.iter().map(RecalledPassage::tokens).sum());
    let mut spent = 0;
    for passage in repository {
        spent += passage.tokens();
        if spent <= room { person.push(passage) } else { left_out += 1 }
    }
    Ok(RecallAnswer { passages: person, left_out, ..RecallAnswer::default() })
}

/// Returns what is known about the person: records and memory files.
fn about_person(memory: &Memory, request: &RecallRequest) -> RecordResult<Vec<RecalledPassage>> {
    let mut passages = Vec::new();
    if request.visible.scopes.contains(&RecordScope::Global) {
        passages = records_of(memory, request, &RecordScope::Global, RecalledSubject::Person)?;
    }
    if request.includes(StatementKind::Note) {
        passages.extend(person_files(memory, request)?);
    }
    Ok(merge_same(passages))
}

fn records_of(
    memory: &Memory,
    request: &RecallRequest,
    scope: &RecordScope,
    subject: RecalledSubject,
) -> RecordResult<Vec<RecalledPassage>> {
    if request.project.as_ref().is_some_and(|project| *project != crate::records::records_project())
    {
        return Ok(Vec::new());
    }
    let now = memory.local_now();
    let time = request.as_of;
    let fits = |record: &MemoryRecord| {
        record.is_active(&now)
            && request.since.is_none_or(|since| record.updated >= since)
            && time.is_none_or(|time| record.created <= time)
    };
    let visible = VisibleScopes::only(scope.clone());
    let (records, _) = newest_records(memory, &visible, &RecordKind::ALL, MAX_RECORDS, &fits)?;
    let mut passages: Vec<RecalledPassage> = records
        .iter()
        .map(|record| RecalledPassage {
            subject: Some(subject),
            ..RecalledPassage::of_record(record)
        })
        .filter(|passage| request.includes(passage.kind))
        .collect();
    let order = |kind: StatementKind| KIND_ORDER.iter().position(|other| *other == kind);
    passages.sort_by_key(|passage| order(passage.kind));
    Ok(passages)
}

/// Returns the beginnings of the newest memory files about the person.
fn person_files(memory: &Memory, request: &RecallRequest) -> RecordResult<Vec<RecalledPassage>> {
    let (project, folder) = PERSON_FILES;
    let project = ProjectName::parse(project).map_err(EngineError::from)?;
    let is_reached = request.project.as_ref().is_none_or(|only| *only == project);
    if !is_reached || memory.store().project(project.as_str()).is_err() {
        return Ok(Vec::new());
    }
    let filter = ListFilter {
        project: Some(project),
        folder: Some(NotePath::parse(folder).map_err(EngineError::from)?),
        since: request.since,
        ..ListFilter::default()
    };
    let files = memory.store().list(&filter, ListOrder::Newest, MAX_FILES, 0);
    let files = files.map_err(EngineError::from)?;
    let ids: Vec<i64> = files.iter().map(|file| file.id).collect();
    let bodies = memory.store().bodies(&ids).map_err(EngineError::from)?;
    let mut passages = Vec::with_capacity(files.len());
    for (file, body) in files.into_iter().zip(bodies) {
        let text = body.unwrap_or_default();
        let end = text.char_indices().nth(FILE_CHARS).map_or(text.len(), |(end, _)| end);
        let head = text.get(..end).unwrap_or_default().trim().to_owned();
        let place = NoteLocation { project: file.project, path: file.path };
        if head.is_empty() {
            continue;
        }
        passages.push(RecalledPassage {
            text: head,
            kind: kind_of_place(&place),
            id: None,
            title: file.title,
            places: vec![place],
            lines: String::new(),
            repository: None,
            updated: file.updated,
            author: None,
            relevance: None,
            subject: Some(RecalledSubject::Person),
        });
    }
    Ok(passages)
}
