//! Claude Code's own memory: Markdown files for every folder that it worked in.

use std::path::{Path, PathBuf};

use memoranda_engine::core::path::NotePath;
use serde_json::Value;

use super::Target;
use crate::error::{ImportError, Result};
use crate::intake::Intake;
use crate::origin::{self, Origin, file_name};
use crate::piece::{Body, Naming, Piece, tidy_folder, with_key};
use crate::time;

/// How much of a session's record is looked at for the folder that it was about.
const LOOK: usize = 64 << 10;

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    let Origin::Folder(root) = origin else {
        let message = format!("{} is not a folder of Claude Code's memory", origin.shown());
        return Err(ImportError::NotThat(message));
    };
    let project = target.project("memories")?;
    let folder = target.folder("claude-code");
    let memories = memories(root);
    if memories.is_empty() {
        let message = format!("{} holds no memory of Claude Code", root.display());
        return Err(ImportError::NotThat(message));
    }
    let files: Vec<_> = memories
        .into_iter()
        .flat_map(|(name, memory)| {
            let files = origin::files_below(&memory, None, intake).into_iter();
            let workspace = workspace(&memory);
            files.map(move |file| (name.clone(), workspace.clone(), file)).collect::<Vec<_>>()
        })
        .collect();
    intake.total(files.len() as u64);
    for (n, (name, workspace, file)) in files.into_iter().enumerate() {
        intake.done(n as u64);
        let shown = file.path.display().to_string();
        if !file.name.ends_with(".md") {
            intake.skip("files that are no Markdown");
            continue;
        }
        let Ok(text) = String::from_utf8(origin::bytes(&file.path)?) else {
            intake.problem(shown, "not a text");
            continue;
        };
        let path = format!("{folder}/{}/{}", tidy_folder(&name), file.name);
        let Ok(path) = NotePath::parse(&path) else {
            intake.problem(shown, "its name cannot be that of a note");
            continue;
        };
        let mut text = with_key(text, "modified", &time::stated(file.modified));
        if let Some(workspace) = workspace {
            text = with_key(text, "workspace", &workspace);
        }
        intake.piece(Piece {
            id: format!("{name}/{}", file.name),
            project: project.clone(),
            path,
            naming: Naming::Fixed,
            body: Body::Note(text),
        })?;
    }
    Ok(())
}

/// The folders of memory at or below a place, each with the name of its project.
fn memories(root: &Path) -> Vec<(String, PathBuf)> {
    let named = |folder: &Path| file_name(folder).trim_start_matches('-').to_owned();
    if file_name(root) == "memory" {
        let name = root.parent().map(named).unwrap_or_default();
        return vec![(name, root.to_owned())];
    }
    if root.join("memory").is_dir() {
        return vec![(named(root), root.join("memory"))];
    }
    let projects = match root.join("projects").is_dir() {
        true => root.join("projects"),
        false => root.to_owned(),
    };
    let folders = origin::folders_in(&projects).into_iter();
    let memory = |folder: PathBuf| {
        let memory = folder.join("memory");
        memory.is_dir().then(|| (named(&folder), memory))
    };
    folders.filter_map(memory).collect()
}

/// The folder that a memory is about, as the records of its sessions say.
fn workspace(memory: &Path) -> Option<String> {
    let names = Origin::Folder(memory.parent()?.to_owned()).names().ok()?;
    let session = names.into_iter().find(|name| name.ends_with(".jsonl"))?;
    let text = origin::beginning(&memory.parent()?.join(session), LOOK)?;
    let line = |line: &str| {
        serde_json::from_str::<Value>(line).ok()?.get("cwd")?.as_str().map(str::to_owned)
    };
    text.lines().find_map(line)
}
