//! Reads the auto memory of Claude Code: Markdown files for every workspace.

use std::path::{Path, PathBuf};

use memoranda_engine::core::path::NotePath;
use serde_json::Value;

use super::ImportTarget;
use crate::error::{ImportError, Result};
use crate::input::{self, ImportInput, file_name};
use crate::item::{ImportItem, ItemBody, ItemNaming, sanitize_folder, with_key};
use crate::sink::ImportSink;
use crate::time;

/// Number of bytes of a session file that are searched for the workspace.
const MAX_PREFIX_BYTES: usize = 64 << 10;

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    let ImportInput::Folder(root) = input else {
        let message = format!("{} is not a folder of Claude Code's memory", input.display_name());
        return Err(ImportError::NotThat(message));
    };
    let project = target.project("memories")?;
    let folder = target.folder("claude-code");
    let memories = memory_folders(root);
    if memories.is_empty() {
        let message = format!("{} holds no memory of Claude Code", root.display());
        return Err(ImportError::NotThat(message));
    }
    let files: Vec<_> = memories
        .into_iter()
        .flat_map(|(name, memory)| {
            let files = input::files_below(&memory, None, sink).into_iter();
            let workspace = session_workspace(&memory);
            files.map(move |file| (name.clone(), workspace.clone(), file)).collect::<Vec<_>>()
        })
        .collect();
    sink.set_total(files.len() as u64);
    for (n, (name, workspace, file)) in files.into_iter().enumerate() {
        sink.set_done(n as u64);
        let shown = file.path.display().to_string();
        if !file.name.ends_with(".md") {
            sink.skip("files that are not Markdown");
            continue;
        }
        let Ok(text) = String::from_utf8(input::read_bytes(&file.path)?) else {
            sink.add_problem(shown, "not a text");
            continue;
        };
        let path = format!("{folder}/{}/{}", sanitize_folder(&name), file.name);
        let Ok(path) = NotePath::parse(&path) else {
            sink.add_problem(shown, "its name cannot be that of a note");
            continue;
        };
        let mut text = with_key(text, "modified", &time::frontmatter(file.modified));
        if let Some(workspace) = workspace {
            text = with_key(text, "workspace", &workspace);
        }
        sink.add_item(ImportItem {
            id: format!("{name}/{}", file.name),
            project: project.clone(),
            path,
            naming: ItemNaming::Fixed,
            body: ItemBody::Note(text),
        })?;
    }
    Ok(())
}

/// Returns the memory folders at or below a path with the names of their projects.
fn memory_folders(root: &Path) -> Vec<(String, PathBuf)> {
    let named = |folder: &Path| file_name(folder).trim_start_matches('-').to_owned();
    if file_name(root) == "memory" {
        let name = root.parent().map(named).unwrap_or_default();
        return vec![(name, root.to_owned())];
    }
    if root.join("memory").is_dir() {
        return vec![(named(root), root.join("memory"))];
    }
    let projects =
        if root.join("projects").is_dir() { root.join("projects") } else { root.to_owned() };
    let folders = input::subfolders(&projects).into_iter();
    let memory = |folder: PathBuf| {
        let memory = folder.join("memory");
        memory.is_dir().then(|| (named(&folder), memory))
    };
    folders.filter_map(memory).collect()
}

/// Returns the workspace of a memory folder as recorded in its session files.
fn session_workspace(memory: &Path) -> Option<String> {
    let names = ImportInput::Folder(memory.parent()?.to_owned()).file_names().ok()?;
    let session = names.into_iter().find(|name| name.ends_with(".jsonl"))?;
    let text = input::read_prefix(&memory.parent()?.join(session), MAX_PREFIX_BYTES)?;
    let line = |line: &str| {
        serde_json::from_str::<Value>(line).ok()?.get("cwd")?.as_str().map(str::to_owned)
    };
    text.lines().find_map(line)
}
