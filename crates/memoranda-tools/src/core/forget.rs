//! `forget`.

use memoranda_engine::forget::{
    ForgetOutcome, ForgetRequest, ForgetTarget, ForgottenMemory, forget,
};
use memoranda_engine::recall::RecalledPassage;
use memoranda_engine::records::{RecordError, single_line};
use serde_json::{Value, json};

use super::arguments;
use super::recall::passage_json;
use crate::registry::{CallContext, INVALID_ARGUMENTS, ToolArgs, ToolError, ToolResult};

/// Number of characters of a memory that an answer repeats.
const SHOWN_CHARS: usize = 120;

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let given = |name: &str| -> Result<Option<String>, ToolError> {
        Ok(args.optional_text(name)?.map(|text| text.trim().to_owned()))
    };
    let target = match (given("id")?, given("name")?, given("query")?) {
        (Some(id), None, None) => {
            // `id@version`, as answers show it, names the memory too.
            ForgetTarget::Id(id.split('@').next().unwrap_or_default().to_owned())
        }
        (None, Some(name), None) => ForgetTarget::Name(name),
        (None, None, Some(query)) => ForgetTarget::Query(query),
        _ => {
            return Err(ToolError::new(
                INVALID_ARGUMENTS,
                "forget needs exactly one of `id`, `name` and `query`. recall shows ids and names. \
                 Nothing was deleted.",
            ));
        }
    };
    let request = ForgetRequest {
        target,
        only: arguments::only_project(call, None)?,
        visible: arguments::scopes(call, args)?,
    };
    let outcome = forget(call.memory, &call.who, &request).map_err(forget_error)?;
    Ok(match outcome {
        ForgetOutcome::Forgotten(forgotten) => forgotten_result(&forgotten),
        ForgetOutcome::Listed(candidates) => listed_result(&candidates),
    })
}

fn forgotten_result(forgotten: &ForgottenMemory) -> ToolResult {
    let commit = forgotten.commit.as_ref().map(|commit| commit.id.to_string());
    let shown = single_line(&forgotten.text, SHOWN_CHARS);
    let mut text = format!("Forgot: {shown} ({})", forgotten.place);
    if let Some(commit) = &commit {
        text.push_str(&format!(
            "\nThe person can bring it back: `memoranda undo {commit}`. Commit {commit}."
        ));
    }
    let still: Vec<String> = forgotten.still_told.iter().map(ToString::to_string).collect();
    if !still.is_empty() {
        text.push_str(&format!("\nThe same is still told by {}.", still.join(", ")));
    }
    let structured = json!({
        "forgotten": true,
        "id": forgotten.id,
        "path": forgotten.place.to_string(),
        "commit": commit,
        "still_told_by": still,
    });
    ToolResult::ok(text, structured)
}

/// Lists the memories that fit, with the call that forgets each.
fn listed_result(candidates: &[RecalledPassage]) -> ToolResult {
    let mut text = match candidates {
        [] => "Nothing fits; nothing was deleted.".to_owned(),
        [_] => "This fits; nothing was deleted. To forget it:".to_owned(),
        several => format!("{} memories fit; nothing was deleted. To forget one:", several.len()),
    };
    let mut listed: Vec<Value> = Vec::new();
    for passage in candidates {
        let place = passage.places.first().map(ToString::to_string).unwrap_or_default();
        let target = match &passage.id {
            Some(id) => json!({ "id": id }),
            None => json!({ "name": place }),
        };
        let shown = single_line(&passage.text, SHOWN_CHARS);
        let whole = if passage.id.is_some() { "" } else { " (the whole note)" };
        text.push_str(&format!("\n- {shown} → forget {target}{whole}"));
        if passage.places.len() > 1 {
            let others: Vec<String> =
                passage.places.iter().skip(1).map(ToString::to_string).collect();
            text.push_str(&format!("; told by {} too", others.join(", ")));
        }
        listed.push(passage_json(passage));
    }
    let structured = json!({ "forgotten": false, "count": listed.len(), "candidates": listed });
    ToolResult::ok(text, structured)
}

fn forget_error(error: RecordError) -> ToolError {
    match error {
        RecordError::NotFound { id, is_deleted } => {
            let hint = if is_deleted {
                "It was forgotten already."
            } else {
                "recall shows ids; `name` takes the title or path of a note."
            };
            ToolError::new("MEMORY_NOT_FOUND", format!("No memory has the id {id}. {hint}"))
        }
        other => arguments::record_error(other),
    }
}
