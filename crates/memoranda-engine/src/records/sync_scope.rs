//! The files that an answer about records can depend on.

use memoranda_core::path::NotePath;

use super::kind::RecordKind;
use super::query::kind_folder;
use super::record::records_project;
use super::reminder;
use super::scope::VisibleScopes;
use crate::SyncScope;

/// Returns the files of visible rules.
pub fn rules_scope(visible: &VisibleScopes) -> SyncScope {
    kind_folders(visible, &[RecordKind::Rule.as_str()])
}

/// Returns the files of visible reminders.
pub fn reminders_scope(visible: &VisibleScopes) -> SyncScope {
    kind_folders(visible, &[reminder::FOLDER])
}

/// Returns the files of visible rules and reminders.
pub fn rules_and_reminders_scope(visible: &VisibleScopes) -> SyncScope {
    kind_folders(visible, &[RecordKind::Rule.as_str(), reminder::FOLDER])
}

/// Returns all files of the visible scopes.
pub fn visible_scope(visible: &VisibleScopes) -> SyncScope {
    let folders = visible.scopes.iter().map(|scope| NotePath::parse(&scope.folder()));
    SyncScope::Folders(records_project(), folders.filter_map(Result::ok).collect())
}

/// Returns the files of all records: an id can be in any scope.
pub fn all_records_scope() -> SyncScope {
    let folders = ["global", "projects"].iter().filter_map(|top| NotePath::parse(top).ok());
    SyncScope::Folders(records_project(), folders.collect())
}

fn kind_folders(visible: &VisibleScopes, kinds: &[&str]) -> SyncScope {
    let scopes = visible.scopes.iter();
    let folders = scopes.flat_map(|scope| kinds.iter().map(|kind| kind_folder(scope, kind)));
    match folders.collect::<Result<_, _>>() {
        Ok(folders) => SyncScope::Folders(records_project(), folders),
        Err(_) => SyncScope::Everything,
    }
}
