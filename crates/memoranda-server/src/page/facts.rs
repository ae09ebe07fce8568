//! Facts with their versions, rules by scope, and reminders.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::note::{self, Observation};
use memoranda_engine::records::{
    RecordError, RecordScope, Reminder, VisibleScopes, list_reminders, records_project,
};
use memoranda_engine::{EngineError, FactFilter, ListFilter, ListOrder, Memory, NoteLocation};
use serde_json::{Value, json};

use super::request::PageRequest;
use super::tree_json::fact_json;
use crate::http_error::HttpError;

/// Maximum number of rules that are listed.
const MAX_RULES: usize = 1_000;

/// Returns facts in force, each with its earlier versions.
pub(super) fn facts(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let filter = FactFilter {
        project: request.project()?,
        category: request.text("category").map(str::to_owned),
        text: request.text("q").map(str::to_owned),
    };
    let (limit, offset) = (request.limit()?, request.offset()?);
    let found =
        memory.snapshot()?.fact_list(&filter, (limit + 1, offset)).map_err(EngineError::from)?;
    let has_more = found.len() > limit;
    let mut items = Vec::new();
    let mut last: Option<(NoteLocation, Vec<Observation>)> = None;
    for row in found.into_iter().take(limit) {
        let place = NoteLocation { project: row.project, path: row.path };
        if last.as_ref().is_none_or(|(known, _)| *known != place) {
            let read = memory.read_at(&place)?;
            let observations = note::parse(&read.lossy_text()).observations;
            last = Some((place.clone(), observations));
        }
        let observations = last.as_ref().map(|(_, facts)| facts.as_slice()).unwrap_or_default();
        let Some(fact) = observations.iter().find(|fact| Some(fact.line) == row.line) else {
            continue;
        };
        items.push(json!({
            "project": place.project.as_str(),
            "path": place.path.as_str(),
            "title": row.title,
            "line": fact.line,
            "fact": fact_json(fact),
            "versions": versions(fact, observations),
        }));
    }
    Ok(json!({ "items": items, "next": has_more.then(|| (offset + limit).to_string()) }))
}

/// Returns a fact and those that it replaced, the newest first.
fn versions(fact: &Observation, all: &[Observation]) -> Vec<Value> {
    let version = |fact: &Observation| {
        json!({
            "text": fact.text,
            "time": fact.meta.as_ref().and_then(|meta| meta.time).map(|time| time.to_string()),
            "version": fact.meta.as_ref().map_or(1, |meta| meta.version),
            "struck": fact.struck,
        })
    };
    let mut versions = vec![version(fact)];
    let mut current = fact;
    while versions.len() <= all.len() {
        let Some(id) = current.meta.as_ref().map(|meta| &meta.id) else { break };
        let is_before = |older: &&Observation| {
            older.meta.as_ref().is_some_and(|meta| meta.superseded_by.as_ref() == Some(id))
        };
        let Some(older) = all.iter().find(is_before) else { break };
        versions.push(version(older));
        current = older;
    }
    versions
}

/// Returns the rules of each scope.
pub(super) fn rules(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let mut scopes: Vec<(String, Vec<Value>)> = Vec::new();
    let project = records_project();
    if request.may_show(&project)? {
        let filter = ListFilter {
            project: Some(project),
            note_type: Some("rule".to_owned()),
            ..ListFilter::default()
        };
        let files = memory.snapshot()?.list(&filter, ListOrder::Path, MAX_RULES, 0);
        let files = files.map_err(EngineError::from)?;
        let ids: Vec<i64> = files.iter().map(|file| file.id).collect();
        let bodies = memory.snapshot()?.bodies(&ids).map_err(EngineError::from)?;
        for (file, body) in files.iter().zip(bodies) {
            let scope = scope_of(file.path.as_str());
            let place = NoteLocation { project: file.project.clone(), path: file.path.clone() };
            let text = match body {
                Some(body) => body,
                None => memory.read_at(&place)?.lossy_text().into_owned(),
            };
            let rule = json!({
                "project": file.project.as_str(),
                "path": file.path.as_str(),
                "text": text.trim(),
                "updated": file.updated.to_string(),
            });
            match scopes.iter_mut().find(|(known, _)| *known == scope) {
                Some((_, rules)) => rules.push(rule),
                None => scopes.push((scope, vec![rule])),
            }
        }
    }
    let scope = |(scope, rules): &(String, Vec<Value>)| {
        let title = if scope == "global" { "Everywhere" } else { scope };
        json!({ "scope": scope, "title": title, "file": null, "rules": rules })
    };
    Ok(json!({ "scopes": scopes.iter().map(scope).collect::<Vec<_>>() }))
}

/// Returns the scope of a record's path: `global`, or the folder of a project.
fn scope_of(path: &str) -> String {
    let mut parts = path.split('/');
    match (parts.next(), parts.next()) {
        (Some("projects"), Some(name)) => name.to_owned(),
        _ => "global".to_owned(),
    }
}

/// Returns the reminders of all scopes, due ones first.
pub(super) fn reminders(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let items = all_reminders(request)?;
    Ok(json!({ "items": items.iter().map(reminder_json).collect::<Vec<_>>() }))
}

/// Returns the due reminders, for the front page.
pub(super) fn due(request: &PageRequest<'_>) -> Vec<Value> {
    let found = all_reminders(request).unwrap_or_default();
    found.iter().filter(|reminder| reminder.due.is_some()).map(reminder_json).collect()
}

fn all_reminders(request: &PageRequest<'_>) -> Result<Vec<Reminder>, HttpError> {
    let memory = request.memory();
    let project = records_project();
    let mut found = Vec::new();
    if !request.may_show(&project)? || !has_project(memory, &project)? {
        return Ok(found);
    }
    let zone = &request.page.catalog.settings.records.zone;
    let folders = memory.snapshot()?.folder_files(&project, None).map_err(EngineError::from)?;
    let mut scopes: Vec<RecordScope> = vec![RecordScope::Global];
    for folder in folders {
        let name = folder.folder.strip_prefix("projects/").and_then(|rest| rest.split('/').next());
        let scope = name.and_then(RecordScope::project);
        scopes.extend(scope.filter(|scope| !scopes.contains(scope)));
    }
    for scope in scopes {
        let listed = list_reminders(memory, &VisibleScopes::only(scope), zone);
        found.extend(
            listed.map_err(|error: RecordError| HttpError::bad_request(format!("{error}.")))?,
        );
    }
    found.sort_by_key(|reminder| (reminder.due.is_none(), reminder.next));
    Ok(found)
}

fn has_project(memory: &Memory, project: &ProjectName) -> Result<bool, HttpError> {
    let projects = memory.list_projects()?;
    Ok(projects.iter().any(|known| known.name == *project))
}

fn reminder_json(reminder: &Reminder) -> Value {
    let due = reminder.due.as_ref().map(|due| due.since).or(reminder.next);
    json!({
        "project": reminder.place.project.as_str(),
        "path": reminder.place.path.as_str(),
        "id": reminder.id,
        "text": reminder.message,
        "due": due.map(|time| time.to_string()),
        "next": reminder.next.map(|time| time.to_string()),
        "repeats": reminder.cron,
        "enabled": reminder.enabled,
        "done": !reminder.enabled,
        "overdue": reminder.due.is_some(),
        "problem": reminder.problem,
    })
}
