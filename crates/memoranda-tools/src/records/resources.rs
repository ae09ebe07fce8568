//! The addresses by which other clients know records.

use memoranda_engine::{EngineError, Memory, Result};

use super::kind::RecordKind;
use super::listing::LINE_CHARS;
use super::refusal::RecordError;
use super::rules::{Files, Rules};
use super::scope::{Reach, Scope};
use super::shelf;
use crate::registry::{ResourceDef, Toolset};
use crate::settings::ToolSettings;

/// How many recent memories are told.
const RECENT: usize = 20;

/// The resources' rows.
pub(crate) const RESOURCES: &[ResourceDef] = &[
    ResourceDef {
        uri: "memories://rules",
        name: "rules",
        title: "Rules",
        description: "The rules that hold here: of this repository, and global",
        mime: "text/markdown",
        toolset: Toolset::Records,
        read: rules,
    },
    ResourceDef {
        uri: "memories://recent",
        name: "recent-memories",
        title: "Recent memories",
        description: "The memories that changed last, of this repository and global",
        mime: "text/markdown",
        toolset: Toolset::Records,
        read: recent,
    },
    ResourceDef {
        uri: "memories://project/{projectId}",
        name: "project-memories",
        title: "Memories of a project",
        description: "The rules and the latest memories of a project such as github.com/owner/repo",
        mime: "text/markdown",
        toolset: Toolset::Records,
        read: of_project,
    },
];

fn here(settings: &ToolSettings) -> Reach {
    Reach::new(settings.workspace.as_deref().and_then(Scope::of_folder))
}

fn rules(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    said_rules(memory, settings, &here(settings)).map(Some).map_err(plain)
}

fn recent(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    said_recent(memory, settings, &here(settings)).map(Some).map_err(plain)
}

fn of_project(memory: &Memory, settings: &ToolSettings, parts: &[&str]) -> Result<Option<String>> {
    let Some(project) = parts
        .first()
        .and_then(|name| Scope::project(&name.replace("%2F", "/").replace("%2f", "/")))
    else {
        return Ok(None);
    };
    let reach = Reach::only(project);
    let text = said_rules(memory, settings, &reach)
        .and_then(|rules| Ok(format!("{rules}\n{}", said_recent(memory, settings, &reach)?)));
    text.map(Some).map_err(plain)
}

fn said_rules(
    memory: &Memory,
    settings: &ToolSettings,
    reach: &Reach,
) -> super::refusal::Result<String> {
    let rules = Rules::read(memory, reach, &Files::any(), &settings.records.now())?;
    let page = rules.page(0, 100_000);
    let text = page.text;
    Ok(match (text.is_empty(), page.next) {
        (true, _) => "No rules.\n".to_owned(),
        (false, None) => text,
        (false, Some(next)) => {
            format!("{text}[{} more rules: get_rules tells them]\n", rules.count() - next)
        }
    })
}

fn said_recent(
    memory: &Memory,
    settings: &ToolSettings,
    reach: &Reach,
) -> super::refusal::Result<String> {
    let is_active = shelf::is_active_at(settings.records.now());
    let (found, _) = shelf::newest(memory, reach, &RecordKind::ALL, RECENT, &is_active)?;
    let lines: Vec<String> = found.iter().map(|record| record.line(LINE_CHARS) + "\n").collect();
    Ok(format!("## Recent Memories\n{}", lines.concat()))
}

fn plain(error: RecordError) -> EngineError {
    match error {
        RecordError::Engine(error) => error,
        RecordError::Refused(text) => EngineError::Invalid(text),
    }
}
