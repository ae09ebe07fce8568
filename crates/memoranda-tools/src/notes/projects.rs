//! `list_memory_projects`, `create_memory_project` and `delete_project`.

use std::path::{Path, PathBuf};

use memoranda_core::path::NotePath;
use memoranda_engine::{
    DeleteRequest, DirEntry, DirEntryKind, EngineError, FileOperation, HardLinkPolicy,
    NoteLocation, ProjectPlace, TransactOutcome,
};
use serde_json::{Value, json};

use super::params::COMMON;
use super::scope::project_constrained;
use crate::registry::{
    CallContext, INVALID_ARGUMENTS, Param, ParamTable, ToolArgs, ToolError, ToolResult, count,
};
use crate::settings::ProjectFolders;

pub(super) const LIST_PARAMS: ParamTable = ParamTable::new(&[COMMON]);

pub(super) const CREATE_PARAMS: ParamTable = ParamTable::new(&[
    &[
        PROJECT_NAME,
        Param::text("project_path", "Folder; default in the vault").aliases(&["path", "folder"]),
        Param::flag("set_default", "Make it the default"),
    ],
    COMMON,
]);

pub(super) const DELETE_PARAMS: ParamTable = ParamTable::new(&[
    &[PROJECT_NAME, Param::flag("delete_notes", "Delete its files too")],
    COMMON,
]);

const PROJECT_NAME: Param = Param::text("project_name", "Name").required().aliases(&["name"]);

pub(super) fn list(call: &CallContext<'_>, _: &ToolArgs) -> Result<ToolResult, ToolError> {
    let default = &call.settings.notes.default_project;
    let only = &call.settings.notes.only_project;
    call.memory.create_project(only.as_ref().unwrap_or(default))?;
    let projects = call.memory.projects()?;
    let mut text = String::from("# Projects\n\n");
    let mut listed = Vec::new();
    for info in &projects {
        let name = info.project.name.as_str();
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let is_default = name == default;
        let mark = if is_default { ", default" } else { "" };
        let path = info.project.path.display().to_string();
        let notes = count(usize::try_from(info.notes).unwrap_or(usize::MAX), "note");
        text.push_str(&format!("- {name} ({notes}{mark}): {path}\n"));
        listed.push(json!({
            "name": name,
            "external_id": name,
            "path": path,
            "local_path": path,
            "cloud_path": Value::Null,
            "source": "local",
            "is_default": is_default,
            "is_private": false,
            "display_name": name,
            "qualified_name": name,
            "notes": info.notes,
        }));
    }
    match only {
        Some(only) => text.push_str(&format!("\nThis server works in {only} only.\n")),
        None => text.push_str(
            "\nEvery tool takes `project`. Without it, searches look in every project, and writes go to the \
             default.\n",
        ),
    }
    let structured = json!({
        "projects": listed,
        "default_project": default,
        "constrained_project": only,
    });
    Ok(ToolResult::ok(text, structured))
}

/// Returns true if a path is the folder of the project in the vault.
fn is_in_vault(home: &Path, name: &str, given: &str) -> bool {
    let given = given.trim().trim_end_matches('/');
    given.is_empty() || given == name || Path::new(given) == home.join(name)
}

pub(super) fn create(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    if let Some(only) = &call.settings.notes.only_project {
        return Err(project_constrained(only));
    }
    let name = args.text("project_name")?.trim().to_owned();
    if name.is_empty() {
        return Err(args.missing("project_name", "what the project is called").into());
    }
    let given = args.optional_text("project_path")?.unwrap_or_default();
    let existed = call.memory.project(&name).is_ok();
    let project = if existed {
        call.memory.project(&name)?
    } else if is_in_vault(call.memory.home(), &name, &given) {
        call.memory.create_project(&name)?
    } else if Path::new(given.trim()).is_relative() {
        let text = format!(
            "project_path {given:?} is not a whole path: a folder elsewhere is named from the top, \
             such as \"/mnt/notes\". Without project_path the project is made in the vault."
        );
        return Err(ToolError::new(INVALID_ARGUMENTS, text));
    } else if call.settings.notes.folders == ProjectFolders::Anywhere {
        let folder = PathBuf::from(given.trim());
        let added = call.memory.add_project(&name, &folder, HardLinkPolicy::Refuse)?;
        call.memory.sync(&mut |_| {})?;
        added
    } else {
        let text = format!(
            "A folder outside the vault is for the person to add: `memoranda project add {name} \
             {given}`, or `memoranda config set notes.project_folders anywhere` to let agents do \
             it. Without project_path the project is made in the vault."
        );
        return Err(ToolError::new("FOLDER_NOT_ALLOWED", text));
    };
    let path = project.path.display().to_string();
    let mut text = format!(
        "# Project {}\nproject: {}\npath: {path}\n",
        if existed { "already exists" } else { "created" },
        project.name
    );
    let wants_default = args.is_set("set_default")?;
    if wants_default && call.settings.notes.default_project != project.name.as_str() {
        text.push_str(&format!(
            "The default is still {}; the person changes it with `memoranda config set \
             default_project {}`.\n",
            call.settings.notes.default_project, project.name
        ));
    }
    let structured = json!({
        "project": project.name.as_str(),
        "path": path,
        "created": !existed,
        "already_exists": existed,
        "is_default": call.settings.notes.default_project == project.name.as_str(),
    });
    Ok(ToolResult::ok(text, structured))
}

pub(super) fn delete(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    if let Some(only) = &call.settings.notes.only_project {
        return Err(project_constrained(only));
    }
    let project = call.memory.project(args.text("project_name")?.trim())?;
    let name = project.name.clone();
    if name.as_str() == call.settings.notes.default_project {
        let text = format!("{name} is the default project, and stays.");
        return Err(ToolError::new("DEFAULT_PROJECT", text));
    }
    let delete_notes = args.is_set("delete_notes")?;
    let is_elsewhere = project.place != ProjectPlace::Vault;
    let tops = call.memory.list_folder(&name, None)?;
    let tops = tops.map(|found| found.entries).unwrap_or_default();
    if !is_elsewhere && !delete_notes && !tops.is_empty() {
        let text = format!(
            "{name} is a folder of the vault ({}); as long as it holds notes it is a project. \
             delete_notes=true deletes its notes, and the history keeps them.",
            project.path.display()
        );
        return Err(ToolError::new("NOTES_REMAIN", text));
    }
    let mut deleted = 0;
    let mut commit = None;
    if delete_notes {
        // Hidden and ignored files are kept. A rule for folders only matches the files within.
        let is_kept = |entry: &&DirEntry| {
            let within = if entry.kind == DirEntryKind::Folder { "/_" } else { "" };
            let path = NotePath::parse(&format!("{}{within}", entry.name)).ok();
            let rule = path.map(|path| call.memory.ignored_by(&name, &path));
            !matches!(rule, Some(Ok(None)))
        };
        let tops = tops.iter().filter(|entry| !is_kept(entry));
        let tops: Vec<(NoteLocation, DirEntryKind)> = tops
            .filter_map(|entry| Some((NotePath::parse(&entry.name).ok()?, entry.kind)))
            .map(|(path, kind)| (NoteLocation::new(&name, path), kind))
            .collect();
        let message = format!("delete project {name}");
        let outcome = call.memory.transact(
            &call.who,
            Some(&message),
            |desk| -> Result<Vec<FileOperation>, EngineError> {
                let mut steps = Vec::new();
                for (top, _) in &tops {
                    steps.extend(desk.below(top)?.into_iter().map(FileOperation::remove));
                }
                deleted = steps.len();
                Ok(steps)
            },
        )?;
        if let TransactOutcome::Committed(made) = outcome {
            commit = Some(made.id.to_string());
        }
        for (place, _) in tops.into_iter().filter(|(_, kind)| *kind == DirEntryKind::Folder) {
            // Remove empty folders. A missing folder is not an error.
            call.memory.delete(&call.who, &DeleteRequest { place, expected: None }).ok();
        }
    }
    // Remaining files, such as those of another program, keep the folder in the vault.
    let removed = call.memory.remove_project(name.as_str());
    let stays = removed.err().map(|error| error.to_string()).filter(|_| !is_elsewhere);
    let heading = if stays.is_none() { "Project removed" } else { "Project emptied" };
    let mut text = format!("# {heading}\nproject: {name}\n");
    match (&commit, is_elsewhere) {
        (Some(commit), is_elsewhere) => {
            text.push_str(&format!("files deleted: {deleted}\ncommit: {commit}\n"));
            if is_elsewhere {
                let folder = project.path.display();
                text.push_str(&format!("`memoranda project add {name} \"{folder}\"` and then "));
            }
            text.push_str(&format!("`memoranda undo {commit}` brings them back.\n"));
        }
        (None, true) => text.push_str(&format!("Its files stay in {}.\n", project.path.display())),
        (None, false) => text.push_str("It held no files.\n"),
    }
    if let Some(why) = &stays {
        text.push_str(&format!("It is still a project: {why}.\n"));
    }
    let structured = json!({
        "project": name.as_str(),
        "removed": stays.is_none(),
        "deleted_files": deleted,
        "commit": commit,
    });
    Ok(ToolResult::ok(text, structured))
}
