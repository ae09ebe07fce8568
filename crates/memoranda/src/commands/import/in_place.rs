//! Folders that stay where they are and become projects.

use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{EngineError, HardLinkPolicy, Memory, ProjectInfo, ProjectPlace};
use memoranda_import::{
    ImportSource, basic_memory_default_project, global_ignore_file, project_name,
};
use serde::Serialize;

use super::{Args, ImportVault, NamedPath, is_same_folder};
use crate::commands::project::{ProjectJson, offer_default};
use crate::config::{ConfigFile, SettingOrigin, key};
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, PLACE, STRONG, counted, visible};
use crate::progress::ProgressBar;

/// The words for a folder that became a project.
const ADDED: &str = "is a project now";
/// Maximum number of omitted files that are named.
const MAX_NAMED_FILES: usize = 20;

#[derive(Serialize)]
struct InPlaceJson {
    source: &'static str,
    from: Vec<String>,
    dry_run: bool,
    default_project: String,
    projects: Vec<ProjectJson>,
    left_out: Vec<LeftOutJson>,
}

/// A file or project that was not imported, with the reason.
#[derive(Serialize)]
struct LeftOutJson {
    project: String,
    path: String,
    reason: String,
}

/// A folder's name where it comes from, and the project that it is here.
struct ProjectNaming {
    there: Option<String>,
    here: String,
}

/// Makes folders projects, their files as they are.
pub(super) fn add(
    context: &CommandContext,
    args: &Args,
    source: ImportSource,
    places: &[NamedPath],
) -> Result<Exit> {
    let vault = ImportVault::open(context, args)?;
    let memory = vault.memory(context)?;
    let (mut added, mut named, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (there, folder) in places {
        let wanted = context.settings()?.project.clone().filter(|_| places.len() == 1);
        let own = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name =
            wanted.unwrap_or_else(|| project_name(&there.clone().or(own).unwrap_or_default()));
        if !folder.is_dir() {
            let path = folder.display().to_string();
            let reason = if folder.as_os_str().is_empty() {
                "it has no folder on this machine".to_owned()
            } else {
                format!("{path} is not a folder")
            };
            let project = there.clone().unwrap_or(name);
            let message = match there {
                Some(_) => format!("the project {project} cannot come: {reason}"),
                None => reason.clone(),
            };
            if places.len() == 1 {
                return Err(CommandError::new(Exit::NotFound, message));
            }
            context.printer.warn(format!("{}; it is left out", visible(&message)));
            left_out.push(LeftOutJson { project, path, reason });
            continue;
        }
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let known =
            memory.projects()?.into_iter().find(|info| is_same_folder(&info.project.path, &folder));
        let shown = visible(&context.shown_path(&folder)).into_owned();
        let here = match known {
            Some(info) => {
                let here = info.project.name.to_string();
                added.push((info, "is there already"));
                here
            }
            None => {
                let here = free_project(memory, &name)?;
                if here != name {
                    context.printer.warn(format!(
                        "there is a project {name} with notes already: {shown} is called {here} here"
                    ));
                }
                if args.dry_run {
                    context.printer.say(format!("Would make {shown} the project {here}"));
                } else {
                    // One that holds nothing gives way.
                    memory.remove_project(&here).ok();
                    let project = memory.add_project(&here, &folder, HardLinkPolicy::Refuse)?;
                    added.push((ProjectInfo { project, notes: 0 }, ADDED));
                }
                here
            }
        };
        named.push(ProjectNaming { there: there.clone(), here });
    }
    let mut exit = Exit::Success;
    if matches!(vault, ImportVault::Real) {
        context.open_synced()?;
        let names = added.iter().map(|(info, _): &(ProjectInfo, _)| &info.project.name);
        let files = files_left_out(context, memory, names)?;
        for file in files.iter().take(MAX_NAMED_FILES) {
            let place = format!("{}/{}", file.project, file.path);
            context.printer.warn(format!("{} is left out: {}", visible(&place), file.reason));
            exit = Exit::NotFound;
        }
        if let Some(further) = files.len().checked_sub(MAX_NAMED_FILES).filter(|more| *more > 0) {
            let more = format!("{further} more are left out; `memoranda scan -v` names them all");
            context.printer.warn(more);
        }
        left_out.extend(files);
    }
    let is_new = added.iter().any(|(_, what)| *what == ADDED);
    let mut projects = Vec::new();
    for (info, what) in added {
        let notes = memory.snapshot()?.notes_in(&info.project.name)?;
        let info = ProjectInfo { notes, ..info };
        let (name, path) = (&info.project.name, context.shown_path(&info.project.path));
        if !context.is_json() {
            let sentence = format!(
                "{PLACE}{path}{PLACE:#} {what}: {STRONG}{name}{STRONG:#} {FAINT}({}){FAINT:#}",
                counted(notes as usize, "note")
            );
            context.printer.done(&ProjectJson::from(&info), sentence)?;
        }
        projects.push(ProjectJson::from(&info));
    }
    let default_project = default_project(context, args, source, &named)?;
    if let Some(rules) = global_ignore_file(source, &context.settings()?.directories.user) {
        context.printer.hint(format!(
            "what {} names is left out by Basic Memory alone; a copy of it in a project's folder \
             does so here",
            visible(&context.shown_path(&rules))
        ));
    }
    if context.is_json() {
        let from = places.iter().map(|(_, path)| path.display().to_string()).collect();
        let (source, dry_run) = (source.name(), args.dry_run);
        let json = InPlaceJson { source, from, dry_run, default_project, projects, left_out };
        context.printer.json(&json)?;
    } else if is_new {
        context.hint_after("`memoranda setup` connects your agents to it");
    }
    Ok(exit)
}

/// The files of projects that cannot be notes, or cannot be read.
fn files_left_out<'a>(
    context: &CommandContext,
    memory: &Memory,
    names: impl Iterator<Item = &'a ProjectName>,
) -> Result<Vec<LeftOutJson>> {
    let mut left_out = Vec::new();
    for name in names.filter(|_| !context.args.no_scan) {
        let mut progress = ProgressBar::new(&context.printer);
        let report = memory.sync_project(name, &mut |step| progress.update(step));
        drop(progress);
        let report = report?;
        let skipped = report.skipped.into_iter().map(|(_, path, why)| (path, why.to_owned()));
        let unreadable = report.unreadable.into_iter().map(|(_, path, why)| (path, why));
        left_out.extend(unreadable.chain(skipped).map(|(path, reason)| LeftOutJson {
            project: name.to_string(),
            path,
            reason,
        }));
    }
    Ok(left_out)
}

/// A name for a project that is not in use, or by one of the vault alone that holds nothing.
fn free_project(memory: &Memory, name: &str) -> Result<String> {
    let taken = memory.projects()?;
    let holds_nothing = |name: &ProjectName| {
        let entries = memory.list_folder(name, None);
        matches!(entries, Ok(Some(listing)) if listing.entries.is_empty())
    };
    let is_free = |name: &str| {
        let mut alike =
            taken.iter().filter(|info| info.project.name.as_str().eq_ignore_ascii_case(name));
        alike.all(|info| {
            info.project.place == ProjectPlace::Vault && holds_nothing(&info.project.name)
        })
    };
    let numbered = (2..1000).map(|number| format!("{name}-{number}"));
    let names = std::iter::once(name.to_owned()).chain(numbered);
    Ok(names.into_iter().find(|name| is_free(name)).unwrap_or_else(|| name.to_owned()))
}

/// Adopts the other program's default project, unless one is configured here. Returns the effective
/// one.
fn default_project(
    context: &CommandContext,
    args: &Args,
    source: ImportSource,
    named: &[ProjectNaming],
) -> Result<String> {
    let settings = context.settings()?;
    let ours = settings.default_project().to_owned();
    let theirs = match source {
        ImportSource::BasicMemory => basic_memory_default_project(&settings.directories.user),
        _ => None,
    };
    let Some(theirs) = theirs else {
        // A single vault is what its owner means; of several, none is offered.
        if let ([named], false, true) = (named, args.dry_run, source != ImportSource::Folder) {
            let here = ProjectName::parse(&named.here).map_err(EngineError::from)?;
            if offer_default(context, context.open_or_create()?, &here)? {
                return Ok(named.here.clone());
            }
        }
        return Ok(ours);
    };
    let Some(named) = named.iter().find(|named| named.there.as_ref() == Some(&theirs)) else {
        return Ok(ours);
    };
    let here = &named.here;
    if *here == ours {
        return Ok(ours);
    }
    let key = key("default_project")?;
    let is_open =
        settings.all.iter().any(|s| s.key == key.name && s.origin == SettingOrigin::BuiltIn);
    if !is_open || *here != project_name(&theirs) {
        context.printer.warn(format!(
            "Basic Memory's default project is {here} here, and the default is {ours}; `memoranda \
             config set default_project {here}` changes it"
        ));
        return Ok(ours);
    }
    if args.dry_run {
        context.printer.say(format!("Would make {here} the default project, as it was there"));
        return Ok(ours);
    }
    ConfigFile::read(&settings.directories.config)?.set(key, here)?;
    context.printer.say(format!(
        "{here} is the default project now, as it was there; `memoranda config unset \
         default_project` takes that back"
    ));
    Ok(here.clone())
}
