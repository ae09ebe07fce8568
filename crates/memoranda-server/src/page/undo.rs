//! Undo, its preview, and redo.

use axum::http::StatusCode;
use memoranda_engine::core::change::Commit;
use memoranda_engine::{NoteLocation, UndoOutcome, UndoSelection, UndoSetOutcome};
use serde_json::{Value, json};

use super::history_json::{diff_json, entry_json};
use super::request::{PageRequest, place_json};
use crate::http_error::HttpError;

/// Maximum number of files whose differences are sent.
const MAX_DIFFS: usize = 100;

/// Returns what an undo would do.
pub(super) fn preview(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let plan = memory.plan_undo(&selection(request)?)?;
    let commits = memory.ledger_entries(&plan.commits)?;
    let diffs = memory.plan_diffs(&plan, MAX_DIFFS)?;
    let mut files = Vec::new();
    for diff in &diffs {
        request.check_shown(&diff.place.project)?;
        let known = memory.snapshot()?.file(&diff.place.project, &diff.place.path);
        let known = known.map_err(memoranda_engine::EngineError::from)?;
        files.push(diff_json(diff, &known.map(|file| file.title).unwrap_or_default()));
    }
    let why_not = if !plan.changed_since.is_empty() {
        Some("Something was changed since.")
    } else if plan.commits.is_empty() || plan.files.is_empty() {
        Some("There is nothing to undo.")
    } else if request.write_refusal().is_some() {
        Some("This server is read-only.")
    } else {
        None
    };
    let skipped = plan.skipped.iter();
    let skipped = skipped.map(|skip| json!({ "commit": skip.commit.id.as_str(), "why": skip.why }));
    Ok(json!({
        "commits": commits.iter().map(entry_json).collect::<Vec<_>>(),
        "files": files,
        "file_count": plan.files.len(),
        "changed_since": plan.changed_since.iter().map(place_json).collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "can_undo": why_not.is_none(),
        "why_not": why_not,
    }))
}

/// Undoes commits.
pub(super) fn undo(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let selection = selection(request)?;
    if request.only_project()?.is_some() {
        for file in memory.plan_undo(&selection)?.files {
            request.check_shown(&file.to.project)?;
        }
    }
    match memory.undo_set(&request.author("undo"), &selection)? {
        UndoSetOutcome::Undone { undone, commit } => {
            let mut answer = done(request, &commit)?;
            answer["undone"] =
                json!(undone.iter().map(|commit| commit.id.to_string()).collect::<Vec<_>>());
            Ok(answer)
        }
        UndoSetOutcome::ChangedSince(places) => Err(changed_since(&places)),
        UndoSetOutcome::Unchanged => Err(nothing_to_do("There is nothing to undo.")),
    }
}

/// Makes the commit again that was undone last.
pub(super) fn redo(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let step = memory
        .next_redo(request.project()?.as_ref())?
        .ok_or_else(|| nothing_to_do("There is nothing to redo: no undo since the last write."))?;
    match memory.redo(&request.author("redo"), step)? {
        UndoOutcome::Undone(redone) => done(request, &redone.commit),
        UndoOutcome::ChangedSince(places) => Err(changed_since(&places)),
        UndoOutcome::Unchanged => Err(nothing_to_do("Everything is as it was already.")),
    }
}

fn done(request: &PageRequest<'_>, commit: &Commit) -> Result<Value, HttpError> {
    let entry = request.vault().ledger_entries(std::slice::from_ref(commit))?;
    Ok(json!({ "commit": commit.id.as_str(), "entry": entry.first().map(entry_json) }))
}

fn selection(request: &PageRequest<'_>) -> Result<UndoSelection, HttpError> {
    if let Some(id) = request.text("conversation") {
        return Ok(UndoSelection::Conversation(id.to_owned()));
    }
    let ids = request.body.get("commits").and_then(Value::as_array);
    let ids: Option<Vec<String>> =
        ids.map(|ids| ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect());
    match ids {
        Some(ids) if !ids.is_empty() => Ok(UndoSelection::Commits(ids)),
        _ => Err(HttpError::bad_request("commits or conversation is missing.")),
    }
}

fn changed_since(places: &[NoteLocation]) -> HttpError {
    let names: Vec<String> = places.iter().take(3).map(ToString::to_string).collect();
    let message = format!("{} was changed since; nothing was done.", names.join(", "));
    HttpError::coded(StatusCode::CONFLICT, "changed-since", message)
        .with("changed_since", places.iter().map(place_json).collect::<Vec<_>>())
}

fn nothing_to_do(message: &str) -> HttpError {
    HttpError::coded(StatusCode::CONFLICT, "nothing-to-do", message)
}
