//! Resources with the records.

use memoranda_engine::records::{
    FileSelection, MemoryRecord, RecordError, RecordKind, RecordResult, RecordScope, RuleList,
    VisibleScopes, newest_records,
};
use memoranda_engine::{EngineError, Memory, Result};

use super::render::{LINE_CHARS, list_line};
use super::rules::RulesPage;
use crate::registry::{ResourceDef, Toolset};
use crate::settings::ToolSettings;

/// Maximum number of recent memories.
const MAX_RECENT: usize = 20;

/// Rows of the resources.
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

fn visible_here(settings: &ToolSettings) -> VisibleScopes {
    settings.visible_scopes()
}

fn rules(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    rules_text(memory, settings, &visible_here(settings)).map(Some).map_err(engine_error)
}

fn recent(memory: &Memory, settings: &ToolSettings, _: &[&str]) -> Result<Option<String>> {
    recent_text(memory, settings, &visible_here(settings)).map(Some).map_err(engine_error)
}

fn of_project(memory: &Memory, settings: &ToolSettings, parts: &[&str]) -> Result<Option<String>> {
    let Some(project) = parts
        .first()
        .and_then(|name| RecordScope::project(&name.replace("%2F", "/").replace("%2f", "/")))
    else {
        return Ok(None);
    };
    let visible = VisibleScopes::only(project);
    let text = rules_text(memory, settings, &visible)
        .and_then(|rules| Ok(format!("{rules}\n{}", recent_text(memory, settings, &visible)?)));
    text.map(Some).map_err(engine_error)
}

fn rules_text(
    memory: &Memory,
    settings: &ToolSettings,
    visible: &VisibleScopes,
) -> RecordResult<String> {
    let now = settings.records.now();
    let rules = RuleList::load(memory, visible, &FileSelection::default(), &now)?;
    let RulesPage { text, next, .. } = RulesPage::new(&rules, 0, 100_000);
    Ok(match (text.is_empty(), next) {
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
    visible: &VisibleScopes,
) -> RecordResult<String> {
    let now = settings.records.now();
    let is_active = |record: &MemoryRecord| record.is_active(&now);
    let (found, _) = newest_records(memory, visible, &RecordKind::ALL, MAX_RECENT, &is_active)?;
    let lines: Vec<String> =
        found.iter().map(|record| list_line(record, LINE_CHARS) + "\n").collect();
    Ok(format!("## Recent Memories\n{}", lines.concat()))
}

fn engine_error(error: RecordError) -> EngineError {
    match error {
        RecordError::Engine(error) => error,
        other => EngineError::Invalid(other.to_string()),
    }
}
