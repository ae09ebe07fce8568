//! `memoranda project`: named folders of notes.

use std::path::PathBuf;

use clap::Subcommand;
use memoranda_engine::{HardLinkPolicy, Memory, ProjectInfo, ProjectPlace};
use serde::Serialize;

use crate::error::Result;
use crate::exit::Exit;
use crate::output::{FAINT, PLACE, STRONG, counted};
use crate::session::Session;
use crate::table::{self, Column};

/// List, add, create and remove projects.
///
/// A project is a named folder of notes: one in the vault, or any folder that you have already.
/// Its files stay where and as they are. A project never sees another's files.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda project list
  memoranda project add work ~/Obsidian/Work
  memoranda project create recipes")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List the projects.
    #[command(after_long_help = "\
Examples:
  memoranda project list

JSON (--json):
  {projects: [{name, path, in_vault, notes}]}")]
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
        /// Its folder.
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

    /// Forget a project that was added; its files stay.
    #[command(after_long_help = "\
Examples:
  memoranda project remove work

JSON (--json):
  {name, path, in_vault, notes}")]
    Remove {
        /// The project's name.
        name: String,
    },
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
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let printer = &session.printer;
    match &args.action {
        Action::List => {
            let projects = session.reading()?.projects()?;
            if session.is_json() {
                let projects = projects.iter().map(ProjectJson::from).collect();
                printer.json(&ProjectsJson { projects })?;
            } else {
                print(session, &projects)?;
            }
        }
        Action::Add { name, folder, allow_hard_links, move_files } => {
            let hard_links =
                if *allow_hard_links { HardLinkPolicy::Allow } else { HardLinkPolicy::Refuse };
            let memory = session.made()?;
            let project = if *move_files {
                memory.move_project(name, folder, hard_links)?
            } else {
                memory.add_project(name, folder, hard_links)?
            };
            session.take_in(memory, &project.name)?;
            told(session, memory, project.name.as_str(), "Added")?;
        }
        Action::Create { name } => {
            let memory = session.made()?;
            let project = memory.create_project(name)?;
            told(session, memory, project.name.as_str(), "Created")?;
        }
        Action::Remove { name } => {
            let memory = session.memory()?;
            let notes = memory.store().notes_in(&memory.store().project(name)?.name)?;
            let info = ProjectInfo { project: memory.remove_project(name)?, notes };
            let project = &info.project;
            let (name, path) = (&project.name, project.path.display());
            let sentence =
                format!("Removed project {STRONG}{name}{STRONG:#}; its files stay in {path}");
            printer.done(&ProjectJson::from(&info), sentence)?;
        }
    }
    Ok(Exit::Done)
}

fn told(session: &Session, memory: &Memory, name: &str, verb: &str) -> Result<()> {
    let project = memory.store().project(name)?;
    let notes = memory.store().notes_in(&project.name)?;
    let info = ProjectInfo { project, notes };
    let (name, path) = (&info.project.name, info.project.path.display());
    let sentence = format!(
        "{verb} project {STRONG}{name}{STRONG:#} {PLACE}{path}{PLACE:#} {FAINT}({}){FAINT:#}",
        counted(notes as usize, "note")
    );
    session.printer.done(&ProjectJson::from(&info), sentence)
}

/// Prints projects as a table.
pub(crate) fn print(session: &Session, projects: &[ProjectInfo]) -> Result<()> {
    if projects.is_empty() {
        session.printer.say("No projects.");
        return Ok(());
    }
    let columns =
        [Column::word("PROJECT", STRONG), Column::number("NOTES"), Column::text("FOLDER", PLACE)];
    let row = |info: &ProjectInfo| {
        let project = &info.project;
        vec![project.name.to_string(), info.notes.to_string(), project.path.display().to_string()]
    };
    table::print(&session.printer, &columns, &projects.iter().map(row).collect::<Vec<_>>())
}
