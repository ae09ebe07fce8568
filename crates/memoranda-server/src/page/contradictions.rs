//! Contradictions between memories, and the decision which one holds.

use axum::http::StatusCode;
use memoranda_engine::Memory;
use memoranda_engine::contradictions::{
    HoldingStatement, OpposedStatement, SettleOutcome, StatementContradiction,
    find_statement_contradictions, settle_contradiction,
};
use memoranda_engine::records::RecordError;
use serde_json::{Value, json};

use super::history_json::agent_json;
use super::request::PageRequest;
use crate::http_error::HttpError;

/// Returns a part of the pairs of statements that contradict each other.
pub(super) fn contradictions(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let now = request.page.catalog.settings.records.now();
    let project = request.project()?;
    let found = find_statement_contradictions(memory, project.as_ref(), &now);
    let found = found.map_err(record_problem)?;
    let (limit, offset) = (request.limit()?, request.offset()?);
    let shown = found.iter().skip(offset).take(limit);
    let has_more = found.len() > offset + limit;
    Ok(json!({
        "items": shown.map(|pair| pair_json(memory, pair)).collect::<Vec<_>>(),
        "total": found.len(),
        "next": has_more.then(|| (offset + limit).to_string()),
    }))
}

fn pair_json(memory: &Memory, pair: &StatementContradiction) -> Value {
    json!({
        "id": pair.id,
        "why": pair.reason,
        "newer": side_json(memory, &pair.newer),
        "older": side_json(memory, &pair.older),
    })
}

fn side_json(memory: &Memory, side: &OpposedStatement) -> Value {
    // A history that was purged names no writer.
    let blame = memory.blame(&side.place, None).ok();
    let run = blame.and_then(|blame| {
        let mut runs = blame.runs.into_iter();
        match side.line {
            Some(line) => {
                runs.find(|run| (run.first_line..run.first_line + run.lines).contains(&line))
            }
            None => runs.max_by_key(|run| run.commit.time),
        }
    });
    json!({
        "project": side.place.project.as_str(),
        "path": side.place.path.as_str(),
        "title": side.title,
        "line": side.line,
        "category": side.category,
        "text": side.text,
        "time": run.as_ref().map(|run| run.commit.time).or(side.time).map(|time| time.to_string()),
        "agent": run.map(|run| agent_json(&memory.agent_of(&run.commit.author))),
    })
}

/// Marks the statement that does not hold as superseded.
pub(super) fn decide(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let holds = match request.required("holds")? {
        "newer" => HoldingStatement::Newer,
        "older" => HoldingStatement::Older,
        _ => return Err(HttpError::bad_request("holds must be newer or older.")),
    };
    let now = request.page.catalog.settings.records.now();
    let (who, id) = (request.author("decide"), request.required("id")?);
    match settle_contradiction(memory, &who, id, holds, &now).map_err(record_problem)? {
        SettleOutcome::Settled(commit) => {
            Ok(json!({ "commit": commit.map(|commit| commit.id.to_string()) }))
        }
        SettleOutcome::Gone => {
            let message = "One of the two was changed since; nothing was decided. Look again.";
            Err(HttpError::new(StatusCode::CONFLICT, message))
        }
    }
}

/// Converts an error of records.
pub(super) fn record_problem(error: RecordError) -> HttpError {
    match error {
        RecordError::Engine(error) => error.into(),
        other => HttpError::bad_request(format!("{other}.")),
    }
}
