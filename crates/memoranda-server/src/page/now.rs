//! Now: changes since the person's last visit, and activity by day.

use jiff::{SignedDuration, Timestamp};
use memoranda_engine::core::id::CommitId;
use memoranda_engine::{HistoryFilter, LedgerEntry, LedgerFilter, PointInTime, clock};
use serde_json::{Value, json};

use super::history_json::{agent_json, entry_json};
use super::request::PageRequest;
use super::rules;
use crate::http_error::HttpError;

/// Maximum number of commits that are counted.
const MAX_COUNTED: usize = 2_000;

/// Returns the changes since a commit or a time, grouped by conversation, the newest first.
pub(super) fn now(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let limit = request.limit()?;
    let mut filter = LedgerFilter {
        history: HistoryFilter {
            project: request.project()?,
            before: request.cursor()?,
            ..HistoryFilter::default()
        },
        agent: request.text("agent").map(str::to_owned),
        ..LedgerFilter::default()
    };
    let (since, after) = match request.moment("since") {
        Ok(Some(PointInTime::Commit(id))) => (memory.commit(id.as_str())?.time, Some(id)),
        Ok(Some(PointInTime::Time(time))) => (time, None),
        // A commit that was purged: the last day is shown.
        Ok(None) | Err(_) => (yesterday(), None),
    };
    filter.history.since = Some(since);
    filter.after = after;
    let total = {
        let all = LedgerFilter {
            history: HistoryFilter { before: None, ..filter.history.clone() },
            ..filter.clone()
        };
        memory.ledger_count(&all, MAX_COUNTED)?
    };
    if total == 0 && request.text("since").is_none() {
        filter.history.since = None;
    }
    let page = memory.ledger(&filter, limit)?;
    let head = memory.log(&HistoryFilter::default(), 1, 0)?.into_iter().next();
    Ok(json!({
        "since": { "commit": after.map(|id: CommitId| id.to_string()), "time": since.to_string() },
        "head": head.map(|commit| commit.id.to_string()),
        "total": total,
        "groups": groups(&page.entries),
        "next": page.next.map(|id| id.to_string()),
        "due": rules::due(request),
    }))
}

/// Groups entries by conversation, in the order of their newest entries.
fn groups(entries: &[LedgerEntry]) -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&LedgerEntry>)> = Vec::new();
    for entry in entries {
        match groups.iter_mut().find(|(id, _)| *id == entry.conversation) {
            Some((_, known)) => known.push(entry),
            None => groups.push((&entry.conversation, vec![entry])),
        }
    }
    let group = |(id, entries): &(&str, Vec<&LedgerEntry>)| {
        let newest = entries.first()?;
        let oldest = entries.last()?;
        let mut projects: Vec<&str> = Vec::new();
        for file in entries.iter().flat_map(|entry| &entry.files) {
            if !projects.contains(&file.place.project.as_str()) {
                projects.push(file.place.project.as_str());
            }
        }
        Some(json!({
            "agent": agent_json(&newest.agent),
            "conversation": id,
            "title": projects.join(", "),
            "projects": projects,
            "first": oldest.commit.time.to_string(),
            "last": newest.commit.time.to_string(),
            "channel": newest.commit.author.channel.as_str(),
            "entries": entries.iter().map(|entry| entry_json(entry)).collect::<Vec<_>>(),
        }))
    };
    groups.iter().filter_map(group).collect()
}

fn yesterday() -> Timestamp {
    clock::now().saturating_sub(SignedDuration::from_hours(24)).unwrap_or_default()
}

/// Returns the number of writes by day and agent.
pub(super) fn activity(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let days = request.number("days", 182, 3660)?;
    let activity = request.memory().activity(days, request.project()?.as_ref())?;
    let agents = activity.agents.iter().map(|agent| {
        json!({
            "agent": agent_json(&agent.agent),
            "clients": agent.clients,
            "total": agent.total,
            "last": agent.last.to_string(),
            "counts": agent.days,
        })
    });
    Ok(json!({
        "from": activity.from.to_string(),
        "to": activity.to.to_string(),
        "days": days,
        "agents": agents.collect::<Vec<_>>(),
    }))
}
