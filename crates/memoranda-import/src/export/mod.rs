//! Exports notes as files, as JSON lines, or as the file of the reference memory server.

mod graph;
mod jsonl;
mod markdown;

use jiff::Timestamp;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use memoranda_engine::{DirEntryKind, Memory, NoteLocation, PointInTime};

pub use graph::write_graph;
pub use jsonl::{JSONL_VERSION, write_jsonl};
pub use markdown::write_markdown;

use crate::error::Result;

/// Counts of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// Number of projects.
    pub projects: usize,
    /// Number of files or lines.
    pub files: usize,
    /// Number of bytes.
    pub bytes: u64,
    /// Number of hidden files omitted because they are not in the history.
    pub left_out: usize,
}

/// Returns the selected project, or all projects.
fn selected_projects(memory: &Memory, only: Option<&ProjectName>) -> Result<Vec<ProjectName>> {
    let projects = memory.list_projects()?.into_iter().map(|project| project.name);
    Ok(projects.filter(|name| only.is_none_or(|only| only == name)).collect())
}

/// Returns the files of a project sorted by path, including files that are not notes. Hidden files
/// outside the history belong to other programs; they are counted and omitted.
fn project_files(
    memory: &Memory,
    project: &ProjectName,
    left_out: &mut usize,
) -> Result<Vec<NoteLocation>> {
    let mut found = Vec::new();
    let mut folders: Vec<Option<NotePath>> = vec![None];
    while let Some(folder) = folders.pop() {
        let listing = memory.list_folder(project, folder.as_ref())?;
        for entry in listing.map(|listing| listing.entries).unwrap_or_default() {
            let path = match &folder {
                Some(folder) => format!("{folder}/{}", entry.name),
                None => entry.name,
            };
            let Ok(path) = NotePath::parse(&path) else { continue };
            if path.is_in_control_dir() {
                continue;
            }
            match entry.kind {
                DirEntryKind::Folder => folders.push(Some(path)),
                DirEntryKind::File
                    if path.is_hidden() && !is_in_history(memory, project, &path)? =>
                {
                    *left_out += 1;
                }
                DirEntryKind::File => found.push(NoteLocation { project: project.clone(), path }),
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Returns true if the history contains the current file.
fn is_in_history(memory: &Memory, project: &ProjectName, path: &NotePath) -> Result<bool> {
    let now = PointInTime::Time(Timestamp::MAX);
    Ok(memory.snapshot()?.version_as_of(project, path, now)?.flatten().is_some())
}
