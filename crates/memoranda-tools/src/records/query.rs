//! Finding records: by kind and scope, by words, by id. Everything comes from the index, so that a
//! process that was just started answers at once.

use jiff::Zoned;
use memoranda_core::path::NotePath;
use memoranda_engine::{
    EngineError, FileSummary, ListFilter, ListOrder, Memory, Place, SearchFilter, SearchRequest,
};

use super::error::{RecordError, Result};
use super::kind::RecordKind;
use super::record::{MemoryRecord, PROJECT, RecordLocation, project};
use super::scope::{RecordScope, VisibleScopes};
use crate::registry::QueryFeedback;

/// How many files more than are wanted are asked for, since some do not fit; and then at a time.
const EXTRA_FILES: usize = 8;
const PAGE_FILES: usize = 256;

/// The rules of one scope that hold now, the oldest first.
pub fn active_rules(
    memory: &Memory,
    scope: &RecordScope,
    now: &Zoned,
) -> Result<Vec<MemoryRecord>> {
    let mut rules = records_of_kind(memory, scope, RecordKind::Rule)?;
    rules.retain(|rule| rule.is_active(now));
    rules.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
    Ok(rules)
}

/// Every record of a kind in a scope, those that no longer hold among them.
pub fn records_of_kind(
    memory: &Memory,
    scope: &RecordScope,
    kind: RecordKind,
) -> Result<Vec<MemoryRecord>> {
    let filter = folder_filter(&kind_folder(scope, kind.as_str())?);
    let found = memory.store().list(&filter, ListOrder::Path, usize::MAX, 0)?;
    load_records(memory, found.into_iter().filter(|file| is_owned_by(scope, file)).collect())
}

/// The newest records that fit, at most so many, and whether there are more.
pub(super) fn newest_records(
    memory: &Memory,
    reach: &VisibleScopes,
    kinds: &[RecordKind],
    limit: usize,
    fits: &dyn Fn(&MemoryRecord) -> bool,
) -> Result<(Vec<MemoryRecord>, bool)> {
    let mut found: Vec<MemoryRecord> = Vec::new();
    for scope in &reach.scopes {
        for kind in kinds {
            let filter = folder_filter(&kind_folder(scope, kind.as_str())?);
            let (mut taken, mut offset) = (0, 0);
            loop {
                let page = if offset == 0 { limit + EXTRA_FILES } else { PAGE_FILES };
                let files = memory.store().list(&filter, ListOrder::Newest, page, offset)?;
                let is_last = files.len() < page;
                offset += page;
                let files = files.into_iter().filter(|file| is_owned_by(scope, file)).collect();
                let fitting =
                    load_records(memory, files)?.into_iter().filter(|record| fits(record));
                let before = found.len();
                found.extend(fitting.take(limit + 1 - taken));
                taken += found.len() - before;
                if is_last || taken > limit {
                    break;
                }
            }
        }
    }
    found.sort_by(MemoryRecord::newest_first);
    let more = found.len() > limit;
    found.truncate(limit);
    Ok((found, more))
}

/// What a search among records found.
#[derive(Default)]
pub(super) struct RecordMatches {
    pub(super) records: Vec<MemoryRecord>,
    pub(super) has_more: bool,
    pub(super) reading: QueryFeedback,
}

/// The records that match a query best and fit, at most so many.
pub(super) fn search_records(
    memory: &Memory,
    reach: &VisibleScopes,
    kinds: &[RecordKind],
    query: &str,
    limit: usize,
    fits: &dyn Fn(&MemoryRecord) -> bool,
) -> Result<RecordMatches> {
    if let Some(record) = find_exact(memory, reach, kinds, query)? {
        return Ok(RecordMatches { records: vec![record], ..RecordMatches::default() });
    }
    let mut folders = Vec::new();
    for scope in &reach.scopes {
        for kind in kinds {
            folders.push(kind_folder(scope, kind.as_str())?);
        }
    }
    let request = |offset, limit| SearchRequest {
        text: query.to_owned(),
        filter: SearchFilter {
            projects: vec![project()],
            folders: folders.clone(),
            ..SearchFilter::default()
        },
        limit,
        offset,
        snippet_chars: 0,
        ..SearchRequest::default()
    };
    let mut found = Vec::new();
    let (mut offset, page) = (0, limit + 10);
    loop {
        let result = memory.search(&request(offset, page))?;
        let mut files = Vec::with_capacity(result.results.len());
        for hit in &result.results {
            files.extend(memory.store().file(&hit.place.project, &hit.place.path)?);
        }
        files.retain(|file| reach.scopes.iter().any(|scope| is_within_scope(scope, file)));
        found.extend(load_records(memory, files)?.into_iter().filter(|record| fits(record)));
        offset += page;
        if found.len() > limit || !result.has_more {
            let has_more = found.len() > limit;
            found.truncate(limit);
            return Ok(RecordMatches {
                records: found,
                has_more,
                reading: QueryFeedback::from_page(&result),
            });
        }
    }
}

/// The record whose id the query is, if the caller can see it.
pub(super) fn find_exact(
    memory: &Memory,
    reach: &VisibleScopes,
    kinds: &[RecordKind],
    query: &str,
) -> Result<Option<MemoryRecord>> {
    let mut named = records_with_id(memory, query.trim())?;
    named.retain(|record| kinds.contains(&record.kind) && reach.scopes.contains(&record.scope));
    Ok(if named.len() == 1 { named.pop() } else { None })
}

/// The record at a place.
pub(super) fn record_at(memory: &Memory, place: &Place) -> Result<Option<MemoryRecord>> {
    let file = memory.store().file(&place.project, &place.path)?;
    Ok(load_records(memory, file.into_iter().collect())?.pop())
}

/// The path that an id means when it is written as one: as messages and structured results name
/// it, with or without the project and the ending.
pub(super) fn path_from_id(id: &str) -> Option<NotePath> {
    let within = id.strip_prefix(PROJECT).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id);
    let path = within.strip_suffix(".md").unwrap_or(within);
    if !path.contains('/') {
        return None;
    }
    NotePath::parse(&format!("{path}.md")).ok().filter(|path| RecordLocation::parse(path).is_some())
}

/// The records of this id.
pub(super) fn records_with_id(memory: &Memory, id: &str) -> Result<Vec<MemoryRecord>> {
    if let Some(path) = path_from_id(id) {
        return Ok(record_at(memory, &Place { project: project(), path })?.into_iter().collect());
    }
    let id = id.strip_suffix(".md").unwrap_or(id);
    let mut files = Vec::new();
    for candidate in memory.store().link_candidates(&project(), id)? {
        if candidate.path.stem() == id {
            files.extend(memory.store().file_by_id(candidate.id)?);
        }
    }
    load_records(memory, files)
}

/// The one record of this id; a clear word if there is none, or more than one.
pub(super) fn find_record(memory: &Memory, id: &str) -> Result<MemoryRecord> {
    let id = id.trim();
    let mut found = records_with_id(memory, id)?;
    match (found.pop(), found.is_empty()) {
        (Some(record), true) => Ok(record),
        (Some(record), false) => {
            found.push(record);
            let places: Vec<_> =
                found.iter().map(|record| record.place.path.as_str().to_owned()).collect();
            Err(RecordError::new(format!(
                "{id:?} is the id of {} memories; name one by its path: {}.",
                places.len(),
                places.join(", ")
            )))
        }
        (None, _) => Err(missing_record(memory, id)),
    }
}

/// What to do about a memory that is not there.
pub(super) fn missing_record_hint(memory: &Memory, id: &str) -> &'static str {
    let name = path_from_id(id).map_or_else(
        || format!("{}.md", id.strip_suffix(".md").unwrap_or(id)),
        |path| path.as_str().to_owned(),
    );
    let is_deleted = memory.store().deleted(&project(), Some(&name)).is_ok_and(|d| !d.is_empty());
    if is_deleted {
        "restore_memory brings it back."
    } else {
        "search_memories and list_memories show ids."
    }
}

fn missing_record(memory: &Memory, id: &str) -> RecordError {
    let hint = missing_record_hint(memory, id);
    RecordError::new(format!("Memory {id} not found or already deleted. {hint}"))
}

/// Files of the index as records; what is none is left out.
fn load_records(memory: &Memory, files: Vec<FileSummary>) -> Result<Vec<MemoryRecord>> {
    let (places, files): (Vec<RecordLocation>, Vec<FileSummary>) = files
        .into_iter()
        .filter_map(|file| Some((RecordLocation::parse(&file.path)?, file)))
        .unzip();
    let texts = body_texts(memory, &files)?;
    let found = files.iter().zip(&places).zip(texts);
    let mut records: Vec<MemoryRecord> =
        found.map(|((file, at), text)| MemoryRecord::from_summary(file, at, &text)).collect();
    for record in &mut records {
        // What took its place was forgotten, or is not for all who see this one: it holds.
        if let Some(by) = &record.superseded_by
            && !is_visible_record(memory, by, &record.scope)?
        {
            record.superseded_by = None;
        }
    }
    Ok(records)
}

/// Whether there is a record of this id that everyone sees who sees this scope.
fn is_visible_record(memory: &Memory, id: &str, scope: &RecordScope) -> Result<bool> {
    for one in memory.store().link_candidates(&project(), id)? {
        let Some(at) = RecordLocation::parse(&one.path).filter(|_| one.path.stem() == id) else {
            continue;
        };
        let file = memory.store().file_by_id(one.id)?;
        let front = file.and_then(|file| serde_json::from_str(&file.metadata).ok());
        let is_seen =
            RecordScope::from_folder(&at.folder, &front.unwrap_or_default()).covers(scope);
        // It may lie where nobody has looked for this answer.
        if is_seen && memory.store().stat(&project(), &one.path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What files say, without their frontmatter. The index has it for short ones, and most are.
fn body_texts(memory: &Memory, files: &[FileSummary]) -> Result<Vec<String>> {
    let numbers: Vec<i64> = files.iter().map(|file| file.id).collect();
    let mut texts = Vec::with_capacity(files.len());
    for (file, body) in files.iter().zip(memory.store().bodies(&numbers)?) {
        texts.push(match body {
            Some(body) => body,
            None => {
                let found = memory.store().read(&file.project, &file.path)?;
                let bytes = found.map(|found| found.bytes).unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes);
                let body = memoranda_core::note::parse(&text).body;
                text.get(body).unwrap_or_default().to_owned()
            }
        });
    }
    Ok(texts)
}

/// Whether a file in the folder of a scope is its own.
fn is_owned_by(scope: &RecordScope, file: &FileSummary) -> bool {
    // Only a name can say otherwise, and most files of a scope are its own.
    !file.metadata.contains("\"project\"")
        || scope.owns(&serde_json::from_str(&file.metadata).unwrap_or_default())
}

fn is_within_scope(scope: &RecordScope, file: &FileSummary) -> bool {
    file.path.is_within(&scope.folder()) && is_owned_by(scope, file)
}

/// Files of a kind of their own (reminders, sessions) in what a call can see.
pub(super) fn scope_files(
    memory: &Memory,
    reach: &VisibleScopes,
    name: &str,
) -> Result<Vec<(RecordScope, FileSummary, String)>> {
    let mut found = Vec::new();
    for scope in &reach.scopes {
        let filter = folder_filter(&kind_folder(scope, name)?);
        let files = memory.store().list(&filter, ListOrder::Path, usize::MAX, 0)?;
        let files: Vec<_> = files.into_iter().filter(|file| is_owned_by(scope, file)).collect();
        let texts = body_texts(memory, &files)?;
        found.extend(files.into_iter().zip(texts).map(|(file, body)| (scope.clone(), file, body)));
    }
    Ok(found)
}

/// The folder of a kind in a scope.
pub(super) fn kind_folder(scope: &RecordScope, kind: &str) -> Result<NotePath> {
    Ok(NotePath::parse(&format!("{}/{kind}", scope.folder())).map_err(EngineError::from)?)
}

fn folder_filter(folder: &NotePath) -> ListFilter {
    ListFilter { project: Some(project()), folder: Some(folder.clone()), ..ListFilter::default() }
}

/// Whether a record still holds now.
pub(super) fn is_active_at(now: Zoned) -> impl Fn(&MemoryRecord) -> bool {
    move |record| record.is_active(&now)
}
