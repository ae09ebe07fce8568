//! Queries for records: by kind and scope, by text, by id. Answers come from the index, so a process
//! that just started answers immediately.

use jiff::Zoned;
use memoranda_core::path::NotePath;
use memoranda_store::{FileSummary, ListFilter, ListOrder, SearchFilter};

use super::error::{RecordError, RecordResult};
use super::kind::RecordKind;
use super::record::{MemoryRecord, PROJECT_NAME, RecordLocation, records_project};
use super::scope::{RecordScope, VisibleScopes};
use crate::{
    EmbeddingSource, EngineError, LOW_RELEVANCE, MIN_RELEVANCE, Memory, NestedFolder, NoteLocation,
    SearchPage, SearchRequest, SearchResult,
};

/// Folder of the scopes of repositories.
const PROJECTS_FOLDER: &str = "projects";
/// Number of files requested in addition to the limit, because some do not match.
const EXTRA_FILES: usize = 8;
/// Number of files requested per further page.
const PAGE_FILES: usize = 256;
/// Number of search results requested in addition to the limit, because some do not match.
const EXTRA_RESULTS: usize = 10;

/// Returns the active rules of one scope, the oldest first.
pub fn active_rules(
    memory: &Memory,
    scope: &RecordScope,
    now: &Zoned,
) -> RecordResult<Vec<MemoryRecord>> {
    let mut rules = records_of_kind(memory, scope, RecordKind::Rule)?;
    rules.retain(|rule| rule.is_active(now));
    rules.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.id.cmp(&b.id)));
    Ok(rules)
}

/// Returns every scope that has files: global first, and the repositories by their names.
pub fn known_scopes(memory: &Memory) -> RecordResult<Vec<RecordScope>> {
    let filter = ListFilter { project: Some(records_project()), ..ListFilter::default() };
    let mut scopes = vec![RecordScope::Global];
    for file in memory.snapshot()?.list(&filter, ListOrder::Path, usize::MAX, 0)? {
        let mut parts = file.path.as_str().split('/');
        let (Some("projects"), Some(folder), Some(_)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let frontmatter = serde_json::from_str(&file.metadata).unwrap_or_default();
        let scope = RecordScope::from_folder(&format!("projects/{folder}"), &frontmatter);
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok(scopes)
}

/// Returns every record of a kind in a scope, including inactive records.
pub fn records_of_kind(
    memory: &Memory,
    scope: &RecordScope,
    kind: RecordKind,
) -> RecordResult<Vec<MemoryRecord>> {
    let filter = folder_filter(&kind_folder(scope, kind.as_str())?);
    let found = memory.snapshot()?.list(&filter, ListOrder::Path, usize::MAX, 0)?;
    load_records(memory, found.into_iter().filter(|file| is_owned_by(scope, file)).collect())
}

/// Returns at most `limit` matching records, the newest first, and true if there are more.
pub fn newest_records(
    memory: &Memory,
    visible: &VisibleScopes,
    kinds: &[RecordKind],
    limit: usize,
    matches: &dyn Fn(&MemoryRecord) -> bool,
) -> RecordResult<(Vec<MemoryRecord>, bool)> {
    let mut found: Vec<MemoryRecord> = Vec::new();
    for scope in &visible.scopes {
        for kind in kinds {
            let filter = folder_filter(&kind_folder(scope, kind.as_str())?);
            let (mut taken, mut offset) = (0, 0);
            loop {
                let page = if offset == 0 { limit + EXTRA_FILES } else { PAGE_FILES };
                let files = memory.snapshot()?.list(&filter, ListOrder::Newest, page, offset)?;
                let is_last = files.len() < page;
                offset += page;
                let files = files.into_iter().filter(|file| is_owned_by(scope, file)).collect();
                let matching =
                    load_records(memory, files)?.into_iter().filter(|record| matches(record));
                let before = found.len();
                found.extend(matching.take(limit + 1 - taken));
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

/// The records that a search found.
#[derive(Default)]
pub struct RecordMatches {
    /// The records, the best match first.
    pub records: Vec<MemoryRecord>,
    /// True if more records match.
    pub has_more: bool,
    /// The last page of the search, with its corrections; `None` if the query was an id.
    pub page: Option<SearchPage>,
}

/// Text and limits of a search for records.
#[derive(Clone, Copy)]
pub struct RecordQuery<'q> {
    /// Words, or the id of a record.
    pub text: &'q str,
    /// Maximum number of records.
    pub limit: usize,
    /// Minimum relevance of each record, 0 to 1. `None` shows records if the best one is relevant,
    /// and fills the list with less relevant ones.
    pub min_relevance: Option<f64>,
}

/// Returns the best matching records, at most `limit`. A query that is an id finds its record.
pub fn search_records(
    memory: &Memory,
    visible: &VisibleScopes,
    kinds: &[RecordKind],
    query: RecordQuery<'_>,
    matches: &dyn Fn(&MemoryRecord) -> bool,
) -> RecordResult<RecordMatches> {
    let RecordQuery { text, limit, min_relevance } = query;
    if let Some(record) = find_exact(memory, visible, kinds, text)? {
        return Ok(RecordMatches { records: vec![record], ..RecordMatches::default() });
    }
    if visible.scopes.is_empty() {
        return Ok(RecordMatches::default());
    }
    let mut folders = Vec::new();
    for scope in &visible.scopes {
        for kind in kinds {
            folders.push(kind_folder(scope, kind.as_str())?);
        }
    }
    let request = |text: &str, offset, limit| SearchRequest {
        text: text.to_owned(),
        filter: SearchFilter {
            projects: vec![records_project()],
            folders: folders.clone(),
            ..SearchFilter::default()
        },
        limit,
        offset,
        snippet_chars: 0,
        fill_relevance: LOW_RELEVANCE,
        relative_cut: 0.0,
        ..SearchRequest::default()
    };
    let load = |page: &SearchPage| -> RecordResult<Vec<MemoryRecord>> {
        let mut files = Vec::with_capacity(page.results.len());
        for hit in &page.results {
            files.extend(memory.snapshot()?.file(&hit.place.project, &hit.place.path)?);
        }
        files.retain(|file| visible.scopes.iter().any(|scope| is_within_scope(scope, file)));
        Ok(load_records(memory, files)?.into_iter().filter(|record| matches(record)).collect())
    };
    let mut found: Vec<MemoryRecord> = Vec::new();
    let mut likely = 0;
    let (mut offset, page_size) = (0, limit + EXTRA_RESULTS);
    loop {
        let mut page =
            memory.search(&request(text, offset, page_size).with_min_relevance(min_relevance))?;
        let is_likely =
            |hit: &&SearchResult| hit.relevance >= min_relevance.unwrap_or(MIN_RELEVANCE);
        likely += page.results.iter().filter(is_likely).count();
        found.extend(load(&page)?);
        offset += page_size;
        if found.len() <= limit && page.has_more {
            continue;
        }
        // A beginning of a word has no meaning of its own; the word that it stands for has.
        if let Some(meant) = page.with_whole_words(text)
            && !found.is_empty()
            && found.len() < limit
            && min_relevance.is_none()
        {
            for record in load(&memory.search(&request(&meant, 0, page_size))?)? {
                if !found.iter().any(|known| known.place == record.place) {
                    found.push(record);
                }
            }
        }
        if found.is_empty() && min_relevance.is_none_or(|least| least >= MIN_RELEVANCE) {
            // Among few records none may stand out. What stands out in the whole memory is found by
            // every other reader, and belongs to this answer, too.
            let everywhere = SearchRequest {
                filter: SearchFilter::default(),
                fill_relevance: LOW_RELEVANCE,
                ..request(text, 0, page_size).with_min_relevance(min_relevance)
            };
            let mut all = memory.search(&everywhere)?;
            if all.meaning == EmbeddingSource::Loading {
                page.meaning = EmbeddingSource::Loading;
            }
            let records = records_project();
            all.results.retain(|hit| hit.place.project == records);
            found = load(&all)?;
            found.retain(|record| kinds.contains(&record.kind));
        }
        // Records that only fill the list are no reason to ask for more.
        let has_more = found.len() > limit && likely > limit;
        found.truncate(limit);
        return Ok(RecordMatches { records: found, has_more, page: Some(page) });
    }
}

/// Returns the filter of the records of some kinds, in every scope. The folder of a record determines its
/// kind, and its frontmatter need not name it.
pub(crate) fn filter_of_kinds(kinds: &[RecordKind]) -> SearchFilter {
    let global = |kind: &RecordKind| kind_folder(&RecordScope::Global, kind.as_str()).ok();
    let above = NotePath::parse(PROJECTS_FOLDER).ok();
    let in_projects = |above: NotePath| {
        let nested = |kind: &RecordKind| NestedFolder {
            above: above.clone(),
            name: kind.as_str().to_owned(),
        };
        kinds.iter().map(nested).collect()
    };
    SearchFilter {
        projects: vec![records_project()],
        folders: kinds.iter().filter_map(global).collect(),
        nested_folders: above.map(in_projects).unwrap_or_default(),
        ..SearchFilter::default()
    }
}

/// Returns the visible record whose id is the query.
pub fn find_exact(
    memory: &Memory,
    visible: &VisibleScopes,
    kinds: &[RecordKind],
    query: &str,
) -> RecordResult<Option<MemoryRecord>> {
    let mut named = records_with_id(memory, query.trim())?;
    named.retain(|record| kinds.contains(&record.kind) && visible.scopes.contains(&record.scope));
    Ok(if named.len() == 1 { named.pop() } else { None })
}

/// Returns the record at a location.
pub fn record_at(memory: &Memory, place: &NoteLocation) -> RecordResult<Option<MemoryRecord>> {
    let file = memory.snapshot()?.file(&place.project, &place.path)?;
    Ok(load_records(memory, file.into_iter().collect())?.pop())
}

/// Returns true for a record that no longer holds: it expired, or another record supersedes it.
/// `metadata` is the frontmatter of the file as JSON.
pub fn is_inactive_record(
    memory: &Memory,
    place: &NoteLocation,
    metadata: &str,
    now: &Zoned,
) -> RecordResult<bool> {
    let has_end = metadata.contains("superseded_by") || metadata.contains("expires");
    if !has_end || place.project != records_project() {
        return Ok(false);
    }
    Ok(record_at(memory, place)?.is_some_and(|record| !record.is_active(now)))
}

/// Returns the path of an id that is written as a path, with or without project and extension.
pub(super) fn path_from_id(id: &str) -> Option<NotePath> {
    let within =
        id.strip_prefix(PROJECT_NAME).and_then(|rest| rest.strip_prefix('/')).unwrap_or(id);
    let path = within.strip_suffix(".md").unwrap_or(within);
    if !path.contains('/') {
        return None;
    }
    NotePath::parse(&format!("{path}.md")).ok().filter(|path| RecordLocation::parse(path).is_some())
}

/// Returns the records that have an id.
pub(super) fn records_with_id(memory: &Memory, id: &str) -> RecordResult<Vec<MemoryRecord>> {
    if let Some(path) = path_from_id(id) {
        let record = record_at(memory, &NoteLocation { project: records_project(), path })?;
        return Ok(record.into_iter().collect());
    }
    let id = id.strip_suffix(".md").unwrap_or(id);
    let mut files = Vec::new();
    for candidate in memory.snapshot()?.link_candidates(&records_project(), id)? {
        if candidate.path.stem() == id {
            files.extend(memory.snapshot()?.file_by_id(candidate.id)?);
        }
    }
    load_records(memory, files)
}

/// Returns the record that has an id; an error if no record or more than one has it.
pub fn find_record(memory: &Memory, id: &str) -> RecordResult<MemoryRecord> {
    let id = id.trim();
    let mut found = records_with_id(memory, id)?;
    match (found.pop(), found.is_empty()) {
        (Some(record), true) => Ok(record),
        (Some(record), false) => {
            found.push(record);
            let paths = found.into_iter().map(|record| record.place.path).collect();
            Err(RecordError::Ambiguous { id: id.to_owned(), paths })
        }
        (None, _) => Err(not_found(memory, id)),
    }
}

/// Returns the error for an id that no record has.
pub(super) fn not_found(memory: &Memory, id: &str) -> RecordError {
    let name = file_name_from_id(id);
    let is_deleted = memory.snapshot().is_ok_and(|snapshot| {
        let purge = snapshot.last_agent_purge().ok().flatten();
        let deleted = snapshot.deleted(&records_project(), Some(&name)).unwrap_or_default();
        deleted.iter().any(|(_, time)| purge.is_none_or(|purge| *time > purge))
    });
    RecordError::NotFound { id: id.to_owned(), is_deleted }
}

/// Returns the path of an id that is written as a path, else its file name.
pub(super) fn file_name_from_id(id: &str) -> String {
    match path_from_id(id) {
        Some(path) => path.as_str().to_owned(),
        None => format!("{}.md", id.strip_suffix(".md").unwrap_or(id)),
    }
}

/// Builds records from index entries. Files that are not records are skipped.
fn load_records(memory: &Memory, files: Vec<FileSummary>) -> RecordResult<Vec<MemoryRecord>> {
    let (places, files): (Vec<RecordLocation>, Vec<FileSummary>) = files
        .into_iter()
        .filter_map(|file| Some((RecordLocation::parse(&file.path)?, file)))
        .unzip();
    let texts = body_texts(memory, &files)?;
    let found = files.iter().zip(&places).zip(texts);
    let mut records: Vec<MemoryRecord> =
        found.map(|((file, at), text)| MemoryRecord::from_summary(file, at, &text)).collect();
    for record in &mut records {
        // The record stays active if its successor was deleted or is not visible to all readers.
        if let Some(by) = &record.superseded_by
            && !is_visible_record(memory, by, &record.scope)?
        {
            record.superseded_by = None;
        }
    }
    Ok(records)
}

/// Returns true if a record of this id is visible to everyone who sees a scope.
fn is_visible_record(memory: &Memory, id: &str, scope: &RecordScope) -> RecordResult<bool> {
    for one in memory.snapshot()?.link_candidates(&records_project(), id)? {
        let Some(at) = RecordLocation::parse(&one.path).filter(|_| one.path.stem() == id) else {
            continue;
        };
        let file = memory.snapshot()?.file_by_id(one.id)?;
        let front = file.and_then(|file| serde_json::from_str(&file.metadata).ok());
        let is_seen =
            RecordScope::from_folder(&at.folder, &front.unwrap_or_default()).covers(scope);
        // The folder of the record may not have been scanned for this answer.
        if is_seen && memory.store().stat(&records_project(), &one.path)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the texts of files without frontmatter. The index contains the texts of short files.
fn body_texts(memory: &Memory, files: &[FileSummary]) -> RecordResult<Vec<String>> {
    let ids: Vec<_> = files.iter().map(|file| file.id).collect();
    let mut texts = Vec::with_capacity(files.len());
    for (file, body) in files.iter().zip(memory.snapshot()?.bodies(&ids)?) {
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

/// Returns true if a file in the folder of a scope belongs to the scope.
fn is_owned_by(scope: &RecordScope, file: &FileSummary) -> bool {
    // Parsing the frontmatter is only necessary if it names a project.
    !file.metadata.contains("\"project\"")
        || scope.owns(&serde_json::from_str(&file.metadata).unwrap_or_default())
}

fn is_within_scope(scope: &RecordScope, file: &FileSummary) -> bool {
    file.path.is_within(&scope.folder()) && is_owned_by(scope, file)
}

/// Returns the files of one folder of every visible scope, such as reminders, with their texts.
pub(super) fn scope_files(
    memory: &Memory,
    visible: &VisibleScopes,
    name: &str,
) -> RecordResult<Vec<(RecordScope, FileSummary, String)>> {
    let mut found = Vec::new();
    for scope in &visible.scopes {
        let filter = folder_filter(&kind_folder(scope, name)?);
        let files = memory.snapshot()?.list(&filter, ListOrder::Path, usize::MAX, 0)?;
        let files: Vec<_> = files.into_iter().filter(|file| is_owned_by(scope, file)).collect();
        let texts = body_texts(memory, &files)?;
        found.extend(files.into_iter().zip(texts).map(|(file, body)| (scope.clone(), file, body)));
    }
    Ok(found)
}

/// Returns the scope and the location of a file by its id, in a folder such as `reminder`.
pub(super) fn find_in_folder(
    memory: &Memory,
    folder_name: &str,
    id: &str,
) -> RecordResult<Option<(RecordScope, NoteLocation)>> {
    for candidate in memory.snapshot()?.link_candidates(&records_project(), id)? {
        let path = &candidate.path;
        let parent = path.parent().and_then(|parent| parent.strip_suffix(folder_name));
        let Some(folder) = parent.and_then(|parent| parent.strip_suffix('/')) else { continue };
        if path.stem() != id {
            continue;
        }
        let file = memory.snapshot()?.file_by_id(candidate.id)?;
        let front = file.and_then(|file| serde_json::from_str(&file.metadata).ok());
        let scope = RecordScope::from_folder(folder, &front.unwrap_or_default());
        return Ok(Some((scope, NoteLocation { project: records_project(), path: path.clone() })));
    }
    Ok(None)
}

/// Returns the folder of a kind in a scope.
pub(super) fn kind_folder(scope: &RecordScope, kind: &str) -> RecordResult<NotePath> {
    Ok(NotePath::parse(&format!("{}/{kind}", scope.folder())).map_err(EngineError::from)?)
}

fn folder_filter(folder: &NotePath) -> ListFilter {
    ListFilter {
        project: Some(records_project()),
        folder: Some(folder.clone()),
        ..ListFilter::default()
    }
}
