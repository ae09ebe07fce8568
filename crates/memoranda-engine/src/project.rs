//! Projects: named folders, each on its own.

use std::path::Path;

use jiff::Timestamp;
use memoranda_core::id::ProjectName;
use memoranda_store::{
    HardLinkPolicy, Project, ScanProgress, VacuumExtent, VacuumReport, VacuumRequest,
};

use crate::error::Result;
use crate::{Author, Memory};

/// A project and how much it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectInfo {
    /// The project.
    pub project: Project,
    /// How many notes it holds.
    pub notes: u64,
}

impl Memory {
    /// All projects, sorted by name.
    pub fn projects(&self) -> Result<Vec<ProjectInfo>> {
        let info = |project: Project| {
            let notes = self.snapshot()?.notes_in(&project.name)?;
            Ok(ProjectInfo { project, notes })
        };
        self.store().projects()?.into_iter().map(info).collect()
    }

    /// Makes a project in the vault, if there is none of that name.
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

    /// The same, and what the project holds in the vault moves into the folder.
    pub fn move_project(
        &self,
        name: &str,
        folder: &Path,
        hard_links: HardLinkPolicy,
    ) -> Result<Project> {
        Ok(self.store().move_project(&ProjectName::parse(name)?, folder, hard_links)?)
    }

    /// Forgets a project that was added from elsewhere, whose files stay; or removes one of the
    /// vault that holds nothing.
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
