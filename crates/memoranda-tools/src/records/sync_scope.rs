//! Scan scopes of the records tools: the files that a result can depend on.

use std::path::Path;

use memoranda_core::path::NotePath;
use memoranda_engine::Concern;

use super::error::Result;
use super::kind::RecordKind;
use super::record::project;
use super::scope::{self, RecordScope, VisibleScopes};
use super::{context, query, reminder};
use crate::registry::ToolArgs;
use crate::settings::ToolSettings;

/// Scope of `get_context`: rules and reminders, with a query all visible records, with entities the
/// graph.
pub(super) fn context(settings: &ToolSettings, args: &ToolArgs) -> Concern {
    if args.value("entityNames").is_some() {
        return Concern::Everything;
    }
    match context::query(args) {
        Ok(Some(_)) => visible_records(settings, args),
        Ok(None) => visible_folders(settings, args, &[RecordKind::Rule.as_str(), reminder::FOLDER]),
        Err(_) => Concern::Everything,
    }
}

/// Scope of a tool that reads the records of the visible scopes.
pub(super) fn visible_records(settings: &ToolSettings, args: &ToolArgs) -> Concern {
    let Ok(reach) = scope::reach(settings, args) else { return Concern::Everything };
    let folders = reach.scopes.iter().map(|scope| NotePath::parse(&scope.folder()));
    within(folders.filter_map(std::result::Result::ok).collect())
}

/// Scope of a tool that reads rules.
pub(super) fn rules(settings: &ToolSettings, args: &ToolArgs) -> Concern {
    visible_folders(settings, args, &[RecordKind::Rule.as_str()])
}

/// Scope of a tool that reads reminders.
pub(super) fn reminders(settings: &ToolSettings, args: &ToolArgs) -> Concern {
    visible_folders(settings, args, &[reminder::FOLDER])
}

/// Scope of a tool that finds a record by its id: all records.
pub(super) fn all_records(_: &ToolSettings, _: &ToolArgs) -> Concern {
    within(["global", "projects"].iter().filter_map(|top| NotePath::parse(top).ok()).collect())
}

/// The folders of some kinds in the visible scopes. Everything, if the arguments are invalid: the
/// tool rejects them before it reads any file.
fn visible_folders(settings: &ToolSettings, args: &ToolArgs, kinds: &[&str]) -> Concern {
    let folders = scope::reach(settings, args).and_then(|reach| kind_folders(&reach, kinds));
    folders.unwrap_or(Concern::Everything)
}

/// The files that rules and reminders in a folder's repository, and the global ones, lie in.
pub fn rules_sync_scope(folder: Option<&Path>) -> Concern {
    let reach = VisibleScopes::new(folder.and_then(RecordScope::of_workspace));
    kind_folders(&reach, &[RecordKind::Rule.as_str(), reminder::FOLDER])
        .unwrap_or(Concern::Everything)
}

/// The folders of some kinds.
fn kind_folders(reach: &VisibleScopes, kinds: &[&str]) -> Result<Concern> {
    let scopes = reach.scopes.iter();
    let folders = scopes.flat_map(|scope| kinds.iter().map(|kind| query::kind_folder(scope, kind)));
    Ok(within(folders.collect::<Result<_>>()?))
}

fn within(folders: Vec<NotePath>) -> Concern {
    Concern::Folders(project(), folders)
}
