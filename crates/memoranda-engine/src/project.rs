//! Projects: named folders, each on its own.

use std::path::Path;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_store::{
    HardLinkPolicy, Project, ScanProgress, VacuumExtent, VacuumReport, VacuumRequest,
};

use crate::error::Result;
use crate::{Author, Memory};

/// A project and its number of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectInfo {
    /// The project.
    pub project: Project,
    /// Number of notes.
    pub notes: u64,
}

impl Memory {
    /// Finds a project by its name, or by a name that differs only in case and separators:
    /// `Research Lab` finds `research-lab`, if no other project fits.
    pub fn project(&self, name: &str) -> Result<Project> {
        Ok(self.store().project(name)?)
    }

    /// Lists all projects, sorted by name, without counting their notes.
    pub fn list_projects(&self) -> Result<Vec<Project>> {
        Ok(self.store().projects()?)
    }

    /// Lists all projects with their numbers of notes, sorted by name.
    pub fn projects(&self) -> Result<Vec<ProjectInfo>> {
        let info = |project: Project| {
            let notes = self.snapshot()?.notes_in(&project.name)?;
            Ok(ProjectInfo { project, notes })
        };
        self.list_projects()?.into_iter().map(info).collect()
    }

    /// Creates a project in the vault, unless the project exists.
    pub fn create_project(&self, name: &str) -> Result<Project> {
        Ok(self.store().ensure_project(&ProjectName::parse(name)?)?)
    }

    /// Makes any folder a project. Its files stay where and as they are.
    pub fn add_project(
        &self,
        name: &str,
        folder: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        Ok(self.store().add_project(&ProjectName::parse(name)?, folder, hard_links)?)
    }

    /// Makes any folder a project, and moves the files that the project has in the vault into it.
    pub fn move_project(
        &self,
        name: &str,
        folder: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        Ok(self.store().move_project(&ProjectName::parse(name)?, folder, hard_links)?)
    }

    /// Removes an external project and keeps its files, or removes an empty project of the vault.
    pub fn remove_project(&self, name: &str) -> Result<Project> {
        Ok(self.store().remove_project(name)?)
    }

    /// Removes a project like [`Memory::remove_project`], and reports the progress.
    pub fn remove_project_with(
        &self,
        name: &str,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Project> {
        Ok(self.store().remove_project_with(name, progress)?)
    }

    /// Counts what [`Memory::purge_project`] would purge.
    pub fn plan_purge_project(&self, name: &ProjectName) -> Result<VacuumReport> {
        Ok(self.store().plan_vacuum(&purge_of(name))?)
    }

    /// Purges the texts and the history of a project that was removed. The files on disk stay as
    /// they are; nothing else can bring back what the log had.
    pub fn purge_project(&self, who: &Author, name: &ProjectName) -> Result<VacuumReport> {
        self.vacuum(who, &purge_of(name))
    }
}

fn purge_of(name: &ProjectName) -> VacuumRequest {
    let what = VacuumExtent::RemovedProject;
    VacuumRequest { project: Some(name.clone()), before: Timestamp::MAX, what }
}
