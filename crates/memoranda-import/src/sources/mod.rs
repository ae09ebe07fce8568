//! The readers: one file a system, each turning what it finds into pieces.

mod chatgpt;
mod claude;
mod claude_code;
mod folder;
mod graph;
mod jsonl;
mod mem0;
mod memories_sh;
mod memory_service;
mod record;

use memoranda_engine::core::id::ProjectName;

use crate::error::{ImportError, Result};
use crate::intake::Intake;
use crate::origin::Origin;
use crate::source::Source;

pub use folder::project_name;

/// Where pieces go, as far as the person said so.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The project, instead of the usual one.
    pub project: Option<ProjectName>,
    /// The folder in it, instead of the usual one.
    pub folder: Option<String>,
}

impl Target {
    fn project(&self, usual: &str) -> Result<ProjectName> {
        match &self.project {
            Some(project) => Ok(project.clone()),
            None => ProjectName::parse(usual)
                .map_err(|e| ImportError::Engine(memoranda_engine::EngineError::from(e))),
        }
    }

    fn folder(&self, usual: &str) -> String {
        self.folder.clone().unwrap_or_else(|| usual.to_owned())
    }
}

/// Reads a source, piece by piece.
pub fn read(
    source: Source,
    origin: &Origin,
    target: &Target,
    intake: &mut Intake<'_>,
) -> Result<()> {
    match source {
        Source::Claude => claude::read(origin, target, intake),
        Source::ChatGpt => chatgpt::read(origin, target, intake),
        Source::ClaudeCode => claude_code::read(origin, target, intake),
        Source::BasicMemory | Source::Obsidian | Source::Folder => {
            folder::read(source, origin, target, intake)
        }
        Source::McpMemory => graph::read(origin, target, intake),
        Source::MemoriesSh => memories_sh::read(origin, target, intake),
        Source::Mem0 => mem0::read(origin, target, intake),
        Source::MemoryService => memory_service::read(origin, target, intake),
        Source::Jsonl => jsonl::read(origin, target, intake),
        Source::Archive => Err(ImportError::NotThat(
            "an archive is a whole vault, and is brought back as one".to_owned(),
        )),
    }
}

/// A source that is a single file was given something else.
fn needs_file(origin: &Origin, what: &str) -> Result<()> {
    match origin {
        Origin::File(_) | Origin::Bytes(_) => Ok(()),
        Origin::Folder(_) | Origin::Zip(_) => {
            Err(ImportError::NotThat(format!("{} is not {what}", origin.shown())))
        }
    }
}
