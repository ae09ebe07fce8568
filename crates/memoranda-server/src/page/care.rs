//! Care: checks of the vault, and lists of what a person may want to look after.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use memoranda_clients::doctor::{doctor_checks, run_doctor};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::secrets::find_secrets;
use memoranda_engine::{
    EngineError, ListFilter, ListOrder, Memory, NoteLocation, WorkItem, WorkList, clock,
};
use serde_json::{Value, json};

use super::request::PageRequest;
use crate::http_error::HttpError;

/// Age after which a note that nobody read is stale.
const STALE_AGE: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Maximum number of notes that are searched for secrets.
const MAX_SCREENED: usize = 20_000;

/// Names of the lists.
const LISTS: [&str; 6] = ["stale", "duplicates", "orphans", "dead_links", "secrets", "unreadable"];

/// Returns the checks, and the lengths of the lists.
pub(super) fn care(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let project = request.project()?;
    let begun = Instant::now();
    let checks = match &request.page.services {
        Some(_) if request.is_set("doctor") && request.team.is_none() => full_checks(memory)?,
        _ => quick_checks(memory)?,
    };
    let mut lists = Vec::new();
    for name in LISTS {
        // Secrets are counted when their list is opened: all texts must be read.
        let count = if name == "secrets" {
            None
        } else {
            Some(list(memory, name, project.as_ref(), (0, 0))?.1)
        };
        lists.push(json!({ "name": name, "count": count }));
    }
    Ok(json!({
        "checks": checks,
        "checked": clock::now().to_string(),
        "took_ms": u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        "lists": lists,
    }))
}

/// Returns the checks of `memoranda doctor`.
fn full_checks(memory: &Memory) -> Result<Value, HttpError> {
    let report = run_doctor(memory)?;
    let mut checks = Vec::new();
    let mut add = |name: &str, passed: &str, failed: &str, found: &[String]| {
        let ok = found.is_empty();
        let detail = if ok { passed.to_owned() } else { format!("{failed}: {}", found.join(", ")) };
        let level = if ok { "ok" } else { "error" };
        checks.push(json!({ "name": name, "ok": ok, "level": level, "detail": detail }));
    };
    for check in doctor_checks(&report) {
        let failed = match check.remedy {
            Some(remedy) => format!("{} ({remedy})", check.failed),
            None => check.failed.to_owned(),
        };
        add(check.name, &check.passed, &failed, &check.found);
    }
    let unavailable: Vec<String> = report
        .check
        .unavailable
        .iter()
        .map(|(project, reason)| format!("{project}: {reason}"))
        .collect();
    let passed = "the folder of every project can be reached";
    add("folders", passed, "folders that cannot be reached", &unavailable);
    Ok(Value::from(checks))
}

/// Returns checks that read no file.
fn quick_checks(memory: &Memory) -> Result<Value, HttpError> {
    let status = memory.status()?;
    let mut checks = Vec::new();
    let mut check = |name: &str, ok: bool, detail: String| {
        let level = if ok { "ok" } else { "warning" };
        checks.push(json!({ "name": name, "ok": ok, "level": level, "detail": detail }));
    };
    let absent: Vec<String> = status
        .projects
        .iter()
        .filter(|info| !info.project.path.is_dir() || memory.reach_project(&info.project).is_err())
        .map(|info| info.project.name.to_string())
        .collect();
    let folders = if absent.is_empty() {
        "the folder of every project can be reached".to_owned()
    } else {
        format!("folders that cannot be reached: {}", absent.join(", "))
    };
    check("folders", absent.is_empty(), folders);
    check("index", status.indexed, format!("the index has {} notes", status.counts.notes));
    let watched = if status.watched {
        "edits by hand are noticed as they happen"
    } else {
        "nobody watches the files: edits by hand are noticed by the next scan"
    };
    check("watcher", status.watched, watched.to_owned());
    let problems = memory.snapshot()?.problems().map_err(EngineError::from)?;
    let count = problems.len();
    let notes = match count {
        0 => "every note can be read".to_owned(),
        1 => "1 note has a problem".to_owned(),
        _ => format!("{count} notes have a problem"),
    };
    check("notes", count == 0, notes);
    Ok(Value::Array(checks))
}

/// Returns a part of a list.
pub(super) fn work_list(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let name = request.required("name")?;
    let project = request.project()?;
    let (limit, offset) = (request.limit()?, request.offset()?);
    let (items, total) = list(memory, name, project.as_ref(), (limit, offset))?;
    let has_more = total > (offset + limit) as u64;
    Ok(json!({
        "items": items,
        "total": total,
        "next": has_more.then(|| (offset + limit).to_string()),
    }))
}

fn list(
    memory: &Memory,
    name: &str,
    project: Option<&ProjectName>,
    (limit, offset): (usize, usize),
) -> Result<(Vec<Value>, u64), HttpError> {
    let stored = |list: WorkList| {
        let found = memory.snapshot()?.work_list(list, project, (limit, offset));
        let (items, total) = found.map_err(EngineError::from)?;
        Ok((items.iter().map(item_json).collect(), total))
    };
    match name {
        "dead_links" => stored(WorkList::DeadLinks),
        "orphans" => stored(WorkList::Orphans),
        "duplicates" => stored(WorkList::Duplicates),
        "stale" => stale(memory, project, (limit, offset)),
        "secrets" => secrets(memory, project, (limit, offset)),
        "unreadable" => unreadable(memory, project, (limit, offset)),
        _ => Err(HttpError::bad_request(format!("name must be one of {}.", LISTS.join(", ")))),
    }
}

fn item_json(item: &WorkItem) -> Value {
    json!({
        "project": item.project.as_str(),
        "path": item.path.as_str(),
        "title": item.title,
        "line": item.line,
        "detail": item.detail,
        "updated": item.updated.to_string(),
    })
}

/// Returns notes that were neither changed nor read for a long time, the oldest first.
fn stale(
    memory: &Memory,
    project: Option<&ProjectName>,
    (limit, offset): (usize, usize),
) -> Result<(Vec<Value>, u64), HttpError> {
    let since = clock::now().saturating_sub(STALE_AGE).unwrap_or(Timestamp::UNIX_EPOCH);
    let list = WorkList::NotChangedSince(since);
    let (items, _) = memory
        .snapshot()?
        .work_list(list, project, (usize::MAX >> 1, 0))
        .map_err(EngineError::from)?;
    let uses = memory.last_uses()?;
    let last_use =
        |item: &WorkItem| uses.get(&NoteLocation::new(&item.project, item.path.clone())).copied();
    let unread: Vec<&WorkItem> =
        items.iter().filter(|item| last_use(item).is_none_or(|time| time < since)).collect();
    let shown = unread.iter().skip(offset).take(limit).map(|item| {
        let mut json = item_json(item);
        json["last_read"] = json!(last_use(item).map(|time| time.to_string()));
        json
    });
    Ok((shown.collect(), unread.len() as u64))
}

/// Returns notes that contain secrets. The secrets themselves are not sent.
fn secrets(
    memory: &Memory,
    project: Option<&ProjectName>,
    (limit, offset): (usize, usize),
) -> Result<(Vec<Value>, u64), HttpError> {
    if limit == 0 {
        return Ok((Vec::new(), 0));
    }
    let filter = ListFilter { project: project.cloned(), ..ListFilter::default() };
    let files = memory.snapshot()?.list(&filter, ListOrder::Newest, MAX_SCREENED, 0)?;
    let mut found = Vec::new();
    for file in &files {
        let Ok(Some(content)) = memory.read_file(&NoteLocation::from(file)) else { continue };
        let Ok(text) = std::str::from_utf8(&content.bytes) else { continue };
        for secret in find_secrets(text) {
            found.push(json!({
                "project": file.project.as_str(),
                "path": file.path.as_str(),
                "title": file.title,
                "line": secret.line,
                "detail": secret.kind,
                "updated": file.updated.to_string(),
            }));
        }
    }
    let total = found.len() as u64;
    Ok((found.into_iter().skip(offset).take(limit).collect(), total))
}

/// Returns notes that could not be read as a whole.
fn unreadable(
    memory: &Memory,
    project: Option<&ProjectName>,
    (limit, offset): (usize, usize),
) -> Result<(Vec<Value>, u64), HttpError> {
    let problems = memory.snapshot()?.problems().map_err(EngineError::from)?;
    let mut found = Vec::new();
    for file in problems.iter().filter(|file| project.is_none_or(|only| file.project == *only)) {
        for problem in &file.problems {
            found.push(json!({
                "project": file.project.as_str(),
                "path": file.path.as_str(),
                "title": file.path.stem(),
                "line": problem.line,
                "detail": problem.message,
            }));
        }
    }
    let total = found.len() as u64;
    Ok((found.into_iter().skip(offset).take(limit).collect(), total))
}
