//! Recalling without a question: what is known about the person and the repository.

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_core::note;
use memoranda_core::path::NotePath;
use memoranda_core::statement::{StatementKind, StatementScope, guess_statement};
use memoranda_store::{ListFilter, ListOrder, PointInTime};

use super::passage::{RecalledPassage, RecalledSubject, merge_same};
use super::{RecallAnswer, RecallRequest};
use crate::history::versions_at::{VersionAt, VersionsAt};
use crate::records::{
    MemoryRecord, RecordKind, RecordResult, RecordScope, VisibleScopes, newest_records,
    records_project,
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
    let earlier = match request.as_of {
        Some(time) => Some(load_earlier(memory, request, time)?),
        None => None,
    };
    let source = KnownSource { memory, request, earlier: earlier.as_ref() };
    let mut person = source.about_person()?;
    let repository = match request.visible.project() {
        Some(project) => source.records_of(project, RecalledSubject::Repository)?,
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

/// Loads the versions of a time of the records and the memory files.
fn load_earlier(
    memory: &Memory,
    request: &RecallRequest,
    time: Timestamp,
) -> RecordResult<VersionsAt> {
    let store = memory.store();
    let projects = [records_project(), person_project()?].into_iter().filter(|project| {
        let is_reached = request.project.as_ref().is_none_or(|only| only == project);
        is_reached && store.project(project.as_str()).is_ok()
    });
    Ok(memory.versions_at(projects, PointInTime::Time(time))?)
}

fn person_project() -> RecordResult<ProjectName> {
    Ok(ProjectName::parse(PERSON_FILES.0).map_err(EngineError::from)?)
}

/// The present files, or those of an earlier time.
struct KnownSource<'a> {
    memory: &'a Memory,
    request: &'a RecallRequest,
    /// Versions that differ from the present ones; `None` for the present.
    earlier: Option<&'a VersionsAt>,
}

impl KnownSource<'_> {
    /// Returns what is known about the person, records and memory files, and then what else holds in
    /// every repository.
    fn about_person(&self) -> RecordResult<Vec<RecalledPassage>> {
        let mut passages = Vec::new();
        if self.request.visible.scopes.contains(&RecordScope::Global) {
            passages = self.records_of(&RecordScope::Global, RecalledSubject::Person)?;
        }
        for passage in &mut passages {
            passage.subject = Some(subject_of_global(passage.kind, &passage.text));
        }
        if self.request.includes(StatementKind::Note) {
            passages.extend(self.person_files()?);
        }
        let mut passages = merge_same(passages);
        passages.sort_by_key(|passage| passage.subject != Some(RecalledSubject::Person));
        Ok(passages)
    }

    fn records_of(
        &self,
        scope: &RecordScope,
        subject: RecalledSubject,
    ) -> RecordResult<Vec<RecalledPassage>> {
        let request = self.request;
        if request.project.as_ref().is_some_and(|project| *project != records_project()) {
            return Ok(Vec::new());
        }
        let now = match request.as_of {
            Some(time) => time.to_zoned(self.memory.local_now().time_zone().clone()),
            None => self.memory.local_now(),
        };
        let holds = |record: &MemoryRecord| {
            record.is_active(&now)
                && request.since.is_none_or(|since| record.updated >= since)
                && request.as_of.is_none_or(|time| record.created <= time)
        };
        let fits = |record: &MemoryRecord| {
            holds(record) && self.earlier.is_none_or(|earlier| earlier.is_unchanged(&record.place))
        };
        let visible = VisibleScopes::only(scope.clone());
        let (mut records, _) =
            newest_records(self.memory, &visible, &RecordKind::ALL, MAX_RECORDS, &fits)?;
        if let (Some(earlier), Some(time)) = (self.earlier, request.as_of) {
            let then = earlier.files.iter().filter_map(|version| {
                MemoryRecord::of_version(&version.place, &version.text(self.memory)?, time)
            });
            records.extend(then.filter(|record| record.scope == *scope && holds(record)));
        }
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
    fn person_files(&self) -> RecordResult<Vec<RecalledPassage>> {
        let (request, store) = (self.request, self.memory.store());
        let project = person_project()?;
        let folder = NotePath::parse(PERSON_FILES.1).map_err(EngineError::from)?;
        let is_reached = request.project.as_ref().is_none_or(|only| *only == project);
        if !is_reached || store.project(project.as_str()).is_err() {
            return Ok(Vec::new());
        }
        let filter = ListFilter {
            project: Some(project),
            folder: Some(folder.clone()),
            since: request.since,
            ..ListFilter::default()
        };
        let files = store.snapshot()?.list(&filter, ListOrder::Newest, MAX_FILES, 0);
        let files = files.map_err(EngineError::from)?;
        let ids: Vec<i64> = files.iter().map(|file| file.id).collect();
        let bodies = store.snapshot()?.bodies(&ids).map_err(EngineError::from)?;
        let mut passages = Vec::with_capacity(files.len());
        for (file, body) in files.into_iter().zip(bodies) {
            let place = NoteLocation { project: file.project, path: file.path };
            if self.earlier.is_some_and(|earlier| !earlier.is_unchanged(&place)) {
                continue;
            }
            let text = body.unwrap_or_default();
            passages.extend(file_passage(&place, &file.title, &text, file.updated));
        }
        let versions = self.earlier.map_or(&[][..], |earlier| &earlier.files);
        let within = |version: &&VersionAt| {
            version.place.project.as_str() == PERSON_FILES.0
                && version.place.path.is_within(folder.as_str())
        };
        let texts = versions.iter().filter(within);
        let texts = texts.filter_map(|version| Some((&version.place, version.text(self.memory)?)));
        for (place, text) in texts.take(MAX_FILES) {
            let parsed = note::parse(&text);
            let title = parsed.title().unwrap_or_else(|| place.path.stem().to_owned());
            let body = text.get(parsed.body).unwrap_or_default();
            let time = request.as_of.unwrap_or_default();
            passages.extend(file_passage(place, &title, body, time));
        }
        Ok(passages)
    }
}

/// Returns the subject of a statement that is kept for everywhere.
fn subject_of_global(kind: StatementKind, text: &str) -> RecalledSubject {
    let is_about_person = kind == StatementKind::Preference
        || guess_statement(text, &[]).scope == StatementScope::Person;
    if is_about_person { RecalledSubject::Person } else { RecalledSubject::Everywhere }
}

/// Returns the beginning of a memory file; `None` if it is empty.
fn file_passage(
    place: &NoteLocation,
    title: &str,
    text: &str,
    updated: Timestamp,
) -> Option<RecalledPassage> {
    let end = text.char_indices().nth(FILE_CHARS).map_or(text.len(), |(end, _)| end);
    let head = text.get(..end).unwrap_or_default();
    let subject = Some(RecalledSubject::Person);
    (!head.trim().is_empty()).then(|| RecalledPassage {
        subject,
        ..RecalledPassage::of_text(place, title, head, updated)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_holds_everywhere_is_not_about_the_person() {
        use RecalledSubject::{Everywhere, Person};
        for (kind, text, expected) in [
            (StatementKind::Preference, "Tabs over spaces", Person),
            (StatementKind::Fact, "I am allergic to nuts", Person),
            (StatementKind::Fact, "My sister is called Ada", Person),
            (StatementKind::Decision, "Use PostgreSQL for all new services", Everywhere),
            (StatementKind::Decision, "Chose JWT for stateless authentication", Everywhere),
            (StatementKind::Fact, "The nightly run of the build takes 40 minutes", Everywhere),
        ] {
            assert_eq!(subject_of_global(kind, text), expected, "{text}");
        }
    }
}
