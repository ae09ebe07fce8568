//! The addresses by which other clients know records.

use memoranda_engine::{EngineError, Memory, Result};

use super::error::RecordError;
use super::kind::RecordKind;
use super::listing::LINE_CHARS;
use super::query;
use super::rules::{FileSelection, RuleList};
use super::scope::{RecordScope, VisibleScopes};
use crate::registry::{ResourceDef, Toolset};
use crate::settings::ToolSettings;

/// How many recent memories are told.
const MAX_RECENT: usize = 20;

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

fn here(settings: &ToolSettings) -> VisibleScopes {
    VisibleScopes::new(settings.workspace.as_deref().and_then(RecordScope::of_workspace))
}

fn rules(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    rules_text(memory, settings, &here(settings)).map(Some).map_err(plain)
}

fn recent(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    recent_text(memory, settings, &here(settings)).map(Some).map_err(plain)
}

fn of_project(memory: &Memory, settings: &ToolSettings, parts: &[&str]) -> Result<Option<String>> {
    let Some(project) = parts
        .first()
        .and_then(|name| RecordScope::project(&name.replace("%2F", "/").replace("%2f", "/")))
    else {
        return Ok(None);
    };
    let reach = VisibleScopes::only(project);
    let text = rules_text(memory, settings, &reach)
        .and_then(|rules| Ok(format!("{rules}\n{}", recent_text(memory, settings, &reach)?)));
    text.map(Some).map_err(plain)
}

fn rules_text(
    memory: &Memory,
    settings: &ToolSettings,
    reach: &VisibleScopes,
) -> super::error::Result<String> {
    let rules = RuleList::read(memory, reach, &FileSelection::any(), &settings.records.now())?;
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

fn recent_text(
    memory: &Memory,
    settings: &ToolSettings,
    reach: &VisibleScopes,
) -> super::error::Result<String> {
    let is_active = query::is_active_at(settings.records.now());
    let (found, _) =
        query::newest_records(memory, reach, &RecordKind::ALL, MAX_RECENT, &is_active)?;
    let lines: Vec<String> =
        found.iter().map(|record| record.list_line(LINE_CHARS) + "\n").collect();
    Ok(format!("## Recent Memories\n{}", lines.concat()))
}

fn plain(error: RecordError) -> EngineError {
    match error {
        RecordError::Engine(error) => error,
        RecordError::Refused(text) => EngineError::Invalid(text),
    }
}
