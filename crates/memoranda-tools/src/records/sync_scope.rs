//! Which files the answer of a tool can depend on: whoever asks once looks at those, and at no others.

use std::path::Path;

use memoranda_core::path::NotePath;
use memoranda_engine::Concern;
use serde_json::Value;

use super::error::Result;
use super::kind::RecordKind;
use super::record::project;
use super::scope::{self, RecordScope, VisibleScopes};
use super::{context, query, reminder};
use crate::registry::ToolArgs;
use crate::settings::ToolSettings;

/// The files that the answer of a tool can depend on.
pub(crate) fn sync_scope(
    tool: &'static str,
    settings: &ToolSettings,
    arguments: &Value,
) -> Concern {
    let read = || -> Result<Concern> {
        let args = super::read(tool, arguments.clone())?;
        tool_sync_scope(tool, settings, &args)
    };
    // What cannot be read is refused before any file matters.
    read().unwrap_or(Concern::Everything)
}

fn tool_sync_scope(tool: &str, settings: &ToolSettings, args: &ToolArgs) -> Result<Concern> {
    let reach = || scope::reach(settings, args);
    let rule = RecordKind::Rule.as_str();
    match tool {
        // The graph's, or what is purged: nothing is passed over.
        "vacuum_memories" => Ok(Concern::Everything),
        "get_context" if args.value("entityNames").is_some() => Ok(Concern::Everything),
        "get_context" if context::query(args)?.is_none() => {
            kind_folders(&reach()?, &[rule, reminder::FOLDER])
        }
        "get_context" | "search_memories" | "list_memories" => {
            let reach = reach()?;
            let folders = reach.scopes.iter().map(|scope| NotePath::parse(&scope.folder()));
            Ok(within(folders.filter_map(std::result::Result::ok).collect()))
        }
        "get_rules" => kind_folders(&reach()?, &[rule]),
        "list_reminders" | "run_due_reminders" => kind_folders(&reach()?, &[reminder::FOLDER]),
        // Records are named by id, whosever they are.
        _ => Ok(within(
            ["global", "projects"].iter().filter_map(|top| NotePath::parse(top).ok()).collect(),
        )),
    }
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
