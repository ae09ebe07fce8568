//! Arguments that the verbs share.

use memoranda_core::fact::similar_names;
use memoranda_core::id::ProjectName;
use memoranda_core::statement::{StatementKind, StatementScope};
use memoranda_engine::link_key;
use memoranda_engine::records::{RecordError, RecordScope, VisibleScopes, records_project};

use crate::records::{named_scope, visible_scopes};
use crate::registry::{CallContext, INVALID_ARGUMENTS, ToolArgs, ToolError};

/// Other words for the scopes.
const SCOPE_WORDS: [(&str, StatementScope); 9] = [
    ("user", StatementScope::Person),
    ("global", StatementScope::Person),
    ("personal", StatementScope::Person),
    ("me", StatementScope::Person),
    ("everywhere", StatementScope::Person),
    ("repo", StatementScope::Repository),
    ("project", StatementScope::Repository),
    ("workspace", StatementScope::Repository),
    ("local", StatementScope::Repository),
];

/// Reads a kind. An unknown one is rejected with the list and the nearest.
pub(super) fn kind(args: &ToolArgs) -> Result<Option<StatementKind>, ToolError> {
    let Some(word) = args.optional_text("kind")? else { return Ok(None) };
    parse_kind(&word, "kind").map(Some)
}

/// Reads a list of kinds.
pub(super) fn kinds(args: &ToolArgs) -> Result<Vec<StatementKind>, ToolError> {
    let words = args.texts("kinds")?.unwrap_or_default();
    words.iter().map(|word| parse_kind(word, "kinds")).collect()
}

fn parse_kind(word: &str, parameter: &str) -> Result<StatementKind, ToolError> {
    let lower = word.trim().to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let kind = StatementKind::parse(&lower).or_else(|| StatementKind::parse(singular));
    kind.ok_or_else(|| unknown_word(parameter, word, &StatementKind::NAMES))
}

/// Reads the scope. An unknown one is rejected with the list and the nearest.
pub(super) fn scope(args: &ToolArgs) -> Result<Option<StatementScope>, ToolError> {
    let Some(word) = args.optional_text("scope")? else { return Ok(None) };
    let lower = word.trim().to_lowercase();
    let other = SCOPE_WORDS.iter().find(|(name, _)| *name == lower).map(|(_, scope)| *scope);
    match StatementScope::parse(&lower).or(other) {
        Some(scope) => Ok(Some(scope)),
        None => Err(unknown_word("scope", &word, &StatementScope::NAMES)),
    }
}

fn unknown_word(parameter: &str, word: &str, names: &[&'static str]) -> ToolError {
    let shown: String = word.chars().take(60).collect();
    let nearest = similar_names(&shown, names.iter().copied(), 1);
    let nearest = nearest.first().or_else(|| {
        let first = shown.chars().next()?.to_ascii_lowercase();
        names.iter().find(|name| name.starts_with(first))
    });
    let hint = nearest.map(|name| format!(" The nearest is {name}.")).unwrap_or_default();
    let list = names.join(", ");
    let message = format!("`{parameter}` is {shown:?}; it must be one of {list}.{hint}");
    ToolError::new(INVALID_ARGUMENTS, message)
}

/// Returns the repository that the caller named.
pub(super) fn named_repository(args: &ToolArgs) -> Result<Option<RecordScope>, ToolError> {
    Ok(named_scope(args)?)
}

/// Returns the scopes of the caller.
pub(super) fn scopes(call: &CallContext<'_>, args: &ToolArgs) -> Result<VisibleScopes, ToolError> {
    Ok(visible_scopes(call.settings, args)?)
}

/// Returns the only project that the call may use: the one that the server is restricted to, else
/// the requested one.
pub(super) fn only_project(
    call: &CallContext<'_>,
    requested: Option<&str>,
) -> Result<Option<ProjectName>, ToolError> {
    let project =
        |name: &str| -> Result<ProjectName, ToolError> { Ok(call.memory.project(name)?.name) };
    let only = call.settings.notes.only_project.as_deref().map(project).transpose()?;
    let requested = requested.map(project).transpose()?;
    match (only, requested) {
        (Some(only), Some(requested)) if only != requested => Err(ToolError::new(
            "PROJECT_CONSTRAINED",
            format!(
                "This server is restricted to the project {only}; {requested} is out of reach."
            ),
        )),
        (only, requested) => Ok(only.or(requested)),
    }
}

/// Rejects a call of a server that is restricted to another project than that of the records.
pub(super) fn check_records_reach(call: &CallContext<'_>) -> Result<(), ToolError> {
    let records = records_project();
    match call.settings.notes.only_project.as_deref() {
        Some(only) if link_key(only) != link_key(records.as_str()) => Err(ToolError::new(
            "PROJECT_CONSTRAINED",
            format!(
                "This server is restricted to the project {only}, and memories lie in {records}. \
                 write_note keeps texts in {only}. Nothing was stored."
            ),
        )),
        _ => Ok(()),
    }
}

/// Converts an error of the records.
pub(super) fn record_error(error: RecordError) -> ToolError {
    match error {
        RecordError::Engine(error) => error.into(),
        other => crate::records::RecordToolError::from(other).into(),
    }
}
