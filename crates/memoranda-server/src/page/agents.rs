//! Agents: who wrote how much, the tools that are offered with their token price, and the brief.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memoranda_engine::core::token_estimate::estimate_tokens;
use memoranda_engine::{AgentIdentity, HistoryFilter};
use memoranda_tools::{BriefRequest, question_brief, session_brief};
use serde_json::{Value, json};

use super::history_json::agent_json;
use super::request::PageRequest;
use crate::http_error::HttpError;
use crate::mcp::tool_definition;

/// Maximum number of commits by which used tools are counted.
const MAX_COMMITS: usize = 5_000;
/// Maximum length of a brief, in characters.
const MAX_BRIEF_CHARS: usize = 6_000;

/// Returns the agents and the tools.
pub(super) fn agents(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let days = request.number("days", 7, 3660)?;
    let project = request.project()?;
    let activity = memory.activity(3650, project.as_ref())?;
    let recent = memory.activity(days, project.as_ref())?;
    let mut tools_used: BTreeMap<AgentIdentity, BTreeMap<String, usize>> = BTreeMap::new();
    let filter = HistoryFilter { project, ..HistoryFilter::default() };
    for commit in memory.log(&filter, MAX_COMMITS, 0)? {
        let agent = AgentIdentity::of(&commit.author);
        *tools_used.entry(agent).or_default().entry(commit.author.tool).or_default() += 1;
    }
    let agents = activity.agents.iter().map(|all| {
        let lately = recent.agents.iter().find(|agent| agent.agent == all.agent);
        let used = tools_used.get(&all.agent).into_iter().flatten();
        let used = used.map(|(tool, count)| json!({ "tool": tool, "count": count }));
        json!({
            "agent": agent_json(&all.agent),
            "clients": all.clients,
            "last": all.last.to_string(),
            "writes": lately.map_or(0, |agent| agent.total),
            "total": all.total,
            "tools_used": used.collect::<Vec<_>>(),
        })
    });
    let catalog = &request.page.catalog;
    let offered = catalog.configured_tools();
    let mut sets: BTreeMap<&str, (Vec<Value>, usize)> = BTreeMap::new();
    let mut total = 0;
    for tool in offered.tools() {
        let definition = serde_json::to_string(&tool_definition(tool, &catalog.settings));
        let tokens = estimate_tokens(&definition.unwrap_or_default());
        total += tokens;
        let (tools, sum) = sets.entry(tool.toolset.as_str()).or_default();
        *sum += tokens;
        tools.push(json!({
            "name": tool.name,
            "title": tool.title,
            "tokens": tokens,
            "read_only": tool.hints.read_only,
        }));
    }
    let sets = sets.into_iter();
    let sets = sets
        .map(|(name, (tools, tokens))| json!({ "name": name, "tools": tools, "tokens": tokens }));
    let instructions = catalog.instructions(&offered);
    Ok(json!({
        "days": days,
        "agents": agents.collect::<Vec<_>>(),
        "toolsets": sets.collect::<Vec<_>>(),
        "offered": { "tools": offered.tools().len(), "tokens": total },
        "instructions": { "tokens": estimate_tokens(&instructions), "text": instructions },
    }))
}

/// Returns the brief that a client in a folder would get, line by line.
pub(super) fn client_brief(request: &PageRequest<'_>) -> Result<Value, HttpError> {
    let memory = request.memory();
    let folder = request.text("folder").map(PathBuf::from);
    // Looking at a brief is not a visit of the client.
    let asked =
        BriefRequest { folder: folder.as_deref(), client: None, max_chars: MAX_BRIEF_CHARS };
    let settings = &request.page.catalog.settings;
    let text = session_brief(memory, settings, &asked);
    let text = text.map_err(|error| HttpError::bad_request(format!("{error}.")))?;
    let mut text = text.unwrap_or_default();
    if let Some(question) = request.text("q") {
        let found = question_brief(memory, settings, &asked, question, &|_, _| true);
        let found = found.map_err(|error| HttpError::bad_request(format!("{error}.")))?;
        text.push_str(&format!("\n\n## Relevant Memories\n{found}"));
    }
    let mut section = String::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ").or(line.strip_prefix("# ")) {
            heading.clone_into(&mut section);
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        lines.push(json!({
            "text": line,
            "section": section,
            "reason": reason_of(&section),
            "tokens": estimate_tokens(line),
        }));
    }
    Ok(json!({
        "client": request.text("client"),
        "folder": folder.map(|folder| folder.display().to_string()),
        "tokens": estimate_tokens(&text),
        "text": text,
        "lines": lines,
    }))
}

/// Returns the reason why a line of a section is part of the brief.
fn reason_of(section: &str) -> &'static str {
    let section = section.to_lowercase();
    if section.contains("rule") {
        "a rule in force for this folder"
    } else if section.contains("remind") || section.contains("due") {
        "a reminder that is due"
    } else if section.contains("relevant") {
        "it has to do with the question"
    } else if section.contains("recent") || section.contains("last") {
        "it was written lately"
    } else {
        "part of every brief"
    }
}
