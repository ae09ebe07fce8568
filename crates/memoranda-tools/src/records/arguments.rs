//! Parameters that several record tools share.

use memoranda_engine::records::{
    ExpiryError, MAX_CONTENT_CHARS, MemoryLayer, RecordExpiry, RecordKind, RecordScope,
    VisibleScopes, check_path_pattern,
};
use serde_json::Value;

use super::error::{RecordToolError, RecordToolResult};
use crate::registry::{CallContext, ToolArgs, Toolset};
use crate::settings::{CallRepository, ToolSettings};

/// Returns the scopes of the named project, else of the client's repository.
pub(crate) fn visible_scopes(
    settings: &ToolSettings,
    args: &ToolArgs,
) -> RecordToolResult<VisibleScopes> {
    if let Some(only) = settings.notes.only_project.as_deref()
        && !Toolset::Records.is_reachable(settings)
    {
        return Ok(VisibleScopes::none(only));
    }
    Ok(match named_scope(args)? {
        Some(named) => VisibleScopes::requested(named),
        None => settings.visible_scopes(),
    })
}

/// Returns the scope of something new: the named one, else the client's repository.
pub(super) fn target_scope(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> RecordToolResult<RecordScope> {
    let named = named_scope(args)?;
    match (args.flag("global")?, named) {
        (Some(true), Some(RecordScope::Project(_))) => Err(RecordToolError::new(
            "Cannot set both global=true and project_id. Choose one scope.",
        )),
        (Some(true), _) => Ok(RecordScope::Global),
        (_, Some(named)) => Ok(named),
        (_, None) => match call.settings.call_repository() {
            CallRepository::Known(repository) => Ok(repository),
            CallRepository::Absent | CallRepository::Unknown => Ok(RecordScope::Global),
        },
    }
}

/// Rejects a rule whose repository is unknown: it would become a rule for every repository.
pub(super) fn check_rule_scope(
    call: &CallContext<'_>,
    args: &ToolArgs,
    kind: RecordKind,
) -> RecordToolResult<()> {
    let is_unstated = named_scope(args)?.is_none() && args.flag("global")? != Some(true);
    let is_unknown = call.settings.call_repository() == CallRepository::Unknown;
    if kind == RecordKind::Rule && is_unstated && is_unknown {
        return Err(RecordToolError::new(UNKNOWN_REPOSITORY));
    }
    Ok(())
}

/// Error of a rule whose repository is unknown.
const UNKNOWN_REPOSITORY: &str = "Which repository is this rule for? It is not known here, and \
    the rule would hold in every one. Give project_id (github.com/owner/repo), or global=true for \
    a rule that holds everywhere; a client over HTTP can send the header X-Memoranda-Repository. \
    Nothing was stored.";

/// Returns the scope that `project_id` names.
pub(crate) fn named_scope(args: &ToolArgs) -> RecordToolResult<Option<RecordScope>> {
    let Some(name) = args.optional_text("project_id")?.filter(|name| !name.trim().is_empty())
    else {
        return Ok(None);
    };
    // Answers name the global scope like a project.
    if name.trim().eq_ignore_ascii_case(RecordScope::Global.name()) {
        return Ok(Some(RecordScope::Global));
    }
    let expected = "the name of a project, such as github.com/owner/repo";
    let wrong = || args.wrong("project_id", expected, &Value::String(name.clone()));
    Ok(Some(RecordScope::project(&name).ok_or_else(wrong)?))
}

pub(super) fn content(args: &ToolArgs, name: &str) -> RecordToolResult<Option<String>> {
    let Some(text) = args.optional_text(name)? else { return Ok(None) };
    let chars = text.chars().count();
    if text.trim().is_empty() {
        return Err(RecordToolError::new(format!(
            "`{name}` is empty: there is nothing to remember."
        )));
    }
    if chars > MAX_CONTENT_CHARS {
        return Err(RecordToolError::new(format!(
            "`{name}` has {chars} characters; {MAX_CONTENT_CHARS} are the most. Split it, or keep \
             a summary."
        )));
    }
    Ok(Some(text))
}

pub(super) fn kind(args: &ToolArgs, name: &str) -> RecordToolResult<Option<RecordKind>> {
    Ok(args.choice(name, &RecordKind::NAMES)?.as_deref().and_then(RecordKind::parse))
}

pub(super) fn kinds(args: &ToolArgs, name: &str) -> RecordToolResult<Option<Vec<RecordKind>>> {
    let Some(names) = args.texts(name)? else { return Ok(None) };
    let mut kinds = Vec::with_capacity(names.len());
    for name_given in names {
        let lower = name_given.trim().to_lowercase();
        kinds.push(RecordKind::parse(&lower).ok_or_else(|| {
            let expected = format!("a list of {}", RecordKind::NAMES.join(", "));
            args.wrong(name, &expected, &Value::String(name_given.clone()))
        })?);
    }
    Ok(Some(kinds))
}

pub(super) fn layer(args: &ToolArgs) -> RecordToolResult<Option<MemoryLayer>> {
    let word = args.choice("layer", &MemoryLayer::NAMES)?;
    Ok(word.as_deref().and_then(MemoryLayer::parse))
}

pub(super) fn tags(args: &ToolArgs) -> RecordToolResult<Option<Vec<String>>> {
    let plain = |tag: String| tag.trim().trim_start_matches('#').to_owned();
    let tags = args.texts("tags")?.map(|tags| tags.into_iter().map(plain).collect::<Vec<_>>());
    Ok(tags.map(|mut tags| {
        tags.retain(|tag| !tag.is_empty());
        tags
    }))
}

pub(super) fn paths(args: &ToolArgs) -> RecordToolResult<Option<Vec<String>>> {
    let paths = args.texts("paths")?;
    for path in paths.iter().flatten() {
        if let Err(reason) = check_path_pattern(path) {
            return Err(RecordToolError::new(format!(
                "`paths` has {path:?}, which is no glob pattern: {reason}. Patterns are like \
                 \"src/api/**\" or \"*.ts\"."
            )));
        }
    }
    Ok(paths)
}

pub(super) fn category(args: &ToolArgs) -> RecordToolResult<Option<String>> {
    let category = args.optional_text("category")?.map(|category| category.trim().to_owned());
    Ok(category.filter(|category| !category.is_empty()))
}

/// Reads `expires`: a day, a time, or a span from now such as `7d`.
pub(super) fn expiry(
    call: &CallContext<'_>,
    args: &ToolArgs,
) -> RecordToolResult<Option<RecordExpiry>> {
    let Some(text) = args.optional_text("expires")?.filter(|text| !text.trim().is_empty()) else {
        return Ok(None);
    };
    let now = call.settings.records.now();
    match RecordExpiry::parse_input(&text, &now) {
        Ok(expiry) => Ok(Some(expiry)),
        Err(ExpiryError::Past) => Err(RecordToolError::new(format!(
            "`expires` is {text:?}, which is over: the memory would be hidden at once. Give a time \
             that lies ahead; forget_memory removes a memory."
        ))),
        Err(ExpiryError::NoTime) => {
            let expected = "a day (2026-12-31, tomorrow), a time, or a span from now (7d, 12h)";
            Err(args.wrong("expires", expected, &Value::String(text)).into())
        }
    }
}
