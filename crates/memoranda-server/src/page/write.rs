//! Changes of notes: save with conflict detection, delete, restore, move.

use axum::http::StatusCode;
use memoranda_engine::core::change::Commit;
use memoranda_engine::core::merge::MergeRegion;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{
    DeleteOutcome, DeleteRequest, MergeConflict, MergeSaveRequest, MoveOutcome, MoveRequest,
    RestoreOutcome, SaveMerging, SaveOutcome,
};
use serde_json::{Value, json};

use super::history_json::entry_json;
use super::request::{PageRequest, place_json};
use crate::http_error::HttpError;

/// Saves a note, if it is still the version that the text began as.
pub(super) fn save(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let text = request.body.get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| HttpError::bad_request("text is missing."))?;
    let merging =
        if request.is_set("merge") { SaveMerging::WriteIfClean } else { SaveMerging::Report };
    let save = MergeSaveRequest {
        place: place.clone(),
        text: text.to_owned(),
        expected: request.expected()?,
        merging,
        message: request.text("message").map(str::to_owned),
    };
    let answer = |hash: String, commit: Option<&Commit>| {
        json!({
            "saved": true,
            "project": place.project.as_str(),
            "path": place.path.as_str(),
            "hash": hash,
            "commit": commit.map(|commit| commit.id.to_string()),
            "merged": false,
        })
    };
    match memory.save(&request.author("edit"), &save)? {
        SaveOutcome::Saved(written) => Ok(answer(written.hash.to_string(), Some(&written.commit))),
        SaveOutcome::Merged(written, text) => {
            let mut answer = answer(written.hash.to_string(), Some(&written.commit));
            answer["merged"] = json!(true);
            answer["text"] = json!(text);
            Ok(answer)
        }
        SaveOutcome::Unchanged(hash) => Ok(answer(hash.to_string(), None)),
        SaveOutcome::Conflict(conflict) => Err(conflict_problem(request, text, &conflict)?),
    }
}

fn conflict_problem(
    request: &PageRequest<'_>,
    yours: &str,
    conflict: &MergeConflict,
) -> Result<HttpError, HttpError> {
    let regions = conflict.merge.regions.iter().map(|region| match region {
        MergeRegion::Same(text) => json!({ "kind": "same", "text": text }),
        MergeRegion::Yours(text) => json!({ "kind": "yours", "text": text }),
        MergeRegion::Theirs(text) => json!({ "kind": "theirs", "text": text }),
        MergeRegion::Both(text) => json!({ "kind": "both", "text": text }),
        MergeRegion::Conflict { base, yours, theirs, proposal } => json!({
            "kind": "conflict", "base": base, "yours": yours, "theirs": theirs,
            "proposal": proposal,
        }),
    });
    let commit = conflict.theirs_commit.as_slice();
    let entry = request.vault().ledger_entries(commit)?;
    let message = match &conflict.theirs {
        Some(_) => "The note was changed since you began to edit; nothing was saved.",
        None => "The note was deleted since you began to edit; nothing was saved.",
    };
    Ok(HttpError::coded(StatusCode::CONFLICT, "conflict", message)
        .with("base", json!(conflict.base))
        .with("yours", yours)
        .with("theirs", json!(conflict.theirs))
        .with("theirs_hash", json!(conflict.theirs_hash.map(|hash| hash.to_string())))
        .with("theirs_entry", json!(entry.first().map(entry_json)))
        .with("merged", json!(conflict.merge.proposal()))
        .with("clean", conflict.merge.is_clean())
        .with("regions", regions.collect::<Vec<_>>()))
}

/// Deletes a note.
pub(super) fn delete(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let expected = request.expected()?;
    match memory.delete(&request.author("delete"), &DeleteRequest { place, expected })? {
        DeleteOutcome::Deleted(deleted) => Ok(json!({
            "commit": deleted.commit.map(|commit| commit.id.to_string()),
            "files": deleted.files.iter().map(place_json).collect::<Vec<_>>(),
        })),
        DeleteOutcome::Conflict(_, found) => {
            let message = "The note was changed since; nothing was deleted.";
            Err(HttpError::coded(StatusCode::CONFLICT, "conflict", message)
                .with("theirs_hash", json!(found.map(|hash| hash.to_string()))))
        }
    }
}

/// Brings back a deleted note, or an earlier version.
pub(super) fn restore(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let place = request.place()?;
    let moment = match request.moment("at")? {
        Some(moment) => Some(moment),
        None => request.moment("commit")?,
    };
    let project = Some(place.project.as_str());
    match memory.restore(&request.author("restore"), project, place.path.as_str(), moment)? {
        RestoreOutcome::Restored(restored) => Ok(json!({
            "project": restored.place.project.as_str(),
            "path": restored.place.path.as_str(),
            "hash": restored.hash.to_string(),
            "commit": restored.commit.id.as_str(),
        })),
        RestoreOutcome::Unchanged(..) => {
            let message = "The note is as it was then already.";
            Err(HttpError::coded(StatusCode::CONFLICT, "nothing-to-do", message))
        }
    }
}

/// Moves a note within its project.
pub(super) fn move_note(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let from = request.place()?;
    let to = NotePath::parse(request.required("to")?)
        .map_err(|error| HttpError::bad_request(format!("to: {error}.")))?;
    let project = from.project.clone();
    match memory.move_notes(&request.author("move"), &MoveRequest::new(from, to.clone()))? {
        MoveOutcome::Moved(moved) => Ok(json!({
            "project": project.as_str(),
            "path": to.as_str(),
            "commit": moved.commit.map(|commit| commit.id.to_string()),
        })),
        MoveOutcome::Exists(_) | MoveOutcome::Conflict(..) => {
            let message = format!("There is a file at {to} already; nothing was moved.");
            Err(HttpError::coded(StatusCode::CONFLICT, "exists", message))
        }
    }
}
