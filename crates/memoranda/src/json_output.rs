//! JSON output: stable field names, times as RFC 3339 in UTC.

use jiff::Timestamp;
use memoranda_engine::core::change::{Commit, CommitKind, FileChange};
use memoranda_engine::{FileSummary, NoteLocation};
use serde::Serialize;

/// Location of a note.
#[derive(Serialize, Clone)]
pub(crate) struct PlaceJson {
    project: String,
    path: String,
}

impl From<&NoteLocation> for PlaceJson {
    fn from(place: &NoteLocation) -> Self {
        Self { project: place.project.to_string(), path: place.path.to_string() }
    }
}

/// A commit.
#[derive(Serialize)]
pub(crate) struct CommitJson {
    id: String,
    time: Timestamp,
    client: String,
    tool: String,
    channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
    message: Option<String>,
    kind: Option<&'static str>,
    files: Vec<FileChangeJson>,
}

/// Change of one file in a commit.
#[derive(Serialize)]
pub(crate) struct FileChangeJson {
    project: String,
    path: String,
    action: &'static str,
    moved_from: Option<String>,
    before: Option<String>,
    after: Option<String>,
}

impl From<&Commit> for CommitJson {
    fn from(commit: &Commit) -> Self {
        Self {
            id: commit.id.to_string(),
            time: commit.time,
            client: commit.author.client.clone(),
            tool: commit.author.tool.clone(),
            channel: commit.author.channel.as_str(),
            account: commit.author.details.account.clone(),
            token: commit.author.details.token.clone(),
            conversation: commit.author.details.conversation.clone(),
            message: commit.message.clone(),
            kind: commit.kind.map(CommitKind::as_str),
            files: commit.files.iter().map(FileChangeJson::from).collect(),
        }
    }
}

impl From<&FileChange> for FileChangeJson {
    fn from(file: &FileChange) -> Self {
        Self {
            project: file.project.to_string(),
            path: file.path.to_string(),
            action: change_action(file),
            moved_from: file.moved_from.as_ref().map(ToString::to_string),
            before: file.before.map(|hash| hash.to_string()),
            after: file.after.map(|hash| hash.to_string()),
        }
    }
}

/// Returns the change of a file as one word.
pub(crate) fn change_action(file: &FileChange) -> &'static str {
    match (&file.moved_from, file.before, file.after) {
        (Some(_), _, _) => "moved",
        (None, _, None) => "deleted",
        (None, None, Some(_)) => "added",
        (None, Some(_), Some(_)) => "changed",
    }
}

/// A note in a list.
#[derive(Serialize)]
pub(crate) struct NoteSummaryJson {
    project: String,
    path: String,
    title: String,
    permalink: String,
    r#type: String,
    created: Timestamp,
    updated: Timestamp,
    size: u64,
    version: Option<String>,
}

impl From<&FileSummary> for NoteSummaryJson {
    fn from(file: &FileSummary) -> Self {
        Self {
            project: file.project.to_string(),
            path: file.path.to_string(),
            title: file.title.clone(),
            permalink: file.permalink.clone(),
            r#type: file.note_type.clone(),
            created: file.created,
            updated: file.updated,
            size: file.size,
            version: file.hash.map(|hash| hash.to_string()),
        }
    }
}

/// Returns the first eight characters of a commit id.
pub(crate) fn short_id(commit: &Commit) -> String {
    commit.id.as_str().chars().take(8).collect()
}
