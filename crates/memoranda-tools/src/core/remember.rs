//! `remember`.

use memoranda_core::statement::{StatementScope, guess_statement};
use memoranda_engine::records::{RecordScope, single_line};
use memoranda_engine::remember::{
    MAX_STATEMENT_CHARS, RecordReference, RememberEffect, RememberError, RememberRequest,
    RememberedStatement, ScopeOrigin, remember,
};
use serde_json::{Value, json};

use super::arguments;
use crate::records::{SecretScreen, visible_scopes};
use crate::registry::{CallContext, ToolArgs, ToolError, ToolResult};
use crate::settings::ToolSettings;

/// Number of characters of a statement that an answer repeats.
const SHOWN_CHARS: usize = 120;

pub(super) fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let mut content = args.optional_text("content")?.unwrap_or_default();
    let mut tags = args.texts("tags")?.unwrap_or_default();
    let mut screen = SecretScreen::new(call);
    screen.text(&mut content);
    screen.texts(&mut tags);
    let warning = screen.finish()?;
    let request = RememberRequest {
        content,
        kind: arguments::kind(args)?,
        scope: arguments::scope(args)?,
        tags: tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned()).collect(),
        project: arguments::named_repository(args)?,
        workspace: arguments::scopes(call, args)?.project().cloned(),
        replaces: args.optional_text("replaces")?.map(|text| RecordReference::parse(&text)),
    };
    arguments::check_records_reach(call)?;
    let remembered = remember(call.memory, &call.who, &request)
        .map_err(|error| remember_error(error, &request))?;
    let mut text = remembered_text(&remembered, &request);
    if let Some(warning) = &warning {
        text.push_str(&format!("\n{warning}"));
    }
    Ok(ToolResult::ok(text, remembered_json(&remembered, warning.as_deref())))
}

/// Returns what a call of `remember` is about, without making it. `None` if its arguments are not
/// valid.
pub fn remembered_scope(settings: &ToolSettings, arguments: &Value) -> Option<StatementScope> {
    let table = crate::tool("remember")?.params;
    let args = ToolArgs::read("remember", table, arguments.clone()).ok()?;
    if let Some(repository) = arguments::named_repository(&args).ok()? {
        return Some(match repository {
            RecordScope::Global => StatementScope::Person,
            RecordScope::Project(_) => StatementScope::Repository,
        });
    }
    if let Some(scope) = arguments::scope(&args).ok()? {
        return Some(scope);
    }
    let content = args.optional_text("content").ok()?.unwrap_or_default();
    let visible = visible_scopes(settings, &args).ok()?;
    let known: Vec<&str> = visible.project().into_iter().map(RecordScope::name).collect();
    Some(guess_statement(&content, &known).scope)
}

fn remembered_text(remembered: &RememberedStatement, request: &RememberRequest) -> String {
    let RememberedStatement { id, version, place, kind, .. } = remembered;
    let what = format!("{} {}", kind.as_str(), scope_text(&remembered.scope));
    let is_scope_guessed = remembered.scope_origin != ScopeOrigin::Given;
    let guessed = match (remembered.is_kind_guessed, is_scope_guessed) {
        (true, true) => " (kind and scope guessed)",
        (true, false) => " (kind guessed)",
        (false, true) => " (scope guessed)",
        (false, false) => "",
    };
    let mut text = match &remembered.effect {
        RememberEffect::Stored => format!("Remembered as a {what}{guessed}."),
        RememberEffect::Known => {
            return format!(
                "Known already, nothing was stored: {id}@{version}, a {what} · {place}"
            );
        }
        RememberEffect::Replaced { previous } => {
            format!("Replaced a {what}{guessed}. Before: {}", single_line(previous, SHOWN_CHARS))
        }
    };
    let commit = remembered.commit.as_ref().map(|commit| commit.id.to_string()).unwrap_or_default();
    text.push_str(&format!("\n{id}@{version} · {place} · commit {commit}"));
    if let Some(call) = take_back_call(remembered) {
        text.push_str(&format!("\nTo take it back: {call}"));
    }
    if remembered.scope_origin == ScopeOrigin::RepositoryUnknown {
        text.push_str(&format!("\n{REPOSITORY_UNKNOWN}"));
    }
    if !remembered.candidates.is_empty() {
        text.push_str("\nSimilar, and kept as well:");
    }
    for (record, version) in &remembered.candidates {
        let reference = format!("{}@{version}", record.id);
        let call = json!({ "content": request.content.trim(), "replaces": reference });
        let shown = single_line(&record.content, SHOWN_CHARS);
        text.push_str(&format!("\n- {}: {shown} (to replace it: remember {call})", record.id));
    }
    text
}

/// Returns the call that takes the change back; `None` if nothing was stored.
fn take_back_call(remembered: &RememberedStatement) -> Option<String> {
    let id = &remembered.id;
    match &remembered.effect {
        RememberEffect::Known => None,
        RememberEffect::Stored => Some(format!("forget {}", json!({ "id": id }))),
        RememberEffect::Replaced { previous } => {
            let call = json!({ "content": single_line(previous, 2_000), "replaces": id });
            Some(format!("remember {call}"))
        }
    }
}

fn scope_text(scope: &RecordScope) -> String {
    match scope {
        RecordScope::Global => "of the person, everywhere".to_owned(),
        RecordScope::Project(_) => format!("of {}", scope.name()),
    }
}

fn remembered_json(remembered: &RememberedStatement, warning: Option<&str>) -> Value {
    let (effect, previous) = match &remembered.effect {
        RememberEffect::Stored => ("stored", None),
        RememberEffect::Known => ("known", None),
        RememberEffect::Replaced { previous } => ("replaced", Some(previous)),
    };
    let candidates: Vec<Value> = remembered
        .candidates
        .iter()
        .map(|(record, version)| {
            json!({ "id": record.id, "version": version, "content": record.content })
        })
        .collect();
    json!({
        "effect": effect,
        "id": remembered.id,
        "version": remembered.version,
        "kind": remembered.kind.as_str(),
        "kind_guessed": remembered.is_kind_guessed,
        "scope": match &remembered.scope {
            RecordScope::Global => "person",
            RecordScope::Project(_) => "repository",
        },
        "scope_guessed": remembered.scope_origin != ScopeOrigin::Given,
        "repository": match &remembered.scope {
            RecordScope::Global => None,
            RecordScope::Project(_) => Some(remembered.scope.name()),
        },
        "path": remembered.place.to_string(),
        "commit": remembered.commit.as_ref().map(|commit| commit.id.to_string()),
        "previous": previous,
        "take_back": take_back_call(remembered),
        "candidates": candidates,
        "warning": warning.or_else(|| {
            (remembered.scope_origin == ScopeOrigin::RepositoryUnknown)
                .then_some(REPOSITORY_UNKNOWN)
        }),
    })
}

/// Converts an error to its text with the next step.
fn remember_error(error: RememberError, request: &RememberRequest) -> ToolError {
    const INVALID: &str = crate::registry::INVALID_ARGUMENTS;
    match error {
        RememberError::Record(error) => arguments::record_error(error),
        RememberError::Empty => ToolError::new(
            INVALID,
            format!(
                "`content` holds no words. Give one statement of 1 to {MAX_STATEMENT_CHARS} characters; \
                 write_note keeps longer texts."
            ),
        ),
        RememberError::TooLong { chars } => ToolError::new(
            INVALID,
            format!(
                "`content` has {chars} characters; {MAX_STATEMENT_CHARS} are the most for one \
                 statement. write_note keeps longer texts. Nothing was stored."
            ),
        )
        .with_detail("max_chars", MAX_STATEMENT_CHARS),
        RememberError::NoRepository => ToolError::new("REPOSITORY_UNKNOWN", NO_REPOSITORY),
        RememberError::OtherRepository { named, workspace } => ToolError::new(
            "REPOSITORY_AMBIGUOUS",
            format!(
                "This names {named}, and the call comes from {workspace}. Give project_id for the \
                 repository that it is of. Nothing was stored."
            ),
        ),
        RememberError::ScopeConflict => ToolError::new(
            INVALID,
            "scope=\"person\" and project_id exclude each other. Give one of them. Nothing was \
             stored.",
        ),
        RememberError::OtherScope { id, scope } => ToolError::new(
            INVALID,
            format!(
                "{id} is a memory {}. A new version keeps its scope: leave scope and project_id \
                 out, or forget {id} and remember the statement again. Nothing was stored.",
                scope_text(&scope)
            ),
        ),
        RememberError::VersionConflict { id, expected, current, content } => {
            let again = json!({
                "content": request.content.trim(),
                "replaces": format!("{id}@{current}"),
            });
            ToolError::new(
                "CONFLICT",
                format!(
                    "Conflict: {id} is now version {current}, not {expected}. It says: {}\nTo \
                     replace that: remember {again}",
                    single_line(&content, SHOWN_CHARS)
                ),
            )
            .with_detail("id", id)
            .with_detail("expected", expected)
            .with_detail("current", current)
        }
    }
}

/// Notice for a statement that may be about a repository, where none is known.
const REPOSITORY_UNKNOWN: &str = "No repository is known here, so it is kept for the person; to \
    keep it for one, name it as github.com/owner/repo (project_id; --repository on the command \
    line).";

/// Error of a statement whose repository is unknown.
const NO_REPOSITORY: &str = "This is of a repository, and none is known here: give project_id \
    (github.com/owner/repo). Otherwise it is taken from the header X-Memoranda-Repository over \
    HTTP, and over stdio from the client's project variable or the working folder. For something \
    that holds everywhere give scope=\"person\". Nothing was stored.";
