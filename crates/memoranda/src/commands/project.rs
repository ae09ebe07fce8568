//! `memoranda project`: named folders of notes.

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::engine::ArgValueCandidates;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::{
    EngineError, HardLinkPolicy, Memory, ProjectInfo, ProjectPlace, StoreError, VacuumReport,
};
use serde::Serialize;

use crate::complete;
use crate::config::SettingOrigin;
use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, PLACE, STRONG, counted};
use crate::progress::ProgressBar;
use crate::table::{self, TableColumn};

/// Manage projects: list, add, create and remove them.
///
/// A project is a named folder of notes: one in the vault, or any folder that you have already.
/// Its files stay where and as they are. A project never sees another's files. Without a command:
/// the list.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda project list
  memoranda project add work ~/Obsidian/Work
  memoranda project create recipes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<ProjectAction>,
}

#[derive(Subcommand)]
enum ProjectAction {
    /// List the projects.
    #[command(
        alias = "ls",
        after_long_help = "\
Examples:
  memoranda project list

JSON (--json):
  {projects: [{name, path, in_vault, notes}]}"
    )]
    List,

    /// Make a folder that you have a project; its files stay where and as they are.
    #[command(after_long_help = "\
Examples:
  memoranda project add work ~/Obsidian/Work
  memoranda project add memories ~/Sync/memories --move

JSON (--json):
  {name, path, in_vault, notes}")]
    Add {
        /// The project's name.
        name: String,
        /// Folder of the project.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Read hard links too: files that have another name outside the folder.
        #[arg(long)]
        allow_hard_links: bool,
        /// Move the files that the project holds in the vault into the folder.
        #[arg(long = "move")]
        move_files: bool,
    },

    /// Make a new project in the vault.
    #[command(after_long_help = "\
Examples:
  memoranda project create recipes

JSON (--json):
  {name, path, in_vault, notes}")]
    Create {
        /// The project's name.
        name: String,
    },

    /// Show or choose the project that new notes go to.
    #[command(after_long_help = "\
Examples:
  memoranda project default
  memoranda project default work

JSON (--json):
  {name}")]
    Default {
        /// The project; the present one is printed if not given.
        #[arg(add = ArgValueCandidates::new(complete::projects))]
        name: Option<String>,
    },

    /// Stop following a project that was added; its files stay.
    ///
    /// The history keeps its texts, so that adding the folder again continues it. With --purge they
    /// leave the history for good, for a folder that was added by mistake; this also works after the
    /// project was removed. The files in the folder are never touched.
    #[command(after_long_help = "\
Examples:
  memoranda project remove work
  memoranda project remove work --purge

JSON (--json):
  {name, path, in_vault, notes, purged, kept_by: [{project, versions}], dry_run}; purged is the
  number of purged versions, or null; kept_by are projects whose history has the same texts")]
    Remove(RemoveArgs),
}

#[derive(clap::Args)]
struct RemoveArgs {
    /// The project's name.
    #[arg(add = ArgValueCandidates::new(complete::projects))]
    name: String,
    /// Also purge its texts and their history. Asks first.
    #[arg(long)]
    purge: bool,
    /// Only say what would be removed.
    #[arg(short = 'n', long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct RemovedJson {
    #[serde(flatten)]
    project: ProjectJson,
    purged: Option<u64>,
    kept_by: Vec<KeptTextsJson>,
    dry_run: bool,
}

#[derive(Serialize)]
struct KeptTextsJson {
    project: String,
    versions: u64,
}

#[derive(Serialize)]
struct ProjectsJson {
    projects: Vec<ProjectJson>,
}

/// A project.
#[derive(Serialize)]
pub(crate) struct ProjectJson {
    name: String,
    path: String,
    in_vault: bool,
    notes: u64,
}

impl From<&ProjectInfo> for ProjectJson {
    fn from(info: &ProjectInfo) -> Self {
        Self {
            name: info.project.name.to_string(),
            path: info.project.path.display().to_string(),
            in_vault: info.project.place == ProjectPlace::Vault,
            notes: info.notes,
        }
    }
}

/// Does what was asked.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let printer = &context.printer;
    match args.action.as_ref().unwrap_or(&ProjectAction::List) {
        ProjectAction::List => {
            let projects = context.open_synced()?.projects()?;
            if context.is_json() {
                let projects = projects.iter().map(ProjectJson::from).collect();
                printer.json(&ProjectsJson { projects })?;
            } else {
                print(context, &projects)?;
            }
        }
        ProjectAction::Add { name, folder, allow_hard_links, move_files } => {
            let hard_links =
                if *allow_hard_links { HardLinkPolicy::Allow } else { HardLinkPolicy::Refuse };
            let memory = context.open_or_create()?;
            let project = if *move_files {
                memory.move_project(name, folder, hard_links)?
            } else {
                memory.add_project(name, folder, hard_links)?
            };
            context.sync_project(memory, &project.name)?;
            print_project(context, memory, project.name.as_str(), "Added")?;
            offer_default(context, memory, &project.name)?;
        }
        ProjectAction::Create { name } => {
            let memory = context.open_or_create()?;
            let project = memory.create_project(name)?;
            print_project(context, memory, project.name.as_str(), "Created")?;
        }
        ProjectAction::Default { name } => default_project(context, name.as_deref())?,
        ProjectAction::Remove(args) => remove(context, args)?,
    }
    Ok(Exit::Success)
}

#[derive(Serialize)]
struct DefaultProjectJson {
    name: String,
}

/// Prints the project for new notes, or makes another one the default.
fn default_project(context: &CommandContext, name: Option<&str>) -> Result<()> {
    let Some(name) = name else {
        let name = context.settings()?.default_project().to_owned();
        let sentence = name.clone();
        return context.printer.done(&DefaultProjectJson { name }, sentence);
    };
    let memory = context.open_existing()?;
    let project = memory.project(name)?.name;
    set_default(context, &project)?;
    context.printer.done(
        &DefaultProjectJson { name: project.to_string() },
        format!("New notes go to project {STRONG}{project}{STRONG:#}"),
    )
}

/// Writes the default project into the configuration file.
pub(crate) fn set_default(context: &CommandContext, project: &ProjectName) -> Result<()> {
    super::config::write_setting(context, "default_project", project.as_str())
}

/// Offers to make a project with notes the default if none was chosen and the present default is
/// empty. Asks on a terminal; names the command elsewhere. Returns true if it is the default now.
pub(crate) fn offer_default(
    context: &CommandContext,
    memory: &Memory,
    project: &ProjectName,
) -> Result<bool> {
    let settings = context.settings()?;
    let is_chosen = settings
        .all
        .iter()
        .any(|s| s.key == "default_project" && s.origin != SettingOrigin::BuiltIn);
    let present = settings.default_project();
    let has_notes = |name: &str| -> Result<bool> {
        let Ok(project) = memory.project(name) else { return Ok(false) };
        Ok(memory.snapshot()?.notes_in(&project.name)? > 0)
    };
    let is_needless = present == project.as_str() || has_notes(present)?;
    if is_chosen || is_needless || context.is_json() || !has_notes(project.as_str())? {
        return Ok(false);
    }
    let can_ask = !context.args.no_input && !context.args.yes && context.printer.can_ask();
    let question = format!("Make {project} the default, so that agents write new notes there?");
    if can_ask && context.printer.ask(&question)? {
        set_default(context, project)?;
        context.printer.say(format!("New notes go to project {STRONG}{project}{STRONG:#}"));
        return Ok(true);
    }
    context.hint_after(&format!(
        "new notes go to {present}; `memoranda project default {project}` changes that"
    ));
    Ok(false)
}

/// A project that is removed, or was before.
struct ProjectRemoval {
    name: ProjectName,
    folder: PathBuf,
    json: ProjectJson,
    is_registered: bool,
}

impl ProjectRemoval {
    fn find(memory: &Memory, args: &RemoveArgs) -> Result<Self> {
        match memory.project(&args.name) {
            Ok(project) => {
                let notes = memory.snapshot()?.notes_in(&project.name)?;
                let info = ProjectInfo { project, notes };
                let (name, json) = (info.project.name.clone(), ProjectJson::from(&info));
                let folder = info.project.path.clone();
                Ok(Self { name, folder, json, is_registered: true })
            }
            // Its texts may still be in the history.
            Err(EngineError::Store(StoreError::NoProject {
                name, was_at: Some(folder), ..
            })) if args.purge => {
                let json = ProjectJson {
                    name: name.clone(),
                    path: folder.display().to_string(),
                    in_vault: false,
                    notes: 0,
                };
                let name = ProjectName::parse(&name).map_err(EngineError::from)?;
                Ok(Self { name, folder, json, is_registered: false })
            }
            Err(e) => Err(e.into()),
        }
    }
}

fn remove(context: &CommandContext, args: &RemoveArgs) -> Result<()> {
    let memory = context.open_existing()?;
    let ProjectRemoval { name, folder, json, is_registered } = ProjectRemoval::find(memory, args)?;
    let folder = context.shown_path(&folder);
    let removed = format!("project {STRONG}{name}{STRONG:#}");
    let plan = if args.purge { Some(memory.plan_purge_project(&name)?) } else { None };
    let purged = plan.as_ref().map(|plan| plan.contents);
    let versions = purged.map(|count| counted(count as usize, "version"));
    if args.dry_run {
        let purge = versions.map(|versions| format!(" and purge {versions} from the history"));
        let purge = purge.unwrap_or_default();
        let sentence = format!("Would remove {removed}{purge}; its files stay in {folder}");
        let kept_by = kept_by_json(plan.as_ref());
        let json = RemovedJson { project: json, purged, kept_by, dry_run: true };
        context.printer.done(&json, sentence)?;
        warn_of_kept_texts(context, memory, plan.as_ref());
        return Ok(());
    }
    if let Some(versions) = &versions {
        context.confirm(&format!(
            "Remove project {name} and purge {versions} of its texts from the history? They cannot \
             be restored; its files stay in {folder}."
        ))?;
    }
    if is_registered {
        let mut progress = ProgressBar::new(&context.printer);
        memory.remove_project_with(name.as_str(), &mut |step| {
            progress.show("Removing notes from the index", step.done as u64, step.total as u64);
        })?;
    }
    let report =
        if args.purge { Some(memory.purge_project(&context.author(), &name)?) } else { None };
    let purged = report.as_ref().map(|report| report.contents);
    let purge = purged.map(|count| {
        format!(", and purged {} from the history", counted(count as usize, "version"))
    });
    let sentence =
        format!("Removed {removed}{}; its files stay in {folder}", purge.unwrap_or_default());
    let kept_by = kept_by_json(report.as_ref());
    context
        .printer
        .done(&RemovedJson { project: json, purged, kept_by, dry_run: false }, sentence)?;
    warn_of_kept_texts(context, memory, report.as_ref());
    if !args.purge {
        context.hint_after(&format!(
            "the history keeps its texts; `memoranda project remove {name} --purge` purges them"
        ));
    }
    if context.settings()?.default_project() == name.as_str() {
        context.printer.warn(format!(
            "new notes still go to a project {name}, in the vault; `memoranda project default main` \
             changes that"
        ));
    }
    Ok(())
}

fn kept_by_json(report: Option<&VacuumReport>) -> Vec<KeptTextsJson> {
    let kept = report.iter().flat_map(|report| &report.kept_by);
    kept.map(|(name, count)| KeptTextsJson { project: name.to_string(), versions: *count })
        .collect()
}

/// Names the projects that keep texts of a purged project: the same folder may have been added under
/// another name before.
fn warn_of_kept_texts(context: &CommandContext, memory: &Memory, report: Option<&VacuumReport>) {
    for (name, count) in report.iter().flat_map(|report| &report.kept_by) {
        let texts = counted(*count as usize, "version");
        let verb = if *count == 1 { "stays" } else { "stay" };
        context.printer.warn(match memory.project(name.as_str()) {
            Ok(_) => format!("{texts} {verb} in the history: project {name} has the same text"),
            Err(_) => format!(
                "{texts} {verb} in the history of the removed project {name}; `memoranda project \
                 remove {name} --purge` purges them"
            ),
        });
    }
}

fn print_project(context: &CommandContext, memory: &Memory, name: &str, verb: &str) -> Result<()> {
    let project = memory.project(name)?;
    let notes = memory.snapshot()?.notes_in(&project.name)?;
    let info = ProjectInfo { project, notes };
    let (name, path) = (&info.project.name, context.shown_path(&info.project.path));
    let sentence = format!(
        "{verb} project {STRONG}{name}{STRONG:#} {PLACE}{path}{PLACE:#} {FAINT}({}){FAINT:#}",
        counted(notes as usize, "note")
    );
    context.printer.done(&ProjectJson::from(&info), sentence)
}

/// Prints projects as a table.
pub(crate) fn print(context: &CommandContext, projects: &[ProjectInfo]) -> Result<()> {
    if projects.is_empty() {
        context.printer.say("No projects.");
        return Ok(());
    }
    let columns = [
        TableColumn::word("PROJECT", STRONG),
        TableColumn::number("NOTES"),
        TableColumn::path("FOLDER", PLACE),
    ];
    let row = |info: &ProjectInfo| {
        let project = &info.project;
        let folder = context.shown_path(&project.path);
        vec![project.name.to_string(), info.notes.to_string(), folder]
    };
    table::print(&context.printer, &columns, &projects.iter().map(row).collect::<Vec<_>>())
}
