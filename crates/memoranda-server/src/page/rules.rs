//! Rules by scope, now or at a moment, with the files that they become; reminders.

use memoranda_clients::rules::{RuleFileForm, generated_files};
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::records::{
    MemoryRecord, RecordKind, RecordScope, Reminder, VisibleScopes, acknowledge_reminder,
    active_rules, known_scopes, list_reminders, record_of_version, records_project,
};
use memoranda_engine::{Memory, PointInTime};
use serde_json::{Value, json};

use super::contradictions::record_problem;
use super::request::PageRequest;
use crate::http_error::HttpError;

/// Returns the rules of each scope.
pub(super) fn rules(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let project = records_project();
    let mut scopes: Vec<(RecordScope, Vec<MemoryRecord>)> = Vec::new();
    if request.may_show(&project)? && has_project(memory, &project)? {
        let now = request.page.catalog.settings.records.now();
        for scope in known_scopes(memory).map_err(record_problem)? {
            let rules = active_rules(memory, &scope, &now).map_err(record_problem)?;
            scopes.push((scope, rules));
        }
        if let Some(moment) = request.moment("at")? {
            as_of(memory, moment, &mut scopes)?;
        }
    }
    let scope = |(scope, rules): &(RecordScope, Vec<MemoryRecord>)| {
        let name = scope.name();
        let title = if *scope == RecordScope::Global { "Every repository" } else { name };
        let rules = rules.iter().map(rule_json).collect::<Vec<_>>();
        json!({ "scope": name, "title": title, "rules": rules })
    };
    let scopes = scopes.iter().filter(|(_, rules)| !rules.is_empty());
    Ok(json!({ "scopes": scopes.map(scope).collect::<Vec<_>>() }))
}

/// Replaces the rules of the present by those of a moment.
fn as_of(
    memory: &Memory,
    moment: PointInTime,
    scopes: &mut Vec<(RecordScope, Vec<MemoryRecord>)>,
) -> Result<(), HttpError> {
    let time = memory.moment_time(moment)?;
    let past = memory.versions_at([records_project()], moment)?;
    for (_, rules) in scopes.iter_mut() {
        rules.retain(|rule| past.is_unchanged(&rule.place));
    }
    for version in &past.files {
        let text = version.text(memory);
        let record = text.and_then(|text| record_of_version(&version.place, &text, time));
        let in_force = |record: &MemoryRecord| {
            record.kind == RecordKind::Rule && record.superseded_by.is_none()
        };
        let Some(record) = record.filter(in_force) else { continue };
        match scopes.iter_mut().find(|(scope, _)| *scope == record.scope) {
            Some((_, rules)) => rules.push(record),
            None => scopes.push((record.scope.clone(), vec![record])),
        }
    }
    Ok(())
}

fn rule_json(rule: &MemoryRecord) -> Value {
    json!({
        "project": rule.place.project.as_str(),
        "path": rule.place.path.as_str(),
        "text": rule.content.trim(),
        "updated": rule.updated.to_string(),
        "paths": rule.paths,
        "tags": rule.tags,
    })
}

/// Returns the files that the rules of a scope become.
pub(super) fn rule_files(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    request.check_shown(&records_project())?;
    let name = request.required("scope")?;
    let scopes = known_scopes(memory).map_err(record_problem)?;
    let scope = scopes.into_iter().find(|scope| scope.name() == name);
    let scope = scope.ok_or_else(|| HttpError::not_found(format!("There is no scope {name}.")))?;
    let files = generated_files(memory, &scope, &request.page.catalog.settings.records.now())?;
    let files = files.iter().map(|file| {
        json!({
            "target": file.target.name,
            "path": file.path,
            "text": file.text,
            "block": file.target.form == RuleFileForm::Block,
        })
    });
    Ok(json!({ "scope": name, "files": files.collect::<Vec<_>>() }))
}

/// Returns the reminders of all scopes, due ones first.
pub(super) fn reminders(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let items = all_reminders(request)?;
    Ok(json!({ "items": items.iter().map(reminder_json).collect::<Vec<_>>() }))
}

/// Marks a reminder as done.
pub(super) fn end_reminder(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    request.check_shown(&records_project())?;
    let zone = &request.page.catalog.settings.records.zone;
    let (who, id) = (request.author("done"), request.required("id")?);
    let commit = acknowledge_reminder(memory, &who, id, zone).map_err(record_problem)?;
    Ok(json!({ "commit": commit.map(|commit| commit.id.to_string()) }))
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
    for scope in known_scopes(memory).map_err(record_problem)? {
        let listed = list_reminders(memory, &VisibleScopes::only(scope), zone);
        found.extend(listed.map_err(record_problem)?);
    }
    found.sort_by_key(|reminder| (reminder.due.is_none(), reminder.next));
    Ok(found)
}

fn has_project(memory: &Memory, project: &ProjectName) -> Result<bool, HttpError> {
    Ok(memory.list_projects()?.iter().any(|known| known.name == *project))
}

fn reminder_json(reminder: &Reminder) -> Value {
    let due = reminder.due.as_ref().map(|due| due.since).or(reminder.next);
    json!({
        "project": reminder.place.project.as_str(),
        "path": reminder.place.path.as_str(),
        "id": reminder.id,
        "text": reminder.message,
        "scope": reminder.scope.name(),
        "due": due.map(|time| time.to_string()),
        "next": reminder.next.map(|time| time.to_string()),
        "repeats": reminder.cron,
        "enabled": reminder.enabled,
        "done": !reminder.enabled,
        "overdue": reminder.due.is_some(),
        "problem": reminder.problem,
    })
}
