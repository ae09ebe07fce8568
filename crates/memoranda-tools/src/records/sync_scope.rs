//! Scan scopes of the record tools: the files that a result can depend on.

use memoranda_engine::SyncScope;
use memoranda_engine::records::{
    VisibleScopes, all_records_scope, reminders_scope, rules_scope, visible_scope,
};

use super::{arguments, context as context_tool};
use crate::registry::ToolArgs;
use crate::settings::ToolSettings;

/// Returns the scope of `get_context`: the visible records, with a query or entities all files.
pub(super) fn context(settings: &ToolSettings, args: &ToolArgs) -> SyncScope {
    if args.value("entityNames").is_some() {
        return SyncScope::Everything;
    }
    match context_tool::query(args) {
        Ok(Some(_)) => SyncScope::Everything,
        Ok(None) => visible_records(settings, args),
        Err(_) => SyncScope::Everything,
    }
}

/// Returns the scope of a tool that reads the records of the visible scopes.
pub(super) fn visible_records(settings: &ToolSettings, args: &ToolArgs) -> SyncScope {
    scope_of(settings, args, visible_scope)
}

/// Returns the scope of a tool that reads rules.
pub(super) fn rules(settings: &ToolSettings, args: &ToolArgs) -> SyncScope {
    scope_of(settings, args, rules_scope)
}

/// Returns the scope of a tool that reads reminders.
pub(super) fn reminders(settings: &ToolSettings, args: &ToolArgs) -> SyncScope {
    scope_of(settings, args, reminders_scope)
}

/// Returns the scope of a tool that finds a record by its id: all records.
pub(super) fn all_records(_: &ToolSettings, _: &ToolArgs) -> SyncScope {
    all_records_scope()
}

/// Applies a scope to the visible scopes. Invalid arguments are rejected before any file is read, so
/// their scope does not matter.
fn scope_of(
    settings: &ToolSettings,
    args: &ToolArgs,
    scope: fn(&VisibleScopes) -> SyncScope,
) -> SyncScope {
    match arguments::visible_scopes(settings, args) {
        Ok(visible) => scope(&visible),
        Err(_) => SyncScope::Everything,
    }
}
